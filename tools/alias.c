/* Translates {-c DIR | -u DIR | -l | -i} [-b BLOCK] [-s SIZE] IMAGE into the commands of fastffs. */
#include "tool.h"
#include "alias.h"

#include <string.h>

static const struct option options[] = {
    { "create", required_argument, NULL, 'c' }, { "unpack", required_argument, NULL, 'u' },
    { "list", no_argument, NULL, 'l' }, { "visualize", no_argument, NULL, 'i' }, { "size", required_argument, NULL, 's' },
    { "block", required_argument, NULL, 'b' }, { "page", required_argument, NULL, 'p' },
    { "debug", required_argument, NULL, 'd' }, { "all-files", no_argument, NULL, 'a' }, { "help", no_argument, NULL, 'h' },
    { "version", no_argument, NULL, 'V' }, { NULL, 0, NULL, 0 }
};

static const char usage[] =
    "usage: mkfastffs {-c DIR | -u DIR | -l | -i} [-b BLOCK] [-s SIZE] [-a] [-d LEVEL] IMAGE\n\n"
    "  -c, --create DIR      make IMAGE with the files of DIR; -s is required\n"
    "  -u, --unpack DIR      write the files of IMAGE into DIR\n"
    "  -l, --list            print the names in IMAGE with their sizes\n"
    "  -i, --visualize       print how full IMAGE is\n"
    "  -s, --size N          size of a new IMAGE\n"
    "  -b, --block N         sector size of a new IMAGE, default 4096\n"
    "  -p, --page N          taken and ignored\n"
    "  -a, --all-files       take .git and .DS_Store as well\n"
    "  -d, --debug N         0 quiet; above 1: more is printed\n\n"
    "Names have no leading '/'. Size and block are found on an existing image. 'fastffs --help' shows the full tool.\n";

struct request {
    int action;                 /* c, u, l, i; 0: none */
    char *folder, *size, *block;
    int all, debug;
};

int alias_applies(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    const char *name = slash != NULL ? slash + 1 : argv[0];
    const char *first = argc > 1 ? argv[1] : "";

    if (strcmp(name, "mkfastffs") == 0)
        return 1;
    return first[0] == '-' && first[1] != '\0' && strchr("culibsdpa", first[1]) != NULL;
}

static int wrong(const char *message)
{
    fprintf(stderr, "mkfastffs: %s\n%s", message, usage);
    return EXIT_USAGE;
}

static int run_as(const struct command *command, char **argv, int argc)
{
    argv[argc] = NULL;
    optind = 0;                 /* getopt begins again with another command line */
    return command->run(argc, argv);
}

static int create(const struct request *request, char *image)
{
    char name[] = "create", size[] = "--size", block[] = "--sector-size", from[] = "--from", all[] = "--all", quiet[] = "-q",
         verbose[] = "-v";
    char *argv[12];
    int argc = 0;

    if (request->size == NULL)
        return wrong("-s SIZE is needed with -c");
    argv[argc++] = name;
    argv[argc++] = size;
    argv[argc++] = request->size;
    argv[argc++] = from;
    argv[argc++] = request->folder;
    if (request->block != NULL) {
        argv[argc++] = block;
        argv[argc++] = request->block;
    }
    if (request->all)
        argv[argc++] = all;
    if (request->debug != 1)
        argv[argc++] = request->debug > 1 ? verbose : quiet;
    argv[argc++] = image;
    return run_as(&command_create, argv, argc);
}

static int run_request(const struct request *request, char *image)
{
    char list[] = "list", size[] = "--size", extract[] = "extract", info[] = "info";
    char *argv[5];
    int argc = 0;

    if (request->action == 'c')
        return create(request, image);
    argv[argc++] = request->action == 'l' ? list : request->action == 'u' ? extract : info;
    argv[argc++] = image;
    if (request->action == 'l')
        argv[argc++] = size;
    if (request->action == 'u')
        argv[argc++] = request->folder;
    return run_as(request->action == 'l' ? &command_list : request->action == 'u' ? &command_extract : &command_info, argv,
                  argc);
}

/* 0, or -1 for an option that is wrong. */
static int take_option(struct request *request, int option)
{
    switch (option) {
    case 'c':
    case 'u':
    case 'l':
    case 'i':
        if (request->action != 0)
            return -1;
        request->action = option;
        request->folder = optarg;
        return 0;
    case 's': request->size = optarg; return 0;
    case 'b': request->block = optarg; return 0;
    case 'p': return 0;
    case 'a': request->all = 1; return 0;
    case 'd': request->debug = optarg[0] == '0' ? 0 : optarg[0] == '1' ? 1 : 2; return 0;
    default: return -1;
    }
}

int alias_run(int argc, char **argv)
{
    struct request request;
    int option;

    memset(&request, 0, sizeof request);
    request.debug = 1;
    while ((option = getopt_long(argc, argv, "c:u:lis:b:p:d:ah", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        if (option == 'V') {
            printf("mkfastffs %d.%d.%d, format %u, names up to %u bytes\n", FFFS_VERSION_MAJOR, FFFS_VERSION_MINOR,
                   FFFS_VERSION_PATCH, fffs_format_version(), (unsigned)FFFS_NAME_MAX);
            return EXIT_OK;
        }
        if (take_option(&request, option) != 0)
            return wrong("wrong option");
    }
    if (request.action == 0 || argc - optind != 1)
        return wrong("one of -c, -u, -l, -i and one IMAGE are needed");
    return run_request(&request, argv[optind]);
}
