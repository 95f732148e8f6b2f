"""A server that answers byte by byte, for as long as its answer is."""

from __future__ import annotations

import socketserver
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OCTET_S = 0.1
"""The pause after each byte, seconds."""


@contextmanager
def dripping(answer: bytes) -> Iterator[str]:
    """The address of a server that answers every request so."""
    done = threading.Event()

    class Drips(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                for octet in answer:
                    self.request.sendall(bytes([octet]))
                    if done.wait(OCTET_S):
                        return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Drips) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            done.set()
            server.shutdown()
            thread.join()
