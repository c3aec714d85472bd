/* Files: open, read, write, seek, close; facts and deletes by name. */
#ifndef FFFS_FILE_H
#define FFFS_FILE_H

#include "volume.h"

/* As the public calls of the same names; the entry has checked the volume, the handle and whether changes may be made. */
int fffs_file_open(struct fffs *fs, struct fffs_file *file, const char *name, unsigned flags, void *buffer,
                   uint32_t buffer_bytes);
/* Readers alone, without what writers need. */
int fffs_file_open_reading(struct fffs *fs, struct fffs_file *file, const char *name, void *buffer, uint32_t buffer_bytes);
int32_t fffs_file_read(struct fffs *fs, struct fffs_file *file, void *buffer, uint32_t bytes);
int32_t fffs_file_write(struct fffs *fs, struct fffs_file *file, const void *data, uint32_t bytes);
int32_t fffs_file_seek(struct fffs *fs, struct fffs_file *file, int32_t offset, int whence);
int32_t fffs_file_tell(struct fffs *fs, struct fffs_file *file);
int fffs_file_fstat(struct fffs *fs, struct fffs_file *file, struct fffs_info *info);
int fffs_file_close(struct fffs *fs, struct fffs_file *file);
/* Writes the rest and the node for a slot that the caller has chosen and will commit; the writer stays open. */
int fffs_file_finish(struct fffs *fs, struct fffs_file *file, uint16_t slot, uint8_t tag, struct fffs_record *record);
int fffs_file_discard(struct fffs *fs, struct fffs_file *file);
int32_t fffs_file_map(struct fffs *fs, struct fffs_file *file, uint32_t offset, const void **data);
int fffs_file_stat(struct fffs *fs, const char *name, struct fffs_info *info);
int fffs_file_exists(struct fffs *fs, const char *name);
int fffs_file_delete(struct fffs *fs, const char *name);

#endif
