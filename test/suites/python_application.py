# SPDX-License-Identifier: BSD-3-Clause
"""Applications in Python, from PyPI, on top of mpi4py: a build, and their tests with pytest on every rank."""

import shutil
import subprocess
import sys
import tarfile
import xml.etree.ElementTree as xml
from pathlib import Path

from application import ROOT, Suite

HERE = Path(__file__).resolve().parent
PYTHON = ROOT / ".venv-applications/bin/python"


class PythonSuite(Suite):
    """Builds into FOLDER/site and finds modules there and in the site of mpi4py's own suite."""

    def __init__(self, options):
        super().__init__(options)
        if not PYTHON.exists():
            sys.exit(f"{PYTHON} is not there: run scripts/setup applications")
        self.mpi4py = self.folder.parent / "mpi4py"
        self.site = self.folder / "site"
        self.environment["PYTHONPATH"] = f"{self.site}:{self.mpi4py}/site"
        self.environment["PYTHONDONTWRITEBYTECODE"] = "1"

    def build_mpi4py(self):
        runner = HERE / "mpi4py/run"
        command = [runner, "--prefix", self.prefix, "--folder", self.mpi4py, "--build-only"]
        if subprocess.run([str(word) for word in command]).returncode:
            sys.exit("mpi4py does not build")

    def build_from_pypi(self, name, **environment):
        """Builds .cache/NAME/*.tar.gz with this environment; returns the folder of its source."""
        self.build_mpi4py()
        archives = sorted((ROOT / ".cache" / name).glob("*.tar.gz"))
        if not archives:
            sys.exit(f"the source of {name} is not there: run scripts/setup {name}-source")
        source, stamp = self.folder / "source", self.folder / "built-with"
        made_with = f"{archives[-1]}\n{sorted(environment.items())}\n{self.wrappers()}\n"
        if stamp.exists() and stamp.read_text() == made_with:
            return source
        print(f"   building {archives[-1].name}", flush=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        with tarfile.open(archives[-1]) as archive:
            archive.extractall(self.folder)
        next(path for path in self.folder.iterdir() if path.is_dir()).rename(source)
        pip = [PYTHON, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--quiet"]
        pip += ["--disable-pip-version-check", "--target", self.site, source]
        limit, self.timeout = self.timeout, None  # a build may take as long as it needs
        problem, output, seconds = self.run(pip, self.folder, CFLAGS="-O0 -g0 -w", **environment)
        self.timeout = limit
        (self.folder / "build.log").write_text(output)
        if problem:
            print(output[-2000:])
            sys.exit(f"{name} does not build ({problem}), see {self.folder}/build.log")
        stamp.write_text(made_with)
        print(f"   built in {seconds:.0f} s", flush=True)
        return source

    def pytest(self, name, ranks, arguments):
        """Runs tests on every rank; a test passes if it passes on all of them."""
        results = self.folder / f"ranks-{ranks}"
        shutil.rmtree(results, ignore_errors=True)
        results.mkdir()
        command = [PYTHON, HERE / "pytest_rank.py", results, *arguments]
        problem, output, seconds = self.job(ranks, command, results, TMPDIR=str(results))
        failures, skipped, tests = {}, set(), set()
        for rank in range(ranks):
            file = results / f"{rank}.xml"
            if not file.exists():
                problem = problem or "no results"
                problem += f"; rank {rank} did not finish"
                continue
            for case in xml.parse(file).getroot().iter("testcase"):
                test = f"{case.get('classname')}.{case.get('name')}"
                tests.add(test)
                found = [child for child in case if child.tag in ("failure", "error")]
                if found:
                    failures.setdefault(test, (rank, found[0].text or found[0].get("message")))
                elif case.find("skipped") is not None:
                    skipped.add(test)
        for test, (rank, text) in sorted(failures.items()):
            self.add(f"{name} {test} on {ranks} ranks", f"failed on rank {rank}", text)
        if problem:
            self.add(f"{name} on {ranks} ranks", problem, output)
        skipped -= set(failures)
        self.skipped += len(skipped)
        self.add(name, "" if tests else "no tests", output, len(tests) - len(skipped) - len(failures))
        counts = f"{len(tests)} tests, {len(failures)} failed, {len(skipped)} skipped"
        print(f"   {name} on {ranks} ranks: {counts}, {seconds:.0f} s", flush=True)
