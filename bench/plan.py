# SPDX-License-Identifier: BSD-3-Clause
"""What is measured: the runs of each mode, and what each metric is called and means.

A run is one start of programs/measure.c with some ranks. A part is a piece of that program with its sizes.
"""

from dataclasses import dataclass

POWERS = [1, 8, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216]
NAMES = ("vicinity", "mpich", "openmpi", "impi")


@dataclass(frozen=True)
class Mode:
    """How long and how much: rounds, milliseconds for a figure, seconds for a run, sizes of each part.

    Where ranks outnumber cores, a figure takes some slices of the scheduler's.
    """

    name: str
    rounds: int
    milliseconds: float
    crowded_milliseconds: float
    deadline: float
    pair: list
    onesided: list
    collective: list
    crowded: list
    nonblocking: list
    depths: list
    starts: list


SMALLEST = Mode("smallest", 1, 0.2, 0.2, 60, [8], [8], [8], [8], [8], [16], [2])
QUICK = Mode("quick", 3, 2, 10, 6, [8, 1024, 65536, 1048576], [8, 1024, 65536], [8, 1024, 65536, 1048576],
             [8, 1024, 65536, 1048576], [8, 65536], [1, 64, 1024], [2, 8])
FULL = Mode("full", 10, 10, 10, 60, POWERS, [8, 64, 1024, 16384, 65536, 1048576],
            [8, 64, 1024, 16384, 65536, 1048576], [8, 64, 1024, 16384, 65536, 1048576],
            [8, 1024, 65536, 1048576], [1, 16, 256, 1024, 4096, 16384], [2, 8, 32])
MODES = {mode.name: mode for mode in (SMALLEST, QUICK, FULL)}


@dataclass(frozen=True)
class Run:
    """`key` is for the command line, `group` is what figures of this run are filed under."""

    key: str
    group: str
    ranks: int
    level: str  # single or multiple
    parts: list
    milliseconds: float

    def words(self, deadline):
        return [str(self.milliseconds), str(deadline), self.level, *self.parts]


def part(name, sizes):
    return f"{name}:" + ",".join(map(str, sizes))


def on_cores(ranks, cores):
    return f"{ranks} ranks" + (f" on {cores} core{'s'[:cores > 1]}" if ranks > cores else "")


def runs(mode, cores, milliseconds=None):
    """Every run of a mode on so many cores, in the order in which they are started."""
    one = milliseconds or mode.milliseconds
    crowded = milliseconds or mode.crowded_milliseconds
    two = on_cores(2, cores)
    all_runs = [
        Run("point", two, 2, "single", [part("point", mode.pair), part("onesided", mode.onesided),
                                        part("queues", mode.depths)], one),
        Run("collective", two, 2, "single", [part("collective", mode.collective)], one),
        Run("nonblocking", two, 2, "single", [part("nonblocking", mode.nonblocking)], one),
        Run("threads", two + ", THREAD_MULTIPLE", 2, "multiple", [part("point", mode.crowded),
                                                                  part("onesided", mode.crowded[:1])],
            one),
    ]
    crowds = [4] if mode is not FULL else [4, 8]
    if mode is FULL and cores >= 8:
        crowds.append(2 * cores)
    for ranks in crowds:
        parts = [part("point", mode.crowded), part("collective", mode.crowded)]
        all_runs.append(Run(f"crowd-{ranks}", on_cores(ranks, cores), ranks, "single", parts, crowded))
    for ranks in mode.starts:
        all_runs.append(Run(f"start-{ranks}", "starting", ranks, "single", ["start"], one))
    return all_runs


SECTIONS = ("Point to point", "One-sided", "Collectives", "Nonblocking", "Overlap", "Queues",
            "Start and memory")
POINT = ("latency", "bandwidth", "bidirectional", "rate")
ONESIDED = ("put", "get", "accumulate", "fetch_and_op", "compare_and_swap")
QUEUES = ("unexpected", "posted")
START = ("init_finalize", "job", "rss_init", "rss", "pss")
EXPLAINED = {
    "latency": "half of a ping-pong of blocking sends and receives",
    "bandwidth": "64 messages in flight (16 from 16 KiB, 4 from 128 KiB), then a short answer",
    "bidirectional": "the same in both directions at once, both counted",
    "rate": "messages per second of the bandwidth test",
    "put": "MPI_Put and MPI_Win_flush", "get": "MPI_Get and MPI_Win_flush",
    "accumulate": "MPI_Accumulate of doubles, MPI_SUM, and MPI_Win_flush",
    "fetch_and_op": "MPI_Fetch_and_op of a long long, MPI_SUM, and MPI_Win_flush",
    "compare_and_swap": "MPI_Compare_and_swap that swaps, and MPI_Win_flush",
    "unexpected": "each of so many waiting messages, the one that came last received first",
    "posted": "each of so many waiting receives, the one posted last served first",
    "init_finalize": "MPI_Init and MPI_Finalize of rank 0",
    "job": "from the start of mpiexec to its end, for a program that does nothing else",
    "rss_init": "resident memory of a rank after MPI_Init",
    "rss": "resident memory of a rank after each pair has exchanged a message",
    "pss": "the same, a page shared by n processes counted as its n-th part",
    "exchange": "MPI_Irecv, MPI_Isend to the next rank, MPI_Waitall",
}


def section(metric):
    for name, metrics in (("Point to point", POINT), ("One-sided", ONESIDED), ("Queues", QUEUES),
                          ("Start and memory", START)):
        if metric in metrics:
            return name
    if metric.endswith("_overlap"):
        return "Overlap"
    # The nonblocking ones begin with i; no blocking collective does.
    return "Nonblocking" if metric == "exchange" or metric.startswith("i") else "Collectives"


def x_name(metric):
    return {"Queues": "messages waiting", "Start and memory": "ranks"}.get(section(metric), "bytes")


def explained(metric):
    if metric.endswith("_overlap"):
        return f"how much of {metric[:-8]} a computation without MPI calls hides"
    if section(metric) == "Nonblocking":
        return EXPLAINED.get(metric, f"MPI_{metric[:1].upper()}{metric[1:]} and MPI_Waitall")
    return EXPLAINED.get(metric, f"MPI_{metric[:1].upper()}{metric[1:]}")


def more_is_better(unit):
    return unit in ("MB/s", "M/s", "%")


def compared(unit):
    """Ratios of percentages say nothing."""
    return unit != "%"
