#!/usr/bin/env python3
"""Cross builds of the core: code, RAM and stack, as a table and as BUILD/footprint.csv (target,config,metric,bytes).

usage: footprint.py [--build DIRECTORY] [--limits FILE] [--target NAME]... [--where] [--documents | --update]

Ends with "N passed, N failed": each committed limit is a check, and so are the rules that numbers do not show (no recursion,
no variable-length arrays, no address of a library function taken, no library arithmetic on 64 bits or floating point).

code    what the linker keeps of a configuration's calls (ld -r --gc-sections over one section per function), text and
        constants; helpers of the compiler's library and the four memory functions are not in it
part.X  how much less the linker keeps when the calls of part X are not used
ram     objects and buffers of a configuration, from sizeof in a cross-compiled object
stack.X worst stack of public call X: frames along the deepest path of the call graph, without the driver, the hooks and
        the compiler's library
"""
import argparse
import collections
import os
import re
import subprocess
import sys

Target = collections.namedtuple("Target", "name prefix flags note")
ARM = "arm-none-eabi-"
TARGETS = [
    Target("cortex-m0plus", ARM, ["-mcpu=cortex-m0plus", "-mthumb", "--specs=picolibc.specs"], "Cortex-M0+"),
    Target("cortex-m4", ARM, ["-mcpu=cortex-m4", "-mthumb", "--specs=picolibc.specs"], "Cortex-M4"),
    Target("rv32imc", "riscv64-unknown-elf-", ["-march=rv32imc", "-mabi=ilp32", "--specs=picolibc.specs"], "RV32IMC"),
    Target("lx106", "xtensa-lx106-elf-", ["-mlongcalls", "--specs=%LX106%"], "Xtensa lx106"),
    Target("avr", "avr-", ["-mmcu=atmega1284p"], "AVR"),
]
COMMON = ["-std=c99", "-Os", "-ffreestanding", "-ffunction-sections", "-fdata-sections", "-fno-common", "-Iinclude", "-I."]

READING = ["fffs_mount_reading", "fffs_unmount_reading", "fffs_open_reading", "fffs_close_reading", "fffs_read",
           "fffs_seek", "fffs_tell", "fffs_stat", "fffs_exists"]
LISTING = ["fffs_dir_open", "fffs_dir_read", "fffs_dir_close", "fffs_list"]
# Parts that an application leaves out by not calling them.
PARTS = {
    "format": ["fffs_format", "fffs_format_plan"],
    "list": LISTING + ["fffs_delete_prefix"],
    "map": ["fffs_map"],
    "grow": ["fffs_grow"],
    "gc_step": ["fffs_gc_step", "fffs_gc"],
    "settle": ["fffs_settle"],
    "space": ["fffs_space"],
}
# Diagnostics, and what costs only those who call it: not in "core".
EXTRAS = {
    "rename": ["fffs_rename"],
    "transaction": ["fffs_txn_begin", "fffs_txn_put", "fffs_txn_delete", "fffs_txn_rename", "fffs_txn_commit", "fffs_txn_abort"],
    "check": ["fffs_check"],
    "inspect": ["fffs_inspect", "fffs_inspect_owner"],
    "names": ["fffs_status_name"],
}
FORBIDDEN = re.compile(r"(div|mod)di|ldivmod|aeabi_[fd]|[sd]f[23]$|(float|fix)\w*[sd][fi]|malloc|free|printf|abort")


# Options of fffs_opts.h at their smallest, for the configuration "smallest".
SMALLEST = ["-DFFFS_NAME_MAX=32", "-DFFFS_DIR_FOLDERS=1", "-DFFFS_FILE_EXTENTS=3", "-DFFFS_BATCH=2"]


class Problem(Exception):
    pass


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr.strip():
        raise Problem("%s\n%s" % (" ".join(command), done.stderr[:2000]))
    return done.stdout


def make_list(name):
    """A list of sources.mk."""
    text = open("sources.mk", encoding="utf-8").read().replace("\\\n", " ")
    match = re.search(r"^%s = (.*)$" % name, text, re.M)
    return match.group(1).split() if match else []


def public_calls():
    text = open("include/fastffs/fastffs.h", encoding="utf-8").read()
    text += open("include/fastffs/fffs_inspect.h", encoding="utf-8").read()
    return re.findall(r"^(?:const )?[a-z_0-9]+ \*?(fffs_[a-z_]+)\(", text, re.M)


class Build:
    """The objects of one target."""

    def __init__(self, target, directory, sources, options=()):
        self.target, self.directory = target, directory
        self.flags = list(target.flags)
        self.options = list(options)
        if target.prefix.startswith("xtensa"):
            listing = run(["dpkg", "-L", "picolibc-xtensa-lx106-elf"])
            self.flags[-1] = "--specs=" + re.search(r"^.*picolibc\.specs$", listing, re.M).group(0)
        os.makedirs(directory, exist_ok=True)
        version = run([target.prefix + "gcc", "-dumpversion"]).strip()
        self.graph = int(version.split(".")[0]) >= 10
        self.objects = [self.compile(source) for source in sources]

    def compile(self, source, more=(), name=None):
        base = os.path.join(self.directory, name or os.path.basename(source)[:-2])
        flags = ["-fstack-usage"] + (["-fcallgraph-info=su"] if self.graph else [])
        run([self.target.prefix + "gcc"] + COMMON + self.flags + self.options + flags + list(more) + ["-c", source, "-o", base + ".o"])
        return base + ".o"

    def keep(self, calls):
        """The object that holds what `calls` need."""
        out = os.path.join(self.directory, "kept.elf")
        emulation = {"riscv64-unknown-elf-": ["-m", "elf32lriscv"], "avr-": ["-m", "avr51"]}.get(self.target.prefix, [])
        roots = [option for call in calls for option in ("-u", call)]
        run([self.target.prefix + "ld"] + emulation + ["-r", "--gc-sections", "-e", calls[0]] + roots + self.objects + ["-o", out])
        return out

    def code(self, calls):
        total = 0
        for line in run([self.target.prefix + "size", "-A", self.keep(calls)]).splitlines():
            match = re.match(r"(\.(?:text|rodata|literal|progmem|data|bss|sdata|sbss|srodata)\S*)\s+(\d+)", line)
            if match:
                total += int(match.group(2))
        return total

    def parts(self):
        """Bytes of each module, and of its largest functions."""
        modules, functions = {}, []
        for path in self.objects:
            module = os.path.basename(path)[:-2]
            for line in run([self.target.prefix + "size", "-A", path]).splitlines():
                match = re.match(r"\.(text|rodata|literal|progmem)(\S*)\s+(\d+)", line)
                if match and int(match.group(3)) > 0:
                    modules[module] = modules.get(module, 0) + int(match.group(3))
                    functions.append((int(match.group(3)), module, match.group(2).lstrip(".")))
        return modules, sorted(functions, reverse=True)

    def undefined(self):
        """What the core takes from elsewhere."""
        names = set()
        for line in run([self.target.prefix + "nm", "-u"] + self.objects).splitlines():
            name = line.split()[-1] if line.split() else ""
            if name and not name.endswith(":") and not name.startswith("fffs_"):
                names.add(name)
        return names

    def writable(self):
        return [line for line in run([self.target.prefix + "nm", "-A"] + self.objects).splitlines()
                if re.search(r" [BbCDdGgSs] ", line) and not self.is_constant(line)]

    @staticmethod
    def is_constant(line):
        # AVR has no constants outside RAM unless the source says so: its .rodata shows as data.
        return "avr" in line and re.search(r" [Dd] (names|nibble_table|\w*table\w*|\w*names)(\.\d+)?$", line) is not None

    def call_graph(self):
        """(frames, edges): bytes by function, and the set of functions that each calls; "*" is an indirect call."""
        return self.graph_of_compiler() if self.graph else self.graph_of_code()

    def graph_of_compiler(self):
        frames, edges = {}, collections.defaultdict(set)
        for path in self.objects:
            text = open(path[:-2] + ".ci", encoding="utf-8").read()
            for title, label in re.findall(r'node: { title: "([^"]*)" label: "([^"]*)"', text):
                match = re.search(r"(\d+) bytes \(([^)]*)\)", label)
                if match:
                    if match.group(2) != "static":
                        raise Problem("%s: the frame is %s" % (title, match.group(2)))
                    frames[title] = int(match.group(1))
            for source, to in re.findall(r'edge: { sourcename: "([^"]*)" targetname: "([^"]*)"', text):
                edges[source].add("*" if to == "__indirect_call" else to)
        return frames, edges

    def graph_of_code(self):
        """From .su files and the calls in the code: for compilers that do not write the graph. The return address that a
        call pushes counts to the frame called."""
        frames, edges = {}, collections.defaultdict(set)
        for path in self.objects:
            module = os.path.basename(path)[:-2]
            defined = {}
            for line in run([self.target.prefix + "nm", path]).splitlines():
                match = re.match(r"\w+ ([tT]) (\S+)", line)
                if match:
                    defined[match.group(2)] = match.group(2) if match.group(1) == "T" else module + ":" + match.group(2)
            base = re.compile(r"\.(constprop|isra|part|lto_priv)\.\d+$")
            for line in open(path[:-2] + ".su", encoding="utf-8"):
                place, size, kind = line.rstrip("\n").split("\t")
                if kind != "static":
                    raise Problem("%s: the frame is %s" % (place, kind))
                name = place.split(":")[-1]
                for symbol, title in defined.items():
                    if symbol == name or base.sub("", symbol) == name:
                        frames[title] = max(frames.get(title, 0), int(size) + 2)
            title = None
            for line in run([self.target.prefix + "objdump", "-dr", path]).splitlines():
                match = re.match(r"\w+ <([^>]+)>:$", line)
                if match:
                    title = defined.get(match.group(1), match.group(1))
                elif re.search(r"\t(e?icall|e?ijmp)\b", line):
                    edges[title].add("*")
                else:
                    match = re.search(r"R_AVR_(?:CALL|13_PCREL)\s+(?:\.text\.)?(\w[\w.]*)", line)
                    if match and defined.get(match.group(1), match.group(1)) != title:
                        edges[title].add(defined.get(match.group(1), match.group(1)))
        return frames, edges

    def address_taken(self):
        """Library functions whose address the library takes: relocations that are no calls, in code or data."""
        taken = set()
        functions = set()
        for line in run([self.target.prefix + "nm"] + self.objects).splitlines():
            match = re.match(r"\w+ [tT] ([a-z]\w*)", line)
            if match:
                functions.add(match.group(1))
        for path in self.objects:
            for line in run([self.target.prefix + "readelf", "-rW", path]).splitlines():
                match = re.search(r"R_ARM_(ABS32|REL32|MOVW\w*)\s+\w+\s+(\S+)", line)
                if match and re.sub(r"^\.text\.", "", match.group(2)) in functions:
                    taken.add(match.group(2))
        return taken


def depths(frames, edges):
    """Worst stack below and including each function; raises Problem on a cycle."""
    worst, path = {}, []

    def depth(name):
        if name not in frames:
            return 0, ()
        if name in worst:
            return worst[name]
        if name in path:
            raise Problem("recursion: " + " -> ".join(path[path.index(name):] + [name]))
        path.append(name)
        deepest = max((depth(to) for to in edges[name]), default=(0, ()))
        path.pop()
        worst[name] = (frames[name] + deepest[0], (name,) + deepest[1])
        return worst[name]

    for name in frames:
        depth(name)
    return worst


RAM_CONFIGS = ["minimal", "default", "fast", "smallest"]


def ram(build, small):
    """Bytes of each configuration's objects, by name."""
    sizes = {}
    for number, config in enumerate(RAM_CONFIGS):
        build = small if config == "smallest" else build
        path = build.compile("scripts/footprint_ram.c", ["-DFOOTPRINT_CONFIG=%d" % number], "ram_" + config)
        for line in run([build.target.prefix + "nm", "-S", path]).splitlines():
            match = re.match(r"\w+ (\w+) [BbCDd] footprint_(\w+)$", line)
            if match:
                sizes[config, match.group(2)] = int(match.group(1), 16)
    return sizes


class Report:
    def __init__(self):
        self.rows, self.passed, self.failed = [], 0, 0
        self.values = {}

    def add(self, target, config, metric, value):
        self.rows.append((target, config, metric, value))
        self.values[target, config, metric] = value

    def check(self, good, text):
        self.passed += bool(good)
        self.failed += not good
        if not good:
            print("not ok " + text)
        return good


def measure(target, directory, report, where):
    build = Build(target, os.path.join(directory, target.name), make_list("FFFS_SRC"))
    calls = public_calls()
    extra = [call for part in EXTRAS.values() for call in part]
    core = [call for call in calls if call not in extra]
    whole = build.code(core)
    report.add(target.name, "core", "code", whole)
    for part, names in PARTS.items():
        report.add(target.name, "core", "part." + part, whole - build.code([call for call in core if call not in names]))
    for part, names in EXTRAS.items():
        report.add(target.name, "core", "extra." + part, build.code(core + names) - whole)
    basic = [call for call in core if not any(call in names for names in PARTS.values())] + PARTS["format"]
    report.add(target.name, "basic", "code", build.code(basic))

    report.add(target.name, "readonly", "code", build.code(READING))

    report.check(not build.writable(), "%s: no writable globals: %s" % (target.name, build.writable()))
    bad = [name for name in build.undefined() if FORBIDDEN.search(name)]
    report.check(not bad, "%s: needs %s" % (target.name, bad))
    needs = ", ".join(sorted(build.undefined()))
    if target.prefix == ARM:
        report.check(not build.address_taken(), "%s: address taken of %s" % (target.name, build.address_taken()))
    try:
        frames, edges = build.call_graph()
        worst = depths(frames, edges)
        report.check(True, "")
    except Problem as problem:
        report.check(False, "%s: %s" % (target.name, problem))
        return build
    report.check(len(frames) > 150 and sum(len(to) for to in edges.values()) > 300,
                 "%s: the call graph has %d functions" % (target.name, len(frames)))
    for call in calls:
        report.check(call in worst, "%s: %s is not in the call graph" % (target.name, call))
        report.add(target.name, "all", "stack." + call, worst.get(call, (0,))[0])
    deepest = max(core, key=lambda call: worst[call][0])
    report.add(target.name, "core", "stack", worst[deepest][0])
    small = Build(target, os.path.join(directory, target.name + "-smallest"), make_list("FFFS_SRC"), SMALLEST)
    report.add(target.name, "smallest", "code", small.code(core))
    worst_small = depths(*small.call_graph())
    report.add(target.name, "smallest", "stack", max(worst_small[call][0] for call in core))
    sizes = ram(build, small)
    for (config, name), value in sizes.items():
        report.add(target.name, config, "ram." + name, value)
    for config in RAM_CONFIGS:
        report.add(target.name, config, "ram", sum(sizes.get((config, name), 0) for name in ("volume", "scratch", "segments", "cache",
                                                                                    "write_buffer")))
        report.add(target.name, config, "ram.open", sizes[config, "file"] + sizes[config, "file_buffer"])
    if where:
        show_where(build, target, frames, worst, deepest, needs)
    return build


def show_where(build, target, frames, worst, deepest, needs):
    modules, functions = build.parts()
    print("\n%s: bytes of each module (all functions)" % target.note)
    for module, size in sorted(modules.items(), key=lambda item: -item[1]):
        print("  %-12s %6d" % (module, size))
    print("largest functions")
    for size, module, name in functions[:25]:
        print("  %-12s %-28s %6d" % (module, name, size))
    print("deepest path: %d bytes" % worst[deepest][0])
    for name in worst[deepest][1]:
        print("  %-40s %5d" % (name, frames[name]))
    print("needs from elsewhere: " + needs)


def apply_limits(path, report, targets):
    """A line of the file: target,config,metric,limit,goal. The goal is the project's aim and only reported."""
    missed = []
    for line in open(path, encoding="utf-8"):
        line = line.split("#")[0].strip()
        if not line or line.startswith("target,"):
            continue
        target, config, metric, limit, goal = (line + ",").split(",")[:5]
        if target not in targets:
            continue
        value = report.values.get((target, config, metric))
        if report.check(value is not None, "%s %s %s is not measured" % (target, config, metric)):
            report.check(value <= int(limit), "%s %s %s is %d B, the limit %s" % (target, config, metric, value, limit))
            if goal and value > int(goal):
                missed.append((target, config, metric, value, int(goal)))
    return missed


README_ROWS = [
    ("code: all calls of `fastffs.h` but `fffs_check`, rename, transactions", "core", "code"),
    ("code: without lists, grow, map, `fffs_space`, `fffs_gc_step`", "basic", "code"),
    ("code: reading alone", "readonly", "code"),
    ("code added by `fffs_check`", "core", "extra.check"),
    ("code added by `fffs_rename`", "core", "extra.rename"),
    ("code added by transactions", "core", "extra.transaction"),
    ("worst stack of a call", "core", "stack"),
    ("worst stack of a call, smallest options", "smallest", "stack"),
    ("RAM `minimal` (4 MiB)", "minimal", "ram"),
    ("`minimal`, each open file with its 64 B buffer", "minimal", "ram.open"),
    ("each open file, smallest options, 16 B buffer", "smallest", "ram.open"),
    ("RAM `default` (4 MiB, 500 files cached)", "default", "ram"),
    ("`default`, each open file with its 256 B buffer", "default", "ram.open"),
]


def table(report, targets):
    lines = ["| bytes | " + " | ".join(target.note for target in targets) + " |", "|---|" + "--:|" * len(targets)]
    for title, config, metric in README_ROWS:
        values = ["{:,}".format(report.values.get((target.name, config, metric), 0)) for target in targets]
        lines.append("| %s | %s |" % (title.strip(), " | ".join(values)))
    return lines


def numbers(line):
    return [int(cell.replace(",", "")) for cell in line.split("|")[2:-1] if re.fullmatch(r"[\d,]+", cell.strip())]


def check_document(path, lines, report, percent):
    """The document has the table, and its numbers are near those measured."""
    have = open(path, encoding="utf-8").read().splitlines()
    for line in lines[2:]:
        start = "|".join(line.split("|")[:2]) + "|"
        found = [old for old in have if old.startswith(start)]
        good = len(found) == 1 and len(numbers(found[0])) == len(numbers(line)) and all(
            abs(old - new) * 100 <= new * percent for old, new in zip(numbers(found[0]), numbers(line)))
        report.check(good, "%s says %s\n  measured: %s\n  (make footprint-update)" % (path, found, line))


def update_document(path, lines):
    """Puts the table in the place of the one that begins with the same line."""
    have = open(path, encoding="utf-8").read().splitlines()
    start = have.index(lines[0])
    end = start
    while end < len(have) and have[end].startswith("|"):
        end += 1
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(have[:start] + lines + have[end:]) + "\n")


def part_table(report, target):
    """What each part takes on one target."""
    lines = ["| part | calls | bytes |", "|---|---|--:|"]
    for part, names in list(PARTS.items()) + list(EXTRAS.items()):
        kind = "part." if part in PARTS else "extra."
        lines.append("| %s | %s | %s |" % (part, ", ".join("`%s`" % name for name in names),
                                           "{:,}".format(report.values[target.name, "core", kind + part])))
    return lines


def module_table(build):
    lines = ["| module | bytes |", "|---|--:|"]
    modules, _ = build.parts()
    for module, size in sorted(modules.items(), key=lambda item: -item[1]):
        lines.append("| `%s.c` | %s |" % (module, "{:,}".format(size)))
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--limits", default="scripts/footprint_limits.csv")
    parser.add_argument("--target", action="append")
    parser.add_argument("--where", action="store_true", help="where the bytes are: modules, functions, deepest path")
    parser.add_argument("--documents", action="store_true", help="check README.md and docs/FOOTPRINT.md")
    parser.add_argument("--update", action="store_true", help="write the tables into them")
    options = parser.parse_args()
    targets = [target for target in TARGETS if options.target is None or target.name in options.target]
    report = Report()
    tables = []
    for target in targets:
        try:
            build = measure(target, os.path.join(options.build, "footprint"), report, options.where)
            if target.name == "cortex-m0plus":
                tables = [part_table(report, target), module_table(build)]
        except (Problem, FileNotFoundError) as problem:
            report.check(False, "%s: %s" % (target.name, problem))
    with open(os.path.join(options.build, "footprint.csv"), "w", encoding="utf-8") as file:
        file.write("target,config,metric,bytes\n")
        file.writelines("%s,%s,%s,%d\n" % row for row in report.rows)
    lines = table(report, targets)
    print("\n".join([""] + lines + [""]))
    missed = apply_limits(options.limits, report, [target.name for target in targets])
    for row in missed:
        print("goal not met: %s %s %s is %d B, the goal %d" % row)
    for path, want in ([("README.md", [lines]), ("docs/FOOTPRINT.md", tables)] if targets == TARGETS else []):
        # Small modules change by more for little.
        percent = 3 if path == "README.md" else 20
        for lines in want:
            if options.update:
                update_document(path, lines)
            elif options.documents:
                check_document(path, lines, report, percent)
    print("%d passed, %d failed" % (report.passed, report.failed))
    return 1 if report.failed else 0


sys.exit(main())
