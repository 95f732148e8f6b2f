"""The whole way of a day, by real processes: tape, relay, Kafka, views, through restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from consumers.registry import install
from consumers.relay import check
from tests.fixtures.cli import Cli
from tests.fixtures.kafka import relays
from tests.processes.view_keeper import arriving, begun_anew, kept_up, positions, view_process
from tests.scenes.feed_faults import everything, from_feed
from tests.scenes.feeding import once
from tests.scenes.view_feeds import day, record
from tests.until import until

if TYPE_CHECKING:
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database
    from tests.fixtures.kafka import Relays
    from tests.fixtures.postgres_pair import Postgres


def restart(server: Postgres) -> None:
    """As after a crash: nobody was notified, every connection is gone."""
    server.stop("immediate")
    server.start()


def goes_the_whole_way(
    server: Postgres, kafka: Connection, commands: Relays, minutes: int, restarts: int
) -> int:
    """How often PostgreSQL went away while some view lacked facts."""
    database = server.database
    install(database)
    facts = day(minutes)
    kept = len({(each.source, each.id) for each in facts})
    amidst = 0
    with (
        arriving(database, facts),
        kept_up(commands) as ended,
        view_process(database, kafka) as views,
    ):
        for number in range(1, restarts + 1):
            part = kept * number // (restarts + 2)
            until(lambda part=part: positions(database)[0] >= part)
            restart(server)
            amidst += positions(database)[0] < kept
            views.says("lost", number)
        until(lambda: positions(database) == (kept, kept))
        assert views.stop() == f"stopped at {kept}, 0 refused"
    assert len(ended) > restarts, "the relay, too, was cut off each time"
    assert set(ended[:-1]) == {3}
    assert ended[-1] == 0
    seen = check.verify(database, kafka)
    assert (seen.broken, seen.facts, seen.not_yet) == (0, kept, 0), seen.breaks
    return amidst


def views_are_those_of_the_tape(database: Database) -> None:
    kept = everything(database)
    assert kept == begun_anew(database)
    assert all(kept[name] for name in ("rounds", "rulings", "drop", "payouts", "table_board"))


@pytest.mark.long
def test_a_day_goes_the_whole_way_while_postgresql_is_restarted_and_nothing_is_lost_or_doubled(
    primary: Postgres, kafka: Connection, tmp_path: Path
) -> None:
    commands = relays(primary.database, kafka, tmp_path)
    goes_the_whole_way(primary, kafka, commands, minutes=4, restarts=1)
    views_are_those_of_the_tape(primary.database)


@pytest.mark.long
def test_a_long_day_through_many_restarts_is_the_same_and_so_are_views_rebuilt_from_kafka(
    primary: Postgres, kafka: Connection, tmp_path: Path
) -> None:
    commands = relays(primary.database, kafka, tmp_path)
    assert goes_the_whole_way(primary, kafka, commands, minutes=30, restarts=4) > 0
    views_are_those_of_the_tape(primary.database)
    before = everything(primary.database)
    rebuild = ("rebuild", "rounds", "finds", "drop", "--from", "kafka", "--workers", "2", "--json")
    told = Cli(commands.environ)(*rebuild)
    assert told.code == 0, told.err
    done = {each["view"]: each["workers"] for each in told.json}
    assert done == {"rounds": 2, "finds": 2, "drop": 2}
    assert everything(primary.database) == before


@pytest.mark.long
def test_a_view_that_moves_before_its_rows_loses_facts_to_a_restart_and_it_is_seen(
    primary: Postgres, kafka: Connection
) -> None:
    """The control: the rest of that view's facts are taken in afterwards, those are not."""
    database = primary.database
    install(database)
    rows = record(database, day(2))
    once(database, kafka)
    with view_process(database, kafka, "early") as views:
        views.says("early")
        restart(primary)
        views.says("lost")
        until(lambda: positions(database) == (len(rows), len(rows)))
        views.stop()
    assert from_feed(database, kafka).records == 0, "it believes that it has everything"
    kept = everything(database)
    right = begun_anew(database)
    assert {name for name in right if kept[name] != right[name]} == {"payouts"}
