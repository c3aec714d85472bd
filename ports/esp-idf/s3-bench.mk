# The board benchmark (bench/esp32s3) on a host: every project compiled against the stubs; FASTFFS's, and the adapter for
# mounted filesystems, also run, on the emulated flash. Its logs become the same CSV as `make bench`.
S3_DIR = bench/esp32s3
S3_BUILD = $(BUILD)/s3
S3_FLAGS = $(IDF_FLAGS) -I$(S3_DIR)/common -DBOARD_WHERE='"host-stub"'
S3_COMMON = $(addprefix $(S3_BUILD)/,$(patsubst %.c,%.o,$(wildcard $(S3_DIR)/common/*.c) bench/workload.c))
S3_WRAP = -Wl,--wrap=esp_partition_read -Wl,--wrap=esp_partition_write -Wl,--wrap=esp_partition_erase_range
S3_PROJECTS = fastffs_minimal fastffs_default fastffs_fast littlefs spiffs fatfs jesfs
S3_MAINS = $(S3_PROJECTS:%=$(S3_BUILD)/$(S3_DIR)/%/main/main.o)

$(S3_BUILD)/%.o: %.c
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) $(S3_FLAGS) -MMD -MP -c $< -o $@
# Application code: its file calls go to the stub VFS.
$(S3_BUILD)/$(S3_DIR)/common/adapter_vfs.o: S3_FLAGS += -include ports/esp-idf/stubs/posix_names.h

S3_PORT = $(addprefix $(S3_BUILD)/,$(patsubst %.c,%.o,$(IDF_PORT_SRC)))
S3_STUBS = $(S3_BUILD)/ports/esp-idf/stubs/stub_idf.o
$(S3_BUILD)/fastffs_%: $(S3_BUILD)/$(S3_DIR)/fastffs_%/main/main.o $(S3_BUILD)/$(S3_DIR)/host/host_main.o \
  $(S3_BUILD)/bench/adapters/adapter_fastffs.o $(S3_COMMON) $(S3_PORT) $(S3_STUBS) $(LIB) $(NORLIB)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $(S3_WRAP) $^ -lpthread -o $@
$(S3_BUILD)/littlefs: $(S3_BUILD)/$(S3_DIR)/littlefs/main/main.o $(S3_BUILD)/$(S3_DIR)/host/host_main.o \
  $(S3_BUILD)/$(S3_DIR)/host/littlefs_is_fastffs.o $(S3_COMMON) $(S3_PORT) $(S3_STUBS) $(LIB) $(NORLIB)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $(S3_WRAP) $^ -lpthread -o $@

$(S3_BUILD)/log_to_csv: $(S3_BUILD)/$(S3_DIR)/log_to_csv.o $(BUILD)/bench/results.o $(BUILD)/bench/measure.o $(NORLIB)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $^ -o $@
$(S3_BUILD)/%.log: $(S3_BUILD)/%
	$< >$@

S3_LOGS = $(S3_BUILD)/fastffs_default.log $(S3_BUILD)/littlefs.log

.PHONY: bench-board bench-board-report
ports: bench-board
bench-board: $(S3_MAINS) $(S3_LOGS) $(S3_BUILD)/log_to_csv $(BENCH_DIR)/bench ## the board benchmark on stubs, and its log converter
	sh tests/ports/esp_idf/test_board_log.sh $(BUILD)

bench-board-report: $(S3_BUILD)/log_to_csv ## LOGS="a.log b.log": build/board/report.html from logs of boards
	sh $(S3_DIR)/report.sh $(S3_BUILD)/log_to_csv $(BUILD)/board $(LOGS)
