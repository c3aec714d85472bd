/* Name look-up. Owns the hash and the tag; assumes that slots in a name's window are the only places of its record (I8). */
#include "lookup.h"

#include <string.h>
#include "bytes.h"
#include "crc32.h"
#include "index_log.h"

uint32_t fffs_name_hash(uint32_t hash, const void *bytes, uint32_t length)
{
    return fffs_crc32(hash, bytes, length);
}

int fffs_name_set(const struct fffs *fs, struct fffs_name *name, const char *text)
{
    uint32_t hash, folder, folder_length = 0, room;

    if (text == NULL || text[0] == '\0')
        return FFFS_ERR_BAD_NAME;
    name->text = text;
    for (name->length = 0; text[name->length] != '\0'; name->length++) {
        if (name->length == FFFS_NAME_MAX)
            return FFFS_ERR_NAME_TOO_LONG;
        if (text[name->length] == '/')
            folder_length = name->length + 1u;
    }
    /* A node does not cross a segment. */
    room = (uint32_t)1 << (fs->shape.segment_shift + fs->shape.sector_shift);
    if (FFFS_NODE_TRAILER + name->length + FFFS_FILE_EXTENTS * (uint32_t)FFFS_EXTENT_BYTES > room)
        return FFFS_ERR_NAME_TOO_LONG;
    folder = fffs_name_hash(0, text, folder_length);
    hash = fffs_name_hash(folder, text + folder_length, name->length - folder_length);
    name->slot = (uint16_t)hash;
    name->tag = (uint8_t)((folder >> 13 & FFFS_TAG_FOLDER) | (hash >> 16 & FFFS_TAG_NAME));
    return FFFS_OK;
}

uint8_t fffs_name_tag(const struct fffs_name *name, uint32_t distance)
{
    return (uint8_t)(name->tag | (distance > 0 ? FFFS_TAG_DISPLACED : 0));
}

/* Verifies one record: 1 it is the name's, 0 not. */
static int verify(struct fffs *fs, const struct fffs_name *name, struct fffs_found *found, uint8_t *buffer,
                  uint32_t bytes, int whole)
{
    uint32_t footprint = fffs_record_footprint(&fs->shape, &found->record);
    uint32_t want = FFFS_NODE_TRAILER + name->length;
    int status;

    if ((found->record.kind & FFFS_KIND_MULTI) != 0)
        want = FFFS_NODE_WINDOW;
    if (whole && footprint <= bytes)
        want = footprint;
    status = fffs_node_load(fs, &found->record, &found->node, buffer, fffs_min(want, bytes));
    if (status != FFFS_OK)
        return status;
    return fffs_node_has_name(fs, &found->node, name->text, name->length);
}

int fffs_lookup(struct fffs *fs, const struct fffs_name *name, struct fffs_found *found, uint8_t *buffer,
                uint32_t bytes, int whole)
{
    struct fffs_batch batch;
    uint32_t from = 0, expected = 0, i;

    batch.base = name->slot;
    batch.low = batch.high = 0;
    found->free = fs->shape.probes;
    while (from < fs->shape.probes) {
        int status = fffs_index_collect(fs, &batch, from, fs->shape.probes);

        if (status != FFFS_OK)
            return status;
        for (i = 0; i < batch.count; i++) {
            uint32_t place = (uint16_t)(batch.records[i].slot - name->slot);

            if (place > expected && found->free == fs->shape.probes)
                found->free = expected;
            expected = place + 1u;
            if (batch.records[i].tag != fffs_name_tag(name, place))
                continue;
            found->record = batch.records[i];
            status = verify(fs, name, found, buffer, bytes, whole);
            if (status != 0)
                return status;
        }
        from = batch.next;
    }
    if (found->free == fs->shape.probes)
        found->free = expected;
    memset(&found->record, 0, sizeof found->record);
    return 0;
}
