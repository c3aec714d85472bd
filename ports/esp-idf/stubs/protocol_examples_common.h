/* Stub. */
#ifndef STUB_PROTOCOL_EXAMPLES_COMMON_H
#define STUB_PROTOCOL_EXAMPLES_COMMON_H

#include "esp_err.h"

esp_err_t example_connect(void);

#endif
