/* The emulated flash: its rules, its clock, its copies, and what its faults leave behind. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "emulator/nor.h"
#include "emulator/nor_fault.h"
#include "tests/harness/harness.h"

enum { SECTOR = 4096, SMALL = 65536, BIG = 262144 };

static struct nor_config make_config(uint32_t size, uint32_t granule)
{
    struct nor_config config;
    memset(&config, 0, sizeof config);
    config.size_bytes = size;
    config.granule_bytes = granule;
    config.on_violation = NOR_COUNT;
    return config;
}

static struct nor *make(uint32_t size, uint32_t granule)
{
    struct nor_config config = make_config(size, granule);
    return nor_create(&config);
}

static struct nor *make_timed(int model)
{
    struct nor_config config = make_config(BIG, 1);
    config.model = model;
    return nor_create(&config);
}

static int program(struct nor *nor, uint32_t address, const void *data, uint32_t bytes)
{
    const struct fffs_flash *flash = nor_flash(nor);
    return flash->program(flash->context, address, data, bytes);
}

static int program_zeros(struct nor *nor, uint32_t address, uint32_t bytes)
{
    static const uint8_t zeros[8192];
    return program(nor, address, zeros, bytes);
}

static int erase(struct nor *nor, uint32_t address, uint32_t bytes)
{
    const struct fffs_flash *flash = nor_flash(nor);
    return flash->erase(flash->context, address, bytes);
}

static int read_at(struct nor *nor, uint32_t address, void *buffer, uint32_t bytes)
{
    const struct fffs_flash *flash = nor_flash(nor);
    return flash->read(flash->context, address, buffer, bytes);
}

static int byte_at(struct nor *nor, uint32_t address)
{
    uint8_t byte;
    nor_peek(nor, address, &byte, 1);
    return byte;
}

static uint64_t violations(const struct nor *nor)
{
    return nor_counts(nor)->violations;
}

static int same_contents(const struct nor *a, const struct nor *b)
{
    uint8_t *x = malloc(nor_size(a));
    uint8_t *y = malloc(nor_size(a));
    nor_peek(a, 0, x, nor_size(a));
    nor_peek(b, 0, y, nor_size(a));
    int same = memcmp(x, y, nor_size(a)) == 0;
    free(x);
    free(y);
    return same;
}

/* ---- rules ---- */

TEST(a_new_device_is_erased)
{
    struct nor *nor = make(SMALL, 1);
    const struct fffs_flash *flash = nor_flash(nor);
    CHECK_EQ(byte_at(nor, 0), 0xFF);
    CHECK_EQ(byte_at(nor, SMALL - 1), 0xFF);
    CHECK_EQ(flash->size_bytes, SMALL);
    CHECK_EQ(flash->granule_bytes, 1);
    CHECK_EQ(flash->erase_bytes[0], 4096);
    CHECK_EQ(flash->erase_bytes[1], 32768);
    CHECK_EQ(flash->erase_bytes[2], 65536);
    CHECK_EQ(flash->is_blank(flash->context, 0, SMALL), 1);
    nor_destroy(nor);
}

TEST(erase_sizes_that_do_not_fit_are_left_out)
{
    struct nor *nor = make(16384, 1);
    CHECK_EQ(nor_flash(nor)->erase_bytes[0], 4096);
    CHECK_EQ(nor_flash(nor)->erase_bytes[1], 0);
    nor_destroy(nor);
}

TEST(programmed_bytes_are_read_back_across_pages_and_sectors)
{
    struct nor *nor = make(SMALL, 1);
    uint8_t data[1500];
    uint8_t back[1500];
    for (unsigned i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 7);
    }
    CHECK_EQ(program(nor, SECTOR - 700, data, sizeof data), 0);
    CHECK_EQ(read_at(nor, SECTOR - 700, back, sizeof back), 0);
    CHECK_MEM(data, back, sizeof data);
    CHECK_EQ(byte_at(nor, SECTOR - 701), 0xFF);
    CHECK_EQ(byte_at(nor, SECTOR + 800), 0xFF);
    nor_destroy(nor);
}

TEST(a_granule_takes_one_program_between_erases)
{
    struct nor *nor = make(SMALL, 1);
    CHECK_EQ(program(nor, 100, "\x0F", 1), 0);
    CHECK(program(nor, 100, "\x0F", 1) != 0);
    CHECK(program(nor, 100, "\x01", 1) != 0);
    CHECK(program(nor, 99, "\x01\x01", 2) != 0);
    CHECK_EQ(violations(nor), 3);
    CHECK_EQ(byte_at(nor, 99), 0xFF);
    CHECK_EQ(byte_at(nor, 100), 0x0F);
    CHECK_EQ(erase(nor, 0, SECTOR), 0);
    CHECK_EQ(program(nor, 100, "\x33", 1), 0);
    CHECK_EQ(byte_at(nor, 100), 0x33);
    nor_destroy(nor);
}

TEST(a_granule_programmed_with_ff_counts_as_programmed)
{
    struct nor *nor = make(SMALL, 8);
    CHECK_EQ(program(nor, 8, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8), 0);
    CHECK(program_zeros(nor, 8, 8) != 0);
    CHECK_EQ(program_zeros(nor, 0, 8), 0);
    CHECK_EQ(program_zeros(nor, 16, 8), 0);
    CHECK_EQ(violations(nor), 1);
    nor_destroy(nor);
}

TEST(programs_are_aligned_to_granules)
{
    static const uint32_t granules[] = { 2, 4, 16, 256 };
    for (unsigned i = 0; i < 4; i++) {
        uint32_t g = granules[i];
        struct nor *nor = make(SMALL, g);
        CHECK(program_zeros(nor, g / 2, g) != 0);
        CHECK(program_zeros(nor, 0, g + g / 2) != 0);
        CHECK_EQ(violations(nor), 2);
        CHECK_EQ(program_zeros(nor, g, 3 * g), 0);
        CHECK(program_zeros(nor, 3 * g, 2 * g) != 0);
        CHECK_EQ(program_zeros(nor, 4 * g, g), 0);
        CHECK_EQ(violations(nor), 3);
        nor_destroy(nor);
    }
}

TEST(erases_are_aligned_to_units)
{
    struct nor *nor = make(SMALL, 1);
    CHECK(erase(nor, 256, SECTOR) != 0);
    CHECK(erase(nor, 0, 256) != 0);
    CHECK_EQ(violations(nor), 2);
    nor_destroy(nor);
}

TEST(calls_out_of_bounds_are_refused)
{
    struct nor *nor = make(SMALL, 1);
    uint8_t buffer[16];
    CHECK(program_zeros(nor, SMALL - 8, 16) != 0);
    CHECK(program_zeros(nor, 0xFFFFFFF8u, 16) != 0);
    CHECK(erase(nor, SMALL - SECTOR, 2 * SECTOR) != 0);
    CHECK(erase(nor, SMALL, SECTOR) != 0);
    CHECK(read_at(nor, SMALL - 8, buffer, 16) != 0);
    CHECK(read_at(nor, 0xFFFFFFF8u, buffer, 16) != 0);
    CHECK_EQ(violations(nor), 6);
    CHECK_EQ(read_at(nor, SMALL - 16, buffer, 16), 0);
    nor_destroy(nor);
}

TEST(programs_and_erases_of_nothing_are_refused)
{
    struct nor *nor = make(SMALL, 1);
    uint8_t byte;
    CHECK(program(nor, 0, &byte, 0) != 0);
    CHECK(erase(nor, 0, 0) != 0);
    CHECK_EQ(violations(nor), 2);
    CHECK_EQ(read_at(nor, 0, &byte, 0), 0);
    nor_destroy(nor);
}

TEST(a_refused_call_changes_and_costs_nothing)
{
    struct nor_config config = make_config(SMALL, 1);
    config.model = NOR_TIME_W25Q64;
    struct nor *nor = nor_create(&config);
    CHECK_EQ(program_zeros(nor, 10, 1), 0);
    uint64_t time = nor_time_ns(nor);
    CHECK(program_zeros(nor, 0, 11) != 0);
    CHECK_EQ(nor_time_ns(nor), time);
    CHECK_EQ(nor_mutations(nor), 1);
    CHECK_EQ(nor_counts(nor)->calls[NOR_PROGRAM], 1);
    CHECK_EQ(byte_at(nor, 0), 0xFF);
    nor_destroy(nor);
}

/* Lets a child program over a programmed byte; its last words end up in `message`. */
static int abort_in_child(char *message, size_t room)
{
    FILE *out = tmpfile();
    int status = 0;
    CHECK(out != NULL);
    pid_t child = fork();
    if (child == 0) {
        struct nor_config config = make_config(SMALL, 1);
        config.on_violation = NOR_ABORT;
        struct nor *nor = nor_create(&config);
        dup2(fileno(out), 2);
        signal(SIGABRT, SIG_DFL);
        program(nor, 0x123, "\x5A", 1);
        program(nor, 0x120, "\x01\x02\x03\x04", 4);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    rewind(out);
    message[0] = 0;
    CHECK(fgets(message, (int)room, out) != NULL);
    fclose(out);
    return status;
}

TEST(a_broken_rule_aborts_with_a_message)
{
    char message[300];
    int status = abort_in_child(message, sizeof message);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    CHECK_STR(message, "nor: program of 4 bytes at 0x00000120: the granule was already programmed since its erase; "
                       "at 0x00000123 is 0x5a, to be programmed 0x04 (mutation 1, tag 0)\n");
}

TEST(with_overwrite_allowed_bits_still_only_clear)
{
    struct nor_config config = make_config(SMALL, 1);
    config.allow_overwrite = 1;
    struct nor *nor = nor_create(&config);
    CHECK_EQ(program(nor, 5, "\xF0", 1), 0);
    CHECK_EQ(program(nor, 5, "\xF0", 1), 0);
    CHECK_EQ(program(nor, 5, "\x30", 1), 0);
    CHECK(program(nor, 5, "\x31", 1) != 0);
    CHECK_EQ(violations(nor), 1);
    CHECK_EQ(byte_at(nor, 5), 0x30);
    nor_destroy(nor);
}

TEST(poked_granules_count_as_programmed_unless_blank)
{
    struct nor *nor = make(SMALL, 4);
    nor_poke(nor, 6, "\x00", 1);
    CHECK(program_zeros(nor, 4, 4) != 0);
    CHECK_EQ(program_zeros(nor, 0, 4), 0);
    CHECK_EQ(program_zeros(nor, 8, 4), 0);
    nor_poke(nor, 8, "\xFF\xFF\xFF\xFF", 4);
    CHECK_EQ(program_zeros(nor, 8, 4), 0);
    nor_poke(nor, 8, "\xFF\xFF\xFF", 3);
    CHECK(program_zeros(nor, 8, 4) != 0);
    nor_destroy(nor);
}

TEST(fills_set_every_byte)
{
    struct nor *nor = make(SMALL, 1);
    nor_fill(nor, 0xA5);
    CHECK_EQ(byte_at(nor, 12345), 0xA5);
    CHECK(program_zeros(nor, 12345, 1) != 0);
    nor_fill_erased(nor);
    CHECK_EQ(byte_at(nor, 12345), 0xFF);
    CHECK_EQ(program_zeros(nor, 12345, 1), 0);
    nor_fill(nor, 0xFF);
    CHECK(program_zeros(nor, 0, 1) != 0);
    CHECK_EQ(nor_counts(nor)->calls[NOR_ERASE], 0);
    nor_destroy(nor);
}

TEST(is_blank_answers_for_its_range)
{
    struct nor *nor = make(SMALL, 1);
    const struct fffs_flash *flash = nor_flash(nor);
    CHECK_EQ(program(nor, 1000, "\x7F", 1), 0);
    CHECK_EQ(flash->is_blank(flash->context, 0, 1000), 1);
    CHECK_EQ(flash->is_blank(flash->context, 0, 1001), 0);
    CHECK_EQ(flash->is_blank(flash->context, 1001, 3000), 1);
    CHECK(flash->is_blank(flash->context, SMALL - 1, 2) < 0);
    CHECK_EQ(nor_counts(nor)->calls[NOR_READ], 3);
    nor_destroy(nor);
}

TEST(is_blank_can_be_left_out)
{
    struct nor_config config = make_config(SMALL, 1);
    config.no_blank_check = 1;
    struct nor *nor = nor_create(&config);
    CHECK(nor_flash(nor)->is_blank == NULL);
    nor_destroy(nor);
}

TEST(mapped_bytes_are_the_flash)
{
    struct nor *nor = make(SMALL, 1);
    const struct fffs_flash *flash = nor_flash(nor);
    CHECK_EQ(program(nor, 5000, "mapped", 6), 0);
    const void *there = flash->map(flash->context, 5000, 6);
    CHECK(there != NULL);
    CHECK_MEM(there, "mapped", 6);
    CHECK(flash->map(flash->context, SMALL - 5, 6) == NULL);
    nor_destroy(nor);
}

/* ---- time ---- */

static uint64_t time_of_read(int model, uint32_t bytes)
{
    static uint8_t buffer[65536];
    struct nor *nor = make_timed(model);
    CHECK_EQ(read_at(nor, 3, buffer, bytes), 0);
    uint64_t time = nor_time_ns(nor);
    CHECK_EQ(nor_counts(nor)->time_ns[NOR_READ], time);
    nor_destroy(nor);
    return time;
}

static uint64_t time_of_program(int model, uint32_t address, uint32_t bytes)
{
    struct nor *nor = make_timed(model);
    CHECK_EQ(program_zeros(nor, address, bytes), 0);
    uint64_t time = nor_time_ns(nor);
    CHECK_EQ(nor_counts(nor)->time_ns[NOR_PROGRAM], time);
    nor_destroy(nor);
    return time;
}

/* Erases with one byte programmed in each of the first `holding` sectors of the range. */
static uint64_t time_of_erase(int model, uint32_t address, uint32_t bytes, uint32_t holding)
{
    struct nor *nor = make_timed(model);
    for (uint32_t i = 0; i < holding; i++) {
        CHECK_EQ(program_zeros(nor, address + i * SECTOR + 4095, 1), 0);
    }
    uint64_t before = nor_time_ns(nor);
    CHECK_EQ(erase(nor, address, bytes), 0);
    uint64_t time = nor_time_ns(nor) - before;
    nor_destroy(nor);
    return time;
}

TEST(times_of_the_reference_model)
{
    int m = NOR_TIME_ESP32S3_FIT;
    CHECK_EQ(time_of_read(m, 0), 61700);
    CHECK_EQ(time_of_read(m, 256), 61700 + 154 * 256);
    CHECK_EQ(time_of_read(m, 65536), 61700 + 154 * 65536);
    CHECK_EQ(time_of_program(m, 0, 256), 470000 + 35000 + 3600 * 256);
    CHECK_EQ(time_of_program(m, 255, 2), 470000 + 2 * 35000 + 3600 * 2);
    /* 1,024 B at an odd place: one call over 5 pages, 4.33 ms */
    CHECK_EQ(time_of_program(m, 1, 1024), 470000 + 5 * 35000 + 3600 * 1024);
    CHECK_EQ(time_of_erase(m, 0, SECTOR, 0), 21200000);
    CHECK_EQ(time_of_erase(m, 0, SECTOR, 1), 33000000);
    CHECK_EQ(time_of_erase(m, 0, 65536, 0), 32500000);
    CHECK_EQ(time_of_erase(m, 65536, 65536, 5), 32500000 + 5 * 1130000);
    CHECK_EQ(time_of_erase(m, 65536, 65536, 16), 32500000 + 16 * 1130000);
    CHECK_EQ(time_of_erase(m, 32768, 32768, 8), 24000000 + 8 * 1670000);
}

TEST(times_of_the_data_sheet_model)
{
    int m = NOR_TIME_W25Q64;
    CHECK_EQ(time_of_read(m, 4), 6000 + 50 * 4);
    CHECK_EQ(time_of_program(m, 0, 256), 15000 + 50000 + 1370 * 256);
    CHECK_EQ(time_of_program(m, 128, 512), 3 * 65000 + 1370 * 512);
    CHECK_EQ(time_of_erase(m, 0, SECTOR, 1), 45000000);
    CHECK_EQ(time_of_erase(m, 0, SECTOR, 0), 45000000);
    CHECK_EQ(time_of_erase(m, 0, 32768, 1), 120000000);
    CHECK_EQ(time_of_erase(m, 0, 65536, 1), 150000000);
}

TEST(times_of_the_published_board_model)
{
    int m = NOR_TIME_ESP32S3;
    CHECK_EQ(time_of_read(m, 1000), 66000 + 118700);
    CHECK_EQ(time_of_program(m, 0, 256), 600000 + 150000 + 2930 * 256);
    CHECK_EQ(time_of_program(m, 10, 256), 600000 + 2 * 150000 + 2930 * 256);
    CHECK_EQ(time_of_erase(m, 0, SECTOR, 1), 21200000);
    CHECK_EQ(time_of_erase(m, 0, 32768, 0), 24000000);
    CHECK_EQ(time_of_erase(m, 0, 65536, 1), 32500000);
}

TEST(no_model_takes_no_time)
{
    CHECK_EQ(time_of_read(NOR_TIME_NONE, 100), 0);
    CHECK_EQ(time_of_program(NOR_TIME_NONE, 0, 100), 0);
    CHECK_EQ(time_of_erase(NOR_TIME_NONE, 0, 65536, 1), 0);
}

TEST(one_erase_call_uses_the_largest_aligned_blocks)
{
    struct nor *nor = make_timed(NOR_TIME_W25Q64);
    /* 28 KiB to the first 32 KiB line, that half block, a whole block, one sector of the next */
    CHECK_EQ(erase(nor, SECTOR, 7 * SECTOR + 32768 + 65536 + SECTOR), 0);
    CHECK_EQ(nor_time_ns(nor), 8 * 45000000LL + 120000000 + 150000000);
    CHECK_EQ(nor_counts(nor)->calls[NOR_ERASE], 1);
    CHECK_EQ(nor_counts(nor)->erase_calls_by_size[0], 8);
    CHECK_EQ(nor_counts(nor)->erase_calls_by_size[1], 1);
    CHECK_EQ(nor_counts(nor)->erase_calls_by_size[2], 1);
    CHECK_EQ(nor_counts(nor)->erased_sectors, 32);
    nor_destroy(nor);
}

TEST(sixteen_calls_are_no_block_erase)
{
    struct nor *nor = make_timed(NOR_TIME_ESP32S3_FIT);
    for (uint32_t i = 0; i < 16; i++) {
        CHECK_EQ(erase(nor, i * SECTOR, SECTOR), 0);
    }
    CHECK_EQ(nor_time_ns(nor), 16 * 21200000LL);
    nor_destroy(nor);
}

TEST(block_erases_count_the_partition_offset)
{
    struct nor_config config = make_config(BIG, 1);
    config.model = NOR_TIME_W25Q64;
    config.block_offset_bytes = SECTOR;
    struct nor *nor = nor_create(&config);
    CHECK_EQ(nor_flash(nor)->block_offset_bytes, SECTOR);
    CHECK_EQ(erase(nor, 65536 - SECTOR, 65536), 0);
    CHECK_EQ(nor_time_ns(nor), 150000000);
    CHECK_EQ(erase(nor, 0, 65536), 0);
    CHECK_EQ(nor_counts(nor)->erase_calls_by_size[0], 8);
    CHECK_EQ(nor_counts(nor)->erase_calls_by_size[1], 1);
    nor_destroy(nor);
}

TEST(small_erase_units_cost_what_a_sector_costs)
{
    struct nor_config config = make_config(16384, 1);
    config.model = NOR_TIME_ESP32S3_FIT;
    config.erase_bytes[0] = 256;
    struct nor *nor = nor_create(&config);
    CHECK_EQ(erase(nor, 512, 256), 0);
    CHECK_EQ(nor_time_ns(nor), 21200000);
    CHECK_EQ(program_zeros(nor, 256, 1), 0);
    uint64_t before = nor_time_ns(nor);
    CHECK_EQ(erase(nor, 0, 512), 0);
    CHECK_EQ(nor_time_ns(nor) - before, 21200000 + 33000000);
    nor_destroy(nor);
}

TEST(large_erase_units_cost_what_their_sectors_cost)
{
    struct nor_config config = make_config(BIG, 1);
    config.model = NOR_TIME_ESP32S3_FIT;
    config.erase_bytes[0] = 16384;
    struct nor *nor = nor_create(&config);
    CHECK_EQ(program_zeros(nor, 5000, 1), 0);
    uint64_t before = nor_time_ns(nor);
    CHECK_EQ(erase(nor, 0, 16384), 0);
    CHECK_EQ(nor_time_ns(nor) - before, 3 * 21200000 + 33000000);
    nor_destroy(nor);
}

TEST(declared_costs_follow_the_model)
{
    struct nor *nor = make_timed(NOR_TIME_ESP32S3_FIT);
    const struct fffs_flash *flash = nor_flash(nor);
    CHECK_EQ(flash->erase_us[0], 33000);
    CHECK_EQ(flash->erase_us[1], 24000 + 8 * 1670);
    CHECK_EQ(flash->erase_us[2], 32500 + 16 * 1130);
    CHECK_EQ(flash->program_call_us, 505);
    CHECK_EQ(flash->program_byte_ns, 3737);
    CHECK_EQ(flash->read_call_us, 62);
    CHECK_EQ(flash->read_byte_ns, 154);
    nor_destroy(nor);
    nor = make_timed(NOR_TIME_W25Q64);
    CHECK_EQ(nor_flash(nor)->erase_us[2], 150000);
    CHECK_EQ(nor_flash(nor)->program_call_us, 65);
    nor_destroy(nor);
    nor = make_timed(NOR_TIME_NONE);
    CHECK_EQ(nor_flash(nor)->erase_us[0], 0);
    nor_destroy(nor);
}

TEST(time_can_be_advanced)
{
    struct nor *nor = make_timed(NOR_TIME_NONE);
    nor_advance(nor, 1234567);
    CHECK_EQ(nor_time_ns(nor), 1234567);
    nor_destroy(nor);
}

/* ---- counters ---- */

TEST(counters_count_by_operation_size_and_tag)
{
    struct nor *nor = make_timed(NOR_TIME_ESP32S3_FIT);
    const struct fffs_flash *flash = nor_flash(nor);
    uint8_t buffer[300];
    CHECK_EQ(program_zeros(nor, 250, 300), 0);
    nor_set_tag(nor, 3);
    CHECK_EQ(read_at(nor, 0, buffer, 300), 0);
    CHECK_EQ(read_at(nor, 0, buffer, 1), 0);
    CHECK_EQ(flash->sync(flash->context), 0);
    const struct nor_counts *all = nor_counts(nor);
    const struct nor_counts *tagged = nor_tag_counts(nor, 3);
    CHECK_EQ(all->calls[NOR_PROGRAM], 1);
    CHECK_EQ(all->bytes[NOR_PROGRAM], 300);
    CHECK_EQ(all->pages_programmed, 3);
    CHECK_EQ(all->calls_by_size[NOR_PROGRAM][8], 1);
    CHECK_EQ(all->calls[NOR_READ], 2);
    CHECK_EQ(all->bytes[NOR_READ], 301);
    CHECK_EQ(all->calls_by_size[NOR_READ][0], 1);
    CHECK_EQ(all->calls[NOR_SYNC], 1);
    CHECK_EQ(tagged->calls[NOR_PROGRAM], 0);
    CHECK_EQ(tagged->calls[NOR_READ], 2);
    CHECK_EQ(tagged->time_ns[NOR_READ], 2 * 61700 + 154 * 301);
    CHECK_EQ(nor_tag_counts(nor, 0)->calls[NOR_PROGRAM], 1);
    nor_reset_counts(nor);
    CHECK_EQ(all->calls[NOR_READ], 0);
    CHECK_EQ(tagged->calls[NOR_READ], 0);
    CHECK_EQ(nor_tag_counts(nor, 0)->calls[NOR_PROGRAM], 0);
    CHECK(nor_time_ns(nor) > 0);
    nor_destroy(nor);
}

TEST(calls_are_counted_per_unit_when_asked)
{
    struct nor *nor = make(SMALL, 1);
    uint8_t buffer[32];
    CHECK_EQ(read_at(nor, 0, buffer, 32), 0);
    nor_count_units(nor);
    CHECK_EQ(read_at(nor, SECTOR - 16, buffer, 32), 0);
    CHECK_EQ(program_zeros(nor, SECTOR, 8), 0);
    CHECK_EQ(erase(nor, 2 * SECTOR, 2 * SECTOR), 0);
    CHECK_EQ(nor_unit_calls(nor, NOR_READ, 0), 1);
    CHECK_EQ(nor_unit_calls(nor, NOR_READ, 1), 1);
    CHECK_EQ(nor_unit_calls(nor, NOR_READ, 2), 0);
    CHECK_EQ(nor_unit_calls(nor, NOR_PROGRAM, 1), 1);
    CHECK_EQ(nor_unit_calls(nor, NOR_ERASE, 3), 1);
    nor_reset_counts(nor);
    CHECK_EQ(nor_unit_calls(nor, NOR_READ, 0), 0);
    nor_destroy(nor);
}

TEST(wear_counts_erases_of_each_unit)
{
    struct nor *nor = make(SMALL, 1);
    CHECK_EQ(erase(nor, SECTOR, SECTOR), 0);
    CHECK_EQ(erase(nor, 0, 65536), 0);
    CHECK_EQ(nor_wear(nor, 0), 1);
    CHECK_EQ(nor_wear(nor, 1), 2);
    CHECK_EQ(nor_wear(nor, 15), 1);
    CHECK_EQ(nor_wear(nor, 16), 0);
    nor_reset_counts(nor);
    CHECK_EQ(nor_wear(nor, 1), 2);
    nor_destroy(nor);
}

TEST(the_log_has_a_line_for_each_call)
{
    struct nor *nor = make_timed(NOR_TIME_W25Q64);
    FILE *log = tmpfile();
    char line[200];
    uint8_t buffer[8];
    CHECK(log != NULL);
    nor_trace(nor, log);
    CHECK_EQ(program_zeros(nor, 0x1230, 8), 0);
    CHECK_EQ(read_at(nor, 0, buffer, 8), 0);
    nor_cut_at(nor, 0, 1);
    CHECK(erase(nor, 0, SECTOR) != 0);
    nor_trace(nor, NULL);
    CHECK(read_at(nor, 0, buffer, 8) != 0);
    rewind(log);
    CHECK(fgets(line, sizeof line, log) != NULL);
    CHECK(strstr(line, "program") != NULL && strstr(line, "0x00001230") != NULL);
    CHECK(fgets(line, sizeof line, log) != NULL);
    CHECK(strstr(line, "read") != NULL && strstr(line, "75.960") != NULL);
    CHECK(fgets(line, sizeof line, log) != NULL);
    CHECK(strstr(line, "erase") != NULL);
    CHECK(fgets(line, sizeof line, log) != NULL);
    CHECK(strstr(line, "power off") != NULL);
    CHECK(fgets(line, sizeof line, log) == NULL);
    fclose(log);
    nor_destroy(nor);
}

/* ---- copies and files ---- */

TEST(a_clone_is_equal_and_independent)
{
    struct nor *nor = make_timed(NOR_TIME_W25Q64);
    CHECK_EQ(program(nor, 77, "before", 6), 0);
    CHECK_EQ(erase(nor, SECTOR, SECTOR), 0);
    struct nor *clone = nor_clone(nor);
    CHECK(same_contents(nor, clone));
    CHECK_EQ(nor_time_ns(clone), nor_time_ns(nor));
    CHECK_EQ(nor_wear(clone, 1), 1);
    CHECK_EQ(nor_counts(clone)->calls[NOR_PROGRAM], 0);
    CHECK_EQ(nor_mutations(clone), 0);
    CHECK(program(clone, 77, "x", 1) != 0);
    CHECK_EQ(program(clone, 100, "clone", 5), 0);
    CHECK_EQ(erase(nor, 0, SECTOR), 0);
    CHECK_EQ(byte_at(nor, 100), 0xFF);
    CHECK_EQ(byte_at(clone, 77), 'b');
    nor_destroy(nor);
    CHECK_EQ(byte_at(clone, 100), 'c');
    nor_destroy(clone);
}

/* One random operation, faulted or not; violations are counted and change nothing. */
static void mutate_somehow(struct nor *nor, struct rng *rng)
{
    uint8_t data[600];
    uint32_t bytes = 1 + rng_below(rng, sizeof data);
    for (uint32_t i = 0; i < bytes; i++) {
        data[i] = (uint8_t)rng_next(rng);
    }
    if (rng_chance(rng, 10)) {
        nor_fault_at(nor, 0, 1u << NOR_PROGRAM | 1u << NOR_ERASE, (enum nor_fault_kind)rng_below(rng, NOR_FAULT_KINDS),
                     rng_next(rng));
    }
    switch (rng_below(rng, 8)) {
    case 0: erase(nor, rng_below(rng, 16) * SECTOR, SECTOR); break;
    case 1: erase(nor, rng_below(rng, 4) * 4 * SECTOR, 4 * SECTOR); break;
    case 2: nor_poke(nor, rng_below(rng, SMALL - 600), data, bytes); break;
    case 3: nor_flip(nor, rng_below(rng, SMALL), rng_below(rng, 8)); break;
    default: program(nor, rng_below(rng, SMALL - 600), data, bytes); break;
    }
    if (rng_chance(rng, 1)) {
        nor_fill(nor, (uint8_t)rng_next(rng));
    }
    nor_fault_clear(nor);
    nor_power_on(nor);
}

/* Whether both behave alike: same bytes, wear, scars, and the same answer to every program of one granule. */
static void check_equal(struct nor *a, struct nor *b)
{
    CHECK(same_contents(a, b));
    for (uint32_t unit = 0; unit < SMALL / SECTOR; unit++) {
        CHECK_EQ(nor_wear(a, unit), nor_wear(b, unit));
    }
    for (uint32_t at = 0; at < SMALL; at += 256) {
        CHECK_EQ(nor_is_weak(a, at, 256), nor_is_weak(b, at, 256));
    }
    for (uint32_t at = 0; at < SMALL; at += 64) {
        uint8_t byte = 0x55;
        CHECK_EQ(program(a, at, &byte, 1), program(b, at, &byte, 1));
    }
    CHECK(same_contents(a, b));
}

static void check_copies(int sparse, unsigned steps, unsigned most_changes)
{
    struct nor_config config = make_config(SMALL, 1);
    struct rng rng = { harness_seed() };
    struct nor *nor[4];
    config.sparse = sparse;
    for (int i = 0; i < 4; i++) {
        nor[i] = nor_create(&config);
    }
    struct nor *a = nor_create(&config);
    struct nor *b = nor_create(&config);
    for (unsigned step = 0; step < steps; step++) {
        for (unsigned i = rng_below(&rng, most_changes); i > 0; i--) {
            mutate_somehow(nor[rng_below(&rng, 4)], &rng);
        }
        /* Mostly along one chain, as a sweep with cuts during recovery does. */
        uint32_t from = rng_below(&rng, 4);
        uint32_t to = rng_chance(&rng, 80) ? (from + 1) % 4 : rng_below(&rng, 4);
        nor_copy(nor[to], nor[from]);
        harness_note("step %u", step);
        CHECK(same_contents(nor[to], nor[from]));
        if (step % 16 == 0) {
            nor_copy(a, nor[from]);
            nor_destroy(b);
            b = nor_clone(nor[to]);
            check_equal(a, b);
        }
    }
    for (int i = 0; i < 4; i++) {
        nor_destroy(nor[i]);
    }
    nor_destroy(a);
    nor_destroy(b);
}

TEST(repeated_copies_are_exact)
{
    check_copies(0, 1000, 8);
}

TEST(copies_are_exact_when_the_journal_overflows)
{
    check_copies(0, 60, 600);
}

TEST(copies_of_sparse_devices_are_exact)
{
    check_copies(1, 600, 8);
}

TEST(an_image_file_is_saved_and_loaded)
{
    char path[] = "/tmp/test_nor_XXXXXX";
    struct nor *nor = make(SMALL, 4);
    int file = mkstemp(path);
    CHECK(file >= 0);
    close(file);
    CHECK_EQ(program(nor, 5000, "image...", 8), 0);
    CHECK_EQ(nor_save(nor, path), 0);
    struct nor *back = make(SMALL, 4);
    nor_fill(back, 0);
    CHECK_EQ(nor_load(back, path), 0);
    CHECK(same_contents(nor, back));
    CHECK(program_zeros(back, 5000, 4) != 0);
    CHECK_EQ(program_zeros(back, 5008, 4), 0);
    struct nor *tiny = make(16384, 4);
    CHECK_EQ(nor_load(tiny, path), -1);
    CHECK_EQ(errno, EFBIG);
    remove(path);
    CHECK_EQ(nor_load(back, path), -1);
    CHECK_EQ(errno, ENOENT);
    nor_destroy(nor);
    nor_destroy(back);
    nor_destroy(tiny);
}

TEST(a_sparse_device_can_be_large)
{
    struct nor_config config = make_config(256u << 20, 1);
    uint8_t buffer[100];
    config.sparse = 1;
    config.model = NOR_TIME_W25Q64;
    struct nor *nor = nor_create(&config);
    CHECK_EQ(program(nor, (200u << 20) + 4090, "far away", 8), 0);
    CHECK_EQ(read_at(nor, (200u << 20) + 4000, buffer, 100), 0);
    CHECK_EQ(buffer[0], 0xFF);
    CHECK_MEM(buffer + 90, "far away", 8);
    CHECK_EQ(read_at(nor, (256u << 20) - 100, buffer, 100), 0);
    CHECK_EQ(buffer[99], 0xFF);
    struct nor *clone = nor_clone(nor);
    CHECK_EQ(erase(nor, 200u << 20, 65536), 0);
    CHECK_EQ(byte_at(nor, (200u << 20) + 4090), 0xFF);
    CHECK_EQ(byte_at(clone, (200u << 20) + 4090), 'f');
    CHECK(program_zeros(clone, (200u << 20) + 4090, 1) != 0);
    CHECK_EQ(program_zeros(nor, (200u << 20) + 4090, 1), 0);
    CHECK_EQ(nor_wear(nor, (200u << 20) / SECTOR), 1);
    nor_destroy(nor);
    nor_destroy(clone);
}

/* ---- power cuts ---- */

TEST(a_cut_before_an_operation_drops_it)
{
    struct nor *nor = make(SMALL, 1);
    nor_cut_at(nor, 1, 1);
    CHECK_EQ(program_zeros(nor, 0, 4), 0);
    CHECK(program_zeros(nor, 4, 4) != 0);
    CHECK(nor_is_off(nor));
    nor_power_on(nor);
    CHECK_EQ(byte_at(nor, 3), 0);
    CHECK_EQ(byte_at(nor, 4), 0xFF);
    CHECK_EQ(program(nor, 4, "other", 5), 0);
    nor_destroy(nor);
}

TEST(a_cut_after_an_operation_keeps_it)
{
    struct nor *nor = make(SMALL, 1);
    CHECK_EQ(program_zeros(nor, 0, 4), 0);
    nor_cut_at(nor, 0, 0);
    CHECK(erase(nor, 0, SECTOR) != 0);
    CHECK(nor_is_off(nor));
    nor_power_on(nor);
    CHECK_EQ(byte_at(nor, 0), 0xFF);
    CHECK_EQ(program_zeros(nor, 0, 4), 0);
    nor_destroy(nor);
}

TEST(without_power_every_call_fails)
{
    struct nor *nor = make(SMALL, 1);
    const struct fffs_flash *flash = nor_flash(nor);
    uint8_t byte;
    nor_cut_at(nor, 0, 1);
    CHECK(program_zeros(nor, 0, 1) != 0);
    uint64_t mutations = nor_mutations(nor);
    CHECK(read_at(nor, 0, &byte, 1) != 0);
    CHECK(program_zeros(nor, 0, 1) != 0);
    CHECK(erase(nor, 0, SECTOR) != 0);
    CHECK(flash->sync(flash->context) != 0);
    CHECK(flash->is_blank(flash->context, 0, 1) < 0);
    CHECK(flash->map(flash->context, 0, 1) == NULL);
    CHECK_EQ(nor_mutations(nor), mutations);
    nor_power_on(nor);
    CHECK_EQ(read_at(nor, 0, &byte, 1), 0);
    CHECK_EQ(violations(nor), 0);
    nor_destroy(nor);
}

TEST(a_cut_can_be_called_off)
{
    struct nor *nor = make(SMALL, 1);
    nor_cut_at(nor, 0, 1);
    nor_cut_at(nor, UINT64_MAX, 1);
    CHECK_EQ(program_zeros(nor, 0, 1), 0);
    nor_destroy(nor);
}

/* ---- torn programs ---- */

static const uint8_t mark[8] = { 0x5A, 0x00, 0x0F, 0xC3, 0x00, 0x81, 0x3C, 0x00 };

static struct nor *cut_program(enum nor_fault_kind kind, uint64_t seed)
{
    struct nor *nor = make(SMALL, 1);
    nor_fault_at(nor, 0, 1u << NOR_PROGRAM, kind, seed);
    CHECK(program(nor, 64, mark, sizeof mark) != 0);
    CHECK(nor_is_off(nor));
    nor_power_on(nor);
    return nor;
}

TEST(torn_programs_only_leave_bits_set)
{
    static const enum nor_fault_kind kinds[] = { NOR_FAULT_PREFIX, NOR_FAULT_SUBSET, NOR_FAULT_WEAK, NOR_FAULT_WEAK_BLANK };
    for (unsigned k = 0; k < 4; k++) {
        for (uint64_t seed = 0; seed < 300; seed++) {
            struct nor *nor = cut_program(kinds[k], seed);
            uint8_t back[24];
            for (int i = 0; i < 4; i++) {
                CHECK_EQ(read_at(nor, 56, back, 24), 0);
                for (int at = 0; at < 8; at++) {
                    CHECK_EQ(back[at], 0xFF);
                    CHECK_EQ(back[8 + at] & mark[at], mark[at]);
                    CHECK_EQ(back[16 + at], 0xFF);
                }
            }
            nor_destroy(nor);
        }
    }
}

TEST(a_prefix_is_done_in_order)
{
    unsigned cuts = 0;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct nor *nor = cut_program(NOR_FAULT_PREFIX, seed);
        int at = 0;
        while (at < 8 && byte_at(nor, 64 + (uint32_t)at) == mark[at]) {
            at++;
        }
        cuts |= 1u << at;
        for (at++; at < 8; at++) {
            CHECK_EQ(byte_at(nor, 64 + (uint32_t)at), 0xFF);
        }
        nor_destroy(nor);
    }
    CHECK_EQ(cuts, 0x1FF);
}

TEST(subsets_reach_the_extremes)
{
    unsigned seen = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct nor *nor = cut_program(NOR_FAULT_SUBSET, seed);
        int missing = 0;
        int done = 0;
        for (uint32_t at = 0; at < 8; at++) {
            for (int bit = 0; bit < 8; bit++) {
                if (!((mark[at] >> bit) & 1)) {
                    int set = (byte_at(nor, 64 + at) >> bit) & 1;
                    missing += set;
                    done += !set;
                }
            }
        }
        seen |= missing == 0 ? 1u : 0;
        seen |= missing == 1 ? 2u : 0;
        seen |= missing > 4 && done > 4 ? 4u : 0;
        seen |= done == 1 ? 8u : 0;
        nor_destroy(nor);
    }
    CHECK_EQ(seen, 15);
}

TEST(pages_are_torn_in_any_order)
{
    unsigned seen = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct nor *nor = make(SMALL, 1);
        unsigned done = 0;
        nor_fault_at(nor, 0, 1u << NOR_PROGRAM, NOR_FAULT_SUBSET, seed);
        CHECK(program_zeros(nor, 128, 512) != 0);
        for (uint32_t page = 0; page < 3; page++) {
            uint32_t at = page == 0 ? 128 : page * 256;
            uint32_t end = page == 2 ? 640 : (page + 1) * 256;
            while (at < end && byte_at(nor, at) == 0) {
                at++;
            }
            done |= at == end ? 1u << page : 0;
        }
        seen |= 1u << done;
        nor_destroy(nor);
    }
    CHECK_EQ(seen, 0xFF);
}

TEST(weak_bits_differ_from_read_to_read)
{
    struct nor *nor = cut_program(NOR_FAULT_WEAK, 7);
    uint8_t first[8];
    int changes = 0;
    int whole = 0;
    int blank = 0;
    CHECK_EQ(read_at(nor, 64, first, 8), 0);
    for (int i = 0; i < 200; i++) {
        uint8_t back[8];
        CHECK_EQ(read_at(nor, 64, back, 8), 0);
        changes += memcmp(back, first, 8) != 0;
        whole += memcmp(back, mark, 8) == 0;
        blank += memcmp(back, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8) == 0;
    }
    CHECK(changes > 50);
    CHECK(whole > 20 && whole < 120);
    CHECK(blank > 5);
    CHECK(nor_is_weak(nor, 64, 8));
    CHECK(!nor_is_weak(nor, 0, 64));
    CHECK(!nor_is_weak(nor, 72, 64));
    CHECK(nor_flash(nor)->map(nor_flash(nor)->context, 60, 8) == NULL);
    CHECK(nor_flash(nor)->map(nor_flash(nor)->context, 0, 8) != NULL);
    nor_destroy(nor);
}

TEST(a_weak_blank_program_reads_blank_or_done)
{
    struct nor *nor = cut_program(NOR_FAULT_WEAK_BLANK, 3);
    const struct fffs_flash *flash = nor_flash(nor);
    int whole = 0;
    int blank = 0;
    int said_blank = 0;
    for (int i = 0; i < 200; i++) {
        uint8_t back[8];
        CHECK_EQ(read_at(nor, 64, back, 8), 0);
        whole += memcmp(back, mark, 8) == 0;
        blank += memcmp(back, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8) == 0;
        said_blank += flash->is_blank(flash->context, 64, 8);
    }
    CHECK_EQ(whole + blank, 200);
    CHECK(whole > 50 && blank > 50);
    CHECK(said_blank > 50 && said_blank < 150);
    nor_destroy(nor);
}

TEST(only_the_identical_repeat_may_follow_a_torn_program)
{
    static const enum nor_fault_kind kinds[] = { NOR_FAULT_PREFIX, NOR_FAULT_SUBSET, NOR_FAULT_WEAK, NOR_FAULT_WEAK_BLANK };
    for (unsigned k = 0; k < 4; k++) {
        struct nor *nor = cut_program(kinds[k], k);
        CHECK(program(nor, 64, "\x5A\x01", 2) != 0);
        CHECK(program(nor, 71, "\x01", 1) != 0);
        CHECK(program(nor, 60, mark, 8) != 0);
        CHECK_EQ(violations(nor), 3);
        CHECK_EQ(program(nor, 64, mark, 8), 0);
        for (int i = 0; i < 50; i++) {
            uint8_t back[8];
            CHECK_EQ(read_at(nor, 64, back, 8), 0);
            CHECK_MEM(back, mark, 8);
        }
        CHECK(!nor_is_weak(nor, 64, 8));
        CHECK(program(nor, 64, mark, 8) != 0);
        CHECK_EQ(violations(nor), 4);
        nor_destroy(nor);
    }
}

TEST(a_torn_run_can_be_repeated_in_parts)
{
    struct nor *nor = cut_program(NOR_FAULT_WEAK, 1);
    CHECK_EQ(program(nor, 66, mark + 2, 3), 0);
    CHECK(nor_is_weak(nor, 64, 2));
    CHECK(!nor_is_weak(nor, 66, 3));
    CHECK(nor_is_weak(nor, 69, 3));
    CHECK(program(nor, 64, mark, 8) != 0);
    CHECK_EQ(program(nor, 64, mark, 2), 0);
    CHECK_EQ(program(nor, 69, mark + 5, 3), 0);
    CHECK(!nor_is_weak(nor, 0, SMALL));
    CHECK_EQ(byte_at(nor, 69), mark[5]);
    nor_destroy(nor);
}

TEST(a_repeat_that_is_cut_again_is_torn_again)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct nor *nor = cut_program(NOR_FAULT_WEAK, seed);
        nor_fault_at(nor, 0, 1u << NOR_PROGRAM, seed & 1 ? NOR_FAULT_WEAK_BLANK : NOR_FAULT_WEAK, seed);
        CHECK(program(nor, 64, mark, 8) != 0);
        nor_power_on(nor);
        CHECK(nor_is_weak(nor, 64, 8));
        CHECK(program_zeros(nor, 64, 8) != 0);
        CHECK_EQ(program(nor, 64, mark, 8), 0);
        uint8_t back[8];
        CHECK_EQ(read_at(nor, 64, back, 8), 0);
        CHECK_MEM(back, mark, 8);
        nor_destroy(nor);
    }
}

TEST(an_erase_heals_a_torn_program)
{
    struct nor *nor = cut_program(NOR_FAULT_WEAK, 5);
    CHECK_EQ(erase(nor, 0, SECTOR), 0);
    CHECK(!nor_is_weak(nor, 0, SECTOR));
    CHECK_EQ(program_zeros(nor, 64, 8), 0);
    CHECK_EQ(violations(nor), 0);
    nor_destroy(nor);
}

TEST(an_erase_of_one_sector_leaves_the_rest_of_a_scar)
{
    struct nor *nor = make(SMALL, 1);
    nor_fault_at(nor, 0, 1u << NOR_PROGRAM, NOR_FAULT_WEAK_BLANK, 1);
    CHECK(program_zeros(nor, SECTOR - 100, 100 + SECTOR - 1 + 50) != 0);
    nor_power_on(nor);
    CHECK_EQ(erase(nor, SECTOR, SECTOR), 0);
    CHECK(nor_is_weak(nor, SECTOR - 1, 1));
    CHECK(!nor_is_weak(nor, SECTOR, SECTOR));
    CHECK(nor_is_weak(nor, 2 * SECTOR, 1));
    CHECK(program(nor, 2 * SECTOR, "\x01", 1) != 0);
    CHECK_EQ(program_zeros(nor, 2 * SECTOR, 1), 0);
    CHECK_EQ(program(nor, SECTOR, "\x01", 1), 0);
    CHECK(program(nor, SECTOR - 100, "\x01", 1) != 0);
    CHECK_EQ(program_zeros(nor, SECTOR - 100, 100), 0);
    nor_destroy(nor);
}

/* ---- torn erases ---- */

static struct nor *cut_erase(enum nor_fault_kind kind, uint64_t seed, uint32_t bytes)
{
    struct nor *nor = make(SMALL, 1);
    for (uint32_t at = 0; at < 32768; at += 1024) {
        CHECK_EQ(program(nor, at, "data that was there", 19), 0);
    }
    nor_fault_at(nor, 0, 1u << NOR_ERASE, kind, seed);
    CHECK(erase(nor, 0, bytes) != 0);
    CHECK(nor_is_off(nor));
    nor_power_on(nor);
    return nor;
}

TEST(nothing_is_programmed_after_a_cut_erase)
{
    for (int kind = NOR_FAULT_ERASE_JUNK; kind <= NOR_FAULT_ERASE_OLD; kind++) {
        struct nor *nor = cut_erase((enum nor_fault_kind)kind, 9, 2 * SECTOR);
        CHECK(program_zeros(nor, 100, 1) != 0);
        CHECK(program_zeros(nor, SECTOR + 512, 8) != 0);
        CHECK(program_zeros(nor, 2 * SECTOR - 1, 2) != 0);
        CHECK_EQ(violations(nor), 3);
        CHECK_EQ(program_zeros(nor, 2 * SECTOR + 100, 1), 0);
        CHECK_EQ(erase(nor, SECTOR, SECTOR), 0);
        CHECK_EQ(program_zeros(nor, SECTOR + 512, 8), 0);
        CHECK(program_zeros(nor, 100, 1) != 0);
        CHECK_EQ(erase(nor, 0, SECTOR), 0);
        CHECK_EQ(program_zeros(nor, 100, 1), 0);
        CHECK_EQ(byte_at(nor, 101), 0xFF);
        CHECK(!nor_is_weak(nor, 0, SMALL));
        nor_destroy(nor);
    }
}

/* Of 200 reads of what stood at 0: how many were blank, how many as before. */
static void count_views(struct nor *nor, int *blank, int *old)
{
    *blank = 0;
    *old = 0;
    for (int i = 0; i < 200; i++) {
        uint8_t back[19];
        uint8_t erased[19];
        memset(erased, 0xFF, sizeof erased);
        CHECK_EQ(read_at(nor, 0, back, sizeof back), 0);
        *blank += memcmp(back, erased, sizeof back) == 0;
        *old += memcmp(back, "data that was there", sizeof back) == 0;
    }
}

TEST(a_weakly_erased_sector_reads_blank_mostly)
{
    int blank;
    int old;
    struct nor *nor = cut_erase(NOR_FAULT_ERASE_BLANK, 4, SECTOR);
    count_views(nor, &blank, &old);
    CHECK(blank > 120 && blank < 200);
    CHECK_EQ(byte_at(nor, 0), 0xFF);
    nor_destroy(nor);
}

TEST(a_barely_erased_sector_reads_as_before_mostly)
{
    int blank;
    int old;
    struct nor *nor = cut_erase(NOR_FAULT_ERASE_OLD, 4, SECTOR);
    count_views(nor, &blank, &old);
    CHECK(old > 90 && old < 200);
    CHECK(blank > 0);
    CHECK_EQ(byte_at(nor, 0), 'd');
    nor_destroy(nor);
}

TEST(junk_changes_from_read_to_read)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct nor *nor = cut_erase(NOR_FAULT_ERASE_JUNK, seed, SECTOR);
        uint8_t first[256];
        uint8_t back[256];
        int changes = 0;
        CHECK_EQ(read_at(nor, 256, first, sizeof first), 0);
        for (int i = 0; i < 20; i++) {
            CHECK_EQ(read_at(nor, 256, back, sizeof back), 0);
            changes += memcmp(first, back, sizeof back) != 0;
        }
        CHECK(changes > 3);
        CHECK_EQ(byte_at(nor, SECTOR), 'd');
        nor_destroy(nor);
    }
}

TEST(a_part_erase_has_done_junk_and_untouched_sectors)
{
    int done = 0;
    int untouched = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct nor *nor = cut_erase(NOR_FAULT_ERASE_PART, seed, 8 * SECTOR);
        int weak = 0;
        for (uint32_t unit = 0; unit < 8; unit++) {
            uint8_t back[19];
            if (nor_is_weak(nor, unit * SECTOR, SECTOR)) {
                weak++;
                continue;
            }
            CHECK_EQ(read_at(nor, unit * SECTOR, back, sizeof back), 0);
            if (back[0] == 0xFF) {
                done++;
            } else {
                CHECK_MEM(back, "data that was there", 19);
                untouched++;
            }
            CHECK(program_zeros(nor, unit * SECTOR + 500, 1) != 0);
        }
        CHECK_EQ(weak, 1);
        nor_destroy(nor);
    }
    CHECK(done > 50 && untouched > 50);
}

/* ---- errors, lies, wear-out, flips ---- */

TEST(a_failed_call_keeps_the_power)
{
    struct nor *nor = make(SMALL, 1);
    uint8_t byte;
    nor_fault_at(nor, 1, 1u << NOR_READ, NOR_FAULT_ERROR, 0);
    CHECK_EQ(read_at(nor, 0, &byte, 1), 0);
    CHECK(read_at(nor, 0, &byte, 1) != 0);
    CHECK_EQ(read_at(nor, 0, &byte, 1), 0);
    nor_fault_at(nor, 0, 1u << NOR_PROGRAM, NOR_FAULT_ERROR, 0);
    CHECK_EQ(erase(nor, 0, SECTOR), 0);
    CHECK(program_zeros(nor, 0, 1) != 0);
    CHECK_EQ(byte_at(nor, 0), 0xFF);
    CHECK_EQ(program(nor, 0, "x", 1), 0);
    nor_fault_at(nor, 0, 1u << NOR_ERASE, NOR_FAULT_ERROR, 0);
    CHECK(erase(nor, 0, SECTOR) != 0);
    CHECK_EQ(byte_at(nor, 0), 'x');
    nor_fault_at(nor, 0, 1u << NOR_SYNC, NOR_FAULT_ERROR, 0);
    CHECK(nor_flash(nor)->sync(nor) != 0);
    CHECK(!nor_is_off(nor));
    CHECK_EQ(violations(nor), 0);
    nor_destroy(nor);
}

TEST(a_half_failed_call_leaves_a_scar)
{
    struct nor *nor = make(SMALL, 1);
    nor_fault_at(nor, 0, 1u << NOR_PROGRAM, NOR_FAULT_ERROR_PART, 6);
    CHECK(program(nor, 64, mark, 8) != 0);
    CHECK(!nor_is_off(nor));
    CHECK(program_zeros(nor, 64, 8) != 0);
    CHECK_EQ(program(nor, 64, mark, 8), 0);
    nor_fault_at(nor, 0, 1u << NOR_ERASE, NOR_FAULT_ERROR_PART, 6);
    CHECK(erase(nor, 0, SECTOR) != 0);
    CHECK(program_zeros(nor, 2000, 8) != 0);
    CHECK_EQ(erase(nor, 0, SECTOR), 0);
    CHECK_EQ(program_zeros(nor, 2000, 8), 0);
    CHECK_EQ(violations(nor), 2);
    nor_destroy(nor);
}

TEST(a_lie_does_nothing_and_says_it_did)
{
    struct nor *nor = make(SMALL, 1);
    CHECK_EQ(program(nor, 0, "\xF0", 1), 0);
    nor_fault_at(nor, 0, 1u << NOR_PROGRAM, NOR_FAULT_LIE, 0);
    CHECK_EQ(program(nor, 8, mark, 8), 0);
    CHECK_EQ(byte_at(nor, 8), 0xFF);
    nor_fault_at(nor, 0, 1u << NOR_ERASE, NOR_FAULT_LIE, 0);
    CHECK_EQ(erase(nor, 0, SECTOR), 0);
    CHECK_EQ(byte_at(nor, 0), 0xF0);
    /* The caller cannot know: no violation, the bits are ANDed. */
    CHECK_EQ(program(nor, 0, "\x3C", 1), 0);
    CHECK_EQ(byte_at(nor, 0), 0x30);
    CHECK_EQ(violations(nor), 0);
    uint8_t back[4] = { 0, 0, 0, 0 };
    nor_fault_at(nor, 0, 1u << NOR_READ, NOR_FAULT_LIE, 0);
    CHECK_EQ(read_at(nor, 100, back, 4), 0);
    CHECK(memcmp(back, "\xFF\xFF\xFF\xFF", 4) != 0);
    nor_destroy(nor);
}

TEST(a_worn_unit_fails_for_good)
{
    struct nor *nor = make(SMALL, 1);
    nor_wear_out(nor, 2, 3);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(erase(nor, 2 * SECTOR, SECTOR), 0);
    }
    CHECK(erase(nor, 2 * SECTOR, SECTOR) != 0);
    CHECK(erase(nor, 0, 32768) != 0);
    CHECK(program_zeros(nor, 2 * SECTOR, 1) != 0);
    CHECK(program_zeros(nor, 2 * SECTOR - 4, 8) != 0);
    CHECK_EQ(program_zeros(nor, SECTOR, 1), 0);
    CHECK_EQ(nor_wear(nor, 2), 3);
    struct nor *clone = nor_clone(nor);
    CHECK(erase(clone, 2 * SECTOR, SECTOR) != 0);
    nor_wear_out(nor, 2, UINT32_MAX);
    CHECK_EQ(erase(nor, 2 * SECTOR, SECTOR), 0);
    CHECK_EQ(violations(nor), 0);
    nor_destroy(nor);
    nor_destroy(clone);
}

TEST(flips_change_one_bit_at_rest)
{
    struct nor *nor = make(SMALL, 1);
    CHECK_EQ(program(nor, 10, "\x0F", 1), 0);
    nor_flip(nor, 10, 7);
    CHECK_EQ(byte_at(nor, 10), 0x8F);
    nor_flip(nor, 11, 0);
    CHECK_EQ(byte_at(nor, 11), 0xFE);
    CHECK_EQ(program(nor, 11, "\xF1", 1), 0);
    CHECK_EQ(byte_at(nor, 11), 0xF0);
    nor_destroy(nor);
}

TEST(a_dead_chip_reads_one_value)
{
    struct nor *nor = make(SMALL, 1);
    uint8_t back[3];
    nor_dead(nor, 0);
    CHECK_EQ(read_at(nor, 0, back, 3), 0);
    CHECK_MEM(back, "\0\0\0", 3);
    CHECK_EQ(program_zeros(nor, 0, 3), 0);
    CHECK_EQ(nor_flash(nor)->is_blank(nor, 0, 3), 0);
    nor_dead(nor, -1);
    CHECK_EQ(read_at(nor, 0, back, 3), 0);
    CHECK_MEM(back, "\xFF\xFF\xFF", 3);
    nor_destroy(nor);
}

/* ---- branches ---- */

struct branching {
    struct nor *into;
    enum nor_fault_kind kind;
    uint64_t seed;
    unsigned calls;
    struct nor_pending last;
};

static void make_branch(void *context, struct nor *nor, const struct nor_pending *pending)
{
    struct branching *b = context;
    b->calls++;
    b->last = *pending;
    nor_branch(nor, b->into, b->kind, b->seed);
}

TEST(a_branch_is_what_a_cut_there_leaves)
{
    for (int kind = NOR_FAULT_BEFORE; kind <= NOR_FAULT_ERASE_OLD; kind++) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct nor *nor = make(SMALL, 1);
            struct branching b = { make(SMALL, 1), (enum nor_fault_kind)kind, seed, 0, { NOR_READ, 0, 0, NULL, 0 } };
            struct nor *cut = make(SMALL, 1);
            CHECK_EQ(program(nor, 700, "before", 6), 0);
            nor_copy(cut, nor);
            nor_on_mutation(nor, make_branch, &b);
            nor_fault_at(cut, 0, 1u << NOR_PROGRAM | 1u << NOR_ERASE, b.kind, seed);
            if (kind >= NOR_FAULT_ERASE_JUNK || kind == NOR_FAULT_AFTER) {
                CHECK_EQ(erase(nor, 0, 2 * SECTOR), 0);
                CHECK(erase(cut, 0, 2 * SECTOR) != 0);
            } else {
                CHECK_EQ(program(nor, 200, "torn across two pages, perhaps in part only and in any order ....", 64), 0);
                CHECK(program(cut, 200, "torn across two pages, perhaps in part only and in any order ....", 64) != 0);
            }
            CHECK_EQ(b.calls, 1);
            CHECK(!nor_is_off(b.into));
            nor_power_on(cut);
            check_equal(b.into, cut);
            CHECK_EQ(byte_at(nor, kind == NOR_FAULT_BEFORE ? 700 : 0), kind == NOR_FAULT_BEFORE ? 'b' : 0xFF);
            CHECK(!nor_is_weak(nor, 0, SMALL));
            nor_destroy(nor);
            nor_destroy(cut);
            nor_destroy(b.into);
        }
    }
}

TEST(the_callback_sees_the_pending_operation)
{
    struct nor *nor = make(SMALL, 1);
    struct branching b = { make(SMALL, 1), NOR_FAULT_AFTER, 0, 0, { NOR_READ, 0, 0, NULL, 0 } };
    nor_on_mutation(nor, make_branch, &b);
    CHECK_EQ(program(nor, 33, "abc", 3), 0);
    CHECK_EQ(b.last.op, NOR_PROGRAM);
    CHECK_EQ(b.last.address, 33);
    CHECK_EQ(b.last.bytes, 3);
    CHECK_EQ(b.last.number, 0);
    CHECK_EQ(erase(nor, SECTOR, SECTOR), 0);
    CHECK_EQ(b.last.op, NOR_ERASE);
    CHECK_EQ(b.last.number, 1);
    CHECK(b.last.data == NULL);
    CHECK(program(nor, 33, "abc", 3) != 0);
    CHECK_EQ(b.calls, 2);
    nor_on_mutation(nor, NULL, NULL);
    CHECK_EQ(erase(nor, SECTOR, SECTOR), 0);
    CHECK_EQ(b.calls, 2);
    nor_destroy(nor);
    nor_destroy(b.into);
}

TEST(branches_and_reads_repeat_from_their_seed)
{
    struct nor *nor = make(SMALL, 1);
    struct nor *again = make(SMALL, 1);
    struct branching b = { make(SMALL, 1), NOR_FAULT_WEAK, 42, 0, { NOR_READ, 0, 0, NULL, 0 } };
    struct branching c = b;
    c.into = make(SMALL, 1);
    nor_on_mutation(nor, make_branch, &b);
    nor_on_mutation(again, make_branch, &c);
    CHECK_EQ(program(nor, 64, mark, 8), 0);
    CHECK_EQ(program(again, 64, mark, 8), 0);
    for (int i = 0; i < 50; i++) {
        uint8_t x[8];
        uint8_t y[8];
        CHECK_EQ(read_at(b.into, 64, x, 8), 0);
        CHECK_EQ(read_at(c.into, 64, y, 8), 0);
        CHECK_MEM(x, y, 8);
    }
    nor_destroy(nor);
    nor_destroy(again);
    nor_destroy(b.into);
    nor_destroy(c.into);
}

static void make_torn_branch(void *context, struct nor *nor, const struct nor_pending *pending)
{
    struct branching *b = context;
    (void)pending;
    nor_branch_torn(nor, b->into, (const uint8_t *)"\x80\xFF\x00", (const uint8_t *)"\x00\x0F\xFF", 1);
    b->calls++;
}

TEST(a_branch_can_be_torn_to_order)
{
    struct nor *nor = make(SMALL, 1);
    struct branching b = { make(SMALL, 1), NOR_FAULT_NONE, 0, 0, { NOR_READ, 0, 0, NULL, 0 } };
    nor_on_mutation(nor, make_torn_branch, &b);
    CHECK_EQ(program(nor, 0, "\x00\x0C\xFE", 3), 0);
    CHECK_EQ(b.calls, 1);
    CHECK_EQ(byte_at(b.into, 0), 0x80);
    CHECK_EQ(byte_at(b.into, 1), 0xFF);
    CHECK_EQ(byte_at(b.into, 2), 0xFE);
    CHECK(!nor_is_weak(b.into, 0, 1));
    CHECK(nor_is_weak(b.into, 1, 1));
    uint8_t seen = 0;
    for (int i = 0; i < 50; i++) {
        uint8_t back[3];
        CHECK_EQ(read_at(b.into, 0, back, 3), 0);
        CHECK_EQ(back[0], 0x80);
        seen = (uint8_t)(seen | (uint8_t)~back[1]);
    }
    CHECK_EQ(seen, 0x03);
    CHECK(program(b.into, 0, "\x00\x0D\xFE", 3) != 0);
    CHECK_EQ(program(b.into, 0, "\x00\x0C\xFE", 3), 0);
    nor_destroy(nor);
    nor_destroy(b.into);
}

/* Every branch's recovery is branched again, as a sweep does; the inner ones must not disturb the outer. */
static void recover_branch(void *context, struct nor *nor, const struct nor_pending *pending)
{
    struct branching *outer = context;
    struct nor *into = outer->into;
    (void)nor;
    (void)pending;
    for (int kind = NOR_FAULT_BEFORE; kind <= NOR_FAULT_ERASE_OLD; kind++) {
        nor_branch(nor, into, (enum nor_fault_kind)kind, outer->seed++);
        CHECK_EQ(byte_at(into, 3 * SECTOR), 'k');
        CHECK_EQ(erase(into, 0, SECTOR), 0);
        CHECK_EQ(program(into, 0, "recovered", 9), 0);
        CHECK_EQ(byte_at(into, 8), 'd');
        outer->calls++;
    }
}

TEST(branches_of_branches)
{
    struct nor *nor = make(SMALL, 1);
    struct nor *first = make(SMALL, 1);
    struct branching inner = { make(SMALL, 1), NOR_FAULT_NONE, 1, 0, { NOR_READ, 0, 0, NULL, 0 } };
    struct branching outer = { first, NOR_FAULT_NONE, 1000, 0, { NOR_READ, 0, 0, NULL, 0 } };
    CHECK_EQ(program(nor, 3 * SECTOR, "keep", 4), 0);
    nor_on_mutation(first, recover_branch, &inner);
    nor_on_mutation(nor, recover_branch, &outer);
    for (uint32_t i = 0; i < 20; i++) {
        CHECK_EQ(program(nor, 16 + i * 100, mark, 8), 0);
    }
    CHECK_EQ(erase(nor, 0, SECTOR), 0);
    CHECK_EQ(outer.calls, 21 * 10);
    CHECK_EQ(inner.calls, 2 * 21 * 10 * 10);
    CHECK_EQ(violations(nor) + violations(first) + violations(inner.into), 0);
    nor_destroy(nor);
    nor_destroy(first);
    nor_destroy(inner.into);
}

SUITE(nor)
{
    RUN(a_new_device_is_erased);
    RUN(erase_sizes_that_do_not_fit_are_left_out);
    RUN(programmed_bytes_are_read_back_across_pages_and_sectors);
    RUN(a_granule_takes_one_program_between_erases);
    RUN(a_granule_programmed_with_ff_counts_as_programmed);
    RUN(programs_are_aligned_to_granules);
    RUN(erases_are_aligned_to_units);
    RUN(calls_out_of_bounds_are_refused);
    RUN(programs_and_erases_of_nothing_are_refused);
    RUN(a_refused_call_changes_and_costs_nothing);
    RUN(a_broken_rule_aborts_with_a_message);
    RUN(with_overwrite_allowed_bits_still_only_clear);
    RUN(poked_granules_count_as_programmed_unless_blank);
    RUN(fills_set_every_byte);
    RUN(is_blank_answers_for_its_range);
    RUN(is_blank_can_be_left_out);
    RUN(mapped_bytes_are_the_flash);
    RUN(times_of_the_reference_model);
    RUN(times_of_the_data_sheet_model);
    RUN(times_of_the_published_board_model);
    RUN(no_model_takes_no_time);
    RUN(one_erase_call_uses_the_largest_aligned_blocks);
    RUN(sixteen_calls_are_no_block_erase);
    RUN(block_erases_count_the_partition_offset);
    RUN(small_erase_units_cost_what_a_sector_costs);
    RUN(large_erase_units_cost_what_their_sectors_cost);
    RUN(declared_costs_follow_the_model);
    RUN(time_can_be_advanced);
    RUN(counters_count_by_operation_size_and_tag);
    RUN(calls_are_counted_per_unit_when_asked);
    RUN(wear_counts_erases_of_each_unit);
    RUN(the_log_has_a_line_for_each_call);
    RUN(a_clone_is_equal_and_independent);
    RUN(repeated_copies_are_exact);
    RUN(copies_are_exact_when_the_journal_overflows);
    RUN(copies_of_sparse_devices_are_exact);
    RUN(an_image_file_is_saved_and_loaded);
    RUN(a_sparse_device_can_be_large);
    RUN(a_cut_before_an_operation_drops_it);
    RUN(a_cut_after_an_operation_keeps_it);
    RUN(without_power_every_call_fails);
    RUN(a_cut_can_be_called_off);
    RUN(torn_programs_only_leave_bits_set);
    RUN(a_prefix_is_done_in_order);
    RUN(subsets_reach_the_extremes);
    RUN(pages_are_torn_in_any_order);
    RUN(weak_bits_differ_from_read_to_read);
    RUN(a_weak_blank_program_reads_blank_or_done);
    RUN(only_the_identical_repeat_may_follow_a_torn_program);
    RUN(a_torn_run_can_be_repeated_in_parts);
    RUN(a_repeat_that_is_cut_again_is_torn_again);
    RUN(an_erase_heals_a_torn_program);
    RUN(an_erase_of_one_sector_leaves_the_rest_of_a_scar);
    RUN(nothing_is_programmed_after_a_cut_erase);
    RUN(a_weakly_erased_sector_reads_blank_mostly);
    RUN(a_barely_erased_sector_reads_as_before_mostly);
    RUN(junk_changes_from_read_to_read);
    RUN(a_part_erase_has_done_junk_and_untouched_sectors);
    RUN(a_failed_call_keeps_the_power);
    RUN(a_half_failed_call_leaves_a_scar);
    RUN(a_lie_does_nothing_and_says_it_did);
    RUN(a_worn_unit_fails_for_good);
    RUN(flips_change_one_bit_at_rest);
    RUN(a_dead_chip_reads_one_value);
    RUN(a_branch_is_what_a_cut_there_leaves);
    RUN(the_callback_sees_the_pending_operation);
    RUN(branches_and_reads_repeat_from_their_seed);
    RUN(a_branch_can_be_torn_to_order);
    RUN(branches_of_branches);
}
