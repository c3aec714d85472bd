/* Stub: FreeRTOS on threads of the host. */
#ifndef STUB_FREERTOS_H
#define STUB_FREERTOS_H

#include <stdint.h>

typedef uint32_t TickType_t;
typedef int BaseType_t;
typedef unsigned UBaseType_t;
#define pdTRUE 1
#define pdFALSE 0
#define pdPASS 1
#define portMAX_DELAY 0xFFFFFFFFu
#define configTICK_RATE_HZ 1000
#define portTICK_PERIOD_MS 1
#define pdMS_TO_TICKS(ms) ((TickType_t)(ms))

typedef struct { int unused; } portMUX_TYPE;
#define portMUX_INITIALIZER_UNLOCKED { 0 }
void stub_enter_critical(portMUX_TYPE *mux);
void stub_exit_critical(portMUX_TYPE *mux);
#define portENTER_CRITICAL(mux) stub_enter_critical(mux)
#define portEXIT_CRITICAL(mux) stub_exit_critical(mux)

#endif
