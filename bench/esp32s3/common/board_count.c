/* The wrappers that count flash calls, whoever makes them (linker option --wrap, see CMakeLists.txt). */
#include <string.h>

#include "board.h"
#include "esp_timer.h"

enum { READ, PROGRAM, ERASE, SECTOR = 4096, BLOCK = 65536 };

struct board_counts board_counts;
uint16_t board_wear[BOARD_WEAR_UNITS];

esp_err_t __real_esp_partition_read(const esp_partition_t *partition, size_t src_offset, void *dst, size_t size);
esp_err_t __real_esp_partition_write(const esp_partition_t *partition, size_t dst_offset, const void *src, size_t size);
esp_err_t __real_esp_partition_erase_range(const esp_partition_t *partition, size_t offset, size_t size);
esp_err_t __wrap_esp_partition_read(const esp_partition_t *partition, size_t src_offset, void *dst, size_t size);
esp_err_t __wrap_esp_partition_write(const esp_partition_t *partition, size_t dst_offset, const void *src, size_t size);
esp_err_t __wrap_esp_partition_erase_range(const esp_partition_t *partition, size_t offset, size_t size);

static void count(int op, size_t bytes, int64_t start)
{
    board_counts.calls[op]++;
    board_counts.bytes[op] += bytes;
    board_counts.us[op] += (uint64_t)(esp_timer_get_time() - start);
}

esp_err_t __wrap_esp_partition_read(const esp_partition_t *partition, size_t src_offset, void *dst, size_t size)
{
    int64_t start = esp_timer_get_time();
    esp_err_t err = __real_esp_partition_read(partition, src_offset, dst, size);

    count(READ, size, start);
    return err;
}

esp_err_t __wrap_esp_partition_write(const esp_partition_t *partition, size_t dst_offset, const void *src, size_t size)
{
    int64_t start = esp_timer_get_time();
    esp_err_t err = __real_esp_partition_write(partition, dst_offset, src, size);

    count(PROGRAM, size, start);
    return err;
}

/* As ESP-IDF splits it: blocks where the flash address and the rest allow it. */
static void count_erases(const esp_partition_t *partition, size_t offset, size_t size)
{
    while (size >= SECTOR) {
        size_t part = (partition->address + offset) % BLOCK == 0 && size >= BLOCK ? BLOCK : SECTOR, unit;

        board_counts.erases_block += part == BLOCK;
        board_counts.erases_sector += part == SECTOR;
        board_counts.erased_sectors += (uint32_t)(part / SECTOR);
        for (unit = offset / SECTOR; unit < (offset + part) / SECTOR && unit < BOARD_WEAR_UNITS; unit++)
            board_wear[unit]++;
        offset += part;
        size -= part;
    }
}

esp_err_t __wrap_esp_partition_erase_range(const esp_partition_t *partition, size_t offset, size_t size)
{
    int64_t start = esp_timer_get_time();
    esp_err_t err = __real_esp_partition_erase_range(partition, offset, size);

    count(ERASE, size, start);
    count_erases(partition, offset, size);
    return err;
}
