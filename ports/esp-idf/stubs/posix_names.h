/* Included before everything (-include) by host builds of application code: its file calls go to the stub VFS. */
#ifndef STUB_POSIX_NAMES_H
#define STUB_POSIX_NAMES_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ports/esp-idf/stubs/stub_idf.h"

#define open stub_open
#define close stub_close
#define read stub_read
#define write stub_write
#define lseek stub_lseek
#define fsync stub_fsync
#define ioctl stub_ioctl
#define fstat(fd, st) stub_fstat(fd, st)
#define stat(path, st) stub_stat(path, st)
#define unlink stub_unlink
#define rename stub_rename
#define opendir stub_opendir
#define readdir stub_readdir
#define closedir stub_closedir

#endif
