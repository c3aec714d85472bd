/* For tests: the devices behind the stubs, and what the stubs have seen. */
#ifndef STUB_IDF_H
#define STUB_IDF_H

#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "emulator/nor.h"
#include "esp_partition.h"

/* A data partition on the whole of `nor`, at this flash address. Valid for ever; up to 16. */
const esp_partition_t *stub_partition_add(const char *label, uint32_t address, struct nor *nor, int encrypted);
void stub_partitions_remove(void);
/* Every driver call from the n-th on fails (0: the next); -1: none. */
void stub_fail_after(long calls);
/* Allocations by heap_caps_calloc(); the n-th from now fails (0: the next); -1: none. */
extern unsigned stub_heap_calls, stub_heap_caps;
extern long stub_heap_fail_after;
extern unsigned stub_wdt_resets;
extern unsigned stub_tasks_created, stub_tasks_ended;
/* Time comes from this device: its virtual time. NULL: the host's. */
void stub_clock(struct nor *nor);

/* What an application's calls become behind the C library. */
int stub_open(const char *path, int flags, ...);
int stub_close(int fd);
ssize_t stub_read(int fd, void *buffer, size_t bytes);
ssize_t stub_write(int fd, const void *data, size_t bytes);
ssize_t stub_pread(int fd, void *buffer, size_t bytes, off_t offset);
ssize_t stub_pwrite(int fd, const void *data, size_t bytes, off_t offset);
off_t stub_lseek(int fd, off_t offset, int whence);
int stub_fsync(int fd);
int stub_fcntl(int fd, int command, ...);
int stub_ioctl(int fd, int command, ...);
int stub_fstat(int fd, struct stat *st);
int stub_stat(const char *path, struct stat *st);
int stub_access(const char *path, int mode);
int stub_unlink(const char *path);
int stub_rename(const char *from, const char *to);
int stub_mkdir(const char *path, mode_t mode);
int stub_rmdir(const char *path);
int stub_truncate(const char *path, off_t bytes);
int stub_ftruncate(int fd, off_t bytes);
DIR *stub_opendir(const char *path);
struct dirent *stub_readdir(DIR *dir);
int stub_readdir_r(DIR *dir, struct dirent *entry, struct dirent **out);
long stub_telldir(DIR *dir);
void stub_seekdir(DIR *dir, long position);
int stub_closedir(DIR *dir);

#endif
