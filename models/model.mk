# The model of the index log protocol (docs/MODEL.md).
MODEL = $(BUILD)/model
MODEL_OBJ = $(BUILD)/models/index_log.o $(BUILD)/models/search.o
MODEL_RUNS ?= 100000
$(MODEL_OBJ): CFLAGS_ALL += -D_POSIX_C_SOURCE=200809L -O2
$(MODEL): $(MODEL_OBJ)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $^ -o $@

.PHONY: model model-long model-find
model: $(MODEL) ## the protocol's model: no violation with all rules, one with each rule off (MODEL_RUNS=N)
	@sh models/check_names.sh
	@$(MODEL) all 3 100
	@$(MODEL) check $(MODEL_RUNS)
	@$(MODEL) rules models/counterexamples.txt

model-long: $(MODEL) ## the model, every choice four sessions deep, and a million random runs
	$(MODEL) all 4 3600
	$(MODEL) check 1000000

model-find: $(MODEL) ## looks for counterexamples anew, 20 s a rule; prints lines for models/counterexamples.txt
	@$(MODEL) find 20
