/* fastffs: makes, fills, reads and checks images of FASTFFS volumes. This file finds the subcommand. */
#include "tool.h"
#include "alias.h"

#include <string.h>

static const struct command *const commands[] = {
    &command_create, &command_load, &command_add, &command_list, &command_extract, &command_cat, &command_remove,
    &command_rename, &command_info, &command_dump, &command_check, &command_salvage, &command_probe, &command_sweep,
    &command_mount
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_usage(FILE *out)
{
    size_t i;

    fputs("usage: fastffs COMMAND ...\n\nImages of FASTFFS volumes, as plain bytes of flash. Their geometry is found on the "
          "image.\n\n", out);
    for (i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-8s %s\n", commands[i]->name, commands[i]->summary);
    fputs("\n'fastffs COMMAND --help' tells more; 'fastffs --version' prints the versions.\n"
          "Sizes take K, M, G and 0x. Exit codes: 0 done, 1 failed, 2 wrong command line (check has its own).\n"
          "Called as mkfastffs, or with -c, -u or -l first, it takes the options of other image tools (mkfastffs --help).\n",
          out);
}

static int print_version(void)
{
    uint32_t version = fffs_version();

    printf("fastffs %u.%u.%u, format %u, names up to %u bytes\n", (unsigned)(version >> 16), (unsigned)(version >> 8 & 255),
           (unsigned)(version & 255), fffs_format_version(), (unsigned)FFFS_NAME_MAX);
    return EXIT_OK;
}

static const struct command *find(const char *name)
{
    size_t i;

    for (i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int run_command(int argc, char **argv)
{
    const struct command *command = find(argv[0]);

    if (command == NULL) {
        fprintf(stderr, "fastffs: '%s' is no command\n", argv[0]);
        print_usage(stderr);
        return EXIT_USAGE;
    }
    return command->run(argc, argv);
}

static int run_help(int argc, char **argv)
{
    const struct command *command = argc > 1 ? find(argv[1]) : NULL;

    if (command != NULL)
        return tool_help(command);
    print_usage(stdout);
    return EXIT_OK;
}

static int run(int argc, char **argv)
{
    if (alias_applies(argc, argv))
        return alias_run(argc, argv);
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return print_version();
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return run_help(argc - 1, argv + 1);
    return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    int code = run(argc, argv);

    if (fflush(stdout) != 0 || ferror(stdout)) {
        tool_error(NULL, "the standard output can not be written");
        return code == EXIT_OK ? tool_failure_code : code;
    }
    return code;
}
