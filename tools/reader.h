/* Reading one file of a mounted image from begin to end. */
#ifndef READER_H
#define READER_H

#include "image.h"

enum { READER_STOPPED = -1001 };    /* the receiver refused the bytes */

/* Hands the bytes of file `name` to `take`, in pieces; a nonzero result ends it. FFFS_OK, a status, or READER_STOPPED. */
int reader_copy(struct image *image, const char *name, int (*take)(void *context, const uint8_t *bytes, size_t count),
                void *context);

#endif
