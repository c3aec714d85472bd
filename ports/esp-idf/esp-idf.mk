# The ESP-IDF component on a host: compiled against stub headers, its tests run on the emulated flash. Twice: with the
# defaults of Kconfig, and with what is off by default.
IDF_DIR = ports/esp-idf
IDF_EXAMPLE = $(IDF_DIR)/fastffs/examples/assets
IDF_PORT_SRC = $(wildcard $(IDF_DIR)/fastffs/src/*.c) $(wildcard ports/common/*.c)
IDF_SRC = $(IDF_PORT_SRC) $(wildcard $(IDF_DIR)/stubs/*.c) $(IDF_EXAMPLE)/main/main.c
IDF_TEST_SRC = $(sort $(wildcard tests/ports/esp_idf/test_*.c))
IDF_FLAGS = -D_GNU_SOURCE -I$(IDF_DIR)/stubs -Iports/common -I$(IDF_DIR)/fastffs/include -I$(IDF_DIR)/fastffs/src \
  -Itests/harness
IDF_ALL_ON = -DCONFIG_FASTFFS_BACKGROUND_TASK=1 -DCONFIG_FASTFFS_MMAP=1 -DCONFIG_FASTFFS_WDT_RESET=1 \
  -DCONFIG_FASTFFS_MALLOC_SPIRAM=1 -DCONFIG_FASTFFS_VERIFY=1 -DCONFIG_FASTFFS_WRITE_BUFFER_BYTES=4096
IDF_BUILD = $(BUILD)/idf
IDF_OBJ = $(IDF_SRC:%.c=$(IDF_BUILD)/%.o) $(IDF_TEST_SRC:%.c=$(IDF_BUILD)/%.o) $(IDF_BUILD)/suites.o
IDF_ON_OBJ = $(IDF_OBJ:$(IDF_BUILD)/%=$(BUILD)/idf-on/%)

$(IDF_BUILD)/%.o: %.c
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) $(IDF_FLAGS) -MMD -MP -c $< -o $@
$(BUILD)/idf-on/%.o: %.c
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) $(IDF_FLAGS) $(IDF_ALL_ON) -MMD -MP -c $< -o $@
$(IDF_BUILD)/$(IDF_EXAMPLE)/main/main.o $(BUILD)/idf-on/$(IDF_EXAMPLE)/main/main.o: \
  IDF_FLAGS += -include ports/esp-idf/stubs/posix_names.h

$(IDF_BUILD)/suites.c $(BUILD)/idf-on/suites.c: $(IDF_TEST_SRC) tests/harness/make_suites.sh
	@mkdir -p $(dir $@)
	@sh tests/harness/make_suites.sh 0 $(IDF_TEST_SRC) > $@
$(IDF_BUILD)/suites.o $(BUILD)/idf-on/suites.o: %.o: %.c
	$(CC) $(CFLAGS_ALL) $(IDF_FLAGS) -c $< -o $@

$(BUILD)/run_idf_tests: $(IDF_OBJ) $(BUILD)/tests/harness/harness.o $(LIB) $(NORLIB)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $^ -lpthread -o $@
$(BUILD)/run_idf_on_tests: $(IDF_ON_OBJ) $(BUILD)/tests/harness/harness.o $(LIB) $(NORLIB)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $^ -lpthread -o $@

$(BUILD)/idf/image.bin: $(BUILD)/fastffs $(shell find $(IDF_EXAMPLE)/data -type f)
	@mkdir -p $(@D)
	$(BUILD)/fastffs create $@ --size 1M --from $(IDF_EXAMPLE)/data --quiet

.PHONY: ports esp-idf esp-idf-component
esp-idf-component: ## build/esp-idf/fastffs: the ESP-IDF component with the core in it, as it goes to a registry
	@sh ports/esp-idf/pack.sh $(BUILD)/esp-idf/fastffs

ports: esp-idf ## all ports against stubs of their systems, their tests
esp-idf: $(BUILD)/run_idf_tests $(BUILD)/run_idf_on_tests $(BUILD)/idf/image.bin esp-idf-component ## the ESP-IDF component on stubs, its tests
	FASTFFS_TEST_IMAGE=$(BUILD)/idf/image.bin $(BUILD)/run_idf_tests
	FASTFFS_TEST_IMAGE=$(BUILD)/idf/image.bin $(BUILD)/run_idf_on_tests
	sh tests/ports/esp_idf/test_cmake.sh $(BUILD)
	sh tests/ports/esp_idf/test_cmake.sh $(BUILD) $(BUILD)/esp-idf/fastffs
