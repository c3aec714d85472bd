/* JesFs drives a chip of its own over SPI; here a small SPI NOR chip in software (bench/adapters/adapter_jesfs.c) stands in
 * front of the partition. Its fixed waits for the chip are not made: the partition driver waits itself. */
#include <stdlib.h>

#include "bench/adapters/peers.h"
#include "board.h"
#include "fastffs_partition.h"

static struct fastffs_partition driver;

static void *create(const esp_partition_t *partition, const struct board_options *options)
{
    (void)options;
    return fastffs_partition_init(&driver, partition) == ESP_OK ? adapter_jesfs_peer.create(&driver.flash) : NULL;
}

void app_main(void)
{
    const struct board_subject subject = { "jesfs", "nowait", &adapter_jesfs_fs, create, free };

    board_run(&subject);
}
