# SPDX-License-Identifier: BSD-3-Clause
"""vicinity bench from outside, in its smallest mode: are its outputs complete and well-formed?

No figure is judged.

    bench_test.py PREFIX [unittest options]
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import plan  # noqa: E402
import results as kept  # noqa: E402

PREFIX = None
# Put into the program by a wrapper: a broadcast of bytes loses its last one on rank 1.
CORRUPT = """#include <mpi.h>
int MPI_Bcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank, answer = PMPI_Bcast(buffer, count, type, root, comm);
  PMPI_Comm_rank(comm, &rank);
  if (type == MPI_BYTE && rank == 1) ((char*)buffer)[count - 1] ^= 1;
  return answer;
}
"""


class Tags(HTMLParser):
    """Every element that needs an end has one, in order; addresses and data are kept."""

    EMPTY = ("meta", "link", "br", "img", "input")

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.data = [], [], ""

    def handle_starttag(self, tag, attributes):
        self.seen.append((tag, dict(attributes)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> inside {self.open}"
        self.open.pop()

    def handle_data(self, text):
        if self.seen and self.seen[-1][1].get("id") == "data" and self.open[-1:] == ["script"]:
            self.data += text


def expected_figures():
    """(group, metric) that must be there in the smallest mode; the names of operations are in the sources."""
    blocking, pending = ((HERE / f"programs/{stem}.c").read_text() for stem in ("collective", "nonblocking"))
    collectives = re.findall(r'^    {"(\w+)", "us", prepare', blocking, re.M)
    nonblocking = re.findall(r'{"(\w+)", \w+, "\w+"}', pending)
    assert len(collectives) > 15 and len(nonblocking) > 8
    found = set()
    for run in plan.runs(plan.SMALLEST, len(os.sched_getaffinity(0))):
        parts = {part.split(":")[0] for part in run.parts}
        metrics = []
        metrics += plan.POINT if "point" in parts else ()
        metrics += plan.ONESIDED if "onesided" in parts else ()
        metrics += plan.QUEUES if "queues" in parts else ()
        metrics += plan.START if "start" in parts else ()
        metrics += collectives if "collective" in parts else ()
        if "nonblocking" in parts:
            metrics += ["ibarrier", "exchange", *nonblocking]
            metrics += [f"{name}_overlap" for name in ("ibarrier", "exchange", *nonblocking)]
        found |= {(run.group, metric) for metric in metrics}
    return found


def bench(*words):
    return subprocess.run([str(PREFIX / "bin/vicinity"), "bench", *map(str, words)], capture_output=True,
                          text=True, timeout=250, stdin=subprocess.DEVNULL)


class Smallest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="bench-test-")
        cls.folder = Path(cls.temporary.name)
        cls.done = bench("--smallest", "--only", "vicinity", "--results", cls.folder / "out")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def test_ends_well_and_says_that_there_is_no_peer(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr + self.done.stdout)
        self.assertIn("ours alone", self.done.stderr)
        self.assertNotIn("WRONG", self.done.stdout)

    def test_every_figure_is_there_with_a_number(self):
        results = kept.read_values(self.folder / "out/values.tsv")
        there = {(key.group, key.metric) for key in results.table()}
        self.assertEqual(there, expected_figures())
        for _, key, mpi, value, _ in results.rows:
            self.assertTrue(math.isfinite(value) and (value > 0 or key.unit == "%"), (key, value))
            self.assertEqual(mpi, "vicinity")
        self.assertEqual(results.problems, [])

    def test_the_table_has_a_row_for_each(self):
        rows = [line for line in (self.folder / "out/table.md").read_text().splitlines() if "|" in line]
        results = kept.read_values(self.folder / "out/values.tsv")
        figures = [row for row in rows if re.match(r"\| \w* \| \d+ \| ", row)]
        self.assertEqual(len(figures), len(results.table()))

    def test_the_page_is_whole_and_needs_nothing_else(self):
        text = (self.folder / "out/page.html").read_text()
        tags = Tags()
        tags.feed(text)
        tags.close()
        self.assertEqual(tags.open, [])
        for tag, attributes in tags.seen:
            self.assertNotEqual(tag, "link")
            self.assertFalse({"src", "href"} & set(attributes), (tag, attributes))
        without_names = text.replace("http://www.w3.org/2000/svg", "")  # a name, not an address
        self.assertNotRegex(without_names, r"@import|url\(|fetch\(")
        rules = re.sub(r"/\*.*?\*/", "", (HERE / "page.css").read_text(), flags=re.S)
        self.assertEqual(rules.count("{"), rules.count("}"))
        self.assertNotRegex(rules, r"(?:^|})\s*;")  # would make a browser drop the rule that follows
        data = json.loads(tags.data)
        there = {(figure["group"], figure["metric"]) for figure in data["figures"]}
        self.assertEqual(there, expected_figures())
        self.assertTrue({figure["section"] for figure in data["figures"]} <= set(data["sections"]))
        for mark in ("/*STYLE*/", "/*CHART*/", "/*SCRIPT*/", "/*DATA*/"):
            self.assertNotIn(mark, text)

    def test_show_makes_the_same_page_again(self):
        done = bench("--show", self.folder / "out/values.tsv", "--results", self.folder / "again")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("page.html", "table.md"):
            first, again = ((self.folder / where / name).read_text() for where in ("out", "again"))
            self.assertEqual(first, again)


class Wrong(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="bench-test-")
        self.folder = Path(self.temporary.name)
        self.addCleanup(self.temporary.cleanup)

    def prefix(self, mpicc):
        """An installation whose mpicc is this text of a script."""
        (self.folder / "bin").mkdir()
        for name, text in (("mpicc", mpicc), ("mpiexec", f'exec "{PREFIX}/bin/mpiexec" "$@"')):
            (self.folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.folder / "bin" / name).chmod(0o755)
        return self.folder

    def test_a_wrong_result_is_noticed(self):
        (self.folder / "corrupt.c").write_text(CORRUPT)
        prefix = self.prefix(f'exec "{PREFIX}/bin/mpicc" "$@" "{self.folder}/corrupt.c"')
        done = bench("--smallest", "--only", "vicinity", "--runs", "collective", "--prefix", prefix,
                     "--results", self.folder / "out")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, "WRONG RESULT: bcast of 8: 1 wrong")
        metrics = {key.metric for key in kept.read_values(self.folder / "out/values.tsv").table()}
        self.assertNotIn("bcast", metrics)
        self.assertIn("reduce", metrics)

    def test_a_compiler_that_fails_is_told(self):
        prefix = self.prefix("echo no compiler >&2; exit 9")
        done = bench("--smallest", "--only", "vicinity", "--prefix", prefix, "--results", self.folder / "out")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "does not compile with our mpicc.*ended with 9: no compiler")

    def test_what_is_not_known_is_told(self):
        for words, said in ((("--runs", "nonsense"), "no run `nonsense`; there are point,"),
                            (("--only", "vicinity,lam"), "no MPI `lam`; there are vicinity,"),
                            (("--peer", "mpich"), "give NAME=PREFIX"),
                            (("--peer", f"mpich={self.folder}"), "has no mpicc and mpiexec"),
                            (("--prefix", self.folder), "has no mpicc and mpiexec: give the installation"),
                            (("--rounds", "0"), "must be above 0"),
                            (("--show", self.folder / "none.tsv"), "none.tsv")):
            done = bench("--results", self.folder / "out", *words)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(said, done.stderr)
            self.assertNotIn("Traceback", done.stderr)
        self.assertFalse((self.folder / "out").exists())


class Gains(unittest.TestCase):
    def test_more_and_less(self):
        values = {"vicinity": 2.0, "mpich": 4.0, "openmpi": 3.0}
        self.assertAlmostEqual(kept.gain(kept.Key("g", "latency", 8, "us"), values, "vicinity"), 1.5)
        self.assertAlmostEqual(kept.gain(kept.Key("g", "rate", 8, "M/s"), values, "vicinity"), 0.5)
        self.assertIsNone(kept.gain(kept.Key("g", "ibcast_overlap", 8, "%"), values, "vicinity"))
        self.assertIsNone(kept.gain(kept.Key("g", "latency", 8, "us"), {"vicinity": 2.0}, "vicinity"))


if __name__ == "__main__":
    PREFIX = Path(sys.argv.pop(1)).resolve()
    unittest.main()
