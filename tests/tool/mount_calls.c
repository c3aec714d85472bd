/* System calls on a mounted volume, as no shell command makes them: error values, names that go on after unlink, offsets,
 * maps, locks. usage: mount_calls DIR [readonly | errors | full | hold]. Prints what went wrong and returns 1. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int failures;

/* The call must give -1 and this errno; 0: it must work. */
#define EXPECT(call, error) expect((call) == -1 ? errno : 0, error, #call, __LINE__)
#define CHECK(condition) expect(!(condition), 0, #condition, __LINE__)

static void expect(int got, int wanted, const char *text, int line)
{
    if (got == wanted) { return; }
    printf("line %d: %s: %s, not %s\n", line, text, strerror(got), strerror(wanted));
    failures++;
}

static int put(const char *name, const char *text, int flags)
{
    int fd = open(name, O_WRONLY | O_CREAT | flags, 0644);
    if (fd < 0) { return -1; }
    if (write(fd, text, strlen(text)) != (ssize_t)strlen(text)) { return -1; }
    return close(fd);
}

static int holds(const char *name, const char *text)
{
    char bytes[4096];
    int fd = open(name, O_RDONLY);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    if (fd >= 0) { close(fd); }
    return got == (ssize_t)strlen(text) && memcmp(bytes, text, (size_t)got) == 0;
}

/* C-77: every refusal is -1 and the errno that programs know. */
static void errors(void)
{
    char longest[400];
    struct stat facts;
    struct flock lock;
    int fd;

    memset(longest, 'n', sizeof longest);
    longest[300] = '\0';
    EXPECT(open("none", O_RDONLY), ENOENT);
    EXPECT(open("none/none", O_RDWR | O_CREAT, 0644), ENOENT);
    EXPECT(stat("none", &facts), ENOENT);
    EXPECT(unlink("none"), ENOENT);
    EXPECT(rename("none", "other"), ENOENT);
    EXPECT(rmdir("none"), ENOENT);
    EXPECT(open(longest, O_RDWR | O_CREAT, 0644), ENAMETOOLONG);
    EXPECT(mkdir(longest, 0755), ENAMETOOLONG);
    EXPECT(put("file", "text", 0), 0);
    EXPECT(rename("file", longest), ENAMETOOLONG);
    EXPECT(open("file", O_RDWR | O_CREAT | O_EXCL, 0644), EEXIST);
    EXPECT(open("file/below", O_RDONLY), ENOTDIR);
    EXPECT(mkdir("file", 0755), EEXIST);
    EXPECT(rmdir("file"), ENOTDIR);
    EXPECT(mkdir("folder", 0755), 0);
    EXPECT(mkdir("folder", 0755), EEXIST);
    EXPECT(unlink("folder"), EISDIR);
    EXPECT(open("folder", O_WRONLY), EISDIR);
    EXPECT(rename("file", "folder"), EISDIR);
    EXPECT(rename("folder", "file"), ENOTDIR);
    EXPECT(put("folder/inside", "x", 0), 0);
    EXPECT(rmdir("folder"), ENOTEMPTY);
    EXPECT(mkdir("folder/deeper", 0755), 0);
    EXPECT(rename("folder", "folder/deeper/still"), EINVAL);
    EXPECT(symlink("file", "link"), EPERM);
    EXPECT(link("file", "link"), EPERM);
    EXPECT(truncate("file", -1), EINVAL);
    EXPECT(truncate("file", (off_t)1 << 40), EFBIG);
    fd = open("file", O_RDONLY);
    CHECK(fd >= 0);
    EXPECT(write(fd, "x", 1), EBADF);
    close(fd);
    EXPECT(close(fd), EBADF);
    fd = open("file", O_RDWR);
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_len = 10;
    EXPECT(fcntl(fd, F_SETLK, &lock), ENOTSUP);    /* what databases need first */
    EXPECT(close(fd), 0);
    CHECK(holds("file", "text"));
}

static void read_only(void)
{
    CHECK(holds("file", "text"));
    EXPECT(open("file", O_WRONLY), EROFS);
    EXPECT(open("new", O_WRONLY | O_CREAT, 0644), EROFS);
    EXPECT(unlink("file"), EROFS);
    EXPECT(rename("file", "other"), EROFS);
    EXPECT(mkdir("other", 0755), EROFS);
    EXPECT(truncate("file", 0), EROFS);
    CHECK(holds("file", "text"));
}

/* Writes until no room is left: an error at the write or the close, and what was committed is whole. */
static void full(void)
{
    static char block[8192];
    char name[32];
    unsigned i, j;
    int failed = 0;

    for (i = 0; i < 4000 && !failed; i++) {
        int fd;
        sprintf(name, "f%u", i);
        fd = open(name, O_WRONLY | O_CREAT, 0644);
        if (fd < 0) { break; }
        memset(block, (int)('a' + i % 26), sizeof block);
        if (write(fd, block, sizeof block) < 0) { failed = errno; }
        if (close(fd) != 0 && !failed) { failed = errno; }
    }
    CHECK(failed == ENOSPC);
    CHECK(i > 3);
    for (j = 0; j + 1 < i; j++) {
        int fd;
        sprintf(name, "f%u", j);
        fd = open(name, O_RDONLY);
        CHECK(read(fd, block, sizeof block) == (ssize_t)sizeof block);
        CHECK(block[0] == (char)('a' + j % 26) && memcmp(block, block + 1, sizeof block - 1) == 0);
        close(fd);
    }
    EXPECT(unlink("f0"), 0);
    EXPECT(rename("f1", "f2"), 0);
    EXPECT(put("small", "there is room again", 0), 0);
    CHECK(holds("small", "there is room again"));
}

/* What POSIX promises of open files. */
static void open_files(void)
{
    struct stat facts;
    struct statvfs space;
    char bytes[64];
    char *map;
    int fd, other;

    EXPECT(put("a", "old text", 0), 0);
    fd = open("a", O_WRONLY | O_TRUNC);
    CHECK(write(fd, "new", 3) == 3);
    CHECK(holds("a", "new"));                           /* seen by others on this machine before the close */
    EXPECT(close(fd), 0);
    EXPECT(put("a", " and more", O_APPEND), 0);
    CHECK(holds("a", "new and more"));

    fd = open("a", O_RDWR);                             /* any offset while it is open */
    CHECK(pwrite(fd, "N", 1, 0) == 1 && pwrite(fd, "!", 1, 14) == 1);
    CHECK(pread(fd, bytes, sizeof bytes, 0) == 15 && memcmp(bytes, "New and more\0\0!", 15) == 0);
    EXPECT(ftruncate(fd, 3), 0);
    CHECK(fstat(fd, &facts) == 0 && facts.st_size == 3);
    EXPECT(fsync(fd), 0);
    EXPECT(close(fd), 0);
    CHECK(holds("a", "New"));

    fd = open("a", O_RDWR);                             /* deleted and replaced while open */
    EXPECT(unlink("a"), 0);
    EXPECT(access("a", F_OK), ENOENT);
    EXPECT(put("a", "another", 0), 0);
    CHECK(write(fd, "x", 1) == 1 && pread(fd, bytes, 8, 0) == 3 && memcmp(bytes, "xew", 3) == 0);
    EXPECT(close(fd), 0);
    CHECK(holds("a", "another"));

    fd = open("tmp", O_WRONLY | O_CREAT, 0644);         /* renamed over another while both are open */
    other = open("a", O_RDONLY);
    CHECK(write(fd, "beside", 6) == 6);
    EXPECT(rename("tmp", "a"), 0);
    CHECK(holds("a", "beside"));
    CHECK(write(fd, "s", 1) == 1);
    EXPECT(close(fd), 0);
    CHECK(holds("a", "besides"));
    CHECK(read(other, bytes, 20) == 7 && memcmp(bytes, "another", 7) == 0);
    EXPECT(close(other), 0);
    EXPECT(access("tmp", F_OK), ENOENT);

    fd = open("a", O_RDWR);
    map = mmap(NULL, 7, PROT_READ, MAP_SHARED, fd, 0);
    CHECK(map != MAP_FAILED && memcmp(map, "besides", 7) == 0);
    if (map != MAP_FAILED) { munmap(map, 7); }
    close(fd);

    CHECK(stat("a", &facts) == 0);
    EXPECT(put("b", "newer", 0), 0);
    CHECK(stat("b", &facts) == 0 && S_ISREG(facts.st_mode));
    CHECK(statvfs(".", &space) == 0 && space.f_blocks > 0 && space.f_bfree < space.f_blocks && space.f_namemax >= 8);
}

/* Folders are parts of names. */
static void folders(void)
{
    struct stat facts;

    EXPECT(mkdir("one", 0755), 0);
    EXPECT(mkdir("one/two", 0755), 0);
    EXPECT(put("one/two/file", "1", 0), 0);
    EXPECT(put("one/top", "2", 0), 0);
    EXPECT(rename("one", "uno"), 0);
    CHECK(holds("uno/two/file", "1") && holds("uno/top", "2"));
    EXPECT(stat("one", &facts), ENOENT);
    EXPECT(unlink("uno/two/file"), 0);
    CHECK(stat("uno/two", &facts) == 0 && S_ISDIR(facts.st_mode));     /* the empty folder stays for this mount */
    EXPECT(rmdir("uno/two"), 0);
    EXPECT(stat("uno/two", &facts), ENOENT);
    EXPECT(unlink("uno/top"), 0);
    EXPECT(rmdir("uno"), 0);
    EXPECT(mkdir("empty", 0755), 0);
    EXPECT(mkdir("target", 0755), 0);
    EXPECT(put("target/full", "3", 0), 0);
    EXPECT(rename("empty", "target"), ENOTEMPTY);
    EXPECT(rename("target", "empty"), 0);
    CHECK(holds("empty/full", "3"));
}

/* A file that is written and stays open until the end. */
static void hold(void)
{
    int fd = open("open", O_WRONLY | O_CREAT, 0644);

    CHECK(write(fd, "never closed", 12) == 12);
    puts("open");
    fflush(stdout);
    for (;;) { sleep(10); }
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[2] : "files";

    if (argc < 2 || chdir(argv[1]) != 0) { return 2; }
    if (strcmp(what, "readonly") == 0) { read_only(); }
    else if (strcmp(what, "errors") == 0) { errors(); }
    else if (strcmp(what, "full") == 0) { full(); }
    else if (strcmp(what, "hold") == 0) { hold(); }
    else { open_files(); folders(); }
    return failures != 0;
}
