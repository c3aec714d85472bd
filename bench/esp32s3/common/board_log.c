/* See board_log.h. */
#include "board_log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "board_names.h"

static char line[BOARD_CELLS * 14 + 200];
static size_t used;

static void put(const char *text)
{
    size_t length = strlen(text);

    if (length < sizeof line - used) {
        memcpy(line + used, text, length + 1);
        used += length;
    }
}

void board_log_begin(const char *kind)
{
    used = 0;
    put("FFB1 ");
    put(kind);
}

void board_log_text(const char *name, const char *value)
{
    size_t at;

    put(" ");
    put(name);
    put("=");
    at = used;
    put(value);
    for (; at < used; at++)
        if (line[at] == ' ')
            line[at] = '_';
}

void board_log_number(const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%" PRIu64, value);
    board_log_text(name, text);
}

void board_log_pair(uint32_t a, uint32_t b, int first)
{
    char text[32];

    snprintf(text, sizeof text, "%s%" PRIu32 ":%" PRIu32, first ? "" : ",", a, b);
    put(text);
}

void board_log_end(void)
{
    printf("%s *%04" PRIx32 "\n", line, board_line_check(line, (uint32_t)used));
    fflush(stdout);
}
