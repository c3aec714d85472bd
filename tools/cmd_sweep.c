/* fastffs sweep: the crash sweep of sweep/, spread over processes. Each takes seeds from a common counter, so that the seeds
 * done are one range whatever the number of processes; what they count lies in shared memory. */
#define _DEFAULT_SOURCE          /* MAP_ANONYMOUS */
#include "tool.h"
#include "sweep/explore.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char help[] =
    "      --geometry TEXT   one volume, such as s4096-g1-n32-hash-sc512-fb256; default all of the built-in list in turn\n"
    "      --workload NAME   one workload; default all in turn\n"
    "      --seed N          the first seed (default 1)\n"
    "      --seeds N         how many; default 1, or no end with --time-limit\n"
    "      --steps N         operations of a run (default 60)\n"
    "      --cuts N          damaged outcomes of each program and erase of the index (default 8), half as many of others\n"
    "      --bits N          more torn bit patterns of each program into the index (default 4)\n"
    "      --depth N         cuts in a row, 1 to 3: 1 none during recovery, default 3\n"
    "      --exhaustive      also every bit pattern of a fixed, large set for each program of the index\n"
    "      --threads N       processes; default one a processor\n"
    "      --time-limit S    no new seed after S seconds\n"
    "      --path PATH       with one seed: only the branches along PATH, as a failure tells it\n"
    "      --save FILE       with --path: the damaged image\n"
    "      --trace           with --path: every step\n"
    "      --list            print the volumes and workloads, and end\n"
    "      --json            print the summary as JSON\n"
    "\n"
    "Runs random calls on an emulated flash. Before each program and each erase, copies of the flash get one damaged outcome of\n"
    "it each, are mounted (writable, read-only, with deferred recovery), compared with what was committed, cut again during\n"
    "recovery, used further and compared again. Everything follows from the options and the seed. The first failure is shown\n"
    "with the command that repeats it, and its image is kept. Exit codes: 0 no failure, 1 a failure, 2 wrong command line.\n";

enum { OPTION_GEOMETRY = 256, OPTION_WORKLOAD, OPTION_SEED, OPTION_SEEDS, OPTION_STEPS, OPTION_CUTS, OPTION_BITS, OPTION_DEPTH,
       OPTION_THREADS, OPTION_TIME, OPTION_PATH, OPTION_SAVE, OPTION_TRACE, OPTION_LIST, OPTION_JSON, OPTION_EXHAUSTIVE };
enum { MOST_PROCESSES = 256, STUCK_SECONDS = 30 };

static const struct option options[] = {
    { "geometry", required_argument, NULL, OPTION_GEOMETRY }, { "workload", required_argument, NULL, OPTION_WORKLOAD },
    { "seed", required_argument, NULL, OPTION_SEED }, { "seeds", required_argument, NULL, OPTION_SEEDS },
    { "steps", required_argument, NULL, OPTION_STEPS }, { "cuts", required_argument, NULL, OPTION_CUTS },
    { "bits", required_argument, NULL, OPTION_BITS }, { "depth", required_argument, NULL, OPTION_DEPTH },
    { "threads", required_argument, NULL, OPTION_THREADS }, { "time-limit", required_argument, NULL, OPTION_TIME },
    { "path", required_argument, NULL, OPTION_PATH }, { "save", required_argument, NULL, OPTION_SAVE },
    { "trace", no_argument, NULL, OPTION_TRACE }, { "list", no_argument, NULL, OPTION_LIST }, { "exhaustive", no_argument, NULL, OPTION_EXHAUSTIVE },
    { "json", no_argument, NULL, OPTION_JSON }, { "help", no_argument, NULL, 'h' }, { NULL, 0, NULL, 0 }
};

struct request {
    struct sweep_options sweep;
    const char *geometry, *path, *save;
    int workload;               /* -1: all */
    uint64_t seed, seeds;       /* seeds 0: no end */
    unsigned threads, seconds;
    int list, json;
};

/* Of one process, in shared memory. */
struct worker {
    struct sweep_counts counts;
    struct sweep_failure failure;
    uint64_t seed;              /* in work */
    int failed;
};

struct common {
    uint64_t next;              /* seed to take */
    int stop;
    struct worker workers[MOST_PROCESSES];
};

/* ---- What a seed stands for ---- */

static const char *geometry_of(const struct request *request, uint64_t seed)
{
    size_t count = 0;

    if (request->geometry != NULL)
        return request->geometry;
    while (point_text(count) != NULL)
        count++;
    /* A full table takes twenty times as long as others to clear and to walk: one turn in eight. */
    if (strstr(point_text((size_t)(seed % count)), "-full") != NULL && seed / count % 8u != 0)
        seed++;
    return point_text((size_t)(seed % count));
}

static unsigned workload_of(const struct request *request, uint64_t seed)
{
    size_t count = 0;

    if (request->workload >= 0)
        return (unsigned)request->workload;
    while (request->geometry == NULL && point_text(count) != NULL)
        count++;
    return (unsigned)(seed / (count == 0 ? 1u : count) % WORKLOADS);
}

/* One seed in this process; 0, or 1 with the failure. */
static int run_seed(const struct request *request, struct worker *worker, uint64_t seed)
{
    struct point point;
    struct sweep *sweep;
    int failed;

    worker->seed = seed;
    (void)point_parse(&point, geometry_of(request, seed)); /* looked at before */
    sweep = sweep_create(&request->sweep, &point, &worker->counts);
    if (request->path != NULL)
        (void)sweep_follow(sweep, request->path, request->save);
    failed = sweep_run(sweep, workload_of(request, seed), seed, &worker->failure);
    sweep_destroy(sweep);
    return failed;
}

/* ---- Processes ---- */

static double seconds_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void work(const struct request *request, struct common *common, struct worker *worker, double end)
{
    while (!__atomic_load_n(&common->stop, __ATOMIC_RELAXED) && seconds_now() < end) {
        uint64_t seed = __atomic_fetch_add(&common->next, 1, __ATOMIC_RELAXED);

        if (request->seeds != 0 && seed >= request->seed + request->seeds)
            break;
        if (run_seed(request, worker, seed)) {
            worker->failed = 1;
            __atomic_store_n(&common->stop, 1, __ATOMIC_RELAXED);
        }
    }
}

static void add_counts(struct sweep_counts *sum, const struct sweep_counts *one)
{
    uint64_t *to = &sum->runs;
    const uint64_t *from = &one->runs;
    size_t i;

    for (i = 0; i < offsetof(struct sweep_counts, level) / sizeof *to; i++)
        to[i] += from[i];
}

static struct sweep_counts sum_counts(const struct common *common, unsigned processes)
{
    struct sweep_counts sum;
    unsigned i;

    memset(&sum, 0, sizeof sum);
    for (i = 0; i < processes; i++)
        add_counts(&sum, &common->workers[i].counts);
    return sum;
}

static void show_progress(const struct common *common, unsigned processes, double since)
{
    struct sweep_counts sum = sum_counts(common, processes);

    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r%" PRIu64 " runs, %" PRIu64 " damaged states, %.0f/s, seed %" PRIu64 " ", sum.runs, sum.damaged,
            (double)sum.damaged / (since > 0.1 ? since : 0.1), common->next);
    fflush(stderr);
}

/* A child that ended otherwise than by returning, or that makes no progress. */
static void note_crash(struct worker *worker, const char *what, int number)
{
    struct sweep_counts *counts = &worker->counts;
    size_t used = 0;
    uint32_t i;

    worker->failed = 1;
    snprintf(worker->failure.text, sizeof worker->failure.text, "%s %d", what, number);
    worker->failure.path[0] = '\0';
    for (i = 0; i < counts->level && i < SWEEP_LEVELS; i++)
        used += (size_t)snprintf(worker->failure.path + used, sizeof worker->failure.path - used, "%s%u.%u",
                                 i == 0 ? "" : "/", (unsigned)counts->path[i][0], (unsigned)counts->path[i][1]);
}

static void watch(struct common *common, pid_t *children, unsigned processes)
{
    double start = seconds_now(), moved[MOST_PROCESSES];
    uint64_t states[MOST_PROCESSES];
    unsigned left = processes, i;

    for (i = 0; i < processes; i++) {
        moved[i] = start;
        states[i] = 0;
    }
    while (left > 0) {
        struct timespec pause = { 0, 100000000 };

        (void)nanosleep(&pause, NULL);
        for (i = 0; i < processes; i++) {
            struct worker *worker = &common->workers[i];
            int status;

            if (children[i] == 0)
                continue;
            if (worker->counts.states + worker->counts.steps != states[i]) {
                states[i] = worker->counts.states + worker->counts.steps;
                moved[i] = seconds_now();
            } else if (seconds_now() - moved[i] > STUCK_SECONDS) {
                (void)kill(children[i], SIGKILL);
            }
            if (waitpid(children[i], &status, WNOHANG) != children[i])
                continue;
            children[i] = 0;
            left--;
            if (WIFSIGNALED(status)) {
                note_crash(worker, "ended by signal", WTERMSIG(status));
                common->stop = 1;
            }
        }
        show_progress(common, processes, seconds_now() - start);
    }
    if (isatty(STDERR_FILENO))
        fputc('\n', stderr);
}

/* ---- Report ---- */

static void print_replay(FILE *out, const struct request *request, const struct worker *worker, const char *save)
{
    const struct sweep_options *o = &request->sweep;

    fprintf(out, "fastffs sweep --geometry %s --workload %s --seed %" PRIu64 " --steps %u --cuts %u --bits %u --depth %u",
            geometry_of(request, worker->seed), workload_name(workload_of(request, worker->seed)), worker->seed, o->steps, o->cuts,
            o->bits, o->depth);
    if (o->exhaustive)
        fprintf(out, " --exhaustive");
    if (worker->failure.path[0] != '\0')
        fprintf(out, " --path %s", worker->failure.path);
    if (save != NULL)
        fprintf(out, " --save %s", save);
    fprintf(out, " --trace\n");
}

/* Runs the failing seed again in a process of its own, along its path, to keep the image. */
static void keep_image(const struct request *request, const struct worker *worker, char *name, size_t room)
{
    struct request again = *request;
    struct worker *scratch = tool_alloc(sizeof *scratch);
    pid_t child;
    int status;

    snprintf(name, room, "sweep-%" PRIu64 ".img", worker->seed);
    memset(scratch, 0, sizeof *scratch);
    again.geometry = geometry_of(request, worker->seed);
    again.workload = (int)workload_of(request, worker->seed);
    again.path = worker->failure.path;
    again.save = name;
    child = fork();
    if (child == 0) {
        (void)alarm(STUCK_SECONDS);
        (void)run_seed(&again, scratch, worker->seed);
        _exit(0);
    }
    if (child > 0)
        (void)waitpid(child, &status, 0);
    free(scratch);
}

static void report_failures(const struct request *request, struct common *common, unsigned processes)
{
    unsigned i;

    for (i = 0; i < processes; i++) {
        struct worker *worker = &common->workers[i];
        char name[64] = "";

        if (!worker->failed)
            continue;
        fprintf(stderr, "failed: %s, %s, seed %" PRIu64 ", branch %s: %s\n", geometry_of(request, worker->seed),
                workload_name(workload_of(request, worker->seed)), worker->seed,
                worker->failure.path[0] == '\0' ? "none" : worker->failure.path, worker->failure.text);
        if (worker->failure.path[0] != '\0')
            keep_image(request, worker, name, sizeof name);
        fputs("repeat it: ", stderr);
        print_replay(stderr, request, worker, name[0] == '\0' ? NULL : name);
    }
}

static void print_table(const struct sweep_counts *sum)
{
    unsigned i;

    printf("%-14s %12s\n", "outcome", "states");
    for (i = 0; i < NOR_FAULT_KINDS; i++)
        if (sum->by_kind[i] != 0)
            printf("%-14s %12" PRIu64 "\n", sweep_kind_name((enum nor_fault_kind)i), sum->by_kind[i]);
    printf("%-14s %12s\n", "cut in", "states");
    for (i = 0; operation_at(i) != NULL; i++)
        printf("%-14s %12" PRIu64 "\n", operation_at(i)->name, sum->by_operation[i]);
    for (i = 1; i < SWEEP_LEVELS; i++)
        printf("%u cut%s in a row %10" PRIu64 "\n", i, i == 1 ? " " : "s", sum->by_level[i]);
}

static void print_summary(const struct request *request, const struct common *common, unsigned processes, double seconds,
                          unsigned failures)
{
    struct sweep_counts sum = sum_counts(common, processes);
    uint64_t last = request->seed + sum.runs - 1u;
    unsigned i;

    if (request->json) {
        printf("{\"first_seed\": %" PRIu64 ", \"runs\": %" PRIu64 ", \"operations\": %" PRIu64 ", \"mutations\": %" PRIu64
               ", \"states\": %" PRIu64 ", \"damaged_states\": %" PRIu64 ", \"comparisons\": %" PRIu64 ", \"checks\": %" PRIu64
               ", \"uses\": %" PRIu64 ", \"by_outcome\": {", request->seed, sum.runs, sum.steps, sum.mutations, sum.states,
               sum.damaged, sum.looks, sum.checks, sum.uses);
        for (i = 1; i < NOR_FAULT_ERROR; i++)
            printf("%s\"%s\": %" PRIu64, i == 1 ? "" : ", ", sweep_kind_name((enum nor_fault_kind)i), sum.by_kind[i]);
        printf("}, \"seconds\": %.1f, \"failures\": %u}\n", seconds, failures);
        return;
    }
    print_table(&sum);
    printf("seeds %" PRIu64 " to %" PRIu64 ": %" PRIu64 " operations with %" PRIu64 " programs and erases, %" PRIu64 " states, %"
           PRIu64 " of them damaged, %" PRIu64 " comparisons, %" PRIu64 " checks, %" PRIu64 " used further; %.0f s, %u failed\n",
           request->seed, last, sum.steps, sum.mutations, sum.states, sum.damaged, sum.looks, sum.checks, sum.uses, seconds,
           failures);
}

static int sweep_all(const struct request *request)
{
    struct common *common = mmap(NULL, sizeof *common, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[MOST_PROCESSES];
    double start = seconds_now(), end = request->seconds == 0 ? 1e18 : start + request->seconds;
    unsigned i, failures = 0;

    if (common == MAP_FAILED) {
        tool_error(NULL, "no memory");
        return EXIT_FAILED;
    }
    common->next = request->seed;
    fflush(stdout);
    for (i = 0; i < request->threads; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            work(request, common, &common->workers[i], end);
            _exit(0);
        }
        if (children[i] < 0) {
            tool_error(NULL, "no more processes");
            return EXIT_FAILED;
        }
    }
    watch(common, children, request->threads);
    for (i = 0; i < request->threads; i++)
        failures += common->workers[i].failed != 0;
    print_summary(request, common, request->threads, seconds_now() - start, failures);
    fflush(stdout);
    report_failures(request, common, request->threads);
    (void)munmap(common, sizeof *common);
    return failures == 0 ? EXIT_OK : EXIT_FAILED;
}

/* --path: in this process, for a debugger. */
static int replay(const struct request *request)
{
    struct worker *worker = tool_alloc(sizeof *worker);
    int failed;

    memset(worker, 0, sizeof *worker);
    failed = run_seed(request, worker, request->seed);
    if (failed)
        printf("failed: branch %s: %s\n", worker->failure.path[0] == '\0' ? "none" : worker->failure.path, worker->failure.text);
    else
        printf("no failure in %" PRIu64 " states\n", worker->counts.states);
    free(worker);
    return failed ? EXIT_FAILED : EXIT_OK;
}

static int print_list(void)
{
    unsigned i;

    for (i = 0; point_text(i) != NULL; i++)
        printf("geometry %s\n", point_text(i));
    for (i = 0; workload_name(i) != NULL; i++)
        printf("workload %s\n", workload_name(i));
    for (i = 0; operation_at(i) != NULL; i++)
        printf("operation %s\n", operation_at(i)->name);
    return EXIT_OK;
}

/* ---- Command line ---- */

static int parse_count(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;

    if (*text < '0' || *text > '9')
        return 0;
    *value = strtoull(text, &end, 0);
    return *end == '\0' && *value >= least && *value <= most;
}

static int find_workload(const char *text)
{
    unsigned i;

    for (i = 0; workload_name(i) != NULL; i++)
        if (strcmp(workload_name(i), text) == 0)
            return (int)i;
    return -1;
}

/* Options with a number: 1 taken, 0 wrong. */
static int take_number(struct request *request, int option, const char *text)
{
    uint64_t value = 0;
    int good = parse_count(text, option == OPTION_BITS || option == OPTION_SEED ? 0 : 1,
                           option == OPTION_SEED || option == OPTION_SEEDS ? UINT64_MAX / 2u
                           : option == OPTION_DEPTH ? SWEEP_LEVELS - 1
                           : option == OPTION_THREADS ? MOST_PROCESSES : 1000000, &value);

    switch (option) {
    case OPTION_SEED: request->seed = value; break;
    case OPTION_SEEDS: request->seeds = value; break;
    case OPTION_STEPS: request->sweep.steps = (unsigned)value; break;
    case OPTION_CUTS: request->sweep.cuts = (unsigned)value; break;
    case OPTION_BITS: request->sweep.bits = (unsigned)value; break;
    case OPTION_DEPTH: request->sweep.depth = (unsigned)value; break;
    case OPTION_THREADS: request->threads = (unsigned)value; break;
    default: request->seconds = (unsigned)value; break;
    }
    return good;
}

static int take_option(struct request *request, int option)
{
    struct point point;

    switch (option) {
    case OPTION_GEOMETRY:
        request->geometry = optarg;
        return point_parse(&point, optarg);
    case OPTION_WORKLOAD:
        request->workload = find_workload(optarg);
        return request->workload >= 0;
    case OPTION_PATH: request->path = optarg; return 1;
    case OPTION_SAVE: request->save = optarg; return 1;
    case OPTION_TRACE: request->sweep.trace = 1; return 1;
    case OPTION_EXHAUSTIVE: request->sweep.exhaustive = 1; return 1;
    case OPTION_LIST: request->list = 1; return 1;
    case OPTION_JSON: request->json = 1; return 1;
    case '?': return 0;
    default: return take_number(request, option, optarg);
    }
}

static int run(int argc, char **argv)
{
    struct request request;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int option;

    memset(&request, 0, sizeof request);
    request.sweep.steps = 60;
    request.sweep.cuts = 8;
    request.sweep.bits = 4;
    request.sweep.depth = 3;
    request.workload = -1;
    request.seed = 1;
    request.threads = processors < 1 ? 1u : processors > MOST_PROCESSES ? MOST_PROCESSES : (unsigned)processors;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option == 'h')
            return tool_help(&command_sweep);
        if (!take_option(&request, option))
            return tool_usage(&command_sweep, "wrong option or value");
    }
    if (optind != argc)
        return tool_usage(&command_sweep, "there are no arguments, only options");
    if (request.list)
        return print_list();
    if (request.path != NULL || request.sweep.trace)
        return replay(&request);
    if (request.seeds == 0 && request.seconds == 0)
        request.seeds = 1;
    return sweep_all(&request);
}

const struct command command_sweep = { "sweep", "[options]", "Cuts power everywhere and looks what is left.", help, EXIT_USAGE,
    run };
