/* Messages, sizes, names and progress of the image tool. Owns no state but the latest progress and failure code. */
#include "tool.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tool_failure_code = EXIT_FAILED;

void tool_error(const char *subject, const char *format, ...)
{
    va_list arguments;

    tool_progress_end();
    fflush(stdout);
    fputs("fastffs: ", stderr);
    if (subject != NULL)
        fprintf(stderr, "%s: ", subject);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

int tool_usage(const struct command *command, const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "fastffs %s: ", command->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "\nusage: fastffs %s %s\n'fastffs %s --help' tells more.\n", command->name, command->arguments,
            command->name);
    return command->usage_code;
}

int tool_help(const struct command *command)
{
    printf("usage: fastffs %s %s\n\n%s\n\n%s", command->name, command->arguments, command->summary, command->help);
    return EXIT_OK;
}

const char *tool_status_text(int status)
{
    switch (status) {
    case FFFS_ERR_IO: return "the emulated flash refused an operation";
    case FFFS_ERR_CORRUPT: return "damaged: it holds what neither the library nor a power cut can have written "
                                  "('fastffs check' tells more)";
    case FFFS_ERR_NOT_FOUND: return "no such file in the image ('fastffs list' shows the names)";
    case FFFS_ERR_EXISTS: return "exists already";
    case FFFS_ERR_NO_SPACE: return "no room for the data";
    case FFFS_ERR_INDEX_FULL: return "no room for another name: make the image with a larger --max-files";
    case FFFS_ERR_BAD_NAME: return "the name is empty";
    case FFFS_ERR_NAME_TOO_LONG: return "the name is too long for this tool or for the image's sector size";
    case FFFS_ERR_BLANK: return "blank: it holds no volume ('fastffs create' makes one)";
    case FFFS_ERR_FOREIGN: return "not a FASTFFS image";
    case FFFS_ERR_NEWER_FORMAT: return "written by a newer library: a newer fastffs is needed";
    case FFFS_ERR_WRONG_SIZE: return "the volume is larger than the file: the image is cut short";
    case FFFS_ERR_TOO_BIG: return "larger than a file can be (2147483647 bytes)";
    case FFFS_ERR_INVALID: return "an option is out of range";
    case FFFS_ERR_UNSUPPORTED: return "this size, sector size, segment size or granule can not be used together";
    default: return fffs_status_name(status);
    }
}

void *tool_alloc(size_t bytes)
{
    return tool_resize(NULL, bytes);
}

void *tool_resize(void *block, size_t bytes)
{
    void *memory = realloc(block, bytes == 0 ? 1 : bytes);

    if (memory == NULL) {
        tool_error(NULL, "out of memory: %zu bytes wanted", bytes);
        exit(tool_failure_code);
    }
    return memory;
}

char *tool_copy(const char *text)
{
    size_t bytes = strlen(text) + 1;

    return memcpy(tool_alloc(bytes), text, bytes);
}

/* The factor that a unit such as "K", "kB", "MiB" stands for; 0 when it is none. */
static uint64_t unit_factor(const char *unit)
{
    uint64_t factor = 1;

    switch (tolower((unsigned char)*unit)) {
    case 'k': factor = 1024; unit++; break;
    case 'm': factor = 1024 * 1024; unit++; break;
    case 'g': factor = 1024 * 1024 * 1024; unit++; break;
    default: break;
    }
    if (factor > 1 && (*unit == 'i' || *unit == 'I'))
        unit++;
    if (*unit == 'b' || *unit == 'B')
        unit++;
    return *unit == '\0' ? factor : 0;
}

int tool_parse_size(const char *text, uint32_t *bytes)
{
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    unsigned long long number;
    uint64_t factor;
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return -1;
    errno = 0;
    number = strtoull(text, &end, base);
    factor = unit_factor(end);
    if (errno != 0 || end == text || factor == 0 || number > UINT32_MAX / factor)
        return -1;
    *bytes = (uint32_t)(number * factor);
    return 0;
}

const char *tool_size_text(uint64_t bytes, char *buffer)
{
    if (bytes >= 1024 * 1024 && bytes % (1024 * 1024) == 0)
        snprintf(buffer, TOOL_SIZE_TEXT, "%" PRIu64 " bytes (%" PRIu64 " MiB)", bytes, bytes / (1024 * 1024));
    else if (bytes >= 1024 && bytes % 1024 == 0)
        snprintf(buffer, TOOL_SIZE_TEXT, "%" PRIu64 " bytes (%" PRIu64 " KiB)", bytes, bytes / 1024);
    else
        snprintf(buffer, TOOL_SIZE_TEXT, "%" PRIu64 " bytes", bytes);
    return buffer;
}

const char *tool_time_text(uint64_t ns, char *buffer)
{
    double value = (double)ns;

    if (ns < 1000)
        snprintf(buffer, TOOL_SIZE_TEXT, "%" PRIu64 " ns", ns);
    else if (ns < 1000000)
        snprintf(buffer, TOOL_SIZE_TEXT, "%.1f us", value / 1e3);
    else if (ns < 1000000000)
        snprintf(buffer, TOOL_SIZE_TEXT, "%.2f ms", value / 1e6);
    else
        snprintf(buffer, TOOL_SIZE_TEXT, "%.2f s", value / 1e9);
    return buffer;
}

const char *tool_name_text(const char *name)
{
    static char texts[2][4 * 512];
    static unsigned turn;
    char *text = texts[++turn % 2];
    size_t length = 0;

    for (; *name != '\0' && length + 5 < sizeof texts[0]; name++) {
        unsigned char byte = (unsigned char)*name;

        if (byte < 0x20 || byte == 0x7F || byte == '\\')
            length += (size_t)snprintf(text + length, 5, "\\x%02x", byte);
        else
            text[length++] = (char)byte;
    }
    text[length] = '\0';
    return text;
}

void tool_print_name(FILE *out, const char *name)
{
    fputs(tool_name_text(name), out);
}

/* Length of the UTF-8 sequence at `text`; 0 when it is not one (overlong forms and surrogates included). */
static size_t utf8_length(const unsigned char *text)
{
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t length = text[0] < 0x80 ? 1 : text[0] >> 5 == 6 ? 2 : text[0] >> 4 == 14 ? 3 : text[0] >> 3 == 30 ? 4 : 0;
    uint32_t code;
    size_t i;

    if (length < 2)
        return length;
    code = text[0] & (0x7Fu >> length);
    for (i = 1; i < length; i++) {
        if (text[i] >> 6 != 2)
            return 0;
        code = code << 6 | (text[i] & 0x3Fu);
    }
    return code < least[length] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : length;
}

void tool_json_text(FILE *out, const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;

    fputc('"', out);
    while (*byte != 0) {
        size_t length = utf8_length(byte);

        if (length == 0)
            fputs("\\ufffd", out);
        else if (*byte < 0x20 || *byte == 0x7F)
            fprintf(out, "\\u%04x", *byte);
        else if (*byte == '"' || *byte == '\\')
            fprintf(out, "\\%c", *byte);
        else
            fwrite(byte, 1, length, out);
        byte += length == 0 ? 1 : length;
    }
    fputc('"', out);
}

void tool_json_name(FILE *out, const char *name)
{
    const unsigned char *byte = (const unsigned char *)name;
    size_t length = 1;

    fputs("\"name\": ", out);
    tool_json_text(out, name);
    while (*byte != 0 && (length = utf8_length(byte)) > 0)
        byte += length;
    if (length > 0)
        return;
    fputs(", \"name_hex\": \"", out);
    for (byte = (const unsigned char *)name; *byte != 0; byte++)
        fprintf(out, "%02x", *byte);
    fputc('"', out);
}

void tool_print_counts(FILE *out, const char *what, const struct nor_counts *counts, uint64_t operations)
{
    char time[TOOL_SIZE_TEXT], each[TOOL_SIZE_TEXT];
    uint64_t ns = 0;
    int op;

    for (op = 0; op < NOR_OPS; op++)
        ns += counts->time_ns[op];
    fprintf(out, "%s: %" PRIu64 " reads (%" PRIu64 " bytes), %" PRIu64 " programs (%" PRIu64 " bytes), %" PRIu64
            " erases; emulated time %s", what, counts->calls[NOR_READ], counts->bytes[NOR_READ],
            counts->calls[NOR_PROGRAM], counts->bytes[NOR_PROGRAM], counts->calls[NOR_ERASE], tool_time_text(ns, time));
    if (operations > 0)
        fprintf(out, ", %s per file", tool_time_text(ns / operations, each));
    fputs(" (esp32s3-fit)\n", out);
}

static int progress_shown = -1;

void tool_progress(size_t done, size_t total, const char *name)
{
    static const char full[] = "########################################";
    int percent = total == 0 ? 100 : (int)(done * 100 / total);
    int width = (int)(sizeof full - 1) * percent / 100;

    if (percent == progress_shown || isatty(STDERR_FILENO) != 1)
        return;
    progress_shown = percent;
    fprintf(stderr, "\r[%-40.*s] %3d %% %.30s\033[K", width, full, percent, tool_name_text(name));
    fflush(stderr);
}

void tool_progress_end(void)
{
    if (progress_shown >= 0)
        fputs("\r\033[K", stderr);
    progress_shown = -1;
}
