/* A registered partition, shared by the files of this component. */
#ifndef FASTFFS_VOLUME_H
#define FASTFFS_VOLUME_H

#include <stddef.h>
#include "freertos/FreeRTOS.h"
#include "freertos/semphr.h"
#include "freertos/task.h"
#include "sdkconfig.h"
#include "esp_fastffs.h"
#include "fastffs_defaults.h"
#include "fastffs_partition.h"
#include "fffs_posix.h"

enum { FASTFFS_COPY_BYTES = 512, FASTFFS_OLD_BUFFER_BYTES = 64, FASTFFS_PATH_ROOM = 32 };

struct fastffs_descriptor {
    struct fffs_posix_file file;
    int flags;                           /* of open */
    uint8_t buffers[];                   /* the file's, then the one for the old version */
};

struct fastffs_volume {
    struct fffs fs;
    struct fffs_config config;
    struct fffs_posix posix;
    struct fastffs_partition driver;
    char base_path[FASTFFS_PATH_ROOM];
    SemaphoreHandle_t mutex;             /* recursive: the core's own hooks take it too */
    struct fastffs_descriptor **descriptors;
    size_t max_files;
    void (*progress)(void *context, uint32_t done, uint32_t total);
    void *progress_context;
    /* Background collection. */
    TaskHandle_t task;
    SemaphoreHandle_t task_ended;
    int task_stop;                       /* under the mutex, as the next */
    TickType_t last_use;
};

void fastffs_lock(struct fastffs_volume *volume);
void fastffs_unlock(struct fastffs_volume *volume);

/* Registers the operations with the VFS. */
esp_err_t fastffs_vfs_attach(struct fastffs_volume *volume);

/* The collection task: started and stopped with the volume. A change wakes it. */
esp_err_t fastffs_task_start(struct fastffs_volume *volume);
void fastffs_task_stop(struct fastffs_volume *volume);
void fastffs_task_wake(struct fastffs_volume *volume);

#endif
