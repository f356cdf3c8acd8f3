# SPDX-License-Identifier: BSD-3-Clause
"""The Ethernet switch between guests, for QEMU's `-netdev stream` over a unix socket.

Each frame comes and goes as its length (4 bytes, big-endian) and its bytes. The switch learns which address
is behind which connection, sends a frame only there, and to everybody where it does not know. What a guest
does not fetch waits in a queue; beyond LONGEST_QUEUE bytes frames for it are dropped and counted.
"""

import os
import socket
import struct
from collections import deque

LONGEST_FRAME = 65536 + 64
LONGEST_QUEUE = 32 << 20
READ = 256 << 10


class Port:
    """One guest's connection: what it has sent of an unfinished frame, what waits to be sent to it."""

    def __init__(self, connection):
        self.connection = connection
        self.received = bytearray()
        self.waiting = deque()
        self.waiting_bytes = 0

    def frames(self):
        """Takes the complete frames, each with its length before it, out of what was received."""
        out, position, data = [], 0, self.received
        while len(data) - position >= 4:
            length = struct.unpack_from(">I", data, position)[0]
            if length > LONGEST_FRAME:
                raise ValueError(f"a frame of {length} bytes")
            if len(data) - position < 4 + length:
                break
            out.append(bytes(data[position : position + 4 + length]))
            position += 4 + length
        del data[:position]
        return out


class Switch:
    def __init__(self, path):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self.listener.bind(path)
        os.chmod(path, 0o600)
        self.listener.listen(64)
        self.listener.setblocking(False)
        self.ports = {}  # by descriptor
        self.places = {}  # MAC address -> Port
        self.frames = self.bytes = self.dropped = 0

    def accept(self):
        """The descriptor of a new connection."""
        connection, _ = self.listener.accept()
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        self.ports[connection.fileno()] = Port(connection)
        return connection.fileno()

    def close(self, fd):
        port = self.ports.pop(fd)
        self.places = {mac: place for mac, place in self.places.items() if place is not port}
        port.connection.close()

    def readable(self, fd):
        """Moves on what the guest has sent. Returns the descriptors whose queue is not empty, or None when
        the guest has gone."""
        port = self.ports[fd]
        try:
            data = port.connection.recv(READ)
        except BlockingIOError:
            return set()
        except OSError:
            return None
        if not data:
            return None
        port.received += data
        try:
            frames = port.frames()
        except ValueError:
            return None
        batches = {}
        for frame in frames:
            self.frames += 1
            self.bytes += len(frame) - 4
            source, target = frame[10:16], frame[4:10]
            if len(frame) < 18:
                continue
            self.places[source] = port
            known = None if target[0] & 1 else self.places.get(target)
            for place in [known] if known else self.ports.values():
                if place is not port:
                    batches.setdefault(place, []).append(frame)
        for place, batch in batches.items():
            self.queue(place, batch)
        return {place.connection.fileno() for place in batches if place.waiting}

    def queue(self, port, frames):
        data = b"".join(frames)
        if port.waiting_bytes + len(data) > LONGEST_QUEUE:
            self.dropped += len(frames)
            return
        port.waiting.append(memoryview(data))
        port.waiting_bytes += len(data)
        self.writable(port.connection.fileno())

    def writable(self, fd):
        """Sends what waits, as far as the guest takes it. True when nothing waits any more."""
        port = self.ports[fd]
        while port.waiting:
            try:
                sent = port.connection.send(port.waiting[0])
            except BlockingIOError:
                return False
            except OSError:
                port.waiting.clear()  # the reading side will notice
                port.waiting_bytes = 0
                break
            port.waiting_bytes -= sent
            if sent < len(port.waiting[0]):
                port.waiting[0] = port.waiting[0][sent:]
            else:
                port.waiting.popleft()
        return True
