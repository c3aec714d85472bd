/* What the files of the image tool share: messages, sizes, names, the command table. Include it first: it selects POSIX. */
#ifndef TOOL_H
#define TOOL_H

#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700       /* POSIX.1-2008 with realpath() */
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "emulator/nor.h"
#include "fastffs/fastffs.h"

/* Exit codes; check has its own (those of fsck). */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#if defined(__GNUC__)
#define TOOL_PRINTF(format_at, arguments_at) __attribute__((format(printf, format_at, arguments_at)))
#else
#define TOOL_PRINTF(format_at, arguments_at)
#endif

struct command {
    const char *name;
    const char *arguments;      /* one line, as shown behind the name */
    const char *summary;        /* one line */
    const char *help;           /* the rest of the help text, ends with a newline */
    int usage_code;             /* exit code of a wrong command line */
    int (*run)(int argc, char **argv);   /* argv[0] is the name; returns the exit code */
};

extern const struct command command_create, command_load, command_add, command_list, command_extract, command_cat,
    command_remove, command_rename, command_info, command_dump, command_check, command_probe,
    command_salvage, command_sweep, command_mount;

/* ---- text.c ---- */

/* "fastffs: subject: message" on stderr. `subject` may be NULL. */
void tool_error(const char *subject, const char *format, ...) TOOL_PRINTF(2, 3);
/* As tool_error(), then where the help is; returns the command's exit code for it. */
int tool_usage(const struct command *command, const char *format, ...) TOOL_PRINTF(2, 3);
/* The whole help of a command, on stdout; returns EXIT_OK. */
int tool_help(const struct command *command);
/* What a status means and what to do about it. Static text. */
const char *tool_status_text(int status);
/* Never NULL: ends the program when memory is out, with the exit code set by tool_failure_code (EXIT_FAILED). */
void *tool_alloc(size_t bytes);
void *tool_resize(void *block, size_t bytes);
char *tool_copy(const char *text);
extern int tool_failure_code;

/* "4M", "64K", "0x1000", "4096", "4MiB", "4kB": 0 and the bytes, or -1. */
int tool_parse_size(const char *text, uint32_t *bytes);
/* Bytes as "4194304 bytes (4 MiB)" into `buffer` of TOOL_SIZE_TEXT bytes, which it returns. */
const char *tool_size_text(uint64_t bytes, char *buffer);
/* Nanoseconds as "12.3 ms". Same rules. */
const char *tool_time_text(uint64_t ns, char *buffer);
#define TOOL_SIZE_TEXT 64u

/* A file name with control bytes and backslashes as \xNN, so that no name can fake a line or command a terminal. */
void tool_print_name(FILE *out, const char *name);
/* The same into static memory, for messages (the two latest results stay valid). */
const char *tool_name_text(const char *name);
/* A JSON string with its quotes; bytes that are not UTF-8 become U+FFFD. */
void tool_json_text(FILE *out, const char *text);
/* The members "name": ... and, where the name is not UTF-8, "name_hex": ... */
void tool_json_name(FILE *out, const char *name);

/* One line of flash counters: calls, bytes, emulated time. */
void tool_print_counts(FILE *out, const char *what, const struct nor_counts *counts, uint64_t operations);

/* A bar on stderr, only when that is a terminal. */
void tool_progress(size_t done, size_t total, const char *name);
void tool_progress_end(void);

#endif
