"""The three wins of simulated floors, held against an auditor's model and planted faults."""

from __future__ import annotations

import random
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.property.finance.auditor import audit
from tests.property.finance.floors import (
    FAULTS,
    WITH_OTHERS,
    banked,
    floor,
    lost_fact,
    worked_out,
)
from tests.suite.budget import budget

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.finance.win import TableWin
    from tests.property.finance.floors import Line

_CLEAN = cache(floor)


def figures(win: TableWin) -> dict[str, Any]:
    told = msgspec.to_builtins(win)
    names = ("opener", "closer", "fills", "credits", "drop", "counted", "moved", "owed")
    more = ("cage_paid", "count_gap", "pay_gap", "handle")
    boxes = [name for name in told["missing"] if name.startswith("box")]
    return {**{name: told[name] for name in (*names, *more)}, "missing": boxes}


def agree(lines: list[Line]) -> dict[str, TableWin]:
    """The program's wins by table, after every figure of them agreed with the auditor's."""
    found, rulings = worked_out(lines)
    audited = audit(lines, rulings)
    assert {(w.property, w.gaming_day, w.table): figures(w) for w in found} == audited
    on_record = {(each["source"], each["id"]) for each in lines}
    for each in found:
        for gap, total in (("count", each.count_gap), ("pay", each.pay_gap)):
            if total is not None:
                assert total == sum(item.amount for item in each.items if item.gap == gap)
        for part in (*each.items, *each.causes, *each.exceptions):
            named = {(ref.source, ref.id) for ref in part.facts}
            assert named, f"{part.code} names no fact"
            assert named <= on_record
    return {each.table or "": each for each in found}


@budget("seeds", range(2), range(250))
def test_the_auditor_agrees_on_every_figure_of_a_clean_floor_which_has_no_gap(seeds: range) -> None:
    for seed in seeds:
        for each in agree(_CLEAN(seed)).values():
            assert (each.grade, each.count_gap, each.pay_gap or 0) == ("COUNTED", 0, 0)
            assert not each.bank_variance
            assert (each.items, each.causes, each.missing, each.exceptions) == ([], [], [], [])


@pytest.mark.parametrize("fault", FAULTS, ids=[each.__name__ for each in FAULTS])
@budget("seeds", range(1), range(1, 40))
def test_a_fault_leaves_exactly_its_residual_and_its_name(
    fault: Callable[..., Any], seeds: range
) -> None:
    planted = 0
    for seed in seeds:
        chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
        found = fault(deepcopy(_CLEAN(seed)), chance)
        if found is None:
            continue
        planted += 1
        by_table = agree(found.lines)
        win = by_table[found.table]
        assert (win.count_gap, win.pay_gap) == (found.count_gap, found.pay_gap)
        named = [each.code for each in (*win.items, *win.causes, *win.exceptions)]
        assert found.code in named
        for name, other in by_table.items():
            assert name == found.table or not (other.count_gap or other.pay_gap)
    assert planted, "no floor had a place for it"


@budget("seeds", range(3), range(3, 350))
def test_several_faults_of_a_day_leave_the_sum_of_their_residuals_and_hide_no_cause(
    seeds: range,
) -> None:
    """Two to five faults a table; the control has a tip in the tray, which no fact shows."""
    days = 0
    for seed in seeds:
        chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
        lines = deepcopy(_CLEAN(seed))
        planted = {}
        for table in banked(lines):
            faults = chance.sample(WITH_OTHERS, chance.randint(2, 5))
            planted[table] = [its for fault in faults if (its := fault(lines, table, chance))]
        by_table = agree(lines)
        for table, its in planted.items():
            win = by_table[table]
            assert win.count_gap == sum(each.count_gap for each in its)
            assert win.pay_gap == sum(each.pay_gap for each in its)
            due = sorted((each.code, each.amount) for each in its if each.code)
            if all(each.code for each in its):
                assert sorted((each.code, each.amount) for each in win.causes) == due
            days += bool(due)
    assert days >= len(seeds)


@budget("seeds", range(1), range(1, 40))
def test_a_lost_fact_names_those_beside_the_gap_and_those_that_placed_the_wager(
    seeds: range,
) -> None:
    """In another round an item names no fact beside a gap."""
    seen = 0
    for seed in seeds:
        chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
        before = deepcopy(_CLEAN(seed))
        found = lost_fact(deepcopy(before), chance)
        if found is None:
            continue
        kept = {each["id"] for each in found.lines}
        [gone] = [each for each in before if each["id"] not in kept]
        beside = {
            each["id"]
            for each in found.lines
            if each["source"] == gone["source"]
            and abs(int(each["sequence"]) - int(gone["sequence"])) == 1
        }
        placed = {
            each["id"]
            for each in found.lines
            if each.get("subject") == gone["subject"]
            and each["type"] == "roundledger.wager_placed.v1"
            and each["data"]["position"] == gone["data"]["position"]
            and each["data"]["wager"] == gone["data"]["wager"]
        }
        win = agree(found.lines)[found.table]
        [item] = [each for each in win.items if each.gap == "pay"]
        [cause] = [each for each in win.causes if each.code == "fact_missing"]
        for part in (item, cause):
            assert {ref.id for ref in part.facts} == beside | placed
        assert len(beside) == 2
        seen += bool(placed)
    assert seen


def test_a_wager_that_was_not_collected_names_what_placed_it() -> None:
    """The round has no gap: a finding explains it, and no fact moved its chips."""
    lines = deepcopy(_CLEAN(0))
    chance = random.Random(0)  # noqa: S311 - repeatable, guards nothing
    found = lost_fact(lines, chance)
    assert found
    for each in found.lines:
        each.pop("sequence", None)
    [item] = [each for each in agree(found.lines)[found.table].items if each.gap == "pay"]
    assert item.code == "not_collected"
    names = {each["id"]: each["type"].split(".")[1] for each in found.lines}
    assert {names[ref.id] for ref in item.facts} == {"wager_placed"}


def test_the_order_of_arrival_changes_nothing() -> None:
    lines = deepcopy(_CLEAN(0))
    found = overpaid_and_lost(lines)
    before, _ = worked_out(found)
    chance = random.Random(7)  # noqa: S311 - repeatable, guards nothing
    chance.shuffle(found)
    assert msgspec.json.encode(worked_out(found)[0]) == msgspec.json.encode(before)


def overpaid_and_lost(lines: list[Line]) -> list[Line]:
    """Two faults on one floor."""
    chance = random.Random(3)  # noqa: S311 - repeatable, guards nothing
    for fault in (FAULTS[0], FAULTS[7]):
        found = fault(lines, chance)
        assert found is not None
        lines = found.lines
    return lines
