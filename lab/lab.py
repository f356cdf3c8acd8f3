#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""vicinity lab: a virtual cluster of QEMU guests on this machine.

Each host of the lab is a set of guests that share a piece of memory (an ivshmem device); all guests share
a network with Soft-RoCE. The disk is built from Debian's packages once; the current folder and this
installation are visible in every guest under the same paths, so that `vicinity lab run` starts your program
as it is.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import accelerator
import image
import plan as plans
import state
from errors import LabError

LAYOUT = "2,1"


def say(words):
    print(f"lab: {words}", file=sys.stderr, flush=True)


def command_line():
    parser = argparse.ArgumentParser(
        prog="vicinity lab", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, words):
        command = commands.add_parser(name, help=words, description=words[0].upper() + words[1:] + ".")
        command.add_argument("--name", default="lab", help="which lab, where there are several [lab]")
        return command

    up = add("up", "boot a lab; the image is built where the cache has none")
    up.add_argument(
        "--layout",
        default=LAYOUT,
        metavar="N,N,...",
        help="guests on each host, or HxV for H hosts with V guests each [%(default)s]",
    )
    up.add_argument(
        "--cpus", type=int, metavar="N", help="virtual CPUs of a guest [what this machine has for each]"
    )
    up.add_argument("--memory", type=int, default=512, metavar="MB", help="memory of a guest [%(default)s]")
    up.add_argument(
        "--region",
        type=int,
        default=64,
        metavar="MB",
        help="memory that the guests of a host share, a power of two [%(default)s]",
    )
    up.add_argument("--mtu", type=int, default=9000, help="of the lab's network [%(default)s]")
    up.add_argument(
        "--share",
        action="append",
        default=[],
        metavar="FOLDER[:rw]",
        help="show this folder in the guests (repeat for more) [the current one, writable]",
    )
    up.add_argument(
        "--accelerator",
        choices=("auto", "kvm", "tcg"),
        default="auto",
        help="KVM where it works, plain emulation (tcg) elsewhere [auto]",
    )
    up.add_argument("--timeout", type=float, default=300, metavar="S", help="for booting [%(default)s]")
    add("run", "run mpiexec with ranks in the guests, in turn or as -hosts says")
    ssh = add("ssh", "run a command in a guest, or a shell")
    ssh.add_argument("guest")
    add("map", "the matrix of channels of a job that ran in the lab with VICINITY_MAP=1")
    status = add("status", "what runs")
    status.add_argument("--json", action="store_true", help="for programs")
    add("down", "end the guests and remove every trace of the lab")
    commands.add_parser("image", help="build the image only", description="Build the image only.")
    return parser


def split_words(arguments):
    """(ours, theirs): words of another program follow `run`, `map` and `ssh GUEST`, and only --name before
    them is ours. Nothing in them is touched, which argparse cannot promise."""
    own = {"run": 1, "map": 1, "ssh": 2}.get(arguments[0] if arguments else "")
    if own is None:
        return arguments, []
    at = 1
    while at < len(arguments) and arguments[at] in ("--name", "-h", "--help"):
        width = 2 if arguments[at] == "--name" else 1
        at, own = at + width, own + width
    words = arguments[own:]
    return arguments[:own], words[1:] if words[:1] == ["--"] else words


def own_prefix():
    """This file is PREFIX/share/vicinity/lab/lab.py, in the build folder by a symbolic link."""
    prefix = Path(__file__).absolute().parents[3]
    if not (prefix / "bin/mpiexec").exists():
        raise LabError(f"there is no mpiexec in {prefix}/bin; start the lab with PREFIX/bin/vicinity lab")
    return prefix


def running(name):
    """(folder, plan, the keeper's status) of a running lab."""
    folder = state.folder_of(plans.check_name(name))
    status, plan = state.ask_keeper(folder, "status"), state.load_plan(folder)
    if status is None or plan is None:
        others = [other for other in state.labs() if other != name]
        raise LabError(
            f"the lab `{name}` is not up; start it with `vicinity lab up"
            + ("" if name == "lab" else f" --name {name}")
            + "`"
            + (f" (others: {', '.join(others)})" if others else "")
        )
    return folder, plan, status


def default_cpus(guests):
    return max(1, min(2, (os.cpu_count() or 1) // guests))


def make_plan(options, prefix):
    if options.cpus is not None and not 1 <= options.cpus <= 64:
        raise LabError(f"--cpus {options.cpus}: 1 to 64")
    if options.memory < 192:
        raise LabError(f"--memory {options.memory}: a guest needs 192 MB for itself")
    if not 1280 <= options.mtu <= 65535:
        raise LabError(f"--mtu {options.mtu}: 1280 to 65535")
    layout = plans.parse_layout(options.layout)
    plan = plans.Plan(
        name=plans.check_name(options.name),
        layout=layout,
        cpus=options.cpus or default_cpus(sum(layout)),
        memory_mb=options.memory,
        region_mb=plans.check_power_of_two(options.region),
        mtu=options.mtu,
        accelerator="tcg",
        image="",
        shares=plans.choose_shares(options.share, prefix, os.getcwd()),
    )
    plans.check_own_name(plan.guests)
    check_memory(plan)
    return plan


def check_memory(plan):
    """Better now than when the kernel ends a process in the middle of a job."""
    with open("/proc/meminfo") as file:
        free = next(int(line.split()[1]) // 1024 for line in file if line.startswith("MemAvailable"))
    need = len(plan.guests) * (plan.memory_mb + 100) + len(plan.hosts) * plan.region_mb
    if need > free:
        raise LabError(
            f"the lab needs {need} MB of memory, {free} MB are available; take fewer guests (--layout) or "
            "less memory for each (--memory, --region)"
        )


def prepare(folder, plan):
    """Fills the folder with all that the keeper and the guests read."""
    folder.mkdir(mode=0o700)
    for name in ("key", "ssh_host_key"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "lab", "-f", str(folder / name)],
            check=True,
            stdin=subprocess.DEVNULL,
        )
    public = (folder / "ssh_host_key.pub").read_text()
    known = "".join(f"{guest.name} {public}" for guest in plan.guests)
    (folder / "known_hosts").write_text(known)
    for guest in plan.guests:
        inside = folder / guest.name
        inside.mkdir()
        for name in ("init", "sshd_config"):
            shutil.copyfile(image.HERE / "guest" / name, inside / name)
        shutil.copyfile(folder / "key.pub", inside / "authorized_keys")
        shutil.copyfile(folder / "ssh_host_key", inside / "ssh_host_key")
        (inside / "settings").write_text(plans.guest_settings(plan, guest))
    (folder / "plan.json").write_text(json.dumps(plan.values(), indent=1))


def start_keeper(folder):
    log = open(folder / "keeper.log", "w")
    return subprocess.Popen(
        [sys.executable, "-B", str(image.HERE / "keeper.py"), str(folder)],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
        cwd="/",
    )


def tail(path, lines=12):
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return ""
    return "\n".join("  | " + line.rstrip() for line in text.splitlines()[-lines:])


def wait_until_ready(folder, keeper, limit):
    """Shows each guest as it comes up; LabError with what is known when one does not."""
    begin, told = time.monotonic(), set()
    while True:
        if keeper.poll() is not None:
            raise LabError(f"the keeper ended with {keeper.returncode}:\n{tail(folder / 'keeper.log')}")
        status = state.ask_keeper(folder, "status") or {"guests": []}
        for guest in status["guests"]:
            name, console = guest["name"], folder / f"{guest['name']}.console"
            said = console.read_text(errors="replace") if console.exists() else ""
            wrong = guest["failure"] or next(
                (line.strip() for line in said.splitlines() if "LAB FAILED" in line), None
            )
            if wrong:
                raise LabError(f"{name}: {wrong}\n{tail(folder / 'keeper.log', 4)}\n{tail(console)}")
            if guest["ready_after"] is not None and name not in told:
                told.add(name)
                say(f"{name} on {guest['host']} is ready ({guest['ready_after']:.0f} s)")
        if status["guests"] and len(told) == len(status["guests"]):
            return
        if time.monotonic() - begin > limit:
            late = [guest["name"] for guest in status["guests"] if guest["name"] not in told] or ["no guest"]
            raise LabError(
                f"{', '.join(late)} not ready within {limit:g} s (--timeout); the console says:\n"
                f"{tail(folder / (late[0] + '.console'))}"
            )
        time.sleep(0.3)


def up(options, prefix):
    begin = time.monotonic()
    image.need_tools()
    plan = make_plan(options, prefix)
    folder = state.folder_of(plan.name)
    with state.locked(plan.name):
        if state.ask_keeper(folder, "status") is not None:
            raise LabError(
                f"the lab `{plan.name}` is up already; `vicinity lab down` ends it, --name takes another"
            )
        if state.sweep(folder, plan.name):
            say(f"removed what a dead lab `{plan.name}` had left")
        plan.image = str(image.build(say))
        plan.accelerator, why = accelerator.choose(options.accelerator, plan.image, image.cache_folder(), say)
        say(f"booting {describe(plan)}, {'KVM' if plan.accelerator == 'kvm' else 'plain emulation'} ({why})")
        keeper = None
        try:
            prepare(folder, plan)
            keeper = start_keeper(folder)
            wait_until_ready(folder, keeper, options.timeout)
        except BaseException:
            if keeper:
                keeper.kill()
                keeper.wait()
            state.sweep(folder, plan.name)
            raise
    say(f"up after {time.monotonic() - begin:.0f} s; try: vicinity lab run -n {len(plan.guests)} hostname")
    return 0


def describe(plan):
    hosts = " ".join(
        host + "{" + ",".join(g.name for g in plan.guests if g.host == host) + "}" for host in plan.hosts
    )
    return f"{hosts}, {plan.cpus} CPU and {plan.memory_mb} MB each"


def down(options, _):
    name = plans.check_name(options.name)
    folder = state.folder_of(name)
    with state.locked(name):
        stopped = state.ask_keeper(folder, "down") is not None
        left = state.sweep(folder, name)
    try:
        folder.parent.rmdir()
    except OSError:
        pass  # other labs are in it
    say(
        f"`{name}` is down"
        if stopped
        else f"removed what a dead lab `{name}` had left" if left else f"there is no lab `{name}`"
    )
    return 0


def ssh(options, _):
    folder, plan, _ = running(options.name)
    check_guest(plan, options.guest)
    text = shlex.join(options.words) if len(options.words) > 1 else "".join(options.words)
    command = [LOOK_AGAIN + text] if text else []
    terminal = ["-t"] if not command and sys.stdin.isatty() else ["-T"]
    return replace(["ssh", "-F", str(folder / "ssh_config"), *terminal, options.guest, *command])


# The guests keep what they have read of read-only shares; before a new command they look again.
LOOK_AGAIN = "echo 2 >/proc/sys/vm/drop_caches; "


def check_guest(plan, name):
    names = [guest.name for guest in plan.guests]
    if name not in names:
        raise LabError(f"the lab has no guest `{name}`; it has {', '.join(names)}")


def replace(command):
    sys.stdout.flush()
    os.execvp(command[0], command)


def living(plan, status):
    """The guests of the plan that run; says which have gone."""
    gone = {guest["name"]: guest["failure"] for guest in status["guests"] if guest["failure"]}
    for name, why in gone.items():
        say(f"{name} is gone: {why}")
    alive = [guest for guest in plan.guests if guest.name not in gone]
    if not alive:
        raise LabError("no guest is left; `vicinity lab down` ends the lab")
    return alive


def run(options, prefix):
    _, plan, status = running(options.name)
    alive = living(plan, status)
    words = options.words
    if not words:
        raise LabError("run what? For example: vicinity lab run -n 3 ./program")
    launcher = shlex.join([str(prefix / "bin/vicinity"), "lab", "ssh", "--name", options.name])
    hosts = ",".join(guest.name for guest in alive)
    # As a hostfile or a list of the user's comes later, it is added to nothing of ours.
    named = any(word.lstrip("-") in ("host", "hosts", "H", "hostfile", "f", "machinefile") for word in words)
    return replace(
        [str(prefix / "bin/mpiexec"), "-launcher", launcher, *([] if named else ["-hosts", hosts]), *words]
    )


def show_map(options, prefix):
    """Fetches the rows that the ranks have written in the guests, and shows them as `vicinity map` does."""
    folder, plan, status = running(options.name)
    rows = folder / "maps/vicinity"
    shutil.rmtree(rows, ignore_errors=True)
    rows.mkdir(parents=True, mode=0o700)
    for guest in living(plan, status):
        fetch = subprocess.Popen(
            [
                "ssh",
                "-F",
                str(folder / "ssh_config"),
                "-T",
                guest.name,
                "mkdir -p /tmp/vicinity-0; cd /tmp/vicinity-0; tar -cf - .",
            ],
            stdout=subprocess.PIPE,
        )
        unpack = subprocess.run(["tar", "-xf", "-", "-C", str(rows)], stdin=fetch.stdout)
        if fetch.wait() or unpack.returncode:
            raise LabError(f"cannot read the maps of {guest.name}: ssh ended with {fetch.returncode}")
    os.environ["XDG_RUNTIME_DIR"] = str(folder / "maps")
    return replace([str(prefix / "bin/vicinity"), "map", *options.words])


def status(options, _):
    folder, plan, found = running(options.name)
    if options.json:
        print(json.dumps({**found, "folder": str(folder), "plan": plan.values()}, indent=1))
        return 0
    print(f"{plan.name}: {describe(plan)}, {plan.accelerator}, region of {plan.region_mb} MB a host")
    for guest in found["guests"]:
        state_ = guest["failure"] or (
            f"ready after {guest['ready_after']:.0f} s" if guest["ready_after"] is not None else "booting"
        )
        print(f"  {guest['name']:6} {guest['host']:8} {guest['address']:12} process {guest['pid']}  {state_}")
    moved = found["switch"]
    print(f"  network: {moved['frames']} frames, {moved['bytes'] / 1e6:.1f} MB, {moved['dropped']} dropped")
    for share in plan.shares:
        print(f"  {share.path} ({'writable' if share.writable else 'read-only'})")
    print(f"  ssh -F {folder}/ssh_config {plan.guests[0].name}")
    return 0


def build_image(*_):
    print(image.build(say))
    return 0


def main():
    ours, words = split_words(sys.argv[1:])
    options = command_line().parse_args(ours)
    options.words = words
    commands = {
        "up": up,
        "down": down,
        "ssh": ssh,
        "run": run,
        "map": show_map,
        "status": status,
        "image": build_image,
    }
    try:
        return commands[options.command](options, own_prefix())
    except LabError as error:
        print(f"vicinity lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
