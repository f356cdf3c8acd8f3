# SPDX-License-Identifier: BSD-3-Clause
"""The process that keeps a lab: it runs the switch and the guests, holds an ssh connection to each, and
answers `status` and `down` on a socket. When it ends, however that comes, the kernel ends the guests with it.

  keeper.py FOLDER      FOLDER as lab.py prepared it; see state.py
"""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import plan as plans
import state
from switch import Switch

TICK = 0.25


class Running:
    """One guest: QEMU, the loopback port of its sshd, the held connection."""

    def __init__(self, guest):
        self.guest = guest
        self.process = self.master = None
        self.port = None
        self.began = time.monotonic()
        self.ready_after = self.retry_at = None
        self.failure = None


class Keeper:
    def __init__(self, folder):
        self.folder = folder
        self.plan = state.load_plan(folder)
        self.switch = Switch(f"{folder}/switch")
        self.control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self.control.bind(f"{folder}/keeper.sock")
        self.control.listen(8)
        self.control.setblocking(False)
        self.guests = [Running(guest) for guest in self.plan.guests]
        self.poll = select.epoll()
        self.poll.register(self.switch.listener, select.EPOLLIN)
        self.poll.register(self.control, select.EPOLLIN)
        self.asking = {}  # descriptor -> connection that has asked nothing yet
        self.waiting_for_end = []
        self.ending = False

    def start_guests(self):
        for host in self.plan.hosts:
            fd = os.open(self.plan.region(host), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            os.posix_fallocate(fd, 0, self.plan.region_mb << 20)
            os.close(fd)
        for running in self.guests:
            command = plans.guest_command(self.plan, running.guest, self.folder)
            # The kernel ends it with us; a Ctrl-C at the terminal is not for it.
            running.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *command],
                stdin=subprocess.DEVNULL,
                stdout=sys.stdout,
                stderr=sys.stderr,
                start_new_session=True,
            )

    def run(self):
        self.start_guests()
        while not self.ending:
            for fd, events in self.poll.poll(TICK):
                self.event(fd, events)
            for running in self.guests:
                self.look_after(running)
        self.end()

    def event(self, fd, events):
        if fd in (self.switch.listener.fileno(), self.control.fileno()):
            try:
                self.accept(fd)
            except OSError:
                pass  # it has gone again
        elif fd in self.asking:
            self.answer(fd)
        elif fd in self.switch.ports:
            self.move_frames(fd, events)

    def accept(self, fd):
        if fd == self.switch.listener.fileno():
            self.poll.register(self.switch.accept(), select.EPOLLIN)
            return
        connection, _ = self.control.accept()
        connection.setblocking(False)
        self.asking[connection.fileno()] = connection
        self.poll.register(connection, select.EPOLLIN)

    def move_frames(self, fd, events):
        if events & select.EPOLLOUT and self.switch.writable(fd):
            self.poll.modify(fd, select.EPOLLIN)
        if events & ~select.EPOLLOUT:
            full = self.switch.readable(fd)
            if full is None:
                self.poll.unregister(fd)
                self.switch.close(fd)
                return
            for other in full:
                self.poll.modify(other, select.EPOLLIN | select.EPOLLOUT)

    def answer(self, fd):
        connection = self.asking.pop(fd)
        self.poll.unregister(fd)
        try:
            word = connection.recv(64).strip()
        except OSError:
            word = b""
        if word == b"down":
            self.waiting_for_end.append(connection)
            self.ending = True
            return
        if word == b"status":
            connection.setblocking(True)
            connection.settimeout(2)
            try:
                connection.sendall(json.dumps(self.status()).encode())
            except OSError:
                pass
        connection.close()

    def status(self):
        return {
            "pid": os.getpid(),
            "guests": [
                {
                    "name": r.guest.name,
                    "host": r.guest.host,
                    "address": r.guest.address,
                    "pid": r.process.pid,
                    "port": r.port,
                    "ready_after": r.ready_after,
                    "failure": r.failure,
                }
                for r in self.guests
            ],
            "switch": {
                "frames": self.switch.frames,
                "bytes": self.switch.bytes,
                "dropped": self.switch.dropped,
            },
        }

    def look_after(self, running):
        if running.failure:
            return
        if running.process.poll() is not None:
            running.failure = f"QEMU ended with {running.process.returncode}"
            running.ready_after = None
            print(f"{running.guest.name}: {running.failure}", flush=True)
        elif running.port is None:
            running.port = self.ssh_port(running)
            if running.port and all(r.port for r in self.guests):
                self.write_ssh_config()
        elif (self.folder / "ssh_config").exists():
            self.hold_connection(running)

    def ssh_port(self, running):
        """The loopback port that QEMU has chosen for this guest's ssh, once QEMU answers."""
        path = f"{self.folder}/{running.guest.name}.qmp"
        if not os.path.exists(path):
            return None
        try:
            text = qmp(path, "human-monitor-command", {"command-line": "info usernet"})
        except (OSError, ValueError):
            return None
        found = re.search(r"HOST_FORWARD\]\s+\S+\s+127\.0\.0\.1\s+(\d+)\s", text)
        return int(found[1]) if found else None

    def write_ssh_config(self):
        ports = {running.guest.name: running.port for running in self.guests}
        fresh = self.folder / "ssh_config.new"
        fresh.write_text(plans.ssh_config(self.plan, self.folder, ports))
        fresh.rename(self.folder / "ssh_config")

    def hold_connection(self, running):
        """One connection for all commands: its cost in emulated arithmetic is paid once."""
        name, now = running.guest.name, time.monotonic()
        if running.master and running.master.poll() is None:
            if running.ready_after is None and os.path.exists(f"{self.folder}/{name}.ssh"):
                running.ready_after = now - running.began
                print(f"{name}: ready after {running.ready_after:.1f} s", flush=True)
            return
        if running.retry_at is None:  # no sense in trying before its sshd can be there
            console = self.folder / f"{name}.console"
            if not console.exists() or b"LAB READY" not in console.read_bytes():
                return
            running.retry_at = now
        if now >= running.retry_at:
            running.retry_at = now + 2
            (self.folder / f"{name}.ssh").unlink(missing_ok=True)
            running.master = subprocess.Popen(
                [
                    "setpriv",
                    "--pdeathsig",
                    "KILL",
                    "ssh",
                    "-F",
                    f"{self.folder}/ssh_config",
                    "-M",
                    "-N",
                    "-o",
                    "ConnectTimeout=60",
                    name,
                ],
                stdin=subprocess.DEVNULL,
                stdout=sys.stdout,
                stderr=sys.stderr,
                start_new_session=True,
            )

    def end(self):
        """Guests have nothing to save: their disk is read-only. Every trace goes, last our own folder."""
        children = [p for r in self.guests for p in (r.master, r.process) if p]
        for process in children:
            if process.poll() is None:
                process.kill()
        for process in children:
            process.wait()
        state.sweep(self.folder, self.plan.name)
        for connection in self.waiting_for_end:
            try:
                connection.sendall(b"{}")
            except OSError:
                pass
            connection.close()


def qmp(path, command, arguments):
    """One command to QEMU. ValueError when it refuses."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(5)
        connection.connect(path)
        stream = connection.makefile("rw")
        stream.readline()  # its greeting
        for execute, words in (("qmp_capabilities", {}), (command, arguments)):
            stream.write(json.dumps({"execute": execute, "arguments": words}) + "\n")
            stream.flush()
            answer = {}
            while "return" not in answer and "error" not in answer:  # events come between
                answer = json.loads(stream.readline())
            if "error" in answer:
                raise ValueError(answer["error"].get("desc", "refused"))
        return answer["return"]


def main():
    folder = Path(sys.argv[1])
    keeper = Keeper(folder)

    def stop(*_):
        keeper.ending = True

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    keeper.run()  # what fails here is shown by `up`, from the log


if __name__ == "__main__":
    main()
