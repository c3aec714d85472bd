/* Counts boots in a file on the partition storage_partition. */
#include <stdio.h>
#include <stdlib.h>

#include "fastffs_zephyr/fastffs.h"

FASTFFS_DECLARE_DEFAULT_CONFIG(storage);

static struct fs_mount_t mount = {
	.type = FS_FASTFFS, .fs_data = &storage, .mnt_point = "/data",
	.storage_dev = (void *)FIXED_PARTITION_ID(storage_partition),
};

static int count_boot(void)
{
	struct fs_file_t file;
	char text[16] = "";
	int count, length, result;

	fs_file_t_init(&file);
	if (fs_open(&file, "/data/boots", FS_O_READ) == 0) {
		(void)fs_read(&file, text, sizeof(text) - 1);
		(void)fs_close(&file);
	}
	count = atoi(text) + 1;
	length = snprintf(text, sizeof(text), "%d", count);
	fs_file_t_init(&file);
	result = fs_open(&file, "/data/boots", FS_O_WRITE | FS_O_CREATE);
	if (result < 0) {
		return result;
	}
	result = fs_write(&file, text, (size_t)length) == length ? fs_truncate(&file, length) : -1;
	return fs_close(&file) == 0 && result == 0 ? count : -1; /* the close is the commit */
}

int main(void)
{
	int result = fs_mount(&mount);

	printf("mount: %d, %s%s\n", result, fffs_status_name(storage.mount_status), storage.formatted ? ", formatted" : "");
	if (result == 0) {
		printf("boot number %d\n", count_boot());
		(void)fs_unmount(&mount);
	}
	return 0;
}
