# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a running lab, and how the commands talk to its keeper.

  plan.json       what was asked for (plan.Plan)       keeper.sock   ask the keeper: "status", "down"
  VM/             what VM sees as /lab                 VM.console    what VM's kernel said
  VM.qmp VM.ssh   sockets: QEMU's control, ssh         switch        socket of the network
  key known_hosts ssh_config  for ssh -F               keeper.log    what the keeper said
A keeper that answers on keeper.sock owns the folder; one that does not answer is dead, and so are its guests
(the kernel ends them with it).
"""

import fcntl
import json
import os
import shutil
import socket
import stat
from contextlib import contextmanager
from pathlib import Path

from errors import LabError
from plan import Plan

LONGEST_SOCKET = 100  # a unix socket's path has 108 bytes


def base_folder():
    """A folder that is this user's alone."""
    asked = os.environ.get("VICINITY_LAB_DIR")
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(
        asked
        or (
            f"{runtime}/vicinity-lab"
            if runtime and os.access(runtime, os.W_OK)
            else f"/tmp/vicinity-lab-{os.getuid()}"
        )
    ).absolute()
    try:
        base.mkdir(mode=0o700, parents=bool(asked), exist_ok=True)
        info = base.lstat()
    except OSError as error:
        raise LabError(f"cannot make the labs' folder {base}: {error.strerror}") from error
    if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
        raise LabError(f"{base} is not a folder of this user; name another with VICINITY_LAB_DIR")
    return base


def folder_of(name):
    folder = base_folder() / name
    if len(str(folder)) + len("/keeper.sock") > LONGEST_SOCKET:
        raise LabError(
            f"the path {folder} is too long for sockets in it; name a shorter folder with VICINITY_LAB_DIR"
        )
    return folder


@contextmanager
def locked(name):
    """One `up` or `down` of a lab at a time."""
    path = base_folder() / f"{name}.lock"
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            mine = path.stat().st_ino == os.fstat(file.fileno()).st_ino  # else its last owner has removed it
        except (BlockingIOError, FileNotFoundError):
            mine = False
        if not mine:
            raise LabError(f"another command is starting or stopping the lab `{name}` just now")
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def ask_keeper(folder, word, timeout=30):
    """The keeper's answer, or None when there is no keeper."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout)
        try:
            connection.connect(f"{folder}/keeper.sock")
            connection.sendall(word.encode() + b"\n")
            answer = b""
            while data := connection.recv(65536):
                answer += data
        except (FileNotFoundError, ConnectionRefusedError, ConnectionResetError, BrokenPipeError):
            return None
        except TimeoutError:
            raise LabError(
                f"the keeper of the lab in {folder} does not answer within {timeout} s; see "
                f"{folder}/keeper.log"
            ) from None
    try:
        return json.loads(answer)
    except ValueError:
        return None  # it went away while it answered


def load_plan(folder):
    try:
        return Plan.from_values(json.loads((folder / "plan.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def sweep(folder, name):
    """Removes what a dead lab has left; returns whether there was anything."""
    regions = list(Path("/dev/shm").glob(f"vicinity-lab-{os.getuid()}-{name}-host[A-Z]*"))
    for region in regions:
        region.unlink(missing_ok=True)
    there = folder.exists()
    shutil.rmtree(folder, ignore_errors=True)
    return there or bool(regions)


def labs():
    return sorted(path.name for path in base_folder().iterdir() if (path / "plan.json").exists())
