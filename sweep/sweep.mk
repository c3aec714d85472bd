# The crash sweep (docs/TESTING.md).
.PHONY: sweep sweep-quick
SWEEP_SEED ?= 1
SWEEP_SECONDS ?= 3600

sweep-quick: tool ## crash sweep: at least 2 million damaged states, and mutants of the core that it must find
	$(BUILD)/fastffs sweep --seed $(SWEEP_SEED) --seeds 400
	@CC='$(CC)' TOOL_LIBS='$(FUSE_LIBS)' tests/mutants/run.sh $(BUILD) 120

sweep: tool ## long crash sweep: SWEEP_SECONDS seconds (default an hour) from seed SWEEP_SEED on
	$(BUILD)/fastffs sweep --seed $(SWEEP_SEED) --time-limit $(SWEEP_SECONDS) --cuts 12 --bits 8
