#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The lab's own logic, without QEMU: layouts, addresses, shares, command lines, the switch, the image's
parts, the folders of labs. `python3 -B -m unittest lab_test` in this folder."""

import gzip
import io
import os
import shutil
import socket
import struct
import tarfile
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import image
import keeper
import lab
import plan as plans
import state
from errors import LabError
from switch import LONGEST_FRAME, LONGEST_QUEUE, Switch

A, B, EVERYBODY = bytes.fromhex("525400000001"), bytes.fromhex("525400000002"), b"\xff" * 6


def frame(target, source, payload=b"payload"):
    data = target + source + b"\x08\x00" + payload
    return struct.pack(">I", len(data)) + data


def small_plan(**changes):
    values = {
        "name": "lab",
        "layout": [2, 1],
        "cpus": 1,
        "memory_mb": 256,
        "region_mb": 16,
        "mtu": 9000,
        "accelerator": "tcg",
        "image": "/image",
        "shares": [plans.Share("/a/b", True)],
    }
    return plans.Plan(**{**values, **changes})


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = Path(os.path.realpath(tempfile.mkdtemp()))
        self.addCleanup(shutil.rmtree, self.folder)


class Layouts(unittest.TestCase):
    def test_good(self):
        for text, expected in (("2,1", [2, 1]), ("3x2", [2, 2, 2]), ("1", [1])):
            self.assertEqual(plans.parse_layout(text), expected)

    def test_bad_ones_are_named(self):
        for text in ("", "0", "2,,1", "a", "2x", "-1", "1x0", "0x3", "65", "9x9"):
            with self.assertRaisesRegex(LabError, f"layout `{text}`"):
                plans.parse_layout(text)

    def test_guests_and_hosts(self):
        plan = small_plan()
        self.assertEqual(
            [(g.name, g.host) for g in plan.guests], [("vm1", "hostA"), ("vm2", "hostA"), ("vm3", "hostB")]
        )
        self.assertEqual(plans.host_name(27), "hostAB")

    def test_addresses_differ(self):
        guests = small_plan(layout=[2] * 32).guests
        for what in (lambda g: g.address, lambda g: g.mac, lambda g: g.outer_mac):
            self.assertEqual(len({what(guest) for guest in guests}), 64)
        self.assertFalse({g.mac for g in guests} & {g.outer_mac for g in guests})

    def test_regions_belong_to_hosts_labs_and_users(self):
        one, other = small_plan(), small_plan(name="other")
        self.assertEqual(len({p.region(h) for p in (one, other) for h in p.hosts}), 4)
        self.assertIn(f"-{os.getuid()}-", one.region("hostA"))

    def test_plan_survives_its_file(self):
        self.assertEqual(plans.Plan.from_values(small_plan().values()), small_plan())

    def test_limits(self):
        for wrong in (0, 3, 48, -2):
            with self.assertRaisesRegex(LabError, f"{wrong} MB"):
                plans.check_power_of_two(wrong)
        for wrong in ("", "A", "../x", "-a", "a" * 32):
            with self.assertRaises(LabError):
                plans.check_name(wrong)
        with mock.patch("socket.gethostname", return_value="vm2.example"):
            with self.assertRaisesRegex(LabError, "vm2"):
                plans.check_own_name(small_plan().guests)


class Living(unittest.TestCase):
    def test_who_has_died_gets_no_ranks(self):
        plan = small_plan()
        found = {"guests": [{"name": g.name, "failure": None} for g in plan.guests]}
        self.assertEqual([guest.name for guest in lab.living(plan, found)], ["vm1", "vm2", "vm3"])
        with mock.patch.object(lab, "say") as said:
            found["guests"][1]["failure"] = "QEMU ended with -9"
            self.assertEqual([guest.name for guest in lab.living(plan, found)], ["vm1", "vm3"])
            said.assert_called_once_with("vm2 is gone: QEMU ended with -9")
            found["guests"][0]["failure"] = found["guests"][2]["failure"] = "QEMU ended with 1"
            with self.assertRaisesRegex(LabError, "no guest is left"):
                lab.living(plan, found)


class Shares(Folder):
    def test_current_folder_is_writable_and_the_prefix_is_not(self):
        prefix = self.folder / "work/build"
        prefix.mkdir(parents=True)
        found = plans.choose_shares([], str(prefix), str(self.folder / "work"))
        self.assertEqual(
            found, [plans.Share(str(self.folder / "work"), True), plans.Share(str(prefix), False)]
        )

    def test_asked_ones_replace_the_current_folder(self):
        (self.folder / "data").mkdir()
        found = plans.choose_shares([f"{self.folder}/data"], str(self.folder), "/")
        self.assertEqual([share.writable for share in found], [False, False])

    def test_a_system_folder_is_not_shared(self):
        self.assertEqual(plans.choose_shares([], str(self.folder), "/")[0].path, str(self.folder))
        for path in ("/", "/usr", "/etc", "/usr/../proc"):
            with self.assertRaisesRegex(LabError, "has its own"):
                plans.parse_share(path)
        with self.assertRaisesRegex(LabError, "installed in /usr"):
            plans.choose_shares([], "/usr", "/")

    def test_bad_words(self):
        for text in (f"{self.folder}:wr", f"{self.folder}:", f"{self.folder}/missing"):
            with self.assertRaisesRegex(LabError, "share `"):
                plans.parse_share(text)


class Commands(unittest.TestCase):
    def command(self, **changes):
        plan = small_plan(**changes)
        return " ".join(plans.guest_command(plan, plan.guests[1], "/state"))

    def test_region_of_the_host(self):
        self.assertIn(
            f"share=on,size=16M,mem-path={small_plan().region('hostA')} -device ivshmem-plain", self.command()
        )

    def test_nothing_listens_but_on_loopback_and_nothing_goes_out(self):
        self.assertIn("restrict=on", self.command())
        self.assertIn("hostfwd=tcp:127.0.0.1:0-10.78.2.15:22", self.command())

    def test_accelerators(self):
        self.assertIn("-accel tcg,thread=multi -cpu max", self.command())
        self.assertIn("-accel kvm -cpu host", self.command(accelerator="kvm"))

    def test_disk_and_folders_of_the_lab_are_read_only(self):
        words = self.command(shares=[plans.Share("/a", True), plans.Share("/b", False)]).split()
        self.assertIn("if=virtio,format=raw,readonly=on,file=/image/root.squashfs", words)
        readonly = [word for word in words if word.startswith("local,") and word.endswith("readonly=on")]
        self.assertEqual(len(readonly), 2)

    def test_settings(self):
        plan = small_plan()
        text = plans.guest_settings(plan, plan.guests[2])
        self.assertIn("name vm3\nhost hostB\n", text)
        self.assertIn("peer 10.77.0.1 vm1\n", text)
        self.assertIn("share share0 rw /a/b\n", text)


class Image(unittest.TestCase):
    def test_modules_come_after_what_they_need(self):
        depends = "a/one.ko: b/two.ko c/three.ko\nb/two.ko: c/three.ko\nc/three.ko:\nd/lone.ko:\n"
        self.assertEqual(
            image.module_order(depends, ["one", "built_in"]), ["c/three.ko", "b/two.ko", "a/one.ko"]
        )

    def test_archive_is_what_cpio_reads(self):
        data = image.cpio([("folder", 0o040755, b""), ("folder/file", 0o100644, b"12345")])
        self.assertEqual(len(data) % 4, 0)
        self.assertEqual(data[:6], b"070701")
        self.assertEqual(data.count(b"070701"), 3)
        start = data.index(b"folder/file\0")
        self.assertEqual(int(data[start - 110 + 54 : start - 110 + 62], 16), 5)  # the size
        self.assertEqual(data[(start + 12 + 3) // 4 * 4 :][:5], b"12345")

    def test_first_stage_from_a_root(self):
        tar = io.BytesIO()
        with tarfile.open(fileobj=tar, mode="w") as root:
            for name, data in (
                ("./usr/lib/modules/6/modules.dep", b"k/squashfs.ko:\n"),
                ("./usr/bin/busybox", b"box"),
                ("./usr/lib/modules/6/k/squashfs.ko", b"module"),
            ):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                root.addfile(member, io.BytesIO(data))
        tar.seek(0)
        with tarfile.open(fileobj=tar) as root:
            data = gzip.decompress(image.first_stage(root))
        for name in (b"bin/busybox", b"init", b"modules/00-squashfs.ko"):
            self.assertIn(name + b"\0", data)

    def test_missing_tools_are_named_with_their_packages(self):
        with mock.patch("shutil.which", return_value=None):
            with self.assertRaisesRegex(LabError, "mmdebstrap.*scripts/setup lab"):
                image.need_tools()


class Frames(Folder):
    def setUp(self):
        super().setUp()
        self.switch = Switch(str(self.folder / "switch"))
        self.addCleanup(self.switch.listener.close)
        self.guests = [self.connect() for _ in range(3)]

    def connect(self):
        guest = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        guest.connect(str(self.folder / "switch"))
        guest.settimeout(5)
        self.addCleanup(guest.close)
        fd = self.switch.accept()
        self.addCleanup(lambda: fd in self.switch.ports and self.switch.close(fd))
        return guest, fd

    def send(self, number, data):
        self.guests[number][0].sendall(data)
        return self.switch.readable(self.guests[number][1])

    def nothing_at(self, number):
        guest = self.guests[number][0]
        guest.setblocking(False)
        with self.assertRaises(BlockingIOError):
            guest.recv(1)
        guest.settimeout(5)

    def test_unknown_goes_to_all_others_known_to_one(self):
        hello = frame(EVERYBODY, A)
        self.send(0, hello)
        for number in (1, 2):
            self.assertEqual(self.guests[number][0].recv(100), hello)
        answer = frame(A, B)
        self.send(1, answer)
        self.assertEqual(self.guests[0][0].recv(100), answer)
        self.nothing_at(2)

    def test_pieces_become_frames(self):
        data = frame(EVERYBODY, A, b"x" * 100) + frame(EVERYBODY, A, b"y" * 50)
        for position in range(0, len(data), 7):
            self.send(0, data[position : position + 7])
        self.assertEqual(self.guests[1][0].recv(1000), data)
        self.assertEqual(self.switch.frames, 2)

    def test_garbage_closes_the_port_only(self):
        self.assertIsNone(self.send(0, struct.pack(">I", LONGEST_FRAME + 1)))
        self.switch.close(self.guests[0][1])
        self.send(1, frame(EVERYBODY, B))
        self.assertEqual(self.guests[2][0].recv(100), frame(EVERYBODY, B))

    def test_a_guest_that_does_not_read_loses_frames_and_harms_nobody(self):
        self.send(1, frame(EVERYBODY, B))
        self.guests[0][0].recv(100)
        big = frame(B, A, b"z" * 60000)
        for _ in range(LONGEST_QUEUE // 60000 + 100):
            self.send(0, big)
        self.assertGreater(self.switch.dropped, 0)
        self.assertLessEqual(self.switch.ports[self.guests[1][1]].waiting_bytes, LONGEST_QUEUE)
        self.send(2, frame(A, b"\x52" * 6))
        self.assertEqual(self.guests[0][0].recv(100), frame(A, b"\x52" * 6))

    def test_waiting_frames_arrive_whole(self):
        self.send(1, frame(EVERYBODY, B))
        self.guests[0][0].recv(100)
        big, count = frame(B, A, bytes(range(250)) * 100), 200
        for _ in range(count):
            full = self.send(0, big)
        self.assertEqual(full, {self.guests[1][1]})
        got = bytearray()
        reader = threading.Thread(
            target=lambda: [
                got.extend(self.guests[1][0].recv(65536))
                for _ in iter(lambda: len(got) < count * len(big), False)
            ]
        )
        reader.start()
        while not self.switch.writable(self.guests[1][1]):
            pass
        reader.join(5)
        self.assertEqual(bytes(got), big * count)


class States(Folder):
    def setUp(self):
        super().setUp()
        patch = mock.patch.dict(os.environ, {"VICINITY_LAB_DIR": str(self.folder / "labs")})
        patch.start()
        self.addCleanup(patch.stop)

    def test_one_command_at_a_time(self):
        with state.locked("lab"):
            with self.assertRaisesRegex(LabError, "another command"):
                with state.locked("lab"):
                    pass
            with state.locked("other"):
                pass

    def test_a_dead_lab_is_swept_and_its_neighbour_is_not(self):
        for name in ("one", "one-more"):
            folder = state.folder_of(name)
            folder.mkdir()
            (folder / "plan.json").write_text("{}")
        self.assertEqual(state.labs(), ["one", "one-more"])
        region = Path(small_plan(name=f"t{os.getpid()}").region("hostA"))
        neighbour = Path(small_plan(name=f"t{os.getpid()}-x").region("hostA"))
        for path in (region, neighbour):
            path.touch()
            self.addCleanup(path.unlink, missing_ok=True)
        self.assertIsNone(state.ask_keeper(state.folder_of("one"), "status"))
        self.assertTrue(state.sweep(state.folder_of("one"), "one"))
        self.assertTrue(state.sweep(state.folder_of(f"t{os.getpid()}"), f"t{os.getpid()}"))
        self.assertFalse(region.exists())
        self.assertTrue(neighbour.exists())
        self.assertEqual(state.labs(), ["one-more"])
        self.assertFalse(state.sweep(state.folder_of("one"), "one"))

    def test_a_long_path_is_refused_before_sockets_fail(self):
        with mock.patch.dict(os.environ, {"VICINITY_LAB_DIR": str(self.folder / ("x" * 90))}):
            with self.assertRaisesRegex(LabError, "too long"):
                state.folder_of("lab")


class Qmp(Folder):
    def answer(self, *lines):
        path = str(self.folder / "qmp")
        server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.bind(path)
        server.listen(1)
        self.addCleanup(server.close)

        def serve():
            connection, _ = server.accept()
            with connection, connection.makefile("rw") as stream:
                stream.write('{"QMP": {}}\n')
                stream.flush()
                for line in lines:
                    stream.readline()
                    stream.write(line + "\n")
                    stream.flush()

        thread = threading.Thread(target=serve)
        thread.start()
        self.addCleanup(thread.join, 5)
        return path

    def test_events_are_passed_over(self):
        path = self.answer('{"return": {}}', '{"event": "RESUME"}\n{"return": "text"}')
        self.assertEqual(keeper.qmp(path, "human-monitor-command", {}), "text")

    def test_a_refusal_is_an_error(self):
        path = self.answer('{"return": {}}', '{"error": {"desc": "no such command"}}')
        with self.assertRaisesRegex(ValueError, "no such command"):
            keeper.qmp(path, "x", {})


if __name__ == "__main__":
    unittest.main()
