"""Journals of small table-days, added up by hand, and their names in other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from ledger.errors import Usage
from ledger.finance.journal import JournalEntry, Posting
from ledger.finance.meters.journal import meter_entries
from ledger.finance.meters.lines import MeterName, MeterStep, by_day
from ledger.finance.placing import calendar_date
from replay.text.journal import beancount, hledger, require_one_house
from tests.property.finance.floors import entered
from tests.scenes.bookkeeping import beancount_balances, beancount_says, hledger_says
from tests.scenes.table_days import (
    DAY,
    NEXT,
    count,
    day_lines,
    fact,
    next_day,
    slip,
    tournament,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.property.finance.floors import Line


def balances(entries: Sequence[JournalEntry]) -> dict[str, int]:
    """What each account of CC-07 ends with, without the table's name; no zeros."""
    found: dict[str, int] = {}
    for entry in entries:
        for each in entry.postings:
            name = each.account.replace(":CC-07", "")
            found[name] = found.get(name, 0) + each.amount
    return {name: cents for name, cents in found.items() if cents}


def of_day(*facts: Line, closer: int = 500_000) -> dict[str, int]:
    return balances(entered(day_lines(*facts, closer=closer)))


def test_every_figure_of_a_day_has_its_account() -> None:
    facts = [
        slip("fill", "accepted", "F-1", 5, 30_000),
        slip("credit", "accepted", "C-1", 6, 20_000),
        fact("cash_bought_in", 10, position=1, amount=10_000),
        fact("counter_check_issued", 11, position=1, amount=5_000, check="K-1"),
        fact("chips_exchanged", 12, position=1, given={"2500": 4}, received={"500": 19}),
        fact("adjustment_paid", 13, dispute="D-1", position=1, amount=700, paid_from="table"),
        fact("adjustment_paid", 14, dispute="D-2", position=1, amount=900, paid_from="cage"),
        tournament("entered", "T-1", 20, 5_000),
        tournament("prize_paid", "T-1", 21, 4_000),
        count(59, currency={"100": 98}, counter_checks=[{"check": "K-1", "amount": 5_000}]),
    ]
    closer = 500_000 + 30_000 - 20_000 - 15_000 + 500 - 700 + 40
    assert of_day(*facts, closer=closer) == {
        "assets:tray": closer,
        "assets:box:cash": 9_800,
        "assets:box:counter_checks": 5_000,
        "assets:cage": -30_000 + 20_000 - 900 + 1_000,
        "income:tournament": -1_000,
        "equity:opening": -500_000,
        "income:win": 700,
        "expenses:cage_paid": 900,
        "income:variance:box_cash": 200,
        "income:variance:exchange": -500,
        "income:variance:tray": -40,
    }


def test_poker_has_its_rake_and_the_imprest_bank_apart() -> None:
    subject = {"subject": f"CC-07/{DAY}/1"}
    started = {**fact("round_started", 5, game="omaha_5_high"), **subject}
    rake = {**fact("rake_taken", 6, amount=700), **subject}
    bought = fact("cash_bought_in", 10, position=1, amount=10_000)
    counted = count(59, chips={"100": 6}, currency={"100": 90})
    assert of_day(started, rake, bought, counted, closer=490_500) == {
        "assets:tray": 490_500,
        "assets:box:cash": 9_000,
        "assets:box:chips": 600,
        "equity:opening": -500_000,
        "income:rake": -700,
        "income:variance:box_chips": 100,
        "income:bank:box_cash": 1_000,
        "income:bank:tray": -500,
    }


def two_days(first: Sequence[Line], second: Sequence[Line]) -> list[JournalEntry]:
    return entered([*first, *next_day(*second)])


def amounts(entries: Sequence[JournalEntry], name: str) -> dict[str, int]:
    [found] = [each for each in entries if each.entry == name and each.gaming_day == NEXT]
    return {each.account: each.amount for each in found.postings}


def test_a_day_opens_with_what_the_day_before_left_and_sends_its_boxes_to_the_cage() -> None:
    sold = fact("cash_bought_in", 10, position=1, amount=10_000)
    first = day_lines(sold, count(59, currency={"10000": 1}), closer=490_000)
    second = day_lines(count(59))
    emptied = {"assets:box:CC-07:cash": -10_000, "assets:cage": 10_000}
    entries = two_days(first, second)
    assert amounts(entries, "boxes_emptied") == emptied
    assert amounts(entries, "opening") == {"assets:tray:CC-07": 10_000, "equity:opening": -10_000}
    assert beancount_says(entries) == []


def test_without_a_closer_the_tray_keeps_what_its_entries_leave() -> None:
    sold = fact("cash_bought_in", 10, position=1, amount=10_000)
    *first, _ = day_lines(sold, count(59, currency={"10000": 1}))
    _, _, _, *second = day_lines(count(59), closer=490_000)
    entries = two_days(first, second)
    assert [each.entry for each in entries if each.gaming_day == DAY][-1] == "box_counts"
    assert amounts(entries, "closing") == {}  # no opener, and exactly what was left
    assert beancount_balances(entries, NEXT)["Assets:Tray:CC-07"] == 490_000
    assert beancount_says(entries) == []


def test_without_an_opener_the_closer_comes_from_the_opening_equity() -> None:
    [*_, closer] = day_lines()
    entries = entered([closer])
    assert balances(entries) == {"assets:tray": 500_000, "equity:opening": -500_000}


def test_a_box_without_a_count_holds_what_was_sold_for_it_and_has_no_balance() -> None:
    sold = fact("cash_bought_in", 10, position=1, amount=10_000)
    entries = entered(day_lines(sold, closer=490_000))
    assert balances(entries)["assets:box:cash"] == 10_000
    assert "box_counts" not in [each.entry for each in entries]


def entry(*accounts: str, **of: Any) -> JournalEntry:  # noqa: ANN401 - any field
    """An entry that takes a dollar from `equity:opening` for each account."""
    postings = [*(Posting(name, 100) for name in accounts)]
    postings.append(Posting("equity:opening", -100 * len(accounts)))
    told = {"entry": "opening", "says": "Opener", "balances": postings[:-1], "facts": []}
    named = {"property": "p", "gaming_day": DAY, "table": "CC-07", "postings": postings}
    return JournalEntry(**{**named, **told, **of})


def test_beancount_has_each_part_capitalised_with_hyphens() -> None:
    names = ["assets:tray:TDF-01", "income:variance:TDF-01:box_cash", "assets:tray:t.one_2"]
    text = "\n".join(beancount([entry(*names)]))
    for name in ("Assets:Tray:TDF-01", "Income:Variance:TDF-01:Box-Cash", "Assets:Tray:T-One-2"):
        assert f" open {name}\n" in text
    assert f"{NEXT} balance Assets:Tray:TDF-01  1.00 ~ 0.00 USD" in text


def test_two_tables_that_beancount_would_take_for_one_stay_apart(tmp_path: Path) -> None:
    entries = [entry("assets:tray:a_1", "assets:tray:a-1")]
    found = beancount_balances(entries, DAY)
    assert sorted(found.values()) == [-200, 100, 100]
    assert beancount_says(entries) == []
    assert hledger_says(entries, tmp_path) == ""


NUMBERS = ('F";-\\1', "F\n1", "date:2020-01-01, x", "F  = 1 USD | ", "é😀")


def test_a_slip_may_have_any_number(tmp_path: Path) -> None:
    entries = [
        entry("assets:tray:CC-07", entry=f"fill:{number}", says=f"Fill {number}", balances=[])
        for number in NUMBERS
    ]
    assert beancount_says(entries) == []
    assert hledger_says(entries, tmp_path) == ""


def test_a_count_that_a_later_entry_changes_is_no_balance_of_beancounts_next_day() -> None:
    later = msgspec.structs.replace(entry("assets:tray:CC-07"), balances=[], entry="sales")
    assert beancount_says([entry("assets:tray:CC-07"), later]) == []
    assert " balance " not in "\n".join(beancount([entry("assets:tray:CC-07"), later]))


@pytest.mark.parametrize(
    ("label", "day"),
    [
        ("2026-11-20", "2026-11-20"),
        ("2026-02-30", "2026-02-28"),
        ("2026-13-01", "2026-12-31"),
        ("0000-00-00", "0001-01-01"),
    ],
)
def test_a_round_may_name_a_day_that_no_calendar_has(label: str, day: str) -> None:
    assert str(calendar_date(label)) == day
    assert day in "\n".join(hledger([entry("assets:tray:CC-07", gaming_day=label)]))


def test_the_last_day_of_the_calendar_has_no_balance_behind_it() -> None:
    entries = [entry("assets:tray:CC-07", gaming_day="9999-12-31")]
    assert beancount_says(entries) == []


def test_a_journal_is_of_one_casino() -> None:
    house = entry("assets:tray:CC-07")
    with pytest.raises(Usage, match="a and p"):
        require_one_house([house, msgspec.structs.replace(house, property="a")])


def test_other_programs_accept_a_link_of_any_name(tmp_path: Path) -> None:
    links = ("a\n    b  ;x", "\u00f6\u00e4", "-x", 'q"r', "T-1", "link_7", "Link-7")
    names = [MeterName("p", "straight_jack", "T-1"), *(MeterName("p", each, "") for each in links)]
    entries = meter_entries(by_day((name, MeterStep(0, "shown", 500, DAY)) for name in names))
    assert beancount_says(entries) == []
    assert hledger_says(entries, tmp_path) == ""
    assert len(beancount_balances(entries, DAY)) == len(names) + 1  # and the equity
