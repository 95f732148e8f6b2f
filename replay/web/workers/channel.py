"""A channel between the server and one worker: messages in order, each with a file if it has one.

A connection is handed over as the file of its socket. The channel ends with the process at its
other end, however that process ends.
"""

from __future__ import annotations

import os
import socket
import struct
import threading
from typing import NamedTuple

TASK = b"t"
"""To the worker, once: what it serves, as JSON."""

ASK = b"a"
"""To the worker: send your metrics."""

FIGURES = b"f"
"""From the worker: its metrics, in Prometheus's text format."""

CONNECTION = b"c"
"""From the worker: a connection, with the bytes already read from it."""

_HEAD = struct.Struct(">cI")


class ChannelMessage(NamedTuple):
    """One message. fd: the file that came with it, the receiver's own; None: none came."""

    kind: bytes
    octets: bytes
    fd: int | None


class Channel:
    """One end. Several threads may send, one receives."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._sending = threading.Lock()

    def fileno(self) -> int:
        """The file of this end."""
        return self._end.fileno()

    def send(self, kind: bytes, octets: bytes = b"", fd: int | None = None) -> None:
        """Send one message; the caller closes its file. Raises OSError if the other end is gone."""
        with self._sending:
            head = _HEAD.pack(kind, len(octets))
            socket.send_fds(self._end, [head], [] if fd is None else [fd])
            self._end.sendall(octets)

    def receive(self) -> ChannelMessage | None:
        """The next message; None if the other end has ended, also in the middle of one."""
        try:
            head, files, *_ = socket.recv_fds(self._end, _HEAD.size, 1)
            fd = files[0] if files else None
            kind, size = _HEAD.unpack(head + self._rest(_HEAD.size - len(head)))
            try:
                return ChannelMessage(kind, self._rest(size), fd)
            except OSError:
                if fd is not None:
                    os.close(fd)
                raise
        except OSError:
            return None

    def finish(self) -> None:
        """Send nothing more: the other end receives an end."""
        self._end.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close this end."""
        self._end.close()

    def _rest(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            part = self._end.recv(size)
            if not part:
                raise ConnectionError("the other end has ended")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def pair() -> tuple[Channel, Channel]:
    """Both ends of a new channel."""
    one, other = socket.socketpair()
    return Channel(one), Channel(other)
