# SPDX-License-Identifier: BSD-3-Clause
"""What a lab consists of, as plain values: hosts, guests, addresses, shares, QEMU's command lines.
No side effects.

Addresses: guest number i (from 1) is 10.77.0.i in the lab's network (lab0, behind our switch, with
Soft-RoCE), and 10.78.i.15 in QEMU's user-mode network (mgmt0), through which ssh comes from outside.
"""

import os
import re
import socket
from dataclasses import asdict, dataclass, field

from errors import LabError

MOST_GUESTS = 64
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")
# A share there would hide what the guest itself needs.
OWN_FOLDERS = {"/", "/usr/bin", "/usr/lib", "/usr/sbin", "/usr/share"} | {
    f"/{name}" for name in "bin boot dev etc home lab lib lib64 proc root run sbin sys tmp usr var".split()
}


@dataclass
class Guest:
    name: str
    host: str
    number: int  # from 1

    @property
    def address(self):
        return f"10.77.0.{self.number}"

    @property
    def mac(self):
        return f"52:54:00:4c:00:{self.number:02x}"

    @property
    def outer_mac(self):
        return f"52:54:00:4c:01:{self.number:02x}"


@dataclass
class Share:
    path: str
    writable: bool


@dataclass
class Plan:
    name: str
    layout: list  # guests of each host
    cpus: int
    memory_mb: int
    region_mb: int
    mtu: int
    accelerator: str  # "kvm" or "tcg"
    image: str
    shares: list = field(default_factory=list)

    @property
    def hosts(self):
        return [host_name(index) for index in range(len(self.layout))]

    @property
    def guests(self):
        out = []
        for host, count in zip(self.hosts, self.layout):
            out += [Guest(f"vm{len(out) + i + 1}", host, len(out) + i + 1) for i in range(count)]
        return out

    def region(self, host):
        """The memory that a host shares between its guests: a file of the shared-memory file system."""
        return f"/dev/shm/vicinity-lab-{os.getuid()}-{self.name}-{host}"

    def values(self):
        return asdict(self)

    @staticmethod
    def from_values(values):
        return Plan(**{**values, "shares": [Share(**share) for share in values["shares"]]})


def host_name(index):
    letters = ""
    while True:
        letters = chr(ord("A") + index % 26) + letters
        index = index // 26 - 1
        if index < 0:
            return "host" + letters


def parse_layout(text):
    """ "2,1": two guests on hostA, one on hostB; "3x2": three hosts with two guests each."""
    repeated = re.fullmatch(r"(\d+)x(\d+)", text)
    try:
        counts = [int(repeated[2])] * int(repeated[1]) if repeated else [int(n) for n in text.split(",")]
    except ValueError:
        counts = []
    if not counts or min(counts) < 1:
        raise LabError(
            f"layout `{text}` is not one: 2,1 is two guests on hostA and one on hostB, "
            "3x2 is three hosts with two guests each"
        )
    if sum(counts) > MOST_GUESTS:
        raise LabError(f"layout `{text}` has {sum(counts)} guests; {MOST_GUESTS} is the most")
    return counts


def parse_share(text):
    """ "FOLDER" read-only, "FOLDER:rw" writable; the guest sees it under the same path."""
    path, colon, mode = text.partition(":")
    if mode not in ("", "rw", "ro") or (colon and not mode):
        raise LabError(f"share `{text}`: after the colon comes rw or ro")
    path = os.path.realpath(path)
    if not os.path.isdir(path):
        raise LabError(f"share `{text}`: there is no folder {path}")
    if "," in path:
        raise LabError(f"share `{text}`: QEMU takes no folder with a comma in its name")
    if path in OWN_FOLDERS:
        raise LabError(f"share `{text}`: the guest has its own {path}; share a folder below it")
    return Share(path, mode == "rw")


def choose_shares(asked, prefix, current):
    """What was asked for, else the current folder; and always our own prefix, all outermost first."""
    shares = [parse_share(text) for text in asked]
    if not shares and os.path.realpath(current) not in OWN_FOLDERS:
        shares = [parse_share(current + ":rw")]
    chosen = {share.path: share for share in shares}
    prefix = os.path.realpath(prefix)
    if prefix in OWN_FOLDERS:
        raise LabError(
            f"Vicinity MPI is installed in {prefix}, which cannot be shown to a guest; install it into a "
            "folder of its own (cmake --install build --prefix FOLDER) and use bin/vicinity there"
        )
    chosen.setdefault(prefix, Share(prefix, False))
    return sorted(chosen.values(), key=lambda share: share.path.count("/"))


def check_name(name):
    if not NAME.fullmatch(name):
        raise LabError(f"lab name `{name}`: use up to 31 of a-z, 0-9 and -, not beginning with -")
    return name


def check_power_of_two(megabytes):
    if megabytes < 1 or megabytes & (megabytes - 1):
        raise LabError(
            f"region of {megabytes} MB: its size must be a power of two, because a PCI device shows it"
        )
    return megabytes


def check_own_name(guests):
    own = socket.gethostname().split(".")[0]
    if own in [guest.name for guest in guests]:
        raise LabError(
            f"this machine is itself called {own}, like a guest of the lab: mpiexec would start that "
            "guest's ranks here. Give it another host name"
        )


def machine_arguments(plan):
    accelerator = ["-accel", "tcg,thread=multi"] if plan.accelerator == "tcg" else ["-accel", "kvm"]
    cpu = "max" if plan.accelerator == "tcg" else "host"
    return [
        "qemu-system-x86_64",
        "-nodefaults",
        "-no-user-config",
        "-no-reboot",
        "-display",
        "none",
        "-machine",
        "pc,usb=off,dump-guest-core=off",
        *accelerator,
        "-cpu",
        cpu,
    ]


def boot_arguments(image, words):
    # no_timer_check: on a busy machine an emulated timer ticks too late for Linux, which then panics.
    return [
        "-kernel",
        f"{image}/vmlinuz",
        "-initrd",
        f"{image}/initramfs",
        "-append",
        f"console=ttyS0 quiet panic=-1 net.ifnames=0 mitigations=off no_timer_check {words}",
    ]


def probe_command(image, accelerator):
    """A guest that says LAB PROBE and goes: does this way of running guests work here at all?"""
    plan = Plan("probe", [1], 1, 256, 1, 1500, accelerator, image)
    return [
        *machine_arguments(plan),
        "-smp",
        "1",
        "-m",
        "256",
        "-serial",
        "stdio",
        *boot_arguments(image, "lab.probe"),
    ]


def guest_command(plan, guest, state):
    """QEMU for one guest. `state` is the lab's folder; files there are described in README.md."""
    region = (
        f"memory-backend-file,id=region,share=on,size={plan.region_mb}M,"
        f"mem-path={plan.region(guest.host)}"
    )
    outer = (
        f"user,id=mgmt,restrict=on,ipv6=off,net=10.78.{guest.number}.0/24,host=10.78.{guest.number}.2,"
        f"hostfwd=tcp:127.0.0.1:0-10.78.{guest.number}.15:22"
    )
    command = [
        *machine_arguments(plan),
        "-name",
        f"{plan.name}-{guest.name}",
        "-smp",
        str(plan.cpus),
        "-m",
        str(plan.memory_mb),
        "-chardev",
        f"file,id=console,path={state}/{guest.name}.console",
        "-serial",
        "chardev:console",
        "-qmp",
        f"unix:{state}/{guest.name}.qmp,server=on,wait=off",
        "-drive",
        f"if=virtio,format=raw,readonly=on,file={plan.image}/root.squashfs",
        "-object",
        region,
        "-device",
        "ivshmem-plain,memdev=region",
        "-netdev",
        f"stream,id=lab,server=off,addr.type=unix,addr.path={state}/switch",
        "-device",
        f"virtio-net-pci,netdev=lab,mac={guest.mac},host_mtu={plan.mtu},romfile=",
        "-netdev",
        outer,
        "-device",
        f"virtio-net-pci,netdev=mgmt,mac={guest.outer_mac},romfile=",
        "-device",
        "virtio-rng-pci",
        "-virtfs",
        f"local,path={state}/{guest.name},mount_tag=lab,security_model=none,readonly=on",
    ]
    for number, share in enumerate(plan.shares):
        mode = "" if share.writable else ",readonly=on"
        command += [
            "-virtfs",
            f"local,path={share.path},mount_tag=share{number},security_model=none,multidevs=remap" + mode,
        ]
    return command + boot_arguments(plan.image, f"lab.name={guest.name}")


def guest_settings(plan, guest):
    """Text of /lab/settings, which guest/init reads: one word and its values a line."""
    lines = [
        f"name {guest.name}",
        f"host {guest.host}",
        f"network lab0 {guest.address}/24 {guest.mac}",
        f"network mgmt0 10.78.{guest.number}.15/24 {guest.outer_mac}",
    ]
    lines += [f"peer {other.address} {other.name}" for other in plan.guests]
    lines += [
        f"share share{number} {'rw' if share.writable else 'ro'} {share.path}"
        for number, share in enumerate(plan.shares)
    ]
    return "\n".join(lines) + "\n"


def ssh_config(plan, state, ports):
    """For ssh -F: each guest by its name, through the connection that the keeper holds open."""
    out = []
    for guest in plan.guests:
        out.append(f"""Host {guest.name}
  HostName 127.0.0.1
  Port {ports[guest.name]}
  HostKeyAlias {guest.name}
  ControlPath {state}/{guest.name}.ssh
""")
    return "".join(out) + f"""Host *
  User root
  IdentityFile {state}/key
  IdentitiesOnly yes
  UserKnownHostsFile {state}/known_hosts
  GlobalKnownHostsFile none
  StrictHostKeyChecking yes
  PasswordAuthentication no
  ControlMaster no
  ServerAliveInterval 30
  ServerAliveCountMax 10
  LogLevel ERROR
  Ciphers aes128-gcm@openssh.com
"""
