#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of C++ options and their C names in docs/c-api.md: counterparts.py INCLUDE C-API.md. Each member of the structures
below has a row, each row a member, and each C name in it is declared in hoist.h: a function, an enumerator, or a
structure's field. A row whose second column begins with "none" says why."""
import pathlib
import re
import sys

# Header, structure.
STRUCTURES = (("config.hpp", "Config"), ("config.hpp", "PoolingOptions"), ("store.hpp", "StoreLimits"), ("store.hpp", "Growth"),
              ("wasi.hpp", "WasiConfig"), ("wasi.hpp", "WasiStream::Kind"), ("wasi.hpp", "WasiDirectory"), ("wasi.hpp", "WasiClock"),
              ("wasi.hpp", "WasiRandom"), ("wasi_threads.hpp", "WasiThreadsConfig"), ("linker.hpp", "UnknownImports"))


def body_of(text, name):
    """What is between the braces of a structure or enumeration."""
    for part in name.split("::"):
        start = re.search(rf"\b(?:struct|enum class) (?:HOIST_API )?{part}\b[^;{{]*{{", text).end()
        depth, end = 1, start
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        text = text[start:end - 1]
    return text


def members(body, is_enum):
    """Names of the data members, or of the enumerators."""
    body = re.sub(r"//.*", "", body)
    if is_enum:
        return re.findall(r"\b([A-Z]\w*)\b", body)
    while "{" in body:  # nested structures, functions, initialisers
        body = re.sub(r"{[^{}]*}", " ", body)
    found = []
    for line in body.split(";"):
        line = " ".join(line.split())
        pointer = re.search(r"\(\*(\w+)\)\(", line)
        if not line or re.match(r"(static|using|enum|private|public|friend)\b", line):
            continue
        if pointer:
            found.append(pointer.group(1))
        elif "(" not in line.split("=")[0]:
            found.append(re.search(r"(\w+)\s*(=.*)?$", line).group(1))
    return found


def main():
    include, page = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).read_text()
    header = re.sub(r"/\*.*?\*/", "", (include / "hoist.h").read_text(), flags=re.S)
    wanted = set()
    for file, name in STRUCTURES:
        text = (include / "hoist" / file).read_text()
        found = members(body_of(text, name), bool(re.search(rf"enum class {name.split('::')[-1]}\b", text)))
        if not found:
            print(f"{file}: nothing found in {name}")
            sys.exit(1)
        wanted |= {f"{name}::{member}" for member in found if member != "Kind"}
    rows = dict(re.findall(r"^\| `([\w:]+)` \| (.*) \|$", page, re.M))
    problems = [f"no row for {name}" for name in sorted(wanted - set(rows))]
    problems += [f"a row for {name}, which there is not" for name in sorted(set(rows) - wanted)]
    for name, text in rows.items():
        names = re.findall(r"`(\w+(?:::\w+)?)`", text)
        if not names and not text.startswith("none: "):
            problems.append(f"{name}: no C name")
        for c_name in names:
            structure, _, field = c_name.partition("::")
            declared = header
            if field:
                match = re.search(rf"struct {structure} {{(.*?)}} {structure};", header, re.S)
                declared = match.group(1) if match else ""
            if not re.search(rf"\b{field or structure}\b", declared):
                problems.append(f"{name}: hoist.h has no {c_name}")
    for problem in problems:
        print(problem)
    print(f"{len(wanted)} options, {len(problems)} problems")
    sys.exit(1 if problems else 0)


main()
