# SPDX-License-Identifier: BSD-3-Clause
"""Runs the stages of ./check one after the other and adds up what they count.

Every stage is a command whose last words are "N passed, N failed[, N skipped]", or ctest's own summary.
Its full output is in build/check/STAGE.log; what it prints of failures is shown.
"""

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build" / "check"
PREFIX = "build"
# LeakSanitizer itself crashes on what ASan notes of the thread-local memory of UCX, which is loaded late.
ASAN = {
    "ASAN_OPTIONS": "detect_leaks=1:halt_on_error=1:abort_on_error=0:intercept_tls_get_addr=0",
    "LSAN_OPTIONS": f"print_suppressions=0:suppressions={ROOT}/test/sanitizers/leaks.txt",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}
# UCX replaces madvise by a function with a lock, which the C library calls for a thread that TSan has buried.
TSAN = {"TSAN_OPTIONS": "halt_on_error=0:second_deadlock_stack=1", "UCX_MEM_MMAP_HOOK_MODE": "none"}


def configure(folder, *definitions):
    return ["cmake", "-S", ".", "-B", folder, "-G", "Ninja", "-DVICINITY_WERROR=ON", *definitions]


def ctest(folder, *more):
    return ["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error", "-j2",
            "--timeout", "300", *more]


def mpi(prefix, *more):
    return ["test/mpi/run", "--prefix", prefix, *more]


SETUP = ["scripts/setup"]


def core(quick):
    """[(name, what it is, [(command, environment)...])]"""
    kills = ["--kills", "20"] if quick else []
    return [
        ("build", "compile everything, warnings are errors",
         [([*SETUP, "mpich", "openmpi", "clang"], {}),
          (configure(PREFIX, "-DVICINITY_SANITIZE=", f"-DVICINITY_ORACLE_MPICH={ROOT}/.venv-mpich"), {}),
          (["ninja", "-C", PREFIX], {})]),
        ("tidy", "style of the sources", [(["python3", "-B", "test/tidy.py"], {})]),
        ("unit", "ctest: unit tests, the ABI, generated files, launch and wire-up",
         [(ctest(PREFIX, "-E", r"^fuzz\."), {})]),
        ("mpi", "our own MPI programs, chapter by chapter", [(mpi(PREFIX), {})]),
        ("examples", "a project that uses find_package(MPI)",
         [(["cmake", "-S", "examples", "-B", "build/check/examples",
            f"-DCMAKE_PREFIX_PATH={ROOT}/{PREFIX}"], {}),
          (["cmake", "--build", "build/check/examples"], {}),
          ([f"{PREFIX}/bin/mpiexec", "-n", "4", "build/check/examples/hello"], {})]),
        ("cost", "instructions of small messages, counted by valgrind, against test/cost/expected.txt",
         [([*SETUP, "cost"], {}), (["test/cost/run", "--prefix", PREFIX], {})]),
        ("faults", "killed ranks, full memory, aborts",
         [(["test/faults/run", "--prefix", PREFIX, *kills], {})]),
        ("hosts", "the network: two emulated hosts over UCX and TCP, and forced on one host",
         [([*SETUP, "hosts"], {}), (["test/hosts/over_network", "--prefix", PREFIX, "--quick"], {})]),
        ("lab", "boots three guests on two emulated hosts and runs jobs in them",
         [([*SETUP, "mpi4py"], {}), (["test/lab/run", "--prefix", PREFIX], {})]),
        ("namespaces", "ranks in containers: 64 combinations of shared and private namespaces",
         [(["test/faults/namespaces", "--prefix", PREFIX], {})]),
        ("fuzz", "parsers and readers fed with garbage, for a bounded time",
         [(ctest(PREFIX, "-R", r"^fuzz\."), {})]),
    ]


def suites(quick):
    ranks = "1,2,4" if quick else "1,2,3,4,7"
    return [
        ("mpi4py", "mpi4py's own suite",
         [([*SETUP, "mpi4py"], {}),
          (["test/suites/mpi4py/run", "--prefix", PREFIX, "--ranks", ranks], {})]),
        ("hpcc", "HPCC on 2 and 4 ranks",
         [([*SETUP, "hpcc-source"], {}), (["test/suites/hpcc/run", "--prefix", PREFIX], {})]),
        ("fftw", "FFTW's own check of transforms over ranks",
         [([*SETUP, "fftw3-source"], {}), (["test/suites/fftw/run", "--prefix", PREFIX], {})]),
        ("hypre", "hypre's own tests of solvers, in C and Fortran",
         [([*SETUP, "hypre-source"], {}), (["test/suites/hypre/run", "--prefix", PREFIX], {})]),
        ("mpich", "MPICH's own suite",
         [([*SETUP, "mpich-source"], {}), (["test/suites/mpich/run", "--prefix", PREFIX], {})]),
    ]


def applications():
    """What builds for many minutes: left out unless it is asked for."""
    return [
        ("hdf5", "parallel HDF5's own tests, in C and Fortran",
         [([*SETUP, "hdf5-source"], {}), (["test/suites/hdf5/run", "--prefix", PREFIX], {})]),
        ("h5py", "h5py's own tests on that HDF5",
         [([*SETUP, "mpi4py", "hdf5-source", "h5py-source"], {}),
          (["test/suites/h5py/run", "--prefix", PREFIX], {})]),
        ("mpi4py-fft", "mpi4py-fft's own tests",
         [([*SETUP, "mpi4py", "mpi4py-fft-source"], {}),
          (["test/suites/mpi4py-fft/run", "--prefix", PREFIX], {})]),
        ("pnetcdf", "PnetCDF's own tests, in C and Fortran",
         [([*SETUP, "pnetcdf-source"], {}), (["test/suites/pnetcdf/run", "--prefix", PREFIX], {})]),
    ]


# What the stage `thread` runs: the rest has no threads of its own.
THREADED = ("src/base/all", "src/region/all", "src/channel/all", "test/conformance/all", "mpi_abi", "mpiexec")


def sanitizers():
    """Bounded: suites that take long under a sanitizer are the stage `address-suites`."""
    address, thread = "build/address", "build/thread"
    instrumented = "--flags=-fsanitize=address,undefined"
    return [
        ("address", "unit tests, our MPI programs, faults and mpi4py on 2 ranks under ASan and UBSan",
         [([*SETUP, "mpi4py"], {}),
          (configure(address, "-DVICINITY_SANITIZE=address;undefined"), {}),
          (["ninja", "-C", address], {}),
          (ctest(address, "-E", r"^abi\.(header|removed)"), ASAN),
          (mpi(address, instrumented, "--folder=build/check/mpi-address", "--scale=4", "--most=4"), ASAN),
          (["test/faults/run", "--prefix", address, "--folder=build/check/faults-address", "--kills=10",
            "--limit=5"], {**ASAN, "ASAN_OPTIONS": ASAN["ASAN_OPTIONS"] + ":handle_segv=0"}),
          (["test/suites/mpi4py/run", "--prefix", address, "--folder=build/check/mpi4py-address",
            "--ranks=2"], {})]),
        ("thread", "base, region, channel and THREAD_MULTIPLE programs under ThreadSanitizer",
         [(configure(thread, "-DVICINITY_SANITIZE=thread"), {}),
          (["ninja", "-C", thread, *THREADED], {}),
          (ctest(thread, "-R", r"^(unit\.(base|region|channel)|conformance)\."), TSAN),
          (mpi(thread, "--flags=-fsanitize=thread", "--folder=build/check/mpi-thread", "--scale=6",
               "threads"), TSAN)]),
    ]


def sanitized_suites():
    address = "build/address"
    return [
        ("address-suites", "the suites of others, and programs on many ranks, under ASan and UBSan",
         [([*SETUP, "mpi4py", "hpcc-source", "mpich-source"], {}),
          (mpi(address, "--flags=-fsanitize=address,undefined", "--folder=build/check/mpi-address",
               "--scale=8"), ASAN),
          (["test/suites/mpi4py/run", "--prefix", address, "--folder=build/check/mpi4py-address",
            "--ranks=4"], {}),
          (["test/suites/mpich/run", "--prefix", address, "--folder=build/check/mpich-address",
            "--timeout=180"], {**ASAN, "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1"}),
          (["test/suites/hpcc/run", "--prefix", address, "--folder=build/check/hpcc-address",
            "--size=500", "--timeout=600"], {**ASAN, "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1"})]),
    ]


def counts(text):
    """(passed, failed, skipped) from the last lines of a command's output, or None."""
    found = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", text, re.M)
    if found:
        return tuple(int(n or 0) for n in found[-1])
    found = re.findall(r"(\d+) tests failed out of (\d+)", text)
    if found:
        failed, total = map(int, found[-1])
        return total - failed, failed, 0
    return None


def interesting(line):
    return (
        line.startswith(("FAILED", "   "))
        or "***Failed" in line
        or "***Timeout" in line
        or ": error:" in line
    )


def run(command, environment, log):
    """(exit code, output); prints the lines that a person wants to see while it runs."""
    log.write("$ " + " ".join(command) + "\n")
    log.flush()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
        text=True,
        errors="replace",
    )
    lines, shown = [], 0
    for line in process.stdout:
        lines.append(line)
        log.write(line)
        if interesting(line) and shown < 200:
            shown += 1
            print("   " + line.strip("\n").removeprefix("   ")[:200], flush=True)
    return process.wait(), "".join(lines)


def run_stage(name, commands):
    """(passed, failed, skipped) of one stage. A command without a count is one failure if it fails."""
    total = [0, 0, 0]
    with open(LOGS / f"{name}.log", "w") as log:
        for command, environment in commands:
            code, output = run(command, environment, log)
            found = counts(output)
            if found:
                total = [a + b for a, b in zip(total, found)]
            if code and not (found and found[1]):
                total[1] += 1
                print(f"   FAILED: {' '.join(command[:3])} ended with {code}; the end of its output:")
                print(
                    "".join("   | " + line + "\n" for line in output.splitlines()[-15:]), end="", flush=True
                )
                break
    if total == [0, 0, 0]:
        total[0] = 1  # a build is one test that passed
    return total


def main():
    parser = argparse.ArgumentParser(prog="./check", description="Sets up, builds and runs every test.")
    parser.add_argument(
        "--only", action="append", metavar="STAGE", help="run only this stage (repeat for more)"
    )
    parser.add_argument("--skip", action="append", default=[], metavar="STAGE", help="leave this stage out")
    parser.add_argument(
        "--quick", action="store_true", help="fewer ranks, fewer kills; no suites, no sanitizers"
    )
    parser.add_argument(
        "--sanitizers", action="store_true", help="also the stages address, thread and address-suites"
    )
    parser.add_argument(
        "--applications", action="store_true", help="also the stages hdf5, h5py, mpi4py-fft and pnetcdf"
    )
    parser.add_argument("--list", action="store_true", help="print the stages and stop")
    options = parser.parse_args()
    plan = core(options.quick) + suites(options.quick) + applications()
    plan += sanitizers() + sanitized_suites()
    if options.list:
        print("\n".join(f"{name:15} {what}" for name, what, _ in plan))
        return 0
    names = [name for name, _, _ in plan]
    for name in (options.only or []) + options.skip:
        if name not in names:
            parser.error(f"no stage {name!r}; there are {', '.join(names)}")
    left_out = () if options.sanitizers else ("address", "thread", "address-suites")
    if not options.applications:
        left_out += tuple(name for name, _, _ in applications())
    if options.quick:
        left_out += ("mpich", "hpcc", "fftw", "hypre")
    wanted = options.only or [n for n in names if n not in left_out]
    plan = [stage for stage in plan if stage[0] in wanted and stage[0] not in options.skip]
    LOGS.mkdir(parents=True, exist_ok=True)
    rows, begin = [], time.monotonic()
    for number, (name, what, commands) in enumerate(plan, 1):
        print(f"== {number} of {len(plan)}: {name}: {what}", flush=True)
        start = time.monotonic()
        passed, failed, skipped = run_stage(name, commands)
        rows.append((name, passed, failed, skipped, time.monotonic() - start))
        print(f"   {name}: {passed} ok, {failed} not ok, {skipped} left out, {rows[-1][4]:.0f} s", flush=True)
        if name == "build" and failed:
            break
    print(f"\n{'stage':15}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}   log")
    for name, passed, failed, skipped, seconds in rows:
        print(f"{name:15}{passed:8}{failed:8}{skipped:9}{seconds:9.0f}   build/check/{name}.log")
    print(f"in {(time.monotonic() - begin) / 60:.1f} minutes\n")
    passed, failed, skipped = (sum(row[i] for row in rows) for i in (1, 2, 3))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
