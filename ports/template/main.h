#ifndef MAIN_H
#define MAIN_H

#include <stdint.h>

/* `now_us` may be NULL: then nothing is timed. 0, or 1 with the reason printed. */
int first_light(void (*print)(const char *text), uint32_t (*now_us)(void));

#endif
