/* Background collection: a low-priority task that erases and moves in slices while the volume is not in use. */
#include "fastffs_volume.h"

#if CONFIG_FASTFFS_BACKGROUND_TASK

static int is_stopped(struct fastffs_volume *volume)
{
    int stopped;

    fastffs_lock(volume);
    stopped = volume->task_stop;
    fastffs_unlock(volume);
    return stopped;
}

/* Ticks that are missing to a while without use, 0: now. */
static TickType_t wait_left(struct fastffs_volume *volume)
{
    const TickType_t quiet = pdMS_TO_TICKS(CONFIG_FASTFFS_BACKGROUND_IDLE_MS);
    TickType_t since;

    fastffs_lock(volume);
    since = xTaskGetTickCount() - volume->last_use;
    fastffs_unlock(volume);
    return since >= quiet ? 0 : quiet - since;
}

static void collect(struct fastffs_volume *volume)
{
    const struct fffs_gc_limits limits = { 0, CONFIG_FASTFFS_BACKGROUND_ERASE_BYTES };
    int action = FFFS_GC_LOOKED;

    while (action > 0 && !is_stopped(volume)) {
        TickType_t wait = wait_left(volume);

        if (wait > 0)
            vTaskDelay(wait);
        else
            action = fffs_gc_step(&volume->fs, &limits, NULL); /* locks by itself */
    }
}

static void run(void *context)
{
    struct fastffs_volume *volume = context;

    while (!is_stopped(volume)) {
        collect(volume);
        if (!is_stopped(volume))
            (void)ulTaskNotifyTake(pdTRUE, portMAX_DELAY);
    }
    (void)xSemaphoreGive(volume->task_ended);
    vTaskDelete(NULL);
}

esp_err_t fastffs_task_start(struct fastffs_volume *volume)
{
    if (volume->posix.read_only)
        return ESP_OK;
    volume->task_stop = 0;
    volume->task_ended = xSemaphoreCreateBinary();
    if (volume->task_ended == NULL)
        return ESP_ERR_NO_MEM;
    if (xTaskCreate(run, "fastffs", CONFIG_FASTFFS_BACKGROUND_STACK, volume, CONFIG_FASTFFS_BACKGROUND_PRIORITY, &volume->task)
        == pdPASS)
        return ESP_OK;
    vSemaphoreDelete(volume->task_ended);
    volume->task = NULL;
    return ESP_ERR_NO_MEM;
}

void fastffs_task_stop(struct fastffs_volume *volume)
{
    if (volume->task == NULL)
        return;
    fastffs_lock(volume);
    volume->task_stop = 1;
    fastffs_unlock(volume);
    (void)xTaskNotifyGive(volume->task);
    (void)xSemaphoreTake(volume->task_ended, portMAX_DELAY);
    vSemaphoreDelete(volume->task_ended);
    volume->task = NULL;
}

void fastffs_task_wake(struct fastffs_volume *volume)
{
    if (volume->task != NULL)
        (void)xTaskNotifyGive(volume->task);
}

#else

esp_err_t fastffs_task_start(struct fastffs_volume *volume)
{
    (void)volume;
    return ESP_OK;
}

void fastffs_task_stop(struct fastffs_volume *volume)
{
    (void)volume;
}

void fastffs_task_wake(struct fastffs_volume *volume)
{
    (void)volume;
}

#endif
