"""A stored fact that this program cannot read, as a newer one kept it: it parks its table.

In every view that reads facts of its name, whatever the version. From the tape and from a real
Kafka; every other table, and every view, goes on.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from consumers.money import drop
from consumers.registry import VIEWS, install, view
from consumers.runtime.following import follow_on
from consumers.runtime.lifecycle import catch_up, rebuild
from consumers.runtime.runner import FAILING_TAPES_MAX, RunnerOptions
from consumers.runtime.source import Batch
from consumers.runtime.unpark import release
from infra.postgres import parking
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import tape_source
from ledger.errors import LedgerError
from ledger.record import kinds
from ledger.record.wire import StoredFactError
from tests.scenes.feed_faults import from_feed
from tests.scenes.feeding import once
from tests.scenes.view_feeds import as_type, day, dumped, record

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database
    from ledger.record.tape import Received, TapeRow

NEWER = "wager_placed.v9"
PARKS = RunnerOptions(parks=True)
OF_WAGERS = {"rounds", "drop", "payouts", "rulings"}
"""The views that count wagers, or rule on them: each of them lacks something without the one."""


def newer(facts: list[Received]) -> list[Received]:
    """The same facts, one wager in the middle of them in a later version."""
    wagers = [at for at, each in enumerate(facts) if each.type == "wager_placed.v1"]
    at = wagers[len(wagers) // 2]
    return [*facts[:at], as_type(facts[at], NEWER), *facts[at + 1 :]]


@pytest.fixture
def rows(database: Database) -> list[TapeRow]:
    """A day on the tape, with the one fact, and views that have read nothing of it."""
    install(database)
    return record(database, newer(day(2)))


def hit(rows: list[TapeRow]) -> TapeRow:
    return next(row for row in rows if row.type == NEWER)


def from_tape(database: Database) -> None:
    with tape_source(database) as source:
        catch_up(database, source, VIEWS, options=PARKS)


def behind(database: Database) -> dict[str, int]:
    with PostgresTape(database) as tape:
        return {lag.view: lag.facts for lag in tape.view_lags()}


def brought(database: Database, kafka: Connection, source: str) -> None:
    if source == "kafka":
        once(database, kafka)
        from_feed(database, kafka, options=PARKS)
    else:
        from_tape(database)


@pytest.mark.long
@pytest.mark.parametrize("source", ["tape", "kafka"])
def test_it_parks_its_table_and_no_other_until_a_program_comes_that_can_read_it(
    database: Database,
    kafka: Connection,
    rows: list[TapeRow],
    source: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    row = hit(rows)
    brought(database, kafka, source)
    withheld = parking.shown(database)
    assert {each.view for each in withheld} == OF_WAGERS
    for parked in withheld:
        assert (parked.tape, parked.position) == (row.tape, row.position)
        assert parked.reason == "unappliable"
        assert f"position {row.position:,} of the record" in parked.says
    assert set(behind(database).values()) == {0}, "every view has reached the end"
    before = {each.name: dumped(database, each).splitlines() for each in VIEWS}

    monkeypatch.setitem(kinds.KINDS, NEWER, kinds.KINDS["wager_placed.v1"])  # the newer program
    released = release(database, VIEWS, row.tape)
    assert {each.view: each.how for each in released} == {
        each: "caught up" if each == "payouts" else "rebuilt" for each in OF_WAGERS
    }
    assert parking.shown(database) == []
    table = row.tape.partition("/")[2].encode()
    for each in VIEWS:
        kept, whole = before[each.name], dumped(database, each).splitlines()
        others = [line for line in whole if table not in line]
        assert [line for line in kept if table not in line] == others, "they lacked nothing"
        assert others or each.name in (
            "disputes",
            "cameras",
            "camera_marks",
            "seals",
            "coupons_and_checks",
            "meters",
            "review",
            "footage_marks",
        )
        assert (kept != whole) == (each.name in OF_WAGERS)


@pytest.mark.long
def test_who_keeps_views_up_goes_on_with_facts_that_come_after_it(
    database: Database, rows: list[TapeRow]
) -> None:
    def stop() -> bool:
        return set(behind(database).values()) == {0}

    def lost(error: LedgerError, _: float) -> None:
        raise AssertionError(error)

    def passed(*_: object) -> None:
        """Nothing is published."""

    follow_on(database, VIEWS, progress=passed, stop=stop, lost=lost, options=PARKS)
    more = record(database, day(1, seed=9))[len(rows) :]
    assert more
    follow_on(database, VIEWS, progress=passed, stop=stop, lost=lost, options=PARKS)
    assert set(behind(database).values()) == {0}
    assert {each.view for each in parking.shown(database)} == OF_WAGERS


def test_taken_for_a_server_that_is_away_it_ended_every_view(
    database: Database, rows: list[TapeRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: whatever has a hint for a person passes, so nothing of it is ever parked."""
    was: Callable[[Exception], bool] = lambda error: isinstance(error, LedgerError)  # noqa: E731
    monkeypatch.setattr(parking, "is_transient", was)
    for _ in range(2):  # started again, it ends again
        with pytest.raises(StoredFactError):
            from_tape(database)
    assert parking.shown(database) == []
    assert set(behind(database).values()) == {len(rows)}, "the first of all counts wagers"


@pytest.mark.long
def test_told_by_every_table_at_once_it_parks_each_of_them_and_ends_no_view(
    database: Database,
) -> None:
    """As an old program meets it whose floor was upgraded before it."""
    facts = day(2, tables=2 * FAILING_TAPES_MAX)
    wagers = {each.tape: at for at, each in enumerate(facts) if each.type == "wager_placed.v1"}
    assert len(wagers) > FAILING_TAPES_MAX, "as many as a program may fail on, and more"
    rows = record(
        database,
        [as_type(f, NEWER) if at in wagers.values() else f for at, f in enumerate(facts)],
    )
    install(database)
    from_tape(database)
    assert set(behind(database).values()) == {0}
    newest = {row.tape: row.position for row in rows if row.type == NEWER}
    for name in OF_WAGERS:
        found = {each.tape: each.position for each in parking.shown(database) if each.view == name}
        assert found == newest
    assert {each.view for each in parking.shown(database)} == OF_WAGERS


def test_a_fact_of_a_new_name_parks_what_takes_every_fact_and_nothing_else(
    database: Database,
) -> None:
    """Who counts wagers lacks nothing of it, by whatever a later program calls something else."""
    facts = day(1)
    at = next(at for at, each in enumerate(facts) if each.type == "wager_placed.v1")
    record(database, [*facts[:at], as_type(facts[at], "chips_weighed.v1"), *facts[at + 1 :]])
    install(database)
    from_tape(database)
    assert {each.view for each in parking.shown(database)} == {"rulings"}


def test_an_old_program_that_is_asked_for_a_total_does_not_tell_one_without_it(
    database: Database, rows: list[TapeRow]
) -> None:
    """Commands that read bring a view along first, and park nothing."""
    with tape_source(database) as source, pytest.raises(StoredFactError, match="not known here"):
        catch_up(database, source, [view("drop")])
    assert behind(database)["drop"] == len(rows)
    with tape_source(database) as source, pytest.raises(StoredFactError, match="not known here"):
        rebuild(database, source, view("drop"))


def test_passed_over_by_its_version_it_would_be_missing_from_totals_that_look_whole(
    database: Database, rows: list[TapeRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: as a view did that asked for `wager_placed.v1` and for nothing else."""
    monkeypatch.setattr(Batch, "unknown", ())
    with tape_source(database) as source:
        catch_up(database, source, [view("drop")], options=PARKS)
    assert parking.shown(database) == []
    assert behind(database)["drop"] == 0
    short = amounts(rows, "wager_placed") - amounts(rows, "wager_withdrawn") - amounts([hit(rows)])
    assert sum(each.handle or 0 for each in drop.read(database)) == short


def amounts(rows: list[TapeRow], name: str = "") -> int:
    """What facts whose type begins so say together, cents."""
    return sum(json.loads(row.data)["amount"] for row in rows if row.type.startswith(name))
