/* Every call of the VFS layer on emulated flash, and the errno of every way it can fail (C-77). */
#include "idf_rig.h"

#include "emulator/nor_fault.h"
#include "fffs_posix.h"

TEST(open_write_read_close)
{
    struct stat st;
    char text[16] = "";
    int fd;

    (void)idf_mounted();
    fd = stub_open("/d/a.txt", O_WRONLY | O_CREAT | O_TRUNC);
    CHECK(fd >= 0);
    CHECK_EQ(stub_write(fd, "Hello, ", 7), 7);
    CHECK_EQ(stub_write(fd, "flash", 5), 5);
    CHECK_EQ(stub_fstat(fd, &st), 0);
    CHECK_EQ(st.st_size, 12);
    CHECK_EQ(stub_lseek(fd, 0, SEEK_CUR), 12);
    CHECK_ERRNO(stub_stat("/d/a.txt", &st), ENOENT); /* nothing shows before close */
    CHECK_EQ(stub_close(fd), 0);
    CHECK_EQ(stub_stat("/d/a.txt", &st), 0);
    CHECK(S_ISREG(st.st_mode));
    CHECK_EQ(st.st_size, 12);
    fd = stub_open("/d/a.txt", O_RDONLY);
    CHECK_EQ(stub_read(fd, text, 5), 5);
    CHECK_STR(text, "Hello");
    CHECK_EQ(stub_lseek(fd, -5, SEEK_END), 7);
    CHECK_EQ(stub_read(fd, text, sizeof text), 5);
    CHECK_MEM(text, "flash", 5);
    CHECK_EQ(stub_read(fd, text, sizeof text), 0);
    CHECK_EQ(stub_lseek(fd, 100, SEEK_SET), 100);
    CHECK_EQ(stub_read(fd, text, sizeof text), 0);
    CHECK_EQ(stub_pread(fd, text, 5, 7), 5);
    CHECK_MEM(text, "flash", 5);
    CHECK_EQ(stub_lseek(fd, 0, SEEK_CUR), 100);
    CHECK_EQ(stub_fcntl(fd, F_GETFL), O_RDONLY);
    CHECK_EQ(stub_fsync(fd), 0);
    CHECK_EQ(stub_close(fd), 0);
}

TEST(flags_create_exclusive_truncate)
{
    int fd;

    (void)idf_mounted();
    CHECK_ERRNO(stub_open("/d/a", O_WRONLY), ENOENT);
    CHECK_ERRNO(stub_open("/d/a", O_WRONLY | O_TRUNC), ENOENT);
    CHECK_ERRNO(stub_open("/d/a", O_RDONLY), ENOENT);
    fd = stub_open("/d/a", O_WRONLY | O_CREAT | O_EXCL);
    CHECK(fd >= 0);
    CHECK_EQ(stub_write(fd, "12345", 5), 5);
    CHECK_EQ(stub_close(fd), 0);
    CHECK_ERRNO(stub_open("/d/a", O_WRONLY | O_CREAT | O_EXCL), EEXIST);
    fd = stub_open("/d/a", O_WRONLY | O_TRUNC);
    CHECK_EQ(stub_close(fd), 0);
    idf_expect("/d/a", "", 0);
    fd = stub_open("/d/new", O_RDONLY | O_CREAT);
    CHECK_EQ(stub_close(fd), 0);
    idf_expect("/d/new", "", 0);
}

/* Two writers that both found no file: the second to close must not overwrite. */
TEST(exclusive_is_checked_at_close_too)
{
    int a, b;

    (void)idf_mounted();
    a = stub_open("/d/lock", O_WRONLY | O_CREAT | O_EXCL);
    b = stub_open("/d/lock", O_WRONLY | O_CREAT | O_EXCL);
    CHECK_EQ(stub_write(a, "a", 1), 1);
    CHECK_EQ(stub_write(b, "b", 1), 1);
    CHECK_EQ(stub_close(a), 0);
    CHECK_ERRNO(stub_close(b), EEXIST);
    idf_expect("/d/lock", "a", 1);
}

TEST(append_copies_and_goes_on)
{
    uint8_t *data = idf_data(1, 5000);
    int fd;

    (void)idf_mounted();
    idf_put("/d/log", data, 3000);
    fd = stub_open("/d/log", O_WRONLY | O_CREAT | O_APPEND);
    CHECK_EQ(stub_write(fd, data + 3000, 1500), 1500);
    CHECK_EQ(stub_lseek(fd, 0, SEEK_SET), 0); /* has no effect on where it appends */
    CHECK_EQ(stub_write(fd, data + 4500, 500), 500);
    CHECK_EQ(stub_close(fd), 0);
    idf_expect("/d/log", data, 5000);
    fd = stub_open("/d/log2", O_WRONLY | O_CREAT | O_APPEND);
    CHECK_EQ(stub_write(fd, data, 10), 10);
    CHECK_EQ(stub_close(fd), 0);
    idf_expect("/d/log2", data, 10);
    free(data);
}

TEST(overwriting_a_part_keeps_the_rest)
{
    uint8_t *data = idf_data(2, 4000), got[4];
    int fd;

    (void)idf_mounted();
    idf_put("/d/f", data, 4000);
    fd = stub_open("/d/f", O_RDWR);
    CHECK_EQ(stub_read(fd, got, 4), 4);
    CHECK_MEM(got, data, 4);
    CHECK_EQ(stub_lseek(fd, 1000, SEEK_SET), 1000);
    CHECK_EQ(stub_write(fd, "XYZ", 3), 3);
    CHECK_EQ(stub_read(fd, got, 4), 4); /* the old bytes behind are there */
    CHECK_MEM(got, data + 1003, 4);
    CHECK_EQ(stub_lseek(fd, 2000, SEEK_SET), 2000);
    CHECK_EQ(stub_write(fd, "Q", 1), 1);
    CHECK_EQ(stub_lseek(fd, 5, SEEK_SET), 5); /* back is too late */
    CHECK_ERRNO(stub_write(fd, "!", 1), ENOTSUP);
    CHECK_ERRNO(stub_read(fd, got, 1), ENOTSUP);
    CHECK_EQ(stub_close(fd), 0);
    memcpy(data + 1000, "XYZ", 3);
    data[2000] = 'Q';
    idf_expect("/d/f", data, 4000);
    free(data);
}

TEST(opened_for_writing_but_not_written_is_unchanged)
{
    struct idf_rig rig = idf_mounted();
    uint64_t before;
    int fd;

    idf_put("/d/f", "abc", 3);
    before = nor_mutations(rig.nor);
    fd = stub_open("/d/f", O_RDWR);
    CHECK_EQ(stub_close(fd), 0);
    CHECK_EQ(nor_mutations(rig.nor), before);
    idf_expect("/d/f", "abc", 3);
}

TEST(a_gap_is_filled_with_zeros)
{
    int fd;

    (void)idf_mounted();
    idf_put("/d/f", "abc", 3);
    fd = stub_open("/d/f", O_WRONLY);
    CHECK_EQ(stub_lseek(fd, 6, SEEK_SET), 6);
    CHECK_EQ(stub_write(fd, "x", 1), 1);
    CHECK_EQ(stub_pwrite(fd, "y", 1, 8), 1);
    CHECK_EQ(stub_lseek(fd, 0, SEEK_CUR), 7);
    CHECK_EQ(stub_close(fd), 0);
    idf_expect("/d/f", "abc\0\0\0x\0y", 9);
}

TEST(truncate_both_ways)
{
    struct stat st;
    int fd;

    (void)idf_mounted();
    idf_put("/d/f", "abcdef", 6);
    CHECK_EQ(stub_truncate("/d/f", 4), 0);
    idf_expect("/d/f", "abcd", 4);
    CHECK_EQ(stub_truncate("/d/f", 6), 0);
    idf_expect("/d/f", "abcd\0\0", 6);
    CHECK_EQ(stub_truncate("/d/f", 0), 0);
    CHECK_EQ(stub_stat("/d/f", &st), 0);
    CHECK_EQ(st.st_size, 0);
    CHECK_ERRNO(stub_truncate("/d/none", 0), ENOENT);
    CHECK_ERRNO(stub_truncate("/d/f", -1), EINVAL);
    fd = stub_open("/d/f", O_WRONLY | O_TRUNC);
    CHECK_EQ(stub_write(fd, "123456", 6), 6);
    CHECK_ERRNO(stub_ftruncate(fd, 2), ENOTSUP); /* what was written can not be taken back */
    CHECK_EQ(stub_ftruncate(fd, 6), 0);
    CHECK_EQ(stub_ftruncate(fd, 8), 0);
    CHECK_EQ(stub_close(fd), 0);
    idf_expect("/d/f", "123456\0\0", 8);
}

/* Names in a folder as one string, sorted by the order of bytes: "a,dir/,". */
static void names_of(const char *path, char *out)
{
    char names[16][80];
    int count = 0, i, j;
    DIR *dir = stub_opendir(path);
    const struct dirent *entry;

    CHECK(dir != NULL);
    while ((entry = stub_readdir(dir)) != NULL) {
        CHECK(count < 16 && strlen(entry->d_name) < 70);
        CHECK(entry->d_type == DT_REG || entry->d_type == DT_DIR);
        strcpy(names[count], entry->d_name);
        strcat(names[count++], entry->d_type == DT_DIR ? "/," : ",");
    }
    CHECK_EQ(stub_closedir(dir), 0);
    out[0] = '\0';
    for (i = 0; i < count; i++) {
        int first = -1;
        for (j = 0; j < count; j++)
            if (names[j][0] != '\0' && (first < 0 || strcmp(names[j], names[first]) < 0))
                first = j;
        strcat(out, names[first]);
        names[first][0] = '\0';
    }
}

#define CHECK_NAMES(path, expected) \
    do { \
        char text[1400]; \
        names_of((path), text); \
        CHECK_STR(text, (expected)); \
    } while (0)

TEST(folders_come_from_names)
{
    struct stat st;

    (void)idf_mounted();
    CHECK_NAMES("/d", "");
    CHECK_NAMES("/d/", "");
    idf_put("/d/top", "1", 1);
    idf_put("/d/www/index.html", "2", 1);
    idf_put("/d/www/css/a.css", "3", 1);
    idf_put("/d/www/css/b.css", "4", 1);
    idf_put("/d/www2/x", "5", 1);
    CHECK_NAMES("/d", "top,www/,www2/,");
    CHECK_NAMES("/d/www", "css/,index.html,");
    CHECK_NAMES("/d/www/css/", "a.css,b.css,");
    CHECK_EQ(stub_stat("/d/www", &st), 0);
    CHECK(S_ISDIR(st.st_mode));
    CHECK_EQ(stub_stat("/d/www/css/", &st), 0);
    CHECK_EQ(stub_stat("/d", &st), 0);
    CHECK(S_ISDIR(st.st_mode));
    CHECK_ERRNO(stub_stat("/d/ww", &st), ENOENT);
    CHECK_ERRNO(stub_stat("/d/top/", &st), ENOTDIR);
    CHECK(stub_opendir("/d/none") == NULL);
    CHECK_EQ(errno, ENOENT);
    CHECK(stub_opendir("/d/top") == NULL);
    CHECK_EQ(errno, ENOTDIR);
    CHECK_EQ(stub_unlink("/d/www2/x"), 0);
    CHECK_ERRNO(stub_stat("/d/www2", &st), ENOENT);
    CHECK_ERRNO(stub_unlink("/d/www"), EISDIR);
    CHECK_EQ(stub_unlink("/d//www/./css/a.css"), 0);
    CHECK_NAMES("/d/www/css", "b.css,");
}

TEST(mkdir_and_rmdir)
{
    struct stat st;

    (void)idf_mounted();
    CHECK_EQ(stub_mkdir("/d/m", 0777), 0);
    CHECK_ERRNO(stub_mkdir("/d/m", 0777), EEXIST);
    CHECK_EQ(stub_stat("/d/m", &st), 0);
    CHECK(S_ISDIR(st.st_mode));
    CHECK_NAMES("/d", "m/,");
    CHECK_NAMES("/d/m", "");
    CHECK_EQ(stub_rmdir("/d/m"), 0);
    CHECK_ERRNO(stub_rmdir("/d/m"), ENOENT);
    CHECK_EQ(stub_mkdir("/d/m", 0777), 0);
    idf_put("/d/m/f", "x", 1);
    CHECK_NAMES("/d", "m/,"); /* once */
    CHECK_ERRNO(stub_rmdir("/d/m"), ENOTEMPTY);
    CHECK_ERRNO(stub_mkdir("/d/m", 0777), EEXIST);
    CHECK_ERRNO(stub_mkdir("/d/m/f", 0777), EEXIST);
    CHECK_ERRNO(stub_rmdir("/d/m/f"), ENOTDIR);
    CHECK_ERRNO(stub_rmdir("/d"), EBUSY);
    CHECK_EQ(stub_mkdir("/d/p", 0777), 0);
    CHECK_EQ(stub_mkdir("/d/p/q", 0777), 0);
    CHECK_ERRNO(stub_rmdir("/d/p"), ENOTEMPTY);
    CHECK_NAMES("/d/p", "q/,");
    CHECK_EQ(stub_mkdir("/d/1", 0777), 0);
    CHECK_EQ(stub_mkdir("/d/2", 0777), 0);
    CHECK_EQ(stub_mkdir("/d/3", 0777), 0); /* more than are remembered: succeeds, there with its first file */
    CHECK_ERRNO(stub_stat("/d/3", &st), ENOENT);
    idf_put("/d/3/f", "x", 1);
    CHECK_EQ(stub_stat("/d/3", &st), 0);
}

TEST(readdir_r_telldir_seekdir)
{
    struct dirent entry, *out;
    char second[80];
    long at;
    DIR *dir;

    (void)idf_mounted();
    idf_put("/d/a", "1", 1);
    idf_put("/d/b", "1", 1);
    idf_put("/d/c", "1", 1);
    dir = stub_opendir("/d");
    CHECK_EQ(stub_readdir_r(dir, &entry, &out), 0);
    CHECK(out == &entry);
    at = stub_telldir(dir);
    CHECK_EQ(at, 1);
    CHECK_EQ(stub_readdir_r(dir, &entry, &out), 0);
    strcpy(second, entry.d_name);
    CHECK_EQ(stub_readdir_r(dir, &entry, &out), 0);
    CHECK_EQ(stub_readdir_r(dir, &entry, &out), 0);
    CHECK(out == NULL);
    stub_seekdir(dir, at);
    CHECK_STR(stub_readdir(dir)->d_name, second);
    stub_seekdir(dir, 0);
    CHECK(stub_readdir(dir) != NULL);
    CHECK(stub_readdir(dir) != NULL);
    CHECK(stub_readdir(dir) != NULL);
    CHECK(stub_readdir(dir) == NULL);
    CHECK_EQ(stub_closedir(dir), 0);
}

/* Deleting what was just listed, while the listing is open. */
TEST(delete_while_listing)
{
    struct dirent *entry;
    char path[80];
    int i, seen = 0;
    DIR *dir;

    (void)idf_mounted();
    for (i = 0; i < 20; i++) {
        snprintf(path, sizeof path, "/d/f%d", i);
        idf_put(path, "x", 1);
    }
    dir = stub_opendir("/d");
    while ((entry = stub_readdir(dir)) != NULL) {
        snprintf(path, sizeof path, "/d/%.60s", entry->d_name);
        CHECK_EQ(stub_unlink(path), 0);
        seen++;
    }
    CHECK_EQ(seen, 20);
    CHECK_EQ(stub_closedir(dir), 0);
    CHECK_NAMES("/d", "");
}

TEST(access_tells_what_is_there)
{
    (void)idf_mounted();
    idf_put("/d/dir/f", "x", 1);
    CHECK_EQ(stub_access("/d/dir/f", F_OK), 0);
    CHECK_EQ(stub_access("/d/dir/f", R_OK | W_OK), 0);
    CHECK_EQ(stub_access("/d/dir", X_OK), 0);
    CHECK_ERRNO(stub_access("/d/dir/f", X_OK), EACCES);
    CHECK_ERRNO(stub_access("/d/g", F_OK), ENOENT);
}

TEST(an_open_reader_keeps_a_deleted_file)
{
    char got[4];
    int fd;

    (void)idf_mounted();
    idf_put("/d/f", "old", 3);
    fd = stub_open("/d/f", O_RDONLY);
    idf_put("/d/f", "new!", 4);
    CHECK_EQ(stub_read(fd, got, 4), 3);
    CHECK_MEM(got, "old", 3);
    CHECK_EQ(stub_unlink("/d/f"), 0);
    CHECK_EQ(stub_lseek(fd, 0, SEEK_SET), 0);
    CHECK_EQ(stub_read(fd, got, 4), 3);
    CHECK_EQ(stub_close(fd), 0);
}

TEST(rename_to_new_and_over_existing)
{
    struct stat st;
    char got[4];
    int fd;

    (void)idf_mounted();
    idf_put("/d/a", "aaa", 3);
    idf_put("/d/b", "b", 1);
    CHECK_EQ(stub_rename("/d/a", "/d/dir/c"), 0);
    CHECK_ERRNO(stub_stat("/d/a", &st), ENOENT);
    idf_expect("/d/dir/c", "aaa", 3);
    fd = stub_open("/d/b", O_RDONLY);
    CHECK_EQ(stub_rename("/d/dir/c", "/d/b"), 0);
    CHECK_EQ(stub_read(fd, got, 4), 1); /* what was opened is what is read */
    CHECK_EQ(stub_close(fd), 0);
    idf_expect("/d/b", "aaa", 3);
    CHECK_ERRNO(stub_stat("/d/dir", &st), ENOENT);
    CHECK_EQ(stub_rename("/d/b", "/d/b"), 0);
    idf_expect("/d/b", "aaa", 3);
    CHECK_ERRNO(stub_rename("/d/none", "/d/b"), ENOENT);
    idf_put("/d/dir/x", "x", 1);
    CHECK_ERRNO(stub_rename("/d/dir", "/d/dir2"), ENOTSUP);
    CHECK_ERRNO(stub_rename("/d/b", "/d/"), EISDIR);
    CHECK_ERRNO(stub_rename("/d/b", "/d/../b"), EINVAL);
    CHECK_EQ(stub_mkdir("/d/m", 0), 0);
    CHECK_EQ(stub_rename("/d/b", "/d/m/b"), 0);
    CHECK_EQ(stub_unlink("/d/m/b"), 0);
    CHECK_ERRNO(stub_stat("/d/m", &st), ENOENT); /* it was a folder of files by then */
}

/* ---- Power cuts through the layer ---- */

/* What a session does to /d/f, which holds "the old contents". */
typedef void (*change_fn)(void);

static void change_append(void)
{
    int fd = stub_open("/d/f", O_WRONLY | O_APPEND);

    if (fd >= 0) {
        (void)stub_write(fd, ", and more", 10);
        (void)stub_close(fd);
    }
}

static void change_middle(void)
{
    int fd = stub_open("/d/f", O_RDWR);

    if (fd >= 0) {
        (void)stub_lseek(fd, 4, SEEK_SET);
        (void)stub_write(fd, "new", 3);
        (void)stub_close(fd);
    }
}

static void change_replace(void)
{
    int fd = stub_open("/d/f", O_WRONLY | O_CREAT | O_TRUNC);

    if (fd >= 0) {
        (void)stub_write(fd, "replaced", 8);
        (void)stub_close(fd);
    }
}

static void change_truncate(void)
{
    (void)stub_truncate("/d/f", 3);
}

/* The usual way to replace a file: written beside, then renamed over. */
static void change_rename(void)
{
    int fd = stub_open("/d/f.new", O_WRONLY | O_CREAT | O_TRUNC);

    if (fd >= 0) {
        (void)stub_write(fd, "renamed", 7);
        if (stub_close(fd) == 0)
            (void)stub_rename("/d/f.new", "/d/f");
    }
}

static int file_is(const char *path, const char *text)
{
    char got[64];
    int fd = stub_open(path, O_RDONLY);
    ssize_t bytes;

    if (fd < 0)
        return 0;
    bytes = stub_read(fd, got, sizeof got);
    CHECK_EQ(stub_close(fd), 0);
    return bytes == (ssize_t)strlen(text) && memcmp(got, text, strlen(text)) == 0;
}

/* Power goes at each operation of the change, in each way: the file is the old one or the new one, and the rest is there. */
TEST(cuts_leave_old_or_new)
{
    static const struct { change_fn change; const char *result; } changes[] = {
        { change_append, "the old contents, and more" }, { change_middle, "the new contents" },
        { change_replace, "replaced" }, { change_truncate, "the" }, { change_rename, "renamed" }
    };
    struct idf_rig rig = idf_mounted();
    esp_vfs_fastffs_conf_t conf = idf_conf();
    unsigned c, kind, news = 0;
    uint64_t n;

    idf_put("/d/other", "untouched", 9);
    for (c = 0; c < 5; c++)
        for (kind = NOR_FAULT_BEFORE; kind <= NOR_FAULT_WEAK_BLANK; kind++)
            for (n = 0; n < 10; n++) {
                int is_new;

                harness_note("change %u, operation %u, fault %u", c, (unsigned)n, kind);
                idf_put("/d/f", "the old contents", 16);
                nor_fault_at(rig.nor, n, 1u << NOR_PROGRAM | 1u << NOR_ERASE, (enum nor_fault_kind)kind, n * 31 + kind);
                changes[c].change();
                CHECK(esp_vfs_fastffs_unregister("data") != ESP_ERR_INVALID_STATE);
                nor_power_on(rig.nor);
                nor_fault_clear(rig.nor);
                conf.format_if_mount_failed = 0;
                CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
                is_new = file_is("/d/f", changes[c].result);
                CHECK(is_new || file_is("/d/f", "the old contents"));
                idf_expect("/d/other", "untouched", 9);
                news += (unsigned)is_new;
            }
    CHECK(news > 40 && news < 5 * 6 * 10);
}

/* ---- C-77 ---- */

TEST(c77_errors_of_descriptors)
{
    char byte = 0;
    struct stat st;
    int fd, i, fds[5];

    (void)idf_mounted();
    CHECK_ERRNO(stub_close(7), EBADF);
    CHECK_ERRNO(stub_read(7, &byte, 1), EBADF);
    CHECK_ERRNO(stub_fstat(7, &st), EBADF);
    idf_put("/d/f", "abc", 3);
    fd = stub_open("/d/f", O_RDONLY);
    CHECK_ERRNO(stub_write(fd, "x", 1), EBADF);
    CHECK_ERRNO(stub_ftruncate(fd, 0), EBADF);
    CHECK_ERRNO(stub_lseek(fd, -1, SEEK_SET), EINVAL);
    CHECK_ERRNO(stub_lseek(fd, 0, 9), EINVAL);
    CHECK_ERRNO(stub_fcntl(fd, F_SETFL, 0), ENOTSUP);
    CHECK_ERRNO(stub_ioctl(fd, 1), ENOTTY);
    CHECK_EQ(stub_close(fd), 0);
    fd = stub_open("/d/f", O_WRONLY | O_TRUNC);
    CHECK_ERRNO(stub_read(fd, &byte, 1), EBADF);
    CHECK_ERRNO(stub_fsync(fd), EINVAL); /* nothing is durable before close, and it does not claim so */
    CHECK_EQ(stub_close(fd), 0);
    for (i = 0; i < 5; i++)
        fds[i] = stub_open("/d/f", O_RDONLY);
    CHECK_ERRNO(stub_open("/d/f", O_RDONLY), ENFILE);
    for (i = 0; i < 5; i++)
        CHECK_EQ(stub_close(fds[i]), 0);
}

TEST(c77_errors_of_names)
{
    char path[400] = "/d/";
    struct stat st;

    (void)idf_mounted();
    memset(path + 3, 'n', FFFS_NAME_MAX);
    idf_put(path, "x", 1); /* the longest */
    idf_expect(path, "x", 1);
    path[3 + FFFS_NAME_MAX] = 'n';
    CHECK_ERRNO(stub_open(path, O_WRONLY | O_CREAT), ENAMETOOLONG);
    CHECK_ERRNO(stub_stat(path, &st), ENAMETOOLONG);
    CHECK_ERRNO(stub_unlink(path), ENAMETOOLONG);
    CHECK_ERRNO(stub_mkdir(path, 0), ENAMETOOLONG);
    CHECK(stub_opendir(path) == NULL);
    CHECK_EQ(errno, ENAMETOOLONG);
    memset(path + 3, 'n', 300);
    CHECK_ERRNO(stub_open(path, O_RDONLY), ENAMETOOLONG);
    CHECK_ERRNO(stub_open("/d/", O_RDONLY), EISDIR);
    CHECK_ERRNO(stub_open("/d/x/", O_WRONLY | O_CREAT), ENOTDIR);
    CHECK_ERRNO(stub_open("/d/../x", O_RDONLY), EINVAL);
    CHECK_ERRNO(stub_unlink("/d/none"), ENOENT);
    CHECK_ERRNO(stub_unlink("/d"), EISDIR);
    CHECK_ERRNO(stub_rename("/d/none", "/d/x"), ENOENT);
}

TEST(c77_no_space_leaves_the_old_version)
{
    uint8_t *data = idf_data(3, 2 * IDF_MIB);
    size_t findings = 1;
    int fd;

    (void)idf_mounted();
    idf_put("/d/f", "old", 3);
    fd = stub_open("/d/f", O_WRONLY | O_TRUNC);
    errno = 0;
    while (stub_write(fd, data, 65536) == 65536)
        ;
    CHECK_EQ(errno, ENOSPC);
    CHECK_ERRNO(stub_write(fd, data, 1), ENOSPC); /* no file with a hole */
    CHECK_ERRNO(stub_close(fd), ENOSPC);
    idf_expect("/d/f", "old", 3);
    CHECK_EQ(esp_fastffs_check("data", &findings), ESP_OK);
    CHECK_EQ(findings, 0);
    idf_put("/d/g", data, 100000);
    idf_expect("/d/g", data, 100000);
    free(data);
}

TEST(c77_too_many_files)
{
    struct idf_rig rig = idf_device("data", IDF_MIB, 0, 0);
    esp_vfs_fastffs_conf_t conf = idf_conf();
    char path[32];
    int i, fd = 0;

    (void)rig;
    conf.volume_files = 16;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    for (i = 0; i < 16; i++) {
        snprintf(path, sizeof path, "/d/%d", i);
        idf_put(path, "x", 1);
    }
    errno = 0;
    fd = stub_open("/d/more", O_WRONLY | O_CREAT);
    if (fd >= 0)
        fd = stub_close(fd);
    CHECK_EQ(fd, -1);
    CHECK_EQ(errno, ENOSPC);
}

TEST(c77_read_only)
{
    struct idf_rig rig = idf_mounted();
    esp_vfs_fastffs_conf_t conf = idf_conf();
    struct stat st;
    uint64_t before;

    idf_put("/d/f", "abc", 3);
    CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
    conf.read_only = 1;
    CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
    before = nor_mutations(rig.nor);
    idf_expect("/d/f", "abc", 3);
    CHECK_ERRNO(stub_open("/d/f", O_WRONLY), EROFS);
    CHECK_ERRNO(stub_open("/d/g", O_WRONLY | O_CREAT), EROFS);
    CHECK_ERRNO(stub_open("/d/g", O_RDONLY | O_CREAT), EROFS);
    CHECK_ERRNO(stub_unlink("/d/f"), EROFS);
    CHECK_ERRNO(stub_rename("/d/f", "/d/g"), EROFS);
    CHECK_ERRNO(stub_mkdir("/d/m", 0), EROFS);
    CHECK_ERRNO(stub_truncate("/d/f", 1), EROFS);
    CHECK_ERRNO(stub_access("/d/f", W_OK), EROFS);
    CHECK_EQ(stub_stat("/d/f", &st), 0);
    CHECK_EQ(st.st_mode & S_IWUSR, 0);
    CHECK_EQ(esp_fastffs_format("data"), ESP_ERR_INVALID_STATE);
    CHECK_EQ(nor_mutations(rig.nor), before);
    CHECK_EQ(esp_vfs_fastffs_unregister("data"), ESP_OK);
    CHECK_EQ(nor_mutations(rig.nor), before);
}

TEST(c77_io_errors)
{
    uint8_t *data = idf_data(4, 20000);
    struct stat st;
    char byte;
    int fd, writer;

    (void)idf_mounted();
    idf_put("/d/f", data, 20000);
    fd = stub_open("/d/f", O_RDONLY);
    writer = stub_open("/d/g", O_WRONLY | O_CREAT);
    CHECK_EQ(stub_lseek(fd, 9000, SEEK_SET), 9000);
    stub_fail_after(0);
    CHECK_ERRNO(stub_read(fd, &byte, 1), EIO);
    CHECK_ERRNO(stub_write(writer, data, 20000), EIO);
    CHECK_ERRNO(stub_unlink("/d/f"), EIO);
    CHECK_ERRNO(stub_stat("/d/f", &st), EIO);
    CHECK(stub_opendir("/d/sub") == NULL);
    CHECK_EQ(errno, EIO);
    stub_fail_after(-1);
    CHECK_ERRNO(stub_close(writer), EIO);
    CHECK_ERRNO(stub_stat("/d/g", &st), ENOENT);
    CHECK_EQ(stub_read(fd, &byte, 1), 1);
    CHECK_EQ(stub_close(fd), 0);
    free(data);
}

/* Every failing driver call, one after the other: each call of the layer returns -1 and an errno, or has worked. */
TEST(c77_any_driver_call_fails)
{
    uint8_t *data = idf_data(5, 3000);
    long n;

    for (n = 0; n < 8; n++) { /* the stub's table of partitions is small */
        int result[4] = { 0, 0, 0, 0 }, fd, k;
        char label[17];
        struct idf_rig rig;
        esp_vfs_fastffs_conf_t conf = idf_conf();

        snprintf(label, sizeof label, "p%ld", n);
        rig = idf_device(label, IDF_MIB / 4, 0, 0);
        conf.partition = rig.partition;
        conf.partition_label = NULL;
        CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
        idf_put("/d/f", data, 3000);
        stub_fail_after(n);
        errno = 0;
        fd = stub_open("/d/f", O_WRONLY | O_APPEND);
        if (fd >= 0) {
            result[0] = stub_write(fd, data, 1000) == 1000 ? 0 : -1;
            CHECK(result[0] == 0 || errno == EIO);
            result[1] = stub_close(fd);
            CHECK(result[1] == 0 || result[1] == -1);
        }
        result[2] = stub_unlink("/d/none");
        CHECK_EQ(result[2], -1);
        CHECK(errno == EIO || errno == ENOENT);
        stub_fail_after(-1);
        for (k = 0; k < 2; k++) {
            if (fd >= 0 && result[0] == 0 && result[1] == 0) {
                struct stat st;
                CHECK_EQ(stub_stat("/d/f", &st), 0);
                CHECK_EQ(st.st_size, 4000);
            } else
                idf_expect("/d/f", data, 3000);
            if (k == 0) { /* power off and on */
                CHECK(esp_vfs_fastffs_unregister_partition(rig.partition) != ESP_ERR_INVALID_STATE);
                CHECK_EQ(esp_vfs_fastffs_register(&conf), ESP_OK);
            }
        }
        CHECK_EQ(esp_vfs_fastffs_unregister_partition(rig.partition), ESP_OK);
    }
    free(data);
}

TEST(c77_every_status_has_an_errno)
{
    static const int expected[26] = {
        0, EIO, EIO, ENOENT, EEXIST, ENOSPC, ENOSPC, EAGAIN, EINVAL, ENAMETOOLONG, EINVAL, EBUSY, EBADF, ENODEV, EROFS, EBADF,
        ESTALE, ENODATA, EILSEQ, EPROTO, ERANGE, ENOMEM, EFBIG, ENOTSUP, EIO, EIO
    };
    int status;

    for (status = 0; status > -26; status--)
        CHECK_EQ(fffs_posix_errno(status), expected[-status]);
    CHECK_STR(fffs_status_name(-26), "FFFS_ERR_?"); /* a new status needs a row */
    CHECK_EQ(fffs_posix_errno(7), 0);
    CHECK_EQ(fffs_posix_errno(-99), EIO);
}

SUITE(idf_vfs)
{
    RUN(open_write_read_close);
    RUN(flags_create_exclusive_truncate);
    RUN(exclusive_is_checked_at_close_too);
    RUN(append_copies_and_goes_on);
    RUN(overwriting_a_part_keeps_the_rest);
    RUN(opened_for_writing_but_not_written_is_unchanged);
    RUN(a_gap_is_filled_with_zeros);
    RUN(truncate_both_ways);
    RUN(folders_come_from_names);
    RUN(mkdir_and_rmdir);
    RUN(readdir_r_telldir_seekdir);
    RUN(delete_while_listing);
    RUN(access_tells_what_is_there);
    RUN(an_open_reader_keeps_a_deleted_file);
    RUN(rename_to_new_and_over_existing);
    RUN(cuts_leave_old_or_new);
    RUN(c77_errors_of_descriptors);
    RUN(c77_errors_of_names);
    RUN(c77_no_space_leaves_the_old_version);
    RUN(c77_too_many_files);
    RUN(c77_read_only);
    RUN(c77_io_errors);
    RUN(c77_any_driver_call_fails);
    RUN(c77_every_status_has_an_errno);
}
