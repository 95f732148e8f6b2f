"""Card readers and progressive meters in a simulated round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ledger.facts import HoleCardChecked, MeterAdvanced, MeterRead, MeterReset, WagerPlaced
from ledger.rules.hands.twenty_one import is_blackjack
from ledger.rules.wagers.progressive import meter_of
from ledger.values import dollars

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.game import InForce
    from ledger.rules.engine.steps import Step
    from ledger.simulate.device_emitter import DeviceEmitter
    from ledger.simulate.mistakes import Slip

_GROWN, _WHOLE = 1_000_000, 1_000  # cents; a share of a meter is whole dollars


def check_hole(teller: DeviceEmitter, dealers: Sequence[str]) -> Fact:
    """Read the hole card: whether the dealer's two cards are a Blackjack."""
    result: Literal["blackjack", "none"] = "blackjack" if is_blackjack(dealers) else "none"
    return teller.tell("eye", HoleCardChecked(result=result), teller.between(900, 1_800))


class Meters:
    """A table's progressive meters. They go up by their rate with each wager."""

    def __init__(self, rules: InForce, chance: random.Random) -> None:
        """Start each meter tens of dollars above its reset amount."""
        self._of = {of.wager: meter_of(rules, of) for of in rules.game.meters}
        self._shows = {  # cents, by name
            self._of[of.wager].name: self._of[of.wager].back_to(of.least)
            + chance.randrange(0, _GROWN, _WHOLE)
            for of in rules.game.meters
        }

    def advance(self, teller: DeviceEmitter, placed: Sequence[WagerPlaced], slip: Slip) -> None:
        """Raise the meter by wagers. An armed mistake leaves it unchanged."""
        for wager, meter in self._of.items():
            cents = sum(body.amount for body in placed if body.wager == wager)
            if not cents:
                continue
            stuck = slip.may("meter_stuck")
            self._shows[meter.name] += 0 if stuck else int((meter.rate or 0) * cents)
            body = MeterAdvanced(meter=meter.name, amount=self._shows[meter.name])
            fact = teller.tell("terminal", body, teller.between(900, 1_800))
            if stuck:
                says = f"The meter {meter.name} does not go up with {dollars(cents)} wagered."
                slip.made("meter_stuck", fact, wager=wager, says=says, of_round=False)

    def read(self, teller: DeviceEmitter, step: Step) -> Fact:
        """Read a meter as a win is paid from it."""
        name = step.what or ""
        body = MeterRead(meter=name, amount=self._shows[name])
        return teller.tell("terminal", body, teller.between(900, 1_800))

    def reset(self, teller: DeviceEmitter, step: Step) -> Fact:
        """Reset a meter to the amount of the Rules Submission."""
        name, cents = step.what or "", step.amount or 0
        self._shows[name] = cents
        return teller.tell(
            "terminal", MeterReset(meter=name, amount=cents), teller.between(900, 1_800)
        )
