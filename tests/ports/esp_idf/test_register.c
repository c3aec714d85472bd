/* Registering, formatting, the partition driver, the background task. */
#include "idf_rig.h"

#include <pthread.h>
#include <time.h>
#include "emulator/nor_fault.h"
#include "fastffs_partition.h"
#include "sdkconfig.h"

TEST(register_and_siblings)
{
    struct idf_rig rig = idf_device("data", IDF_MIB, 0, 0);
    esp_vfs_fastffs_conf_t conf = idf_conf();
    size_t total = 0, used = 1, more;
    bool formatted = false;
    int status = 0, fd;

    CHECK(!esp_fastffs_mounted("data"));
    CHECK_EQ(esp_fastffs_info("data", &total, &used), ESP_ERR_INVALID_STATE);
    CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_ERR_INVALID_STATE);
    conf.formatted = &formatted;
    conf.mount_status = &status;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    CHECK(formatted);
    CHECK_STATUS(status, FFFS_ERR_BLANK);
    CHECK(esp_fastffs_mounted("data"));
    CHECK(esp_fastffs_partition_mounted(rig.partition));
    CHECK_EQ(esp_fastffs_info("data", &total, &used), ESP_OK);
    CHECK(total > 900000 && total < IDF_MIB);
    CHECK_EQ(used, 0);
    idf_put("/d/f", "abc", 3);
    CHECK_EQ(esp_fastffs_partition_info(rig.partition, NULL, &more), ESP_OK);
    CHECK(more > 3);
    CHECK_EQ(esp_fastffs_gc("data"), ESP_OK);
    CHECK_EQ(esp_fastffs_settle("data"), ESP_OK);
    CHECK(esp_fastffs_volume("data") != NULL);
    CHECK_EQ(fffs_exists(esp_fastffs_volume("data"), "f"), 1);
    fd = stub_open("/d/f", O_RDONLY);
    CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_ERR_INVALID_STATE); /* a file is open */
    CHECK_EQ(esp_fastffs_format("data"), ESP_ERR_INVALID_STATE);
    CHECK_EQ(stub_close(fd), 0);
    CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
    CHECK(!esp_fastffs_mounted("data"));
    CHECK_ERRNO(stub_open("/d/f", O_RDONLY), ENOENT);
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    CHECK(!formatted);
    CHECK_OK(status);
    idf_expect("/d/f", "abc", 3);
}

TEST(arguments)
{
    struct idf_rig rig = idf_device("data", IDF_MIB, 0, 0);
    esp_vfs_fastffs_conf_t conf = idf_conf();

    CHECK_EQ(esp_vfs_fastffs_register(NULL), ESP_ERR_INVALID_ARG);
    conf.base_path = "d";
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_ERR_INVALID_ARG);
    conf.base_path = "/d/";
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_ERR_INVALID_ARG);
    conf.base_path = "/0123456789abcdef";
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_ERR_INVALID_ARG);
    conf.base_path = NULL;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_ERR_INVALID_ARG);
    conf = idf_conf();
    conf.partition_label = "none";
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_ERR_NOT_FOUND);
    CHECK_EQ(esp_fastffs_format("none"), ESP_ERR_NOT_FOUND);
    conf.partition_label = NULL;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_ERR_INVALID_ARG);
    conf.partition = rig.partition;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    CHECK_EQ(esp_vfs_fastffs_unregister_partition(rig.partition), ESP_OK);
}

TEST(c33_register_when_registered)
{
    esp_vfs_fastffs_conf_t conf = idf_conf();
    char text[4];
    int fd;

    (void)idf_mounted();
    idf_put("/d/f", "abc", 3);
    fd = stub_open("/d/f", O_RDONLY);
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_ERR_INVALID_STATE);
    conf.base_path = "/other";
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_ERR_INVALID_STATE);
    CHECK_EQ(stub_read(fd, text, 4), 3);
    CHECK_MEM(text, "abc", 3);
    CHECK_EQ(stub_close(fd), 0);
    idf_put("/d/g", "x", 1);
}

TEST(as_many_partitions_as_configured)
{
    static const char *const paths[4] = { "/d0", "/d1", "/d2", "/d3" };
    esp_vfs_fastffs_conf_t conf = idf_conf();
    char path[24], label[24];
    int i;

    for (i = 0; i < 4; i++) {
        snprintf(label, sizeof label, "p%d", i);
        (void)idf_device(label, IDF_MIB / 4, 0, 0);
        conf.partition_label = label;
        conf.base_path = paths[i];
        CHECK_EQ(esp_vfs_fastffs_register(&conf), i < 3 ? ESP_OK : ESP_ERR_NO_MEM);
    }
    for (i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "/d%d/f", i);
        idf_put(path, &i, sizeof i);
    }
    CHECK_EQ(esp_vfs_fastffs_unregister("p1"), ESP_OK);
    i = 2;
    idf_expect("/d2/f", &i, sizeof i);
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK); /* the free place */
}

#if CONFIG_FASTFFS_MALLOC_SPIRAM
/* Every allocation fails once: told, nothing left behind, and the next try works. */
TEST(no_memory_at_any_allocation)
{
    struct idf_rig rig = idf_device("data", IDF_MIB, 0, 0);
    esp_vfs_fastffs_conf_t conf = idf_conf();
    esp_err_t err = ESP_ERR_NO_MEM;
    long n;

    for (n = 0; err == ESP_ERR_NO_MEM; n++) {
        nor_fill_erased(rig.nor);
        stub_heap_fail_after = n;
        err = esp_vfs_fastffs_register(&conf);
        CHECK(err == ESP_OK || err == ESP_ERR_NO_MEM);
        CHECK_EQ(esp_fastffs_mounted("data"), err == ESP_OK);
    }
    CHECK(n > 8);
    stub_heap_fail_after = -1;
    idf_put("/d/f", "x", 1);
    for (n = 0, err = ESP_FAIL; err != ESP_OK; n++) {
        stub_heap_fail_after = n;
        err = esp_fastffs_format("data"); /* of a mounted volume: the tables are made again */
        stub_heap_fail_after = -1;
        if (err != ESP_OK) {
            CHECK_ERRNO(stub_open("/d/f", O_RDONLY), ENODEV);
            CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_FAIL);
            CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
        }
    }
    CHECK(n > 2);
}
#endif

/* ---- C-54: a mount that fails must not cost the data ---- */

static int try_mount(struct idf_rig *rig, int foreign, bool *formatted)
{
    esp_vfs_fastffs_conf_t conf = idf_conf();
    int status = 0;
    esp_err_t err;

    (void)rig;
    conf.format_if_foreign = foreign != 0;
    conf.formatted = formatted;
    conf.mount_status = &status;
    err = esp_vfs_fastffs_register(&conf);
    CHECK_EQ(err == ESP_OK, status == FFFS_OK || *formatted);
    return status;
}

TEST(c54_device_errors_never_format)
{
    struct idf_rig rig = idf_mounted();
    bool formatted;
    long n;

    idf_put("/d/f", "abc", 3);
    CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
    for (n = 0; n < 12; n++) {
        uint64_t before = nor_counts(rig.nor)->calls[NOR_ERASE];

        stub_fail_after(n);
        if (try_mount(&rig, 1, &formatted) == FFFS_OK) {
            stub_fail_after(-1);
            CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
            break;
        }
        stub_fail_after(-1);
        CHECK(!formatted);
        CHECK_EQ(nor_counts(rig.nor)->calls[NOR_ERASE], before);
    }
    CHECK(n > 1);
    CHECK_OK(try_mount(&rig, 0, &formatted));
    idf_expect("/d/f", "abc", 3);
}

TEST(c54_blank_is_formatted_and_told)
{
    struct idf_rig rig = idf_device("data", IDF_MIB, 0, 0);
    esp_vfs_fastffs_conf_t conf = idf_conf();
    bool formatted = true;
    int status = 0;

    conf.format_if_mount_failed = 0;
    conf.formatted = &formatted;
    conf.mount_status = &status;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_FAIL);
    CHECK(!formatted);
    CHECK_STATUS(status, FFFS_ERR_BLANK);
    CHECK_EQ(nor_mutations(rig.nor), 0);
    CHECK_STATUS(try_mount(&rig, 0, &formatted), FFFS_ERR_BLANK);
    CHECK(formatted);
}

TEST(c54_foreign_only_by_policy)
{
    struct idf_rig rig = idf_device("data", IDF_MIB, 0, 0);
    bool formatted;

    nor_fill(rig.nor, 0x5A);
    CHECK_STATUS(try_mount(&rig, 0, &formatted), FFFS_ERR_FOREIGN);
    CHECK(!formatted);
    CHECK_EQ(nor_mutations(rig.nor), 0);
    CHECK_STATUS(try_mount(&rig, 1, &formatted), FFFS_ERR_FOREIGN);
    CHECK(formatted);
    idf_put("/d/f", "abc", 3);
}

/* One damaged index unit after the other, in several ways: either the files are all there, or nothing was touched. */
TEST(c54_damaged_index_never_formats)
{
    struct idf_rig rig = idf_mounted();
    struct fffs_geometry geometry;
    uint8_t *saved = malloc(IDF_MIB);
    uint32_t at;

    idf_put("/d/f", "abc", 3);
    CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
    CHECK_OK(fffs_discover(nor_flash(rig.nor), &geometry));
    CHECK(saved != NULL);
    nor_peek(rig.nor, 0, saved, IDF_MIB);
    for (at = 0; at < geometry.index_bytes; at += geometry.sector_bytes) {
        static const uint8_t zeros[64];
        bool formatted;
        int status;

        nor_poke(rig.nor, at, zeros, sizeof zeros);
        status = try_mount(&rig, 0, &formatted);
        CHECK(!formatted);
        if (status == FFFS_OK) {
            struct stat st;
            CHECK(stub_stat("/d/f", &st) == 0 || errno == EIO);
            CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
        }
        nor_fill_erased(rig.nor);
        nor_poke(rig.nor, 0, saved, IDF_MIB);
    }
    free(saved);
}

/* The idiom of every first boot, with power going at every operation and in every way: the next boot mounts or formats. */
static void first_boots(int encrypted, enum nor_fault_kind kind)
{
    struct idf_rig rig = idf_device("data", IDF_MIB / 4, 0, encrypted);
    uint64_t n;
    int cut = 1;

    for (n = 0; cut; n++) {
        esp_vfs_fastffs_conf_t conf = idf_conf();
        bool formatted;

        nor_fill_erased(rig.nor);
        nor_fault_at(rig.nor, n, 1u << NOR_PROGRAM | 1u << NOR_ERASE, kind, n + 1);
        if (esp_vfs_fastffs_register(&conf) == ESP_OK)
            (void)esp_vfs_fastffs_unregister("data");
        cut = nor_is_off(rig.nor);
        nor_power_on(rig.nor);
        nor_fault_clear(rig.nor);
        harness_note("operation %u, fault %d, encrypted %d, %s", (unsigned)n, (int)kind, encrypted,
                     fffs_status_name(try_mount(&rig, 0, &formatted)));
        CHECK(esp_fastffs_mounted("data"));
        CHECK(cut || !formatted);
        idf_put("/d/f", "abc", 3);
        CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
    }
    CHECK(n > 2);
    stub_partitions_remove();
    nor_destroy(rig.nor);
}

TEST(c54_first_boot_cut_everywhere)
{
    enum nor_fault_kind kind;

    for (kind = NOR_FAULT_BEFORE; kind <= NOR_FAULT_WEAK_BLANK; kind++) {
        int encrypted;
        for (encrypted = 0; encrypted < 2; encrypted++)
            first_boots(encrypted, kind);
    }
}

/* Not formatted: what could be a small volume of something else. */
TEST(c54_a_few_foreign_bytes_are_foreign)
{
    struct idf_rig rig = idf_device("data", IDF_MIB, 0, 0);
    bool formatted;
    uint64_t before;

    nor_poke(rig.nor, 8, "littlefs", 8);
    nor_poke(rig.nor, 4096 + 8, "littlefs", 8);
    before = nor_mutations(rig.nor);
    CHECK_STATUS(try_mount(&rig, 0, &formatted), FFFS_ERR_FOREIGN);
    CHECK(!formatted);
    CHECK_EQ(nor_mutations(rig.nor), before);
}

/* ---- Format ---- */

TEST(format_mounted_and_not)
{
    struct idf_rig rig = idf_mounted();
    struct stat st;

    idf_put("/d/f", "abc", 3);
    CHECK_EQ(stub_mkdir("/d/m", 0), 0);
    CHECK_EQ(esp_fastffs_format("data"), ESP_OK);
    CHECK(esp_fastffs_mounted("data"));
    CHECK_ERRNO(stub_stat("/d/f", &st), ENOENT);
    CHECK_ERRNO(stub_stat("/d/m", &st), ENOENT);
    idf_put("/d/g", "abc", 3);
    CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
    CHECK_EQ(esp_fastffs_format_partition(rig.partition), ESP_OK);
    CHECK(!esp_fastffs_mounted("data"));
    CHECK_EQ(esp_vfs_fastffs_register(&(esp_vfs_fastffs_conf_t){ .base_path = "/d", .partition = rig.partition }), ESP_OK);
    CHECK_ERRNO(stub_stat("/d/g", &st), ENOENT);
}

TEST(grow_on_mount)
{
    struct idf_rig rig = idf_device("data", IDF_MIB, 0, 0);
    esp_vfs_fastffs_conf_t conf = idf_conf();
    struct fffs_flash half = *nor_flash(rig.nor);
    struct fffs fs;
    struct fffs_config config;
    uint32_t scratch[64];
    uint16_t segments[300];
    size_t total = 0;

    half.size_bytes /= 2;
    memset(&fs, 0, sizeof fs);
    memset(&config, 0, sizeof config);
    config.flash = &half;
    config.scratch = scratch;
    config.scratch_bytes = sizeof scratch;
    config.segment_table = segments;
    config.segment_table_entries = 300;
    CHECK_OK(fffs_format(&fs, &config, NULL));
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    CHECK_EQ(esp_fastffs_info("data", &total, NULL), ESP_OK);
    CHECK(total < IDF_MIB / 2);
    CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
    conf.grow_on_mount = 1;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    CHECK_EQ(esp_fastffs_info("data", &total, NULL), ESP_OK);
    CHECK(total > IDF_MIB * 3 / 4);
}

/* ---- C-74: the watchdog ---- */

static struct { unsigned calls, told; } progress;

static void count_progress(void *context, uint32_t done, uint32_t total)
{
    CHECK(context == &progress);
    CHECK(total == 0 || done <= total);
    progress.calls++;
    progress.told += total != 0;
}

TEST(c74_progress_at_every_erase)
{
    struct idf_rig rig = idf_device("data", IDF_MIB, 0, 0);
    esp_vfs_fastffs_conf_t conf = idf_conf();
    uint8_t *data = idf_data(6, 60000);
    char path[24];
    uint64_t erases;
    int i;

    nor_fill(rig.nor, 0);
    conf.format_if_foreign = 1;
    conf.progress = count_progress;
    conf.progress_context = &progress;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    erases = nor_counts(rig.nor)->calls[NOR_ERASE];
    CHECK(erases > 0);
    CHECK_LE(erases, progress.calls);
    CHECK(progress.told > 0); /* format knows how far it is */
    memset(&progress, 0, sizeof progress);
    for (i = 0; i < 60; i++) { /* more than the partition holds: collection */
        snprintf(path, sizeof path, "/d/f%d", i % 7);
        idf_put(path, data, 60000);
    }
    CHECK_EQ(esp_fastffs_gc("data"), ESP_OK);
    erases = nor_counts(rig.nor)->calls[NOR_ERASE] - erases;
    CHECK(erases > 0);
    CHECK_LE(erases, progress.calls);
#if CONFIG_FASTFFS_WDT_RESET
    CHECK(stub_wdt_resets >= erases);
#else
    CHECK_EQ(stub_wdt_resets, 0);
#endif
    free(data);
}

TEST(c74_progress_in_recovery)
{
    struct idf_rig rig = idf_mounted(), copy;
    esp_vfs_fastffs_conf_t conf = idf_conf();
    uint8_t *image = malloc(IDF_MIB);

    idf_put("/d/f", "abc", 3);
    idf_put("/d/g", "abc", 3); /* no unmount: what is on flash now is a power cut */
    CHECK(image != NULL);
    nor_peek(rig.nor, 0, image, IDF_MIB);
    copy = idf_device("copy", IDF_MIB, 0x110000, 0);
    nor_poke(copy.nor, 0, image, IDF_MIB);
    conf.partition_label = "copy";
    conf.base_path = "/c";
    conf.progress = count_progress;
    conf.progress_context = &progress;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    CHECK_LE(nor_counts(copy.nor)->calls[NOR_ERASE], progress.calls);
    CHECK(progress.calls > 0);
    idf_expect("/c/g", "abc", 3);
    free(image);
}

/* ---- The partition driver ---- */

TEST(driver_declares_the_partition)
{
    struct idf_rig rig = idf_device("data", IDF_MIB, 0x9000, 0);
    struct fastffs_partition driver;
    esp_partition_t odd = *rig.partition;

    CHECK_EQ(fastffs_partition_init(&driver, rig.partition), ESP_OK);
    CHECK_EQ(driver.flash.size_bytes, IDF_MIB);
    CHECK_EQ(driver.flash.granule_bytes, 1);
    CHECK_EQ(driver.flash.erase_bytes[0], 4096);
    CHECK_EQ(driver.flash.erase_bytes[1], 65536);
    CHECK_EQ(driver.flash.block_offset_bytes, 0x9000);
    CHECK(driver.flash.is_blank == NULL);
    odd.erase_size = 3000;
    CHECK_EQ(fastffs_partition_init(&driver, &odd), ESP_ERR_NOT_SUPPORTED);
    odd.erase_size = 4096;
    odd.size = 5000;
    CHECK_EQ(fastffs_partition_init(&driver, &odd), ESP_ERR_NOT_SUPPORTED);
}

/* Segments lie on the blocks of the chip, wherever the partition begins: they go with one block erase. */
TEST(erases_go_in_blocks)
{
    static const uint32_t addresses[3] = { 0, 0x9000, 0x118000 };
    uint8_t *data = idf_data(7, 60000);
    int a, i;

    for (a = 0; a < 3; a++) {
        struct idf_rig rig;
        esp_vfs_fastffs_conf_t conf = idf_conf();
        const struct nor_counts *counts;
        char label[17], path[24];

        snprintf(label, sizeof label, "p%d", a);
        rig = idf_device(label, 4 * IDF_MIB, addresses[a], 0);
        conf.partition_label = label;
        CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
        nor_reset_counts(rig.nor);
        for (i = 0; i < 120; i++) {
            snprintf(path, sizeof path, "/d/f%d", i % 30);
            idf_put(path, data, 60000);
        }
        counts = nor_counts(rig.nor);
        CHECK(counts->erase_calls_by_size[2] >= 30);
        CHECK_LE(counts->erase_calls_by_size[0], counts->erase_calls_by_size[2] * 6);
        CHECK_EQ(esp_vfs_fastffs_unregister(label), ESP_OK);
    }
    free(data);
}

TEST(encrypted_partition)
{
    struct idf_rig rig = idf_device("data", IDF_MIB, 0x110000, 1);
    esp_vfs_fastffs_conf_t conf = idf_conf();
    struct fastffs_partition driver;
    uint8_t *data = idf_data(8, 50000), clear[16];
    char path[24];
    int i;

    CHECK_EQ(fastffs_partition_init(&driver, rig.partition), ESP_OK);
    CHECK_EQ(driver.flash.granule_bytes, 16);
    CHECK_EQ(driver.flash.read(&driver, 4096, clear, 16), 0);
    CHECK(clear[0] != 0xFF || clear[1] != 0xFF); /* erased, and does not read so */
    CHECK_EQ(driver.flash.is_blank(&driver, 4096, 1000), 1);
    CHECK(driver.flash.program(&driver, 4096, clear, 8) != 0);
    CHECK_EQ(driver.flash.program(&driver, 4096 + 976, clear, 16), 0);
    CHECK_EQ(driver.flash.is_blank(&driver, 4096, 1000), 0);
    CHECK_EQ(driver.flash.is_blank(&driver, 4096, 976), 1);
    CHECK_EQ(driver.flash.erase(&driver, 4096, 4096), 0);
    conf.mount_status = &i;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    CHECK_STATUS(i, FFFS_ERR_BLANK);
    conf.mount_status = NULL;
    for (i = 0; i < 60; i++) {
        snprintf(path, sizeof path, "/d/f%d", i % 9);
        idf_put(path, data + i, 49000);
        idf_expect(path, data + i, 49000);
    }
    i = stub_open("/d/f0", O_WRONLY | O_APPEND);
    CHECK_EQ(stub_write(i, "tail", 4), 4);
    CHECK_EQ(stub_close(i), 0);
    CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
    conf.format_if_mount_failed = 0;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    idf_expect("/d/f5", data + 59, 49000);
    free(data);
}

/* ---- In place ---- */

TEST(files_in_place)
{
    uint8_t *data = idf_data(9, 30000);
    esp_fastffs_map_t request;
    uint32_t at = 0;
    int fd;

    (void)idf_mounted();
    idf_put("/d/f", data, 30000);
    fd = stub_open("/d/f", O_RDONLY);
    memset(&request, 0, sizeof request);
#if CONFIG_FASTFFS_MMAP
    for (;;) {
        request.offset = at;
        CHECK_EQ(stub_ioctl(fd, ESP_FASTFFS_IOCTL_MAP, &request), 0);
        if (request.bytes == 0)
            break;
        CHECK_MEM(request.data, data + at, request.bytes);
        at += request.bytes;
    }
    CHECK_EQ(at, 30000);
#else
    CHECK_ERRNO(stub_ioctl(fd, ESP_FASTFFS_IOCTL_MAP, &request), ENOTSUP);
    CHECK_EQ(request.bytes, at);
#endif
    CHECK_EQ(stub_close(fd), 0);
    fd = stub_open("/d/f", O_WRONLY | O_TRUNC);
    CHECK_ERRNO(stub_ioctl(fd, ESP_FASTFFS_IOCTL_MAP, &request), EBADF);
    CHECK_EQ(stub_close(fd), 0);
    free(data);
}

/* ---- Tasks ---- */

static void *writer_thread(void *context)
{
    char path[24];
    uint8_t *data = idf_data(10, 9000);
    int i;

    for (i = 0; i < 150; i++) {
        snprintf(path, sizeof path, "/d/%c%d", *(const char *)context, i % 5);
        idf_put(path, data + i, 8000);
        idf_expect(path, data + i, 8000);
    }
    free(data);
    return NULL;
}

TEST(two_tasks_and_the_background)
{
    struct idf_rig rig = idf_mounted();
    pthread_t threads[2];
    size_t findings = 1;

    CHECK_EQ(pthread_create(&threads[0], NULL, writer_thread, "a"), 0);
    CHECK_EQ(pthread_create(&threads[1], NULL, writer_thread, "b"), 0);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    CHECK_EQ(esp_fastffs_check("data", &findings), ESP_OK);
    CHECK_EQ(findings, 0);
#if CONFIG_FASTFFS_BACKGROUND_TASK
    int i;
    for (i = 0; i < 500; i++) { /* the task ends with nothing left to collect */
        struct fffs_gc_report report;
        struct timespec time = { 0, 10000000 };

        nanosleep(&time, NULL);
        memset(&report, 0, sizeof report);
        if (fffs_gc_step(esp_fastffs_volume("data"), NULL, &report) == FFFS_GC_IDLE)
            break;
    }
    CHECK(i < 500);
    CHECK_EQ(stub_tasks_created, 1);
#else
    CHECK_EQ(stub_tasks_created, 0);
#endif
    CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
    CHECK(nor_counts(rig.nor)->calls[NOR_ERASE] > 0);
#if CONFIG_FASTFFS_MALLOC_SPIRAM
    CHECK(stub_heap_calls > 0);
    CHECK(stub_heap_caps != 0);
#endif
}

#if CONFIG_FASTFFS_BACKGROUND_TASK
/* The task does by itself what a writer would have to do. */
TEST(background_collects_by_itself)
{
    struct idf_rig rig = idf_mounted();
    uint8_t *data = idf_data(11, 60000);
    struct fffs_space space;
    uint64_t before;
    char path[24];
    int i;

    for (i = 0; i < 24; i++) {
        snprintf(path, sizeof path, "/d/f%d", i % 4);
        idf_put(path, data, 60000);
    }
    for (i = 0; i < 500; i++) {
        struct timespec time = { 0, 10000000 };

        nanosleep(&time, NULL);
        CHECK_OK(fffs_space(esp_fastffs_volume("data"), &space));
        if (space.segments_dead == 0)
            break;
    }
    CHECK_EQ(space.segments_dead, 0);
    before = nor_counts(rig.nor)->calls[NOR_ERASE];
    CHECK(before > 0);
    CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
    for (i = 0; i < 100 && __atomic_load_n(&stub_tasks_ended, __ATOMIC_SEQ_CST) == 0; i++) {
        struct timespec time = { 0, 10000000 };
        nanosleep(&time, NULL);
    }
    CHECK_EQ(stub_tasks_ended, 1);
    free(data);
}
#endif

SUITE(idf_register)
{
    RUN(register_and_siblings);
    RUN(arguments);
    RUN(c33_register_when_registered);
    RUN(as_many_partitions_as_configured);
#if CONFIG_FASTFFS_MALLOC_SPIRAM
    RUN(no_memory_at_any_allocation);
#endif
    RUN(c54_device_errors_never_format);
    RUN(c54_blank_is_formatted_and_told);
    RUN(c54_foreign_only_by_policy);
    RUN(c54_damaged_index_never_formats);
    RUN(c54_first_boot_cut_everywhere);
    RUN(c54_a_few_foreign_bytes_are_foreign);
    RUN(format_mounted_and_not);
    RUN(grow_on_mount);
    RUN(c74_progress_at_every_erase);
    RUN(c74_progress_in_recovery);
    RUN(driver_declares_the_partition);
    RUN(erases_go_in_blocks);
    RUN(encrypted_partition);
    RUN(files_in_place);
    RUN(two_tasks_and_the_background);
#if CONFIG_FASTFFS_BACKGROUND_TASK
    RUN(background_collects_by_itself);
#endif
}
