/* Build or change an image in memory, compare it when asked to, then replace the file: nothing is written before the last
 * step, so a failure leaves the file as it was. */
#include "build.h"

#include <inttypes.h>
#include <string.h>

static void print_skipped(const struct tree *tree, const struct build_options *options)
{
    if (tree->skipped > 0 && !options->quiet)
        printf("left out: %zu (.git, .DS_Store); --all takes them\n", tree->skipped);
}

/* Compares if asked to; the volume is mounted again for it, as a device would. */
static int verify(struct image *image, const struct tree *tree, const struct build_options *options)
{
    int status = FFFS_OK;

    if (!options->verify)
        return EXIT_OK;
    if (image->mounted)
        status = fffs_unmount(&image->fs);
    image->mounted = 0;
    if (status == FFFS_OK)
        status = image_mount(image, FFFS_MOUNT_READ_ONLY);
    if (status != FFFS_OK) {
        tool_error(image->path, "mounting what was written failed: %s", tool_status_text(status));
        return EXIT_FAILED;
    }
    return pack_compare(image, tree) == 0 ? EXIT_OK : EXIT_FAILED;
}

int build_create(const char *path, const struct tree *tree, const struct image_plan *plan,
                 const struct build_options *options)
{
    struct pack_result result;
    struct nor_counts counts;
    struct image *image;
    char size[TOOL_SIZE_TEXT];
    int code;

    if (pack_build(&image, path, tree, plan, &result, !options->quiet) != FFFS_OK) {
        pack_report(path, tree, &result, plan);
        return EXIT_FAILED;
    }
    counts = *nor_counts(image->nor);
    code = verify(image, tree, options);
    if (code == EXIT_OK && image_save(image) != FFFS_OK)
        code = EXIT_FAILED;
    if (code == EXIT_OK && !options->quiet) {
        printf("%s: %s, %zu files, %" PRIu64 " bytes\n", path, tool_size_text(nor_size(image->nor), size), tree->count,
               tree->bytes);
        print_skipped(tree, options);
        if (options->verbose)
            tool_print_counts(stdout, "create", &counts, tree->count);
    }
    image_close(image);
    return code;
}

/* A plan for a new image of the same kind as an existing one. */
static struct image_plan plan_like(const struct image *image)
{
    struct image_plan plan;

    memset(&plan, 0, sizeof plan);
    plan.granule_bytes = image->geometry.granule_bytes;
    plan.geometry.sector_bytes = image->geometry.sector_bytes;
    plan.size_bytes = nor_size(image->nor);
    return plan;
}

static int save_loaded(struct image *image, const struct tree *tree, const struct build_options *options)
{
    struct nor_counts counts = *nor_counts(image->nor);
    int code = verify(image, tree, options);

    if (code == EXIT_OK && image_save(image) != FFFS_OK)
        code = EXIT_FAILED;
    if (code == EXIT_OK && !options->quiet) {
        printf("%s: %zu files, %" PRIu64 " bytes written\n", image->path, tree->count, tree->bytes);
        print_skipped(tree, options);
        if (options->verbose)
            tool_print_counts(stdout, "load", &counts, tree->count);
    }
    return code;
}

static int measure_loaded(struct image *image, const struct tree *tree, const struct build_options *options)
{
    struct image_plan plan = plan_like(image);

    if (!options->quiet && !options->json)
        printf("%s: the files fit, nothing was written\n", image->path);
    return build_measure(tree, &plan, options);
}

int build_load(const char *path, const struct tree *tree, const struct build_options *options, int dry_run)
{
    struct pack_result result;
    struct image_plan plan;
    struct image *image;
    int code;

    if (image_open_mounted(&image, path, 0) != FFFS_OK)
        return EXIT_FAILED;
    if (pack_tree(image, tree, &result, !options->quiet) != FFFS_OK) {
        plan = plan_like(image);
        pack_report(path, tree, &result, &plan);
        code = EXIT_FAILED;
    } else if (dry_run) {
        code = measure_loaded(image, tree, options);
    } else {
        code = save_loaded(image, tree, options);
    }
    image_close(image);
    return code;
}

int build_measure(const struct tree *tree, const struct image_plan *plan, const struct build_options *options)
{
    char size[TOOL_SIZE_TEXT];
    uint32_t smallest;
    int status = pack_smallest(tree, plan, &smallest);

    if (status != FFFS_OK) {
        if (status != IMAGE_HOST_ERROR)
            tool_error(NULL, "no image size holds these %zu files of %" PRIu64 " bytes with these options: %s", tree->count,
                       tree->bytes, tool_status_text(status));
        return EXIT_FAILED;
    }
    if (options->json)
        printf("{ \"files\": %zu, \"bytes\": %" PRIu64 ", \"smallest_size\": %" PRIu32 ", \"sector_bytes\": %" PRIu32 " }\n",
               tree->count, tree->bytes, smallest, image_sector_bytes(plan));
    else
        printf("%zu files, %" PRIu64 " bytes: the smallest image that holds them has %s\n", tree->count, tree->bytes,
               tool_size_text(smallest, size));
    return EXIT_OK;
}
