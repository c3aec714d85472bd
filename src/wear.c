/* Erase counts. Owns the caller's wear table.
 *
 * A cell counts the erases of one segment, on volumes of more than FFFS_WEAR_CELLS segments those of as many neighbours
 * as it takes. A save tells the least count in full and the others as differences of 8 bits, in steps of 1 << shift:
 * exact while the spread is below 256 erases, within 1/255 of the spread beyond. */
#include "wear.h"

#include "bytes.h"

static uint32_t per_cell(const struct fffs *fs)
{
    return (fs->shape.segments + FFFS_WEAR_CELLS - 1u) / FFFS_WEAR_CELLS;
}

static uint32_t cells_of(const struct fffs *fs)
{
    return fs->config->wear == NULL ? 0 : (fs->shape.segments + per_cell(fs) - 1u) / per_cell(fs);
}

void fffs_wear_begin(struct fffs *fs, uint32_t erases)
{
    uint32_t i, cells = cells_of(fs);

    for (i = 0; i < cells; i++)
        fs->config->wear[i] = erases / cells;
}

void fffs_wear_count(struct fffs *fs, uint32_t segment)
{
    if (fs->config->wear != NULL)
        fs->config->wear[segment / per_cell(fs)]++;
}

uint32_t fffs_wear_records(const struct fffs *fs)
{
    uint32_t cells = cells_of(fs);

    return cells == 0 ? 0 : 1u + (cells + FFFS_WEAR_PER_RECORD - 1u) / FFFS_WEAR_PER_RECORD;
}

static void bounds(const struct fffs *fs, uint32_t *least, uint32_t *most)
{
    uint32_t i, cells = cells_of(fs);

    *least = *most = fs->config->wear[0];
    for (i = 1; i < cells; i++) {
        *least = fffs_min(*least, fs->config->wear[i]);
        *most = fs->config->wear[i] > *most ? fs->config->wear[i] : *most;
    }
}

struct fffs_record fffs_wear_record(const struct fffs *fs, uint32_t i)
{
    uint32_t least, most, shift = 0, first = (i - 1u) * FFFS_WEAR_PER_RECORD, payload, k;

    bounds(fs, &least, &most);
    if (i == 0)
        return fffs_control_record(FFFS_CTL_WEAR_LEAST, least);
    while (shift < 7u && (most - least) >> shift > 255u)
        shift++;
    payload = (i - 1u) | shift << 5;
    for (k = 0; k < FFFS_WEAR_PER_RECORD && first + k < cells_of(fs); k++)
        payload |= fffs_min((fs->config->wear[first + k] - least) >> shift, 255u) << (8u * (k + 1u));
    return fffs_control_record(FFFS_CTL_WEAR_CELLS, payload);
}

void fffs_wear_take(struct fffs *fs, const struct fffs_record *record)
{
    uint32_t payload = fffs_control_payload(record), cells = cells_of(fs), i, first;

    switch (fffs_control_type(record)) {
    case FFFS_CTL_WEAR_LEAST:
        for (i = 0; i < cells; i++)
            fs->config->wear[i] = payload;
        break;
    case FFFS_CTL_WEAR_CELLS:
        first = (payload & 31u) * FFFS_WEAR_PER_RECORD;
        for (i = 0; i < FFFS_WEAR_PER_RECORD && first + i < cells; i++)
            fs->config->wear[first + i] += (payload >> (8u * (i + 1u)) & 255u) << (payload >> 5 & 7u);
        break;
    default:
        break;
    }
}

void fffs_wear_range(const struct fffs *fs, uint32_t *least, uint32_t *most)
{
    *least = fs->erases / fs->shape.segments;
    *most = *least + (fs->erases % fs->shape.segments != 0);
    if (fs->config->wear == NULL)
        return;
    bounds(fs, least, most);
    *least /= per_cell(fs);
    *most = (*most + per_cell(fs) - 1u) / per_cell(fs);
}
