/* Test runner. Owns the list of cases and the processes they run in; assumes POSIX. See harness.h. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "harness.h"
#include "suites.h"

enum { JOBS_MAX = 16, EXIT_FAILED = 99, EXIT_SKIPPED = 98, TIMEOUT_S = 60 };

struct harness_case {
    char *name;
    void (*run)(void);
    void (*run_at)(const struct rig_point *);
    const struct rig_point *point;
    uint64_t argument;
    int is_long, is_later;
};

static struct harness_case *cases;
static size_t case_count, case_room;
static const struct harness_case *current;
static const char *suite_name, *program_name;
static int suite_is_long, suite_is_later, run_long, run_later, verbose, no_fork, time_scale = 1;
static uint64_t base_seed = 1;
static char note[512], replay[512];

/* The core may be absent while only the emulator is tested. */
#if defined(__GNUC__)
const char *fffs_status_name(int status) __attribute__((weak));
static const char *status_name(long long status)
{
    if (status > 0) { return "a count"; }
    return fffs_status_name != NULL ? fffs_status_name((int)status) : "?";
}
#else
const char *fffs_status_name(int status);
static const char *status_name(long long status) { return fffs_status_name((int)status); }
#endif

/* ---- The list ---- */

static struct harness_case *add(const char *name, const char *at)
{
    struct harness_case *entry;
    size_t bytes = strlen(suite_name) + strlen(name) + strlen(at) + 3;

    if (case_count == case_room) {
        case_room = case_room == 0 ? 256 : case_room * 2;
        cases = realloc(cases, case_room * sizeof *cases);
        if (cases == NULL) { abort(); }
    }
    entry = &cases[case_count++];
    memset(entry, 0, sizeof *entry);
    entry->name = malloc(bytes);
    if (entry->name == NULL) { abort(); }
    snprintf(entry->name, bytes, "%s.%s%s%s", suite_name, name, at[0] != '\0' ? "@" : "", at);
    entry->is_long = suite_is_long;
    entry->is_later = suite_is_later;
    return entry;
}

void harness_add(const char *name, void (*run)(void)) { add(name, "")->run = run; }

void harness_add_named(const char *name, void (*run)(void), uint64_t argument)
{
    struct harness_case *entry = add(name, "");
    entry->run = run;
    entry->argument = argument;
}

void harness_add_matrix(const char *name, void (*run)(const struct rig_point *), unsigned sets)
{
    size_t i;
    for (i = 0; suites_point(i) != NULL; i++) {
        if ((suites_point_sets(i) & sets) != 0) {
            struct harness_case *entry = add(name, suites_point_name(i));
            entry->run_at = run;
            entry->point = suites_point(i);
        }
    }
}

void harness_long_only(int on) { suite_is_long = on; }
void harness_later(int on) { suite_is_later = on; }
uint64_t harness_argument(void) { return current->argument; }
const char *harness_case(void) { return current->name; }
int harness_is_long(void) { return run_long; }

uint64_t harness_seed(void)
{
    uint64_t hash = 0xCBF29CE484222325u ^ base_seed;
    const char *c;
    for (c = current->name; *c != '\0'; c++) { hash = (hash ^ (unsigned char)*c) * 0x100000001B3u; }
    return hash;
}

/* ---- Inside a case ---- */

void harness_note(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(note, sizeof note, format, values);
    va_end(values);
}

void harness_replay(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(replay, sizeof replay, format, values);
    va_end(values);
}

void harness_timeout(unsigned seconds) { alarm(no_fork ? 0 : seconds * (unsigned)time_scale); }

static void print_replay(void)
{
    if (replay[0] != '\0') { printf(" | replay: %s %s\n", program_name, replay); }
    else {
        printf(" | replay: %s --only '%s' --seed %llu\n", program_name, current->name, (unsigned long long)base_seed);
    }
}

void harness_fail(const char *file, int line, const char *format, ...)
{
    va_list values;
    printf("FAIL %s: %s:%d: ", current->name, file, line);
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    if (note[0] != '\0') { printf(" (%s)", note); }
    print_replay();
    fflush(stdout);
    if (no_fork) { abort(); }
    exit(EXIT_FAILED);
}

void harness_skip(const char *why)
{
    printf("skip %s: %s\n", current->name, why);
    exit(EXIT_SKIPPED);
}

void harness_check_eq(const char *file, int line, const char *a_text, const char *b_text, long long a, long long b)
{
    if (a != b) { harness_fail(file, line, "%s == %s: %lld, %lld", a_text, b_text, a, b); }
}

void harness_check_le(const char *file, int line, const char *a_text, const char *b_text, long long a, long long b)
{
    if (a > b) { harness_fail(file, line, "%s <= %s: %lld, %lld", a_text, b_text, a, b); }
}

void harness_check_status(const char *file, int line, const char *text, long long status, long long expected)
{
    if (status != expected) {
        harness_fail(file, line, "%s is %lld %s, not %lld %s", text, status, status_name(status), expected,
                     status_name(expected));
    }
}

void harness_check_mem(const char *file, int line, const char *a_text, const char *b_text, const void *a, const void *b,
                       size_t bytes)
{
    const unsigned char *left = a, *right = b;
    size_t i;
    for (i = 0; i < bytes; i++) {
        if (left[i] != right[i]) {
            harness_fail(file, line, "%s equals %s: byte %zu of %zu is %02x, not %02x", a_text, b_text, i, bytes, left[i],
                         right[i]);
        }
    }
}

void harness_check_str(const char *file, int line, const char *a_text, const char *b_text, const char *a, const char *b)
{
    if (strcmp(a, b) != 0) { harness_fail(file, line, "%s equals %s: \"%s\", \"%s\"", a_text, b_text, a, b); }
}

/* ---- Running ---- */

static void run_case(const struct harness_case *entry)
{
    current = entry;
    note[0] = replay[0] = '\0';
    if (entry->run_at != NULL) { entry->run_at(entry->point); }
    else { entry->run(); }
}

struct job {
    pid_t pid;
    const struct harness_case *entry;
    FILE *output;
    double started;
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void start_job(struct job *job, const struct harness_case *entry)
{
    fflush(stdout);
    job->entry = entry;
    job->started = now();
    job->output = tmpfile();
    if (job->output == NULL) { perror("tmpfile"); exit(2); }
    job->pid = fork();
    if (job->pid < 0) { perror("fork"); exit(2); }
    if (job->pid == 0) {
        dup2(fileno(job->output), 1);
        dup2(fileno(job->output), 2);
        alarm(TIMEOUT_S * (unsigned)time_scale);
        run_case(entry);
        fflush(stdout);
        exit(0);
    }
}

static void print_output(FILE *output)
{
    char line[1024];
    rewind(output);
    while (fgets(line, sizeof line, output) != NULL) { fputs(line, stdout); }
}

/* Returns nonzero when the case passed. */
static int end_job(struct job *job, int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    int passed = code == 0 || code == EXIT_SKIPPED;

    if (!passed || verbose) { print_output(job->output); }
    fclose(job->output);
    if (!passed && code != EXIT_FAILED) {
        current = job->entry;
        note[0] = replay[0] = '\0';
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) { printf("FAIL %s: timed out", job->entry->name); }
        else if (WIFSIGNALED(status)) { printf("FAIL %s: signal %d", job->entry->name, WTERMSIG(status)); }
        else { printf("FAIL %s: exit %d", job->entry->name, code); }
        print_replay();
    }
    if (verbose) { printf("%s %s %.2f s\n", passed ? "ok" : "not ok", job->entry->name, now() - job->started); }
    job->pid = 0;
    return passed;
}

static struct job *find_job(struct job *jobs, pid_t pid)
{
    size_t i;
    for (i = 0; i < JOBS_MAX; i++) {
        if (jobs[i].pid == pid) { return &jobs[i]; }
    }
    return NULL;
}

static int run_all(const struct harness_case **chosen, size_t count, int parallel, size_t *passed)
{
    struct job jobs[JOBS_MAX];
    size_t next = 0, done = 0;
    int running = 0;

    memset(jobs, 0, sizeof jobs);
    *passed = 0;
    while (done < count) {
        int status;
        struct job *job;
        pid_t pid;
        while (running < parallel && next < count) {
            start_job(find_job(jobs, 0), chosen[next++]);
            running++;
        }
        pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno == EINTR) { continue; }
        if (pid < 0) { perror("waitpid"); return -1; }
        job = find_job(jobs, pid);
        if (job == NULL) { continue; }
        *passed += (size_t)end_job(job, status);
        running--;
        done++;
    }
    return 0;
}

static void collect(void)
{
    size_t i;
    for (i = 0; suites_name(i) != NULL; i++) {
        suite_name = suites_name(i);
        suite_is_long = suite_is_later = 0;
        suites_call(i);
    }
}

static int usage(void)
{
    fprintf(stderr, "usage: run_tests [--filter SUBSTR] [--only NAME] [--list] [--seed N] [--jobs N] [--long] [--later] [--verbose]\n"
                    "                 [--no-fork] [--slow FACTOR] [--replay random:...]\n");
    return 2;
}

static int is_chosen(const struct harness_case *entry, const char *filter, const char *only)
{
    if (only != NULL) { return strcmp(entry->name, only) == 0; }
    if ((entry->is_long && !run_long) || (entry->is_later && !run_later)) { return 0; }
    return filter == NULL || strstr(entry->name, filter) != NULL;
}

int main(int argc, char **argv)
{
    const char *filter = NULL, *only = NULL, *replayed = NULL;
    const struct harness_case **chosen;
    size_t i, count = 0, passed = 0;
    int a, list = 0, parallel = 2;

    program_name = argv[0];
    for (a = 1; a < argc; a++) {
        const char *value = a + 1 < argc ? argv[a + 1] : NULL;
        if (strcmp(argv[a], "--list") == 0) { list = 1; continue; }
        if (strcmp(argv[a], "--verbose") == 0) { verbose = 1; continue; }
        if (strcmp(argv[a], "--no-fork") == 0) { no_fork = 1; continue; }
        if (strcmp(argv[a], "--long") == 0) { run_long = 1; continue; }
        if (strcmp(argv[a], "--later") == 0) { run_later = 1; continue; }
        if (value == NULL) { return usage(); }
        if (strcmp(argv[a], "--filter") == 0) { filter = value; }
        else if (strcmp(argv[a], "--only") == 0) { only = value; }
        else if (strcmp(argv[a], "--seed") == 0) { base_seed = strtoull(value, NULL, 0); }
        else if (strcmp(argv[a], "--jobs") == 0) { parallel = atoi(value); }
        else if (strcmp(argv[a], "--slow") == 0) { time_scale = atoi(value); }
        else if (strcmp(argv[a], "--replay") == 0) { replayed = value; }
        else { return usage(); }
        a++;
    }
    if (parallel < 1 || parallel > JOBS_MAX || time_scale < 1) { return usage(); }
    if (replayed != NULL) {
        static struct harness_case replay_case = { NULL, NULL, NULL, NULL, 0, 0, 0 };
        static char replay_name[] = "replay";
        replay_case.name = replay_name;
        current = &replay_case;
        no_fork = 1;
        return suites_replay(replayed);
    }
    collect();
    chosen = malloc((case_count + 1) * sizeof *chosen);
    if (chosen == NULL) { abort(); }
    for (i = 0; i < case_count; i++) {
        if (is_chosen(&cases[i], filter, only)) { chosen[count++] = &cases[i]; }
    }
    if (list) {
        for (i = 0; i < count; i++) { printf("%s\n", chosen[i]->name); }
        return 0;
    }
    if (no_fork) {
        for (i = 0; i < count; i++) { run_case(chosen[i]); }
        passed = count;
    } else if (run_all(chosen, count, parallel, &passed) != 0) { return 2; }
    printf("%zu passed, %zu failed\n", passed, count - passed);
    free(chosen);
    return passed == count && count > 0 ? 0 : 1;
}
