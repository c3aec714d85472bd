/* Stub. */
#ifndef STUB_ESP_TASK_WDT_H
#define STUB_ESP_TASK_WDT_H

#include "esp_err.h"

esp_err_t esp_task_wdt_reset(void);

#endif
