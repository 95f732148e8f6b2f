"""A device that repeats itself: thousands of late facts of one closed round, in bounded work."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from consumers.registry import install
from consumers.rulings import rulings
from consumers.rulings.round_state import TOUCHES_RULED_MAX, is_ruling_due
from consumers.rulings.touched_rounds import RoundBatch
from consumers.runtime.lifecycle import catch_up, rebuild
from infra.postgres.view_tables import ViewStore, reading
from ledger.facts import FactCorrected, FactRef
from ledger.record.wire import encode, fact_of
from tests.scenes.view_feeds import Prefix, day, dumped, received, record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from consumers.rulings.round_state import RoundState
    from infra.postgres.connection import Database
    from ledger.record.tape import Received, TapeRow
    from ledger.rules.engine.ruling import Ruling


def stuck(facts: list[Received], count: int) -> list[Received]:
    """One wager of a closed round, sent again under new ids."""
    at = next(at for at, fact in enumerate(facts) if fact.type == "round_completed.v1")
    one = [f for f in facts[:at] if f.subject == facts[at].subject and "wager_" in f.type][-1]
    body = fact_of(one).body
    return [
        received(encode(body, one.source, f"stuck-{n}", one.time_us + n, one.subject))
        for n in range(count)
    ]


def to_and_fro(of: Received, count: int) -> list[Received]:
    """Corrections of one fact, each taking back what the one before it said."""
    body: Any = fact_of(of).body  # of a wager
    amounts = [body.amount, body.amount + 100]
    source, us = "/hollywood/office/desk", of.time_us
    return [
        received(
            encode(
                FactCorrected(
                    of=FactRef(of.source, of.id),
                    data={**msgspec.to_builtins(body), "amount": amounts[n % 2]},
                    because="read wrong",
                    by="S-1",
                    second="S-2",
                ),
                source,
                f"corrected-{n}",
                us + n,
            )
        )
        for n in range(count)
    ]


@pytest.fixture
def ruled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many facts each ruling given was on."""
    given: list[int] = []
    ruling = RoundBatch.ruling

    def counted(batch: RoundBatch, case: RoundState) -> Ruling | None:
        given.append(len(case.facts))
        return ruling(batch, case)

    monkeypatch.setattr(RoundBatch, "ruling", counted)
    return given


@pytest.mark.long
def test_thousands_of_late_facts_of_one_round_are_ruled_on_a_hundred_times(
    database: Database, ruled: list[int]
) -> None:
    facts, late = day(6, planted=0), 3_000
    rows = record(database, [*facts, *stuck(facts, late)])
    install(database)
    catch_up(database, Prefix(rows, len(facts)), [rulings.VIEW])
    ruled.clear()
    catch_up(database, Prefix(rows, len(rows)), [rulings.VIEW])
    assert TOUCHES_RULED_MAX < len(ruled) < 100
    assert sum(ruled) < late * 30, "a ruling a fact would read 4,500,000"
    round_ = fact_of(rows[-1]).round
    assert round_ is not None
    with reading(database, rulings.tables_to_read()) as store:
        kept = rulings.versions(store, round_)
        newest = rulings.newest(store, round_)
        assert newest.ruling == rulings.again(store, round_)
        assert kept[-1] == newest
    assert len(kept) < 100
    assert [each.version for each in kept] == list(range(1, len(kept) + 1))


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_between_steps_the_view_is_that_of_a_rebuild_at_any_prefix(
    database: Database, seed: int
) -> None:
    """Also where the newest ruling goes back to what it was at the last step."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    facts = day(6, planted=0)
    repeated = stuck(facts, 80)
    rows = record(database, [*facts, *repeated, *to_and_fro(repeated[0], 60)])
    install(database)
    steps = sorted({*chance.sample(range(len(facts), len(rows)), 12), len(rows)})
    for step in steps:
        size = chance.choice((1, 3, 17, 2_000))
        catch_up(database, Prefix(rows, step), [rulings.VIEW], batch_rows=size)
        incremental = dumped(database, rulings.VIEW)
        assert rebuild(database, Prefix(rows, step), rulings.VIEW)
        assert dumped(database, rulings.VIEW) == incremental, (step, size)


def test_the_corrections_of_a_round_are_read_at_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One by one they would cost the square of their number, over the batches that speak of it."""
    facts = day(6, planted=0)
    one = stuck(facts, 1)
    rows = record(database, [*facts, *one, *to_and_fro(one[0], 60)])
    install(database)
    catch_up(database, Prefix(rows, len(rows) - 1), [rulings.VIEW])
    asked: list[int] = []
    rows_at = ViewStore.rows_at

    def counted(store: ViewStore, places: Iterable[tuple[str, int, int]]) -> list[TapeRow]:
        found = rows_at(store, places)
        asked.append(len(found))
        return found

    monkeypatch.setattr(ViewStore, "rows_at", counted)
    catch_up(database, Prefix(rows, len(rows)), [rulings.VIEW])
    assert 0 < len(asked) < 12
    assert max(asked) >= 59


def test_steps_are_every_fact_at_first_then_four_in_a_doubling() -> None:
    assert all(map(is_ruling_due, range(1, TOUCHES_RULED_MAX + 1)))
    assert [n for n in range(65, 513) if is_ruling_due(n)] == [
        80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512,
    ]  # fmt: skip
