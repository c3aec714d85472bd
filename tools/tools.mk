# The image tool, and the demonstration that uses it.
TOOL_SRC = $(sort $(wildcard tools/*.c sweep/*.c))
TOOL_OBJ = $(TOOL_SRC:%.c=$(BUILD)/%.o)

.PHONY: tool demo
tool: $(BUILD)/fastffs $(BUILD)/mkfastffs ## the image tool, build/fastffs

# 'fastffs mount' needs libfuse3 where it is installed; without it the command says so.
FUSE_CFLAGS := $(patsubst -I%,-isystem %,$(shell pkg-config --cflags fuse3 2>/dev/null))
ifneq ($(FUSE_CFLAGS),)
FUSE_LIBS := $(shell pkg-config --libs fuse3)
$(BUILD)/tools/cmd_mount.o: CFLAGS_ALL += -DFASTFFS_FUSE $(FUSE_CFLAGS)
endif

$(BUILD)/fastffs: $(TOOL_OBJ) $(LIB) $(NORLIB)
	$(CC) $(OPT) $(CFLAGS) $(LDFLAGS) $^ $(FUSE_LIBS) -o $@

$(BUILD)/mkfastffs: $(BUILD)/fastffs
	ln -sf fastffs $@

demo: tool ## real files into a 4 MiB image, out again, compared, with what it cost
	@CC='$(CC)' sh scripts/demo.sh $(BUILD)
