# Code, RAM and stack of the core on small processors; the core as two files.
.PHONY: footprint footprint-update footprint-where amalgamation
footprint: ## code, RAM and stack on five processors, against the limits (needs the cross compilers, see .ci/run)
	@mkdir -p $(BUILD)
	@python3 scripts/footprint.py --build $(BUILD) --documents

footprint-update: ## writes the tables of README.md and docs/FOOTPRINT.md anew
	@mkdir -p $(BUILD)
	@python3 scripts/footprint.py --build $(BUILD) --update

footprint-where: ## the same with where the bytes are
	@mkdir -p $(BUILD)
	@python3 scripts/footprint.py --build $(BUILD) --where

AMALGAM = $(BUILD)/amalgamation
amalgamation: $(AMALGAM)/fastffs.c ## the core as build/amalgamation/fastffs.c and fastffs.h
$(AMALGAM)/fastffs.c: $(FFFS_SRC) $(wildcard src/*.h include/fastffs/*.h) scripts/amalgamate.py
	@python3 scripts/amalgamate.py $(AMALGAM) $(FFFS_SRC)

# The test program with that file in the place of the library. The unit tests need the functions between modules.
$(AMALGAM)/fastffs.o: $(AMALGAM)/fastffs.c
	$(CC) $(WARN) -Werror $(OPT) $(CFLAGS) -DFFFS_PRIVATE= -c $< -o $@
$(AMALGAM)/run_tests: $(AMALGAM)/fastffs.o $(TEST_OBJ) $(NORLIB)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $(TEST_OBJ) $< $(NORLIB) -o $@

.PHONY: test-amalgamation
test-amalgamation: $(AMALGAM)/run_tests ## the same tests with the two files in the place of the library
	@echo '#include "fastffs.h"' >$(AMALGAM)/alone.c
	$(CC) $(WARN) -Werror $(OPT) -I$(AMALGAM) -c $(AMALGAM)/alone.c -o $(AMALGAM)/alone.o
	$(CC) $(WARN) -Werror $(OPT) -c $(AMALGAM)/fastffs.c -o $(AMALGAM)/private.o
	@nm $(AMALGAM)/private.o | awk '$$2 ~ /[TDBRC]/ { print $$3 }' | sort >$(AMALGAM)/exported
	@sed -n 's/^[a-z].*[ *]\(fffs_[a-z_]*\)(.*/\1/p' include/fastffs/fastffs.h include/fastffs/fffs_inspect.h | sort | \
	  diff - $(AMALGAM)/exported # exports the public calls and nothing else
	$(AMALGAM)/run_tests $(AMALGAM_ARGS)
