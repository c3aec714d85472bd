/* The memory of each configuration, as sizes of objects: footprint.py reads them from the symbol table. */
#include "fastffs/fastffs.h"

/* The volume that the numbers are for: 4 MiB, segments of 64 KiB, 500 files. */
#define SEGMENTS FFFS_SEGMENTS_MAX(4194304uL, 65536uL)
#define FILES 500u

#if FOOTPRINT_CONFIG == 0 /* minimal */
#define SCRATCH FFFS_SCRATCH_MIN
#define BUFFER 64
#elif FOOTPRINT_CONFIG == 3 /* smallest: with the options of footprint.py at their smallest */
#define SCRATCH FFFS_SCRATCH_MIN
#define BUFFER FFFS_FILE_BUFFER_MIN
#elif FOOTPRINT_CONFIG == 1 /* default */
#define SCRATCH 512
#define CACHE (FILES * FFFS_CACHE_ENTRY_BYTES)
#define BUFFER 256
#else /* fast */
#define SCRATCH 4096
#define CACHE (FILES * FFFS_CACHE_ENTRY_BYTES)
#define WRITE_BUFFER 4096
#define BUFFER 256
#endif

extern struct fffs footprint_volume;
extern struct fffs_file footprint_file;
extern struct fffs_dir footprint_dir;
extern struct fffs_config footprint_config;
extern uint32_t footprint_scratch[SCRATCH / 4u];
extern uint16_t footprint_segments[SEGMENTS];
extern uint8_t footprint_file_buffer[BUFFER];

struct fffs footprint_volume;
struct fffs_file footprint_file;
struct fffs_dir footprint_dir;
struct fffs_config footprint_config;
uint32_t footprint_scratch[SCRATCH / 4u];
uint16_t footprint_segments[SEGMENTS];
uint8_t footprint_file_buffer[BUFFER];
#ifdef CACHE
extern uint32_t footprint_cache[CACHE / 4u];
uint32_t footprint_cache[CACHE / 4u];
#endif
#ifdef WRITE_BUFFER
extern uint32_t footprint_write_buffer[WRITE_BUFFER / 4u];
uint32_t footprint_write_buffer[WRITE_BUFFER / 4u];
#endif
