/* FASTFFS compile-time limits. Define them on the compiler's command line, the same for library and application. */
#ifndef FFFS_OPTS_H
#define FFFS_OPTS_H

/* Longest file name in bytes, without the NUL. Range 8..255. The format allows 255; an image that holds longer names
 * mounts, and those names answer FFFS_ERR_NAME_TOO_LONG. RAM: a directory entry holds one name. */
#ifndef FFFS_NAME_MAX
#define FFFS_NAME_MAX 64
#endif

/* Folders that an open directory remembers having returned. Range 1..64. 8 bytes each. More folders than that are found
 * too, with one more read per file of a forgotten folder that was seen before. */
#ifndef FFFS_DIR_FOLDERS
#define FFFS_DIR_FOLDERS 16
#endif

/* Extents that an open writer keeps in RAM before it writes a table block. Range 3..28. 8 bytes each, per open file. */
#ifndef FFFS_FILE_EXTENTS
#define FFFS_FILE_EXTENTS 5
#endif

/* Index records that one walk of the log collects at a time. Range 2..32. 8 bytes each, on the stack. */
#ifndef FFFS_BATCH
#define FFFS_BATCH 8
#endif

#endif
