# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs: where they are, how to get them from PyPI, how to compile and start with each.

Peers get the settings that were best on one host in trials. They are looked for in the folder given for
them, in the environments that `vicinity bench --install-peers` makes, in those of a source tree
(scripts/setup), and where Debian puts them.
"""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PEERS = ("mpich", "openmpi", "impi")
TITLES = {"vicinity": "Vicinity MPI", "mpich": "MPICH", "openmpi": "Open MPI", "impi": "Intel MPI"}
# What MPICH does in its shared-memory collectives when ranks outnumber cores costs milliseconds; its
# algorithms of messages are hundreds of times faster there.
MPICH_CROWDED = {f"MPIR_CVAR_{name}_POSIX_INTRA_ALGORITHM": "mpir"
                 for name in ("BARRIER", "BCAST", "REDUCE", "ALLREDUCE")}


class BenchError(Exception):
    """Something that a person can put right; the text says how."""


class Mpi:
    """One MPI: `fits` are the words of mpiexec for ranks that fit the cores, `crowd` for more."""

    def __init__(self, name, mpicc, mpiexec, environment=None, fits=(), crowd=(), crowd_environment=None):
        self.name, self.title = name, TITLES.get(name, name)
        self.mpicc, self.mpiexec = Path(mpicc), Path(mpiexec)
        self.settings = environment or {}
        self.fits, self.crowd, self.crowd_settings = list(fits), list(crowd), crowd_environment or {}
        self.library = ""  # its own words, once it has run

    def command(self, ranks, cores):
        return [str(self.mpiexec), *(self.fits if ranks <= cores else self.crowd), "-n", str(ranks)]

    def environment(self, crowded=False):
        return {**os.environ, **self.settings, **(self.crowd_settings if crowded else {})}

    def described(self):
        """What the page says of the settings: of ranks that fit the cores, and of more."""
        def words(more, settings):
            hidden = ("LD_LIBRARY_PATH", "FI_PROVIDER_PATH", "I_MPI_ROOT")  # where it lies, not how it runs
            shown = [f"{key}={value}" for key, value in settings.items() if key not in hidden]
            return shlex.join([*shown, "mpiexec", *more])
        return (words(self.fits, self.settings), words(self.crowd, {**self.settings, **self.crowd_settings}))


def own(prefix):
    mpi = Mpi("vicinity", prefix / "bin/mpicc", prefix / "bin/mpiexec")
    if not mpi.mpiexec.exists() or not mpi.mpicc.exists():
        raise BenchError(f"{prefix}/bin has no mpicc and mpiexec: give the installation with --prefix")
    return mpi


def make_peer(name, prefix, suffix=""):
    """The peer in PREFIX/bin, or None. Debian's programs end in .mpich and .openmpi."""
    programs = prefix / "bin"
    mpicc, mpiexec = programs / f"mpicc{suffix}", programs / f"mpiexec{suffix}"
    if name == "impi" and (programs / "mpigcc").exists():
        mpicc = programs / "mpigcc"
    if not (os.access(mpicc, os.X_OK) and os.access(mpiexec, os.X_OK)):
        return None
    if name == "mpich":
        return Mpi(name, mpicc, mpiexec, fits=["-bind-to", "core"], crowd_environment=MPICH_CROWDED)
    if name == "openmpi":
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        shared = ["--mca", "pml", "ob1", "--mca", "btl", "self,sm"]
        crowd = ["--map-by", "core:OVERSUBSCRIBE", "--bind-to", "core:overload-allowed"]
        if suffix:  # Open MPI 4 of Debian: other names
            shared, crowd = ["--mca", "pml", "ob1", "--mca", "btl", "self,vader"], ["--oversubscribe"]
        return Mpi(name, mpicc, mpiexec, fits=[*root, "--bind-to", "core", *shared],
                   crowd=[*root, *crowd, *shared])
    if name == "impi":
        folder = str(prefix / "lib")
        found = os.environ.get("LD_LIBRARY_PATH")
        settings = {"I_MPI_ROOT": str(prefix), "FI_PROVIDER_PATH": folder, "I_MPI_FABRICS": "shm",
                    "LD_LIBRARY_PATH": f"{folder}:{found}" if found else folder}
        return Mpi(name, mpicc, mpiexec, settings, crowd_environment={"I_MPI_PIN": "0"})
    raise BenchError(f"`{name}` is no peer that is known: {', '.join(PEERS)}")


def places(name, work):
    """Where a peer may be, the most wanted first: (prefix, suffix of its programs)."""
    yield work / "peers" / name, ""
    yield HERE.parent / f".venv-{name}", ""
    if name == "impi" and "I_MPI_ROOT" in os.environ:
        yield Path(os.environ["I_MPI_ROOT"]), ""
    if name != "impi":
        yield Path("/usr"), f".{name}"


def find(name, work, given):
    if name in given:
        peer = make_peer(name, given[name])
        if not peer:
            raise BenchError(f"{given[name]}/bin has no mpicc and mpiexec (of {name})")
        return peer
    for prefix, suffix in places(name, work):
        peer = make_peer(name, prefix, suffix)
        if peer:
            return peer
    return None


def pins(name):
    """The packages of a peer, from the list beside us (installed) or in the source tree."""
    for file in (HERE / "requirements.txt", HERE.parent / "scripts/requirements.txt"):
        if file.exists():
            for line in file.read_text().splitlines():
                if line.startswith(f"{name}: "):
                    return line.split()[1:]
    raise BenchError(f"there is no list of packages for {name}; is the installation complete?")


def install(name, work):
    """Makes PEERS/NAME with the peer from PyPI; nothing is done if it is there."""
    folder, wanted = work / "peers" / name, " ".join(pins(name))
    mark = folder / "pins"
    if mark.exists() and mark.read_text().strip() == wanted:
        return
    print(f"   installing {wanted} from PyPI into {folder}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
    pip = [str(folder / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", *wanted.split()]
    for command in ([python, "-m", "venv", str(folder)], pip):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise BenchError(f"cannot install {name}: {' '.join(command[:4])}... ended with "
                             f"{done.returncode}: {(done.stderr or done.stdout)[-600:].strip()}\n"
                             "(on Debian, python3-venv must be there, and PyPI must be in reach)")
    mark.write_text(wanted + "\n")


SOURCES = ("measure", "point", "onesided", "collective", "nonblocking", "queues", "start",
           "turn")


def compile_for(mpi, folder):
    """Compiles the program for one MPI; returns it, or None and why not."""
    target = folder / f"measure-{mpi.name}"
    sources = [str(HERE / f"programs/{stem}.c") for stem in SOURCES]
    try:
        done = subprocess.run([str(mpi.mpicc), "-O2", *sources, "-o", str(target)], capture_output=True,
                              text=True, env=mpi.environment(), timeout=120)
    except subprocess.TimeoutExpired:
        return None, f"{mpi.mpicc} has not ended within 120 s"
    if done.returncode:
        words = (done.stderr or done.stdout)[-400:].strip()
        return None, f"{mpi.mpicc} ended with {done.returncode}: {words}"
    return target, ""


def compile_raw(folder):
    """The bare ping-pong, which needs no MPI but a C compiler; None where there is none."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        return None
    target = folder / "raw"
    done = subprocess.run([compiler, "-O2", str(HERE / "programs/raw.c"), "-o", str(target)],
                          capture_output=True, text=True)
    return None if done.returncode else target
