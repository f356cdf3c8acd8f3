# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's tests on six ranks in the guests: two in each, so that memory of the guest, memory of the host and
the network are mixed in every communicator."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RUNNER = ROOT / "test/suites/mpi4py"
BUILT = ROOT / "build/check/mpi4py"

# What `./check` takes (a minute on two free cores): each collective that carries objects, and of the rest
# what differs most on the way: messages of known and unknown size, synchronous, probed, matched, in place;
# derived datatypes; all to all. COMM_SELF needs no lab. `whole_mpi4py` takes everything.
SHORT = [
    "test_cco_obj.TestCCOObjWorld.",
    "test_cco_buf.TestCCOBufWorld.testAlltoall",
    "test_cco_buf.TestCCOBufWorld.testBarrier",
    "test_cco_buf.TestCCOBufWorld.testBcast",
    "test_p2p_obj.TestP2PObjWorld.testISSend",
    "test_p2p_obj.TestP2PObjWorld.testPingPong",
    "test_p2p_obj.TestP2PObjWorld.testProbe",
    "test_p2p_obj.TestP2PObjWorld.testS",
    "test_p2p_buf.TestP2PBufWorld.testProbe",
    "test_p2p_buf.TestP2PBufWorld.testSendrecv",
    "test_p2p_obj_matched.TestP2PMatchedWorld.",
]
SHORT_TESTS = 26  # that these name


def prepare(lab):
    """Builds mpi4py, outside: the guests have the same Python. Options of `lab up` that show it to them."""
    command = [str(RUNNER / "run"), "--prefix", str(lab.prefix), "--folder", str(BUILT), "--build-only"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return ["--share", str(RUNNER), "--share", str(BUILT)]


def mpi4py(lab, limit, *selection):
    """Runs the selection on six ranks; none of its tests fails. How many there were."""
    command = [str(RUNNER / "run"), "--prefix", str(lab.prefix), "--folder", str(BUILT), "--ranks", "6"]
    command += ["--mpiexec", f"{lab.prefix}/bin/vicinity lab run --name {lab.name}"]
    command += ["--python", "/usr/bin/python3", "--results", str(lab.work), "--timeout", str(limit)]
    done = subprocess.run(
        [*command, "--", *selection],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=limit + 60,
    )
    text = done.stdout + done.stderr
    counted = re.search(r"^(\d+) passed, 0 failed, (\d+) skipped$", text, re.M)
    assert done.returncode == 0 and counted, text
    print("   mpi4py in the guests: " + counted[0], flush=True)
    return int(counted[1]) + int(counted[2])


def short_mpi4py(lab):
    """A selection of the point-to-point and collective tests."""
    modules = r"^test_(p2p|cco)_(obj|buf|obj_matched)\."
    names = [word for name in SHORT for word in ("-k", name)]
    assert mpi4py(lab, 900, "-i", modules, *names) == SHORT_TESTS


def whole_mpi4py(lab):
    """Everything."""
    mpi4py(lab, 6 * 3600)
