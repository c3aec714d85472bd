/* Two files that belong together, replaced as one: a program and the list of its checksums. */
#include <stdio.h>
#include "emulator/nor.h"      /* on a board: your own struct fffs_flash instead */
#include "fastffs/fastffs.h"

static struct fffs fs;
static struct fffs_file program, list;
static struct fffs_txn txn;
static struct fffs_change changes[4]; /* a put or a delete takes one, a rename two */
static uint32_t scratch[128];
static uint16_t segments[FFFS_SEGMENTS_MAX(1048576, 4096)];
static uint8_t buffers[2][256];

static int update(const char *code, const char *sums)
{
    int status = fffs_txn_begin(&fs, &txn, changes, 4);

    if (status < 0) return status;
    if ((status = fffs_open(&fs, &program, "program", FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, buffers[0], 256)) < 0 ||
        (status = fffs_open(&fs, &list, "sums", FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, buffers[1], 256)) < 0 ||
        (status = (int)fffs_write(&fs, &program, code, 4)) < 0 || (status = (int)fffs_write(&fs, &list, sums, 4)) < 0 ||
        (status = fffs_txn_put(&fs, &txn, &program)) < 0 || (status = fffs_txn_put(&fs, &txn, &list)) < 0 ||
        ((status = fffs_txn_delete(&fs, &txn, "note")) < 0 && status != FFFS_ERR_NOT_FOUND)) {
        fffs_discard(&fs, &program); /* a handle that is not open says so, which is no harm */
        fffs_discard(&fs, &list);
        fffs_txn_abort(&fs, &txn);   /* nothing of it has happened */
        return status;
    }
    return fffs_txn_commit(&fs, &txn); /* all of it, whatever power does */
}

int main(void)
{
    struct nor_config chip = { .size_bytes = 1048576 };
    struct fffs_config config = {
        .flash = nor_flash(nor_create(&chip)), .scratch = scratch, .scratch_bytes = sizeof scratch,
        .segment_table = segments, .segment_table_entries = sizeof segments / sizeof segments[0] };
    struct fffs_info facts;

    if (fffs_format(&fs, &config, NULL) < 0 || fffs_mount(&fs, &config) < 0) return 1;
    if (update("one ", "1111") < 0 || update("two ", "2222") < 0) return 1;
    if (fffs_stat(&fs, "program", &facts) < 0 || facts.size != 4) return 1;
    if (fffs_stat(&fs, "sums", &facts) < 0) return 1;
    puts("both files are of the second version");
    return fffs_unmount(&fs);
}
