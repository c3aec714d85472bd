/* The explorer of damaged outcomes. */
#include "explore.h"
#include "patterns.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_PATTERNS = 10000 };

struct sweep {
    struct sweep_options options;
    struct sweep_counts *counts;
    struct session levels[SWEEP_LEVELS];
    jmp_buf branch_escape;       /* to the branch of level 1 in work */
    jmp_buf run_escape;          /* to the run */
    struct sweep_failure *failure;
    int failed;
    uint32_t follow[SWEEP_LEVELS][2];
    unsigned follow_length;      /* 0: everything */
    const char *save;
    const uint8_t *left, *weak;  /* the outcome of a program to be taken, instead of one by kind and seed */
};

static const char *const kind_names[NOR_FAULT_KINDS] = {
    "none", "before", "after", "prefix", "subset", "weak", "weak-blank", "erase-junk", "erase-part", "erase-blank",
    "erase-old", "error", "error-part", "lie"
};

const char *sweep_kind_name(enum nor_fault_kind kind)
{
    return kind_names[kind];
}

/* ---- Failures ---- */

static void print_path(const struct sweep_counts *counts, char *text)
{
    size_t used = 0;
    uint32_t i;

    text[0] = '\0';
    for (i = 0; i < counts->level; i++)
        used += (size_t)snprintf(text + used, SWEEP_PATH_TEXT - used, "%s%u.%u", i == 0 ? "" : "/",
                                 (unsigned)counts->path[i][0], (unsigned)counts->path[i][1]);
}

void sweep_fail(struct session *session, const char *format, ...)
{
    struct sweep *sweep = session->sweep;
    struct sweep_failure *failure = sweep->failure;
    va_list arguments;
    size_t used;

    if (!sweep->failed) {
        print_path(sweep->counts, failure->path);
        used = (size_t)snprintf(failure->text, sizeof failure->text, "%s: ", session->doing);
        va_start(arguments, format);
        vsnprintf(failure->text + used, sizeof failure->text - used, format, arguments);
        va_end(arguments);
    }
    sweep->failed = 1;
    if (sweep->counts->level > 0)
        longjmp(sweep->branch_escape, 1);
    longjmp(sweep->run_escape, 1);
}

static void say(const struct session *session, const char *text)
{
    if (session->sweep->options.trace)
        printf("%*s%s\n", (int)session->level * 2, "", text);
}

/* ---- A damaged volume ---- */

/* Shows one state throughout; the next mount may show the other. */
static void look_read_only(struct session *session)
{
    struct model before = session->model;

    say(session, "read-only mount");
    session_must(session, "read-only mount", session_mount(session, FFFS_MOUNT_READ_ONLY));
    session_look(session, 1);
    session_look(session, 0);
    session->sweep->counts->looks += 2;
    session->model = before;
    session_power_off(session);
}

/* Carries what the first change did over to the state that was shown. */
static void merge_change(struct model *shown, const struct model *changed)
{
    struct model merged = *changed;
    uint32_t g, i;

    for (g = 0; g < changed->groups; g++)
        for (i = 0; i < changed->doubt[g].count; i++)
            merged.now[changed->doubt[g].name[i]] = shown->now[changed->doubt[g].name[i]];
    merged.groups = 0;
    *shown = merged;
}

static void mount_writable(struct session *session)
{
    say(session, "mount");
    session_must(session, "mount", session_mount(session, 0));
    session_look(session, 1);
    session->sweep->counts->looks++;
}

/* The first change repairs. What was shown before holds from then on; a cut before the change has returned leaves both. */
static void mount_deferred(struct session *session)
{
    struct model before = session->model, shown;

    say(session, "mount, recovery deferred");
    session_must(session, "deferred mount", session_mount(session, FFFS_MOUNT_DEFER_RECOVERY));
    session_look(session, 1);
    shown = session->model;
    session->model = before;
    if (!operation_first_change(session)) {
        mount_writable(session); /* nothing was changed, so nothing repaired */
        return;
    }
    merge_change(&shown, &session->model);
    session->model = shown;
    session_look(session, 0);
    session->sweep->counts->looks += 2;
}

static void use(struct session *session)
{
    uint32_t count = 1 + dice_below(&session->dice, 6), i;

    session->sweep->counts->uses++;
    session->explore_percent = dice_percent(&session->dice, 25) ? 8 : 0;
    for (i = 0; i < count; i++) {
        operation_do(session, -1);
        say(session, session->doing);
    }
    session->doing = "after use";
    if (session->writers[0].open || session->writers[1].open || session->writers[2].open) {
        session_must(session, "unmount", session_unmount(session));
        session_must(session, "mount", session_mount(session, 0));
    }
    session_must(session, "gc", fffs_gc(&session->fs));
    session_look(session, 0);
    session->sweep->counts->looks++;
    if (dice_percent(&session->dice, 20)) {
        session->doing = "fill";
        operation_fill(session);
        session_look(session, 0);
    }
    if (dice_percent(&session->dice, 50)) {
        session->doing = "remount after use";
        session_must(session, "unmount", session_unmount(session));
        session_must(session, "mount", session_mount(session, 0));
        session_look(session, 0);
    }
    if (dice_percent(&session->dice, 40)) {
        session_check(session);
        session->sweep->counts->checks++;
    }
}

static void examine(struct session *session)
{
    uint32_t style = dice_below(&session->dice, 16);

    session->explore_percent = session->level == 1 ? 25 : 15;
    if (style < 3)
        look_read_only(session);
    if (style >= 2 && style < 4) {
        mount_deferred(session);
    } else {
        mount_writable(session);
    }
    if (style >= 12) {
        say(session, "power off, mount");
        session_must(session, "second mount", session_mount(session, 0));
        session_look(session, 0);
        session->sweep->counts->looks++;
    }
    if (dice_percent(&session->dice, session->level == 1 ? 20 : 10)) {
        session_check(session);
        session->sweep->counts->checks++;
    }
    if (dice_percent(&session->dice, session->level == 1 ? 25 : 8))
        use(session);
    if (nor_counts(session->nor)->violations != 0)
        sweep_fail(session, "a rule of the flash was broken");
}

/* ---- Branches ---- */

static void count_branch(struct sweep *sweep, const struct session *parent, enum nor_fault_kind kind)
{
    struct sweep_counts *counts = sweep->counts;

    counts->states++;
    counts->damaged += kind != NOR_FAULT_BEFORE && kind != NOR_FAULT_AFTER;
    counts->by_kind[kind]++;
    counts->by_level[parent->level + 1]++;
    counts->by_operation[sweep->levels[0].operation]++;
}

static void take_branch(struct session *parent, const struct nor_pending *pending, enum nor_fault_kind kind, uint64_t seed)
{
    struct sweep *sweep = parent->sweep;
    struct session *child = &sweep->levels[parent->level + 1];

    if (sweep->left != NULL)
        nor_branch_torn(parent->nor, child->nor, sweep->left, sweep->weak, seed);
    else
        nor_branch(parent->nor, child->nor, kind, seed);
    sweep->left = NULL; /* what is cut in this branch again is by kind */
    child->model = parent->model;
    child->dice.state = seed;
    child->seed = dice_next(&child->dice);
    child->mutations = 0;
    child->workload = parent->workload;
    child->capacity = parent->capacity;
    child->index_bytes = parent->index_bytes;
    child->doing = parent->doing;
    count_branch(sweep, parent, kind);
    if (sweep->options.trace)
        printf("%*s-> %s of %s of %lu bytes at 0x%lx, in %s\n", (int)child->level * 2, "", kind_names[kind],
               pending->op == NOR_PROGRAM ? "program" : "erase", (unsigned long)pending->bytes,
               (unsigned long)pending->address, parent->doing);
    if (sweep->save != NULL && sweep->follow_length == child->level && nor_save(child->nor, sweep->save) != 0)
        perror(sweep->save);
    examine(child);
}

/* A branch of the workload's volume: its failure ends it, and the run. */
static void try_branch(struct session *parent, const struct nor_pending *pending, enum nor_fault_kind kind, uint64_t seed)
{
    if (parent->level > 0) {
        take_branch(parent, pending, kind, seed);
        return;
    }
    if (setjmp(parent->sweep->branch_escape) == 0)
        take_branch(parent, pending, kind, seed);
}

static enum nor_fault_kind choose_kind(const struct nor_pending *pending, uint32_t turn, struct dice *dice)
{
    static const enum nor_fault_kind programs[] = {
        NOR_FAULT_WEAK, NOR_FAULT_SUBSET, NOR_FAULT_PREFIX, NOR_FAULT_WEAK_BLANK, NOR_FAULT_WEAK, NOR_FAULT_SUBSET,
        NOR_FAULT_AFTER
    };
    static const enum nor_fault_kind erases[] = {
        NOR_FAULT_ERASE_JUNK, NOR_FAULT_ERASE_BLANK, NOR_FAULT_ERASE_OLD, NOR_FAULT_ERASE_PART, NOR_FAULT_AFTER
    };

    if (dice_below(dice, 40) == 0)
        return NOR_FAULT_BEFORE;
    return pending->op == NOR_PROGRAM ? programs[turn % 7u] : erases[turn % 5u];
}

static uint32_t choose_count(const struct session *session, const struct nor_pending *pending, struct dice *dice)
{
    const struct sweep_options *options = &session->sweep->options;

    if (session->level > 0)
        return dice_percent(dice, session->explore_percent) ? 1u + dice_below(dice, 2) : 0;
    if (pending->address >= session->index_bytes)
        return (options->cuts + 1u) / 2u;
    return options->cuts + (pending->op == NOR_PROGRAM ? options->bits : 0u);
}

static int is_followed(const struct sweep *sweep, unsigned level, uint32_t number, uint32_t sample)
{
    if (sweep->follow_length == 0)
        return 1;
    return level < sweep->follow_length && sweep->follow[level][0] == number && sweep->follow[level][1] == sample;
}

static void enter_branch(struct session *session, const struct nor_pending *pending, uint32_t number, uint32_t sample,
                         enum nor_fault_kind kind, uint64_t seed)
{
    struct sweep *sweep = session->sweep;

    sweep->counts->path[session->level][0] = number;
    sweep->counts->path[session->level][1] = sample;
    sweep->counts->level = session->level + 1;
    try_branch(session, pending, kind, seed);
    sweep->counts->level = session->level;
}

/* Every pattern of a program into the index, once as it is and once with all its bits metastable. Samples have even and odd
 * numbers from SAMPLE_PATTERNS on. */
static void enumerate(struct session *session, const struct nor_pending *pending, uint32_t number)
{
    struct sweep *sweep = session->sweep;
    uint8_t to_clear[PATTERN_BYTES], left[PATTERN_BYTES], weak[PATTERN_BYTES];
    uint32_t pattern, i, turn;

    if (pending->op != NOR_PROGRAM || pending->address >= session->index_bytes || pending->bytes > PATTERN_BYTES)
        return;
    nor_peek(session->nor, pending->address, to_clear, pending->bytes);
    for (i = 0; i < pending->bytes; i++)
        to_clear[i] = (uint8_t)(to_clear[i] & ~pending->data[i]);
    for (pattern = 0; !sweep->failed && pattern_at(pattern, to_clear, pending->bytes, left); pattern++) {
        for (i = 0; i < pending->bytes; i++)
            weak[i] = (uint8_t)(to_clear[i] & ~left[i]); /* what was begun */
        for (turn = 0; turn < 2 && !sweep->failed; turn++) {
            uint32_t sample = SAMPLE_PATTERNS + 2u * pattern + turn;
            struct dice dice = { session->seed + number * UINT64_C(0xD1342543DE82EF95) + sample };

            if (!is_followed(sweep, session->level, number, sample))
                continue;
            sweep->left = left;
            sweep->weak = turn == 0 ? NULL : weak;
            enter_branch(session, pending, number, sample, turn == 0 ? NOR_FAULT_SUBSET : NOR_FAULT_WEAK, dice_next(&dice));
        }
    }
    sweep->left = NULL;
}

static void explore(void *context, struct nor *nor, const struct nor_pending *pending)
{
    struct session *session = context;
    struct sweep *sweep = session->sweep;
    uint32_t number = session->mutations++, count, i;
    struct dice dice = { session->seed + number * UINT64_C(0xD1342543DE82EF95) };
    uint32_t turn = dice_below(&dice, 35);

    (void)nor;
    if (session->explore_percent == 0 || sweep->failed)
        return;
    count = choose_count(session, pending, &dice);
    sweep->counts->mutations += session->level == 0;
    for (i = 0; i < count && !sweep->failed; i++) {
        enum nor_fault_kind kind = choose_kind(pending, turn + i, &dice);
        uint64_t seed = dice_next(&dice);

        if (!is_followed(sweep, session->level, number, i))
            continue;
        enter_branch(session, pending, number, i, kind, seed);
    }
    if (sweep->options.exhaustive && session->level == 0)
        enumerate(session, pending, number);
}

/* ---- Runs ---- */

struct sweep *sweep_create(const struct sweep_options *options, const struct point *point, struct sweep_counts *counts)
{
    struct sweep *sweep = calloc(1, sizeof *sweep);
    unsigned i;

    if (sweep == NULL)
        abort();
    sweep->options = *options;
    sweep->counts = counts;
    for (i = 0; i < SWEEP_LEVELS; i++) {
        session_create(&sweep->levels[i], sweep, point, i);
        if (i < options->depth && i + 1 < SWEEP_LEVELS)
            nor_on_mutation(sweep->levels[i].nor, explore, &sweep->levels[i]);
    }
    return sweep;
}

void sweep_destroy(struct sweep *sweep)
{
    unsigned i;

    for (i = 0; i < SWEEP_LEVELS; i++)
        session_destroy(&sweep->levels[i]);
    free(sweep);
}

static void start(struct session *trunk, unsigned workload, uint64_t seed)
{
    struct fffs_space space;
    struct fffs_geometry geometry;

    memset(&trunk->model, 0, sizeof trunk->model);
    trunk->model.names = trunk->point->names;
    trunk->dice.state = seed;
    trunk->seed = dice_next(&trunk->dice);
    trunk->mutations = 0;
    trunk->workload = workload;
    trunk->explore_percent = 0;
    trunk->doing = "start";
    nor_fill_erased(trunk->nor);
    nor_reset_counts(trunk->nor);
    session_format(trunk, trunk->point->sector_count);
    session_must(trunk, "mount", session_mount(trunk, 0));
    session_must(trunk, "space", fffs_space(&trunk->fs, &space));
    session_must(trunk, "discover", fffs_discover(&trunk->flash, &geometry));
    trunk->capacity = space.capacity_bytes;
    trunk->index_bytes = geometry.index_bytes;
    trunk->explore_percent = 100;
}

static void work(struct sweep *sweep, unsigned workload)
{
    struct session *trunk = &sweep->levels[0];
    unsigned step;

    for (step = 0; step < sweep->options.steps && !sweep->failed; step++) {
        trunk->calls_left = UINT32_MAX;
        operation_do(trunk, (int)workload);
        if (sweep->options.trace)
            printf("step %u: %s, %lu mutations\n", step, trunk->doing, (unsigned long)trunk->mutations);
        sweep->counts->steps++;
        if (step % 8u == 7u && !sweep->failed)
            session_look(trunk, 0);
    }
    if (sweep->failed)
        return;
    session_must(trunk, "unmount", session_unmount(trunk));
    session_must(trunk, "mount", session_mount(trunk, 0));
    session_look(trunk, 0);
    session_check(trunk);
}

int sweep_run(struct sweep *sweep, unsigned workload, uint64_t seed, struct sweep_failure *failure)
{
    sweep->failed = 0;
    sweep->failure = failure;
    sweep->counts->level = 0;
    /* A failing branch leaves through its own escape; what fails on the workload's volume itself comes here. */
    if (setjmp(sweep->run_escape) == 0) {
        start(&sweep->levels[0], workload, seed);
        work(sweep, workload);
    }
    sweep->counts->runs++;
    return sweep->failed;
}

int sweep_follow(struct sweep *sweep, const char *path, const char *save)
{
    unsigned length = 0;
    int used;

    sweep->save = save;
    while (*path != '\0' && length < SWEEP_LEVELS - 1) {
        unsigned number, sample;

        if (sscanf(path, "%u.%u%n", &number, &sample, &used) != 2)
            return 0;
        sweep->follow[length][0] = number;
        sweep->follow[length++][1] = sample;
        path += used;
        path += *path == '/';
    }
    sweep->follow_length = length;
    return *path == '\0' && length > 0;
}
