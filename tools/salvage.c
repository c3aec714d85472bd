/* The nodes on an image, found without its index.
 *
 * A node is taken for one only if its CRC is right and its slot lies in the probe window of its name. The CRC of any run of
 * bytes comes from CRCs of prefixes, so that a candidate costs the same however long it claims to be. */
#include "salvage.h"

#include <stdlib.h>
#include <string.h>
#include "src/bytes.h"
#include "src/crc32.h"

enum { PREFIX_SHIFT = 4, PROBES_MAX = 64, SLOTS = 65536 };

static const uint32_t polynomial = 0xEDB88320u;

/* ---- CRC of a run of bytes ---- */

/* The product of two polynomials modulo the CRC's; bit 31 is x^0. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t mask, product = 0;

    for (mask = 0x80000000u; mask != 0; mask >>= 1) {
        if ((a & mask) != 0)
            product ^= b;
        b = (b & 1u) != 0 ? (b >> 1) ^ polynomial : b >> 1;
    }
    return product;
}

/* What `crc` contributes to the CRC of bytes that stand `bytes` later. */
static uint32_t shift_crc(const struct salvage *salvage, uint32_t crc, uint32_t bytes)
{
    unsigned k;

    if ((bytes & (SALVAGE_STEPS - 1u)) != 0)
        crc = multiply(salvage->step[bytes & (SALVAGE_STEPS - 1u)], crc);
    for (k = SALVAGE_STEP_BITS, bytes >>= SALVAGE_STEP_BITS; bytes != 0; k++, bytes >>= 1)
        if ((bytes & 1u) != 0)
            crc = multiply(salvage->power[k], crc);
    return crc;
}

static void prepare_crc(struct salvage *salvage)
{
    uint32_t blocks = salvage->count >> PREFIX_SHIFT, i;

    salvage->prefix = tool_alloc(((size_t)blocks + 1) * sizeof *salvage->prefix);
    salvage->prefix[0] = 0;
    for (i = 0; i < blocks; i++)
        salvage->prefix[i + 1] = fffs_crc32(salvage->prefix[i], salvage->bytes + ((size_t)i << PREFIX_SHIFT),
                                            1u << PREFIX_SHIFT);
    salvage->power[0] = 0x00800000u;
    for (i = 1; i < 32; i++)
        salvage->power[i] = multiply(salvage->power[i - 1], salvage->power[i - 1]);
    salvage->step[0] = 0x80000000u;
    for (i = 1; i < SALVAGE_STEPS; i++)
        salvage->step[i] = multiply(salvage->power[0], salvage->step[i - 1]);
}

static uint32_t prefix_crc(const struct salvage *salvage, uint32_t end)
{
    uint32_t block = end >> PREFIX_SHIFT, low = block << PREFIX_SHIFT;

    return fffs_crc32(salvage->prefix[block], salvage->bytes + low, end - low);
}

static uint32_t run_crc(const struct salvage *salvage, uint32_t low, uint32_t high)
{
    return prefix_crc(salvage, high) ^ shift_crc(salvage, prefix_crc(salvage, low), high - low);
}

/* ---- Nodes ---- */

/* Decodes a trailer and the lengths before it; 0 when no node can end there. */
static int parse_node(const struct salvage *salvage, uint32_t end, struct fffs_node *node)
{
    uint32_t from_end;

    node->end = end;
    node->tail = salvage->bytes + end - FFFS_NODE_TRAILER;
    node->tail_bytes = FFFS_NODE_TRAILER;
    if (!fffs_node_decode_trailer(node))
        return 0;
    from_end = fffs_node_name_from_end(node) + 1u;
    if (from_end > end)
        return 0;
    if ((node->flags & FFFS_NODE_ATTRS) != 0)
        node->attrs = salvage->bytes[end - from_end];
    from_end = fffs_node_extents_from_end(node) + 2u;
    if (from_end > end)
        return 0;
    if ((node->flags & FFFS_NODE_TABLES) != 0)
        node->tables = fffs_get16(salvage->bytes + end - from_end);
    node->bytes = fffs_node_tables_from_end(node);
    return node->bytes <= end;
}

static int node_is_whole(const struct salvage *salvage, const struct fffs_node *node)
{
    uint32_t name = node->end - fffs_node_name_from_end(node), hash;

    if (run_crc(salvage, node->end - node->bytes, node->end - 4u) != node->crc)
        return 0;
    if (memchr(salvage->bytes + name, 0, node->name_length) != NULL)
        return 0;
    hash = fffs_crc32(0, salvage->bytes + name, node->name_length);
    return ((node->slot - hash) & 0xFFFFu) < salvage->probes;
}

static void add_version(struct salvage *salvage, const struct fffs_node *node)
{
    struct salvage_version *version;
    uint32_t crc_from_end = fffs_node_attrs_from_end(node) + 4u;

    if (salvage->found == salvage->room) {
        salvage->room = salvage->room * 2 + 64;
        salvage->versions = tool_resize(salvage->versions, salvage->room * sizeof *salvage->versions);
    }
    version = &salvage->versions[salvage->found++];
    memset(version, 0, sizeof *version);
    version->end = node->end;
    version->bytes = node->bytes;
    version->size = node->size;
    version->stamp = node->stamp;
    version->tables = node->tables;
    version->slot = node->slot;
    version->name_length = node->name_length;
    version->pad = node->pad;
    version->flags = node->flags;
    version->extents = node->extents;
    if ((node->flags & FFFS_NODE_DATA_CRC) != 0)
        version->data_crc = fffs_get32(salvage->bytes + node->end - crc_from_end);
}

static void find_nodes(struct salvage *salvage)
{
    uint32_t end;

    /* A file cut short may end inside a step; `end` can not pass the last one because the file has less than 4 GiB. */
    for (end = fffs_align_up(FFFS_NODE_TRAILER + 1u, salvage->align); end <= salvage->count && end >= salvage->align;
         end += salvage->align) {
        struct fffs_node node;

        if (parse_node(salvage, end, &node) && node_is_whole(salvage, &node))
            add_version(salvage, &node);
    }
}

struct salvage_version *salvage_at(const struct salvage *salvage, uint32_t end)
{
    size_t low = 0, high = salvage->found;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (salvage->versions[middle].end < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < salvage->found && salvage->versions[low].end == end ? &salvage->versions[low] : NULL;
}

/* ---- Pieces ---- */

struct walk {
    struct salvage *salvage;
    const struct salvage_version *version;
    int (*visit)(void *context, uint32_t address, uint32_t bytes);
    void *context;
    uint32_t at;                /* offset in the file reached */
};

static int show_piece(struct walk *walk, uint32_t address, uint32_t bytes)
{
    if (walk->salvage->budget == 0)
        return -1;
    walk->salvage->budget--;
    if (bytes > walk->salvage->count || address > walk->salvage->count - bytes)
        return -1;
    return walk->visit(walk->context, address, bytes);
}

/* `count` extents that stand at `entry`. */
static int show_extents(struct walk *walk, const uint8_t *entry, uint32_t count)
{
    int status = 0;

    for (; count > 0 && status == 0; count--, entry += FFFS_EXTENT_BYTES) {
        uint32_t end = fffs_get32(entry + FFFS_EXTENT_END);

        if (end <= walk->at || end > walk->version->size)
            return -1;
        status = show_piece(walk, fffs_get32(entry + FFFS_EXTENT_ADDRESS), end - walk->at);
        walk->at = end;
    }
    return status;
}

/* Table block number `index`, counted from the oldest. */
static int show_table(struct walk *walk, uint32_t index, uint32_t address, int itself)
{
    const struct salvage *salvage = walk->salvage;
    const uint8_t *block;
    uint32_t bytes;
    int status = 0;

    if (address > salvage->count || salvage->count - address < FFFS_TABLE_HEADER + FFFS_TABLE_CRC_BYTES)
        return -1;
    block = salvage->bytes + address;
    bytes = FFFS_TABLE_HEADER + fffs_get16(block + FFFS_TABLE_COUNT) * (uint32_t)FFFS_EXTENT_BYTES;
    if (bytes + FFFS_TABLE_CRC_BYTES > salvage->count - address || fffs_get16(block + FFFS_TABLE_INDEX) != index ||
        fffs_get16(block + FFFS_TABLE_COUNT) == 0 || fffs_get32(block + FFFS_TABLE_START) != walk->at ||
        run_crc(salvage, address, address + bytes) != fffs_get32(block + bytes))
        return -1;
    if (itself)
        status = show_piece(walk, address, bytes + FFFS_TABLE_CRC_BYTES);
    return status == 0 ? show_extents(walk, block + FFFS_TABLE_HEADER, fffs_get16(block + FFFS_TABLE_COUNT)) : status;
}

static int show_multi(struct walk *walk, int tables)
{
    const struct salvage_version *version = walk->version;
    const uint8_t *node = walk->salvage->bytes + version->end - version->bytes;
    uint32_t i, refs = (version->flags & FFFS_NODE_TABLES) != 0 ? 4u * version->tables + 2u : 0;
    int status = 0;

    for (i = 0; i < version->tables && status == 0; i++) /* the newest is listed first */
        status = show_table(walk, i, fffs_get32(node + 4u * (version->tables - 1u - i)), tables);
    if (status == 0)
        status = show_extents(walk, node + refs, version->extents);
    return status == 0 && walk->at != version->size ? -1 : status;
}

int salvage_pieces(struct salvage *salvage, const struct salvage_version *version, int tables,
                   int (*visit)(void *context, uint32_t address, uint32_t bytes), void *context)
{
    struct walk walk = { salvage, version, visit, context, 0 };
    uint32_t before = version->end - version->bytes;

    if ((version->flags & FFFS_NODE_MULTI) != 0)
        return show_multi(&walk, tables);
    if (before < version->pad || before - version->pad < version->size)
        return -1;
    return version->size == 0 ? 0 : show_piece(&walk, before - version->pad - version->size, version->size);
}

/* ---- What is known of a version ---- */

struct examination {
    const struct salvage *salvage;
    uint32_t crc;
    uint32_t low, high;         /* of the sector that holds the node's last byte */
    int near;
};

static int take_piece(void *context, uint32_t address, uint32_t bytes)
{
    struct examination *of = context;

    of->crc = shift_crc(of->salvage, of->crc, bytes) ^ run_crc(of->salvage, address, address + bytes);
    if (address < of->low || address + bytes > of->high)
        of->near = 0;
    return 0;
}

static void examine(struct salvage *salvage, struct salvage_version *version)
{
    /* Sectors have at least 256 bytes, whatever the geometry. */
    uint32_t sector = salvage->shape.sector_shift != 0 ? (uint32_t)1 << salvage->shape.sector_shift : 256u;
    struct examination of;

    of.salvage = salvage;
    of.crc = 0;
    of.low = fffs_align_down(version->end - 1u, sector);
    of.high = of.low + (sector - 1u); /* the last byte of it is the node's at most */
    of.near = version->end - version->bytes >= of.low;
    version->state = SALVAGE_BROKEN;
    if (salvage_pieces(salvage, version, 0, take_piece, &of) != 0)
        return;
    version->near = of.near != 0;
    version->state = version->size == 0 ? SALVAGE_PROVED : SALVAGE_UNKNOWN;
    if ((version->flags & FFFS_NODE_DATA_CRC) != 0)
        version->state = of.crc == version->data_crc ? SALVAGE_PROVED : SALVAGE_WRONG;
}

/* ---- All ---- */

void salvage_scan(struct salvage *salvage, const uint8_t *bytes, uint32_t count, uint32_t sector_bytes,
                  uint32_t granule_bytes)
{
    size_t i;

    memset(salvage, 0, sizeof *salvage);
    salvage->bytes = bytes;
    salvage->count = count;
    salvage->budget = (uint64_t)count + SLOTS;
    prepare_crc(salvage);
    salvage_find_shape(salvage);
    if (sector_bytes != 0 && salvage->headers == 0)
        salvage->shape.sector_shift = fffs_log2(sector_bytes);
    if (granule_bytes != 0 && salvage->headers == 0)
        salvage->shape.granule_shift = fffs_log2(granule_bytes);
    salvage->align = (uint32_t)1 << salvage->shape.granule_shift;
    if (salvage->shape.sector_shift >= 8 && (uint32_t)1 << (salvage->shape.sector_shift - 8) > salvage->align)
        salvage->align = (uint32_t)1 << (salvage->shape.sector_shift - 8);
    salvage->probes = salvage->headers > 0 ? salvage->shape.probes : PROBES_MAX;
    find_nodes(salvage);
    for (i = 0; i < salvage->found; i++)
        examine(salvage, &salvage->versions[i]);
    if (salvage->headers > 0)
        salvage_read_index(salvage);
}

void salvage_free(struct salvage *salvage)
{
    free(salvage->versions);
    free(salvage->deleted);
    free(salvage->maybe_deleted);
    free(salvage->prefix);
}
