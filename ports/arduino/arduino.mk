# The Arduino wrapper on a host: compiled against stub headers, on top of the ESP-IDF component and its stubs.
ARDUINO_DIR = ports/arduino
ARDUINO_BUILD = $(BUILD)/arduino-host
CXX ?= c++
ARDUINO_CXXFLAGS = -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion $(OPT) -Iinclude -I. $(CFLAGS) \
  $(IDF_FLAGS) -I$(ARDUINO_DIR)/src -I$(ARDUINO_DIR)/stubs
ARDUINO_CPP = $(ARDUINO_DIR)/src/FASTFFS.cpp $(ARDUINO_DIR)/stubs/stub_arduino.cpp tests/ports/arduino/test_arduino.cpp
ARDUINO_OBJ = $(ARDUINO_CPP:%.cpp=$(ARDUINO_BUILD)/%.o) $(ARDUINO_BUILD)/suites.o \
  $(addprefix $(ARDUINO_BUILD)/,$(patsubst %.c,%.o,$(wildcard ports/esp-idf/fastffs/src/*.c ports/common/*.c) \
    ports/esp-idf/stubs/stub_idf.c))

$(ARDUINO_BUILD)/%.o: %.cpp
	@mkdir -p $(dir $@)
	$(CXX) $(ARDUINO_CXXFLAGS) -MMD -MP -c $< -o $@
# Without Kconfig, as Arduino builds are.
$(ARDUINO_BUILD)/%.o: %.c
	@mkdir -p $(dir $@)
	$(CC) $(CFLAGS_ALL) $(IDF_FLAGS) -DSTUB_NO_KCONFIG -MMD -MP -c $< -o $@
$(ARDUINO_BUILD)/suites.c: tests/ports/arduino/test_arduino.cpp tests/harness/make_suites.sh
	@mkdir -p $(dir $@)
	@sh tests/harness/make_suites.sh 0 $< > $@
$(ARDUINO_BUILD)/suites.o: $(ARDUINO_BUILD)/suites.c
	$(CC) $(CFLAGS_ALL) $(IDF_FLAGS) -c $< -o $@
$(BUILD)/run_arduino_tests: $(ARDUINO_OBJ) $(BUILD)/tests/harness/harness.o $(LIB) $(NORLIB)
	$(CXX) $(OPT) $(CFLAGS) $(LDFLAGS) $^ -lpthread -o $@

.PHONY: arduino arduino-library
arduino-library: ## build/arduino/FASTFFS: the Arduino library in the layout of its IDE
	@sh $(ARDUINO_DIR)/pack.sh $(BUILD)/arduino/FASTFFS

ports: arduino
arduino: $(BUILD)/run_arduino_tests arduino-library ## the Arduino wrapper against stubs, its tests
	$(BUILD)/run_arduino_tests
	CC='$(CC)' CXX='$(CXX)' sh tests/ports/arduino/test_manifests.sh $(BUILD)
