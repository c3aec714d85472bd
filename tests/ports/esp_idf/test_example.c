/* The example project as it is, on the stubs; and an image made by the host tool, mounted by the component. */
#include "idf_rig.h"

#include "esp_http_server.h"
#include "sdkconfig.h"

void app_main(void);

static struct idf_rig image_rig(const char *label)
{
    const char *path = getenv("FASTFFS_TEST_IMAGE");
    struct idf_rig rig = idf_device(label, IDF_MIB, 0x200000, 0);

    if (path == NULL)
        harness_skip("FASTFFS_TEST_IMAGE names no image");
    CHECK_EQ(nor_load(rig.nor, path), 0);
    return rig;
}

TEST(image_of_the_host_tool_mounts)
{
    struct idf_rig rig = image_rig("data");
    esp_vfs_fastffs_conf_t conf = idf_conf();
    size_t findings = 1;
    struct stat st;
    int i;

    conf.format_if_mount_failed = 0;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    CHECK_EQ(nor_mutations(rig.nor), 0);
    CHECK_EQ(stub_stat("/d/www/index.html", &st), 0);
    CHECK(st.st_size > 50);
    for (i = 0; i < 30; i++) {
        uint8_t *data = idf_data((uint32_t)i, 90000);
        idf_put("/d/new", data, 90000);
        idf_expect("/d/new", data, 90000);
        free(data);
    }
    CHECK_EQ(esp_fastffs_check("data", &findings), ESP_OK);
    CHECK_EQ(findings, 0);
}

TEST(example_counts_boots_and_serves)
{
    struct idf_rig rig = image_rig("storage");
    struct stub_answer answer;

    app_main();
    idf_expect("/data/boots", "1\n", 2);
    stub_http_get("/none.html", &answer);
    CHECK_EQ(answer.status, 404);
#if CONFIG_FASTFFS_MMAP
    stub_http_get("/?x=1", &answer);
    CHECK_EQ(answer.status, 200);
    CHECK_STR(answer.type, "text/html");
    CHECK(strstr(answer.body, "Served from flash") != NULL);
    stub_http_get("/style.css", &answer);
    CHECK_EQ(answer.status, 200);
    CHECK_STR(answer.type, "text/css");
#else
    stub_http_get("/", &answer);
    CHECK_EQ(answer.status, 500);
#endif
    CHECK_EQ(esp_vfs_fastffs_unregister("storage"), ESP_OK);
    app_main();
    idf_expect("/data/boots", "2\n", 2);
    (void)rig;
}

SUITE(idf_example)
{
    RUN(image_of_the_host_tool_mounts);
    RUN(example_counts_boots_and_serves);
}
