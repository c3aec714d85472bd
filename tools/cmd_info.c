/* fastffs info: what an image is made of and how full it is. */
#include "image.h"

#include <inttypes.h>

static const char help[] = "      --json            print as JSON\n";

enum { OPTION_JSON = 256 };

static const struct option options[] = {
    { "json", no_argument, NULL, OPTION_JSON }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
};

struct fact {
    const char *key;            /* of the JSON member */
    const char *text;           /* of the line */
    uint64_t value;
    int is_size;
};

enum { FACTS = 24 };

static size_t collect(const struct image *image, const struct fffs_space *space, struct fact *facts)
{
    const struct fffs_geometry *geometry = &image->geometry;
    const struct fact all[] = {
        { "format_version", "format version", geometry->format_version, 0 },
        { "volume_bytes", "volume", nor_size(image->nor), 1 },
        { "bytes_behind_volume", "file bytes behind the volume", image->tail_bytes, 1 },
        { "sector_bytes", "sector", geometry->sector_bytes, 1 },
        { "sectors", "sectors", geometry->sector_count, 0 },
        { "granule_bytes", "program granule", geometry->granule_bytes, 1 },
        { "segment_bytes", "segment", geometry->segment_bytes, 1 },
        { "segments", "segments", space->segments, 0 },
        { "index_bytes", "index area", geometry->index_bytes, 1 },
        { "probe_limit", "probe limit", geometry->probe_limit, 0 },
        { "files", "files", space->files, 0 },
        { "max_files", "files at most", space->max_files, 0 },
        { "capacity_bytes", "capacity", space->capacity_bytes, 1 },
        { "used_bytes", "used", space->used_bytes, 1 },
        { "free_bytes", "free", space->free_bytes, 1 },
        { "writable_bytes", "largest file that fits", space->writable_bytes, 1 },
        { "erased_bytes", "writable without an erase", space->erased_bytes, 1 },
        { "segments_erased", "segments erased", space->segments_erased, 0 },
        { "segments_dead", "segments with nothing live", space->segments_dead, 0 },
        { "bad_segments", "bad segments", space->bad_segments, 0 },
        { "erases_total", "segment erases so far", space->erases_total, 0 },
        { "wear_min", "erases of a segment, least", space->wear_min, 0 },
        { "wear_mean", "erases of a segment, mean", space->wear_mean, 0 },
        { "wear_max", "erases of a segment, most", space->wear_max, 0 },
    };
    size_t i;

    for (i = 0; i < FACTS; i++)
        facts[i] = all[i];
    return FACTS;
}

static void print_text(const struct fact *facts, size_t count)
{
    char size[TOOL_SIZE_TEXT];
    size_t i;

    for (i = 0; i < count; i++) {
        if (facts[i].is_size)
            printf("%-30s %s\n", facts[i].text, tool_size_text(facts[i].value, size));
        else
            printf("%-30s %" PRIu64 "\n", facts[i].text, facts[i].value);
    }
}

static void print_json(const char *path, const struct fact *facts, size_t count)
{
    size_t i;

    fputs("{\n  \"image\": ", stdout);
    tool_json_text(stdout, path);
    for (i = 0; i < count; i++)
        printf(",\n  \"%s\": %" PRIu64, facts[i].key, facts[i].value);
    fputs("\n}\n", stdout);
}

static int info(const char *path, int json)
{
    struct image *image;
    struct fffs_space space;
    struct fact facts[FACTS];
    size_t count;
    int status;

    if (image_open_mounted(&image, path, FFFS_MOUNT_READ_ONLY) != FFFS_OK)
        return EXIT_FAILED;
    status = fffs_space(&image->fs, &space);
    if (status != FFFS_OK) {
        tool_error(path, "%s", tool_status_text(status));
    } else {
        count = collect(image, &space, facts);
        if (json)
            print_json(path, facts, count);
        else
            print_text(facts, count);
    }
    image_close(image);
    return status == FFFS_OK ? EXIT_OK : EXIT_FAILED;
}

static int run(int argc, char **argv)
{
    int option, json = 0;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (option) {
        case OPTION_JSON: json = 1; break;
        case 'h': return tool_help(&command_info);
        default: return tool_usage(&command_info, "wrong option");
        }
    }
    if (argc - optind != 1)
        return tool_usage(&command_info, "one IMAGE is needed");
    return info(argv[optind], json);
}

const struct command command_info = { "info", "IMAGE [--json]", "Prints the geometry of an image and how full it is.", help,
    EXIT_USAGE, run };
