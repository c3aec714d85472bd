/* Searches of the model.
 *
 * usage: model check RUNS          all rules on: no violation; ends with a count of what was seen
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
    uint32_t number = next_random();

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

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
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
    if (strcmp(what, "rules") == 0 && argc > 2)
        return replay_rules(argv[2]);
    if (strcmp(what, "find") == 0 && argc > 2)
        return find_all(atof(argv[2]), argc > 3 ? argv[3] : NULL);
    if (strcmp(what, "trace") == 0 && argc > 4)
        return trace_run(argv + 2, argc > 5 ? argv[5] : NULL);
    fprintf(stderr, "usage: model check RUNS | rules FILE | find SECONDS [RULE] | trace SEED IN_ROW SESSIONS [RULE]\n");
    return 2;
}
