/* Points: parsing, and the list that "all" stands for. */
#include "point.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL_CACHE_ENTRIES = 5, HASH_CACHE_ENTRIES = 128 };

static const char *const texts[] = {
    "s256-g1-n64-hash-sc512-fb64",
    "s4096-g1-n32-hash-sc512-fb256",
    "s256-g1-n62-f30-none-sc256-fb16",
    "s4096-g1-n16-none-sc256-fb64",
    "s256-g8-n60-f24-mf40-small-sc256-fb16-lv2",
    "s4096-g8-n32-small-sc512-fb64-lv2",
    "s256-g16-n64-hash-sc512-fb64-verify",
    "s4096-g16-n24-hash-sc256-fb16-verify",
    "s256-g2-n64-seg512-none-sc256-fb64-lazy",
    "s4096-g4-n32-seg8192-hash-sc512-fb256-lazy",
    "s256-g1-n32-full-sc256-fb16",
    "s4096-g256-n32-f20-mf32-hash-sc512-fb256",
    "s512-g4-n48-hash-sc512-fb256-noinline",
    "s4096-g1-n20-hash-sc512-fb64-noinline",
    "s1024-g1-n32-hash-sc512-fb64-wb1024",
    "s256-g1-n24-small-sc512-fb256-nolevel",
    "s512-g32-n62-f24-mf60-seg1024-e2-none-sc256-fb32-lv3",
    "s4096-g2-n24-small-sc4096-fb256-wb4096"
};

const char *point_text(size_t index)
{
    return index < sizeof texts / sizeof texts[0] ? texts[index] : NULL;
}

/* Words without a number. */
static int take_word(struct point *point, const char *word)
{
    static const struct { const char *word; uint32_t cache_bytes, flag; } words[] = {
        { "none", 0, 0 },
        { "small", SMALL_CACHE_ENTRIES * FFFS_CACHE_ENTRY_BYTES, 0 },
        { "hash", HASH_CACHE_ENTRIES * FFFS_CACHE_ENTRY_BYTES, 0 },
        { "full", FFFS_CACHE_FULL_BYTES, 0 },
        { "verify", 0, FFFS_MOUNT_VERIFY },
        { "lazy", 0, FFFS_MOUNT_LAZY_WEIGHTS },
        { "noinline", 0, FFFS_MOUNT_NO_INLINE_GC },
        { "nolevel", 0, FFFS_MOUNT_NO_LEVELLING }
    };
    size_t i;

    for (i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i].word) != 0)
            continue;
        if (words[i].flag != 0)
            point->flags |= words[i].flag;
        else
            point->cache_bytes = words[i].cache_bytes;
        return 1;
    }
    return 0;
}

static int take_number(struct point *point, const char *word)
{
    struct { const char *prefix; uint32_t *field; } parts[] = {
        { "seg", &point->segment_bytes }, { "sc", &point->scratch_bytes }, { "fb", &point->file_buffer_bytes },
        { "wb", &point->write_buffer_bytes }, { "mf", &point->max_files }, { "lv", &point->level_every },
        { "s", &point->sector_bytes }, { "g", &point->granule_bytes }, { "n", &point->sector_count },
        { "e", &point->erase_sizes }, { "f", &point->names }
    };
    size_t i;

    for (i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        size_t length = strlen(parts[i].prefix);
        char *end;
        unsigned long value;

        if (strncmp(word, parts[i].prefix, length) != 0 || word[length] < '0' || word[length] > '9')
            continue;
        value = strtoul(word + length, &end, 10);
        if (*end != '\0' || value > 1u << 20)
            return 0;
        *parts[i].field = (uint32_t)value;
        return 1;
    }
    return 0;
}

int point_parse(struct point *point, const char *text)
{
    char words[sizeof point->name], *word, *next;

    memset(point, 0, sizeof *point);
    if (strlen(text) >= sizeof words)
        return 0;
    strcpy(point->name, text);
    strcpy(words, text);
    point->sector_bytes = 4096;
    point->granule_bytes = 1;
    point->sector_count = 32;
    point->erase_sizes = 1;
    point->names = 12;
    point->scratch_bytes = 512;
    point->file_buffer_bytes = 256;
    point->cache_bytes = HASH_CACHE_ENTRIES * FFFS_CACHE_ENTRY_BYTES;
    for (word = words; word != NULL; word = next) {
        next = strchr(word, '-');
        if (next != NULL)
            *next++ = '\0';
        if (!take_word(point, word) && !take_number(point, word))
            return 0;
    }
    if (point->file_buffer_bytes < point->granule_bytes)
        point->file_buffer_bytes = point->granule_bytes;
    return point->sector_bytes >= 256 && point->sector_count >= 8 && point->granule_bytes > 0 && point->names >= 5 &&
           point->names <= 32;
}

void point_device(const struct point *point, struct nor_config *config)
{
    uint32_t i;

    memset(config, 0, sizeof *config);
    config->size_bytes = point->sector_bytes * point->sector_count;
    config->granule_bytes = point->granule_bytes;
    config->page_bytes = 256;
    config->erase_bytes[0] = point->sector_bytes;
    for (i = 1; i < point->erase_sizes && i < FFFS_FLASH_ERASE_SIZES; i++)
        config->erase_bytes[i] = point->sector_bytes << (2 + i);
    config->on_violation = NOR_COUNT;
    config->model = NOR_TIME_NONE;
}
