/* Searches of the model.
 *
 * usage: model check RUNS          all rules on: no violation; ends with a count of what was seen
 *        model all DEPTH SECONDS   every choice, DEPTH sessions deep, on the smallest volume
 *        model rules FILE          replays the counterexamples of FILE and prints them as a table
 *        model find SECONDS [RULE] looks for counterexamples, SECONDS for each rule; prints lines for FILE
 *        model trace SEED IN_ROW SESSIONS [RULE]   one run, step by step, with that rule switched off
 *
 * A run is a number of sessions on a fresh volume. Its seed decides the size of the volume, how often power goes off, and
 * every read of a weak cell. IN_ROW is the number of sessions in a row that may end with a cut. */
#include "index_log.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SERIAL_LIMIT = 200, UNLIMITED = 255, SESSIONS = 40 };

static const char *const rule_names[RULE_COUNT] = {
#define RULE(name, text) #name,
    RULES(RULE)
#undef RULE
};
static const char *const rule_texts[RULE_COUNT] = {
#define RULE(name, text) text,
    RULES(RULE)
#undef RULE
};

/* ---- Choices ---- */

/* The exhaustive search: every choice sequence of a session, one after the other. */
enum { SCRIPT_MAX = 4096 };
static struct {
    int in_use;
    unsigned length, at;
    struct { uint8_t taken, count; } steps[SCRIPT_MAX];
} script;

static unsigned follow_script(unsigned count)
{
    if (script.at == script.length) {
        if (script.length == SCRIPT_MAX)
            abort();
        script.steps[script.length].taken = 0;
        script.steps[script.length++].count = (uint8_t)count;
    }
    return script.steps[script.at++].taken;
}

/* The next sequence; 0 when that was the last. */
static int next_script(void)
{
    script.at = 0;
    while (script.length > 0) {
        if (++script.steps[script.length - 1].taken < script.steps[script.length - 1].count)
            return 1;
        script.length--;
    }
    return 0;
}

static uint64_t random_state;
static unsigned cut_chance;     /* in 1/256 of a driver call */
static int tracing;
static uint64_t cuts;

static uint32_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 16);
}

unsigned choose(enum choice what, unsigned count)
{
    uint32_t number;

    if (script.in_use)
        return follow_script(count);
    number = next_random();
    if (what == CHOICE_CUT) {
        if ((number & 255u) >= cut_chance)
            return 0;
        cuts++;
        return count == 2 || (number >> 8 & 7u) != 0 ? 1 : 2;
    }
    if (what == CHOICE_MODE)
        return (number & 7u) == 0 ? 1 + (number >> 3) % (count - 1) : 0;
    return (number >> 8) % count;
}

void trace(const char *format, ...)
{
    va_list arguments;

    if (!tracing)
        return;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

/* ---- Runs ---- */

struct outcome {
    const char *property;
    unsigned sessions;
    uint64_t cuts;
    int forced;                 /* a protected unit had to be taken before it ended */
};

static struct outcome run(uint64_t seed, unsigned sessions, unsigned in_row)
{
    static const unsigned chances[] = { 2, 6, 16, 48, 96 };
    struct outcome outcome = { NULL, 0, 0, 0 };

    random_state = (seed + 1) * 0x9E3779B97F4A7C15u;
    (void)next_random();
    cut_chance = chances[next_random() % 5];
    setting.units = (uint8_t)(4 + next_random() % 3);
    setting.spares = setting.units == 4 ? 2 : 3;
    setting.log = (uint8_t)(5 + next_random() % 4);
    setting.failures = next_random() % 4 == 0;
    setting.operations = (uint8_t)(1 + next_random() % 4);
    setting.in_row = (uint8_t)in_row;
    cuts = 0;
    model_format();
    for (; outcome.sessions < sessions && outcome.property == NULL; outcome.sessions++) {
        if (tracing)
            printf("session %u\n", outcome.sessions + 1);
        outcome.property = model_session();
        if (model_highest_serial() > SERIAL_LIMIT)
            break;
    }
    outcome.cuts = cuts;
    outcome.forced = world.forced;
    return outcome;
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- All rules on ---- */

/* `in_row` cut sessions in a row at most; returns the violations while a safe spare was left. */
static uint64_t check(uint64_t runs, unsigned in_row)
{
    uint64_t seed, sessions = 0, all_cuts = 0, forced = 0, bad = 0, bad_forced = 0, first = 0;

    setting.off = 0;
    for (seed = 0; seed < runs; seed++) {
        struct outcome outcome = run(seed, SESSIONS, in_row);

        sessions += outcome.sessions;
        all_cuts += outcome.cuts;
        forced += outcome.forced != 0;
        if (outcome.property == NULL)
            continue;
        bad_forced += outcome.forced != 0;
        if (!outcome.forced && bad++ == 0)
            first = seed;
    }
    if (in_row == UNLIMITED)
        printf("any number of cut sessions in a row: ");
    else
        printf("at most %u cut session%s in a row:    ", in_row, in_row == 1 ? " " : "s");
    printf("%" PRIu64 " runs, %" PRIu64 " sessions, %" PRIu64 " cuts: %" PRIu64 " violations; ", runs, sessions, all_cuts, bad);
    printf("%" PRIu64 " runs took a protected unit, %" PRIu64 " violations among them\n", forced, bad_forced);
    if (bad > 0)
        printf("  model trace %" PRIu64 " %u %u\n", first, in_row, SESSIONS);
    return bad;
}

static int check_all(uint64_t runs)
{
    uint64_t bad = check(runs, 1) + check(runs, 2);

    (void)check(runs, UNLIMITED); /* told, not promised: docs/MODEL.md */
    printf("%s\n", bad == 0 ? "ok model: no violation within the promise" : "not ok model: a violation within the promise");
    return bad != 0;
}

/* ---- Every choice, a few sessions deep ---- */

struct frontier {
    struct world *worlds;
    size_t count, room;
};

static struct {
    uint64_t *keys;
    size_t mask, count;
} known;

static void push(struct frontier *to, const struct world *state)
{
    if (to->count == to->room) {
        to->room = to->room * 2 + 1024;
        to->worlds = realloc(to->worlds, to->room * sizeof *to->worlds);
        if (to->worlds == NULL)
            abort();
    }
    to->worlds[to->count++] = *state;
}

/* 1 when the world was not known. Worlds are told apart by 64 bits of hash. */
static int note(const struct world *state)
{
    const uint8_t *bytes = (const uint8_t *)state;
    uint64_t key = 0xCBF29CE484222325u;
    size_t i;

    for (i = 0; i < sizeof *state; i++)
        key = (key ^ bytes[i]) * 0x100000001B3u;
    key |= 1;
    if (known.count * 2 >= known.mask) {
        uint64_t *old = known.keys;
        size_t size = old == NULL ? 0 : known.mask + 1, bigger = size == 0 ? 1u << 20 : size * 4;

        known.keys = calloc(bigger, sizeof *known.keys);
        if (known.keys == NULL)
            abort();
        known.mask = bigger - 1;
        for (i = 0; i < size; i++) {
            size_t at = old[i] >> 7 & known.mask;

            while (old[i] != 0 && known.keys[at] != 0)
                at = (at + 1) & known.mask;
            if (old[i] != 0)
                known.keys[at] = old[i];
        }
        free(old);
    }
    for (i = key >> 7 & known.mask; known.keys[i] != 0; i = (i + 1) & known.mask)
        if (known.keys[i] == key)
            return 0;
    known.keys[i] = key;
    known.count++;
    return 1;
}

/* All sessions from `start`; new worlds go to `next`, unless nothing comes after them. */
static const char *expand(const struct world *start, struct frontier *next, uint64_t *transitions, int last)
{
    script.length = script.at = 0;
    do {
        const char *property;

        world = *start;
        property = model_session();
        (*transitions)++;
        if (world.forced)
            continue; /* beyond the promise */
        if (property != NULL)
            return property;
        model_normalize();
        if (note(&world) && !last)
            push(next, &world);
    } while (next_script());
    return NULL;
}

static int search_all(unsigned depth, double seconds)
{
    struct frontier from = { NULL, 0, 0 }, to = { NULL, 0, 0 };
    const char *property = NULL;
    double end = now() + seconds;
    uint64_t transitions = 0;
    unsigned level;
    size_t i;

    setting.off = 0;
    setting.units = 4;
    setting.spares = 2;
    setting.log = 5;
    setting.failures = 0;
    setting.operations = 1;
    setting.in_row = 2;
    model_format();
    script.in_use = 1;
    push(&from, &world);
    for (level = 1; level <= depth && property == NULL; level++) {
        for (i = 0; i < from.count && property == NULL && now() < end; i++)
            property = expand(&from.worlds[i], &to, &transitions, level == depth);
        printf("%u sessions: %zu of %zu worlds searched, %zu known, %" PRIu64 " sessions tried\n", level, i, from.count, known.count,
               transitions);
        fflush(stdout);
        if (i < from.count)
            break;
        free(from.worlds);
        from = to;
        memset(&to, 0, sizeof to);
    }
    free(from.worlds);
    free(to.worlds);
    free(known.keys);
    script.in_use = 0;
    if (property != NULL)
        printf("not ok model_all: %s\n", property);
    else if (level > depth)
        printf("ok model_all: every choice in %u sessions\n", depth);
    else
        printf("not ok model_all: out of time\n");
    return property != NULL || level <= depth;
}

/* ---- One rule off ---- */

static unsigned find_rule(const char *name)
{
    unsigned rule;

    for (rule = 0; rule < RULE_COUNT && strcmp(name, rule_names[rule]) != 0; rule++)
        ;
    return rule;
}

/* Whether the violation is the rule's: the same choices with all rules on lead to none. */
static int is_due_to(unsigned rule, uint64_t seed, unsigned sessions, unsigned in_row)
{
    struct outcome outcome;

    setting.off = 0;
    outcome = run(seed, sessions, in_row);
    setting.off = (uint64_t)1 << rule;
    return outcome.property == NULL;
}

/* Lines "RULE SEED IN_ROW SESSIONS"; "RULE -" for one without a counterexample. */
static int replay_rules(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[128], name[64];
    unsigned in_row, sessions, seen = 0, failed = 0;
    unsigned long long seed;

    if (file == NULL) {
        perror(path);
        return 2;
    }
    printf("%-20s %-9s %-5s %-48s %s\n", "rule switched off", "sessions", "cuts", "property violated", "the rule");
    while (fgets(line, sizeof line, file) != NULL) {
        struct outcome outcome;
        unsigned rule;
        int fields = sscanf(line, "%63s %llu %u %u", name, &seed, &in_row, &sessions);

        if (line[0] == '#' || fields < 1)
            continue;
        rule = find_rule(name);
        if (rule == RULE_COUNT) {
            printf("not ok %s is no rule\n", name);
            failed++;
            continue;
        }
        seen++;
        if (fields != 4) {
            printf("%-20s %-9s %-5s %-48s %s\n", name, "-", "-", "none found", rule_texts[rule]);
            continue;
        }
        setting.off = (uint64_t)1 << rule;
        outcome = run(seed, sessions, in_row);
        if (outcome.property == NULL || outcome.forced || !is_due_to(rule, seed, sessions, in_row)) {
            printf("not ok %s: the counterexample is none any more (look for one: model find 60 %s)\n", name, name);
            failed++;
            continue;
        }
        printf("%-20s %-9u %-5" PRIu64 " %-48s %s\n", name, outcome.sessions, outcome.cuts, outcome.property, rule_texts[rule]);
    }
    fclose(file);
    setting.off = 0;
    if (seen != RULE_COUNT)
        printf("not ok %u rules, %u in the table\n", RULE_COUNT, seen);
    if (failed == 0 && seen == RULE_COUNT)
        printf("ok model_rules: %u rules\n", seen);
    return failed != 0 || seen != RULE_COUNT;
}

/* The shortest counterexample that can be found; with few cuts in a row first. */
static int find(unsigned rule, double seconds)
{
    static const unsigned limits[] = { 4, 6, 10, SESSIONS }, rows[] = { 2, 4, UNLIMITED };
    unsigned attempt;
    uint64_t seed = 0;

    setting.off = (uint64_t)1 << rule;
    for (attempt = 0; attempt < sizeof rows / sizeof rows[0]; attempt++) {
        struct outcome best = { NULL, 0, 0, 0 };
        uint64_t found = 0;
        double end = now() + seconds / (double)(sizeof rows / sizeof rows[0]);

        for (seed = 0; (seed & 15u) != 0 || now() < end; seed++) {
            unsigned limit = limits[seed & 3u];
            struct outcome outcome;

            if (best.property != NULL && limit > best.sessions)
                limit = best.sessions;
            outcome = run(seed, limit, rows[attempt]);
            if (outcome.property == NULL || outcome.forced ||
                (best.property != NULL && outcome.sessions == best.sessions && outcome.cuts >= best.cuts) ||
                !is_due_to(rule, seed, limit, rows[attempt]))
                continue;
            best = outcome;
            found = seed;
        }
        if (best.property == NULL)
            continue;
        printf("%s %" PRIu64 " %u %u\n", rule_names[rule], found, rows[attempt], best.sessions);
        fflush(stdout);
        return 0;
    }
    printf("%s -  # none in %" PRIu64 " runs of each kind\n", rule_names[rule], seed);
    fflush(stdout);
    return 1;
}

static int find_all(double seconds, const char *only)
{
    unsigned rule;
    int missing = 0;

    for (rule = 0; rule < RULE_COUNT; rule++)
        if (only == NULL || strcmp(only, rule_names[rule]) == 0)
            missing += find(rule, seconds);
    return missing != 0;
}

static int trace_run(char **argument, const char *rule)
{
    struct outcome outcome;

    setting.off = rule != NULL && find_rule(rule) < RULE_COUNT ? (uint64_t)1 << find_rule(rule) : 0;
    tracing = 1;
    outcome = run(strtoull(argument[0], NULL, 0), (unsigned)atoi(argument[2]), (unsigned)atoi(argument[1]));
    return outcome.property != NULL;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "check") == 0 && argc > 2)
        return check_all(strtoull(argv[2], NULL, 0));
    if (strcmp(what, "all") == 0 && argc > 3)
        return search_all((unsigned)atoi(argv[2]), atof(argv[3]));
    if (strcmp(what, "rules") == 0 && argc > 2)
        return replay_rules(argv[2]);
    if (strcmp(what, "find") == 0 && argc > 2)
        return find_all(atof(argv[2]), argc > 3 ? argv[3] : NULL);
    if (strcmp(what, "trace") == 0 && argc > 4)
        return trace_run(argv + 2, argc > 5 ? argv[5] : NULL);
    fprintf(stderr, "usage: model check RUNS | all DEPTH SECONDS | rules FILE | find SECONDS [RULE] | trace SEED IN_ROW SESSIONS [RULE]\n");
    return 2;
}
