# SPDX-License-Identifier: BSD-3-Clause
"""KVM or plain emulation?

/dev/kvm may exist and open and still never boot a stock kernel, so a guest is booted as far as its first
words, within a time limit. The answer is kept in the cache for this machine and QEMU.
"""

import hashlib
import os
import subprocess

from plan import probe_command

LIMIT_S = 20


def boots(image, accelerator, limit=LIMIT_S):
    try:
        done = subprocess.run(
            ["setpriv", "--pdeathsig", "KILL", *probe_command(image, accelerator)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return False
    return b"LAB PROBE" in done.stdout


def machine_key(cache):
    """Changes with the kernel, the processor and QEMU."""
    version = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True).stdout
    with open("/proc/cpuinfo") as file:
        model = next((line for line in file if line.startswith("model name")), "")
    words = " ".join(os.uname()) + model + version + str(os.access("/dev/kvm", os.R_OK | os.W_OK))
    return cache / f"kvm-{hashlib.sha256(words.encode()).hexdigest()[:16]}"


def choose(wanted, image, cache, say):
    """(accelerator, why)"""
    if wanted != "auto":
        return wanted, "as asked for"
    if not os.path.exists("/dev/kvm"):
        return "tcg", "there is no /dev/kvm"
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg", "this user may not open /dev/kvm"
    kept = machine_key(cache)
    if not kept.exists():
        say(f"trying KVM (at most {LIMIT_S} s)")
        answer = "kvm" if boots(image, "kvm") else "tcg"
        for old in cache.glob("kvm-*"):
            old.unlink(missing_ok=True)
        kept.write_text(answer)
    if kept.read_text() == "kvm":
        return "kvm", "a guest has booted with it"
    return "tcg", f"with KVM no guest booted within {LIMIT_S} s"
