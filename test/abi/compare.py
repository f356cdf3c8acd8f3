#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Is our mpi.h the same interface as another ABI header? compare.py OURS THEIRS

Names of functions, types of their parameters, names of constants and their values (asked of a compiler).
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# Functions whose prototype differs on purpose.
MEANT = {
    # Erratum mpi-forum/mpi-issues#765: an int form and a _c form, in place of one with MPI_Count.
    "MPI_Psend_init", "MPI_Precv_init", "MPI_Psend_init_c", "MPI_Precv_init_c",
}


def preprocessed(path):
    return subprocess.run(["cc", "-E", "-P", "-x", "c", path], check=True, capture_output=True,
                          text=True).stdout


def parameter_type(text):
    """`const int counts[]` and `const int *counts` are the same type."""
    match = re.fullmatch(r"(.*?)(\b[A-Za-z_]\w*)?((?:\[\w*\])*)", text.strip())
    base, brackets = (match[1], match[3]) if match[1].strip() else (text, "")
    base = re.sub(r"\s+", "", base)
    rows = re.findall(r"\[(\w*)\]", brackets)
    return base + ("*" if rows else "") + (f"[{rows[1]}]" if len(rows) > 1 else "")


def prototypes(path):
    text = re.sub(r"\s+", " ", preprocessed(path))
    found = {}
    for statement in text.split(";"):
        match = re.search(r"(?:^|[{}]) ?([\w ]+?[ *]+)\(?(P?MPI_\w+)\)? ?\(([^()]*)\)$", statement)
        if match:  # a prototype, or the type of a callback
            types = [parameter_type(p) for p in match[3].split(",")]
            found[match[2]] = (match[1].replace(" ", ""), *types)
    return found


def constants(path):
    text = pathlib.Path(path).read_text()
    names = set(re.findall(r"^#define\s+(MPI_\w+)\s+\S", text, re.M))
    for body in re.findall(r"enum[^{;]*\{([^}]*)\}", text):
        names |= set(re.findall(r"\b(MPI_\w+)\s*=", body))
    return {name for name in names if name == name.upper() and name != "MPI_H_ABI"}


def values(path, names):
    """What each constant is, as an integer; the sizes of the types besides."""
    lines = [f'    printf("{name} %lld\\n", (long long)(intptr_t)({name}));' for name in sorted(names)]
    types = ("MPI_Status", "MPI_Aint", "MPI_Count")
    lines += [f'    printf("sizeof {name} %zu\\n", sizeof({name}));' for name in types]
    program = f'#include "{path}"\n#include <stdio.h>\nint main(void) {{\n' + "\n".join(lines) + "\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "values.c"
        source.write_text(program)
        subprocess.run(["cc", "-w", source, "-o", f"{folder}/values"], check=True)
        output = subprocess.run([f"{folder}/values"], check=True, capture_output=True, text=True).stdout
    return dict(line.rsplit(" ", 1) for line in output.splitlines())


def differences(kind, ours, theirs):
    for name in sorted(ours.keys() | theirs.keys()):
        if name.removeprefix("P") in MEANT or ours.get(name) == theirs.get(name):
            continue
        yield f"{kind} {name}: ours {ours.get(name, 'missing')}, theirs {theirs.get(name, 'missing')}"


def main(ours, theirs):
    ours, theirs = pathlib.Path(ours).resolve(), pathlib.Path(theirs).resolve()
    mine, other = prototypes(ours), {k: v for k, v in prototypes(theirs).items() if "MPIX" not in k}
    my_values, other_values = values(ours, constants(ours)), values(theirs, constants(theirs))
    wrong = list(differences("function", mine, other))
    wrong += differences("constant", my_values, other_values)
    print("\n".join(wrong[:40]) or f"{len(mine)} functions and callbacks, {len(my_values)} values: agreed")
    return 1 if wrong or len(mine) < 1350 or len(my_values) < 360 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
