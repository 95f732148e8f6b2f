"""The backup drill: taken while facts come, the server lost, restored, filled up, proven equal."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import conninfo, sql

from infra.kafka import topics
from infra.postgres.tape import PostgresTape
from ledger.record.verify import heads_to_json
from tests.fixtures.cli import Cli, environ
from tests.fixtures.kafka import reached
from tests.fixtures.postgres import fact, new_name, url_of
from tests.scenes.feeding import PLACES, once
from tests.scenes.publishing import position
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database


@contextmanager
def appending(database: Database) -> Iterator[list[int]]:
    count = [0]
    done = threading.Event()

    def append() -> None:
        with PostgresTape(database) as tape:
            while not done.wait(0.01):
                first = count[0]
                numbers = range(first, first + 20)
                tape.append([fact(n, place=PLACES[n % len(PLACES)]) for n in numbers])
                count[0] += 20

    thread = threading.Thread(target=append)
    thread.start()
    try:
        yield count
    finally:
        done.set()
        thread.join()


def lose(server_url: str, database: Database) -> None:
    """Drop the database: what a burnt server leaves."""
    name = str(conninfo.conninfo_to_dict(database.url)["dbname"])
    with psycopg.connect(server_url, autocommit=True) as connection:
        drop = sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name))
        connection.execute(drop)


def cli_of(url: str, kafka: Connection, home: Path) -> Cli:
    return Cli(environ(home, ROUND_LEDGER_DATABASE_URL=url, **reached(kafka)))


@pytest.mark.long
@pytest.mark.parametrize("filled", [True, False])
def test_a_backup_and_the_feed_bring_back_every_fact_and_the_backup_alone_does_not(
    database: Database, kafka: Connection, postgres_url: str, tmp_path: Path, *, filled: bool
) -> None:
    cli = cli_of(database.url, kafka, tmp_path / "home")
    with appending(database) as count, cli.start("relay") as relay:
        until(lambda: position(database, topics.FACTS))
        assert cli("backup", tmp_path / "backup").code == 0
        beyond = position(database, topics.FACTS)
        until(lambda: position(database, topics.FACTS) > beyond)
        relay.terminate()
        assert relay.wait(120) == 0
    once(database, kafka)
    with PostgresTape(database) as tape:
        (tmp_path / "heads").write_text("\n".join(heads_to_json(tape.heads())))
    lose(postgres_url, database)

    name = new_name()
    bare = cli_of(url_of(postgres_url, "postgres"), kafka, tmp_path / "home")
    restored = bare("restore", tmp_path / "backup", "--into", name)
    assert restored.code == 0, restored.err
    again = cli_of(url_of(postgres_url, name), kafka, tmp_path / "home")
    assert again("verify", "--head", tmp_path / "heads").code == 1, "it lacks what came after"
    if not filled:
        assert again("relay", "--once").code == 2, "and publishes nothing so"
        return
    put_back = again("relay", "refill", "--json")
    assert put_back.code == 0, put_back.err
    assert put_back.json[0]["last"] == count[0]
    assert again("verify", "--head", tmp_path / "heads").code == 0
    assert again("relay", "--once").code == 0
    checked = again("relay", "verify", "--json")
    assert (checked.code, checked.json[-1]["facts"]) == (0, count[0])
