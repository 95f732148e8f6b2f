"""The command as a user runs it: a real process, against a database of the test's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ledger import wire
from ledger.facts import CardsDealt, WagerPlaced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres import Database

ROOT = Path(__file__).resolve().parents[1]
START = [sys.executable, "-c", "from replay.cli import main; main()"]
T0_US = 1_795_000_000_000_000


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


class Cli(NamedTuple):
    """`round-ledger` with its environment."""

    environ: dict[str, str]

    def __call__(self, *args: str | Path, stdin: bytes = b"") -> Ran:
        done = subprocess.run(
            [*START, *map(str, args)],
            input=stdin,
            capture_output=True,
            env=self.environ,
            cwd=ROOT,
            check=False,
            timeout=120,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *args: str | Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [*START, *map(str, args)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environ,
            cwd=ROOT,
        )


def environ(home: Path, **more: str) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("ROUND_LEDGER_")}
    return kept | {"ROUND_LEDGER_HOME": str(home), "PYTHONWARNINGS": "error", **more}


@pytest.fixture
def plain_cli(tmp_path: Path) -> Cli:
    """The command where no database can be had: whatever needs one says so."""
    url = "postgresql://nobody:secret-word@127.0.0.1:9/none"
    return Cli(environ(tmp_path / "home", ROUND_LEDGER_DATABASE_URL=url))


@pytest.fixture
def cli(tmp_path: Path, database: Database) -> Cli:
    """The command over an empty ledger."""
    return Cli(environ(tmp_path / "home", ROUND_LEDGER_DATABASE_URL=database.url))


def lines(count: int, *, place: str = "CC-07", device: str = "shoe") -> list[bytes]:
    """Facts of one device, as lines of a feed; equal arguments give equal octets."""
    return [
        wire.encode(
            WagerPlaced(position=number % 6 + 1, wager="ante_across", amount=500)
            if number % 2
            else CardsDealt(to="player", position=number % 6 + 1, cards=["As", "Kd"], face="down"),
            f"/hollywood/{place}/{device}",
            f"run1-{number:08d}",
            T0_US + number * 1_000,
            f"{place}/2026-11-20/{number // 40 + 1}",
            sequence=number + 1,
            boot="b1",
        )
        for number in range(count)
    ]


def feed(path: Path, of: Sequence[bytes]) -> Path:
    path.write_bytes(b"".join(line + b"\n" for line in of))
    return path
