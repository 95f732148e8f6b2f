"""A link between two programs that goes dead without a word: a black hole, half open.

What was connected when it went dead stays connected and is never heard again, as where a router
forgot the connection; what connects later is let through once the link is whole.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

Dead = Literal["none", "both ways", "answers"]


class Link:
    """Passes octets on from `port` to a server's port, both on this machine."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._dead: Dead = "none"
        self._open: list[_Pair] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def die(self, how: Dead) -> None:
        """Let nothing through any more: at all, or of what the server answers."""
        self._dead = how
        for pair in self._open:
            pair.dead = how

    def heal(self) -> None:
        """Let through what connects from here on."""
        self._dead = "none"

    @property
    def lost(self) -> int:
        """Octets that went into the black hole."""
        return sum(pair.lost for pair in self._open)

    def close(self) -> None:
        self._listener.close()
        for pair in self._open:
            pair.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._open.append(_Pair(client, self._server_port, self._dead))


class _Pair:
    """One connection and its other half."""

    def __init__(self, client: socket.socket, server_port: int, dead: Dead) -> None:
        self.dead: Dead = dead
        self.lost = 0
        self._client = client
        self._server = socket.socket()
        with contextlib.suppress(OSError):
            self._server.connect(("127.0.0.1", server_port))
        ways = (
            (client, self._server, ("both ways",)),
            (self._server, client, ("both ways", "answers")),
        )
        for of, to, dead_when in ways:
            threading.Thread(target=self._pass, args=(of, to, dead_when), daemon=True).start()

    def _pass(self, of: socket.socket, to: socket.socket, dead_when: tuple[Dead, ...]) -> None:
        with contextlib.suppress(OSError):
            while octets := of.recv(65_536):
                if self.dead in dead_when:
                    self.lost += len(octets)
                else:
                    to.sendall(octets)
        if self.dead == "none":  # an end is not heard of through a dead link either
            self.close()

    def close(self) -> None:
        for one in (self._client, self._server):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@contextlib.contextmanager
def link(server_port: int) -> Iterator[Link]:
    """A link to a server's port."""
    made = Link(server_port)
    try:
        yield made
    finally:
        made.close()
