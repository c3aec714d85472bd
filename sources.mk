# The core's source files, in call order: the one list that every build uses.
FFFS_SRC = src/crc32.c src/record.c src/node.c src/flash_io.c src/extents.c src/index_cache.c src/wear.c src/index_log.c \
  src/lookup.c src/handles.c src/segments.c src/commit.c src/gc.c src/mount.c src/file.c src/rename.c src/transaction.c src/dir.c src/check.c \
  src/inspect.c src/fastffs.c
