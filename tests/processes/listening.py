"""A port of this machine to which nobody should come."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Listening:
    """A port, and how often somebody came to it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/segment.ts"
        self.came = 0

    def strangers(self) -> int:
        """How often somebody came. Asked by coming last, since who comes is served in turn."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=120) as knock:
            assert knock.recv(8)
        self.came -= 1
        return self.came


@contextmanager
def listen() -> Iterator[Listening]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        found, stop = Listening(server.getsockname()[1]), threading.Event()

        def answer() -> None:
            while not stop.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                found.came += 1
                connection.sendall(b"HTTP/1.0 404 Not Found\r\n\r\n")
                connection.close()

        thread = threading.Thread(target=answer)
        thread.start()
        yield found
        stop.set()
        thread.join()
