/* An image file in memory. Owns: reading the file, finding the geometry on it, the emulated flash and the buffers of the
 * mount, and the replacement of the file. Promises: the file changes in one rename or not at all. */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRATCH_BYTES = 4096, WRITE_BUFFER_BYTES = 4096, CHUNK_BYTES = 65536, DEFAULT_SECTOR_BYTES = 4096,
       SPARSE_ABOVE_BYTES = 16 * 1024 * 1024 };

/* ---- Bytes in memory as a flash that can only be read: for discovery, before the granule is known ---- */

struct memory_flash {
    const uint8_t *bytes;
    uint32_t count;             /* behind them everything reads erased */
};

static int memory_read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
    const struct memory_flash *memory = context;
    uint32_t present = address >= memory->count ? 0 : memory->count - address;

    if (present > bytes)
        present = bytes;
    if (present > 0)
        memcpy(buffer, memory->bytes + address, present);
    memset((uint8_t *)buffer + present, 0xFF, bytes - present);
    return 0;
}

static int memory_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
    (void)context, (void)address, (void)data, (void)bytes;
    return -1;
}

static int memory_erase(void *context, uint32_t address, uint32_t bytes)
{
    (void)context, (void)address, (void)bytes;
    return -1;
}

static struct fffs_flash memory_driver(struct memory_flash *memory, uint32_t size_bytes)
{
    struct fffs_flash flash;

    memset(&flash, 0, sizeof flash);
    flash.read = memory_read;
    flash.program = memory_program;
    flash.erase = memory_erase;
    flash.context = memory;
    flash.size_bytes = size_bytes;
    flash.granule_bytes = 1;
    flash.erase_bytes[0] = 256;
    return flash;
}

/* ---- Geometry ---- */

static int is_power_of_two(uint32_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* Erase sizes of the part that the image is made for: 4 KiB sectors with 32 and 64 KiB blocks, as on common NOR parts;
 * smaller sectors only where the image asks for them. */
static void erase_sizes(uint32_t sector_bytes, uint32_t size_bytes, uint32_t *sizes)
{
    static const uint32_t common[FFFS_FLASH_ERASE_SIZES] = { 4096, 32768, 65536 };
    int i, count = 0;

    memset(sizes, 0, FFFS_FLASH_ERASE_SIZES * sizeof *sizes);
    if (sector_bytes < common[0])
        sizes[count++] = sector_bytes;
    for (i = 0; i < FFFS_FLASH_ERASE_SIZES && count < FFFS_FLASH_ERASE_SIZES; i++)
        if (common[i] <= size_bytes)
            sizes[count++] = common[i];
}

uint32_t image_sector_bytes(const struct image_plan *plan)
{
    return plan->geometry.sector_bytes != 0 ? plan->geometry.sector_bytes : DEFAULT_SECTOR_BYTES;
}

static int plan_is_sane(const struct image_plan *plan)
{
    uint32_t sector = image_sector_bytes(plan);
    uint32_t granule = plan->granule_bytes;

    return is_power_of_two(sector) && sector >= 256 && sector <= 65536 && plan->size_bytes >= sector &&
           plan->size_bytes % sector == 0 && plan->block_offset_bytes % sector == 0 && (granule == 0 || (is_power_of_two(granule) && granule <= 256));
}

static void plan_options(const struct image_plan *plan, struct fffs_format_options *options)
{
    memset(options, 0, sizeof *options);
    options->geometry.sector_bytes = image_sector_bytes(plan);
    options->geometry.segment_bytes = plan->geometry.segment_bytes;
    options->geometry.max_files = plan->geometry.max_files;
    options->geometry.probe_limit = plan->geometry.probe_limit;
    options->device_is_erased = 1;
}

int image_plan_geometry(const struct image_plan *plan, struct fffs_geometry *geometry)
{
    struct memory_flash memory = { NULL, 0 };
    struct fffs_flash flash = memory_driver(&memory, plan->size_bytes);
    struct fffs_format_options options;

    if (!plan_is_sane(plan))
        return FFFS_ERR_UNSUPPORTED;
    erase_sizes(image_sector_bytes(plan), plan->size_bytes, flash.erase_bytes);
    flash.granule_bytes = plan->granule_bytes == 0 ? 1 : plan->granule_bytes;
    flash.block_offset_bytes = plan->block_offset_bytes;
    plan_options(plan, &options);
    return fffs_format_plan(&flash, &options, geometry);
}

/* ---- Making and opening ---- */

static struct nor *make_nor(const struct fffs_geometry *geometry, uint32_t block_offset_bytes, int model)
{
    struct nor_config config;

    memset(&config, 0, sizeof config);
    config.size_bytes = geometry->sector_bytes * geometry->sector_count;
    config.granule_bytes = geometry->granule_bytes;
    config.block_offset_bytes = block_offset_bytes;
    erase_sizes(geometry->sector_bytes, config.size_bytes, config.erase_bytes);
    config.sparse = config.size_bytes > SPARSE_ABOVE_BYTES;
    config.on_violation = NOR_COUNT;
    config.model = model;
    return nor_create(&config);
}

/* An image without contents whose buffers fit `geometry`. */
static struct image *new_image(const char *path, const struct fffs_geometry *geometry, uint32_t block_offset_bytes, int model)
{
    struct image *image = tool_alloc(sizeof *image);
    struct fffs_config *config = &image->config;

    memset(image, 0, sizeof *image);
    image->path = path;
    image->geometry = *geometry;
    image->nor = make_nor(geometry, block_offset_bytes, model);
    config->flash = nor_flash(image->nor);
    config->scratch = tool_alloc(SCRATCH_BYTES);
    config->scratch_bytes = SCRATCH_BYTES;
    config->segment_table_entries = FFFS_SEGMENTS_MAX(config->flash->size_bytes, geometry->segment_bytes);
    if (config->segment_table_entries < geometry->segment_count)
        config->segment_table_entries = geometry->segment_count;
    config->segment_table = tool_alloc(config->segment_table_entries * sizeof *config->segment_table);
    config->wear = tool_alloc(FFFS_WEAR_CELLS * sizeof *config->wear);
    config->cache = tool_alloc(FFFS_CACHE_FULL_BYTES);
    config->cache_bytes = FFFS_CACHE_FULL_BYTES;
    config->write_buffer = tool_alloc(WRITE_BUFFER_BYTES);
    config->write_buffer_bytes = WRITE_BUFFER_BYTES;
    return image;
}

void image_close(struct image *image)
{
    if (image == NULL)
        return;
    nor_destroy(image->nor);
    free(image->config.scratch);
    free(image->config.segment_table);
    free(image->config.wear);
    free(image->config.cache);
    free(image->config.write_buffer);
    free(image->tail);
    free(image);
}

int image_make(struct image **image, const char *path, const struct image_plan *plan)
{
    struct fffs_format_options options;
    struct fffs_geometry geometry;
    int status = image_plan_geometry(plan, &geometry);

    *image = NULL;
    if (status != FFFS_OK)
        return status;
    *image = new_image(path, &geometry, plan->block_offset_bytes, NOR_TIME_ESP32S3_FIT);
    plan_options(plan, &options);
    status = fffs_format(&(*image)->fs, &(*image)->config, &options);
    if (status != FFFS_OK) {
        image_close(*image);
        *image = NULL;
    }
    return status;
}

uint8_t *image_read_bytes(const char *path, uint32_t *count)
{
    struct stat facts;
    uint8_t *bytes = NULL;
    size_t done = 0;
    ssize_t got;
    int fd = open(path, O_RDONLY);

    if (fd < 0 || fstat(fd, &facts) != 0) {
        tool_error(path, "%s", strerror(errno));
    } else if (!S_ISREG(facts.st_mode)) {
        tool_error(path, "not a regular file");
    } else if (facts.st_size > (off_t)UINT32_MAX) {
        tool_error(path, "larger than an image can be (4 GiB)");
    } else {
        bytes = tool_alloc((size_t)facts.st_size);
        while (done < (size_t)facts.st_size && (got = read(fd, bytes + done, (size_t)facts.st_size - done)) > 0)
            done += (size_t)got;
        if (done < (size_t)facts.st_size) {
            tool_error(path, "can not be read: %s", strerror(errno));
            free(bytes);
            bytes = NULL;
        }
    }
    if (fd >= 0)
        close(fd);
    *count = (uint32_t)done;
    return bytes;
}

/* The volume is larger than the file: says by how much. */
static void report_cut_short(const char *path, struct memory_flash *memory)
{
    struct fffs_flash flash = memory_driver(memory, UINT32_MAX - 65535u);
    struct fffs_geometry geometry;

    if (fffs_discover(&flash, &geometry) == FFFS_OK)
        tool_error(path, "cut short: the file has %" PRIu32 " bytes, its volume has %" PRIu64, memory->count,
                   (uint64_t)geometry.sector_bytes * geometry.sector_count);
    else
        tool_error(path, "%s", tool_status_text(FFFS_ERR_WRONG_SIZE));
}

/* What was discovered, never believed: a file can claim anything. */
static int geometry_is_sane(const struct fffs_geometry *geometry, uint32_t file_bytes)
{
    uint64_t bytes = (uint64_t)geometry->sector_bytes * geometry->sector_count;

    return is_power_of_two(geometry->sector_bytes) && geometry->sector_bytes >= 256 && geometry->sector_bytes <= 65536 &&
           is_power_of_two(geometry->granule_bytes) && geometry->granule_bytes <= 256 &&
           geometry->segment_bytes >= geometry->sector_bytes && bytes > 0 && bytes <= file_bytes;
}

static int discover(const char *path, struct memory_flash *memory, struct fffs_geometry *geometry)
{
    struct fffs_flash flash = memory_driver(memory, memory->count & ~255u);
    int status = memory->count < 256 ? FFFS_ERR_FOREIGN : fffs_discover(&flash, geometry);

    if (status == FFFS_OK && !geometry_is_sane(geometry, memory->count))
        status = FFFS_ERR_CORRUPT;
    if (status == FFFS_ERR_WRONG_SIZE)
        report_cut_short(path, memory);
    else if (status != FFFS_OK)
        tool_error(path, "%s", tool_status_text(status));
    return status;
}

/* Puts the file's bytes on the flash; what is blank in the file is already. */
static void poke_bytes(struct nor *nor, const uint8_t *bytes, uint32_t size)
{
    uint32_t at, count;

    for (at = 0; at < size; at += count) {
        count = size - at < CHUNK_BYTES ? size - at : CHUNK_BYTES;
        if (bytes[at] != 0xFF || memcmp(bytes + at, bytes + at + 1, count - 1) != 0)
            nor_poke(nor, at, bytes + at, count);
    }
}

int image_open(struct image **image, const char *path, int model)
{
    struct memory_flash memory;
    struct fffs_geometry geometry;
    uint8_t *bytes = image_read_bytes(path, &memory.count);
    uint32_t volume_bytes;
    int status;

    *image = NULL;
    if (bytes == NULL)
        return IMAGE_HOST_ERROR;
    memory.bytes = bytes;
    status = discover(path, &memory, &geometry);
    if (status == FFFS_OK) {
        volume_bytes = geometry.sector_bytes * geometry.sector_count;
        *image = new_image(path, &geometry, 0, model);
        poke_bytes((*image)->nor, bytes, volume_bytes);
        (*image)->tail_bytes = memory.count - volume_bytes;
        (*image)->tail = tool_alloc((*image)->tail_bytes);
        memcpy((*image)->tail, bytes + volume_bytes, (*image)->tail_bytes);
    }
    free(bytes);
    return status;
}

int image_mount(struct image *image, uint32_t flags)
{
    int status;

    image->config.flags = flags;
    status = fffs_mount(&image->fs, &image->config);
    image->mounted = status == FFFS_OK;
    return status;
}

int image_open_mounted(struct image **image, const char *path, uint32_t flags)
{
    int status = image_open(image, path, NOR_TIME_ESP32S3_FIT);

    if (status != FFFS_OK)
        return status;
    status = image_mount(*image, flags);
    if (status != FFFS_OK) {
        tool_error(path, "%s", tool_status_text(status));
        image_close(*image);
        *image = NULL;
        return status;
    }
    nor_reset_counts((*image)->nor);
    return status;
}

uint64_t image_time_ns(const struct image *image)
{
    const struct nor_counts *counts = nor_counts(image->nor);
    uint64_t ns = 0;
    int op;

    for (op = 0; op < NOR_OPS; op++)
        ns += counts->time_ns[op];
    return ns;
}

/* ---- Saving ---- */

static int write_all(int fd, const uint8_t *bytes, size_t count)
{
    ssize_t put;

    while (count > 0) {
        put = write(fd, bytes, count);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return -1;
        bytes += put;
        count -= (size_t)put;
    }
    return 0;
}

static int write_image(const struct image *image, int fd)
{
    uint8_t *chunk = tool_alloc(CHUNK_BYTES);
    uint32_t size = nor_size(image->nor), at, count;
    int result = 0;

    for (at = 0; at < size && result == 0; at += count) {
        count = size - at < CHUNK_BYTES ? size - at : CHUNK_BYTES;
        nor_peek(image->nor, at, chunk, count);
        result = write_all(fd, chunk, count);
    }
    if (result == 0)
        result = write_all(fd, image->tail, image->tail_bytes);
    free(chunk);
    return result;
}

/* The mode of the file that is replaced, or that of any new file. */
static mode_t target_mode(const char *target)
{
    struct stat facts;
    mode_t mask;

    if (stat(target, &facts) == 0)
        return facts.st_mode & 07777;
    mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

/* Makes the rename durable; a filesystem that can not sync a directory is no reason to fail. */
static void sync_folder(const char *target)
{
    char *folder = tool_copy(target);
    char *slash = strrchr(folder, '/');
    int fd;

    if (slash != NULL)
        slash[slash == folder ? 1 : 0] = '\0';
    fd = open(slash != NULL ? folder : ".", O_RDONLY);
    if (fd >= 0) {
        (void)fsync(fd);
        close(fd);
    }
    free(folder);
}

static int replace_file(const struct image *image, const char *target)
{
    char *temporary = tool_alloc(strlen(target) + sizeof ".XXXXXX");
    int fd, failed;

    strcat(strcpy(temporary, target), ".XXXXXX");
    fd = mkstemp(temporary);
    if (fd < 0) {
        tool_error(temporary, "can not be made: %s", strerror(errno));
        free(temporary);
        return IMAGE_HOST_ERROR;
    }
    failed = write_image(image, fd) != 0 || fchmod(fd, target_mode(target)) != 0 || fsync(fd) != 0;
    failed = close(fd) != 0 || failed;
    failed = failed || rename(temporary, target) != 0;
    if (failed) {
        tool_error(image->path, "can not be written: %s", strerror(errno));
        unlink(temporary);
    } else {
        sync_folder(target);
    }
    free(temporary);
    return failed ? IMAGE_HOST_ERROR : FFFS_OK;
}

/* Whether 'fastffs mount' has the file: then it must not be replaced under it. */
static int is_mounted_elsewhere(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), busy;

    if (fd < 0)
        return 0;
    busy = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return busy;
}

int image_save(struct image *image)
{
    struct stat facts;
    char *target;
    int status = image->mounted ? fffs_unmount(&image->fs) : FFFS_OK;

    image->mounted = 0;
    if (status != FFFS_OK) {
        tool_error(image->path, "closing the volume failed: %s", tool_status_text(status));
        return status;
    }
    if (stat(image->path, &facts) == 0 && !S_ISREG(facts.st_mode)) {
        tool_error(image->path, "not a regular file: it is left alone");
        return IMAGE_HOST_ERROR;
    }
    if (is_mounted_elsewhere(image->path)) {
        tool_error(image->path, "mounted by 'fastffs mount': it is left alone");
        return IMAGE_HOST_ERROR;
    }
    target = realpath(image->path, NULL);   /* behind a link its target is replaced, not the link */
    if (target == NULL)
        target = tool_copy(image->path);
    status = replace_file(image, target);
    free(target);
    return status;
}
