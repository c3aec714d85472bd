/* Every finding of fffs_check(): a sound volume is damaged in one way at a time, by forging what stands on flash (with valid
 * checks, as no cut and no bit rot would) or what is in RAM, and the check must name just that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fastffs/fffs_inspect.h"
#include "oracle.h"
#include "src/bytes.h"
#include "src/crc32.h"
#include "src/index_log.h"
#include "src/lookup.h"
#include "src/node.h"
#include "src/segments.h"

#define PLAIN "s4096-g1-n64-seg4096-none"
#define CACHED "s4096-g1-n64-seg4096-hash"

/* ---- Asking the check ---- */

struct wanted { int invariant; const char *text; int found, total; };

static void look_for(void *context, const struct fffs_finding *finding)
{
    struct wanted *wanted = context;
    wanted->total++;
    CHECK(finding->invariant >= 1 && finding->invariant <= 99);
    CHECK(finding->text != NULL);
    if (finding->invariant == wanted->invariant && strcmp(finding->text, wanted->text) == 0) { wanted->found++; }
}

static void expect_finding(struct rig *rig, int invariant, const char *text)
{
    struct wanted wanted;
    int count;

    memset(&wanted, 0, sizeof wanted);
    wanted.invariant = invariant;
    wanted.text = text;
    rig_count(rig);
    count = fffs_check(rig->fs, look_for, &wanted);
    CHECK_EQ(rig_changes(rig), 0);
    if (wanted.found == 0) { harness_fail(__FILE__, __LINE__, "no finding \"%s\" among %d", text, wanted.total); }
    CHECK_EQ(count, wanted.total);
    CHECK_EQ(fffs_check(rig->fs, NULL, NULL), count);
}

/* ---- A volume to damage ---- */

struct places { uint32_t old[64], current[64], nodes[64]; unsigned olds, currents, node_count; };

static int note_place(void *context, const struct fffs_item *item)
{
    struct places *places = context;
    if ((item->kind == FFFS_ITEM_PUT || item->kind == FFFS_ITEM_PUT_MULTI) && item->in_chain) {
        if (item->current) { places->current[places->currents++ % 64] = item->address; }
        else { places->old[places->olds++ % 64] = item->address; }
    }
    if (item->kind == FFFS_ITEM_NODE) { places->nodes[places->node_count++ % 64] = item->address + item->bytes; }
    return 0;
}

/* Superseded records first, then current ones of a, b and c; nothing rotates. */
static struct rig *make(const char *point, struct places *places)
{
    struct rig *rig = rig_mounted(rig_point_of(point));
    unsigned i;

    for (i = 0; i < 6; i++) { CHECK_OK(rig_put(rig, "x", rig_data(i), 20)); }
    CHECK_OK(rig_put(rig, "a", rig_data(1), 300));
    CHECK_OK(rig_put(rig, "b", rig_data(2), 500));
    CHECK_OK(rig_put(rig, "c", rig_data(3), 0));
    rig_check(rig);
    memset(places, 0, sizeof *places);
    CHECK_EQ(fffs_inspect(rig->fs, note_place, places), 0);
    CHECK_EQ(places->olds, 5);
    CHECK_EQ(places->currents, 4);
    CHECK_EQ(places->node_count, 4);
    return rig;
}

static void forge(struct rig *rig, uint32_t address, const struct fffs_record *record)
{
    uint8_t stride[256];
    uint32_t bytes = 1u << rig->fs->shape.stride_shift;

    fffs_record_encode(record, stride, bytes);
    nor_poke(rig->nor, address, stride, bytes);
}

static void forge_control(struct rig *rig, uint32_t address, enum fffs_control type, uint32_t payload)
{
    struct fffs_record record = fffs_control_record(type, payload);
    forge(rig, address, &record);
}

static struct fffs_record record_at(struct rig *rig, uint32_t address)
{
    struct fffs_record record;
    uint8_t stride[8];

    nor_peek(rig->nor, address, stride, 8);
    CHECK_EQ(fffs_record_decode(stride, 8, &record), FFFS_STRIDE_VALID);
    return record;
}

/* ---- Records ---- */

TEST(check_finds_a_mark_of_another_place)
{
    struct places places;
    struct rig *rig = make(PLAIN, &places);
    forge_control(rig, places.old[0], FFFS_CTL_SESSION, 5);
    expect_finding(rig, 4, "a mark was made for another place");
    rig_destroy(rig);
}

TEST(check_finds_a_transaction_without_commit)
{
    struct places places;
    struct rig *rig = make(PLAIN, &places);
    forge_control(rig, places.old[0], FFFS_CTL_BEGIN, 1);
    expect_finding(rig, 4, "a record stands in a transaction that it does not belong to");
    expect_finding(rig, 4, "a transaction that applies has no commit");
    rig_destroy(rig);
}

TEST(check_finds_a_transaction_in_a_transaction)
{
    struct places places;
    struct rig *rig = make(PLAIN, &places);
    forge_control(rig, places.old[0], FFFS_CTL_BEGIN, 1);
    forge_control(rig, places.old[1], FFFS_CTL_BEGIN, 1);
    expect_finding(rig, 4, "a transaction begins in another");
    rig_destroy(rig);
}

TEST(check_finds_a_commit_alone)
{
    struct places places;
    struct rig *rig = make(PLAIN, &places);
    forge_control(rig, places.old[1], FFFS_CTL_COMMIT, 3);
    expect_finding(rig, 4, "a commit does not fit its transaction");
    rig_destroy(rig);
}

TEST(check_finds_a_transaction_record_outside)
{
    struct places places;
    struct rig *rig = make(PLAIN, &places);
    struct fffs_record record = record_at(rig, places.old[2]);
    record.kind |= FFFS_KIND_TXN;
    forge(rig, places.old[2], &record);
    expect_finding(rig, 4, "a transaction's record stands outside of it");
    rig_destroy(rig);
}

TEST(check_finds_a_damaged_record)
{
    struct places places;
    struct rig *rig = make(CACHED, &places);
    nor_poke(rig->nor, places.old[2], "\0\0\0", 3);
    expect_finding(rig, 4, "the log holds a damaged record");
    rig_destroy(rig);
}

TEST(check_finds_records_behind_no_session_mark)
{
    struct places places;
    struct rig *rig = make(PLAIN, &places);
    uint32_t at = fffs_header_strides(&rig->fs->shape) + rig->fs->log.copies + FFFS_START_SLOTS;
    forge_control(rig, fffs_stride_address(&rig->fs->shape, fffs_log_newest(rig->fs), at), FFFS_CTL_SESSION, at + 1);
    expect_finding(rig, 4, "records stand behind no session mark");
    rig_destroy(rig);
}

/* ---- Headers ---- */

static struct rig *make_refreshed(struct places *places)
{
    struct rig *rig = make(PLAIN, places);
    rig_restart(rig);       /* a newest unit with copies */
    CHECK_OK(rig_put(rig, "d", rig_data(3), 10));
    return rig;
}

static void edit_header(struct rig *rig, uint32_t unit, void (*edit)(uint8_t *))
{
    uint8_t bytes[FFFS_HDR_BYTES];
    uint32_t address = fffs_unit_address(&rig->fs->shape, unit), copies, crc;
    static uint8_t copied[4096];

    nor_peek(rig->nor, address, bytes, sizeof bytes);
    copies = (uint32_t)fffs_get16(bytes + FFFS_HDR_COPIES) << rig->fs->shape.stride_shift;
    nor_peek(rig->nor, address + FFFS_HDR_BYTES, copied, copies);
    edit(bytes);
    crc = fffs_header_crc(fffs_crc32(0, copied, copies), bytes);
    fffs_header_seal(bytes, crc);
    nor_poke(rig->nor, address, bytes, sizeof bytes);
}

static void edit_unit(uint8_t *bytes) { bytes[FFFS_HDR_UNIT] ^= 1; }
static void edit_serial(uint8_t *bytes) { fffs_put32(bytes + FFFS_HDR_SERIAL, fffs_get32(bytes + FFFS_HDR_SERIAL) + 5); }
static void edit_oldest(uint8_t *bytes) { fffs_put32(bytes + FFFS_HDR_OLDEST, fffs_get32(bytes + FFFS_HDR_OLDEST) - 1); }
static void edit_nothing(uint8_t *bytes) { (void)bytes; }

TEST(check_accepts_an_edited_header_that_is_the_same)
{
    struct places places;
    struct rig *rig = make_refreshed(&places);
    edit_header(rig, fffs_log_newest(rig->fs), edit_nothing);
    rig_check(rig);
    rig_destroy(rig);
}

TEST(check_finds_a_wrong_unit_number)
{
    struct places places;
    struct rig *rig = make_refreshed(&places);
    edit_header(rig, fffs_log_newest(rig->fs), edit_unit);
    expect_finding(rig, 3, "an index unit is not the one that the chain names");
    rig_destroy(rig);
}

TEST(check_finds_a_wrong_serial)
{
    struct places places;
    struct rig *rig = make_refreshed(&places);
    edit_header(rig, fffs_log_newest(rig->fs), edit_serial);
    expect_finding(rig, 3, "the serials of the chain do not descend");
    rig_destroy(rig);
}

TEST(check_finds_a_wrong_oldest_serial)
{
    struct places places;
    struct rig *rig = make_refreshed(&places);
    edit_header(rig, fffs_log_newest(rig->fs), edit_oldest);
    expect_finding(rig, 3, "the chain ends at another unit than its newest tells");
    rig_destroy(rig);
}

TEST(check_finds_a_wrong_predecessor)
{
    struct rig *rig = rig_mounted(rig_point_of("s256-g1-n512-mf300-none-fb64"));
    unsigned i;
    char name[8];
    uint8_t field = 0x0F;

    for (i = 0; i < 250; i++) {
        sprintf(name, "%u", i);
        CHECK_OK(rig_put(rig, name, rig_data(i), 1));
    }
    CHECK(rig->fs->log.chain_length > 1);
    rig_check(rig);
    nor_poke(rig->nor, fffs_unit_address(&rig->fs->shape, fffs_log_newest(rig->fs)) + FFFS_HDR_PREVIOUS, &field, 1);
    CHECK(fffs_check(rig->fs, NULL, NULL) > 0);
    rig_destroy(rig);
}

TEST(check_finds_a_wrong_copy)
{
    struct places places;
    struct rig *rig = make_refreshed(&places);
    uint32_t at = fffs_stride_address(&rig->fs->shape, fffs_log_newest(rig->fs), fffs_header_strides(&rig->fs->shape));
    struct fffs_record record = record_at(rig, at);
    record.tag ^= FFFS_TAG_NAME;
    forge(rig, at, &record);
    expect_finding(rig, 3, "the CRC of an index unit is wrong");
    expect_finding(rig, 8, "a record's tag is not its name's");
    rig_destroy(rig);
}

TEST(check_finds_missing_start_marks)
{
    struct places places;
    struct rig *rig = make_refreshed(&places);
    uint32_t first = fffs_header_strides(&rig->fs->shape) + rig->fs->log.copies, i;
    static const uint8_t zeros[8] = { 0 };

    for (i = 0; i <= FFFS_START_SLOTS; i++) {
        nor_poke(rig->nor, fffs_stride_address(&rig->fs->shape, fffs_log_newest(rig->fs), first + i), zeros, 8);
    }
    expect_finding(rig, 3, "an index unit has no valid start mark");
    rig_destroy(rig);
}

TEST(check_survives_a_destroyed_header)
{
    struct places places;
    struct rig *rig = make_refreshed(&places);
    nor_poke(rig->nor, fffs_unit_address(&rig->fs->shape, fffs_log_newest(rig->fs)), rig_data(1), 72);
    CHECK(fffs_check(rig->fs, NULL, NULL) != 0);
    rig_destroy(rig);
}

/* ---- Files ---- */

static struct fffs_name measure(struct rig *rig, const char *text)
{
    struct fffs_name name;
    CHECK_OK(fffs_name_set(rig->fs, &name, text));
    return name;
}

/* Forges a file of listed extents: the node ends at `end`, its record takes the place of an old one. The volume's own sums
 * are then wrong too; the finding asked for is what counts. */
struct forgery {
    const char *name;
    uint32_t name_length;       /* 0: of name */
    uint32_t end, size, distance;
    struct fffs_extent extents[3];
    unsigned count;
    int wrong_tag;
};

static void forge_file(struct rig *rig, uint32_t record_address, const struct forgery *what)
{
    struct fffs_name name = measure(rig, what->name);
    struct fffs_node node;
    struct fffs_record record;
    uint8_t bytes[200];
    uint32_t at = 0, i, length = what->name_length != 0 ? what->name_length : name.length;
    uint32_t unit = rig->fs->shape.sector_shift - 8u;

    memset(&node, 0, sizeof node);
    for (i = 0; i < what->count; i++) {
        fffs_put32(bytes + at + FFFS_EXTENT_ADDRESS, what->extents[i].address);
        fffs_put32(bytes + at + FFFS_EXTENT_END, what->extents[i].end);
        at += FFFS_EXTENT_BYTES;
    }
    memset(bytes + at, 0, length);
    memcpy(bytes + at, what->name, name.length);
    at += length;
    node.size = what->size;
    node.stamp = 7;
    node.slot = (uint16_t)(name.slot + what->distance);
    node.name_length = (uint8_t)length;
    node.flags = FFFS_NODE_MULTI;
    node.extents = (uint8_t)what->count;
    fffs_node_encode_trailer(&node, fffs_crc32(0, bytes, at), bytes + at);
    at += FFFS_NODE_TRAILER;
    nor_poke(rig->nor, what->end - at, bytes, at);
    record.slot = node.slot;
    record.head = (uint16_t)((what->end - 1) >> rig->fs->shape.sector_shift);
    record.off = (uint8_t)((what->end - 1) >> unit);
    record.len = fffs_footprint_encode((at + (1u << unit) - 1) >> unit);
    record.tag = (uint8_t)(fffs_name_tag(&name, what->distance) ^ (what->wrong_tag ? FFFS_TAG_NAME : 0));
    record.kind = FFFS_KIND_MULTI;
    forge(rig, record_address, &record);
}

/* Where nothing has been written: near the end of the volume. */
static uint32_t far_away(struct rig *rig) { return rig->flash.size_bytes - 3 * 4096 + 2048; }

static struct forgery sound(struct rig *rig)
{
    struct forgery what;
    memset(&what, 0, sizeof what);
    what.name = "forged";
    what.end = far_away(rig);
    what.size = 100;
    what.count = 1;
    what.extents[0].address = rig->flash.size_bytes - 2 * 4096;
    what.extents[0].end = 100;
    return what;
}

TEST(check_accepts_a_sound_forgery_as_a_file)
{
    struct places places;
    struct rig *rig = make(PLAIN, &places);
    struct forgery what = sound(rig);
    uint8_t bytes[100];

    forge_file(rig, places.old[0], &what);
    nor_peek(rig->nor, what.extents[0].address, bytes, 100);
    rig_restart(rig);       /* weighs anew */
    rig_expect(rig, "forged", bytes, 100);
    rig_check(rig);
    rig_destroy(rig);
}

static void check_forgery(const struct forgery *what, int invariant, const char *text)
{
    struct places places;
    struct rig *rig = make(PLAIN, &places);
    struct forgery forgery = *what;

    if (forgery.end == 0) { forgery.end = far_away(rig); }
    forge_file(rig, places.old[0], &forgery);
    expect_finding(rig, invariant, text);
    rig_expect(rig, "a", rig_data(1), 300);
    rig_crash(rig);
    (void)rig_mount_flags(rig, FFFS_MOUNT_READ_ONLY);      /* whatever it says: bounded, and no crash */
    rig_destroy(rig);
}

TEST(check_finds_extents_outside_the_volume)
{
    struct rig *rig = rig_mounted(rig_point_of(PLAIN));
    struct forgery what = sound(rig);
    what.extents[0].address = rig->flash.size_bytes - 50;
    check_forgery(&what, 1, "a file's extents do not cover it");
    what.extents[0].address = 16;           /* in the index area */
    check_forgery(&what, 1, "a file's extents do not cover it");
    what.extents[0].address = 0xFFFFFFF0u;
    check_forgery(&what, 1, "a file's extents do not cover it");
    rig_destroy(rig);
}

TEST(check_finds_extents_that_do_not_cover_the_file)
{
    struct rig *rig = rig_mounted(rig_point_of(PLAIN));
    struct forgery what = sound(rig);
    what.size = 101;
    check_forgery(&what, 1, "a file's extents do not cover it");
    what.size = 100;
    what.count = 0;
    check_forgery(&what, 1, "a file's extents do not cover it");
    what.count = 2;
    what.extents[1].address = what.extents[0].address + 200;
    what.extents[1].end = 50;               /* backwards */
    check_forgery(&what, 1, "a file's extents do not cover it");
    rig_destroy(rig);
}

TEST(check_finds_a_node_across_segments)
{
    struct rig *rig = rig_mounted(rig_point_of(PLAIN));
    struct forgery what = sound(rig);
    what.end = rig->flash.size_bytes - 3 * 4096 + 16;
    check_forgery(&what, 1, "a node crosses a segment");
    rig_destroy(rig);
}

TEST(check_finds_shared_flash)
{
    struct places places;
    struct rig *rig = make(PLAIN, &places);
    struct forgery what = sound(rig);
    what.extents[0].address = fffs_record_end(&rig->fs->shape, (struct fffs_record[]){ record_at(rig, places.current[2]) })
        - 200;
    forge_file(rig, places.old[0], &what);
    expect_finding(rig, 5, "two files share flash");
    rig_destroy(rig);
}

TEST(check_finds_a_name_outside_its_window)
{
    struct rig *rig = rig_mounted(rig_point_of(PLAIN));
    struct forgery what = sound(rig);
    what.distance = 60;
    check_forgery(&what, 8, "a file stands outside its name's probe window");
    rig_destroy(rig);
}

TEST(check_finds_a_wrong_tag)
{
    struct rig *rig = rig_mounted(rig_point_of(PLAIN));
    struct forgery what = sound(rig);
    what.wrong_tag = 1;
    check_forgery(&what, 8, "a record's tag is not its name's");
    rig_destroy(rig);
}

TEST(check_finds_a_name_with_a_nul)
{
    struct rig *rig = rig_mounted(rig_point_of(PLAIN));
    struct forgery what = sound(rig);
    what.name_length = 9;
    check_forgery(&what, 8, "a name holds a NUL or can not be one of this volume");
    rig_destroy(rig);
}

TEST(check_finds_a_name_twice)
{
    struct places places;
    struct rig *rig = make(PLAIN, &places);
    struct forgery what = sound(rig);
    what.name = "a";
    what.distance = 3;
    forge_file(rig, places.old[0], &what);
    expect_finding(rig, 8, "a name stands twice");
    rig_destroy(rig);
}

TEST(check_finds_a_destroyed_node)
{
    struct places places;
    struct rig *rig = make(CACHED, &places);
    nor_poke(rig->nor, places.nodes[1] - 6, "\x55\xAA", 2);
    expect_finding(rig, 1, "a record leads to no valid node");
    rig_destroy(rig);
}

TEST(check_finds_records_that_point_into_nowhere)
{
    static const uint16_t heads[] = { 2, 3, 64, 65, 0xFFFE, 0xFFFF };
    unsigned i;

    for (i = 0; i < 6; i++) {
        struct places places;
        struct rig *rig = make(PLAIN, &places);
        struct fffs_record record = record_at(rig, places.current[1]);
        int status;
        record.head = heads[i];
        harness_note("head %u", heads[i]);
        forge(rig, places.current[1], &record);
        expect_finding(rig, 1, "a record leads to no valid node");
        rig_crash(rig);
        rig->call_budget = 5000;
        status = rig_mount(rig);
        CHECK(status == FFFS_OK || status == FFFS_ERR_CORRUPT);
        rig_destroy(rig);
    }
}

/* ---- RAM ---- */

TEST(check_finds_a_wrong_cache_entry)
{
    struct places places;
    struct rig *rig = make(CACHED, &places);
    struct fffs_record *cells = (struct fffs_record *)rig->config.cache;
    uint32_t i;

    for (i = 0; i < rig->fs->cache_cells && cells[i].head == 0; i++) { }
    cells[i].len ^= 1;
    expect_finding(rig, 9, "the index cache differs from the log");
    cells[i].len ^= 1;
    rig_check(rig);
    rig->fs->cache_used++;
    expect_finding(rig, 9, "the index cache holds records that the log does not");
    rig->fs->cache_used--;
    rig_check(rig);
    rig_destroy(rig);
}

TEST(check_finds_wrong_sums)
{
    struct places places;
    struct rig *rig = make(CACHED, &places);
    uint32_t segment = fffs_segment_of(rig->fs, places.nodes[0] - 1);
    uint16_t weight = rig->config.segment_table[segment];

    rig->config.segment_table[segment] = (uint16_t)(weight + 1);    /* what a reader in place may have left */
    rig_check(rig);
    rig->config.segment_table[segment] = (uint16_t)(weight + 2);
    expect_finding(rig, 9, "a segment weighs more than its files");
    rig->config.segment_table[segment] = (uint16_t)(weight - 1);
    expect_finding(rig, 9, "a segment weighs less than its files");
    rig->config.segment_table[segment] = 0;
    expect_finding(rig, 9, "a segment weighs less than its files");
    rig->config.segment_table[segment] = weight;
    rig_check(rig);
    rig->fs->used++;
    expect_finding(rig, 9, "the bytes in use are counted wrong");
    rig->fs->used--;
    rig->fs->files_live++;
    expect_finding(rig, 9, "the count of files is wrong");
    rig->fs->files_live--;
    rig->fs->erased++;
    expect_finding(rig, 9, "the count of erased segments is wrong");
    rig->fs->erased--;
    rig_check(rig);
    rig_destroy(rig);
}

TEST(check_finds_a_heavy_segment_without_weight)
{
    struct rig *rig = rig_mounted(rig_point_of(CACHED));
    uint32_t segment = 0, i;
    uint16_t weight;

    CHECK_OK(rig_put(rig, "big", rig_data(1), 30000));
    for (i = 0; i < rig->fs->shape.segments; i++) {
        if ((rig->config.segment_table[i] & FFFS_SEGMENT_WEIGHT) > (rig->config.segment_table[segment] & FFFS_SEGMENT_WEIGHT)) {
            segment = i;
        }
    }
    weight = rig->config.segment_table[segment];
    rig->config.segment_table[segment] = 1;
    expect_finding(rig, 9, "a segment weighs less than its files");
    rig->config.segment_table[segment] = weight;
    rig_check(rig);
    rig_destroy(rig);
}

TEST(check_finds_flash_that_is_not_blank)
{
    struct places places;
    struct rig *rig = make(CACHED, &places);
    uint32_t next = rig->fs->user.next, i;

    CHECK(next != 0);
    nor_poke(rig->nor, next + 100, "\0", 1);
    expect_finding(rig, 2, "the flash behind an append point is not blank");
    rig_destroy(rig);
    rig = make(CACHED, &places);
    CHECK_OK(rig_put(rig, "big", rig_data(1), 50000));
    CHECK_OK(fffs_delete(rig->fs, "big"));
    CHECK_OK(fffs_gc(rig->fs));
    rig_check(rig);
    for (i = 0; (rig->config.segment_table[i] & FFFS_SEGMENT_ERASED) == 0; i++) { }
    nor_poke(rig->nor, fffs_segment_high(rig->fs, i) - 1, "\x7F", 1);
    expect_finding(rig, 2, "a segment that counts as erased is not blank");
    rig_destroy(rig);
}

/* Read errors are errors of the call, not findings. */
TEST(check_reports_read_errors)
{
    struct places places;
    struct rig *rig = make("s4096-g1-n64-seg4096-small", &places);
    uint64_t reads, n;

    rig_count(rig);
    rig_check(rig);
    reads = rig_reads(rig);
    for (n = 0; n < reads; n++) {
        rig->fail_ops = 1u << NOR_READ;
        rig->fail_at = n;
        harness_note("read %u fails", (unsigned)n);
        CHECK_STATUS(fffs_check(rig->fs, NULL, NULL), FFFS_ERR_IO);
        rig->fail_ops = 0;
    }
    rig_check(rig);
    rig_destroy(rig);
}

TEST(check_finds_an_index_that_is_not_blank_behind_its_end)
{
    struct places places;
    struct rig *rig = make(CACHED, &places);
    uint32_t at = fffs_stride_address(&rig->fs->shape, fffs_log_newest(rig->fs), rig->fs->log.end + 4u);

    nor_poke(rig->nor, at, "\xFE", 1);
    expect_finding(rig, 2, "the index behind its last record is not blank");
    rig_destroy(rig);
}

SUITE(check)
{
    RUN(check_finds_a_mark_of_another_place);
    RUN(check_finds_a_transaction_without_commit);
    RUN(check_finds_a_transaction_in_a_transaction);
    RUN(check_finds_a_commit_alone);
    RUN(check_finds_a_transaction_record_outside);
    RUN(check_finds_a_damaged_record);
    RUN(check_finds_records_behind_no_session_mark);
    RUN(check_accepts_an_edited_header_that_is_the_same);
    RUN(check_finds_a_wrong_unit_number);
    RUN(check_finds_a_wrong_serial);
    RUN(check_finds_a_wrong_oldest_serial);
    RUN(check_finds_a_wrong_predecessor);
    RUN(check_finds_a_wrong_copy);
    RUN(check_finds_missing_start_marks);
    RUN(check_survives_a_destroyed_header);
    RUN(check_accepts_a_sound_forgery_as_a_file);
    RUN(check_finds_extents_outside_the_volume);
    RUN(check_finds_extents_that_do_not_cover_the_file);
    RUN(check_finds_a_node_across_segments);
    RUN(check_finds_shared_flash);
    RUN(check_finds_a_name_outside_its_window);
    RUN(check_finds_a_wrong_tag);
    RUN(check_finds_a_name_with_a_nul);
    RUN(check_finds_a_name_twice);
    RUN(check_finds_a_destroyed_node);
    RUN(check_finds_records_that_point_into_nowhere);
    RUN(check_finds_a_wrong_cache_entry);
    RUN(check_finds_wrong_sums);
    RUN(check_finds_a_heavy_segment_without_weight);
    RUN(check_finds_flash_that_is_not_blank);
    RUN(check_finds_an_index_that_is_not_blank_behind_its_end);
    RUN(check_reports_read_errors);
}
