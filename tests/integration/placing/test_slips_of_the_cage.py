"""A slip's steps that the cage records are of its table, in whatever order the facts arrive."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from consumers.finance import wins
from consumers.money import drop
from consumers.registry import install
from consumers.runtime.lifecycle import catch_up, rebuild
from ledger.adjudication.feed import adjudicate
from ledger.facts import FactCorrected, FactRef
from ledger.finance import feed
from ledger.record.wire import encode, fact_of
from tests.integration.shares.test_shared_views import asked, waiting
from tests.scenes.table_days import DAY, NEXT, day_lines, fact, inventory, slip
from tests.scenes.view_feeds import Prefix, dumped, received, record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import Database
    from ledger.record.tape import Received, TapeRow
    from tests.property.finance.floors import Line

VIEWS = (*wins.VIEWS, drop.DROP)


def kept(database: Database, lines: Sequence[Line], size: int = 2) -> list[TapeRow]:
    rows = record(database, [received(msgspec.json.encode(each)) for each in lines])
    install(database)
    catch_up(database, Prefix(rows, len(rows)), VIEWS, batch_rows=size)
    return rows


def credits_of(database: Database) -> dict[tuple[str, str], int | None]:
    return {(each.table, each.gaming_day): each.credits for each in drop.read(database)}


@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_a_credit_that_the_cage_accepts_counts_at_the_table_that_sent_it(
    database: Database, seed: int | None
) -> None:
    """It comes to the cage after the table's next box was attached: so it is of the next day."""
    next_box = {"box": "B2", "table": "CC-07", "gaming_day": NEXT}
    lines = day_lines(
        slip("credit", "dispatched", "C-1", 20),
        slip("credit", "accepted", "C-1", 22, place="cage"),
        slip("credit", "dispatched", "C-2", 48),
        fact("drop_box_attached", 50, "count-room", **next_box),
        slip("credit", "accepted", "C-2", 52, 300, place="cage"),
        slip("credit", "accepted", "C-3", 53, 700, place="cage"),
    )
    if seed is not None:
        random.Random(seed).shuffle(lines)  # noqa: S311 - repeatable, guards nothing
    rows = kept(database, lines)
    whole = feed.wins(map(fact_of, rows), adjudicate(map(fact_of, rows)))
    assert wins.read(database) == whole
    assert [(each.table, each.gaming_day, each.credits) for each in whole] == [
        *(("CC-07", DAY, 10_000), ("CC-07", NEXT, 300)),
        ("cage", NEXT, 0),  # the control: no table has C-3
    ]
    assert credits_of(database) == {("CC-07", DAY): 10_000, ("CC-07", NEXT): 300, ("cage", ""): 700}
    for day in (DAY, NEXT):
        of_day = [each for each in whole if each.gaming_day == day]
        assert wins.read(database, gaming_day=day) == of_day
        assert wins.read(database, gaming_day=day, table="CC-07") == of_day[:1]


def test_what_is_published_of_the_cage_is_taken_back_when_a_table_has_its_slip(
    database: Database,
) -> None:
    sent = slip("credit", "dispatched", "C-1", 20)
    accepted = slip("credit", "accepted", "C-1", 22, place="cage")
    record(database, [])
    asked(database, drop.DROP)
    seen = []
    for lines in ([accepted], [sent], day_lines(), [renumbered := corrected(sent, 40, "C-9")],
                  [corrected(renumbered, 50, None)]):  # fmt: skip
        kept(database, lines)
        newest = {key: body for _, key, body in waiting(database)}
        told = {
            (each.table, each.gaming_day): each.credits
            for body in newest.values()
            if body
            for each in [msgspec.json.decode(body, type=drop.TableDay)]
        }
        assert told == credits_of(database)
        seen.append(told)
    assert seen == [
        *({("cage", ""): 10_000}, {("cage", ""): 10_000}),
        {("CC-07", DAY): 10_000},
        {("CC-07", DAY): None, ("cage", ""): 10_000},
        {("CC-07", DAY): 10_000},
    ]


def corrected(of: Line, minute: int, number: str | None) -> Line:
    """A correction: a slip's number is another, or the fact should not have been recorded."""
    data = {"data": {**of["data"], "slip": number}} if number else {}
    named = {"source": of["source"], "id": of["id"]}
    people = {"because": "Misread.", "by": "S-1", "second": "S-2"}
    return fact("fact_corrected", minute, "office", of=named, **people, **data)


# -- the law ---------------------------------------------------------------------------------------

PLACES = ("CC-07", "CC-08", "cage", "cage-2")


def floor(seed: int) -> list[Received]:
    """Steps of few slips at tables and cages, counts of trays, boxes, and corrections of these."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    lines: list[Line] = []
    for nth in range(30):
        kind, step = chance.choice(("fill", "credit")), chance.choice(STEPS)
        each = slip(kind, step, f"S-{chance.randrange(5)}", chance.randrange(60), 100 * (nth + 1),
                    place=chance.choice(PLACES))  # fmt: skip
        if chance.random() < 0.2:
            each["data"]["table"] = chance.choice(PLACES[:2])
        lines.append({**each, "id": f"s-{nth}"})
    for nth in range(6):
        day, place = chance.choice((DAY, NEXT)), chance.choice(PLACES[:2])
        kind, at = chance.choice(("open", "close")), chance.randrange(60)
        each = inventory(kind, 100, at, day) | {"id": f"i-{nth}", "source": f"/p/{place}/d"}
        each["data"]["slip"] = f"S-{chance.randrange(3)}"
        lines.append(each)
    for _ in range(chance.randrange(5)):
        day, table = chance.choice((DAY, NEXT)), chance.choice(PLACES[:3])
        box = {"box": f"B-{chance.randrange(3)}", "table": table, "gaming_day": day}
        lines.append(fact("drop_box_attached", chance.randrange(60), "count-room", **box))
    facts = [received(msgspec.json.encode(each)) for each in lines]
    for nth in range(12):
        facts.append(_correction(nth, chance.choice(facts), chance))
    chance.shuffle(facts)
    return facts


STEPS = ("requested", "dispatched", "accepted", "voided", "accepted")


def _correction(nth: int, of: Received, chance: random.Random) -> Received:
    body: dict[str, Any] = msgspec.to_builtins(fact_of(of).body)
    changes = [{"slip": f"S-{chance.randrange(5)}"}] if "slip" in body else []
    changes += [{"table": chance.choice(PLACES)}] if "because" not in body else []
    meant = {**body, **chance.choice(changes)} if changes and chance.random() < 0.7 else None
    made = FactCorrected(
        of=FactRef(of.source, of.id), data=meant, because="Misread.", by="S-1", second="S-2"
    )
    at_us = of.time_us + chance.randrange(60_000_000)
    return received(encode(made, "/p/office/desk", f"c-{nth}", at_us))


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 120))]
)
def test_any_order_any_batches_and_any_prefix_give_the_slips_of_the_feed(
    database: Database, seed: int
) -> None:
    """And the drop has the same sums, with what is of no day under its place."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    told = floor(seed)
    install(database)
    for until in (*sorted(chance.sample(range(1, len(told)), 2)), len(told)):
        rows = record(database, told[:until])
        part = Prefix(rows, len(rows))
        catch_up(database, part, VIEWS, batch_rows=chance.choice((1, 5, 99)))
        facts = list(map(fact_of, rows))
        whole = feed.wins(facts, adjudicate(facts))
        assert wins.read(database) == whole
        for day in (DAY, NEXT):
            of_day = [each for each in whole if each.gaming_day == day]
            assert wins.read(database, gaming_day=day) == of_day
        for table in PLACES:
            assert wins.read(database, table=table) == [e for e in whole if e.table == table]
        _agree(database, whole)
        incremental = [dumped(database, view) for view in VIEWS]
        assert all(rebuild(database, part, view) for view in VIEWS)
        assert [dumped(database, view) for view in VIEWS] == incremental


def _agree(database: Database, whole: Sequence[feed.TableWin]) -> None:
    """The drop's sums are those of the wins, of every place that has a gaming day."""
    found = {(each.table, each.gaming_day): each for each in drop.read(database)}
    for win in whole:
        its = found.get((win.table or "", win.gaming_day))
        if win.fills or win.credits or its:
            assert its, (win.table, win.gaming_day)
            assert (its.fills or 0, its.credits or 0) == (win.fills, win.credits), win.table
