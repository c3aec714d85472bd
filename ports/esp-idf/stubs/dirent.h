/* Stub: ESP-IDF's DIR and dirent instead of the host's. */
#ifndef STUB_DIRENT_H
#define STUB_DIRENT_H

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct { uint16_t dd_vfs_idx, dd_rsv; } DIR;
struct dirent {
    ino_t d_ino;
    uint8_t d_type;
#define DT_UNKNOWN 0
#define DT_REG 1
#define DT_DIR 2
    char d_name[256];
};

DIR *opendir(const char *path);
struct dirent *readdir(DIR *dir);
int closedir(DIR *dir);
void rewinddir(DIR *dir);

#ifdef __cplusplus
}
#endif
#endif
