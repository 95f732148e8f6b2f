"""A standby that streamed, was cut off, and was promoted without the record's end.

Everything is a real process: two PostgreSQL servers, Apache Kafka, the commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from consumers.alerts.process import AlertService
from consumers.registry import VIEWS, install
from consumers.runtime.lifecycle import catch_up, rebuild
from infra.kafka import topics
from infra.kafka.feed_source import feed_source
from infra.kafka.merging import Figures
from infra.kafka.reader import reader
from infra.postgres import relay_progress
from infra.postgres.alerts import Alerts
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import tape_source
from infra.settings import load
from ledger.record.verify import heads_to_json
from tests.fixtures.cli import Cli, environ
from tests.fixtures.kafka import reached
from tests.fixtures.postgres_pair import wait_for
from tests.scenes.view_feeds import day, dumped
from tests.until import until

if TYPE_CHECKING:
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database
    from ledger.record.tape import Received
    from tests.fixtures.postgres_pair import Postgres

PARTS = 400
YES = True


def cli_of(server: Postgres, kafka: Connection, home: Path) -> Cli:
    url = server.database.url
    return Cli(environ(home, ROUND_LEDGER_DATABASE_URL=url, **reached(kafka)))


def append(database: Database, facts: list[Received]) -> None:
    with PostgresTape(database) as tape:
        for at in range(0, len(facts), PARTS):
            tape.append(facts[at : at + PARTS])


def published(database: Database) -> None:
    """Wait until the relay has everything acknowledged."""
    with PostgresTape(database) as tape:
        tip = tape.counters().appended
    until(
        lambda: (
            {e.topic: e.position for e in relay_progress.tracked(database)}.get(topics.FACTS) == tip
        )
    )


def cut_off(standby: Postgres, primary: Postgres) -> None:
    """Let the standby have everything up to now, and nothing from here on."""
    lsn = primary.ask("SELECT pg_current_wal_lsn()")
    wait_for(f"SELECT coalesce(pg_last_wal_replay_lsn() >= '{lsn}', false)", standby, YES)
    standby.ask("ALTER SYSTEM SET primary_conninfo = ''")
    standby.ask("SELECT pg_reload_conf()")
    wait_for("SELECT count(*) FROM pg_stat_wal_receiver", standby, 0)


def alarmed(database: Database) -> list[str]:
    """What `consume alerts` has raised of the relay, though no broker need answer it."""
    install(database)
    given = load({})
    with database.connect("ledger_projector") as connection:
        kept = Alerts(database, connection)
        AlertService(database, kept, {"log": lambda _: "logged"}, given).look()
        ids = [each.alert_id.rpartition(":")[0] for each in kept.receipts()]
    return [id_ for id_ in ids if id_.startswith("relay_refused")]


def ends(kafka: Connection) -> int:
    with reader(kafka, topics.FACTS) as read:
        return sum(span.end for span in read.bounds().values())


@pytest.mark.long
def test_a_standby_that_lost_the_end_alarms_and_is_filled_again_from_the_feed(
    primary: Postgres, standby: Postgres, kafka: Connection, tmp_path: Path
) -> None:
    facts = day(20)
    half = len(facts) // 2
    old, new = cli_of(primary, kafka, tmp_path / "a"), cli_of(standby, kafka, tmp_path / "b")
    with old.start("relay") as relay:
        append(primary.database, facts[:half])
        published(primary.database)
        cut_off(standby, primary)
        append(primary.database, facts[half:])
        published(primary.database)
        with PostgresTape(primary.database) as tape:
            rows = tape.read(0, len(facts) + 1)
            (tmp_path / "heads").write_text("\n".join(heads_to_json(tape.heads())))
        primary.stop("immediate")  # a crash
        assert relay.wait(120) == 3, "the relay ends with its database"
    standby.promote()

    end = ends(kafka)
    told = new("relay")
    assert told.code == 2
    assert "differs from the record" in told.err
    assert alarmed(standby.database) == [f"relay_refused:{topics.FACTS}"]
    assert new("relay").code == 2
    assert alarmed(standby.database) == [f"relay_refused:{topics.FACTS}"], "once"
    assert ends(kafka) == end, "nothing was published under positions already given"
    assert new("verify", "--head", tmp_path / "heads").code == 1
    figures = Figures()
    install(standby.database)
    with feed_source(standby.database, kafka, [], figures) as source:
        reached = catch_up(standby.database, source, VIEWS)
    assert reached == half, "consumers count nothing that is not on record"
    assert figures.poisoned, "and tell of it"

    done = new("relay", "refill", "--json")
    assert done.code == 0, done.err
    assert done.json[0]["facts"] == len(rows) - half
    with PostgresTape(standby.database) as tape:
        assert tape.read(0, len(facts) + 1) == rows
    assert new("verify", "--head", tmp_path / "heads").code == 0
    assert relay_progress.refusals(standby.database), "until a relay publishes again"
    assert new("relay", "--once").code == 0
    assert relay_progress.refusals(standby.database) == []
    checked = new("relay", "verify", "--json")
    assert (checked.code, checked.json[-1]["facts"]) == (0, len(rows)), checked.out
    with feed_source(standby.database, kafka, [each.name for each in VIEWS]) as source:
        assert catch_up(standby.database, source, VIEWS) == len(rows)
    views = {each.name: dumped(standby.database, each) for each in VIEWS}
    with tape_source(standby.database) as source:
        for each in VIEWS:
            rebuild(standby.database, source, each)
    assert {each.name: dumped(standby.database, each) for each in VIEWS} == views


@pytest.mark.long
def test_a_standby_that_went_on_before_it_was_filled_is_refused_and_says_so(
    primary: Postgres, standby: Postgres, kafka: Connection, tmp_path: Path
) -> None:
    """What the next append would do: two histories, and no program can join them."""
    facts = day(5)
    third = len(facts) // 3
    append(primary.database, facts[:third])
    cut_off(standby, primary)
    append(primary.database, facts[third : 2 * third])
    assert cli_of(primary, kafka, tmp_path / "a")("relay", "--once").code == 0
    primary.stop("immediate")
    standby.promote()
    append(standby.database, facts[2 * third :])
    new = cli_of(standby, kafka, tmp_path / "b")
    told = new("relay", "refill")
    assert told.code == 2
    assert "the record continued after its end was lost" in told.err
    assert new("relay", "--once").code == 2
    with PostgresTape(standby.database) as tape:
        assert tape.verify().broken is None
