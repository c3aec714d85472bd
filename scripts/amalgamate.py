#!/usr/bin/env python3
"""Joins the core into fastffs.c and fastffs.h, for projects that want two files to copy.

usage: amalgamate.py DIRECTORY SOURCE...     sources in the order of sources.mk

What the files say stays as it is, with three changes: #include lines of the project are replaced by the text at its first
use; functions shared between modules get FFFS_PRIVATE, which is `static` unless the compiler's command line says otherwise
(the unit tests do: -DFFFS_PRIVATE=); private names that two modules have (of functions, enumerators, macros, structs) are
prefixed with their module's.
"""
import os
import re
import sys

PUBLIC = ["include/fastffs/fastffs.h", "include/fastffs/fffs_inspect.h"]
INCLUDE = re.compile(r'^#include "([^"]+)"')
DECLARATION = re.compile(r"^(?:const )?(?:struct |enum )?[a-z_0-9]+ \**(fffs_[a-z0-9_]+)\(")
PRIVATE = [
    re.compile(r"^static [^;={]*?[ *](?P<name>[a-z_0-9]+)\("),
    re.compile(r"^(?:struct|enum) (?P<name>[a-z_0-9]+) {"),
    re.compile(r"^(?:enum {| {4}) *(?P<name>[A-Z][A-Z_0-9]+)(?: = [^;]*)?(?:,|$| })"),
    re.compile(r"^#define (?P<name>\w+)"),
]


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


def find(name, origin):
    for candidate in ("include/" + name, os.path.join(os.path.dirname(origin), name)):
        if os.path.exists(candidate):
            return os.path.normpath(candidate)
    sys.exit("%s includes %s, which is not there" % (origin, name))


def public_header():
    """All public headers as one; the order of their first inclusion."""
    done = set()

    def take(path):
        done.add(path)
        for line in read(path):
            match = INCLUDE.match(line)
            if match is None:
                yield line
            elif find(match.group(1), path) not in done:
                yield from take(find(match.group(1), path))

    for path in PUBLIC:
        if path not in done:
            yield from take(path)


def private_names(path):
    """Patterns of what a module names for itself: (pattern, replacement of the name)."""
    for line in read(path):
        for kind in PRIVATE:
            match = kind.match(line)
            if match is not None and not match.group("name").startswith(("fffs_", "FFFS_")):
                yield match.group("name")


def shared_names(paths):
    """Private names that more than one module has."""
    seen = {}
    for path in paths:
        for name in private_names(path):
            seen.setdefault(name, set()).add(path)
    return sorted(name for name, users in seen.items() if len(users) > 1)


def renamed(line, module, names):
    for name in names:
        prefix = module.upper() if name.isupper() else module
        # Not members: behind "." or "->"; functions and structs only where they are used as such.
        pattern = r"(?<![\w.>])%s\b" if name.isupper() else r"(?:(?<=struct )|(?<=enum ))%s\b|(?<![\w.>])%s(?=\()"
        line = re.sub(pattern.replace("%s", name), prefix + "_" + name, line)
    return line


def source(paths, exported):
    done, system = set(), set()
    shared = shared_names(paths)

    def take(path, module):
        done.add(path)
        for line in read(path):
            match = INCLUDE.match(line)
            if match is not None:
                target = find(match.group(1), path)
                if target not in done and not target.startswith("include/"):
                    yield from take(target, module)
                continue
            if line.startswith("#include <"):
                if line in system:
                    continue
                system.add(line)
            match = DECLARATION.match(line)
            if match is not None and match.group(1) not in exported:
                line = "FFFS_PRIVATE " + line
            yield renamed(line, module, shared)

    for path in paths:
        module = os.path.basename(path)[:-2]
        yield "/* ---- %s.c ---- */" % module
        yield from take(path, module)


def squeeze(lines):
    """At most one empty line in a row."""
    last = ""
    for line in lines:
        if line != "" or last != "":
            yield line
        last = line


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(squeeze(lines)) + "\n")


def main():
    directory, paths = sys.argv[1], sys.argv[2:]
    header = list(public_header())
    exported = {match.group(1) for match in map(DECLARATION.match, header) if match}
    os.makedirs(directory, exist_ok=True)
    write(os.path.join(directory, "fastffs.h"), header)
    head = [
        "/* FASTFFS as one source file, joined by scripts/amalgamate.py. The files it was made of are the ones to edit. */",
        '#include "fastffs.h"',
        "#ifndef FFFS_PRIVATE",
        "#define FFFS_PRIVATE static",
        "#endif",
    ]
    write(os.path.join(directory, "fastffs.c"), head + list(source(paths, exported)))


main()
