"""Progressive meters: what a win takes of one, who pays it, and how the meter moves.

The rate, the initial and the reset amount are the Rules Submission's `progressives`, by wager:
`{"meter": "link-7", "rate": "1/10", "initial": 500000, "reset": 500000}`, amounts in cents. What a
meter shows is read from the record; nothing here guesses it.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.facts import MeterAdvanced, MeterRead, MeterReset, WagerPaid
from ledger.rules.ruling import Settlement
from ledger.rules.steps import Step, said
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.rules.game import InForce
    from ledger.rules.odds import Paytable, Row
    from ledger.rules.table import Table
    from ledger.wire import Fact

_SHARE = re.compile(r"(\d{1,3})% of meter and (.+)")
_WHOLE = Fraction(1)


class Meter(NamedTuple):
    """A wager's meter, as the Rules Submission in force has it."""

    name: str
    rate: Fraction | None  # of each wager, what the meter goes up by
    reset: int | None  # cents

    def least(self, printed: int) -> int:
        """Cents that it shows at least."""
        return self.reset or printed


class Printed(NamedTuple):
    """What a chapter prints of a meter."""

    wager: str
    section: str  # the rate, and the amounts
    least: int  # cents: the initial and reset amounts at least
    cage_from: Fraction  # a payout of so much of the meter or more is not the table's to pay
    paid: str


class Win(NamedTuple):
    """A winning wager, and the row that pays it."""

    seat: int
    stake: int
    row: Row


def meter_share(printed: str) -> Fraction:
    """What a row pays of the meter: `10% of meter and 200 to 1` a tenth; other odds nothing."""
    match = _SHARE.fullmatch(printed)
    return Fraction(int(match[1]), 100) if match else Fraction(0)


def meter_of(rules: InForce, wager: str) -> Meter:
    """A wager's meter; what the submission does not say, or says in no number, is None."""
    told: Any = rules.progressives.get(wager)
    told = told if isinstance(told, dict) else {}
    reset = told.get("reset")
    name = told.get("meter")
    return Meter(
        name if isinstance(name, str) else wager,
        _rate(told.get("rate")),
        reset if isinstance(reset, int) else None,
    )


def _rate(told: object) -> Fraction | None:
    """`1/10`, `10%` or `0.1`."""
    text = str(told)
    try:
        return Fraction(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except (ValueError, ZeroDivisionError):
        return None


def settle(t: Table, wins: Sequence[Win], table: Paytable, of: Printed) -> None:
    """Pay winners of a progressive wager, counterclockwise; those of the whole meter share it."""
    meter = meter_of(t.rules, of.wager)
    sharers = sum(meter_share(win.row.odds) == _WHOLE for win in wins)
    shows = _reading(t, wins, meter, of)
    for win in wins:
        share = meter_share(win.row.odds)
        if share and shows is None:
            t.unsettled.append(Step("meter_read", of.paid, position=win.seat, what=meter.name))
            t.stakes.pop((win.seat, of.wager, 1), None)
            continue
        exact = win.row.ratio * win.stake + share * (shows or 0) / (sharers if share == 1 else 1)
        t.stakes.pop((win.seat, of.wager, 1), None)
        t.keep(_won(t, win, exact, table, _payer(t, win, exact, shows, of)))
    if sharers and shows is not None:
        t.expect(Step("meter_reset", of.section, what=meter.name, amount=meter.least(of.least)))


def _reading(t: Table, wins: Sequence[Win], meter: Meter, of: Printed) -> int | None:
    """What the meter shows as these are paid, last; it is asked for where a win goes by it."""
    reads = [f for f in t.source.left("meter_read") if said(f, MeterRead).meter == meter.name]
    floor = of.cage_from * meter.least(of.least)
    asked = any(meter_share(w.row.odds) or w.row.ratio * w.stake >= floor for w in wins)
    if not reads and not asked:
        return None
    shows = t.meter(meter.name, of.paid)
    while reads[1:]:
        reads.pop()
        shows = t.meter(meter.name, of.paid)
    return shows


def _payer(t: Table, win: Win, exact: Fraction, shows: int | None, of: Printed) -> str:
    """It is the amount that counts: so much of the meter or more is not the table's to pay.

    Where no meter was read, whoever paid is right.
    """
    if shows is not None:
        return "cage" if exact >= of.cage_from * shows else "table"
    paid = [said(fact, WagerPaid) for fact in t.source.left("wager_paid")]
    mine = [b for b in paid if (b.position, b.wager) == (win.seat, of.wager)]
    return mine[0].paid_from if mine else "table"


def _won(t: Table, win: Win, exact: Fraction, table: Paytable, payer: str) -> Settlement:
    """The settlement of a win; two parts where the meter is one of them."""
    share = meter_share(win.row.odds)
    return Settlement(
        position=win.seat,
        wager=table.wagers[0],
        stake=win.stake,
        outcome="win",
        row=win.row.label,
        odds=win.row.odds,
        rows=win.row.odds.split(" and ") if share else None,
        net=t.rules.broken(exact),
        exact_net=str(exact),
        section=t.rules.section(table.section),
        paid_from="cage" if payer == "cage" else "table",
    )


def moved_rightly(t: Table, stakes: Sequence[int], of: Printed) -> None:
    """A meter that was read before and after the wagers went up by its rate; a reset goes back.

    Cents below a whole one are the meter's own to keep.
    """
    meter = meter_of(t.rules, of.wager)
    read, advanced, reset = (
        [fact for fact in t.source.left(name) if _amount(fact)[0] == meter.name]
        for name in ("meter_read", "meter_advanced", "meter_reset")
    )
    if read and advanced and t.source.later_than(advanced[0], read[0]) and meter.rate is not None:
        grown = int(_amount(read[0])[1] + meter.rate * sum(stakes))
        _find(t, advanced[-1], grown, of, "its rate gives")
    if advanced and len(read) > 0 and t.source.later_than(read[-1], advanced[-1]):
        _find(t, read[-1], _amount(advanced[-1])[1], of, "it had gone up to")
    for fact in reset:
        shown, due = _amount(fact)[1], meter.least(of.least)
        if shown != due and (meter.reset is not None or shown < due):
            _find(t, fact, due, of, "its reset amount is")


def _amount(fact: Fact) -> tuple[str, int]:
    """Which meter a fact tells of, and what it shows."""
    body = fact.body
    if isinstance(body, MeterRead | MeterAdvanced | MeterReset):
        return body.meter, body.amount
    raise TypeError(f"{fact.source} {fact.id} tells of no meter")


def _find(t: Table, fact: Fact, due: int, of: Printed, why: str) -> None:
    name, shown = _amount(fact)
    if shown == due:
        return
    says = f"The meter {name} shows {dollars(shown)}; {why} {dollars(due)}"
    t.find(
        "meter_wrong",
        f"{says} ({t.rules.section(of.section)}).",
        of.section,
        wager=of.wager,
        expected=due,
        recorded=shown,
        facts=(fact,),
    )
