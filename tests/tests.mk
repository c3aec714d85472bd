# Tests: one program from all tests/*/test_*.c. Without the core (src/fastffs.c) only the emulator's tests are built.
HARNESS_SRC = tests/harness/harness.c
ifneq ($(wildcard src/fastffs.c),)
TEST_SRC := $(sort $(wildcard tests/*/test_*.c))
HARNESS_SRC += tests/harness/rig.c tests/harness/oracle.c tests/harness/random_model.c
TEST_LIBS = $(LIB) $(NORLIB)
TEST_RIG = 1
else
TEST_SRC := $(wildcard tests/unit/test_nor*.c tests/unit/test_harness.c)
TEST_LIBS = $(NORLIB)
TEST_RIG = 0
endif

RUN_TESTS = $(BUILD)/run_tests
TEST_OBJ = $(TEST_SRC:%.c=$(BUILD)/%.o) $(HARNESS_SRC:%.c=$(BUILD)/%.o) $(BUILD)/suites.o
$(TEST_OBJ): CFLAGS_ALL += -Itests/harness

$(BUILD)/suites.c: $(TEST_SRC) tests/harness/make_suites.sh tests/tests.mk
	@mkdir -p $(BUILD)
	@tests/harness/make_suites.sh $(TEST_RIG) $(TEST_SRC) > $@
$(BUILD)/suites.o: $(BUILD)/suites.c
	$(CC) $(CFLAGS_ALL) -MMD -MP -c $< -o $@
$(RUN_TESTS): $(TEST_OBJ) $(TEST_LIBS)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $(TEST_OBJ) $(TEST_LIBS) -o $@

.PHONY: test tests test-sanitize coverage
tests: $(RUN_TESTS) ## the test program build/run_tests (--help)

test: all $(RUN_TESTS) ## all tests; ends with "N passed, N failed"
	@tests/harness/run_all.sh $(BUILD)

test-sanitize: ## the test program under address and undefined-behaviour sanitizers, with clang where there is one
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/sanitize CC="$$(command -v clang || echo $(CC))" OPT="-O1 -g" \
	  CFLAGS="$(CFLAGS) -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer" tests fuzz-replays
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 $(BUILD)/sanitize/run_tests --slow 4
	@for replay in $(BUILD)/sanitize/replay-*; do ASAN_OPTIONS=detect_leaks=0 "$$replay" fuzz/*/"$${replay##*/replay-}" \
	  >$(BUILD)/replay.log 2>&1 || { tail -40 $(BUILD)/replay.log; exit 1; }; done

coverage: ## line and branch coverage of src/ (gcovr)
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/coverage CC=gcc OPT="-O0 -g" CFLAGS="$(CFLAGS) --coverage" tests
	@find $(BUILD)/coverage -name '*.gcda' -delete
	$(BUILD)/coverage/run_tests --slow 4
	gcovr --root . --filter src/ --object-directory $(BUILD)/coverage --print-summary
