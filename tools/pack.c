/* Host files into an image. Owns the write loop, the search for the smallest image and the message when one is too small.
 * All of it happens in memory: nothing here touches the image file. */
#include "pack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 65536, FILE_BUFFER_BYTES = 4096, SECTORS_MIN = 8, SECTORS_MAX = 65535 };

struct pack_buffers {
    uint8_t chunk[CHUNK_BYTES];
    uint32_t file_buffer[FILE_BUFFER_BYTES / sizeof(uint32_t)];
};

/* Copies the host's stream into an open writer. */
static int copy_stream(struct image *image, struct fffs_file *writer, FILE *stream, const struct tree_file *file,
                       uint8_t *chunk)
{
    uint64_t total = 0;
    size_t got;
    int32_t put;

    while ((got = fread(chunk, 1, CHUNK_BYTES, stream)) > 0) {
        put = fffs_write(&image->fs, writer, chunk, (uint32_t)got);
        if (put < 0)
            return (int)put;
        total += got;
    }
    if (ferror(stream)) {
        tool_error(file->path, "can not be read: %s", strerror(errno));
        return IMAGE_HOST_ERROR;
    }
    if (total != file->bytes) {
        tool_error(file->path, "changed while it was read: try again");
        return IMAGE_HOST_ERROR;
    }
    return FFFS_OK;
}

static int pack_file(struct image *image, const struct tree_file *file, struct pack_buffers *buffers)
{
    struct fffs_file writer;
    FILE *stream = fopen(file->path, "rb");
    int status;

    if (stream == NULL) {
        tool_error(file->path, "%s", strerror(errno));
        return IMAGE_HOST_ERROR;
    }
    memset(&writer, 0, sizeof writer);
    status = fffs_open(&image->fs, &writer, file->name, FFFS_WRITE | FFFS_CREATE | FFFS_TRUNCATE, buffers->file_buffer,
                       FILE_BUFFER_BYTES);
    if (status == FFFS_OK) {
        status = copy_stream(image, &writer, stream, file, buffers->chunk);
        if (status == FFFS_OK)
            status = fffs_close(&image->fs, &writer);
        else
            (void)fffs_discard(&image->fs, &writer);
    }
    fclose(stream);
    return status;
}

int pack_tree(struct image *image, const struct tree *tree, struct pack_result *result, int progress)
{
    struct pack_buffers *buffers = tool_alloc(sizeof *buffers);
    struct fffs_space space;

    memset(result, 0, sizeof *result);
    result->status = fffs_space(&image->fs, &space);
    if (result->status == FFFS_OK) {
        result->free_before = space.free_bytes;
        result->max_files = space.max_files;
    }
    while (result->status == FFFS_OK && result->done < tree->count) {
        const struct tree_file *file = &tree->files[result->done];

        if (progress)
            tool_progress(result->done, tree->count, file->name);
        result->status = pack_file(image, file, buffers);
        if (result->status == FFFS_OK)
            result->done++;
        else
            result->failed = file;
    }
    tool_progress_end();
    free(buffers);
    return result->status;
}

/* ---- Comparing ---- */

static int compare_stream(struct image *image, struct fffs_file *reader, FILE *stream, uint8_t *chunk)
{
    uint8_t *other = chunk + CHUNK_BYTES / 2;
    size_t want = CHUNK_BYTES / 2, got;
    int32_t have;

    do {
        got = fread(chunk, 1, want, stream);
        have = fffs_read(&image->fs, reader, other, (uint32_t)want);
        if (have < 0)
            return (int)have;
        if ((size_t)have != got || memcmp(chunk, other, got) != 0)
            return 1;
    } while (got > 0);
    return 0;
}

/* 0 equal, 1 different, or a negative status. */
static int compare_file(struct image *image, const struct tree_file *file, struct pack_buffers *buffers)
{
    struct fffs_file reader;
    FILE *stream = fopen(file->path, "rb");
    int result;

    if (stream == NULL)
        return 1;
    memset(&reader, 0, sizeof reader);
    result = fffs_open(&image->fs, &reader, file->name, FFFS_READ, buffers->file_buffer, FILE_BUFFER_BYTES);
    if (result == FFFS_OK) {
        result = compare_stream(image, &reader, stream, buffers->chunk);
        (void)fffs_close(&image->fs, &reader);
    }
    fclose(stream);
    return result;
}

int pack_compare(struct image *image, const struct tree *tree)
{
    struct pack_buffers *buffers = tool_alloc(sizeof *buffers);
    int result = 0;
    size_t i;

    for (i = 0; i < tree->count && result == 0; i++) {
        result = compare_file(image, &tree->files[i], buffers);
        if (result != 0)
            tool_error(tree->files[i].path, "its copy in the image, '%s', %s", tool_name_text(tree->files[i].name),
                       result > 0 ? "differs" : tool_status_text(result));
    }
    free(buffers);
    return result == 0 ? 0 : -1;
}

/* ---- Building and measuring ---- */

/* The plan with room for every name of the tree. */
static struct image_plan plan_for(const struct tree *tree, const struct image_plan *plan)
{
    struct image_plan result = *plan;
    struct fffs_geometry geometry;

    if (plan->geometry.max_files == 0 && image_plan_geometry(plan, &geometry) == FFFS_OK &&
        geometry.max_files < tree->count)
        result.geometry.max_files = (uint32_t)tree->count;
    return result;
}

int pack_build(struct image **image, const char *path, const struct tree *tree, const struct image_plan *plan,
               struct pack_result *result, int progress)
{
    struct image_plan real = plan_for(tree, plan);

    memset(result, 0, sizeof *result);
    result->status = image_make(image, path, &real);
    if (result->status == FFFS_OK)
        result->status = image_mount(*image, 0);
    if (result->status == FFFS_OK)
        (void)pack_tree(*image, tree, result, progress);
    if (result->status == FFFS_OK) {
        result->status = fffs_unmount(&(*image)->fs);
        (*image)->mounted = 0;
    }
    if (result->status != FFFS_OK) {
        image_close(*image);
        *image = NULL;
    }
    return result->status;
}

/* 1 the tree fits, 0 not, negative when no size will do: a host error, or names that no index takes. */
static int fits(const struct tree *tree, const struct image_plan *plan, uint32_t sectors)
{
    struct image_plan real = *plan;
    struct pack_result result;
    struct image *image = NULL;

    real.size_bytes = sectors * image_sector_bytes(plan);
    (void)pack_build(&image, "", tree, &real, &result, 0);
    image_close(image);
    if (result.status == IMAGE_HOST_ERROR || result.status == FFFS_ERR_INDEX_FULL)
        return result.status;
    return result.status == FFFS_OK;
}

static uint32_t segment_bytes(const struct image_plan *plan, uint32_t sectors)
{
    struct image_plan real = *plan;
    struct fffs_geometry geometry;

    real.size_bytes = sectors * image_sector_bytes(plan);
    return image_plan_geometry(&real, &geometry) == FFFS_OK ? geometry.segment_bytes : 0;
}

/* The last sector count with the same segment size as `first`. Larger volumes get larger segments, and with them more
 * overhead: what fits grows steadily only between such steps. */
static uint32_t end_of_step(const struct image_plan *plan, uint32_t first, uint32_t last)
{
    uint32_t bytes = segment_bytes(plan, first), low = first, high, middle;

    for (high = first; high < last && segment_bytes(plan, high) == bytes; high = high > last / 2 ? last : 2 * high)
        low = high;
    if (segment_bytes(plan, high) == bytes)
        return high;
    while (high - low > 1) {
        middle = low + (high - low) / 2;
        if (segment_bytes(plan, middle) == bytes)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Narrows `low` (does not fit) and `high` (fits) until they are neighbours. */
static int bisect(const struct tree *tree, const struct image_plan *plan, uint32_t low, uint32_t *high)
{
    uint32_t middle;
    int fit;

    while (*high - low > 1) {
        middle = low + (*high - low) / 2;
        fit = fits(tree, plan, middle);
        if (fit < 0)
            return fit;
        if (fit > 0)
            *high = middle;
        else
            low = middle;
    }
    return FFFS_OK;
}

int pack_smallest(const struct tree *tree, const struct image_plan *plan, uint32_t *size_bytes)
{
    uint32_t sector = image_sector_bytes(plan), high, end;
    uint32_t last = UINT32_MAX / sector < SECTORS_MAX ? UINT32_MAX / sector : SECTORS_MAX;
    uint64_t payload = tree->bytes / sector;
    uint32_t low = payload <= SECTORS_MIN ? SECTORS_MIN - 1 : payload > last ? last : (uint32_t)payload;
    int status = 0;

    if (plan->geometry.max_files != 0 && plan->geometry.max_files < tree->count)
        return FFFS_ERR_INDEX_FULL;
    /* Invariant: `low` does not fit, at first because it has too few sectors or no more bytes than the files. */
    high = end = low;
    while (status == 0 && low < last) {
        low = high;
        if (low == end)
            end = end_of_step(plan, low + 1, last);
        high = end - low <= low / 4 + 1 ? end : low + low / 4 + 1;
        status = fits(tree, plan, high);
        if (status == 0 && high == last)
            return FFFS_ERR_NO_SPACE;
    }
    if (status == 1)
        status = bisect(tree, plan, low, &high);
    else if (status == 0)
        status = FFFS_ERR_NO_SPACE;
    *size_bytes = high * sector;
    return status;
}

/* ---- The message when an image is too small ---- */

/* Bytes that the files take on a volume like the plan's, rounding and names included; 0 when that can not be found. */
static uint64_t needed_bytes(const struct tree *tree, const struct image_plan *plan, uint32_t size_bytes)
{
    struct image_plan real = *plan;
    struct pack_result result;
    struct fffs_space space;
    struct image *image = NULL;
    uint64_t needed = 0;

    real.size_bytes = size_bytes;
    (void)pack_build(&image, "", tree, &real, &result, 0);
    if (image != NULL && image_mount(image, FFFS_MOUNT_READ_ONLY) == FFFS_OK && fffs_space(&image->fs, &space) == FFFS_OK)
        needed = space.used_bytes;
    image_close(image);
    return needed;
}

/* No room for a file: what was needed and available, and what would do. */
static void report_too_small(const char *image_path, const struct tree *tree, const struct pack_result *result,
                             const struct image_plan *plan)
{
    const char *name = tool_name_text(result->failed->name);
    char text[TOOL_SIZE_TEXT];
    uint32_t smallest;

    if (pack_smallest(tree, plan, &smallest) != FFFS_OK)
        tool_error(image_path, "too small: '%s' does not fit (%zu of %zu files did); needed are more than %" PRIu64
                   " bytes, available were %" PRIu32 "; no image size works with these options", name, result->done,
                   tree->count, tree->bytes, result->free_before);
    else
        tool_error(image_path, "too small: '%s' does not fit (%zu of %zu files did); needed are %" PRIu64
                   " bytes, available were %" PRIu32 "; a new image for these files takes at least %s", name, result->done,
                   tree->count, needed_bytes(tree, plan, smallest), result->free_before, tool_size_text(smallest, text));
}

void pack_report(const char *image_path, const struct tree *tree, const struct pack_result *result,
                 const struct image_plan *plan)
{
    const char *name = result->failed != NULL ? tool_name_text(result->failed->name) : "";

    if (result->status == IMAGE_HOST_ERROR)
        return;
    if (result->failed == NULL)
        tool_error(image_path, "%s", tool_status_text(result->status));
    else if (result->status == FFFS_ERR_NO_SPACE)
        report_too_small(image_path, tree, result, plan);
    else if (result->status == FFFS_ERR_INDEX_FULL)
        tool_error(image_path, "no room for the name '%s' (%zu of %zu files were written): the index is made for %" PRIu32
                   " names; create an image with a larger --max-files", name, result->done, tree->count, result->max_files);
    else if (result->status == FFFS_ERR_NAME_TOO_LONG)
        tool_error(image_path, "'%s' has a name of %zu bytes, longer than the segments of this image can hold", name,
                   strlen(result->failed->name));
    else
        tool_error(image_path, "'%s': %s", name, tool_status_text(result->status));
}
