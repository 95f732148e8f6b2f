"""What a round's wins took of progressive meters, by the rulings.

A `meter_read` of the round says what the meter showed and when. The rest of such a win is paid by
printed odds and takes nothing of the meter.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct

from ledger.facts import MeterRead
from ledger.rules.engine.odds import parse_odds
from ledger.rules.engine.ruling import FactRef
from ledger.rules.wagers.progressive import meter_share

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledger.record.wire import Fact
    from ledger.rules.engine.ruling import Settlement


class MeterPayment(Struct, frozen=True):
    """What one win took of a meter. amount: cents; time_us: when the meter was read for it."""

    meter: str
    amount: int
    time_us: int
    facts: list[FactRef]


def paid_from_meters(told: Iterable[Fact], settlements: Iterable[Settlement]) -> list[MeterPayment]:
    """The payments of one round; `told`: its facts in order."""
    reads = [fact for fact in told if isinstance(fact.body, MeterRead)]
    wins = [each for each in settlements if meter_share(each.odds or "")]
    if not reads:
        return []
    found = []
    for each in wins:
        read = next((fact for fact in reversed(reads) if _name(fact) == each.wager), reads[-1])
        facts = [FactRef(read.source, read.id)]
        its = (_name(read), _share(each), read.time_us, facts)
        found.append(MeterPayment(*its))
    return [each for each in found if each.amount]


def _name(fact: Fact) -> str:
    return fact.body.meter if isinstance(fact.body, MeterRead) else ""


def _share(win: Settlement) -> int:
    """The part of a win that is a share of the meter: less what its printed odds pay."""
    printed = sum((parse_odds(row) for row in (win.rows or [])[1:]), Fraction(0))
    return win.net - int(printed * win.stake)
