/* The flash driver: a flash area of Zephyr. */
#include <errno.h>
#include <string.h>

#include <zephyr/drivers/flash.h>
#include <zephyr/storage/flash_map.h>

#include "fastffs_zephyr/fastffs.h"

static int area_read(void *context, uint32_t address, void *buffer, uint32_t bytes)
{
	return flash_area_read(context, (off_t)address, buffer, bytes) == 0 ? FFFS_FLASH_OK : -1;
}

static int area_program(void *context, uint32_t address, const void *data, uint32_t bytes)
{
	return flash_area_write(context, (off_t)address, data, bytes) == 0 ? FFFS_FLASH_OK : -1;
}

static int area_erase(void *context, uint32_t address, uint32_t bytes)
{
	return flash_area_erase(context, (off_t)address, bytes) == 0 ? FFFS_FLASH_OK : -1;
}

int fastffs_area_init(struct fffs_flash *flash, const struct flash_area *area)
{
	const struct device *device = flash_area_get_device(area);
	struct flash_pages_info page;
	void *context;

	if (device == NULL || flash_get_page_info_by_offs(device, area->fa_off, &page) != 0) {
		return -EIO;
	}
	/* Erased flash must read as ones, and pages must be alike: the first stands for all. */
	if (flash_area_erased_val(area) != 0xFF || page.size < 256 || (page.size & (page.size - 1)) != 0) {
		return -ENOTSUP;
	}
	memset(flash, 0, sizeof(*flash));
	memcpy(&context, &area, sizeof(context)); /* the area is const, the context is not */
	flash->context = context;
	flash->read = area_read;
	flash->program = area_program;
	flash->erase = area_erase;
	flash->size_bytes = (uint32_t)area->fa_size;
	flash->granule_bytes = flash_area_align(area);
	flash->erase_bytes[0] = (uint32_t)page.size;
#if CONFIG_FASTFFS_BLOCK_ERASE_SIZE > 0
	if (CONFIG_FASTFFS_BLOCK_ERASE_SIZE > page.size) {
		flash->erase_bytes[1] = CONFIG_FASTFFS_BLOCK_ERASE_SIZE;
		flash->block_offset_bytes = (uint32_t)area->fa_off % CONFIG_FASTFFS_BLOCK_ERASE_SIZE;
	}
#endif
	return 0;
}
