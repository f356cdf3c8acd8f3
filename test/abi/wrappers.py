#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of mpicc and mpicxx. wrappers.py FOLDER_OF_THE_WRAPPERS"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = None
OLD_PROGRAM = """
#include <mpi.h>
int main(void) {
    MPI_Aint extent, place;
    MPI_Datatype type;
    int one = 1;
    MPI_Address(&one, &place);
    MPI_Type_struct(1, &one, &place, &(MPI_Datatype){MPI_INT}, &type);
    MPI_Type_extent(type, &extent);
    switch (one) {
        case MPI_COMBINER_STRUCT: case MPI_COMBINER_HVECTOR: case MPI_COMBINER_STRUCT_INTEGER:
        case MPI_COMBINER_HVECTOR_INTEGER: case MPI_COMBINER_HINDEXED_INTEGER: return 1;
    }
    return MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_SELF)) != MPI_COMM_SELF;
}
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60,
                          **options)


class Wrappers(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mpi wrappers "))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "a b.c").write_text("#include <mpi.h>\nconst char *text = TEXT;\n"
                                           "int main(void) { return 0; }\n")

    def test_show_and_info(self):
        shown = run(BIN / "mpicc", "-show", "x.c").stdout.split()
        self.assertIn(f"-I{BIN.parent}/include", shown)
        self.assertIn("-lmpi_abi", shown)
        self.assertIn("x.c", shown)
        self.assertNotIn("-lmpi_abi", run(BIN / "mpicc", "-compile-info").stdout)
        self.assertNotIn("-I", run(BIN / "mpicc", "-link-info").stdout)

    def test_compiler_can_be_chosen(self):
        environment = {**os.environ, "VICINITY_CC": "of_environment"}
        self.assertTrue(run(BIN / "mpicc", "-show", env=environment).stdout.startswith("of_environment "))
        self.assertTrue(run(BIN / "mpicc", "-show", "-cc=mine", env=environment).stdout.startswith("mine "))
        self.assertTrue(run(BIN / "mpicxx", "-show", "-cxx=mine").stdout.startswith("mine "))

    def test_words_are_passed_on_whole(self):
        done = run(BIN / "mpicc", "-c", self.folder / "a b.c", '-DTEXT="two  words"', "-o",
                   self.folder / "a b.o")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(b"two  words", (self.folder / "a b.o").read_bytes())

    def test_questions_go_to_the_compiler(self):
        self.assertEqual(run(BIN / "mpicc", "--version").stdout, run("cc", "--version").stdout)

    def test_failure_is_passed_on(self):
        self.assertNotEqual(run(BIN / "mpicc", "-c", self.folder / "none.c").returncode, 0)

    def test_removed_names(self):
        source = self.folder / "old.c"
        source.write_text(OLD_PROGRAM)
        self.assertNotEqual(run(BIN / "mpicc", "-Werror", "-c", source, "-o", "/dev/null").returncode, 0)
        done = run(BIN / "mpicc", "-fmpi-removed", "-Wall", "-Werror", "-c", source, "-o", "/dev/null")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_removed_names_do_not_disturb_who_includes_nothing(self):
        """As autoconf asks whether a function is there: it declares it as it likes."""
        source = self.folder / "probe.c"
        source.write_text("char MPI_Init();\nint main(void) { return MPI_Init(); }\n")
        done = run(BIN / "mpicc", "-fmpi-removed", source, "-o", self.folder / "probe")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_moved_tree_finds_itself(self):
        (self.folder / "bin").mkdir()
        shutil.copy(BIN / "mpicc", self.folder / "bin")
        (self.folder / "link").symlink_to(self.folder / "bin" / "mpicc")
        self.assertIn(f"-I{self.folder}/include", run(self.folder / "link", "-show").stdout)


if __name__ == "__main__":
    BIN = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
