"""Simulated table-days as JSON facts, with one planted fault of finance each."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ledger.adjudication.feed import adjudicate
from ledger.finance.feed import day_records, wins
from ledger.finance.journal import journal
from ledger.games import games
from ledger.record.tape import Received
from ledger.record.wire import fact_of, parse_line
from ledger.simulate import deal, line, plan_of

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from ledger.finance.journal import JournalEntry
    from ledger.finance.win import TableWin
    from ledger.record.wire import Fact

Line = dict[str, Any]


def floor(seed: int, *, minutes: int = 6, tables: int = 4) -> list[Line]:
    """A simulated floor's facts without a mistake: of four games, other ones with each seed."""
    names = list(games())
    of = [names[(tables * seed + nth) % len(names)] for nth in range(tables)]
    plan = plan_of(minutes=minutes, tables=tables, seed=seed, of=of)
    facts, _ = deal(plan)
    return [json.loads(line(plan, fact)) for fact in facts]


def worked_out(lines: Sequence[Line]) -> tuple[list[TableWin], list[Line]]:
    """The program's wins and rulings of these facts."""
    facts = read_by_program(lines)
    rulings = list(adjudicate(facts))
    return wins(facts, rulings), [msgspec.to_builtins(each) for each in rulings]


def read_by_program(lines: Sequence[Line]) -> list[Fact]:
    """The program's facts of these lines; it reads every one."""
    parsed = [_parsed(each) for each in lines]
    facts = [fact_of(each) for each in parsed if isinstance(each, Received)]
    assert len(facts) == len(lines), parsed
    return facts


class Planted(NamedTuple):
    """A fault: the changed facts, the table it is at, and what it leaves in the two gaps."""

    lines: list[Line]
    table: str
    count_gap: int
    pay_gap: int
    code: str  # of the item, cause or exception that names it


def _named(lines: Sequence[Line], name: str) -> list[int]:
    """The places of the facts with this name."""
    return [n for n, each in enumerate(lines) if each["type"].split(".")[1] == name]


def _table(fact: Line) -> str:
    subject = fact.get("subject", "").split("/")[0]
    return str(subject or fact["data"].get("table") or fact["source"].split("/")[2])


def _choose(lines: Sequence[Line], name: str, chance: random.Random) -> int | None:
    """The place of a fact with this name, at a table that plays against the house."""
    opened = [lines[n] for n in _named(lines, "table_opened")]
    poker = {_table(each) for each in opened if games()[each["data"]["game"]].pots}
    places = [n for n in _named(lines, name) if _table(lines[n]) not in poker]
    return chance.choice(places) if places else None


def overpaid(lines: list[Line], chance: random.Random) -> Planted | None:
    """A dealer pays $25 too much, out of the tray."""
    return _misdealt(lines, chance, "wager_paid", 2_500, -1, "overpaid")


def overcollected(lines: list[Line], chance: random.Random) -> Planted | None:
    """A dealer collects $5 too much, into the tray."""
    return _misdealt(lines, chance, "wager_collected", 500, 1, "wrongly_collected")


def _misdealt(
    lines: list[Line], chance: random.Random, name: str, cents: int, sign: int, code: str
) -> Planted | None:
    at = _choose(lines, name, chance)
    if at is None or lines[at]["data"].get("paid_from") == "cage":
        return None
    lines[at]["data"]["amount"] += cents
    _raise(_closer(lines, _table(lines[at]))["data"], sign * cents)
    return Planted(lines, _table(lines[at]), 0, sign * cents, code)


def _closer(lines: Sequence[Line], table: str) -> Line:
    counts = [lines[n] for n in _named(lines, "inventory_counted")]
    return [e for e in counts if _table(e) == table and e["data"]["kind"] != "open"][-1]


def _raise(count: dict[str, Any], cents: int) -> None:
    """Raise a count of a tray: its total, and its chips, if it has any left."""
    count["total"] += cents
    count["chips"] = {"1": count["total"]} if count["total"] > 0 else {}


def _fill(lines: list[Line], chance: random.Random, acceptances: int) -> tuple[str, int]:
    """Fill a tray with $1,000 as it opens; each acceptance is a fact. Table and cents."""
    at = _choose(lines, "table_opened", chance)
    assert at is not None, "a floor has a table that plays against the house"
    table, cents = _table(lines[at]), 100_000
    casino = lines[at]["source"].split("/")[1]
    data = {"slip": "EXTRA-1", "chips": {"10000": 10}, "total": cents, "by": ["C-1", "S-1"]}
    steps = ["requested", "dispatched", *(["accepted"] * acceptances)]
    for nth, step in enumerate(steps):
        fill = {
            **{name: lines[at][name] for name in ("specversion", "time")},
            "type": f"roundledger.fill_{step}.v1",
            "source": f"/{casino}/cage/window-{nth}",
            "id": f"extra-{nth}",
            "data": {**data, "table": table},
        }
        lines.insert(at + 1 + nth, fill)
    _raise(_closer(lines, table)["data"], cents)
    return table, cents


def lost_slip(lines: list[Line], chance: random.Random) -> Planted:
    """The acceptance of a fill is not recorded, though its chips are in the tray."""
    table, cents = _fill(lines, chance, 0)
    return Planted(lines, table, cents, 0, "fill_not_accepted")


def short_count(lines: list[Line], chance: random.Random) -> Planted | None:
    """Both counts of a box say $100 less cash than the table sold chips for."""
    at = _choose(lines, "drop_box_counted", chance)
    if at is None or lines[at]["data"]["currency"].get("10000", 0) < 1:
        return None
    for each in lines:
        if (
            each["type"].split(".")[1] == "drop_box_counted"
            and each["data"]["box"] == lines[at]["data"]["box"]
        ):
            each["data"]["currency"]["10000"] -= 1
    return Planted(lines, _table(lines[at]), -10_000, 0, "box_cash")


def coupons_as_drop(lines: list[Line], chance: random.Random) -> Planted | None:
    """The count room adds $20 of coupon faces to the cash of both counts."""
    at = _choose(lines, "drop_box_counted", chance)
    if at is None:
        return None
    box = lines[at]["data"]["box"]
    for each in lines:
        if each["type"].split(".")[1] == "drop_box_counted" and each["data"]["box"] == box:
            cash = each["data"]["currency"]
            cash["2000"] = cash.get("2000", 0) + 1
    return Planted(lines, _table(lines[at]), 2_000, 0, "box_cash")


def tips_in_tray(lines: list[Line], chance: random.Random) -> Planted | None:
    """A tip of $5 is left in the tray."""
    at = _choose(lines, "inventory_counted", chance)
    if at is None:
        return None
    table = _table(lines[at])
    _raise(_closer(lines, table)["data"], 500)
    return Planted(lines, table, 500, 0, "tray")


def unrecorded_cash(lines: list[Line], chance: random.Random) -> Planted | None:
    """A buy-in is not recorded: its cash is in the box, its chips are not in the tray."""
    at = _choose(lines, "cash_bought_in", chance)
    if at is None:
        return None
    gone = lines.pop(at)
    return Planted(lines, _table(gone), 0, 0, "unrecorded_buy_in")


def lost_fact(lines: list[Line], chance: random.Random) -> Planted | None:
    """A device loses the collection of a lost wager; its sequence has a gap."""
    at = _choose(lines, "wager_collected", chance)
    if at is None or "sequence" not in lines[at]:
        return None
    gone = lines.pop(at)
    cents = gone["data"]["amount"]
    return Planted(lines, _table(gone), cents, -cents, "fact_missing")


def slip_twice(lines: list[Line], chance: random.Random) -> Planted:
    """Cage and table both record that a slip was accepted."""
    table, _ = _fill(lines, chance, 2)
    return Planted(lines, table, 0, 0, "slip_recorded_twice")


def coupon_in_two_boxes(lines: list[Line], chance: random.Random) -> Planted | None:
    """The boxes of two tables hold one serial: one of both is not the printer's."""
    at = _choose(lines, "drop_box_counted", chance)
    counts = [lines[n] for n in _named(lines, "drop_box_counted")]
    if at is None or len({_table(each) for each in counts}) == 1:
        return None
    first = _table(lines[at])
    second = chance.choice(sorted({_table(each) for each in counts} - {first}))
    for each in counts:
        if _table(each) in (first, second):
            each["data"]["coupons"].append("MP-TWICE")
    return Planted(lines, first, 0, 0, "coupon_redeemed_twice")


def number_given_twice(lines: list[Line], chance: random.Random) -> Planted | None:
    """A device records a buy-in under the number of the one before: it lost count."""
    at = _choose(lines, "cash_bought_in", chance)
    if at is None or "sequence" not in lines[at]:
        return None
    bought = [lines[n] for n in _named(lines, "cash_bought_in")]
    others = [
        each
        for each in bought
        if each["id"] != lines[at]["id"] and each["source"] == lines[at]["source"]
    ]
    if not others:
        return None
    chance.choice(others)["sequence"] = lines[at]["sequence"]
    return Planted(lines, _table(lines[at]), 0, 0, "equivocation")


def slip_of_two_trays(lines: list[Line], chance: random.Random) -> Planted | None:
    """A clerk writes the number of another table's slip on the count of a tray."""
    at = _choose(lines, "inventory_counted", chance)
    counts = [lines[n] for n in _named(lines, "inventory_counted")]
    others = [e for e in counts if at is not None and _table(e) != _table(lines[at])]
    if at is None or not others:
        return None
    lines[at]["data"]["slip"] = chance.choice(others)["data"]["slip"]
    return Planted(lines, _table(lines[at]), 0, 0, "slip_number_used_twice")


def more_requested(lines: list[Line], chance: random.Random) -> Planted:
    """The cage sends less than a table asks for; the table has what it accepted."""
    table, _ = _fill(lines, chance, 1)
    [asked] = [each for each in lines if each["type"].split(".")[1] == "fill_requested"
               and each["data"]["slip"] == "EXTRA-1"]  # fmt: skip
    asked["data"] |= {"chips": {"10000": 12}, "total": 120_000}
    return Planted(lines, table, 0, 0, "slip_changed")


FAULTS: tuple[Callable[[list[Line], random.Random], Planted | None], ...] = (
    overpaid,
    overcollected,
    lost_slip,
    short_count,
    coupons_as_drop,
    tips_in_tray,
    unrecorded_cash,
    lost_fact,
    slip_twice,
    coupon_in_two_boxes,
    number_given_twice,
    slip_of_two_trays,
    more_requested,
)
"""The faults; None where a floor has nothing to plant it in."""


class Residual(NamedTuple):
    """What one of several faults of a table leaves in the two gaps, and the cause that names it."""

    count_gap: int
    pay_gap: int
    code: str | None = None  # None: no fact shows a cause
    amount: int = 0


def _lose(lines: list[Line], table: str, name: str, chance: random.Random) -> Line | None:
    """A device loses a fact with this name of a table, and not its last; None if it has none."""
    ends: dict[str, int] = {}
    for each in lines:
        if "sequence" in each:
            ends[each["source"]] = max(int(each["sequence"]), ends.get(each["source"], 0))
    places = [n for n in _named(lines, name) if _table(lines[n]) == table]
    places = [n for n in places if lines[n]["data"].get("paid_from") != "cage"]
    places = [n for n in places if int(lines[n]["sequence"]) < ends[lines[n]["source"]]]
    return lines.pop(chance.choice(places)) if places else None


def _send(lines: list[Line], table: str, kind: str, cents: int) -> None:
    """Chips of a slip that nobody accepts lie in the tray, or left it."""
    [at, *_] = (n for n in _named(lines, "table_opened") if _table(lines[n]) == table)
    data = {"slip": f"{kind}-1", "chips": {"100": cents // 100}, "total": cents, "by": ["C", "S"]}
    sent = {
        **{name: lines[at][name] for name in ("specversion", "time", "source")},
        "type": f"roundledger.{kind}_dispatched.v1",
        "id": f"sent-{kind}-{table}",
        "data": data,
    }
    lines.insert(at + 1, sent)
    _raise(_closer(lines, table)["data"], cents if kind == "fill" else -cents)


def _lost_money(
    name: str, sign: int
) -> Callable[[list[Line], str, random.Random], Residual | None]:
    def lost(lines: list[Line], table: str, chance: random.Random) -> Residual | None:
        gone = _lose(lines, table, name, chance)
        cents = sign * gone["data"]["amount"] if gone else 0
        return Residual(cents, -cents, "fact_missing", cents) if gone else None

    return lost


def _lost_buy_in(lines: list[Line], table: str, chance: random.Random) -> Residual | None:
    gone = _lose(lines, table, "cash_bought_in", chance)
    return Residual(0, 0, "unrecorded_buy_in", gone["data"]["amount"]) if gone else None


def _sent(kind: str, sign: int) -> Callable[[list[Line], str, random.Random], Residual]:
    def sent(lines: list[Line], table: str, chance: random.Random) -> Residual:
        cents = 500 * chance.randint(1, 400)
        _send(lines, table, kind, cents)
        return Residual(sign * cents, 0, f"{kind}_not_accepted", sign * cents)

    return sent


def _tip(lines: list[Line], table: str, _: random.Random) -> Residual:
    _raise(_closer(lines, table)["data"], 500)
    return Residual(500, 0)


WITH_OTHERS: tuple[Callable[[list[Line], str, random.Random], Residual | None], ...] = (
    _lost_money("wager_collected", 1),
    _lost_money("wager_paid", -1),
    _lost_buy_in,
    _sent("fill", 1),
    _sent("credit", -1),
    _tip,
)
"""Faults that a table's day has several of; None where it has no place for one."""


def banked(lines: Sequence[Line]) -> list[str]:
    """The tables that play against the house."""
    opened = [lines[n] for n in _named(lines, "table_opened")]
    return [_table(each) for each in opened if not games()[each["data"]["game"]].pots]


def house(seed: int, days: int, *, minutes: int = 6, tables: int = 3) -> list[list[Line]]:
    """A simulated house's facts by day: each day's openers are the closers of the day before."""
    names = list(games())
    of = [names[(tables * seed + nth) % len(names)] for nth in range(tables)]
    closers: dict[str, int] = {}
    found = []
    for nth in range(days):
        plan = plan_of(
            minutes=minutes,
            tables=tables,
            seed=seed * days + nth,
            gaming_day=(date(2026, 11, 20) + timedelta(days=nth)).isoformat(),
            of=of,
        )
        lines = [json.loads(line(plan, fact)) for fact in deal(plan)[0]]
        _raise_trays(lines, closers)
        found.append(lines)
    return found


def _raise_trays(lines: Sequence[Line], closers: dict[str, int]) -> None:
    """Let each tray of a day open with the chips that it closed with the day before."""
    counts = [lines[n]["data"] for n in _named(lines, "inventory_counted")]
    names = [_table(lines[n]) for n in _named(lines, "inventory_counted")]
    raised: dict[str, int] = {}
    for table, count in zip(names, counts, strict=True):
        if table not in raised:
            raised[table] = closers.get(table, count["total"]) - count["total"]
        _raise(count, raised[table])
    closers |= {table: count["total"] for table, count in zip(names, counts, strict=True)}


def closed(lines: Sequence[Line]) -> tuple[list[TableWin], list[JournalEntry]]:
    """The program's wins and journal of these facts."""
    facts = [fact_of(parsed) for each in lines if isinstance(parsed := _parsed(each), Received)]
    rulings = list(adjudicate(facts))
    found = day_records(facts, rulings)
    return wins(facts, rulings), journal(found[key] for key in sorted(found))


def entered(lines: Sequence[Line]) -> list[JournalEntry]:
    """The program's journal of these facts."""
    return closed(lines)[1]


def _parsed(each: Line) -> object:
    return parse_line(json.dumps(each).encode())
