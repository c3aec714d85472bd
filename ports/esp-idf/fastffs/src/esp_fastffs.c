/* Registering partitions: memory, mount, the policy of formatting. */
#include "esp_fastffs.h"

#include <stdlib.h>
#include <string.h>

#include "esp_heap_caps.h"
#include "esp_log.h"
#include "esp_task_wdt.h"
#include "esp_vfs.h"
#include "fastffs_volume.h"
#include "fffs_first_boot.h"

static const char *const tag = "fastffs";
static struct fastffs_volume *volumes[CONFIG_FASTFFS_MAX_PARTITIONS]; /* NULL: free */
static portMUX_TYPE volumes_lock = portMUX_INITIALIZER_UNLOCKED;

/* ---- Hooks ---- */

void fastffs_lock(struct fastffs_volume *volume)
{
    (void)xSemaphoreTakeRecursive(volume->mutex, portMAX_DELAY);
}

void fastffs_unlock(struct fastffs_volume *volume)
{
    (void)xSemaphoreGiveRecursive(volume->mutex);
}

static void hook_lock(void *context)
{
    fastffs_lock(context);
}

static void hook_unlock(void *context)
{
    fastffs_unlock(context);
}

static void hook_progress(void *context, uint32_t done, uint32_t total)
{
    const struct fastffs_volume *volume = context;

#if CONFIG_FASTFFS_WDT_RESET
    (void)esp_task_wdt_reset(); /* a task that is not watched gets an error, which does not matter */
#endif
    if (volume->progress != NULL)
        volume->progress(volume->progress_context, done, total);
}

/* ---- Memory ---- */

static void *take(size_t bytes)
{
#if CONFIG_FASTFFS_MALLOC_INTERNAL
    return heap_caps_calloc(1, bytes, MALLOC_CAP_INTERNAL | MALLOC_CAP_8BIT);
#elif CONFIG_FASTFFS_MALLOC_SPIRAM
    return heap_caps_calloc(1, bytes, MALLOC_CAP_SPIRAM | MALLOC_CAP_8BIT);
#else
    return calloc(1, bytes);
#endif
}

/* Releases all that a volume holds. */
static void destroy(struct fastffs_volume *volume)
{
    if (volume->mutex != NULL)
        vSemaphoreDelete(volume->mutex);
    fastffs_partition_unmap(&volume->driver);
    free(volume->config.scratch);
    free(volume->config.segment_table);
    free(volume->config.cache);
    free(volume->config.write_buffer);
    free(volume->posix.copy);
    free(volume->posix.made);
    free(volume->descriptors);
    free(volume);
}

/* The buffers that do not depend on the volume's geometry. */
static esp_err_t take_buffers(struct fastffs_volume *volume)
{
    struct fffs_config *config = &volume->config;

    config->scratch_bytes = CONFIG_FASTFFS_SCRATCH_BYTES;
    config->scratch = take(config->scratch_bytes);
    config->write_buffer_bytes = CONFIG_FASTFFS_WRITE_BUFFER_BYTES;
    if (config->write_buffer_bytes != 0)
        config->write_buffer = take(config->write_buffer_bytes);
    volume->posix.copy_bytes = FASTFFS_COPY_BYTES;
    volume->posix.copy = take(FASTFFS_COPY_BYTES);
    volume->posix.made_count = CONFIG_FASTFFS_EMPTY_FOLDERS;
    if (volume->posix.made_count != 0)
        volume->posix.made = take(volume->posix.made_count * sizeof *volume->posix.made);
    volume->descriptors = take(volume->max_files * sizeof(struct fastffs_descriptor *));
    if (config->scratch == NULL || volume->posix.copy == NULL || volume->descriptors == NULL
        || (config->write_buffer_bytes != 0 && config->write_buffer == NULL)
        || (volume->posix.made_count != 0 && volume->posix.made == NULL))
        return ESP_ERR_NO_MEM;
    return ESP_OK;
}

/* Segment table and cache for this geometry, with room to grow to the whole partition. */
static esp_err_t take_tables(struct fastffs_volume *volume, const struct fffs_geometry *geometry)
{
    struct fffs_config *config = &volume->config;
    uint32_t entries = geometry->max_files;

    if (entries > CONFIG_FASTFFS_CACHE_ENTRIES)
        entries = CONFIG_FASTFFS_CACHE_ENTRIES;
    free(config->segment_table);
    free(config->cache);
    config->cache = NULL;
    config->segment_table_entries = FFFS_SEGMENTS_MAX(volume->driver.flash.size_bytes, geometry->segment_bytes);
    config->segment_table = take(config->segment_table_entries * sizeof(uint16_t));
    config->cache_bytes = entries * FFFS_CACHE_ENTRY_BYTES;
    if (entries != 0)
        config->cache = take(config->cache_bytes);
    return config->segment_table == NULL || (entries != 0 && config->cache == NULL) ? ESP_ERR_NO_MEM : ESP_OK;
}

static void configure(struct fastffs_volume *volume, const esp_vfs_fastffs_conf_t *conf)
{
    struct fffs_config *config = &volume->config;

    config->flash = &volume->driver.flash;
    config->lock = hook_lock;
    config->unlock = hook_unlock;
    config->progress = hook_progress;
    config->hook_context = volume;
    config->flags = (conf->read_only ? (uint32_t)FFFS_MOUNT_READ_ONLY : 0u);
#if CONFIG_FASTFFS_VERIFY
    config->flags |= FFFS_MOUNT_VERIFY;
#endif
    volume->max_files = conf->max_files != 0 ? conf->max_files : CONFIG_FASTFFS_MAX_OPEN_FILES;
    volume->progress = conf->progress;
    volume->progress_context = conf->progress_context;
    volume->posix.fs = &volume->fs;
    volume->posix.read_only = conf->read_only;
    if (conf->base_path != NULL) /* its length was checked; format alone has none */
        strcpy(volume->base_path, conf->base_path);
}

static esp_err_t create(const esp_vfs_fastffs_conf_t *conf, const esp_partition_t *partition, struct fastffs_volume **out)
{
    struct fastffs_volume *volume = take(sizeof *volume);
    esp_err_t err;

    if (volume == NULL)
        return ESP_ERR_NO_MEM;
    err = fastffs_partition_init(&volume->driver, partition);
    configure(volume, conf);
    if (err == ESP_OK)
        err = take_buffers(volume);
    volume->mutex = xSemaphoreCreateRecursiveMutex();
    if (err == ESP_OK && volume->mutex == NULL)
        err = ESP_ERR_NO_MEM;
#if CONFIG_FASTFFS_MMAP
    if (err == ESP_OK && conf->base_path != NULL && fastffs_partition_map(&volume->driver) != ESP_OK)
        ESP_LOGW(tag, "%s can not be mapped: no reading in place", partition->label);
#endif
    if (err != ESP_OK)
        destroy(volume);
    else
        *out = volume;
    return err;
}

/* ---- Mount and format ---- */

static int format_as(struct fastffs_volume *volume, const struct fffs_format_options *options)
{
    struct fffs_geometry plan;
    int status = fffs_format_plan(&volume->driver.flash, options, &plan);

    if (status < 0)
        return status;
    if (take_tables(volume, &plan) != ESP_OK)
        return FFFS_ERR_NO_MEMORY;
    return fffs_format(&volume->fs, &volume->config, options);
}

static int format_volume(struct fastffs_volume *volume, uint32_t files)
{
    struct fffs_format_options options;

    memset(&options, 0, sizeof options);
    options.geometry.max_files = files;
    return format_as(volume, &options);
}

static int mount_volume(struct fastffs_volume *volume)
{
    struct fffs_geometry geometry;
    int status = fffs_discover(&volume->driver.flash, &geometry);

    if (status < 0)
        return status;
    if (take_tables(volume, &geometry) != ESP_OK)
        return FFFS_ERR_NO_MEMORY;
    return fffs_mount(&volume->fs, &volume->config);
}

static enum fffs_format_policy policy_of(const esp_vfs_fastffs_conf_t *conf)
{
    if (conf->read_only)
        return FFFS_FORMAT_NEVER;
    return conf->format_if_foreign ? FFFS_FORMAT_FOREIGN : conf->format_if_mount_failed ? FFFS_FORMAT_BLANK : FFFS_FORMAT_NEVER;
}

static int bring_up(struct fastffs_volume *volume, const esp_vfs_fastffs_conf_t *conf)
{
    struct fffs_format_options options;
    int status = mount_volume(volume);

    if (conf->mount_status != NULL)
        *conf->mount_status = status;
    memset(&options, 0, sizeof options);
    options.geometry.max_files = conf->volume_files;
    if (fffs_first_boot(&volume->driver.flash, status, policy_of(conf), volume->posix.copy, volume->posix.copy_bytes, &options)) {
        ESP_LOGI(tag, "%s: %s, formatting", volume->driver.partition->label, fffs_status_name(status));
        status = format_as(volume, &options);
        if (conf->formatted != NULL)
            *conf->formatted = status == FFFS_OK;
        if (status == FFFS_OK)
            status = mount_volume(volume);
    }
    if (status == FFFS_OK && conf->grow_on_mount && !conf->read_only) {
        int grown = fffs_grow(&volume->fs, 0);
        if (grown < 0)
            ESP_LOGW(tag, "%s not grown: %s", volume->driver.partition->label, fffs_status_name(grown));
    }
    return status;
}

/* ---- The table of volumes ---- */

static const esp_partition_t *find_partition(const char *label)
{
    if (label == NULL)
        return NULL;
    return esp_partition_find_first(ESP_PARTITION_TYPE_DATA, ESP_PARTITION_SUBTYPE_ANY, label);
}

static struct fastffs_volume *find_volume(const esp_partition_t *partition)
{
    size_t i;

    for (i = 0; partition != NULL && i < CONFIG_FASTFFS_MAX_PARTITIONS; i++)
        if (volumes[i] != NULL && volumes[i]->driver.partition == partition)
            return volumes[i];
    return NULL;
}

/* Puts the volume into a free place, unless its partition is there already. */
static esp_err_t enlist(struct fastffs_volume *volume)
{
    size_t i, room = CONFIG_FASTFFS_MAX_PARTITIONS;
    esp_err_t err = ESP_OK;

    portENTER_CRITICAL(&volumes_lock);
    for (i = CONFIG_FASTFFS_MAX_PARTITIONS; i-- > 0;)
        if (volumes[i] == NULL)
            room = i;
    if (find_volume(volume->driver.partition) != NULL)
        err = ESP_ERR_INVALID_STATE;
    else if (room == CONFIG_FASTFFS_MAX_PARTITIONS)
        err = ESP_ERR_NO_MEM;
    else
        volumes[room] = volume;
    portEXIT_CRITICAL(&volumes_lock);
    return err;
}

static void delist(const struct fastffs_volume *volume)
{
    size_t i;

    portENTER_CRITICAL(&volumes_lock);
    for (i = 0; i < CONFIG_FASTFFS_MAX_PARTITIONS; i++)
        if (volumes[i] == volume)
            volumes[i] = NULL;
    portEXIT_CRITICAL(&volumes_lock);
}

/* ---- Public ---- */

static int path_is_valid(const char *path)
{
    size_t length = path == NULL ? 0 : strlen(path);

    return length >= 2 && length <= ESP_VFS_PATH_MAX && length < FASTFFS_PATH_ROOM && path[0] == '/'
        && path[length - 1] != '/';
}

/* Everything behind the mount: the path and the task. */
static esp_err_t publish(struct fastffs_volume *volume)
{
    esp_err_t err = fastffs_vfs_attach(volume);

    if (err != ESP_OK)
        return err;
    volume->last_use = xTaskGetTickCount();
    err = fastffs_task_start(volume);
    if (err != ESP_OK)
        (void)esp_vfs_unregister(volume->base_path);
    return err;
}

esp_err_t esp_vfs_fastffs_register(const esp_vfs_fastffs_conf_t *conf)
{
    const esp_partition_t *partition;
    struct fastffs_volume *volume = NULL;
    esp_err_t err;
    int status;

    if (conf == NULL || !path_is_valid(conf->base_path) || (conf->partition_label == NULL && conf->partition == NULL))
        return ESP_ERR_INVALID_ARG;
    if (conf->formatted != NULL)
        *conf->formatted = false;
    if (conf->mount_status != NULL)
        *conf->mount_status = FFFS_OK;
    partition = conf->partition_label != NULL ? find_partition(conf->partition_label) : conf->partition;
    if (partition == NULL)
        return ESP_ERR_NOT_FOUND;
    err = create(conf, partition, &volume);
    if (err != ESP_OK)
        return err;
    err = enlist(volume);
    if (err != ESP_OK) {
        destroy(volume);
        return err;
    }
    status = bring_up(volume, conf);
    if (status == FFFS_OK) {
        err = publish(volume);
        if (err != ESP_OK)
            (void)fffs_unmount(&volume->fs);
    } else {
        ESP_LOGE(tag, "%s not mounted: %s", partition->label, fffs_status_name(status));
        err = status == FFFS_ERR_NO_MEMORY ? ESP_ERR_NO_MEM : ESP_FAIL;
    }
    if (err != ESP_OK) {
        delist(volume);
        destroy(volume);
    }
    return err;
}

static int has_open_files(const struct fastffs_volume *volume)
{
    size_t i;

    for (i = 0; i < volume->max_files; i++)
        if (volume->descriptors[i] != NULL)
            return 1;
    return 0;
}

esp_err_t esp_vfs_fastffs_unregister_partition(const esp_partition_t *partition)
{
    struct fastffs_volume *volume = find_volume(partition);
    int status;

    if (volume == NULL)
        return ESP_ERR_INVALID_STATE;
    fastffs_task_stop(volume);
    fastffs_lock(volume);
    status = has_open_files(volume) ? FFFS_ERR_BUSY : fffs_unmount(&volume->fs);
    fastffs_unlock(volume);
    if (status == FFFS_ERR_BUSY) {
        (void)fastffs_task_start(volume);
        return ESP_ERR_INVALID_STATE;
    }
    (void)esp_vfs_unregister(volume->base_path);
    delist(volume);
    destroy(volume);
    return status == FFFS_OK ? ESP_OK : ESP_FAIL;
}

esp_err_t esp_vfs_fastffs_unregister(const char *partition_label)
{
    return esp_vfs_fastffs_unregister_partition(find_partition(partition_label));
}

bool esp_fastffs_partition_mounted(const esp_partition_t *partition)
{
    return find_volume(partition) != NULL;
}

bool esp_fastffs_mounted(const char *partition_label)
{
    return esp_fastffs_partition_mounted(find_partition(partition_label));
}

/* Formats a volume that is mounted, and mounts it again, with as many files as it had room for. */
static esp_err_t format_mounted(struct fastffs_volume *volume)
{
    struct fffs_geometry geometry;
    int status;

    fastffs_lock(volume);
    if (volume->posix.read_only || has_open_files(volume))
        status = FFFS_ERR_BUSY;
    else
        status = fffs_discover(&volume->driver.flash, &geometry);
    if (status == FFFS_OK)
        status = fffs_unmount(&volume->fs);
    if (status == FFFS_OK)
        status = format_volume(volume, geometry.max_files);
    if (status == FFFS_OK)
        status = mount_volume(volume);
    if (status == FFFS_OK && volume->posix.made_count != 0)
        memset(volume->posix.made, 0, volume->posix.made_count * sizeof *volume->posix.made);
    fastffs_unlock(volume);
    return status == FFFS_OK ? ESP_OK : status == FFFS_ERR_BUSY ? ESP_ERR_INVALID_STATE : ESP_FAIL;
}

esp_err_t esp_fastffs_format_partition(const esp_partition_t *partition)
{
    static const esp_vfs_fastffs_conf_t plain = { 0 };
    struct fastffs_volume *volume = find_volume(partition);
    esp_err_t err;

    if (partition == NULL)
        return ESP_ERR_NOT_FOUND;
    if (volume != NULL)
        return format_mounted(volume);
    err = create(&plain, partition, &volume);
    if (err != ESP_OK)
        return err;
    err = format_volume(volume, 0) == FFFS_OK ? ESP_OK : ESP_FAIL;
    destroy(volume);
    return err;
}

esp_err_t esp_fastffs_format(const char *partition_label)
{
    return esp_fastffs_format_partition(find_partition(partition_label));
}

esp_err_t esp_fastffs_partition_info(const esp_partition_t *partition, size_t *total_bytes, size_t *used_bytes)
{
    struct fastffs_volume *volume = find_volume(partition);
    struct fffs_space space;

    if (volume == NULL)
        return ESP_ERR_INVALID_STATE;
    if (fffs_space(&volume->fs, &space) < 0)
        return ESP_FAIL;
    if (total_bytes != NULL)
        *total_bytes = space.capacity_bytes;
    if (used_bytes != NULL)
        *used_bytes = space.used_bytes;
    return ESP_OK;
}

esp_err_t esp_fastffs_info(const char *partition_label, size_t *total_bytes, size_t *used_bytes)
{
    return esp_fastffs_partition_info(find_partition(partition_label), total_bytes, used_bytes);
}

struct fffs *esp_fastffs_volume(const char *partition_label)
{
    struct fastffs_volume *volume = find_volume(find_partition(partition_label));

    return volume == NULL ? NULL : &volume->fs;
}

esp_err_t esp_fastffs_check(const char *partition_label, size_t *findings)
{
    struct fffs *fs = esp_fastffs_volume(partition_label);
    int count = fs == NULL ? 0 : fffs_check(fs, NULL, NULL);

    if (fs == NULL)
        return ESP_ERR_INVALID_STATE;
    if (count < 0)
        return ESP_FAIL;
    *findings = (size_t)count;
    return ESP_OK;
}

esp_err_t esp_fastffs_gc(const char *partition_label)
{
    struct fffs *fs = esp_fastffs_volume(partition_label);

    if (fs == NULL)
        return ESP_ERR_INVALID_STATE;
    return fffs_gc(fs) < 0 ? ESP_FAIL : ESP_OK;
}

esp_err_t esp_fastffs_settle(const char *partition_label)
{
    struct fffs *fs = esp_fastffs_volume(partition_label);

    if (fs == NULL)
        return ESP_ERR_INVALID_STATE;
    return fffs_settle(fs) < 0 ? ESP_FAIL : ESP_OK;
}
