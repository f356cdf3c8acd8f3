# SPDX-License-Identifier: BSD-3-Clause
"""The guests' disk: Debian packages in a read-only squashfs, the kernel, and a first stage (initramfs).

A folder of the cache holds root.squashfs, vmlinuz, initramfs and the stamp of what they were made from; it
appears by one rename, so that it is either complete or not there.
"""

import gzip
import hashlib
import os
import shutil
import stat
import subprocess
import tarfile
from pathlib import Path

from errors import LabError

HERE = Path(__file__).resolve().parent
PACKAGES = """busybox-static kmod iproute2 iputils-ping procps pciutils openssh-server
 rdma-core ibverbs-providers ibverbs-utils libucx0 ucx-utils libhwloc15 libnuma1 libstdc++6
 libopenblas0-pthread python3""".split()
TOOLS = {
    "qemu-system-x86_64": "qemu-system-x86",
    "mmdebstrap": "mmdebstrap",
    "sqfstar": "squashfs-tools",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "setpriv": "util-linux",
}
# What the first stage loads before it has a disk; the rest is loaded by guest/init.
FIRST_MODULES = ["virtio_pci", "virtio_blk", "squashfs", "overlay", "9p", "9pnet_virtio"]
VERSION = "1"  # another one when the same packages are to be packed in another way
FILES = ("root.squashfs", "vmlinuz", "initramfs")


def cache_folder():
    """.cache/lab of the source tree that we run from, else the user's cache."""
    if os.environ.get("VICINITY_LAB_CACHE"):
        return Path(os.environ["VICINITY_LAB_CACHE"]).absolute()
    if (HERE.parent / "CMakeLists.txt").exists():
        return HERE.parent / ".cache/lab"
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "vicinity-lab"


def need_tools(names=TOOLS):
    missing = sorted({TOOLS[name] for name in names if not shutil.which(name)})
    if missing:
        raise LabError(
            f"not installed: {', '.join(missing)}. In the source tree: scripts/setup lab; "
            f"elsewhere: apt-get install {' '.join(missing)}"
        )


def stamp():
    """Names everything that the image is made from, but not the state of the archive on that day."""
    digest = hashlib.sha256(" ".join([VERSION, *PACKAGES, *FIRST_MODULES]).encode())
    for name in ("guest/image-hook", "guest/first-stage"):
        digest.update((HERE / name).read_bytes())
    return digest.hexdigest()[:16]


def apt_sources():
    """deb lines of this machine's bookworm mirrors; Debian's own where it has none."""
    lines = []
    try:
        text = subprocess.run(
            [
                "apt-get",
                "indextargets",
                "--format",
                "$(REPO_URI)|$(CODENAME)|$(COMPONENT)|$(ORIGIN)",
                "Created-By: Packages",
            ],
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        text = ""
    for line in text.splitlines():
        uri, codename, component, origin = line.split("|")[:4]
        wanted = codename.startswith("bookworm") and component == "main" and origin == "Debian"
        if wanted and f"deb {uri} {codename} main" not in lines:
            lines.append(f"deb {uri} {codename} main")
    return lines or [
        "deb http://deb.debian.org/debian bookworm main",
        "deb http://deb.debian.org/debian-security bookworm-security main",
    ]


def cpio(entries):
    """An archive in the kernel's `newc` format of (name, mode, bytes)."""
    out = bytearray()

    def add(inode, name, mode, data):
        fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        out.extend(b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0")
        out.extend(b"\0" * (-len(out) % 4) + data)
        out.extend(b"\0" * (-len(out) % 4))

    for inode, (name, mode, data) in enumerate(entries, 1):
        add(inode, name, mode, data)
    add(0, "TRAILER!!!", 0, b"")
    return bytes(out)


def module_order(depends, wanted):
    """Paths in modules.dep (text) of the wanted modules, what each needs before it."""
    files, needs = {}, {}
    for line in depends.splitlines():
        path, _, rest = line.partition(":")
        files[Path(path).name.split(".")[0].replace("-", "_")] = path
        needs[path] = rest.split()
    order = []

    def visit(path):
        for other in needs.get(path, []):
            visit(other)
        if path not in order:
            order.append(path)

    for name in wanted:
        if name in files:  # else built into the kernel
            visit(files[name])
    return order


def first_stage(root):
    """The initramfs, from an opened tar of the root: busybox, the modules of the disk, guest/first-stage."""

    def content(name):
        return root.extractfile(root.getmember("./" + name)).read()

    depends = next(name for name in root.getnames() if name.endswith("/modules.dep"))
    base = depends.removeprefix("./").rpartition("/")[0]
    order = module_order(content(f"{base}/modules.dep").decode(), FIRST_MODULES)
    entries = [
        (name, stat.S_IFDIR | 0o755, b"")
        for name in ("bin", "dev", "proc", "sys", "modules", "new", "rw", "image")
    ]
    entries.append(("bin/busybox", stat.S_IFREG | 0o755, content("usr/bin/busybox")))
    entries.append(("init", stat.S_IFREG | 0o755, (HERE / "guest/first-stage").read_bytes()))
    for number, path in enumerate(order):
        name = f"modules/{number:02}-{Path(path).name}"
        entries.append((name, stat.S_IFREG | 0o644, content(f"{base}/{path}")))
    return gzip.compress(cpio(entries), 6)


def build(say):
    """Makes the image where the cache has none for this stamp; returns its folder."""
    cache = cache_folder()
    folder = cache / f"image-{stamp()}"
    if all((folder / name).exists() for name in FILES):
        return folder
    need_tools()
    work = cache / f"work-{os.getpid()}"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        fill(work, say)
        for old in cache.glob("image-*"):
            if old != folder:
                shutil.rmtree(old, ignore_errors=True)
        try:
            work.rename(folder)
        except OSError:
            if not (folder / FILES[0]).exists():  # else another lab has just made the same
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return folder


def fill(work, say):
    say("building the guests' image from Debian's packages (once; some minutes)")
    tar, log = work / "root.tar", work / "build.log"
    exclude = [
        f"--dpkgopt=path-exclude={path}"
        for path in ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
    ]
    command = [
        "mmdebstrap",
        "--variant=minbase",
        "--include=" + ",".join(PACKAGES),
        *exclude,
        f"--customize-hook={HERE}/guest/image-hook",
        "--format=tar",
        "bookworm",
        str(tar),
        *apt_sources(),
    ]
    with open(log, "w") as output:
        code = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output).returncode
        if code:
            kept = work.parent / "build.log"
            shutil.copyfile(log, kept)
            tail = "\n".join(kept.read_text(errors="replace").splitlines()[-8:])
            raise LabError(f"mmdebstrap ended with {code}; the end of {kept}:\n{tail}")
        say("compressing it")
        with tarfile.open(tar) as root:
            (work / "initramfs").write_bytes(first_stage(root))
            (work / "vmlinuz").write_bytes(root.extractfile(root.getmember("./boot/vmlinuz")).read())
        with open(tar, "rb") as source:
            code = subprocess.run(
                ["sqfstar", "-comp", "lz4", "-quiet", "-no-progress", str(work / "root.squashfs")],
                stdin=source,
                stdout=output,
                stderr=output,
            ).returncode
        if code:
            raise LabError(f"sqfstar ended with {code} (is the disk of {work} full?)")
    tar.unlink()
