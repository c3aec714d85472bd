/* Compiled, not linked, for a 32-bit target: the sizes of these arrays are what the state structs take there. */
#include "fastffs/fastffs.h"

char bench_size_volume[sizeof(struct fffs)];
char bench_size_file[sizeof(struct fffs_file)];
