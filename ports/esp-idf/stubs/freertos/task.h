/* Stub. */
#ifndef STUB_TASK_H
#define STUB_TASK_H

#include "freertos/FreeRTOS.h"

typedef struct stub_task *TaskHandle_t;
BaseType_t xTaskCreate(void (*run)(void *), const char *name, uint32_t stack, void *context, UBaseType_t priority,
                       TaskHandle_t *handle);
void vTaskDelete(TaskHandle_t task);
void vTaskDelay(TickType_t ticks);
TickType_t xTaskGetTickCount(void);
uint32_t ulTaskNotifyTake(BaseType_t clear, TickType_t ticks);
BaseType_t xTaskNotifyGive(TaskHandle_t task);
UBaseType_t uxTaskGetStackHighWaterMark(TaskHandle_t task);

#endif
