"""When tables were open: from their openings and closings, however they came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.floor import openings
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up
from infra.postgres.view_tables import reading, tape_source
from ledger.facts import TableClosed, TableOpened
from ledger.values import Source
from replay.recording.house_facts import append_facts, build_fact

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.record.tape import Received

S = 1_000_000
T0_US = 1_795_000_000_000_000
CC, DAY, NEXT = "criss_cross_poker", "2026-11-20", "2026-11-21"


def opened(at: int, game: str = CC, day: str = DAY, table: str = "CC-07") -> Received:
    body = TableOpened(game=game, gaming_day=day, min_wager=500, max_wager=10_000)
    return build_fact(body, Source("hollywood", table, "pit"), time_us=T0_US + at * S)


def closed(at: int, table: str = "CC-07", place: str = "pit-2") -> Received:
    source = Source("hollywood", place, "terminal")
    return build_fact(TableClosed(table=table), source, time_us=T0_US + at * S)


def times(
    database: Database, tape: PostgresTape, *facts: Received, day: str = DAY
) -> list[tuple[str, str, int, int | None]]:
    append_facts(tape, facts)
    install(database)
    with tape_source(database) as source:
        catch_up(database, source, [openings.VIEW], batch_rows=2)
    with reading(database, [openings.OPENINGS.name]) as store:
        found = openings.open_times(store, "hollywood", day)
    ends = ((None if each.to_us is None else (each.to_us - T0_US) // S) for each in found)
    return [
        (each.table, each.game, (each.from_us - T0_US) // S, end)
        for each, end in zip(found, ends, strict=True)
    ]


def test_a_table_is_open_from_its_opening_to_its_closing_told_wherever_and_whenever(
    database: Database, tape: PostgresTape
) -> None:
    facts = [closed(50), opened(10), opened(60), opened(5, table="CC-08"), closed(90)]
    assert times(database, tape, *facts) == [
        ("CC-07", CC, 10, 50),
        ("CC-07", CC, 60, 90),
        ("CC-08", CC, 5, None),
    ]


def test_a_game_that_changes_begins_another_stretch_and_being_told_twice_does_not(
    database: Database, tape: PostgresTape
) -> None:
    facts = [opened(10), opened(20), opened(30, game="lunar_poker"), closed(40)]
    assert times(database, tape, *facts) == [
        ("CC-07", CC, 10, 30),
        ("CC-07", "lunar_poker", 30, 40),
    ]


def test_a_table_that_nobody_closed_ends_where_the_next_day_begins(
    database: Database, tape: PostgresTape
) -> None:
    facts = [opened(10), opened(99, day=NEXT), closed(120)]
    assert times(database, tape, *facts) == [("CC-07", CC, 10, 99)]
    assert times(database, tape, day=NEXT) == [("CC-07", CC, 99, 120)]
