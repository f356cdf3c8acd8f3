#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Can a tool take the place of MPI_ functions (MPI 5.0, 15.2), linked in or preloaded? profiling.py MPICC"""

import os
import pathlib
import subprocess
import sys
import tempfile

TOOL = """
#include <mpi.h>
#include <stdio.h>
int MPI_Get_version(int *version, int *subversion) {
    int result = PMPI_Get_version(version, subversion);
    *version += 100;
    return result;
}
"""
# MPI_Get_version may be called at any time, so that no launcher is needed.
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(void) {
    int version = 0, subversion = 0;
    MPI_Get_version(&version, &subversion);
    printf("%d.%d\\n", version, subversion);
    return 0;
}
"""


def main(mpicc):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "tool.c").write_text(TOOL)
        (folder / "program.c").write_text(PROGRAM)

        def build(*arguments):
            subprocess.run([mpicc, *map(str, arguments)], check=True, timeout=60)

        def says(program, **environment):
            return subprocess.run([folder / program], check=True, capture_output=True, text=True, timeout=60,
                                  env={**os.environ, **environment}).stdout.strip()
        build(folder / "program.c", "-o", folder / "plain")
        build(folder / "program.c", folder / "tool.c", "-o", folder / "linked")
        build(folder / "tool.c", "-shared", "-fPIC", "-o", folder / "tool.so")
        got = says("plain"), says("linked"), says("plain", LD_PRELOAD=str(folder / "tool.so"))
        print(*got)
        return 0 if got == ("5.0", "105.0", "105.0") else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
