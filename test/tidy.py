#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the style of the tracked files, as docs/style.md describes it. Prints file:line: what is wrong.

A rule is a function that yields (line number, message) for one file; RULES says which files it looks at.
Exceptions stand here, with their reason, and nowhere else.
"""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COLUMNS, FILE_LINES, FUNCTION_LINES, README_LINES = 110, 500, 70, 60

# Written by spec/generate.py and reviewed as output; test/abi and spec.drift look after them.
GENERATED = re.compile(r"^(include/mpi\.h|bindings/c/libmpi_abi\.map|spec/golden/|docs/coverage\.md)")
# MPI is described as data there; a table may be long and wide.
DATA = re.compile(r"^spec/(mpi|abi)/")

BANNED = [  # (pattern, where, what instead)
    (
        r"\b(sprintf|vsprintf|strcpy|strcat|gets|strtok|atoi|atol)\s*\(",
        r"^(src|bindings|launch)/.*\.(cc|h)$",
        "has no bound or reports no error: snprintf, std::string, std::from_chars",
    ),
    (
        r"\bstd::(cout|cerr)\b|#include <(iostream|regex)>",
        r"^(src|bindings)/.*\.(cc|h)$",
        "is heavy and buffered by itself: base/log.h",
    ),
    (
        r"(?<![\w.>])(printf|puts|putchar)\s*\(",
        r"^src/.*(?<!_test)\.(cc|h)$",
        "writes to the program's output: base/log.h",
    ),
    (
        r"(?<!\w)(throw|catch\s*\(|try\s*\{|dynamic_cast|typeid)\b",
        r"^src/.*(?<!_test)\.(cc|h)$",
        "is not there: no exceptions, no RTTI",
    ),
    (
        r"\b(P?MPI_(?!T_)[A-Z][a-z]\w*)\s*\(",
        r"^src/.*(?<!_test)\.(cc|h)$",
        "is public: inner code calls entries, never doors",
    ),
    (
        r"\bassert\(false\)|\babort\(\)",
        r"^src/(?!world/).*(?<!_test)\.(cc|h)$",
        "ends the user's job: return a Status",
    ),
    (r"\busing namespace\b", r"^(src|bindings|launch)/.*\.h$", "leaks into whoever includes the header"),
    (
        r"(/work/|/home/\w+/|/root/)",
        r"^(?!test/tidy\.py)",
        "is a path of one machine",
    ),
    (
        r"[ \t]+$",
        r"\.(cc|h|c|py|sh|txt|cmake|js|css|html)$|^(check|demo|scripts/setup)$",
        "is space at the end of the line",
    ),
    (r"\t", r"\.(cc|h|c|py|cmake)$", "is a tab"),
]


def tracked():
    text = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [
        name
        for name in text.split("\0")
        if name and (ROOT / name).is_file() and not (ROOT / name).is_symlink()
    ]


def strip_comments(lines):
    """C and C++ lines with comments and the insides of strings blanked: words in them do not count."""
    inside, out = False, []
    for line in lines:
        line = re.sub(r'"(?:\\.|[^"\\])*"', lambda m: '"' + " " * (len(m[0]) - 2) + '"', line)
        line = re.sub(r"'(?:\\.|[^'\\])'", "' '", line)
        if inside:
            end = line.find("*/")
            line, inside = (" " * (end + 2) + line[end + 2 :], False) if end >= 0 else ("", True)
        line = re.sub(r"/\*.*?\*/", lambda m: " " * len(m[0]), line)
        start = line.find("//")
        line = line if start < 0 else line[:start]
        start = line.find("/*")
        if start >= 0:
            line, inside = line[:start], True
        out.append(line)
    return out


def length(name, lines):
    if not GENERATED.match(name) and not DATA.match(name):
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS:
                yield number, f"{len(line)} columns, {COLUMNS} is the most"
        if len(lines) > FILE_LINES:
            yield len(
                lines
            ), f"{len(lines)} lines, {FILE_LINES} is the most: are there two things in this file?"


def licence(name, lines):
    if lines and "SPDX-License-Identifier: BSD-3-Clause" not in " ".join(lines[:3]):
        yield 1, "the first lines must name the licence (SPDX-License-Identifier: BSD-3-Clause)"


def description(name, lines):
    """The second line says what the file is."""
    words = [line.strip(' */#"') for line in lines[1:5]]
    if len(lines) > 20 and not any(
        len(line) > 20 and not line.startswith(("include", "pragma")) for line in words
    ):
        yield 2, "say what this file is: its format, its invariants"


def banned(name, lines):
    code = strip_comments(lines) if name.endswith((".cc", ".h", ".c")) else lines
    for pattern, where, instead in BANNED:
        if not re.search(where, name) or GENERATED.match(name):
            continue
        raw = "path of one machine" in instead or "space at" in instead
        for number, line in enumerate(lines if raw else code, 1):
            found = re.search(pattern, line)
            if found:
                yield number, f"`{found[0].strip()}` {instead}"


def c_functions(name, lines):
    """Length of functions: a block that opens at namespace or class depth after a ')' and not after '='."""
    if GENERATED.match(name):
        return
    depth, start, base, head, previous = 0, 0, 0, "", ""
    for number, line in enumerate(strip_comments(lines), 1):
        if line.lstrip().startswith("#"):
            continue
        for position, char in enumerate(line):
            if char == "{":
                head = (previous + " " + line[:position]).strip()
                if not start and re.search(r"\)\s*(const|noexcept|override|final|->.*)*\s*(:.*)?$", head):
                    start, base = number, depth
                depth += 1
            elif char == "}":
                depth -= 1
                if start and depth == base:
                    if number - start + 1 > FUNCTION_LINES:
                        yield start, f"a function of {number - start + 1} lines, {FUNCTION_LINES} is the most"
                    start = 0
        previous = line.strip()


def python_functions(name, lines):
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            span = node.end_lineno - node.lineno + 1
            if span > FUNCTION_LINES:
                yield node.lineno, f"`{node.name}` has {span} lines, {FUNCTION_LINES} is the most"


def room_order():
    """Rooms of src/README.md, bottom to top."""
    text = (ROOT / "src/README.md").read_text()
    rooms = []
    for row in re.findall(r"^\| (.*?) \|", text, re.M):
        rooms += re.findall(r"`(\w+)/`", row)
    return rooms


ROOMS = room_order()


def includes(name, lines):
    room = name.split("/")[1]
    for number, line in enumerate(lines, 1):
        found = re.match(r'#include "(\w+)/', line)
        if found and found[1] in ROOMS and room in ROOMS and ROOMS.index(found[1]) > ROOMS.index(room):
            yield number, f"{room}/ must not include {found[1]}/, which is above it (src/README.md)"


def readme(name, lines):
    if len(lines) > README_LINES:
        yield len(lines), f"{len(lines)} lines; a room's README is a map of at most {README_LINES}"


def built(name, lines):
    """Every source is named in the CMakeLists.txt of its folder or of the one above."""
    path = Path(name)
    for folder in (path.parent, path.parent.parent):
        lists = ROOT / folder / "CMakeLists.txt"
        if lists.exists() and re.search(rf"\b{re.escape(path.name)}\b|GLOB|foreach", lists.read_text()):
            return
    yield 1, "no CMakeLists.txt names this file"


SCRIPTS = re.compile(r"^(check|demo|\.ci/run|scripts/setup|bench/\w+|test/(\w+/)*run)$")
RULES = [
    (length, re.compile(r"\.(cc|h|c|py|sh|cmake|js|css|html)$|CMakeLists\.txt$|" + SCRIPTS.pattern)),
    (licence, re.compile(r"\.(cc|h|c|py|sh|cmake|js|css|html)$|CMakeLists\.txt$|" + SCRIPTS.pattern)),
    (description, re.compile(r"\.(cc|h|c|py)$")),
    (banned, re.compile(r".")),
    (c_functions, re.compile(r"\.(cc|h|c)$")),
    (python_functions, re.compile(r"\.py$|^(test/(\w+/)+run|bench/(files|host_region|locality))$")),
    (includes, re.compile(r"^src/\w+/.*\.(cc|h)$")),
    (readme, re.compile(r"^(src|bindings|launch|spec|bench)/(.*/)?README\.md$")),
    (built, re.compile(r"^src/.*\.cc$")),
]


def self_test():
    """The rules must be able to fail; each line below breaks one."""
    assert list(length("src/a.cc", ["x" * 111])) and list(licence("a.cc", ["int x;"]))
    assert list(banned("src/a/b.cc", ["  strcpy(a, b);"])) and not list(
        banned("src/a/b.cc", ["// strcpy(a, b)"])
    )
    assert list(banned("src/a/b.cc", ["int r = MPI_Send(x);"])) and not list(
        banned("src/a/b.cc", ["MPI_ERR_ARG);"])
    )
    assert list(c_functions("a.cc", ["void f() {"] + ["  x();"] * 80 + ["}"]))
    assert not list(c_functions("a.cc", ["namespace a {"] + ["int x;"] * 80 + ["}"]))
    assert list(python_functions("a.py", ["def f():"] + ["    pass"] * 80))
    assert list(includes("src/base/x.cc", ['#include "p2p/p2p.h"'])) and not list(
        includes("src/p2p/x.cc", ['#include "base/log.h"'])
    )


def main():
    self_test()
    wrong, files = 0, tracked()
    for name in files:
        try:
            lines = (ROOT / name).read_text().splitlines()
        except UnicodeDecodeError:
            continue
        problems = [p for rule, where in RULES if where.search(name) for p in rule(name, lines)]
        for number, message in sorted(problems):
            print(f"FAILED {name}:{number}: {message}")
        wrong += bool(problems)
    print(f"{len(files) - wrong} passed, {wrong} failed")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
