"""`consume --follow` through restarts of PostgreSQL: a server of its own, stopped and killed."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from consumers.registry import VIEWS
from consumers.runtime import following
from consumers.runtime.following import PAUSE_S_MAX, PAUSE_S_MIN, follow_on
from infra.postgres.connection import Database, create_database
from infra.postgres.migrations import migrate
from infra.postgres.server.embedded import embedded, kept_running
from infra.postgres.tape import PostgresTape
from ledger.errors import Unavailable
from tests.fixtures.cli import Cli, environ
from tests.fixtures.postgres import url_of
from tests.scenes.view_feeds import day
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ledger.record.tape import Received


def kill_server(home: Path) -> None:
    os.kill(int((home / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)


def reached(database: Database, position: int) -> Callable[[], bool]:
    def asked() -> bool:
        try:
            with database.connect("ledger_reader") as connection:
                row = connection.execute("SELECT min(position) FROM views.tracking").fetchone()
        except Unavailable:
            return False
        return row == (position,)

    return asked


@pytest.mark.long
def test_views_go_on_after_the_server_was_killed_twice_and_the_log_says_so(
    tmp_path: Path,
) -> None:
    """The server is another process's: nobody but that one starts it again."""
    home = tmp_path / "home"
    facts = day(6)
    third = len(facts) // 3
    with embedded(home) as server, kept_running(home, every_s=0.5):
        create_database(server, "record")
        database = Database(url_of(server, "record"), url_of(server, "record"))
        migrate(database.owner_url)
        cli = Cli(environ(tmp_path / "cli", ROUND_LEDGER_DATABASE_URL=database.url))
        view_process = cli.start("consume", "all", "--follow")
        try:
            with PostgresTape(database) as tape:
                for part in (1, 2, 3):
                    if part > 1:
                        kill_server(home)
                    append(tape, facts[(part - 1) * third : part * third])
                    done = kept_of(facts[: part * third])
                    until(lambda done=done: view_process.poll() or reached(database, done)())
                    assert view_process.poll() is None
            view_process.send_signal(signal.SIGTERM)
            out, err = view_process.communicate(timeout=120)
        finally:
            view_process.kill()
            view_process.communicate()
    assert view_process.returncode == 0, err
    told = [json.loads(line) for line in err.splitlines() if line.startswith(b"{")]
    assert len(told) >= 2
    assert {line["event"] for line in told} == {"PostgreSQL or Kafka does not answer"}
    assert all(PAUSE_S_MIN <= line["again_in_s"] <= PAUSE_S_MAX for line in told)
    assert f"position {done:,}".encode() in err + out


def kept_of(facts: list[Received]) -> int:
    """How many are kept: a device that sends one again gets the answer `duplicate`."""
    return len({(each.source, each.id) for each in facts})


def append(tape: PostgresTape, facts: list[Received]) -> None:
    """Asked again while the server is away."""
    until(lambda: _appended(tape, facts))


def _appended(tape: PostgresTape, facts: list[Received]) -> bool:
    try:
        tape.append(facts)
    except Unavailable:
        return False
    return True


def test_pauses_double_up_to_a_bound_and_a_stop_ends_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(following, "_wait", lambda _pause_s, _stop: None)
    nowhere = "postgresql://nobody@127.0.0.1:9/none"
    reached = follow_on(
        Database(nowhere, nowhere),
        VIEWS,
        progress=lambda _name, _position: None,
        stop=lambda: len(pauses) >= 10,
        lost=lambda _error, pause_s: pauses.append(pause_s),
    )
    assert reached is None
    assert pauses[:3] == [0.1, 0.2, 0.4]
    assert pauses[-1] == PAUSE_S_MAX == max(pauses)


def test_a_pause_ends_soon_after_stop() -> None:
    began = time.monotonic()
    following._wait(30, lambda: time.monotonic() > began + 0.2)
    assert time.monotonic() < began + 29
