"""What card readers and progressive meters tell in a round that chance deals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ledger.facts import HoleCardChecked, MeterRead, MeterReset
from ledger.rules.twenty_one import is_blackjack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.rules.steps import Step
    from ledger.simulate.teller import Teller
    from ledger.wire import Fact

_METER_LEAST, _METER_MOST = 600_000, 2_000_000  # cents on a progressive meter
_WHOLE = 10_000  # a tenth of what it shows is chips of $10


def check_hole(teller: Teller, dealers: Sequence[str]) -> Fact:
    """The card reader: whether the dealer's two cards are a Blackjack."""
    result: Literal["blackjack", "none"] = "blackjack" if is_blackjack(dealers) else "none"
    return teller.tell("eye", HoleCardChecked(result=result), teller.between(900, 1_800))


def read_meter(teller: Teller, step: Step) -> Fact:
    """What a meter shows as a win is paid from it."""
    cents = teller.chance.randrange(_METER_LEAST, _METER_MOST, _WHOLE)
    body = MeterRead(meter=step.what or "", amount=cents)
    return teller.tell("terminal", body, teller.between(900, 1_800))


def reset_meter(teller: Teller, step: Step) -> Fact:
    """A meter goes back to the amount the Rules Submission gives."""
    body = MeterReset(meter=step.what or "", amount=step.amount or 0)
    return teller.tell("terminal", body, teller.between(900, 1_800))
