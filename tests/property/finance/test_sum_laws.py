"""Laws of sums: what a cut, a group, a journal or a correction leaves. Each has a broken model."""

from __future__ import annotations

import random
from collections import defaultdict
from copy import deepcopy
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import strategies as st

from ledger.adjudication import corrections
from ledger.adjudication.feed import adjudicate
from ledger.finance import feed, groups, table_day
from ledger.finance.feed import day_records, wins, wins_by_shift
from ledger.finance.groups import grouped
from ledger.finance.journal import Posting, journal
from ledger.finance.win import figures
from tests.property.finance.floors import floor, read_by_program, worked_out
from tests.property.finance.laws import refuses
from tests.scenes.table_days import count, day_lines, fact, inventory, slip
from tests.suite.budget import budget, examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import pytest

    from ledger.finance.journal import JournalEntry
    from ledger.finance.win import TableWin
    from tests.property.finance.floors import Line

_FLOOR = cache(floor)


def name_of(line: Line) -> str:
    return str(line["type"].split(".")[1])


def time_of(line: Line) -> datetime:
    return datetime.fromisoformat(line["time"])


def table_of(line: Line) -> str:
    subject = line.get("subject", "").split("/")
    of_round = subject[0] if len(subject) == 3 else ""
    return str(of_round or line["data"].get("table") or line["source"].split("/")[2])


# -- 2: nothing that holds chips or money holds less than nothing ----------------------------------


def entries_of(lines: Sequence[Line]) -> list[JournalEntry]:
    facts = read_by_program(lines)
    found = day_records(facts, adjudicate(facts))
    return journal(found[key] for key in sorted(found))


def law_of_holdings(lines: Sequence[Line]) -> None:
    held: dict[str, int] = defaultdict(int)
    for entry in entries_of(lines):
        for posting in entry.postings:
            held[posting.account] += posting.amount
        for account, cents in held.items():
            assert cents >= 0 or not account.startswith(("assets:tray", "assets:box")), entry


@budget("seeds", range(1), range(12))
def test_no_tray_and_no_box_ever_holds_less_than_nothing(seeds: range) -> None:
    for seed in seeds:
        law_of_holdings(_FLOOR(seed))


def test_the_law_of_holdings_is_broken_by_a_credit_of_more_than_the_tray_has() -> None:
    law_of_holdings(day_lines(count(59)))
    too_much = slip("credit", "accepted", "C-1", 20, 600_000)
    refuses(law_of_holdings, day_lines(too_much, count(59), closer=0))


# -- 6: at any moment the tray is what its facts leave ---------------------------------------------


def law_of_cuts(seed: int, tray_at: Callable[[Sequence[Line], datetime], int]) -> int:
    """Count each tray at a random moment of play: the shifts differ by the open round alone.

    Returns how many trays were cut while a round was open.
    """
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    lines = deepcopy(_FLOOR(seed))
    tables = {table_of(each) for each in lines if name_of(each) == "table_opened"}
    cuts = {table: _cut(lines, table, chance) for table in sorted(tables)}
    added = [
        fact_
        for table, at in cuts.items()
        for fact_ in _second_shift(lines, table, at, tray_at(_of(lines, table), at))
    ]
    told = read_by_program([*lines, *added])
    parts: dict[str, list[TableWin]] = defaultdict(list)
    for each in wins_by_shift(told, list(adjudicate(told))):
        parts[each.table or ""].append(each)
    cut_open = 0
    for table, (first, second) in parts.items():
        if first.owed is None or second.owed is None:
            continue
        open_round = _open_at(_of(lines, table), cuts[table])
        cut_open += bool(open_round)
        assert (_tray_item(first), _tray_item(second)) == (open_round, -open_round), table
    return cut_open


def _of(lines: Sequence[Line], table: str) -> list[Line]:
    return [each for each in lines if table_of(each) == table]


def _cut(lines: Sequence[Line], table: str, chance: random.Random) -> datetime:
    """A moment after a random fact that moves chips."""
    moves = [each for each in _of(lines, table) if name_of(each) in (*GAINS, *LOSES)]
    return time_of(chance.choice(moves)) + timedelta(microseconds=1)


GAINS = ("wager_collected", "fee_paid", "fill_accepted")
LOSES = ("wager_paid", "cash_bought_in", "voucher_bought_in", "counter_check_issued")


def tray_at(lines: Sequence[Line], at: datetime) -> int:
    """What the tray holds: its opener, and what every fact until then gave and took."""
    told = [each for each in lines if time_of(each) < at]
    opener = next(each for each in told if name_of(each) == "inventory_counted")
    total: int = opener["data"]["total"]
    return total + sum(map(gained, told))


def gained(line: Line) -> int:
    data = line["data"]
    if name_of(line) in GAINS:
        return int(data.get("amount", data.get("total", 0)))
    if name_of(line) == "credit_accepted":
        return -int(data["total"])
    if name_of(line) in LOSES and data.get("paid_from", "table") == "table":
        return -int(data["amount"])
    return 0


def with_layout(lines: Sequence[Line], at: datetime) -> int:
    """A broken model: chips that lie on the layout are taken for the house's."""
    placed = sum(
        each["data"]["amount"]
        for each in lines
        if name_of(each) == "wager_placed" and time_of(each) < at
    )
    gone = sum(
        each["data"]["amount"]
        for each in lines
        if name_of(each) in ("wager_collected", "wager_returned") and time_of(each) < at
    )
    return tray_at(lines, at) + placed - gone


def _open_at(lines: Sequence[Line], at: datetime) -> int:
    """What the rounds that end after a moment had moved by then."""
    last: dict[str, datetime] = {}
    for each in lines:
        if "subject" in each:
            last[each["subject"]] = max(last.get(each["subject"], time_of(each)), time_of(each))
    open_ = [e for e in lines if "subject" in e and last[e["subject"]] >= at and time_of(e) < at]
    return sum(map(gained, open_))


def _tray_item(win: TableWin) -> int:
    return sum(each.amount for each in win.items if each.code == "tray")


def _second_shift(lines: Sequence[Line], table: str, at: datetime, tray: int) -> list[Line]:
    """A count of the tray and a new box, and the names of both shifts."""
    counts = [each for each in _of(lines, table) if name_of(each) == "inventory_counted"]
    attached = next(e for e in _of(lines, table) if name_of(e) == "drop_box_attached")
    counted = next(e for e in _of(lines, table) if name_of(e) == "drop_box_counted")
    counts[-1]["data"]["shift"] = "2"
    day = attached["data"]["gaming_day"]
    people = {"slip": "CUT", "counted_by": "D-1", "observed_by": "F-1"}
    data = {"kind": "drop", "gaming_day": day, "shift": "1", "chips": {}, "total": tray, **people}
    box = {**attached["data"], "box": "SECOND", "shift": "2"}
    empty: Line = {"currency": {}, "counter_checks": [], "vouchers": [], "coupons": []}
    its = {"box": "SECOND", "count": 1, "chips": {}}
    told: tuple[tuple[Line, str, str, dict[str, Any]], ...] = (
        (counts[-1], "inventory_counted", at.isoformat(), data),
        (attached, "drop_box_attached", (at + timedelta(microseconds=1)).isoformat(), box),
        (counted, "drop_box_counted", counted["time"], {**counted["data"], **empty, **its}),
    )
    return [
        {
            "specversion": "1.0",
            "type": f"roundledger.{name}.v1",
            "source": of["source"],
            "id": f"cut-{name}-{table}",
            "time": time,
            "data": content,
        }
        for of, name, time, content in told
    ]


@budget("seeds", range(1), range(25))
def test_a_tray_counted_during_a_round_differs_by_what_that_round_has_moved(seeds: range) -> None:
    assert sum(law_of_cuts(seed, tray_at) for seed in seeds), "some cut lies in a round"


def test_the_law_of_cuts_is_broken_by_a_model_that_counts_the_layout() -> None:
    refuses(law_of_cuts, 0, with_layout)


# -- 7: tables sum to their game, pit and house ----------------------------------------------------

SUMMED = ("counted", "moved", "owed", "count_gap", "pay_gap", "handle", "cage_paid", "fills")


def law_of_groups(found: Sequence[TableWin]) -> None:
    for by in ("game", "pit", "house"):
        parts = grouped(found, by)
        for name in SUMMED:
            tables = [each for each in (getattr(e, name) for e in found) if each is not None]
            assert sum(getattr(e, name) or 0 for e in parts) == sum(tables), (by, name)
        items = sorted(item.amount for each in found for item in each.items)
        assert sorted(item.amount for each in parts for item in each.items) == items


@budget("seeds", range(1), range(12))
def test_tables_sum_to_their_games_pits_and_house(seeds: range) -> None:
    for seed in seeds:
        law_of_groups(worked_out(_FLOOR(seed))[0])


def test_the_law_of_groups_is_broken_by_a_model_that_leaves_a_table_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = worked_out(_FLOOR(0))[0]
    law_of_groups(found)
    summed = groups._summed
    monkeypatch.setattr(groups, "_summed", lambda its, by: summed(its[:1], by))
    refuses(law_of_groups, found)


# -- 13: chips go between the house and a patron, and never between patrons ------------------------

HELD_BY_THE_HOUSE = ("assets", "income", "expenses", "equity", "liabilities")


def law_of_sides(entries: Iterable[JournalEntry]) -> None:
    for entry in entries:
        for posting in entry.postings:
            assert posting.account.split(":")[0] in HELD_BY_THE_HOUSE, entry
        if entry.entry in ("play", "sales"):
            trays = {e.account for e in entry.postings if e.account.startswith("assets:tray")}
            assert trays == {f"assets:tray:{entry.table}"} or not entry.postings, entry


def test_what_play_and_sales_move_goes_by_the_tray_of_their_own_table() -> None:
    law_of_sides(entries_of(_FLOOR(0)))


def test_the_law_of_sides_is_broken_by_chips_that_pass_between_patrons() -> None:
    entry = next(each for each in entries_of(_FLOOR(0)) if each.entry == "play")
    passed = [Posting("patron:1", -500), Posting("patron:2", 500)]
    refuses(law_of_sides, [msgspec.structs.replace(entry, postings=passed)])


# -- 19: a correction that is taken back changes nothing -------------------------------------------


def law_of_reversals(amount: int, wrong: int) -> None:
    told = fact("cash_bought_in", 10, position=1, amount=amount)
    lines = day_lines(told, count(59, currency={"1": amount}), closer=500_000 - amount)
    corrections_ = [
        _correction(told, 20, {**told["data"], "amount": wrong}),
        _correction(told, 30, told["data"]),
    ]
    [plain], [put_right] = worked_out(lines)[0], worked_out([*lines, *corrections_])[0]
    assert (figures(put_right), put_right.items) == (figures(plain), plain.items)
    assert put_right.told == {}


def _correction(of: Line, minute: int, data: dict[str, Any]) -> Line:
    why = {"because": "Mistyped.", "by": "F-1", "second": "S-1"}
    at = {"source": of["source"], "id": of["id"]}
    return fact("fact_corrected", minute, "office", of=at, data=data, **why)


AMOUNTS = st.integers(1, 100_000)


@examples(20, 200, amount=AMOUNTS, wrong=AMOUNTS)
def test_a_correction_that_is_taken_back_changes_nothing(amount: int, wrong: int) -> None:
    law_of_reversals(amount, wrong)


def test_the_law_of_reversals_is_broken_by_a_model_that_keeps_the_first_correction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law_of_reversals(100, 200)
    latest = corrections.corrections

    def first(facts: Any) -> Any:  # noqa: ANN401 - as `corrections`
        told = list(facts)
        made = [each for each in told if each.body.__class__.__name__ == "FactCorrected"]
        return latest([each for each in told if each not in made[1:]])

    monkeypatch.setattr(feed, "corrections", first)
    refuses(law_of_reversals, 100, 200)


# -- 25: tables do not touch one another -----------------------------------------------------------


def law_of_arrival(seed: int) -> None:
    lines = _FLOOR(seed)
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    queues = {table: _of(lines, table) for table in {table_of(each) for each in lines}}
    woven = []
    while queues:
        table = chance.choice(sorted(queues))
        woven.append(queues[table].pop(0))
        if not queues[table]:
            del queues[table]
    before, after = (read_by_program(told) for told in (lines, woven))
    assert wins(after, adjudicate(after)) == wins(before, adjudicate(before))


@budget("seeds", range(1), range(12))
def test_facts_of_different_tables_may_arrive_in_any_order(seeds: range) -> None:
    for seed in seeds:
        law_of_arrival(seed)


def test_the_law_of_arrival_is_broken_by_a_model_that_goes_by_the_last_fact_to_arrive(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The broken model gives each fact the day of the fact that arrived before it."""
    days = [day_lines(count(59), inventory("drop", 500_000, 40))]
    told = read_by_program(days[0])
    monkeypatch.setattr(feed, "by_time", lambda _: 0)
    monkeypatch.setattr(table_day, "_opener_differs", lambda _: [])
    before, after = (wins(each, adjudicate(each)) for each in (told, told[::-1]))
    assert after != before
