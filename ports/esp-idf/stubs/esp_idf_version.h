/* Stub. */
#ifndef STUB_ESP_IDF_VERSION_H
#define STUB_ESP_IDF_VERSION_H

const char *esp_get_idf_version(void);

#endif
