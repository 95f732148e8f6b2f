"""Open-loop HTTP load from one thread: a request leaves when it is due, even while others wait.

Latency counts from the moment a request was due, so that a server that stalls is charged for every
request it kept waiting. Each connection stands for one device, which sends in order.
"""

from __future__ import annotations

import select
import socket
import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

PATIENCE_S = 30.0
"""How long answers are waited for after the last request was due."""


class Request(NamedTuple):
    """What a device is to send, and when, seconds from the start. All due at 0: closed loop."""

    due_s: float
    device: int
    octets: bytes


class Answer(NamedTuple):
    """What came back, and how long after its request was due."""

    took_s: float
    status: int
    body: bytes


class _Device:
    """A kept-alive connection: one request under way, those due behind it in a queue."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.due: deque[Request] = deque()
        self._came = b""

    def fileno(self) -> int:
        return self.socket.fileno()

    def send(self) -> None:
        self.socket.sendall(self.due[0].octets)

    def receive(self) -> tuple[int, bytes] | None:
        """Status and body, once all of it came. Raises ConnectionError where it will not."""
        part = self.socket.recv(1 << 16)
        if not part:
            raise ConnectionError("the server closed a connection with a request under way")
        self._came += part
        head, end, body = self._came.partition(b"\r\n\r\n")
        if not end:
            return None
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        if len(body) < length:
            return None
        self._came = b""
        return int(head[9:12]), body


def run(port: int, requests: Sequence[Request]) -> tuple[float, list[Answer]]:
    """Send all, ordered by due time; seconds to the last answer, and the answers.

    A request not answered within PATIENCE_S is missing from them.
    """
    devices = [_Device(port) for _ in range(1 + max(one.device for one in requests))]
    try:
        return _run(devices, deque(requests), requests[-1].due_s + PATIENCE_S)
    finally:
        for device in devices:
            device.socket.close()


def _run(
    devices: Sequence[_Device], coming: deque[Request], end_s: float
) -> tuple[float, list[Answer]]:
    answers: list[Answer] = []
    waiting: set[_Device] = set()
    began = time.perf_counter()
    while (coming or waiting) and (now := time.perf_counter() - began) < end_s:
        while coming and coming[0].due_s <= now:
            device = devices[coming[0].device]
            device.due.append(coming.popleft())
            if device not in waiting:
                waiting.add(device)
                device.send()
        next_s = coming[0].due_s if coming else end_s
        until_s = max(0.0, next_s - (time.perf_counter() - began))
        for device in select.select(waiting, (), (), until_s)[0]:
            if (answer := device.receive()) is None:
                continue
            due_s = device.due.popleft().due_s
            answers.append(Answer(time.perf_counter() - began - due_s, *answer))
            if device.due:
                device.send()
            else:
                waiting.remove(device)
    return time.perf_counter() - began, answers
