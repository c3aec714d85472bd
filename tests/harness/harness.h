/* Test runner: plain C cases, one process each.
 *
 *     TEST(adds) { CHECK_EQ(1 + 1, 2); }
 *     SUITE(arithmetic) { RUN(adds); }
 *
 * Every tests/.../test_*.c is linked into one program; the list of suites is generated from the SUITE( lines. A case runs in
 * a process of its own, so that a crash or an endless loop is one failed case. A failed check ends the case. The failure
 * is printed as one line that ends with the command that repeats it.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <stddef.h>
#include <stdint.h>

struct rig_point;

#define TEST(name) static void name(void)
/* A case that is run at each point of the matrix (rig.h), as name@point. */
#define TEST_AT(name) static void name(const struct rig_point *point)
#define SUITE(suite) void suite_##suite(void); void suite_##suite(void)
#define RUN(name) harness_add(#name, name)
/* Over the whole matrix, or over the points whose set has a bit of `sets` (enum rig_set). */
#define RUN_MATRIX(name) harness_add_matrix(#name, name, ~0u)
#define RUN_MATRIX_OF(name, sets) harness_add_matrix(#name, name, (sets))

#define CHECK(condition) \
    ((condition) ? (void)0 : harness_fail(__FILE__, __LINE__, "CHECK(%s)", #condition))
#define CHECK_EQ(a, b) harness_check_eq(__FILE__, __LINE__, #a, #b, (long long)(a), (long long)(b))
/* a <= b, both printed when not. */
#define CHECK_LE(a, b) harness_check_le(__FILE__, __LINE__, #a, #b, (long long)(a), (long long)(b))
/* The status is FFFS_OK; or is this very status. Names are printed. */
#define CHECK_OK(status) harness_check_status(__FILE__, __LINE__, #status, (long long)(status), 0)
#define CHECK_STATUS(status, expected) \
    harness_check_status(__FILE__, __LINE__, #status, (long long)(status), (long long)(expected))
#define CHECK_MEM(a, b, bytes) harness_check_mem(__FILE__, __LINE__, #a, #b, (a), (b), (size_t)(bytes))
#define CHECK_STR(a, b) harness_check_str(__FILE__, __LINE__, #a, #b, (a), (b))

#if defined(__GNUC__)
#define HARNESS_PRINTF(format_at, values_at) __attribute__((format(printf, format_at, values_at)))
#define HARNESS_NORETURN __attribute__((noreturn))
#else
#define HARNESS_PRINTF(format_at, values_at)
#define HARNESS_NORETURN
#endif

void harness_fail(const char *file, int line, const char *format, ...) HARNESS_PRINTF(3, 4) HARNESS_NORETURN;
/* Leaves the case as not applicable here (counts as passed, listed with --verbose). */
void harness_skip(const char *why) HARNESS_NORETURN;
/* What a failure from here on is accompanied by: the step, the loop counter. Replaces the note before. */
void harness_note(const char *format, ...) HARNESS_PRINTF(1, 2);
/* Replaces the replay command that a failure of this case prints (the random test knows a shorter one). */
void harness_replay(const char *format, ...) HARNESS_PRINTF(1, 2);
/* More than the usual 60 s for this case. */
void harness_timeout(unsigned seconds);

void harness_check_eq(const char *file, int line, const char *a_text, const char *b_text, long long a, long long b);
void harness_check_le(const char *file, int line, const char *a_text, const char *b_text, long long a, long long b);
void harness_check_status(const char *file, int line, const char *text, long long status, long long expected);
void harness_check_mem(const char *file, int line, const char *a_text, const char *b_text, const void *a, const void *b,
                       size_t bytes);
void harness_check_str(const char *file, int line, const char *a_text, const char *b_text, const char *a, const char *b);

void harness_add(const char *name, void (*run)(void));
void harness_add_matrix(const char *name, void (*run)(const struct rig_point *), unsigned sets);
/* A case under a full name of its own, for generated cases; `run` finds what it is by harness_argument(). */
void harness_add_named(const char *name, void (*run)(void), uint64_t argument);
uint64_t harness_argument(void);
/* The suite's cases from here on are long: run only with --long. */
void harness_long_only(int on);
/* The suite's cases from here on wait for a capability that is not there yet: run only with --later. */
void harness_later(int on);

/* The seed of this case: from --seed and the case's name. */
uint64_t harness_seed(void);
const char *harness_case(void);
/* Nonzero with --long: more steps, more seeds. */
int harness_is_long(void);

/* Random numbers (splitmix64), for anything that must be repeatable. */
struct rng { uint64_t state; };
static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t z = (rng->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static inline uint32_t rng_below(struct rng *rng, uint32_t limit)
{
    return limit == 0 ? 0 : (uint32_t)((rng_next(rng) >> 32) % limit);
}
static inline int rng_chance(struct rng *rng, uint32_t percent) { return rng_below(rng, 100) < percent; }

#endif
