"""`round-ledger serve` as users run it: its own process over an embedded database in a folder."""

from __future__ import annotations

import json
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from psycopg import conninfo

from infra.postgres.connection import NAME, create_database
from infra.postgres.server.embedded import embedded
from tests.fixtures.cli import ROOT, START, environ

if TYPE_CHECKING:
    from collections.abc import Iterator


class Served(NamedTuple):
    """A server that answers, and what it runs on."""

    process: subprocess.Popen[bytes]
    port: int


class Place(NamedTuple):
    """A folder with a running embedded server, and the URL of the record in it."""

    home: Path
    url: str


@contextmanager
def place() -> Iterator[Place]:
    """An empty one, gone at the end."""
    with tempfile.TemporaryDirectory(prefix="round-ledger-bench-") as folder:
        home = Path(folder)
        with embedded(home) as server:
            create_database(server, NAME)
            yield Place(home, conninfo.make_conninfo(server, dbname=NAME))


def start(home: Path, port: int = 0, workers: int = 1) -> Served:
    """Start one and wait until it listens: as a user starts it, since it is measured."""
    process = subprocess.Popen(
        [*START, "serve", "--no-views", "--port", str(port), "--workers", str(workers)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environ(home),
        cwd=ROOT,
    )
    assert process.stderr
    line = process.stderr.readline()
    began = json.loads(line)
    if began["event"] != "serving":
        raise SystemExit(f"the server did not start: {line.decode()}")
    # Its log would fill the pipe and stop it.
    threading.Thread(target=process.stderr.read, daemon=True).start()
    return Served(process, began["port"])


@contextmanager
def serving(home: Path, workers: int = 1) -> Iterator[Served]:
    """One that ends with the block."""
    served = start(home, workers=workers)
    try:
        yield served
    finally:
        served.process.terminate()
        served.process.wait(60)
