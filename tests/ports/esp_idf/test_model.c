/* Random file operations through the VFS layer, compared with an oracle in RAM after each step. */
#include "idf_rig.h"

enum { NAMES = 14, ROOM = 6000, STEPS = 8000 };

static const char *const names[NAMES] = {
    "/d/a", "/d/b", "/d/c", "/d/dir/a", "/d/dir/b", "/d/dir/deep/a", "/d/dir/deep/b", "/d/dir2/a", "/d/x.txt", "/d/y.txt",
    "/d/dir/deep/deeper/a", "/d/long-name-that-is-not-so-short/and-a-file-in-it", "/d/z", "/d/dir2/b"
};

struct oracle { int exists; uint32_t size; uint8_t data[ROOM]; };
static struct oracle oracle[NAMES];
static uint8_t fresh[ROOM];

static uint32_t some_bytes(struct rng *rng, uint32_t limit)
{
    uint32_t bytes = rng_below(rng, limit + 1), i;

    for (i = 0; i < bytes; i++)
        fresh[i] = (uint8_t)rng_next(rng);
    return bytes;
}

/* Writes in pieces. */
static void write_pieces(struct rng *rng, int fd, const uint8_t *data, uint32_t bytes)
{
    while (bytes > 0) {
        uint32_t part = 1 + rng_below(rng, bytes < 900 ? bytes : 900);

        CHECK_EQ(stub_write(fd, data, part), part);
        data += part;
        bytes -= part;
    }
}

static void step_replace(struct rng *rng, int which)
{
    struct oracle *file = &oracle[which];
    uint32_t bytes = some_bytes(rng, ROOM);
    int fd = stub_open(names[which], O_WRONLY | O_CREAT | O_TRUNC);

    CHECK(fd >= 0);
    write_pieces(rng, fd, fresh, bytes);
    CHECK_EQ(stub_close(fd), 0);
    file->exists = 1;
    file->size = bytes;
    memcpy(file->data, fresh, bytes);
}

static void step_append(struct rng *rng, int which)
{
    struct oracle *file = &oracle[which];
    uint32_t bytes = some_bytes(rng, 500);
    int fd;

    if (file->size + bytes > ROOM)
        return;
    fd = stub_open(names[which], O_WRONLY | O_CREAT | O_APPEND);
    CHECK(fd >= 0);
    write_pieces(rng, fd, fresh, bytes);
    CHECK_EQ(stub_close(fd), 0);
    memcpy(file->data + (file->exists ? file->size : 0), fresh, bytes);
    file->size = (file->exists ? file->size : 0) + bytes;
    file->exists = 1;
}

/* Two pieces at growing offsets, the second maybe beyond the end; sometimes a truncation between them. */
static void step_patch(struct rng *rng, int which)
{
    struct oracle *file = &oracle[which];
    uint32_t at = 0, i;
    int fd = stub_open(names[which], O_RDWR);

    if (!file->exists) {
        CHECK_EQ(fd, -1);
        CHECK_EQ(errno, ENOENT);
        return;
    }
    CHECK(fd >= 0);
    for (i = 0; i < 2; i++) {
        uint32_t bytes = some_bytes(rng, 300);

        at += rng_below(rng, 1500);
        if (bytes == 0 || at + bytes > ROOM)
            continue;
        CHECK_EQ(stub_lseek(fd, (off_t)at, SEEK_SET), at);
        write_pieces(rng, fd, fresh, bytes);
        if (at > file->size)
            memset(file->data + file->size, 0, at - file->size);
        memcpy(file->data + at, fresh, bytes);
        file->size = at + bytes > file->size ? at + bytes : file->size;
        at += bytes;
        if (rng_chance(rng, 20)) {
            uint32_t cut = at + rng_below(rng, ROOM - at + 1);

            CHECK_EQ(stub_ftruncate(fd, (off_t)cut), 0);
            if (cut > file->size) {
                memset(file->data + file->size, 0, cut - file->size);
                at = cut; /* the zeros are written: only what is behind them can follow */
            }
            file->size = cut;
        }
        if (at < file->size) { /* what is behind can be read */
            uint8_t byte;
            CHECK_EQ(stub_pread(fd, &byte, 1, (off_t)at), 1);
            CHECK_EQ(byte, file->data[at]);
        }
    }
    CHECK_EQ(stub_close(fd), 0);
}

static void step_truncate(struct rng *rng, int which)
{
    struct oracle *file = &oracle[which];
    uint32_t bytes = rng_below(rng, ROOM);
    int result = stub_truncate(names[which], (off_t)bytes);

    CHECK_EQ(result, file->exists ? 0 : -1);
    if (!file->exists)
        return;
    if (bytes > file->size)
        memset(file->data + file->size, 0, bytes - file->size);
    file->size = bytes;
}

static void step_unlink(int which)
{
    CHECK_EQ(stub_unlink(names[which]), oracle[which].exists ? 0 : -1);
    oracle[which].exists = 0;
    oracle[which].size = 0;
}

static void step_read(struct rng *rng, int which)
{
    const struct oracle *file = &oracle[which];
    uint32_t from = rng_below(rng, ROOM), bytes = rng_below(rng, 800), expected;
    int fd = stub_open(names[which], O_RDONLY);

    CHECK_EQ(fd >= 0, file->exists);
    if (fd < 0)
        return;
    expected = from >= file->size ? 0 : file->size - from < bytes ? file->size - from : bytes;
    CHECK_EQ(stub_pread(fd, fresh, bytes, (off_t)from), expected);
    CHECK_MEM(fresh, file->data + from, expected);
    CHECK_EQ(stub_close(fd), 0);
}

/* All files are what they should be; the folders hold what they should hold. */
static void compare_all(void)
{
    static const char *const folders[] = { "/d", "/d/dir", "/d/dir/deep", "/d/dir2" };
    unsigned f, which;

    for (which = 0; which < NAMES; which++)
        if (oracle[which].exists)
            idf_expect(names[which], oracle[which].data, oracle[which].size);
    for (f = 0; f < 4; f++) {
        int expected = 0, found = 0;
        DIR *dir = stub_opendir(folders[f]);

        for (which = 0; which < NAMES; which++)
            expected += oracle[which].exists && strncmp(names[which], folders[f], strlen(folders[f])) == 0
                && names[which][strlen(folders[f])] == '/' && strchr(names[which] + strlen(folders[f]) + 1, '/') == NULL;
        if (dir == NULL)
            CHECK_EQ(expected, 0);
        for (const struct dirent *entry = dir == NULL ? NULL : stub_readdir(dir); entry != NULL; entry = stub_readdir(dir))
            found += entry->d_type == DT_REG;
        CHECK_EQ(found, expected);
        if (dir != NULL)
            CHECK_EQ(stub_closedir(dir), 0);
    }
}

static void run_model(int encrypted)
{
    struct idf_rig rig = idf_device("data", IDF_MIB / 2, 0x19000, encrypted);
    esp_vfs_fastffs_conf_t conf = idf_conf();
    struct rng rng = { harness_seed() };
    size_t findings = 1;
    int i;

    (void)rig;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    memset(oracle, 0, sizeof oracle);
    for (i = 0; i < (harness_is_long() ? 20 * STEPS : STEPS); i++) {
        int which = (int)rng_below(&rng, NAMES);

        harness_note("step %d, %s", i, names[which]);
        switch (rng_below(&rng, 8)) {
        case 0: case 1: step_replace(&rng, which); break;
        case 2: step_append(&rng, which); break;
        case 3: case 4: step_patch(&rng, which); break;
        case 5: step_truncate(&rng, which); break;
        case 6: step_unlink(which); break;
        default: step_read(&rng, which); break;
        }
        if (i % 50 == 49) {
            CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
            CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
        }
        if (i % 25 == 24)
            compare_all();
    }
    CHECK_EQ(esp_fastffs_check("data", &findings), ESP_OK);
    CHECK_EQ(findings, 0);
}

TEST(random_operations)
{
    run_model(0);
}

TEST(random_operations_encrypted)
{
    run_model(1);
}

SUITE(idf_model)
{
    RUN(random_operations);
    RUN(random_operations_encrypted);
}
