# Emulated boards: the core, the driver and the same programs for each processor, run in QEMU. Needs (Debian):
#   qemu-system-arm gcc-arm-none-eabi picolibc-arm-none-eabi python3
#   qemu-system-misc gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf gcc-xtensa-lx106 picolibc-xtensa-lx106-elf
BOARDS_DIR = $(BUILD)/boards
BOARDS_PORT = ports/qemu-boards
BOARDS_COMMON = $(FFFS_SRC) bench/workload.c bench/adapters/adapter_fastffs.c \
  $(addprefix $(BOARDS_PORT)/,main.c volume.c text.c baseline.c scenarios.c counts.c power.c)
BOARDS_SPINOR = $(addprefix $(BOARDS_PORT)/,board_spinor.c spinor.c cut_bus.c semihosting.c)
BOARDS_HEADERS = $(wildcard include/fastffs/*.h src/*.h bench/*.h bench/adapters/*.h $(BOARDS_PORT)/*.h $(BOARDS_PORT)/*.ld) \
  $(BOARDS_PORT)/boards.mk
BOARDS_CFLAGS = $(WARN) -Werror -Os -g -ffunction-sections -fdata-sections -Wl,--gc-sections -nostartfiles -Iinclude -I.

comma = ,
ARM_CC = arm-none-eabi-gcc
RISCV_CC = riscv64-unknown-elf-gcc
XTENSA_CC = xtensa-lx106-elf-gcc
XTENSA_SPECS = $(shell dpkg -L picolibc-xtensa-lx106-elf 2>/dev/null | grep 'picolibc\.specs$$')

# $(call board,name,compiler and options,sources beside the common ones)
define board
$(BOARDS_DIR)/$(1).elf: $(BOARDS_COMMON) $(3) $(BOARDS_HEADERS)
	@mkdir -p $$(@D)
	$(2) $(BOARDS_CFLAGS) $(BOARDS_COMMON) $(3) -o $$@
endef

$(eval $(call board,cortex-m4,$(ARM_CC) --specs=picolibc.specs -mcpu=cortex-m4 -mthumb -T $(BOARDS_PORT)/ast1030.ld,\
  $(BOARDS_PORT)/board_ast1030.c $(BOARDS_SPINOR)))

$(eval $(call board,cortex-m0,$(ARM_CC) --specs=picolibc.specs -mcpu=cortex-m0 -mthumb -T $(BOARDS_PORT)/microbit.ld \
  -DBOARD_ARENA_BYTES=2048 -DBOARD_SEGMENTS=130,$(BOARDS_PORT)/board_microbit.c $(BOARDS_PORT)/semihosting.c))

$(eval $(call board,rv32,$(RISCV_CC) --specs=picolibc.specs -march=rv32imac -mabi=ilp32 -mcmodel=medany \
  -Wl$(comma)--no-warn-rwx-segments -T $(BOARDS_PORT)/sifive_u.ld,$(BOARDS_PORT)/board_sifive_u.c $(BOARDS_SPINOR)))

$(eval $(call board,lx106,$(XTENSA_CC) --specs=$$(XTENSA_SPECS) -mlongcalls -mtext-section-literals \
  -T $(BOARDS_PORT)/lx106.ld,$(BOARDS_PORT)/board_lx106.c $(BOARDS_PORT)/lx106_arithmetic.c))

$(BOARDS_DIR)/host: $(BOARDS_COMMON) $(BOARDS_PORT)/board_host.c $(NORLIB) $(BOARDS_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(BOARDS_COMMON) $(BOARDS_PORT)/board_host.c $(NORLIB) -o $@

$(BOARDS_DIR)/count_plugin.so: $(BOARDS_PORT)/count_plugin.c
	@mkdir -p $(@D)
	$(CC) $(WARN) $(OPT) -shared -fPIC $< -o $@

BOARDS_BUILT = $(addprefix $(BOARDS_DIR)/,cortex-m4.elf cortex-m0.elf rv32.elf lx106.elf count_plugin.so host) $(BUILD)/fastffs

.PHONY: boards boards-quick boards-build boards-docs
boards-build: $(BOARDS_BUILT)

boards: boards-build ## all runs on emulated boards (QEMU): scenarios, workload, power cuts, instruction counts
	@python3 $(BOARDS_PORT)/run_boards.py $(BUILD)

boards-quick: boards-build ## the same with fewer power cuts, as CI runs it
	@python3 $(BOARDS_PORT)/run_boards.py $(BUILD) --quick

boards-docs: boards-build ## puts fresh instruction counts into README.md and docs/BOARDS.md
	@python3 $(BOARDS_PORT)/run_boards.py $(BUILD) --only counts
	@python3 $(BOARDS_PORT)/run_boards.py $(BUILD) --docs
