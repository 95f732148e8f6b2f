"""The journal of simulated houses: balanced, equal to the wins, and accepted by other programs."""

from __future__ import annotations

import random
from collections import defaultdict
from copy import deepcopy
from datetime import date, timedelta
from functools import cache
from typing import TYPE_CHECKING

import msgspec
import pytest

from tests.property.finance.floors import FAULTS, closed, entered, house
from tests.scenes.bookkeeping import (
    beancount_balances,
    beancount_says,
    hledger_balances,
    hledger_says,
)
from tests.suite.budget import budget

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ledger.finance.journal import JournalEntry
    from ledger.finance.win import TableWin
    from tests.property.finance.floors import Line

_EVERYDAY, _WHOLE = (2, 2), (30, 20)
"""Days, and minutes of play of each."""


@cache
def faulty_house(days: int, minutes: int) -> tuple[list[Line], list[TableWin], list[JournalEntry]]:
    """The facts, wins and journal of a house with a fault of the count on each of its days."""
    chance = random.Random(5)  # noqa: S311 - repeatable, guards nothing
    lines: list[Line] = []
    for nth, each in enumerate(house(5, days, minutes=minutes, tables=2)):
        found = FAULTS[(nth + 3) % len(FAULTS)](deepcopy(each), chance)
        lines += found.lines if found else each
    return (lines, *closed(lines))


def by_account(entries: Sequence[JournalEntry]) -> dict[str, int]:
    """The sum of each account, cents."""
    found: dict[str, int] = defaultdict(int)
    for entry in entries:
        for posting in entry.postings:
            found[posting.account] += posting.amount
    return found


def agree(win: TableWin, changed: dict[str, int], held: dict[str, int]) -> None:
    """Hold a day's changes, and the balances at its end, against its win."""
    table = win.table
    assert held[f"assets:tray:{table}"] == win.closer
    for kind, counted in msgspec.structs.asdict(win.drop).items():
        assert kind == "total" or held.get(f"assets:box:{table}:{kind}", 0) == counted
    poker = win.owed is None
    assert changed.get(f"income:{'rake' if poker else 'win'}:{table}", 0) == -win.moved
    variance = f"income:variance:{table}:"
    booked = {n.removeprefix(variance): c for n, c in changed.items() if n.startswith(variance)}
    assert booked == {item.code: -item.amount for item in win.items if item.gap == "count"}
    assert sum(booked.values()) == -(win.count_gap or 0)


@budget("size", _EVERYDAY, _WHOLE)
def test_each_entry_balances_and_each_day_ends_with_its_win(size: tuple[int, int]) -> None:
    _, wins, entries = faulty_house(*size)
    assert all(sum(each.amount for each in entry.postings) == 0 for entry in entries)
    names = [(e.property, e.gaming_day, e.table, e.entry) for e in entries]
    assert len(set(names)) == len(names)
    for win in wins:
        until = [e for e in entries if e.gaming_day <= win.gaming_day]
        today = [e for e in until if (e.gaming_day, e.table) == (win.gaming_day, win.table)]
        agree(win, by_account(today), by_account(until))
    assert any(win.count_gap for win in wins)


def test_the_order_of_arrival_changes_no_entry() -> None:
    lines, _, entries = faulty_house(*_EVERYDAY)
    chance = random.Random(3)  # noqa: S311 - repeatable, guards nothing
    assert entered(chance.sample(lines, len(lines))) == entries


@budget("size", _EVERYDAY, _WHOLE)
def test_beancount_accepts_the_journal_of_a_house_and_has_its_balances(
    size: tuple[int, int],
) -> None:
    _, wins, entries = faulty_house(*size)
    assert beancount_says(entries) == []
    for win in wins[-1 :: -max(1, len(wins) // 4)]:
        held = beancount_balances(entries, win.gaming_day)
        assert held[f"Assets:Tray:{win.table}"] == win.closer
        assert held.get(f"Assets:Box:{win.table}:Cash", 0) == win.drop.cash


@budget("size", _EVERYDAY, _WHOLE)
def test_hledger_accepts_the_journal_of_a_house_and_has_its_balances(
    size: tuple[int, int], tmp_path: Path
) -> None:
    _, wins, entries = faulty_house(*size)
    assert hledger_says(entries, tmp_path) == ""
    for win in wins[-1 :: -max(4, len(wins) // 4)]:
        tomorrow = date.fromisoformat(win.gaming_day) + timedelta(days=1)
        held = hledger_balances(entries, tmp_path, str(tomorrow))
        assert held[f"assets:tray:{win.table}"] == win.closer
        assert held.get(f"assets:box:{win.table}:cash", 0) == win.drop.cash


def off_by_a_cent(entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """A journal whose last closer is a cent more than its postings leave."""
    *others, last = entries
    assert last.entry == "closing"
    raised = [msgspec.structs.replace(each, amount=each.amount + 1) for each in last.balances]
    return [*others, msgspec.structs.replace(last, balances=raised)]


def unbalanced(entries: Sequence[JournalEntry]) -> list[JournalEntry]:
    """A journal with an entry that is a cent out of balance."""
    first, *others = entries
    *kept, last = first.postings
    raised = [*kept, msgspec.structs.replace(last, amount=last.amount + 1)]
    return [msgspec.structs.replace(first, postings=raised), *others]


@pytest.mark.parametrize("fault", [off_by_a_cent, unbalanced])
def test_a_journal_that_is_a_cent_off_is_refused(fault: object, tmp_path: Path) -> None:
    assert callable(fault)
    wrong = fault(faulty_house(*_EVERYDAY)[2])
    assert beancount_says(wrong)
    assert hledger_says(wrong, tmp_path)
