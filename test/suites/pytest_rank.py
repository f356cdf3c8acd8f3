# SPDX-License-Identifier: BSD-3-Clause
"""One rank of a job that runs tests with pytest: pytest_rank.py FOLDER [arguments of pytest].

Its results are FOLDER/RANK.xml; it runs in FOLDER/RANK. All ranks run the same tests in the same order.
"""

import os
import sys

sys.path.pop(0)  # this folder has folders of the names of modules

import pytest  # noqa: E402
from mpi4py import MPI  # noqa: E402

if __name__ == "__main__":
    folder, *arguments = sys.argv[1:]
    rank = MPI.COMM_WORLD.Get_rank()
    os.mkdir(f"{folder}/{rank}")
    os.chdir(f"{folder}/{rank}")
    arguments += [f"--junitxml={folder}/{rank}.xml", "-p", "no:cacheprovider", "--color=no", "-q"]
    code = pytest.main(arguments + (["--no-summary"] if rank else []))
    # What the tests found is in the files; only what is not a test's outcome is this job's.
    sys.exit(code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED))
