# SPDX-License-Identifier: BSD-3-Clause
"""What each rank runs: mpi4py's own test program, with a result file per rank.

  rank.py TEST_FOLDER RESULT_FOLDER UNSUPPORTED_FILE [arguments of mpi4py's test/main.py]
A test that ends with MPI_ERR_UNSUPPORTED_OPERATION of a function that spec/mpi marks as unsupported is
skipped; the same error from any other function is a failure. RESULT_FOLDER/now.RANK names the test that
runs and failed.RANK what has failed so far, for the case that it never ends; RESULT_FOLDER/RANK.json is the
outcome.
"""

import json
import os
import re
import sys
import unittest

from mpi4py import MPI


def guard(call, unsupported):
    def guarded(self, *arguments):
        try:
            return call(self, *arguments)
        except MPI.Exception as error:
            function = re.search(r"(MPI_\w+) is not implemented", error.Get_error_string())
            name = function[1] if function else ""
            if error.Get_error_class() == MPI.ERR_UNSUPPORTED_OPERATION and name in unsupported:
                raise unittest.SkipTest(f"unsupported: {name}") from None
            raise

    return guarded


class Result(unittest.TextTestResult):
    now = failed = None  # open files

    def startTest(self, test):
        self.now.seek(0)
        self.now.truncate()
        self.now.write(test.id())
        self.now.flush()
        super().startTest(test)

    def _exc_info_to_string(self, error, test):
        """Called once for each failure, of subtests too."""
        text = super()._exc_info_to_string(error, test)
        self.failed.write(f"{test.id()}\n{text}\n")
        self.failed.flush()
        return text


def tests_of(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from tests_of(item)
        else:
            yield item


class Runner(unittest.TextTestRunner):
    resultclass = Result
    result_file = None

    def run(self, test):
        # mpi4py has room for 32 user operations, and a test that is skipped half-way keeps its own: the
        # tests that count them come first.
        tests = sorted(tests_of(test), key=lambda t: type(t).__module__ != "test_op")
        result = super().run(unittest.TestSuite(tests))
        outcome = {
            "run": result.testsRun,
            "failed": [[t.id(), text] for t, text in result.failures + result.errors]
            + [[t.id(), "unexpected success"] for t in result.unexpectedSuccesses],
            "skipped": [[t.id(), why] for t, why in result.skipped],
        }
        with open(self.result_file, "w") as file:
            json.dump(outcome, file)
        return result


def run():
    test_folder, result_folder, unsupported_file = sys.argv[1:4]
    sys.argv[1:4] = []
    sys.dont_write_bytecode = True
    sys.path.insert(0, test_folder)
    with open(unsupported_file) as file:
        unsupported = set(file.read().split())
    for part in ("_callSetUp", "_callTestMethod", "_callTearDown"):
        setattr(unittest.TestCase, part, guard(getattr(unittest.TestCase, part), unsupported))

    rank = MPI.COMM_WORLD.Get_rank()
    if rank:  # rank 0 speaks for all; what the others say is kept
        log = os.open(os.path.join(result_folder, f"{rank}.log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 2)
    Result.now = open(os.path.join(result_folder, f"now.{rank}"), "w")
    Result.failed = open(os.path.join(result_folder, f"failed.{rank}"), "w")
    Runner.result_file = os.path.join(result_folder, f"{rank}.json")
    unittest.TextTestRunner = unittest.runner.TextTestRunner = Runner

    import main

    main.main(module=None, argv=[os.path.join(test_folder, "main.py"), *sys.argv[1:]], testRunner=Runner)


# Workers that mpi4py spawns import this file under another name.
if __name__ == "__main__":
    run()
