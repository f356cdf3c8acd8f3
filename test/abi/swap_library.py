#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs one program, compiled by two implementations, on both libraries: only LD_LIBRARY_PATH changes.

    swap_library.py BUILD_FOLDER MPICH_FOLDER

The launcher is MPICH's Hydra for all runs; our library starts under it unchanged.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent / "swap.c"


def library_folder(root):
    found = sorted(root.glob("lib*/**/libmpi_abi.so.1"))
    if not found:
        sys.exit(f"no libmpi_abi.so.1 below {root}")
    return found[0].parent


def compile_program(mpicc, target):
    subprocess.run([mpicc, "-std=gnu11", SOURCE, "-o", target], check=True, timeout=60)
    needed = subprocess.run(["readelf", "-d", target], check=True, capture_output=True, text=True).stdout
    if "[libmpi_abi.so.1]" not in needed:
        sys.exit(f"{mpicc} does not link libmpi_abi.so.1")


def run(mpiexec, program, library, ranks):
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library)}
    loaded = subprocess.run(["ldd", program], check=True, capture_output=True, text=True,
                            env=environment).stdout
    if f"{library}/libmpi_abi.so.1" not in loaded:
        sys.exit(f"{program.name} would not load the library of {library}")
    done = subprocess.run([mpiexec, "-n", str(ranks), program], capture_output=True, text=True,
                          env=environment, timeout=60)
    print(f"{program.name}, {library}: {(done.stdout + done.stderr).strip()}")
    return done.returncode == 0 and "swap ok" in done.stdout


def main(ours, mpich):
    ours, mpich = pathlib.Path(ours).resolve(), pathlib.Path(mpich).resolve()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        programs = []
        for name, mpicc in (("by_ours", ours / "bin" / "mpicc"), ("by_mpich", mpich / "bin" / "mpicc_abi")):
            programs.append(pathlib.Path(folder) / name)
            compile_program(mpicc, programs[-1])
        for program in programs:
            for library in (library_folder(ours), library_folder(mpich)):
                for ranks in (1, 3):
                    failures += not run(mpich / "bin" / "mpiexec", program, library, ranks)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
