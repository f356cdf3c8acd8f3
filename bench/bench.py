#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""vicinity bench: measures this MPI beside MPICH, Open MPI and Intel MPI, on this machine, now.

All are measured in turns, round by round, with a bare ping-pong of a cache line between two cores just
before each run, so that a noisy minute hits all of them. Every result is checked. Without --full it takes
about a minute. In the folder of the results: values.tsv (each figure of each round), table.md (medians), and
page.html, one file for a browser, to explore. Peers are found where Debian, this tool (--install-peers) or a
source tree puts them, or given with --peer; each gets its best settings, which the page names.
"""

import argparse
import datetime
import os
import platform
import shlex
import signal
import sys
import tempfile
from pathlib import Path

import page
import peers
import plan
import results as kept
import rounds
from peers import BenchError


def say(words):
    print(f"bench: {words}", file=sys.stderr, flush=True)


def command_line(arguments):
    parser = argparse.ArgumentParser(
        prog="vicinity bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--full", action="store_true", help="every size, 8 ranks, more rounds: half an hour")
    how.add_argument("--smallest", action="store_true", help="one size, one round: does everything work?")
    parser.add_argument("--install-peers", nargs="?", const=",".join(peers.PEERS), metavar="NAME,...",
                        help="get them from PyPI first, each into an environment of its own [all]")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=PREFIX",
                        help=f"where a peer is ({', '.join(peers.PEERS)}; repeat for more)")
    parser.add_argument("--only", metavar="NAME,...", help="of these MPIs (vicinity is ours)")
    parser.add_argument("--runs", metavar="NAME,...", help="only these runs; see --list")
    parser.add_argument("--rounds", type=int, metavar="N", help="how often all is measured [3, full 10]")
    parser.add_argument("--ms", type=float, metavar="MS",
                        help="milliseconds for a figure [2; 10 where ranks outnumber cores, and full]")
    parser.add_argument("--results", type=Path, default=Path("vicinity-bench"), metavar="FOLDER",
                        help="where the results go [%(default)s]")
    parser.add_argument("--work", type=Path, default=default_work(), metavar="FOLDER",
                        help="where installed peers are [%(default)s]")
    parser.add_argument("--prefix", type=Path, default=Path(__file__).absolute().parents[3],
                        help="the installation to measure [this one]")
    parser.add_argument("--show", type=Path, metavar="VALUES",
                        help="measure nothing: write table and page of an earlier values.tsv")
    parser.add_argument("--list", action="store_true", help="print runs and MPIs, and stop")
    return parser.parse_args(arguments)


def default_work():
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "vicinity/bench"


def machine(cores):
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{model}, {cores} cores, Linux {platform.release()}"


def given_peers(words):
    given = {}
    for word in words:
        name, equals, prefix = word.partition("=")
        if not equals or name not in peers.PEERS:
            raise BenchError(f"--peer {word}: give NAME=PREFIX, NAME one of {', '.join(peers.PEERS)}")
        given[name] = Path(prefix).absolute()
    return given


def names_of(text, known, what):
    """The words of a list with commas; all must be known."""
    words = text.split(",")
    for word in words:
        if word not in known:
            raise BenchError(f"no {what} `{word}`; there are {', '.join(known)}")
    return words


def find_mpis(options):
    """Ours first, then the peers that are there; says which are not."""
    if options.install_peers:
        for name in names_of(options.install_peers, peers.PEERS, "peer"):
            peers.install(name, options.work)
    given = given_peers(options.peer)
    wanted = names_of(options.only, plan.NAMES, "MPI") if options.only else plan.NAMES
    found = [peers.own(options.prefix.absolute())] if "vicinity" in wanted else []
    missing = []
    for name in (name for name in wanted if name != "vicinity"):
        peer = peers.find(name, options.work, given)
        found += [peer] if peer else []
        missing += [] if peer else [name]
    if missing:
        say(f"not here: {', '.join(missing)} (--install-peers {','.join(missing)} gets them from PyPI)")
    if [mpi.name for mpi in found] == ["vicinity"]:
        say("no peer is measured: the figures are ours alone")
    if not found:
        raise BenchError("none of the MPIs wanted is here")
    return found


def compile_all(mpis, folder):
    programs = {}
    for mpi in mpis:
        programs[mpi.name], why = peers.compile_for(mpi, folder)
        if why:
            if mpi.name == "vicinity":
                raise BenchError(f"the program does not compile with our mpicc: {why}\n"
                                 "(a C compiler is needed: apt install gcc)")
            say(f"{mpi.name} is left out: {why}")
    return {name: program for name, program in programs.items() if program}


def relevant_environment():
    prefixes = ("VICINITY_", "MPIR_CVAR_", "OMPI_MCA_", "I_MPI_", "PRTE_MCA_")
    return [f"{key}={value}" for key, value in sorted(os.environ.items()) if key.startswith(prefixes)]


def describe(mpis, mode, options, cores, busy, command):
    ours = "vicinity" if any(mpi.name == "vicinity" for mpi in mpis) else mpis[0].name
    described = []
    for mpi in mpis:
        fits, crowd = mpi.described()
        described.append({"name": mpi.name, "title": mpi.title, "library": mpi.library, "fits": fits,
                          "crowd": crowd})
    return {
        "title": "MPI on one host",
        "machine": machine(cores),
        "date": datetime.datetime.now().astimezone().isoformat(" ", "minutes"),
        "mode": mode.name,
        "rounds": options.rounds,
        "load": round(busy, 1),
        "milliseconds": options.ms or " to ".join(map(str, sorted({mode.milliseconds,
                                                                   mode.crowded_milliseconds}))),
        "command": command,
        "environment": relevant_environment(),
        "ours": ours,
        "ours_title": peers.TITLES[ours],
        "mpis": described,
    }


def write_all(results, folder, values=True):
    folder.mkdir(parents=True, exist_ok=True)
    if values:
        results.write_values(folder / "values.tsv")
    (folder / "table.md").write_text(kept.markdown(results))
    (folder / "page.html").write_text(page.html(results))


def tell(results, folder):
    rows = kept.summary(results)
    if rows:
        print(f"{'':44}{'figures':>8}{'ahead':>7}{'gain':>10}")
        for group, section, count, ahead, middle in rows:
            print(f"{group + ': ' + section.lower():44}{count:8}{ahead:7}{middle:10.2f}")
        print("gain: how many times better than the best peer, in the median")
    for problem in results.problems:
        print(f"{problem['mpi']}, {problem['group']}: {problem['what']}")
    print(f"{folder}/page.html (explore), table.md (medians), values.tsv (all)")


def measure(options, command):
    mode = plan.MODES["full" if options.full else "smallest" if options.smallest else "quick"]
    options.rounds = mode.rounds if options.rounds is None else options.rounds
    if options.rounds < 1 or (options.ms is not None and options.ms <= 0):
        raise BenchError("--rounds and --ms must be above 0")
    cores = len(os.sched_getaffinity(0))
    runs = plan.runs(mode, cores, options.ms)
    if options.runs:
        chosen = names_of(options.runs, [run.key for run in runs], "run")
        runs = [run for run in runs if run.key in chosen]
    mpis = find_mpis(options)
    if options.list:
        for run in runs:
            print(f"{run.key:14}{run.group:28}{' '.join(run.parts)}")
        for mpi in mpis:
            print(f"{mpi.name:14}{mpi.mpiexec}")
        return 0
    busy = os.getloadavg()[0]
    if busy > cores / 2:
        say(f"the machine is busy (load {busy:.1f} on {cores} cores): figures will be noisy")
    with tempfile.TemporaryDirectory(prefix="vicinity-bench-") as folder:
        programs = compile_all(mpis, Path(folder))
        raw = peers.compile_raw(Path(folder))
        if raw is None or cores < 2:
            say("no bare ping-pong: " + ("it needs two cores" if cores < 2 else "raw.c does not compile"))
        mpis = [mpi for mpi in mpis if mpi.name in programs]
        if not mpis:
            raise BenchError("the program compiles with none of the MPIs")
        results = kept.Results({})
        bench = rounds.Bench(results, programs, raw, cores, mode.deadline)
        stopped = not bench.all(options.rounds, runs, mpis)
    if stopped and not results.rows:
        raise BenchError("stopped before there was anything to write")
    results.meta = describe(mpis, mode, options, cores, busy, command)
    write_all(results, options.results)
    tell(results, options.results)
    return 130 if stopped else 1 if results.meta["ours"] in results.wrong else 0


def main(arguments):
    options = command_line(arguments)
    signal.signal(signal.SIGTERM, interrupt)
    try:
        if options.show:
            results = kept.read_values(options.show)
            write_all(results, options.results, values=False)
            tell(results, options.results)
            return 0
        return measure(options, shlex.join(["vicinity", "bench", *arguments]))
    except (BenchError, OSError, ValueError) as wrong:
        say(wrong)
        return 1
    except KeyboardInterrupt:
        say("stopped")
        return 130


def interrupt(number, frame):
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
