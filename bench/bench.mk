# The benchmark. A peer is measured too where its include path and library are given:
#   make bench LITTLEFS_INCLUDE=dir LITTLEFS_LIB=file   (also SPIFFS_, JESFS_, FATFS_)
BENCH_DIR = $(BUILD)/bench
BENCH_SRC = bench/workload.c bench/measure.c bench/results.c bench/limit.c bench/subjects.c \
  bench/adapters/adapter_ram.c bench/adapters/adapter_fastffs.c
BENCH_PEERS =
BENCH_LIBS =
ifneq ($(LITTLEFS_LIB),)
BENCH_PEERS += -DBENCH_WITH_LITTLEFS -isystem $(LITTLEFS_INCLUDE)
BENCH_LIBS += $(LITTLEFS_LIB)
BENCH_SRC += bench/adapters/adapter_littlefs.c
endif
ifneq ($(SPIFFS_LIB),)
BENCH_PEERS += -DBENCH_WITH_SPIFFS -isystem $(SPIFFS_INCLUDE)
BENCH_LIBS += $(SPIFFS_LIB)
BENCH_SRC += bench/adapters/adapter_spiffs.c
endif
ifneq ($(JESFS_LIB),)
BENCH_PEERS += -DBENCH_WITH_JESFS -isystem $(JESFS_INCLUDE)
BENCH_LIBS += $(JESFS_LIB)
BENCH_SRC += bench/adapters/adapter_jesfs.c
endif
ifneq ($(FATFS_LIB),)
BENCH_PEERS += -DBENCH_WITH_FATFS -isystem $(FATFS_INCLUDE)
BENCH_LIBS += $(FATFS_LIB)
BENCH_SRC += bench/adapters/adapter_fatfs.c
endif

BENCH_OBJ = $(BENCH_SRC:%.c=$(BUILD)/%.o)
$(BUILD)/bench/%.o: CFLAGS += $(BENCH_PEERS)

$(BENCH_DIR)/bench: $(BUILD)/bench/bench_main.o $(BENCH_OBJ) $(LIB) $(NORLIB)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) $^ $(BENCH_LIBS) -o $@

# The state structs as a 32-bit compiler lays them out; left out where the compiler has no -m32.
$(BENCH_DIR)/sizes32: bench/sizes32.c $(wildcard include/fastffs/*.h)
	@mkdir -p $(@D)
	@if $(CC) -std=c99 -m32 -ffreestanding -Iinclude -c $< -o $@.o 2>/dev/null; then \
	  nm -S -t d $@.o | awk '/bench_size_volume/ {v = $$2 + 0} /bench_size_file/ {f = $$2 + 0} \
	    END {if (v) print "--sizes32", v, f}' > $@; else : > $@; fi

$(BENCH_DIR)/results.csv: $(BENCH_DIR)/bench $(BENCH_DIR)/sizes32
	@rm -f $(BENCH_DIR)/failed
	$(BENCH_DIR)/bench --out $(BENCH_DIR) $$(cat $(BENCH_DIR)/sizes32) || touch $(BENCH_DIR)/failed

$(BENCH_DIR)/report.html: $(BENCH_DIR)/results.csv bench/peers.csv bench/targets.csv $(wildcard bench/report/*)
	sh bench/report/report.sh $(BENCH_DIR)

.PHONY: bench bench-report bench-check bench-accept bench-docs bench-cpu
bench: $(BENCH_DIR)/results.csv ## all workloads on the emulated flash: tables, build/bench/results.csv, report.html
	@awk -f bench/report/tables.awk $(BENCH_DIR)/results.csv bench/peers.csv bench/targets.csv
	@$(MAKE) --no-print-directory $(BENCH_DIR)/report.html
	@if test -e $(BENCH_DIR)/failed; then echo "bench: a run of FASTFFS failed, see above" >&2; exit 1; fi

bench-report: $(BENCH_DIR)/report.html ## build/bench/report.html from the last results (plots need gnuplot)

bench-check: $(BENCH_DIR)/results.csv ## fails when a fresh run differs from bench/results_committed.csv
	@if test -e $(BENCH_DIR)/failed; then echo "bench: a run of FASTFFS failed" >&2; exit 1; fi
	@awk -f bench/report/compare.awk bench/results_committed.csv $(BENCH_DIR)/results.csv

bench-accept: $(BENCH_DIR)/results.csv ## makes the fresh results the committed ones
	awk -F, 'NR == 1 || (($$1 == "fastffs" || $$1 == "limit") && $$3 != "host")' $(BENCH_DIR)/results.csv \
	  > bench/results_committed.csv

bench-docs: $(BENCH_DIR)/results.csv ## puts the tables of the last results into docs/BENCHMARKS.md
	sh bench/report/docs.sh $(BENCH_DIR)

$(BENCH_DIR)/cpu: $(BUILD)/bench/cpu_main.o $(BUILD)/bench/workload.o $(BUILD)/bench/adapters/adapter_fastffs.o $(LIB) $(NORLIB)
	$(CC) $(CFLAGS_ALL) $(LDFLAGS) $^ -o $@

bench-cpu: $(BENCH_DIR)/cpu ## host instructions per operation (needs valgrind), against bench/cpu_committed.csv
	sh bench/report/cpu.sh $(BENCH_DIR)
