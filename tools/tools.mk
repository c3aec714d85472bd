# The image tool, and the demonstration that uses it.
TOOL_SRC = $(sort $(wildcard tools/*.c sweep/*.c))
TOOL_OBJ = $(TOOL_SRC:%.c=$(BUILD)/%.o)

.PHONY: tool demo
tool: $(BUILD)/fastffs $(BUILD)/mkfastffs ## the image tool, build/fastffs

$(BUILD)/fastffs: $(TOOL_OBJ) $(LIB) $(NORLIB)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $^ -o $@

$(BUILD)/mkfastffs: $(BUILD)/fastffs
	ln -sf fastffs $@

demo: tool ## real files into a 4 MiB image, out again, compared, with what it cost
	@CC='$(CC)' sh scripts/demo.sh $(BUILD)
