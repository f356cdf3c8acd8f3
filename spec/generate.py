#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes everything that follows from spec/: the public header, entry headers, doors, symbols, coverage.

    python3 spec/generate.py build FOLDER     the files of the build: entry_<room>.h, doors_<chapter>.cc
    python3 spec/generate.py committed        the files under version control, in place
    python3 spec/generate.py check            says which of those differ from what would be written
"""

import pathlib
import sys

import doors
import entries
import fortran_glue
import fortran_modules
import header
import model
import reports

ROOT = model.HERE.parent


def committed_files(functions):
    return {
        ROOT / "include" / "mpi.h": header.render(functions),
        ROOT / "include" / "mpi-ext.h": header.render_extensions(model.load_extensions()),
        ROOT / "bindings" / "c" / "libmpi_abi.map": reports.symbols(functions + model.load_extensions()),
        ROOT / "docs" / "coverage.md": reports.coverage(functions),
    }


def build_files(functions, folder):
    extensions = model.load_extensions()
    files = {folder / "doors_mpix.cc": doors.render(extensions, "mpix", "mpi-ext.h")}
    for room in sorted({f.room for f in functions}):
        files[folder / f"entry_{room}.h"] = entries.render(functions + extensions, room)
    for chapter in model.CHAPTERS:
        files[folder / f"doors_{chapter}.cc"] = doors.render(functions, chapter)
    return files | fortran_glue.files(folder, model.CHAPTERS) | fortran_modules.files(folder)


def write(files):
    """Leaves files alone that are as they should be, so that nothing is compiled again for nothing."""
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def differing(files):
    return [path for path, text in files.items() if not path.exists() or path.read_text() != text]


def main(arguments):
    functions = model.load()
    if arguments[:1] == ["build"] and len(arguments) == 2:
        write(build_files(functions, pathlib.Path(arguments[1])))
    elif arguments == ["committed"]:
        write(committed_files(functions))
    elif arguments == ["check"]:
        stale = differing(committed_files(functions))
        for path in stale:
            print(f"{path.relative_to(ROOT)} differs from spec/: run `python3 spec/generate.py committed`")
        return 1 if stale else 0
    else:
        print(__doc__)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
