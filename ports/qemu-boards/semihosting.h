/* Semihosting calls of Arm and RISC-V: output, files of the host, arguments, exit. */
#ifndef SEMIHOSTING_H
#define SEMIHOSTING_H

#include <stdint.h>

void semihosting_print(const char *text);
void semihosting_arguments(char *line, uint32_t bytes);
void semihosting_exit(int status) __attribute__((noreturn));
/* Writes `bytes` at `data` as a new file. 0, or -1. */
int semihosting_save(const char *path, const void *data, uint32_t bytes);

#endif
