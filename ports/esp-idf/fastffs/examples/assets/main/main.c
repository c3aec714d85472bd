/* Counts boots in a file, and serves the files of data/www over HTTP, straight out of memory-mapped flash. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "esp_event.h"
#include "esp_fastffs.h"
#include "esp_http_server.h"
#include "esp_log.h"
#include "esp_netif.h"
#include "nvs_flash.h"
#include "protocol_examples_common.h"

static const char *const tag = "assets";

/* ---- Storage ---- */

static esp_err_t mount(void)
{
    bool formatted = false;
    int status = 0;
    const esp_vfs_fastffs_conf_t conf = {
        .base_path = "/data", .partition_label = "storage", .format_if_mount_failed = 1, .formatted = &formatted,
        .mount_status = &status };
    esp_err_t err = esp_vfs_fastffs_register(&conf);

    ESP_LOGI(tag, "storage: %s%s", fffs_status_name(status), formatted ? ", formatted" : "");
    return err;
}

/* The new count replaces the old one at close: a power cut leaves one of the two. */
static int count_boot(void)
{
    char text[16] = "";
    int fd = open("/data/boots", O_RDONLY), count, length, done;

    if (fd >= 0) {
        if (read(fd, text, sizeof text - 1) < 0)
            text[0] = '\0';
        close(fd);
    }
    count = (int)strtol(text, NULL, 10) + 1;
    length = snprintf(text, sizeof text, "%d\n", count);
    fd = open("/data/boots", O_WRONLY | O_CREAT | O_TRUNC);
    if (fd < 0)
        return -1;
    done = (int)write(fd, text, (size_t)length);
    return close(fd) == 0 && done == length ? count : -1;
}

/* ---- Server ---- */

static void set_type(httpd_req_t *request, const char *path)
{
    static const struct { const char *ending, *type; } types[] = {
        { ".html", "text/html" }, { ".css", "text/css" }, { ".js", "text/javascript" }, { ".png", "image/png" }
    };
    const char *ending = strrchr(path, '.');
    size_t i;

    for (i = 0; ending != NULL && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(ending, types[i].ending) == 0)
            (void)httpd_resp_set_type(request, types[i].type);
}

/* Sends the pieces of a file as they lie on flash: no copy, no buffer. */
static esp_err_t send_in_place(httpd_req_t *request, int fd)
{
    esp_fastffs_map_t piece = { 0, NULL, 0 };

    for (;;) {
        if (ioctl(fd, ESP_FASTFFS_IOCTL_MAP, &piece) < 0)
            return httpd_resp_send_err(request, HTTPD_500_INTERNAL_SERVER_ERROR, "can not be read");
        /* 0 bytes is the end of the file, and of the answer. */
        esp_err_t err = httpd_resp_send_chunk(request, piece.data, (ssize_t)piece.bytes);
        if (err != ESP_OK || piece.bytes == 0)
            return err;
        piece.offset += piece.bytes;
    }
}

static esp_err_t serve(httpd_req_t *request)
{
    char path[80];
    const char *query = strchr(request->uri, '?');
    int length = query != NULL ? (int)(query - request->uri) : (int)strlen(request->uri);
    int used = snprintf(path, sizeof path, "/data/www%.*s%s", length, request->uri,
                        length > 0 && request->uri[length - 1] == '/' ? "index.html" : "");
    int fd = used < (int)sizeof path ? open(path, O_RDONLY) : -1;

    if (fd < 0)
        return httpd_resp_send_err(request, HTTPD_404_NOT_FOUND, "no such file");
    set_type(request, path);
    esp_err_t err = send_in_place(request, fd);
    close(fd);
    return err;
}

static esp_err_t start_server(void)
{
    static const httpd_uri_t files = { .uri = "/*", .method = HTTP_GET, .handler = serve };
    httpd_config_t config = HTTPD_DEFAULT_CONFIG();
    httpd_handle_t server = NULL;

    config.uri_match_fn = httpd_uri_match_wildcard;
    esp_err_t err = httpd_start(&server, &config);
    return err == ESP_OK ? httpd_register_uri_handler(server, &files) : err;
}

void app_main(void)
{
    ESP_ERROR_CHECK(mount());
    ESP_LOGI(tag, "boot number %d", count_boot());
    ESP_ERROR_CHECK(nvs_flash_init());
    ESP_ERROR_CHECK(esp_netif_init());
    ESP_ERROR_CHECK(esp_event_loop_create_default());
    ESP_ERROR_CHECK(example_connect());
    ESP_ERROR_CHECK(start_server());
}
