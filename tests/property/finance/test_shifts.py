"""Shifts of a gaming day: whatever moment a shift ends at, the shifts sum to their day."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from ledger.adjudication.feed import adjudicate
from ledger.finance.feed import wins, wins_by_shift
from tests.property.finance.floors import floor, read_by_program
from tests.suite.budget import budget

if TYPE_CHECKING:
    from ledger.finance.win import TableWin
    from tests.property.finance.floors import Line

_CLEAN = cache(floor)

SUMMED = (
    *("counted", "moved", "owed", "cage_paid", "handle", "count_gap", "pay_gap", "fills"),
    *("credits", "bank_variance"),
)


def cut(lines: list[Line], chance: random.Random) -> list[Line]:
    """The floor with a second shift at each table, from a random moment on: a count, and a box."""
    attached = [each for each in lines if each["type"].split(".")[1] == "drop_box_attached"]
    added = [fact for each in attached for fact in _second_shift(lines, each, chance)]
    return [*lines, *added]


def _second_shift(lines: list[Line], attached: Line, chance: random.Random) -> list[Line]:
    data = attached["data"]
    counts = [
        each
        for each in lines
        if each["type"].split(".")[1] == "inventory_counted"
        and each["source"].split("/")[2] == data["table"]
    ]
    begins, ends = (datetime.fromisoformat(counts[nth]["time"]) for nth in (0, -1))
    at = begins + chance.random() * (ends - begins)
    closer = {**counts[-1]["data"], "kind": "drop", "shift": "1"}
    box = {**data, "box": "SECOND", "shift": "2"}
    empty = {"currency": {}, "counter_checks": [], "vouchers": [], "coupons": []}
    counted = {"table": data["table"], "gaming_day": data["gaming_day"], "counted_by": ["N-1"]}
    counts[-1]["data"]["shift"] = "2"
    return [
        _like(counts[-1], "inventory_counted", at, closer),
        _like(attached, "drop_box_attached", at + timedelta(microseconds=1), box),
        _like(
            attached,
            "drop_box_counted",
            ends + timedelta(hours=9),
            {**empty, **counted, "box": "SECOND", "count": 1},
        ),
    ]


def _like(of: Line, name: str, at: datetime, data: dict[str, Any]) -> Line:
    return {
        "specversion": "1.0",
        "type": f"roundledger.{name}.v1",
        "source": of["source"],
        "id": f"second-{name}-{data['table'] if 'table' in data else of['id']}",
        "time": at.isoformat(),
        "data": data,
    }


def by_table(lines: list[Line]) -> dict[str, tuple[TableWin, list[TableWin]]]:
    """Each table's day, and its shifts."""
    facts = read_by_program(lines)
    rulings = list(adjudicate(facts))
    shifts = wins_by_shift(facts, rulings)
    return {
        each.table or "": (each, [part for part in shifts if part.table == each.table])
        for each in wins(facts, rulings)
    }


def fresh(seed: int) -> list[Line]:
    return [{**each, "data": {**each["data"]}} for each in _CLEAN(seed)]


@budget("seeds", range(1), range(30))
def test_the_shifts_of_a_day_sum_to_it_wherever_it_is_cut(seeds: range) -> None:
    seen: set[int] = set()
    for seed in seeds:
        chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
        for whole, parts in by_table(cut(fresh(seed), chance)).values():
            assert [part.shift for part in parts] == ["1", "2"]
            for name in SUMMED:
                amounts = [getattr(part, name) for part in parts]
                of_day = getattr(whole, name)
                assert (None if of_day is None else sum(amounts)) == of_day, name
            assert sum(part.drop.total or 0 for part in parts) == whole.drop.total
            assert parts[0].closer == parts[1].opener
            assert [part.missing for part in parts] == [[], []]
            items = sorted(item.amount for part in parts for item in part.items if item.round)
            assert items == sorted(item.amount for item in whole.items if item.round)
            seen |= {part.handle for part in parts}
    assert len(seen - {0}) > 4, "rounds lie in both shifts"


def test_without_a_count_between_them_neither_shift_has_a_win() -> None:
    lines = cut(fresh(0), random.Random(0))  # noqa: S311 - repeatable
    uncounted = [each for each in lines if not each["id"].startswith("second-inventory")]
    for whole, (first, second) in by_table(uncounted).values():
        if whole.owed is not None:  # poker counts its rake, not its tray
            assert (first.counted, second.counted) == (None, None)
        assert (first.missing, second.missing) == (["closer"], ["opener"])
        assert first.moved + second.moved == whole.moved


@pytest.mark.parametrize("named", [True, False])
def test_a_day_whose_facts_name_no_shift_is_one_group(*, named: bool) -> None:
    lines = fresh(0)
    for each in lines:
        each["data"].pop("shift", None)
        if named and each["type"].split(".")[1] == "drop_box_attached":
            each["data"]["shift"] = "day"
    for whole, [part] in by_table(lines).values():
        assert (part.shift, part.counted) == ("day" if named else None, whole.counted)
