"""Progressive wagers: what a win takes of a meter, who pays it, and the meter's filed terms.

The Rules Submission's `progressives` give rate, initial and reset amount by wager: `{"meter":
"link-7", "rate": "1/10", "initial": 500000, "reset": 500000}`, amounts in cents. The record gives
the readings of a meter. `meters` judges how it moves from round to round.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ledger.facts import MeterRead, WagerPaid
from ledger.rules.engine.ruling import Settlement
from ledger.rules.engine.steps import Step, said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.rules.engine.game import InForce, PrintedMeter
    from ledger.rules.engine.odds import Paytable, PaytableRow
    from ledger.rules.engine.table import Table

    Payer = Literal["table", "cage"]

AMOUNTS = ("reset", "initial")
TERMS = ("meter", "rate", *AMOUNTS)
"""The terms of a meter in a Rules Submission."""

_SHARE = re.compile(r"(\d{1,3})% of meter and (.+)")
_WHOLE = Fraction(1)


class Meter(NamedTuple):
    """A wager's meter under the Rules Submission in force."""

    name: str
    rate: Fraction | None  # share of each wager that the meter goes up by
    reset: int | None  # cents
    initial: int | None  # cents

    def back_to(self, printed: int) -> int:
        """Cents that the meter is reset to; `printed` is the section's minimum."""
        return self.reset or printed

    def least(self, printed: int) -> int:
        """The minimum the meter shows, cents."""
        return min(self.back_to(printed), self.initial or self.back_to(printed))


class ProgressiveWin(NamedTuple):
    """A winning wager and its row."""

    seat: int
    stake: int
    row: PaytableRow


def meter_share(printed: str) -> Fraction:
    """A row's share of the meter: 1/10 for `10% of meter and 200 to 1`, 0 for other odds."""
    match = _SHARE.fullmatch(printed)
    return Fraction(int(match[1]), 100) if match else Fraction(0)


def meter_of(rules: InForce, of: PrintedMeter) -> Meter:
    """A wager's meter. A term is None if it is not filed or the section does not allow it."""
    told: Any = rules.progressives.get(of.wager)
    told = told if isinstance(told, dict) else {}
    name = told.get("meter")
    return Meter(
        name if isinstance(name, str) and name else of.wager,
        rate_of(told.get("rate")),
        *(amount_of(told.get(each), of.least) for each in AMOUNTS),
    )


def amount_of(told: object, least: int) -> int | None:
    """An initial or reset amount in cents; None if it is below the section's minimum."""
    whole = isinstance(told, int) and not isinstance(told, bool)
    return told if whole and told >= least else None  # type: ignore[operator,return-value]  # an int


def rate_of(told: object) -> Fraction | None:
    """The share of each wager that its meter goes up by: `1/10`, `10%` or `0.1`."""
    text = str(told)
    try:
        rate = Fraction(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except (ValueError, ZeroDivisionError):
        return None
    return rate if 0 < rate <= 1 else None


def settle(t: Table, wins: Sequence[ProgressiveWin], table: Paytable, of: PrintedMeter) -> None:
    """Settle winners of a progressive wager, counterclockwise. Winners of the whole share it."""
    meter = meter_of(t.rules, of)
    sharers = sum(meter_share(win.row.odds) == _WHOLE for win in wins)
    shows = _reading(t, wins, meter, of)
    for win in wins:
        share, exact = meter_share(win.row.odds), win.row.ratio * win.stake
        t.stakes.pop((win.seat, of.wager, 1), None)
        if share:
            if shows is None:
                t.unsettled.append(Step("meter_read", of.paid, position=win.seat, what=meter.name))
                continue
            exact += share * shows / (sharers if share == _WHOLE else 1)
        t.keep(_won(t, win, exact, table, _payer(t, win, exact, shows, of)))
    if sharers and shows is not None:
        t.expect(Step("meter_reset", of.section, what=meter.name, amount=meter.back_to(of.least)))


def _reading(
    t: Table, wins: Sequence[ProgressiveWin], meter: Meter, of: PrintedMeter
) -> int | None:
    """The last reading of the meter before these wins are paid; due if a win depends on it."""
    reads = [f for f in t.source.untaken("meter_read") if said(f, MeterRead).meter == meter.name]
    floor = of.cage_from * meter.least(of.least)
    asked = any(meter_share(w.row.odds) or w.row.ratio * w.stake >= floor for w in wins)
    if not reads and not asked:
        return None
    shows = t.meter(meter.name, of.paid)
    for _ in reads[1:]:
        shows = t.meter(meter.name, of.paid)
    return shows


def _payer(
    t: Table, win: ProgressiveWin, exact: Fraction, shows: int | None, of: PrintedMeter
) -> Payer:
    """The payer by amount: from a printed share of the meter on, the cage.

    If no meter was read, the payer on record is right.
    """
    if shows is not None:
        return "cage" if exact >= of.cage_from * shows else "table"
    paid = [said(fact, WagerPaid) for fact in t.source.untaken("wager_paid")]
    mine = [b for b in paid if (b.position, b.wager) == (win.seat, of.wager)]
    return mine[0].paid_from if mine else "table"


def _won(
    t: Table, win: ProgressiveWin, exact: Fraction, table: Paytable, payer: Payer
) -> Settlement:
    """The settlement of a win, with two rows if the meter is one of them."""
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
        paid_from=payer,
    )
