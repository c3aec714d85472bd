# The model of the index log protocol (docs/MODEL.md).
MODEL = $(BUILD)/model
MODEL_OBJ = $(BUILD)/models/index_log.o $(BUILD)/models/search.o
MODEL_RUNS ?= 100000
$(MODEL_OBJ): CFLAGS_ALL += -D_POSIX_C_SOURCE=200809L -O2
$(MODEL): $(MODEL_OBJ)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $^ -o $@

.PHONY: model model-find
model: $(MODEL) ## the protocol's model: no violation with all rules, one with each rule off (MODEL_RUNS=N)
	@sh models/check_names.sh
	@$(MODEL) check $(MODEL_RUNS)
	@$(MODEL) rules models/counterexamples.txt

model-find: $(MODEL) ## looks for counterexamples anew, 20 s a rule; prints lines for models/counterexamples.txt
	@$(MODEL) find 20
