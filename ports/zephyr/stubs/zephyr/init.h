/* Stub: the test calls what would run at start. */
#ifndef STUB_ZEPHYR_INIT_H
#define STUB_ZEPHYR_INIT_H

int stub_sys_init(void);
#define SYS_INIT(function, level, priority) \
    int stub_sys_init(void) { return (priority) > 0 ? function() : 0; } \
    struct stub_sys_init_end

#endif
