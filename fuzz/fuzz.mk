# Fuzzing. fuzz/corpus holds inputs to begin with, fuzz/regress those that once found something. FUZZ_TARGETS are built
# twice: with libFuzzer (clang), and with replay.c to run the inputs that are committed.
FUZZ_TARGETS = image ops tool
FUZZ_SECONDS ?= 30
FUZZ_CORPUS = $(BUILD)/fuzz-corpus
FUZZ_CC ?= clang
FUZZ_FLAGS = -fsanitize=fuzzer,address,undefined -fno-sanitize-coverage=trace-cmp -fno-sanitize-recover=all

FUZZ_BIN = $(FUZZ_TARGETS:%=$(BUILD)/fuzz-%)
FUZZ_REPLAY = $(FUZZ_TARGETS:%=$(BUILD)/replay-%)

.PHONY: fuzz fuzz-build fuzz-replays fuzz-quick fuzz-replay fuzz-seeds fuzz-coverage
fuzz-build: $(FUZZ_BIN)
fuzz: $(FUZZ_BIN) ## the fuzz targets in turn, FUZZ_SECONDS each; what they find lands in build/finding-*
	@set -e; for target in $(FUZZ_TARGETS); do \
	  mkdir -p $(FUZZ_CORPUS)/$$target; echo "== $$target"; \
	  $(BUILD)/fuzz-$$target -max_total_time=$(FUZZ_SECONDS) -timeout=120 -rss_limit_mb=1500 -max_len=24000 -close_fd_mask=1 \
	    -detect_leaks=0 -report_slow_units=1000 -print_final_stats=1 -artifact_prefix=$(BUILD)/finding-$$target- $(FUZZ_CORPUS)/$$target fuzz/*/$$target 2>&1 | \
	    grep -E 'DONE|FINDING|ERROR|SUMMARY|Test unit|stat::number|runtime error' || exit 1; \
	  if ls $(BUILD)/finding-$$target-* >/dev/null 2>&1; then exit 1; fi; done

fuzz-quick: ## the fuzz targets for 15 seconds each
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=15

test: $(FUZZ_REPLAY)

fuzz-replays: $(FUZZ_REPLAY)
fuzz-replay: $(FUZZ_REPLAY) ## the committed inputs of the fuzz targets, without a fuzzer
	@set -e; for target in $(FUZZ_TARGETS); do $(BUILD)/replay-$$target fuzz/*/$$target; done

comma := ,
FUZZ_TOOL_SRC = $(filter-out tools/main.c,$(TOOL_SRC))
FUZZ_OBJ = $(BUILD)/fuzzed
$(FUZZ_OBJ)/%.o: %.c
	@mkdir -p $(dir $@)
	$(FUZZ_CC) $(WARN) -O2 -g $(FUZZ_FLAGS) -Iinclude -I. -MMD -MP -c $< -o $@

FUZZ_CORE = $(FFFS_SRC:%.c=$(FUZZ_OBJ)/%.o) $(FUZZ_OBJ)/fuzz/fuzz.o
$(BUILD)/fuzz-image: $(FUZZ_CORE) $(FUZZ_OBJ)/fuzz/image.o $(FUZZ_OBJ)/fuzz/image_mutate.o $(FUZZ_OBJ)/fuzz/image_mutator.o
$(BUILD)/fuzz-ops: $(FUZZ_CORE) $(FUZZ_OBJ)/fuzz/ops.o $(EMULATOR_SRC:%.c=$(FUZZ_OBJ)/%.o)
# The tool is linked into its target: its main() has another name there, and its driver calls are counted.
$(BUILD)/fuzz-tool: $(FUZZ_CORE) $(FUZZ_OBJ)/fuzz/tool.o $(FUZZ_OBJ)/fuzz/image_mutate.o $(FUZZ_OBJ)/fuzz/tool_mutator.o \
  $(EMULATOR_SRC:%.c=$(FUZZ_OBJ)/%.o) $(FUZZ_TOOL_SRC:%.c=$(FUZZ_OBJ)/%.o) $(FUZZ_OBJ)/tool_main.o
$(FUZZ_OBJ)/tool_main.o: tools/main.c
	@mkdir -p $(dir $@)
	$(FUZZ_CC) $(WARN) -O2 -g $(FUZZ_FLAGS) -Iinclude -I. -Dmain=tool_main \
	  -MMD -MP -c $< -o $@
$(FUZZ_BIN):
	$(FUZZ_CC) $(FUZZ_FLAGS) $(if $(filter %-tool,$@),-Wl$(comma)--wrap=nor_flash) $^ -o $@

REPLAY_OBJ = $(BUILD)/fuzz/replay.o $(BUILD)/fuzz/fuzz.o
$(BUILD)/replay-image: $(BUILD)/fuzz/image.o $(REPLAY_OBJ) $(LIB)
$(BUILD)/replay-ops: $(BUILD)/fuzz/ops.o $(REPLAY_OBJ) $(LIB) $(NORLIB)
$(BUILD)/replay-tool: $(BUILD)/fuzz/tool.o $(REPLAY_OBJ) $(FUZZ_TOOL_SRC:%.c=$(BUILD)/%.o) $(BUILD)/fuzz/tool_main.o $(LIB) $(NORLIB)
$(BUILD)/fuzz/tool_main.o: tools/main.c
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) -Dmain=tool_main -MMD -MP -c $< -o $@
$(FUZZ_REPLAY):
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $(if $(filter %-tool,$@),-Wl$(comma)--wrap=nor_flash) $^ \
	  $(if $(filter %-tool,$@),$(FUSE_LIBS)) -o $@

$(BUILD)/make_seeds: $(BUILD)/fuzz/make_seeds.o $(BUILD)/fuzz/fuzz.o $(LIB)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $^ -o $@
fuzz-seeds: $(BUILD)/make_seeds ## the images that the image fuzzer began with, into build/fuzz-seeds
	@mkdir -p $(BUILD)/fuzz-seeds
	$(BUILD)/make_seeds $(BUILD)/fuzz-seeds

fuzz-coverage: ## lines and branches of src/ and tools/ that the committed fuzz inputs reach (gcovr)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz-coverage CC=gcc OPT="-O0 -g" CFLAGS="$(CFLAGS) --coverage" fuzz-replays
	@find $(BUILD)/fuzz-coverage -name '*.gcda' -delete
	@for target in $(FUZZ_TARGETS); do $(BUILD)/fuzz-coverage/replay-$$target fuzz/*/$$target >/dev/null 2>&1 || exit 1; done
	gcovr --root . --filter tools/ --object-directory $(BUILD)/fuzz-coverage --print-summary
	gcovr --root . --filter src/ --object-directory $(BUILD)/fuzz-coverage --print-summary
