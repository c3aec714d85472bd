/* See semihosting.h. The call numbers are those of the Arm semihosting specification, which RISC-V took over. */
#include "semihosting.h"

#include <string.h>

enum {
    CALL_OPEN = 0x01, CALL_CLOSE = 0x02, CALL_WRITE_TEXT = 0x04, CALL_WRITE = 0x05, CALL_ARGUMENTS = 0x15,
    CALL_EXIT_STATUS = 0x20, MODE_WRITE_BINARY = 5, REASON_EXIT = 0x20026
};

static intptr_t call(intptr_t operation, const void *block)
{
#if defined(__riscv)
    register intptr_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = block;
    /* The three instructions are known by their pattern and must lie in one page, uncompressed. */
    __asm__ volatile(".option push\n.option norvc\n.balign 16\nslli x0, x0, 0x1f\nebreak\nsrai x0, x0, 7\n.option pop"
                     : "+r"(a0) : "r"(a1) : "memory");
    return a0;
#else
    register intptr_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
#endif
}

void semihosting_print(const char *text)
{
    call(CALL_WRITE_TEXT, text);
}

void semihosting_arguments(char *line, uint32_t bytes)
{
    uintptr_t block[2] = { (uintptr_t)line, bytes };

    if (call(CALL_ARGUMENTS, block) != 0)
        line[0] = 0;
}

void semihosting_exit(int status)
{
    uintptr_t block[2] = { REASON_EXIT, (uintptr_t)status };

    for (;;)
        call(CALL_EXIT_STATUS, block);
}

int semihosting_save(const char *path, const void *data, uint32_t bytes)
{
    uintptr_t open[3] = { (uintptr_t)path, MODE_WRITE_BINARY, strlen(path) };
    intptr_t file = call(CALL_OPEN, open);

    if (file < 0)
        return -1;
    uintptr_t write[3] = { (uintptr_t)file, (uintptr_t)data, bytes };
    intptr_t left = call(CALL_WRITE, write);
    uintptr_t close = (uintptr_t)file;
    if (call(CALL_CLOSE, &close) != 0)
        return -1;
    return left == 0 ? 0 : -1;
}
