"""A TCP proxy between a test and PostgreSQL that can lose what a network can lose.

`proxy` listens on 127.0.0.1 and passes everything on, until it is told otherwise.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING, Literal

import pytest
from psycopg import conninfo

if TYPE_CHECKING:
    from collections.abc import Iterator

Fault = Literal["none", "swallow the reply", "swallow and hold", "lose the request"]


class Proxy:
    """Passes octets on; `fault` is done to the next request, once."""

    def __init__(self, server_url: str) -> None:
        at = conninfo.conninfo_to_dict(server_url)
        self._server = f"{at['host']}/.s.PGSQL.5432"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.05)
        self._closing = threading.Event()
        self.port = self._listener.getsockname()[1]
        self.fault: Fault = "none"
        self.only = b""  # done to the next request that holds these octets
        self.faults_done = 0
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def url(self, name: str) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{name}?sslmode=disable"

    def close(self) -> None:
        self._closing.set()
        for one in self._open:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        for thread in self._threads:
            thread.join(5)
        self._listener.close()

    def _accept(self) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._open += [client, server]
                thread = threading.Thread(target=self._pass, args=(client, server), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _pass(self, client: socket.socket, server: socket.socket) -> None:
        """Requests one way here, replies the other way in a thread."""
        swallowing = threading.Event()
        back = threading.Thread(target=self._reply, args=(client, server, swallowing), daemon=True)
        back.start()
        with contextlib.suppress(OSError):
            while octets := client.recv(65_536):
                if self.fault == "lose the request" and self.only in octets:
                    self.fault, self.faults_done = "none", self.faults_done + 1
                    break
                if self.fault != "none" and self.only in octets:
                    swallowing.set()
                server.sendall(octets)
            server.shutdown(socket.SHUT_RDWR)
            client.shutdown(socket.SHUT_RDWR)
        back.join(5)

    def _reply(
        self, client: socket.socket, server: socket.socket, swallowing: threading.Event
    ) -> None:
        with contextlib.suppress(OSError):
            while octets := server.recv(65_536):
                if not swallowing.is_set():
                    client.sendall(octets)
                    continue
                fault, self.fault = self.fault, "none"
                if fault != "none":
                    self.faults_done += 1
                if fault == "swallow the reply":
                    client.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def proxy(postgres_url: str) -> Iterator[Proxy]:
    between = Proxy(postgres_url)
    try:
        yield between
    finally:
        between.close()
