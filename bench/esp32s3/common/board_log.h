/* Log lines: "FFB1 kind name=value ... *check". One line is one printf; a line that was damaged on the way is told by its
 * check. */
#ifndef BOARD_LOG_H
#define BOARD_LOG_H

#include <stdint.h>

void board_log_begin(const char *kind);
void board_log_text(const char *name, const char *value); /* spaces become '_' */
void board_log_number(const char *name, uint64_t value);
/* "name=value" pieces of a list: name once, then a:b,a:b */
void board_log_pair(uint32_t a, uint32_t b, int first);
void board_log_end(void);

#endif
