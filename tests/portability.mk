# Other compilers, standards, processors.
.PHONY: portability portability-quick build-matrix
build-matrix: ## no warnings: compilers, widths, standards, limits; headers alone; C++
	@bash tests/portability/build_matrix.sh $(BUILD)

portability: tool ## one run on 32-bit, big-endian and 16-bit processors with the same image; parts of the tests there
	@bash tests/portability/run.sh $(BUILD)

portability-quick: tool ## the same with fewer tests
	@bash tests/portability/run.sh $(BUILD) quick
