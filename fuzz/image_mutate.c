/* Mutations that know the format, for the image fuzzer. Bytes changed at random never get past a CRC; here fields of
 * headers, records, nodes and table blocks are changed and the checks over them are made right again, mostly. */
#include <string.h>
#include "fuzz.h"
#include "src/bytes.h"
#include "src/crc32.h"
#include "src/format.h"
#include "src/node.h"
#include "src/record.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static uint8_t image[FUZZ_FLASH_MAX];

struct work {
    struct fuzz_options options;
    struct fffs_shape shape;    /* of the unit chosen */
    uint32_t unit;              /* its address */
    uint32_t copies;
    uint32_t random;
};

static uint32_t below(struct work *work, uint32_t limit) { return fuzz_below(&work->random, limit); }

/* A number that tends to be at an edge; near `old` at times. */
static uint32_t interesting(struct work *work, uint32_t old)
{
    static const uint32_t edges[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 63, 64, 127, 128, 255, 256, 4095, 4096,
                                     0x7FFF, 0x8000, 0xFFFE, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000u, 0xFFFFFFFFu};

    switch (below(work, 5)) {
    case 0: return edges[below(work, sizeof edges / sizeof edges[0])];
    case 1: return old + below(work, 9) - 4u;
    case 2: return below(work, work->options.size);
    case 3: return old ^ 1u << below(work, 32);
    default: return fuzz_next(&work->random);
    }
}

/* ---- Places ---- */

/* Chooses a unit with a header; 0 when there is none. */
static int choose_unit(struct work *work)
{
    uint32_t at, seen = 0;
    struct fffs_header header;

    for (at = 0; at + FFFS_HDR_BYTES <= work->options.size; at += 256u)
        if (memcmp(image + at, "FFFS", 4) == 0 && fffs_header_decode(image + at, &header) == FFFS_OK &&
            below(work, ++seen) == 0) {
            work->unit = at;
            work->shape = header.shape;
            work->copies = header.copies;
        }
    return seen > 0 && work->unit + (1u << (work->shape.unit_shift + work->shape.sector_shift)) <= work->options.size;
}

static uint32_t stride_bytes(const struct work *work) { return 1u << work->shape.stride_shift; }
static uint8_t *stride_at(const struct work *work, uint32_t index)
{
    return image + work->unit + index * stride_bytes(work);
}

/* The CRC of the copies and all checks of the header of the unit. */
static void seal_unit(struct work *work)
{
    uint32_t strides = fffs_unit_strides(&work->shape), from = fffs_header_strides(&work->shape);
    uint32_t copies = fffs_get16(image + work->unit + FFFS_HDR_COPIES);

    if (from + copies > strides)
        copies = strides - from;
    fffs_header_seal(image + work->unit,
                     fffs_header_crc(fffs_crc32(0, stride_at(work, from), copies * stride_bytes(work)), image + work->unit));
}

/* Chooses a valid put anywhere in the unit: its stride, 0 none. */
static uint32_t choose_put(struct work *work, struct fffs_record *record)
{
    uint32_t i, seen = 0, chosen = 0;
    struct fffs_record one;

    for (i = fffs_header_strides(&work->shape); i < fffs_unit_strides(&work->shape); i++)
        if (fffs_record_decode(stride_at(work, i), stride_bytes(work), &one) == FFFS_STRIDE_VALID && fffs_is_put(&one) &&
            below(work, ++seen) == 0) {
            chosen = i;
            *record = one;
        }
    return chosen;
}

static uint32_t log_end(const struct work *work)
{
    uint32_t i, end = fffs_header_strides(&work->shape) + work->copies + FFFS_MARKS;
    struct fffs_record record;

    for (i = end; i < fffs_unit_strides(&work->shape); i++)
        if (fffs_record_decode(stride_at(work, i), stride_bytes(work), &record) != FFFS_STRIDE_BLANK)
            end = i + 1u;
    return end;
}

static void set_stride(struct work *work, uint32_t index, const struct fffs_record *record)
{
    if (index < fffs_unit_strides(&work->shape))
        fffs_record_encode(record, stride_at(work, index), stride_bytes(work));
}

/* ---- Changes ---- */

static void change_header(struct work *work)
{
    static const uint8_t fields[][2] = {
        {FFFS_HDR_VERSION, 1}, {FFFS_HDR_READABLE, 1}, {FFFS_HDR_REQUIRED, 2}, {FFFS_HDR_OPTIONAL, 2}, {FFFS_HDR_FORMAT_ID, 2},
        {FFFS_HDR_SECTORS, 2}, {FFFS_HDR_SECTOR_SHIFT, 1}, {FFFS_HDR_GRANULE_SHIFT, 1}, {FFFS_HDR_UNIT_SHIFT, 1},
        {FFFS_HDR_UNITS, 1}, {FFFS_HDR_SEGMENT_SHIFT, 1}, {FFFS_HDR_SPARES, 1}, {FFFS_HDR_PHASE, 2}, {FFFS_HDR_MAX_FILES, 2},
        {FFFS_HDR_SERIAL, 4}, {FFFS_HDR_OLDEST, 4}, {FFFS_HDR_UNIT, 1}, {FFFS_HDR_PREVIOUS, 1}, {FFFS_HDR_COPIES, 2},
        {FFFS_HDR_BASE, 4}, {FFFS_HDR_BASE_SESSION, 2}, {FFFS_HDR_RING, 2}, {FFFS_HDR_LEVEL, 2}, {FFFS_HDR_PROBES, 1},
        {FFFS_HDR_VICTIMS, 1}, {FFFS_HDR_STAMP, 4}, {FFFS_HDR_ERASES, 4}, {FFFS_HDR_CLOSES, 4}
    };
    const uint8_t *field = fields[below(work, sizeof fields / sizeof fields[0])];
    uint8_t *at = image + work->unit + field[0];
    uint32_t value;

    if (field[1] == 1)
        *at = (uint8_t)interesting(work, *at);
    else if (field[1] == 2)
        fffs_put16(at, interesting(work, fffs_get16(at)));
    else {
        value = interesting(work, fffs_get32(at));
        fffs_put32(at, value);
    }
    seal_unit(work);
}

static void change_put(struct work *work)
{
    struct fffs_record record;
    uint32_t index = choose_put(work, &record);

    if (index == 0)
        return;
    switch (below(work, 7)) {
    case 0: record.slot = (uint16_t)interesting(work, record.slot); break;
    case 1: record.head = (uint16_t)interesting(work, record.head); break;
    case 2: record.off = (uint8_t)interesting(work, record.off); break;
    case 3: record.len = (uint8_t)interesting(work, record.len); break;
    case 4: record.tag = (uint8_t)interesting(work, record.tag); break;
    case 5: record.kind ^= (uint8_t)(1u + below(work, 3)); break;
    default: record.head = (uint16_t)below(work, work->options.size >> work->shape.sector_shift); break;
    }
    set_stride(work, below(work, 3) == 0 ? log_end(work) : index, &record);
    seal_unit(work);
}

static struct fffs_record some_control(struct work *work, uint32_t index)
{
    uint32_t serial = fffs_get32(image + work->unit + FFFS_HDR_SERIAL), payload;

    switch (below(work, 10)) {
    case 0: return fffs_control_record(FFFS_CTL_SESSION, index);
    case 1: return fffs_control_record(FFFS_CTL_CLEAN, index);
    case 2: return fffs_control_record(FFFS_CTL_START, index);
    case 3: return fffs_control_record(FFFS_CTL_BEGIN, below(work, 5) | serial << 16);
    case 4: return fffs_control_record(FFFS_CTL_COMMIT, (index - 1u - below(work, 5)) | serial << 16);
    case 5: return fffs_control_record(FFFS_CTL_BAD, below(work, 70));
    case 6: return fffs_control_record(FFFS_CTL_WEAR, fuzz_next(&work->random));
    case 7: return fffs_control_record(FFFS_CTL_ERASED, below(work, 40) | below(work, 80) << 16);
    case 8:
        payload = below(work, work->options.size);
        return fffs_control_record(below(work, 2) ? FFFS_CTL_APPEND_USER : FFFS_CTL_APPEND_GC,
                                   payload >> work->shape.sector_shift |
                                       (payload & ((1u << work->shape.sector_shift) - 1u)) << 16);
    default: return fffs_control_record((enum fffs_control)below(work, 256), fuzz_next(&work->random));
    }
}

/* Writes a control record, a clean mark behind hints mostly; at the end of the log or anywhere. */
static void add_control(struct work *work)
{
    uint32_t end = log_end(work), index = below(work, 4) == 0 ? below(work, fffs_unit_strides(&work->shape)) : end;
    struct fffs_record record = some_control(work, index), clean;

    if (index < fffs_header_strides(&work->shape))
        return;
    set_stride(work, index, &record);
    if (index == end && below(work, 2) == 0) {
        clean = fffs_control_record(FFFS_CTL_CLEAN, end + 1u);
        set_stride(work, end + 1u, &clean);
    }
    seal_unit(work);
}

static void add_delete(struct work *work)
{
    struct fffs_record record;

    if (choose_put(work, &record) == 0)
        return;
    record.head = record.off = record.len = record.tag = record.kind = 0;
    set_stride(work, log_end(work), &record);
}

/* A whole transaction of copies of what is there. */
static void add_transaction(struct work *work)
{
    uint32_t end = log_end(work), count = below(work, 4), i;
    uint32_t serial = fffs_get32(image + work->unit + FFFS_HDR_SERIAL);
    struct fffs_record record = fffs_control_record(FFFS_CTL_BEGIN, count | serial << 16);

    set_stride(work, end, &record);
    for (i = 0; i < count; i++) {
        if (choose_put(work, &record) == 0)
            return;
        record.kind |= FFFS_KIND_TXN;
        set_stride(work, end + 1u + i, &record);
    }
    record = fffs_control_record(FFFS_CTL_COMMIT, end | serial << 16);
    set_stride(work, end + 1u + count, &record);
}

static void move_stride(struct work *work)
{
    uint32_t from = below(work, fffs_unit_strides(&work->shape)), to = below(work, fffs_unit_strides(&work->shape));
    uint32_t first = fffs_header_strides(&work->shape);

    if (from < first || to < first)
        return;
    if (below(work, 3) == 0)
        memset(stride_at(work, to), below(work, 2) == 0 ? 0xFF : 0, stride_bytes(work));
    else
        memmove(stride_at(work, to), stride_at(work, from), stride_bytes(work));
    if (below(work, 2) == 0)
        seal_unit(work);
}

/* ---- Nodes ---- */

/* The node of a put, as far as it lies in the image; 0 when it makes none. */
static int load_node(const struct work *work, const struct fffs_record *record, struct fffs_node *node)
{
    uint32_t end = fffs_record_end(&work->shape, record);

    if (end > work->options.size || end < FFFS_NODE_TRAILER)
        return 0;
    node->end = end;
    node->tail = image;
    node->tail_bytes = end;
    if (!fffs_node_decode_trailer(node))
        return 0;
    if ((node->flags & FFFS_NODE_ATTRS) != 0 && fffs_node_name_from_end(node) < end)
        node->attrs = image[end - fffs_node_name_from_end(node) - 1u];
    if ((node->flags & FFFS_NODE_TABLES) != 0 && fffs_node_extents_from_end(node) + 2u <= end)
        node->tables = fffs_get16(image + end - fffs_node_extents_from_end(node) - 2u);
    node->bytes = fffs_node_tables_from_end(node);
    return node->bytes <= end;
}

static void seal_node(const struct work *work, const struct fffs_record *record)
{
    struct fffs_node node;

    if (load_node(work, record, &node))
        fffs_put32(image + node.end - 4u, fffs_crc32(0, image + node.end - node.bytes, node.bytes - 4u));
}

static void change_trailer(struct work *work, const struct fffs_node *node)
{
    uint8_t *trailer = image + node->end - FFFS_NODE_TRAILER;

    switch (below(work, 8)) {
    case 0: fffs_put32(trailer + FFFS_NODE_SIZE, interesting(work, node->size)); break;
    case 1: fffs_put32(trailer + FFFS_NODE_STAMP, interesting(work, node->stamp)); break;
    case 2: fffs_put16(trailer + FFFS_NODE_SLOT, interesting(work, node->slot)); break;
    case 3: trailer[FFFS_NODE_NAME_LENGTH] = (uint8_t)interesting(work, node->name_length); break;
    case 4: trailer[FFFS_NODE_PAD] = (uint8_t)interesting(work, node->pad); break;
    case 5: trailer[FFFS_NODE_FLAGS] = (uint8_t)below(work, 16); break;
    case 6: trailer[FFFS_NODE_EXTENTS] = (uint8_t)interesting(work, node->extents); break;
    default: /* the name, the slot left as it is */
        if (node->name_length > 0 && node->end > fffs_node_name_from_end(node))
            image[node->end - fffs_node_name_from_end(node) + below(work, node->name_length)] = (uint8_t)fuzz_next(&work->random);
        break;
    }
}

static void change_extent(struct work *work, const struct fffs_node *node)
{
    uint32_t at;

    if (node->extents == 0 || fffs_node_extents_from_end(node) > node->end)
        return;
    at = node->end - fffs_node_extents_from_end(node) + below(work, node->extents) * FFFS_EXTENT_BYTES + 4u * below(work, 2);
    fffs_put32(image + at, interesting(work, fffs_get32(image + at)));
}

/* Makes or changes a table block of the node, with its CRC. */
static void change_table(struct work *work, const struct fffs_node *node)
{
    uint32_t from = node->end - fffs_node_tables_from_end(node), at, count, i, room;
    uint32_t number = node->tables == 0 ? 0 : below(work, node->tables);

    if (node->tables == 0 || fffs_node_tables_from_end(node) > node->end)
        return;
    if (below(work, 3) == 0)
        fffs_put32(image + from + 4u * number, interesting(work, fffs_get32(image + from + 4u * number)));
    at = fffs_get32(image + from + 4u * number);
    if (at > work->options.size - 64u)
        return;
    room = (work->options.size - at - FFFS_TABLE_HEADER - FFFS_TABLE_CRC_BYTES) / FFFS_EXTENT_BYTES;
    switch (below(work, 4)) {
    case 0: fffs_put32(image + at + FFFS_TABLE_START, interesting(work, fffs_get32(image + at + FFFS_TABLE_START))); break;
    case 1: fffs_put16(image + at + FFFS_TABLE_COUNT, interesting(work, fffs_get16(image + at + FFFS_TABLE_COUNT))); break;
    case 2: fffs_put16(image + at + FFFS_TABLE_INDEX, node->tables - 1u - number); break;
    default: break;
    }
    count = fffs_get16(image + at + FFFS_TABLE_COUNT);
    count = count < room ? count : room;
    if (below(work, 3) == 0) { /* extents that grow by little: as many steps as can be */
        uint32_t end = fffs_get32(image + at + FFFS_TABLE_START), address = below(work, work->options.size);

        for (i = 0; i < count; i++) {
            fffs_put32(image + at + FFFS_TABLE_HEADER + i * FFFS_EXTENT_BYTES, address);
            fffs_put32(image + at + FFFS_TABLE_HEADER + i * FFFS_EXTENT_BYTES + 4u, end += 1u + below(work, 2));
        }
    } else if (count > 0) {
        i = at + FFFS_TABLE_HEADER + below(work, count) * FFFS_EXTENT_BYTES + 4u * below(work, 2);
        fffs_put32(image + i, interesting(work, fffs_get32(image + i)));
    }
    i = FFFS_TABLE_HEADER + count * FFFS_EXTENT_BYTES;
    fffs_put32(image + at + i, fffs_crc32(0, image + at, i));
}

static void change_node(struct work *work)
{
    struct fffs_record record;
    struct fffs_node node;
    uint32_t index = choose_put(work, &record);

    if (index == 0 || !load_node(work, &record, &node))
        return;
    switch (below(work, 3)) {
    case 0: change_trailer(work, &node); break;
    case 1: change_extent(work, &node); break;
    default: change_table(work, &node); break;
    }
    seal_node(work, &record);
}

/* A node of its own, with a record that leads to it: any name, flags, extents and tables. */
static void add_node(struct work *work)
{
    uint32_t unit = fffs_unit_bytes(&work->shape), end, extents = below(work, 6), tables = below(work, 3), bytes, i, size = 0;
    struct fffs_record record;
    uint8_t *at;

    end = fffs_align_up(below(work, work->options.size) + 1u, fffs_node_align(&work->shape));
    bytes = 18u + 3u + extents * 8u + 2u + tables * 4u;
    if (end > work->options.size || end < bytes)
        return;
    at = image + end - bytes;
    for (i = 0; i < tables; i++, at += 4)
        fffs_put32(at, below(work, work->options.size));
    fffs_put16(at, tables);
    at += 2;
    for (i = 0; i < extents; i++, at += 8) {
        fffs_put32(at, below(work, work->options.size));
        fffs_put32(at + 4, size += 1u + below(work, 200));
    }
    memset(at, (int)('a' + below(work, 26)), 3);
    at += 3;
    record.slot = (uint16_t)fffs_crc32(0, at - 3, 3);
    fffs_put32(at + FFFS_NODE_SIZE, size);
    fffs_put32(at + FFFS_NODE_STAMP, below(work, 100));
    fffs_put16(at + FFFS_NODE_SLOT, record.slot);
    at[FFFS_NODE_NAME_LENGTH] = 3;
    at[FFFS_NODE_PAD] = 0;
    at[FFFS_NODE_FLAGS] = FFFS_NODE_MULTI | FFFS_NODE_TABLES;
    at[FFFS_NODE_EXTENTS] = (uint8_t)extents;
    fffs_put32(at + FFFS_NODE_CRC, fffs_crc32(0, image + end - bytes, bytes - 4u));
    record.head = (uint16_t)((end - 1u) >> work->shape.sector_shift);
    record.off = (uint8_t)((((end - 1u) & ((1u << work->shape.sector_shift) - 1u))) / unit);
    record.len = fffs_footprint_encode((bytes + unit - 1u) / unit);
    record.tag = (uint8_t)(fffs_crc32(0, at - 3, 3) >> 16 & 7u);
    record.kind = FFFS_KIND_MULTI;
    set_stride(work, log_end(work), &record);
}

/* ---- Without knowledge ---- */

static void change_bytes(struct work *work)
{
    uint32_t at = below(work, work->options.size), count = 1u + below(work, 64), from = below(work, work->options.size);

    if (count > work->options.size - at)
        count = work->options.size - at;
    if (count > work->options.size - from)
        count = work->options.size - from;
    switch (below(work, 5)) {
    case 0: image[at] ^= (uint8_t)(1u << below(work, 8)); break;
    case 1: memset(image + at, 0xFF, count); break;
    case 2: memmove(image + at, image + from, count); break;
    case 3: (void)LLVMFuzzerMutate(image + at, count, count); break;
    default: /* a whole sector elsewhere */
        at &= ~255u;
        from &= ~255u;
        memmove(image + at, image + from, 256);
        break;
    }
}

static void change_options(struct work *work)
{
    switch (below(work, 5)) {
    case 0: work->options.cache = (uint8_t)fuzz_next(&work->random); break;
    case 1: work->options.flags = (uint8_t)fuzz_next(&work->random) & 63u; break;
    case 2: work->options.granule_shift = (uint8_t)below(work, 9); break;
    case 3: work->options.seed = fuzz_next(&work->random) & 0xFFFFFFu; break;
    default:
        if (below(work, 4) == 0)
            work->options.size = (1u + below(work, FUZZ_FLASH_MAX / 256u)) * 256u;
        break;
    }
}

static void mutate_once(struct work *work)
{
    static void (*const known[])(struct work *) = {
        change_header, change_put, change_put, add_control, add_control, add_delete, add_transaction, move_stride,
        change_node, change_node, change_node, add_node
    };

    if (below(work, 8) == 0)
        change_bytes(work);
    else if (below(work, 8) == 0)
        change_options(work);
    else if (choose_unit(work))
        known[below(work, sizeof known / sizeof known[0])](work);
    else
        change_bytes(work);
}

size_t fuzz_mutate_image(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct work work;
    uint32_t times;
    size_t used;

    memset(&work, 0, sizeof work);
    work.random = seed;
    if (below(&work, 20) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    fuzz_unpack(data, size, &work.options, image);
    for (times = 1u + below(&work, 4); times > 0; times--)
        mutate_once(&work);
    if (below(&work, 4) == 0 && choose_unit(&work))
        seal_unit(&work);
    used = fuzz_pack(&work.options, image, data, max_size);
    return used != 0 ? used : size;
}
