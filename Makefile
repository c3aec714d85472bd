# FASTFFS: the front door. `make help` lists what can be made.
CC ?= cc
BUILD ?= build
OPT ?= -O2 -g
WARN = -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-align
CFLAGS_ALL = $(WARN) $(OPT) -Iinclude -I. $(CFLAGS)

include sources.mk
EMULATOR_SRC = emulator/nor.c emulator/nor_fault.c emulator/nor_time.c

.PHONY: all help lib clean
all: lib tool ## the library, the emulator and the tool

help: ## this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

LIB = $(BUILD)/libfastffs.a
NORLIB = $(BUILD)/libnor.a
lib: $(LIB) $(NORLIB) ## the core library and the emulated flash

LIB_OBJ = $(FFFS_SRC:%.c=$(BUILD)/%.o)
NOR_OBJ = $(EMULATOR_SRC:%.c=$(BUILD)/%.o)
$(LIB): $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^
$(NORLIB): $(NOR_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@

-include tools/tools.mk
-include tests/tests.mk
-include fuzz/fuzz.mk
-include models/model.mk
-include bench/bench.mk
-include scripts/footprint.mk
-include tests/portability.mk
-include ports/ports.mk
-include cmake/install.mk
-include sweep/sweep.mk

clean: ## removes what was built
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
