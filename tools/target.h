/* Files below a folder of the host. Promise: nothing is written outside that folder. Names with empty parts, '.', '..' or a
 * leading '/' are refused, folders are entered one part at a time without following links, and a file appears by a rename,
 * complete or not at all. */
#ifndef TARGET_H
#define TARGET_H

#include "tool.h"

/* Why a name may not become a path; NULL when it may. */
const char *target_refusal(const char *name);

/* Opens the folder, making it when it is missing. A descriptor, or -1 with the message printed. */
int target_open(const char *folder);

/* Writes one file, of a name that is not refused, below the open folder `root`; missing folders are made. `produce` prints
 * the bytes to the stream: FFFS_OK or a status, which ends the work. An existing file is replaced, or with `keep` left alone
 * (EEXIST). FFFS_OK, the status, or IMAGE_HOST_ERROR with errno. */
int target_write(int root, const char *name, int keep, int (*produce)(void *context, FILE *stream), void *context);

#endif
