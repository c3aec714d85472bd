/* A project of this folder on a host: the same app_main() on the stubs, on the emulated flash with the time model
 * esp32s3-fit. It shows that the programs work and gives logs for the converter's tests; it is no measurement of a board. */
#include <stdio.h>
#include <string.h>

#include "ports/esp-idf/stubs/stub_idf.h"

void app_main(void);

int main(void)
{
    struct nor_config config;
    struct nor *nor;

    memset(&config, 0, sizeof config);
    config.size_bytes = 4 * 1024 * 1024;
    config.model = NOR_TIME_ESP32S3_FIT;
    nor = nor_create(&config);
    (void)stub_partition_add("bench", 0x200000, nor, 0);
    stub_clock(nor);
    app_main();
    nor_destroy(nor);
    return 0;
}
