"""`round-ledger` on the PATH of a page's shell, forked by the tests' server: starting is dear.

The program on the PATH sends its arguments, folder, settings and streams here, and ends as the
forked command does. What a page sets besides settings of Round Ledger does not reach the command.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from tests.processes.command_server import STARTED_WITH, started

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

_CLIENT = """#!{python} -IS
import json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({address!r})
settings = {{name: text for name, text in os.environ.items() if name.startswith("ROUND_LEDGER_")}}
asked = json.dumps({{"args": sys.argv[1:], "cwd": os.getcwd(), "settings": settings}}).encode()
socket.send_fds(server, [len(asked).to_bytes(4, "big")], [0, 1, 2])
server.sendall(asked)
for each in (signal.SIGTERM, signal.SIGINT):
    signal.signal(each, lambda number, _: server.sendall(bytes([number])))
told = server.recv(4)
code = int.from_bytes(told, "big", signed=True) if told else 255
sys.exit(code if code >= 0 else 128 - code)
"""


@contextmanager
def command_on_path(folder: Path) -> Iterator[None]:
    """A folder with `round-ledger` in it, for as long as the block lasts."""
    folder.mkdir()
    address = str(folder / ".socket")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        program = folder / "round-ledger"
        program.write_text(_CLIENT.format(python=sys.executable, address=address))
        program.chmod(0o755)
        threading.Thread(target=_accept, args=(listener,), daemon=True).start()
        yield
        listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket) -> None:
    with suppress(OSError):  # it is closed at the end
        while True:
            threading.Thread(target=_serve, args=(listener.accept()[0],), daemon=True).start()


def _serve(client: socket.socket) -> None:
    """Run one command to its end, and hand signals on to it."""
    with client:
        head, files, _, _ = socket.recv_fds(client, 4, 3)
        octets = b""
        while len(octets) < int.from_bytes(head, "big"):
            octets += client.recv(65536)
        asked = json.loads(octets)
        apart = {n: t for n, t in STARTED_WITH.items() if not n.startswith("ROUND_LEDGER_")}
        streams = dict(zip(("stdin", "stdout", "stderr"), files, strict=True))
        try:
            process = started(asked["args"], apart | asked["settings"], asked["cwd"], **streams)
        finally:
            for each in files:
                os.close(each)
        threading.Thread(target=_signals, args=(client, process), daemon=True).start()
        try:
            code = process.wait()
            with suppress(OSError):
                client.sendall(code.to_bytes(4, "big", signed=True))
        finally:  # also where the server that forks has died: the page's shell must not wait
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)


def _signals(client: socket.socket, process: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        while number := client.recv(1):
            process.send_signal(signal.Signals(number[0]))
