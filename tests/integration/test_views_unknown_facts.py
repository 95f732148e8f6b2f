"""A stored fact that this program cannot read, as a newer one kept it: it parks its table.

From the tape and from a real Kafka; every other table, and every view, goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from consumers.catalogue import VIEWS, install
from consumers.following import follow_on
from consumers.projection import catch_up
from consumers.release import release
from consumers.runner import Manner
from infra import parking
from infra.tape import PostgresTape
from infra.views import tape_source
from ledger import kinds
from ledger.errors import LedgerError
from ledger.tape import frame_attributes, unframe_attributes
from ledger.wire import StoredFactError
from tests.feed_faults import from_feed
from tests.feeding import once
from tests.view_feeds import day, dumped, record

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.kafka.clients import Connection
    from infra.postgres import Database
    from ledger.tape import Received, TapeRow

NEWER = "wager_placed.v9"
PARKS = Manner(parks=True)
RULINGS = next(each for each in VIEWS if each.name == "rulings")


def newer(facts: list[Received]) -> list[Received]:
    """The same facts, one wager in the middle of them told in words of a version to come."""
    wagers = [at for at, each in enumerate(facts) if each.type == "wager_placed.v1"]
    at = wagers[len(wagers) // 2]
    attributes = unframe_attributes(facts[at].attributes) | {"type": f"roundledger.{NEWER}"}
    told = facts[at]._replace(type=NEWER, attributes=frame_attributes(attributes))
    return [*facts[:at], told, *facts[at + 1 :]]


@pytest.fixture
def rows(database: Database) -> list[TapeRow]:
    """A day on the tape, with the one fact, and views that have read nothing of it."""
    install(database)
    return record(database, newer(day(2)))


def hit(rows: list[TapeRow]) -> TapeRow:
    return next(row for row in rows if row.type == NEWER)


def from_tape(base: Database) -> None:
    with tape_source(base) as source:
        catch_up(base, source, VIEWS, manner=PARKS)


def behind(base: Database) -> dict[str, int]:
    with PostgresTape(base) as tape:
        return {lag.view: lag.facts for lag in tape.view_lags()}


def brought(base: Database, where: Connection, source: str) -> None:
    if source == "kafka":
        once(base, where)
        from_feed(base, where, manner=PARKS)
    else:
        from_tape(base)


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
    (parked,) = parking.shown(database)
    assert (parked.view, parked.tape, parked.position) == ("rulings", row.tape, row.position)
    assert parked.reason == "unappliable"
    assert f"position {row.position:,} of the record" in parked.says
    assert set(behind(database).values()) == {0}, "every view has reached the end"
    kept = dumped(database, RULINGS).splitlines()

    monkeypatch.setitem(kinds.KINDS, NEWER, kinds.KINDS["wager_placed.v1"])  # the newer program
    assert [each.how for each in release(database, VIEWS, row.tape)] == ["rebuilt"]
    assert parking.shown(database) == []
    whole = dumped(database, RULINGS).splitlines()
    table = row.tape.partition("/")[2].encode()
    others = [line for line in whole if table not in line]
    assert [line for line in kept if table not in line] == others, "they lacked nothing"
    assert others
    assert len(kept) < len(whole)


def test_who_keeps_views_up_goes_on_with_facts_that_come_after_it(
    database: Database, rows: list[TapeRow]
) -> None:
    def stop() -> bool:
        return set(behind(database).values()) == {0}

    def lost(error: LedgerError, _: float) -> None:
        raise AssertionError(error)

    def passed(*_: object) -> None:
        """Nobody is told."""

    follow_on(database, VIEWS, progress=passed, stop=stop, lost=lost, manner=PARKS)
    more = record(database, day(1, seed=9))[len(rows) :]
    assert more
    follow_on(database, VIEWS, progress=passed, stop=stop, lost=lost, manner=PARKS)
    assert set(behind(database).values()) == {0}
    assert {each.view for each in parking.shown(database)} == {"rulings"}


def test_taken_for_a_server_that_is_away_it_ended_every_view(
    database: Database, rows: list[TapeRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: whatever has a hint for a person passes, so nothing of it is ever parked."""
    was: Callable[[Exception], bool] = lambda error: isinstance(error, LedgerError)  # noqa: E731
    monkeypatch.setattr(parking, "is_passing", was)
    for _ in range(2):  # started again, it ends again
        with pytest.raises(StoredFactError):
            from_tape(database)
    assert parking.shown(database) == []
    stands = behind(database)
    names = [each.name for each in VIEWS]
    assert {stands[name] for name in names[: names.index("rulings")]} == {0}
    assert {stands[name] for name in names[names.index("rulings") :]} == {len(rows)}
