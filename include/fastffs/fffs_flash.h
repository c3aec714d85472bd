/* FASTFFS flash driver contract: what a port implements.
 *
 * A port fills one struct fffs_flash (it may be const) and keeps it valid while a volume on it is mounted.
 * Three functions are required: read, program, erase. All addresses are bytes from the start of the volume.
 *
 * Rules the library keeps, so that a driver may rely on them:
 *  - read:    any address and length inside the volume.
 *  - program: address and length are multiples of granule_bytes; the target granules are blank (erased and never
 *             programmed since), with one exemption: the identical repeat of a mark that a power cut left unreadable.
 *             A call may span pages and sectors of the device; the driver splits it as the chip needs.
 *  - erase:   address and length are multiples of erase_bytes[0]. Where the length is a larger size of the list and
 *             the address is a multiple of it (counting block_offset_bytes), one call is one block erase.
 *
 * Rules the driver keeps:
 *  - A call returns 0 only when the flash has finished and the result is durable; any other value is an error and is
 *    reported to the application as FFFS_ERR_IO. The library does not repeat failed calls.
 *  - Program clears bits only; erased flash reads as 0xFF, or the driver offers is_blank().
 *  - A read error that comes from an ECC word torn by a power cut may be returned as FFFS_FLASH_ECC (the bytes are then
 *    taken as torn) instead of an error.
 */
#ifndef FFFS_FLASH_H
#define FFFS_FLASH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    FFFS_FLASH_OK = 0,
    FFFS_FLASH_ECC = 1,          /* from read: the bytes could not be corrected; they count as torn */
    FFFS_FLASH_ERASE_SIZES = 3   /* how many erase sizes a driver can declare */
};

struct fffs_flash {
    /* Required. `buffer` has room for `bytes`. */
    int (*read)(void *context, uint32_t address, void *buffer, uint32_t bytes);
    /* Required. */
    int (*program)(void *context, uint32_t address, const void *data, uint32_t bytes);
    /* Required. */
    int (*erase)(void *context, uint32_t address, uint32_t bytes);
    /* Optional: called after the programs of a commit; return 0 when all earlier calls are durable. */
    int (*sync)(void *context);
    /* Optional: 1 blank, 0 not blank, negative error. Needed where erased flash does not read as all ones. */
    int (*is_blank)(void *context, uint32_t address, uint32_t bytes);
    /* Optional: a pointer through which the bytes can be read in place, or NULL where they can not. */
    const void *(*map)(void *context, uint32_t address, uint32_t bytes);
    void *context;               /* handed to every function, not used by the library */

    uint32_t size_bytes;         /* the device or partition, from address 0 */
    uint32_t granule_bytes;      /* smallest unit that can be programmed: 1, 2, 4 ... 256 */
    /* Erase sizes in ascending order, each a power of two; [0] is required, 0 ends the list. List only sizes that are
     * worth using: a larger size that costs less per byte. */
    uint32_t erase_bytes[FFFS_FLASH_ERASE_SIZES];
    /* What address 0 is offset by within the largest erase size, a multiple of erase_bytes[0]; 0 when aligned. */
    uint32_t block_offset_bytes;

    /* Declared costs, used for scheduling only; 0 where unknown. */
    uint32_t erase_us[FFFS_FLASH_ERASE_SIZES]; /* one erase call of that size, holding data */
    uint16_t program_call_us;    /* fixed cost of one program call */
    uint16_t program_byte_ns;    /* and of each byte */
    uint16_t read_call_us;       /* fixed cost of one read call */
    uint16_t read_byte_ns;       /* and of each byte */
};

#ifdef __cplusplus
}
#endif
#endif
