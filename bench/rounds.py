# SPDX-License-Identifier: BSD-3-Clause
"""Runs everything, round by round: each run with every MPI in turn, a bare ping-pong before each.

Nobody is always first. A run that does not end is ended, with all that it has started.
"""

import os
import signal
import subprocess
import sys
import time


def end_group(process):
    """Asks the process group to end, then makes it."""
    for number, patience in ((signal.SIGTERM, 3), (signal.SIGKILL, 10)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.communicate(timeout=patience)
            return
        except subprocess.TimeoutExpired:
            continue


def run_bounded(command, limit, environment):
    """(exit code, output, errors) of a command; the exit code is None if it had to be ended."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, errors="replace", env=environment,
                               start_new_session=True)
    try:
        output, errors = process.communicate(timeout=limit)
        return process.returncode, output, errors
    except subprocess.TimeoutExpired as late:
        end_group(process)
        return None, (late.stdout or b"").decode(errors="replace"), ""
    except BaseException:  # a person's Ctrl-C must not leave ranks behind
        end_group(process)
        raise


class Progress:
    """One line that says where we are and how long it may take; on a terminal it stays one line."""

    def __init__(self, steps):
        self.steps, self.done, self.begin = steps, 0, time.monotonic()
        self.live = sys.stderr.isatty()

    def step(self, words):
        passed = time.monotonic() - self.begin
        left = f", about {passed / self.done * (self.steps - self.done):.0f} s left" if self.done else ""
        self.done += 1
        text = f"   {self.done} of {self.steps}: {words} ({passed:.0f} s{left})"
        if self.live:
            print(f"\r{text[:110]:110}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self):
        if self.live:
            print(f"\r{'':110}\r", end="", file=sys.stderr, flush=True)


class Bench:
    def __init__(self, results, programs, raw, cores, deadline):
        self.results, self.programs, self.raw, self.cores = results, programs, raw, cores
        self.deadline = deadline
        self.given_up = set()  # (mpi, run): it did not end once

    def bare_line(self):
        """Microseconds one way, or None where two processes cannot run at once."""
        if self.raw is None or self.cores < 2:
            return None
        code, output, _ = run_bounded([str(self.raw)], 20, os.environ)
        words = output.split("\t")
        return float(words[2]) if code == 0 and len(words) == 4 else None

    def one(self, number, run, mpi):
        if (mpi.name, run.key) in self.given_up:
            return
        raw = self.bare_line()
        words = [str(self.programs[mpi.name]), *run.words(self.deadline)]
        command = [*mpi.command(run.ranks, self.cores), *words]
        begin = time.monotonic()
        limit = 2 * self.deadline + 40
        code, output, errors = run_bounded(command, limit, mpi.environment(run.ranks > self.cores))
        took = (time.monotonic() - begin) * 1000
        if code == 0 and run.parts == ["start"]:
            output += f"\njob\t{run.ranks}\t{took:.1f}\tms\n"
        mpi.library = self.results.add(number, run.group, mpi.name, output, raw) or mpi.library
        if code is None:
            self.given_up.add((mpi.name, run.key))
            self.results.problem(mpi.name, run.group, f"{run.key}: no end within {limit:.0f} s", True)
        elif code != 0 and "!wrong" not in output:
            last = " ".join(errors.split())[-300:]
            self.results.problem(mpi.name, run.group, f"{run.key}: exit code {code}: {last}", True)

    def all(self, rounds, runs, mpis):
        """Everything; False if a person stopped it before its end, which is noted. What there is stays."""
        progress = Progress(rounds * len(runs) * len(mpis))
        turns = [(n, run, mpi) for n in range(rounds) for run in runs
                 for mpi in mpis[n % len(mpis):] + mpis[:n % len(mpis)]]
        try:
            for number, run, mpi in turns:
                progress.step(f"round {number + 1}, {run.key}, {mpi.title}")
                self.one(number + 1, run, mpi)
        except KeyboardInterrupt:
            self.results.problem(mpi.name, run.group, f"stopped by hand in round {number + 1}")
            return False
        finally:
            progress.end()
        return True
