#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does FindMPI of CMake find this tree, and does the program that it builds run? find_mpi.py CMAKE PREFIX"""

import os
import pathlib
import subprocess
import sys
import tempfile


def main(cmake, prefix):
    source = pathlib.Path(__file__).resolve().parent / "find_mpi"
    environment = {**os.environ, "PATH": f"{prefix}/bin:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        for command in ([cmake, "-S", source, "-B", folder, f"-DMPI_HOME={prefix}"],
                        [cmake, "--build", folder]):
            subprocess.run(command, check=True, env=environment, timeout=120)
        cache = (pathlib.Path(folder) / "CMakeCache.txt").read_text()
        if f"MPI_C_COMPILER:FILEPATH={prefix}/bin/mpicc" not in cache:
            print("FindMPI found another MPI")
            return 1
        return subprocess.run([f"{folder}/user"], timeout=60).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
