# The Zephyr glue on a host: compiled against stub headers, its tests run on the emulated flash.
ZEPHYR_DIR = ports/zephyr
ZEPHYR_BUILD = $(BUILD)/zephyr
ZEPHYR_TEST_SRC = $(sort $(wildcard tests/ports/zephyr/test_*.c))
ZEPHYR_SRC = $(wildcard $(ZEPHYR_DIR)/src/*.c) $(wildcard ports/common/*.c) $(ZEPHYR_DIR)/stubs/stub_zephyr.c \
  $(ZEPHYR_DIR)/sample/src/main.c
ZEPHYR_CONFIG = -DCONFIG_FASTFFS_FS_TYPE=0 -DCONFIG_FASTFFS_NUM_FILES=4 -DCONFIG_FASTFFS_NUM_DIRS=2 \
  -DCONFIG_FASTFFS_FILE_BUFFER_SIZE=256 -DCONFIG_FASTFFS_SCRATCH_SIZE=512 -DCONFIG_FASTFFS_CACHE_ENTRIES=128 \
  -DCONFIG_FASTFFS_SEGMENTS=300 -DCONFIG_FASTFFS_BLOCK_ERASE_SIZE=65536 -DCONFIG_FILE_SYSTEM_MAX_FILE_NAME=40 \
  -DCONFIG_FILE_SYSTEM_INIT_PRIORITY=99 -DCONFIG_FILE_SYSTEM_MKFS
ZEPHYR_FLAGS = -D_GNU_SOURCE $(ZEPHYR_CONFIG) -I$(ZEPHYR_DIR)/include -I$(ZEPHYR_DIR)/stubs -Iports/common -Itests/harness
ZEPHYR_OBJ = $(ZEPHYR_SRC:%.c=$(ZEPHYR_BUILD)/%.o) $(ZEPHYR_TEST_SRC:%.c=$(ZEPHYR_BUILD)/%.o) $(ZEPHYR_BUILD)/suites.o

$(ZEPHYR_BUILD)/%.o: %.c
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) $(ZEPHYR_FLAGS) -MMD -MP -c $< -o $@
$(ZEPHYR_BUILD)/$(ZEPHYR_DIR)/sample/src/main.o: ZEPHYR_FLAGS += -Dmain=sample_main -Wno-missing-prototypes
$(ZEPHYR_BUILD)/suites.c: $(ZEPHYR_TEST_SRC) tests/harness/make_suites.sh
	@mkdir -p $(dir $@)
	@sh tests/harness/make_suites.sh 0 $(ZEPHYR_TEST_SRC) > $@
$(ZEPHYR_BUILD)/suites.o: $(ZEPHYR_BUILD)/suites.c
	$(CC) $(CFLAGS_ALL) $(ZEPHYR_FLAGS) -c $< -o $@

$(BUILD)/run_zephyr_tests: $(ZEPHYR_OBJ) $(BUILD)/tests/harness/harness.o $(LIB) $(NORLIB)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $^ -lpthread -o $@

.PHONY: zephyr
ports: zephyr
zephyr: $(BUILD)/run_zephyr_tests ## the Zephyr glue against stubs, its tests
	$(BUILD)/run_zephyr_tests
	sh tests/ports/zephyr/test_module.sh $(BUILD)
