#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Installs, moves the tree, compiles a program with it and runs that. install_tree.py CMAKE BUILD_FOLDER"""

import pathlib
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).resolve().parent / "find_mpi" / "user.c"


def main(cmake, build):
    with tempfile.TemporaryDirectory() as name:
        first, tree = pathlib.Path(name) / "first", pathlib.Path(name) / "moved here"
        subprocess.run([cmake, "--install", build, "--prefix", first], check=True, timeout=120,
                       stdout=subprocess.DEVNULL)
        first.rename(tree)
        missing = [path for path in ("bin/mpicc", "bin/mpicxx", "include/mpi.h", "include/mpi_removed.h",
                                "share/vicinity/bench/bench.py", "share/vicinity/bench/programs/measure.c")
                   if not (tree / path).exists()]
        library, = tree.glob("lib*/**/libmpi_abi.so.1")
        pkg_config, = tree.glob("lib*/**/vicinity.pc")
        if missing:
            print("missing:", *missing)
            return 1
        program = pathlib.Path(name) / "program"
        subprocess.run([tree / "bin" / "mpicc", PROGRAM, "-o", program], check=True, timeout=60)
        loaded = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        if str(library) not in loaded:
            print(f"the program does not load {library}:\n{loaded}")
            return 1
        text = pkg_config.read_text()
        if str(first) in text or "${pcfiledir}" not in text:
            print("vicinity.pc cannot be moved")
            return 1
        return subprocess.run([program], timeout=60).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
