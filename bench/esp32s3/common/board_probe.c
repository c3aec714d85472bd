/* Raw timings of the partition, before any filesystem: what the flash and its driver cost on this very board. */
#include "board.h"

#include <string.h>

#include "board_log.h"
#include "esp_timer.h"

enum { SECTOR = 4096, BLOCK = 65536, REPEATS = 64, ERASES = 8, LARGEST = 4096 };

struct timing { uint32_t count, least, most; uint64_t sum; };

static uint8_t buffer[LARGEST];

static void add(struct timing *timing, int64_t start)
{
    uint32_t us = (uint32_t)(esp_timer_get_time() - start);

    timing->least = timing->count == 0 || us < timing->least ? us : timing->least;
    timing->most = us > timing->most ? us : timing->most;
    timing->sum += us;
    timing->count++;
}

static void tell(const char *op, uint32_t bytes, const struct timing *timing)
{
    board_log_begin("probe");
    board_log_text("op", op);
    board_log_number("bytes", bytes);
    board_log_number("n", timing->count);
    board_log_number("min_us", timing->least);
    board_log_number("mean_us", timing->count == 0 ? 0 : timing->sum / timing->count);
    board_log_number("max_us", timing->most);
    board_log_end();
}

/* Programs of this size one behind the other from `at` on, each compared. */
static int probe_program(const esp_partition_t *partition, uint32_t at, uint32_t bytes)
{
    struct timing timing = { 0, 0, 0, 0 };
    uint32_t i, k;

    for (i = 0; i < REPEATS; i++, at += bytes) {
        memset(buffer, (int)(0x30u + i), bytes);
        int64_t start = esp_timer_get_time();
        if (esp_partition_write(partition, at, buffer, bytes) != ESP_OK)
            return -1;
        add(&timing, start);
        if (esp_partition_read(partition, at, buffer, bytes) != ESP_OK)
            return -1;
        for (k = 0; k < bytes; k++)
            if (buffer[k] != (uint8_t)(0x30u + i))
                return -1;
    }
    tell("program", bytes, &timing);
    return 0;
}

static int probe_read(const esp_partition_t *partition, uint32_t bytes)
{
    struct timing timing = { 0, 0, 0, 0 };
    uint32_t i;

    for (i = 0; i < REPEATS; i++) {
        uint32_t at = i * 7919u % (BLOCK - bytes);
        int64_t start = esp_timer_get_time();

        if (esp_partition_read(partition, at, buffer, bytes) != ESP_OK)
            return -1;
        add(&timing, start);
    }
    tell("read", bytes, &timing);
    return 0;
}

static int fill(const esp_partition_t *partition, uint32_t at, uint32_t bytes)
{
    uint32_t end = at + bytes;

    memset(buffer, 0x5A, sizeof buffer);
    for (; at < end; at += LARGEST)
        if (esp_partition_write(partition, at, buffer, LARGEST) != ESP_OK)
            return -1;
    return 0;
}

/* Erases of this size, of what is erased already and of what is full. */
static int probe_erase(const esp_partition_t *partition, uint32_t bytes, int full)
{
    struct timing timing = { 0, 0, 0, 0 };
    uint32_t i, phase = (BLOCK - partition->address % BLOCK) % BLOCK;

    for (i = 0; i < ERASES; i++) {
        uint32_t at = phase + i * BLOCK;

        if (esp_partition_erase_range(partition, at, bytes) != ESP_OK || (full && fill(partition, at, bytes) != 0))
            return -1;
        int64_t start = esp_timer_get_time();
        if (esp_partition_erase_range(partition, at, bytes) != ESP_OK)
            return -1;
        add(&timing, start);
    }
    tell(full ? "erase_full" : "erase_blank", bytes, &timing);
    return 0;
}

int board_probe(const esp_partition_t *partition)
{
    static const uint32_t reads[] = { 4, 256, 4096 }, programs[] = { 4, 64, 256, 1024, 4096 }, erases[] = { SECTOR, 32768, BLOCK };
    uint32_t at = 0, i;

    if (esp_partition_erase_range(partition, 0, partition->size) != ESP_OK)
        return -1;
    for (i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (partition->encrypted && programs[i] % 16 != 0)
            continue;
        if (probe_program(partition, at, programs[i]) != 0)
            return -1;
        at += (REPEATS * programs[i] + LARGEST - 1) / LARGEST * LARGEST;
    }
    for (i = 0; i < sizeof reads / sizeof reads[0]; i++)
        if (probe_read(partition, reads[i]) != 0)
            return -1;
    for (i = 0; i < sizeof erases / sizeof erases[0]; i++)
        if (probe_erase(partition, erases[i], 0) != 0 || probe_erase(partition, erases[i], 1) != 0)
            return -1;
    return 0;
}
