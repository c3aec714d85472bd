/* The board programs: which one runs, and with what, say the arguments. */
#include <string.h>
#include "volume.h"

int board_program(void);

static int run_driver(void)
{
    return board_flash() == NULL ? __LINE__ : board_test_driver();
}

static int run_break_rule(void)
{
    return board_flash() == NULL || board_break_rule() != 0 ? __LINE__ : 0;
}

static const struct { const char *name; int (*run)(void); } programs[] = {
    { "driver", run_driver }, { "scenarios", run_scenarios }, { "baseline", run_baseline },
    { "power", run_power }, { "counts", run_counts }, { "break-rule", run_break_rule }
};

int board_program(void)
{
    char name[16];

    if (!argument_text("run", name, sizeof name))
        name[0] = 0;
    for (unsigned i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (strcmp(name, programs[i].name) != 0)
            continue;
        int line = programs[i].run();
        if (line == 0) {
            board_print("done\n");
            board_exit(BOARD_OK);
        }
        board_print("failed at line ");
        print_number((uint32_t)line);
        board_print("\n");
        board_exit(BOARD_FAILED);
    }
    board_print("no such program: run=driver, scenarios, baseline, power, counts or break-rule\n");
    board_exit(BOARD_FAILED);
}
