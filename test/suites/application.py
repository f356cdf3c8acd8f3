# SPDX-License-Identifier: BSD-3-Clause
"""What the runners of applications have in common: the command line, a build that is kept, jobs, verdicts.

A build is made anew when its source, the steps, the wrappers or the headers change. It stays when the library
does: programs are bound to the standard ABI, and each job finds the library of --prefix first.
"""

import argparse
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def parser(text, name, ranks=None):
    """The options that every runner has. `text` is the runner's own docstring."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--prefix", default="build", help="an installed tree, or a build's folder [build]")
    parser.add_argument("--folder", default=str(ROOT / "build/check" / name), help="where it is built")
    if ranks:
        parser.add_argument("--ranks", default=ranks, help=f"numbers of ranks [{ranks}]")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes make may start [2]")
    parser.add_argument("--timeout", type=float, default=600, help="most seconds for one test [600]")
    parser.add_argument("--build-only", action="store_true")
    return parser


class Suite:
    """One application: its folders, its environment, its results."""

    def __init__(self, options):
        self.prefix = Path(options.prefix).resolve()
        self.folder = Path(options.folder).resolve()
        self.jobs, self.timeout = options.jobs, options.timeout
        self.ranks = [int(n) for n in options.ranks.split(",")] if "ranks" in options else []
        self.mpicc, self.mpifort, self.mpiexec = (
            str(self.prefix / "bin" / name) for name in ("mpicc", "mpifort", "mpiexec")
        )
        self.passed = self.failed = self.skipped = 0
        self.environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        libraries = [str(self.prefix / "lib"), os.environ.get("LD_LIBRARY_PATH", "")]
        self.environment["LD_LIBRARY_PATH"] = ":".join(filter(None, libraries))
        if not os.access(self.mpicc, os.X_OK):
            sys.exit(f"--prefix {options.prefix}: there is no {self.mpicc}")

    def wrappers(self):
        """What a build depends on of ours: the text of wrappers, headers and Fortran modules."""
        digest = hashlib.sha256()
        for file in [Path(self.mpicc), *sorted((self.prefix / "include").iterdir())]:
            digest.update(file.read_bytes() if file.is_file() else b"")
        return digest.hexdigest()

    def build(self, source, steps):
        """Copies .cache/SOURCE to FOLDER/source and runs the steps in it, each a list of words. They see our
        wrappers first in PATH. Returns FOLDER/source."""
        cache = ROOT / ".cache" / source
        if not (cache / ".complete").exists():
            sys.exit(f"the source of {source} is not there: run scripts/setup {source}-source")
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with open(f"{self.folder}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another run may be building it
            self.build_locked(source, cache, steps)
        return self.folder / "source"

    def build_locked(self, source, cache, steps):
        """Does it, if it is not done."""
        fetched = (cache / ".complete").stat().st_mtime_ns
        made_with = f"{cache.resolve()} {fetched}\n{steps}\n{self.wrappers()}\n"
        stamp = self.folder / "built-with"
        if stamp.exists() and stamp.read_text() == made_with:
            return
        print(f"   building {source}", flush=True)
        begin = time.monotonic()
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(cache, self.folder / "source", symlinks=True)
        self.steps(steps)
        stamp.write_text(made_with)
        print(f"   built in {time.monotonic() - begin:.0f} s", flush=True)

    def steps(self, steps):
        """Runs commands in FOLDER/source; ends the program if one of them fails."""
        path = f"{self.prefix / 'bin'}:{os.environ['PATH']}"
        log = self.folder / "build.log"
        for command in steps:
            with open(log, "a") as out:
                print("$", *command, file=out, flush=True)
                code = subprocess.run(
                    command,
                    cwd=self.folder / "source",
                    stdin=subprocess.DEVNULL,
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "PATH": path},
                ).returncode
            if code:
                print("\n".join("    | " + line for line in log.read_text().splitlines()[-15:]))
                sys.exit(f"{' '.join(command[:3])} ended with {code}, see {log}")

    def run(self, command, cwd, **environment):
        """(problem or '', output, seconds) of a command, which ends within the limit, its children too."""
        begin = time.monotonic()
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**self.environment, **environment},
            start_new_session=True,
        )
        try:
            output = process.communicate(timeout=self.timeout)[0]
            problem = f"exit code {process.returncode}" if process.returncode else ""
        except subprocess.TimeoutExpired:
            problem, output = f"no end within {self.timeout:g} s", self.end(process)
        return problem, output.decode(errors="replace"), time.monotonic() - begin

    @staticmethod
    def end(process):
        """Ends a command and what it has started; returns what it said."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
                return process.communicate(timeout=5)[0]
            except (subprocess.TimeoutExpired, ProcessLookupError):
                pass
        return b""

    def job(self, ranks, command, cwd, **environment):
        """The same of a job on some ranks."""
        return self.run([self.mpiexec, "-n", ranks, *command], cwd, **environment)

    def add(self, name, problem, output="", count=1):
        """Counts a verdict: `count` tests, or one failure, whose end of output is shown."""
        if problem:
            self.failed += 1
            tail = "\n".join("    | " + line[:200] for line in output.splitlines()[-15:])
            print(f"FAILED {name}: {problem}\n{tail}", flush=True)
        else:
            self.passed += count

    def finish(self):
        """Prints the summary; the exit code."""
        skipped = f", {self.skipped} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {self.failed} failed{skipped}")
        return int(self.failed != 0 or self.passed == 0)
