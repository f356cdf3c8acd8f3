# SPDX-License-Identifier: BSD-3-Clause
"""What test/lab/run does with jobs in the guests of hostA{vm1,vm2} and hostB{vm3}.

Ranks go to the guests in turn, so that rank r of a job over all guests is in guest r % 3.
"""

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def compile_program(lab, source, name):
    subprocess.run(
        [str(lab.prefix / "bin/mpicc"), "-O1", str(ROOT / source), "-o", str(lab.work / name)], check=True
    )


def compile_programs(lab):
    """What the tests run, before the guests need the cores."""
    compile_program(lab, "examples/hello.c", "hello")
    compile_program(lab, "test/faults/ring.c", "ring")


def matrix(text):
    """{(rank, peer): (channel, messages sent, reason)} of `vicinity map -v`."""
    rows = {}
    for line in text.splitlines():
        words = line.split(None, 7)
        if len(words) == 8 and words[0].isdigit() and words[1].isdigit():
            rows[int(words[0]), int(words[1])] = words[2], int(words[3]), words[7]
    return rows


def expected_channel(rank, peer, transport):
    """(channel, what the map says of it) for two ranks of a job over vm1, vm2 and vm3."""
    if rank == peer:
        return "self", "the process itself"
    mine, other = rank % 3, peer % 3
    if mine == other:
        return "ring+1copy", "memfd"
    if {mine, other} == {0, 1}:
        return "ring", "ivshmem"
    return "ucx", f"transport {transport}"


def channels_of_six_ranks(lab):
    """Every pair of six ranks in three guests uses what it should; the network is RC, UD or TCP as asked."""
    for transport, lane in (("rc", "(rc_verbs/rxe0:1"), ("ud", "(ud_verbs/rxe0:1)"), ("tcp", "(tcp/lab0)")):
        text = lab.command(
            "run", "-n", "6", "./hello", env={"VICINITY_MAP": "1", "VICINITY_NETWORK": transport}
        )
        assert text.count("add up to 15") == 6, text
        rows = matrix(lab.command("map", "-v"))
        assert len(rows) == 36, rows
        told = 0
        for (rank, peer), (channel, _, reason) in rows.items():
            wanted, words = expected_channel(rank, peer, transport)
            assert channel == wanted and words in reason, (rank, peer, channel, reason, wanted, words)
            lanes = reason.partition(f"transport {transport}")[2]
            assert not lanes or lane in lanes, (rank, peer, reason, lane)
            told += bool(lanes)
        assert told >= 4, rows  # not of all: who ends first has closed its connections


def job_over_common_memory(lab):
    """Two guests of one host need no network: none is opened."""
    text = lab.command("run", "-hosts", "vm1,vm2", "-n", "4", "./hello", env={"VICINITY_MAP": "1"})
    assert text.count("add up to 6") == 4 and "on vm1" in text and "on vm2" in text, text
    rows = matrix(lab.command("map", "-v"))
    far = {pair for pair, (channel, _, reason) in rows.items() if channel == "ring" and "ivshmem" in reason}
    assert far == {(a, b) for a in range(4) for b in range(4) if a % 2 != b % 2}, rows


class Job:
    """A job that runs beside the test."""

    def __init__(self, lab, *words, env=None):
        self.output = tempfile.TemporaryFile(mode="w+", errors="replace")
        self.process = subprocess.Popen(
            [str(lab.prefix / "bin/vicinity"), "lab", "run", "--name", lab.name, *words],
            cwd=lab.work,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
        )

    @property
    def text(self):
        self.output.seek(0)
        return self.output.read()

    def wait_until(self, good, limit, what):
        end = time.monotonic() + limit
        while not good():
            assert time.monotonic() < end, f"{what} not within {limit} s; the job says:\n{self.text}"
            time.sleep(0.1)

    def started(self, ranks, limit=90):
        """Waits until every rank of ring.c has said its pid."""
        self.wait_until(
            lambda: self.text.count(" is pid ") == ranks or self.process.poll() is not None,
            limit,
            "the start of all ranks",
        )
        assert self.process.poll() is None, f"the job ended with {self.process.returncode}:\n{self.text}"

    def ended(self, limit):
        """Seconds until the end."""
        begin = time.monotonic()
        self.wait_until(lambda: self.process.poll() is not None, limit, "the end of the job")
        return time.monotonic() - begin

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.output.close()


def two_users(lab):
    """Jobs of two users at once in the region of hostA, without a network: none disturbs the other."""
    lab.work.chmod(0o755)
    other = ["setpriv", "--reuid", "4711", "--regid", "4711", "--clear-groups"]
    memory = {"VICINITY_CHANNELS": "self,ring"}
    jobs = [
        Job(lab, "-hosts", "vm1,vm2", "-n", "4", *words, "./ring", "short", env=memory)
        for words in ([], other)
    ]
    try:
        for job in jobs:
            job.ended(150)
            assert job.process.returncode == 0 and "\nok" in job.text, job.text
    finally:
        for job in jobs:
            job.close()


def killed_guest(lab):
    """A whole guest is killed while six ranks talk: the job ends with words about it, and the region that the
    dead guest was in serves the next jobs."""
    job = Job(lab, "-n", "6", "./ring", "forever")
    try:
        job.started(6)
        time.sleep(1)
        victim = next(guest for guest in lab.status()["guests"] if guest["name"] == "vm2")
        os.kill(victim["pid"], 9)
        took = job.ended(30)
        lab.wait_for_death("vm2")
        assert job.process.returncode not in (0, None), job.text
        assert re.search(r"\bvm2\b", job.text), f"nothing says which guest is gone: {job.text}"
        print(f"   the job ended {took:.1f} s after its guest", flush=True)
    finally:
        job.close()
    # Processes of one guest meet in the host region if they have nothing else.
    only_host = {"VICINITY_REGION": "no", "VICINITY_HOST_REGION": "ivshmem", "VICINITY_MAP": "1"}
    for _ in range(2):
        text = lab.command("run", "-hosts", "vm1", "-n", "3", "./ring", "short", env=only_host)
        assert "\nok" in text, text
        rows = matrix(lab.command("map", "-v"))
        assert all(channel == "self" or "ivshmem" in reason for channel, _, reason in rows.values()), rows
