/* Stub: keeps the handler, so that a test can call it. */
#ifndef STUB_ESP_HTTP_SERVER_H
#define STUB_ESP_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "esp_err.h"

typedef void *httpd_handle_t;
typedef int httpd_method_t;
enum { HTTP_GET = 1 };
typedef enum { HTTPD_500_INTERNAL_SERVER_ERROR = 0, HTTPD_404_NOT_FOUND = 4 } httpd_err_code_t;
typedef struct httpd_req { const char uri[513]; void *aux; } httpd_req_t;
typedef struct httpd_uri {
    const char *uri;
    httpd_method_t method;
    esp_err_t (*handler)(httpd_req_t *r);
    void *user_ctx;
} httpd_uri_t;
typedef bool (*httpd_uri_match_func_t)(const char *reference_uri, const char *uri_to_match, size_t match_upto);
typedef struct { unsigned stack_size; httpd_uri_match_func_t uri_match_fn; } httpd_config_t;
#define HTTPD_DEFAULT_CONFIG() { 4096, NULL }

esp_err_t httpd_start(httpd_handle_t *handle, const httpd_config_t *config);
esp_err_t httpd_register_uri_handler(httpd_handle_t handle, const httpd_uri_t *uri_handler);
esp_err_t httpd_resp_set_type(httpd_req_t *r, const char *type);
esp_err_t httpd_resp_send_chunk(httpd_req_t *r, const char *buf, ssize_t buf_len);
esp_err_t httpd_resp_send_err(httpd_req_t *r, httpd_err_code_t error, const char *msg);
bool httpd_uri_match_wildcard(const char *uri_template, const char *uri_to_match, size_t match_upto);

/* For tests: asks the registered handler for this path; the answer's status, type and body. */
struct stub_answer { int status; const char *type; char body[4096]; size_t bytes; };
void stub_http_get(const char *path, struct stub_answer *answer);

#endif
