/* The functions behind the stubs of the HTTP server and of the network. */
#include <stdlib.h>
#include <string.h>

#include "esp_event.h"
#include "esp_http_server.h"
#include "esp_netif.h"
#include "nvs_flash.h"
#include "protocol_examples_common.h"

static httpd_uri_t registered;

esp_err_t nvs_flash_init(void) { return ESP_OK; }
esp_err_t esp_netif_init(void) { return ESP_OK; }
esp_err_t esp_event_loop_create_default(void) { return ESP_OK; }
esp_err_t example_connect(void) { return ESP_OK; }

esp_err_t httpd_start(httpd_handle_t *handle, const httpd_config_t *config)
{
    *handle = &registered;
    return config->uri_match_fn == httpd_uri_match_wildcard ? ESP_OK : ESP_FAIL;
}

esp_err_t httpd_register_uri_handler(httpd_handle_t handle, const httpd_uri_t *uri_handler)
{
    *(httpd_uri_t *)handle = *uri_handler;
    return ESP_OK;
}

bool httpd_uri_match_wildcard(const char *uri_template, const char *uri_to_match, size_t match_upto)
{
    (void)uri_template;
    (void)uri_to_match;
    (void)match_upto;
    return true;
}

esp_err_t httpd_resp_set_type(httpd_req_t *r, const char *type)
{
    ((struct stub_answer *)r->aux)->type = type;
    return ESP_OK;
}

esp_err_t httpd_resp_send_chunk(httpd_req_t *r, const char *buf, ssize_t buf_len)
{
    struct stub_answer *answer = r->aux;

    if (buf_len < 0 || answer->bytes + (size_t)buf_len > sizeof answer->body)
        return ESP_ERR_INVALID_SIZE;
    if (buf_len > 0)
        memcpy(answer->body + answer->bytes, buf, (size_t)buf_len);
    answer->bytes += (size_t)buf_len;
    answer->status = 200;
    return ESP_OK;
}

esp_err_t httpd_resp_send_err(httpd_req_t *r, httpd_err_code_t error, const char *msg)
{
    (void)msg;
    ((struct stub_answer *)r->aux)->status = error == HTTPD_404_NOT_FOUND ? 404 : 500;
    return ESP_OK;
}

void stub_http_get(const char *path, struct stub_answer *answer)
{
    httpd_req_t request;

    memset(&request, 0, sizeof request);
    memset(answer, 0, sizeof *answer);
    memcpy((char *)request.uri, path, strlen(path));
    request.aux = answer;
    if (registered.handler(&request) != ESP_OK)
        answer->status = -1;
}
