/* QEMU plugin: exact instruction counts between marks, by function.
 *
 *     -plugin count_plugin.so,functions=FILE,out=FILE
 *
 * `functions` has one line per function of the program, sorted by address: START END CLASS NAME (hexadecimal addresses).
 * CLASS is L library, D driver, P program, M helper (memory functions, arithmetic): a helper counts to the class that ran
 * before it. Functions whose names begin with count_ are marks: count_begin starts a measurement, count_end_X adds what
 * ran since to operation X. `out` gets lines "total OPERATION CLASS CALLS SUM MAX" and "function OPERATION CLASS NAME SUM".
 *
 * The plugin interface of QEMU 7.2 is declared here, since no package has its header.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
extern void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
                                                  void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
extern void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
                                                 void (*executed)(unsigned vcpu, void *data), int flags, void *data);
extern void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*ended)(qemu_plugin_id_t id, void *data),
                                           void *data);
__attribute__((visibility("default"))) extern int qemu_plugin_version;
int qemu_plugin_version = 1;
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

enum { FUNCTIONS_MAX = 1000, OPERATIONS_MAX = 40, CLASSES = 3 };
static const char class_letters[CLASSES + 1] = "LDP";

struct function {
    uint64_t start, end;
    int class;                   /* index of class_letters; CLASSES: helper */
    int mark;                    /* 0 none, 1 begin, 2 + operation: its end */
    char name[64];
};

struct block {                   /* a translated block: all its instructions are of one function */
    const struct function *function;
    uint64_t instructions;
};

static struct function functions[FUNCTIONS_MAX];
static int function_count;
static char operations[OPERATIONS_MAX][64];
static int operation_count;
static uint64_t calls[OPERATIONS_MAX], sums[OPERATIONS_MAX][CLASSES], most[OPERATIONS_MAX][CLASSES];
static uint64_t by_function[OPERATIONS_MAX][CLASSES][FUNCTIONS_MAX];
static uint64_t now[CLASSES][FUNCTIONS_MAX], now_sums[CLASSES];
static int context = 2;          /* class that helpers count to */
static char out_path[512];

static void add_operation(int operation)
{
    calls[operation]++;
    for (int class = 0; class < CLASSES; class++) {
        sums[operation][class] += now_sums[class];
        if (now_sums[class] > most[operation][class])
            most[operation][class] = now_sums[class];
        for (int i = 0; i < function_count; i++)
            by_function[operation][class][i] += now[class][i];
    }
}

static void executed(unsigned vcpu, void *data)
{
    const struct block *block = data;
    const struct function *function = block->function;

    (void)vcpu;
    if (function == NULL)
        return;
    if (function->mark == 1) {
        memset(now, 0, sizeof now);
        memset(now_sums, 0, sizeof now_sums);
        return;
    }
    if (function->mark >= 2) {
        add_operation(function->mark - 2);
        return;
    }
    if (function->class != CLASSES)
        context = function->class;
    now[context][function - functions] += block->instructions;
    now_sums[context] += block->instructions;
}

static const struct function *find_function(uint64_t address)
{
    int low = 0, high = function_count;

    while (low < high) {
        int middle = (low + high) / 2;
        if (functions[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < function_count && functions[low].start <= address ? &functions[low] : NULL;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    struct block *block = malloc(sizeof *block); /* lives as long as the code that refers to it */

    (void)id;
    if (block == NULL)
        abort();
    block->function = find_function(qemu_plugin_tb_vaddr(tb));
    block->instructions = qemu_plugin_tb_n_insns(tb);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, executed, 0, block);
}

static void ended(qemu_plugin_id_t id, void *data)
{
    FILE *out = fopen(out_path, "w");

    (void)id;
    (void)data;
    if (out == NULL)
        abort();
    for (int op = 0; op < operation_count; op++)
        for (int class = 0; class < CLASSES; class++) {
            fprintf(out, "total %s %c %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", operations[op], class_letters[class], calls[op],
                    sums[op][class], most[op][class]);
            for (int i = 0; i < function_count; i++)
                if (by_function[op][class][i] != 0)
                    fprintf(out, "function %s %c %s %" PRIu64 "\n", operations[op], class_letters[class], functions[i].name,
                            by_function[op][class][i]);
        }
    fclose(out);
}

static int read_functions(const char *path)
{
    FILE *in = fopen(path, "r");
    char class;
    struct function *at = functions;

    if (in == NULL)
        return -1;
    while (function_count < FUNCTIONS_MAX &&
           fscanf(in, "%" SCNx64 " %" SCNx64 " %c %63s", &at->start, &at->end, &class, at->name) == 4) {
        const char *letter = strchr(class_letters, class);
        at->class = letter != NULL ? (int)(letter - class_letters) : CLASSES;
        at->mark = strcmp(at->name, "count_begin") == 0;
        if (strncmp(at->name, "count_end_", 10) == 0 && operation_count < OPERATIONS_MAX) {
            at->mark = 2 + operation_count;
            strcpy(operations[operation_count++], at->name + 10);
        }
        at = &functions[++function_count];
    }
    fclose(in);
    return function_count > 0 && function_count < FUNCTIONS_MAX ? 0 : -1;
}

__attribute__((visibility("default"))) int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
                                                               char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "functions=", 10) == 0 && read_functions(argv[i] + 10) != 0)
            return -1;
        if (strncmp(argv[i], "out=", 4) == 0)
            snprintf(out_path, sizeof out_path, "%s", argv[i] + 4);
    }
    if (function_count == 0 || out_path[0] == 0)
        return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
