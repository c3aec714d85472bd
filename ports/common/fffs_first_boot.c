/* See fffs_first_boot.h.
 *
 * A cut in the first format can leave the beginning of a header, which is not blank and no volume either. The device must
 * come up on the next boot all the same: if nothing but the first bytes of the flash is programmed, there is nothing to
 * lose. */
#include "fffs_first_boot.h"

enum { BEGUN_BYTES = 256 };        /* what the first format has programmed at most before a header is complete */

static int is_blank(const struct fffs_flash *flash, uint32_t address, uint8_t *buffer, uint32_t bytes)
{
    uint32_t i;

    if (flash->is_blank != NULL)
        return flash->is_blank(flash->context, address, bytes) == 1;
    if (flash->read(flash->context, address, buffer, bytes) != FFFS_FLASH_OK)
        return 0;
    for (i = 0; i < bytes; i++)
        if (buffer[i] != 0xFF)
            return 0;
    return 1;
}

/* Whether everything from `address` on is erased. */
static int is_erased_from(const struct fffs_flash *flash, uint32_t address, uint8_t *buffer, uint32_t bytes)
{
    for (; address < flash->size_bytes; address += bytes) {
        uint32_t left = flash->size_bytes - address;
        if (!is_blank(flash, address, buffer, left < bytes ? left : bytes))
            return 0;
    }
    return 1;
}

int fffs_first_boot(const struct fffs_flash *flash, int status, enum fffs_format_policy policy, void *buffer, uint32_t bytes,
                    struct fffs_format_options *options)
{
    if (policy == FFFS_FORMAT_NEVER || (status != FFFS_ERR_BLANK && status != FFFS_ERR_FOREIGN))
        return 0;
    if (is_erased_from(flash, BEGUN_BYTES, buffer, bytes)) {
        if (!is_blank(flash, 0, buffer, bytes < BEGUN_BYTES ? bytes : BEGUN_BYTES)
            && flash->erase(flash->context, 0, flash->erase_bytes[0]) != FFFS_FLASH_OK)
            return 0;
        options->device_is_erased = is_erased_from(flash, 0, buffer, bytes);
        return 1;
    }
    return status == FFFS_ERR_BLANK || policy == FFFS_FORMAT_FOREIGN;
}
