"""A worker: a process that receives facts at the server's port, with a committer of its own.

It shares the listening socket. It ends when the server stops it, or has ended.
"""

from __future__ import annotations

import os
import queue
import signal
import socket
import threading
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import uvicorn

from infra.access.connections import AccessDatabase
from infra.access.keys import Keys
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.record.group_commit import Committer
from replay.shell.logs import LOG, log_to_stderr
from replay.web.access.device_keys import Keyring
from replay.web.app import build
from replay.web.server import config
from replay.web.workers.channel import ASK, CONNECTION, FIGURES, Channel
from replay.web.workers.handing import HandingProtocol
from replay.web.workers.task import Task

if TYPE_CHECKING:
    from collections.abc import Callable

HANDED_MAX = 500
"""The most connections that wait to be handed over; a further one is closed."""


class _Outgoing(NamedTuple):
    kind: bytes
    octets: bytes
    fd: int | None = None


class _Outbox:
    """What a worker sends, by a thread: the server may be slow to read, and facts do not wait."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._waiting: queue.Queue[_Outgoing] = queue.Queue(HANDED_MAX)
        threading.Thread(target=self._send, name="outbox", daemon=True).start()

    def hand(self, fd: int, octets: bytes) -> bool:
        """Hand a connection over; False if too many wait."""
        try:
            self._waiting.put_nowait(_Outgoing(CONNECTION, octets, fd))
        except queue.Full:
            return False
        return True

    def tell(self, figures: bytes) -> None:
        """Send metrics."""
        self._waiting.put(_Outgoing(FIGURES, figures))

    def _send(self) -> None:
        while True:
            each = self._waiting.get()
            with suppress(OSError):  # the server has ended, and this process is ending
                self._channel.send(*each)
            if each.fd is not None:
                os.close(each.fd)


class _Server(uvicorn.Server):
    """Serves until the server at the channel's other end stops it or ends."""

    def __init__(self, given: uvicorn.Config, number: int) -> None:
        super().__init__(given)
        self._number = number

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve, and say so."""
        await super().startup(sockets)
        figures = {"worker": self._number, "pid": os.getpid()}
        LOG.info("a worker receives facts", extra={"figures": figures})

    def hear(self, channel: Channel, outbox: _Outbox, page: Callable[[], bytes]) -> None:
        """In a thread: answer the server's questions; its end is the order to stop."""
        while (message := channel.receive()) is not None:
            if message.kind == ASK:
                outbox.tell(page())
        self.should_exit = True


def run(listener: socket.socket, channel: Channel) -> None:
    """Receive facts until stopped; what was accepted is committed first."""
    message = channel.receive()
    if message is None:
        return
    task = msgspec.json.decode(message.octets, type=Task)
    database = Database(task.url, task.owner_url)
    with (
        PostgresTape(database) as tape,
        Committer(tape) as committer,
        closing(AccessDatabase(database)) as access,
    ):
        keys = Keyring(Keys(access))
        web = build(tape, committer, hosts=task.hosts, keys=keys, quota=task.quota)
        if task.secure:
            web.serve_over_tls()
        outbox = _Outbox(channel)
        server = _Server(config(web, partial(HandingProtocol, hand=outbox.hand)), task.number)
        threading.Thread(
            target=server.hear,
            args=(channel, outbox, web.metrics.requests.page),
            name="server",
            daemon=True,
        ).start()
        server.run(sockets=[listener])


def main(listener_fd: int, channel_fd: int) -> None:
    """The process. Signals make it finish as the server does; it ends by no signal itself."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    log_to_stderr()
    run(socket.socket(fileno=listener_fd), Channel(socket.socket(fileno=channel_fd)))
