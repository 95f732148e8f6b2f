"""The cards and chips of a simulated round, and the mistakes in moving chips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ledger.facts import (
    DecisionMade,
    FeePaid,
    IrregularityCalled,
    PotAwarded,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
)
from ledger.rules.engine.steps import POT
from ledger.rules.wagers.house_money import PRESS
from ledger.simulate.patrons import CHIP
from ledger.values import dollars

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from ledger.facts import Body
    from ledger.record.wire import Fact
    from ledger.rules.engine.game import PlayerModel
    from ledger.rules.engine.steps import Spot, Step
    from ledger.simulate.bank import Bank
    from ledger.simulate.device_emitter import DeviceEmitter
    from ledger.simulate.meters import Meters
    from ledger.simulate.mistakes import Slip
    from ledger.simulate.patrons import Patron

DOLLAR = 100  # cents


class Misdealt(Exception):  # noqa: N818 - a misdeal that is called is no error
    """The dealer calls an irregularity that voids the round, by its kind."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class SimulatedHand:
    """What the table brings into a round: players, cards, and the mistakes to make."""

    def __init__(
        self,
        model: PlayerModel,
        patrons: Mapping[int, Patron],
        meters: Meters,
        *,
        shooter: int = 0,
        button: int | None = None,
        starts: int | None = None,
        reads: bool = True,
        stacked: bool = False,
    ) -> None:
        """`reads`: the shoe knows each card; `stacked`: it deals a holder's cards at once."""
        self.model = model
        self.patrons = patrons
        self.meters = meters
        self.shooter = shooter
        self.button = button  # position with the button at Poker
        self.starts = starts  # the place of a flat button, where the deal begins
        self.reads = reads
        self.stacked = stacked
        self.stub_of: str | None = None  # the batch whose stub is counted in this round
        self.misdeals = False  # whether a misdeal is called and the round voided
        self.voids: tuple[str, ...] = ("wrong_card_count",)  # kinds that may be called then
        self.kinds: frozenset[str] = frozenset()  # kinds called without a void


def _returned(step: Step, cents: int) -> WagerReturned:
    """A stake that goes back to its patron."""
    return WagerReturned(
        position=step.position or 0, wager=step.what or "", hand=step.hand, amount=cents
    )


class Chips:
    """The chips of one round: on the layout, in the tray, in the patrons' hands."""

    def __init__(self, teller: DeviceEmitter, bank: Bank, hand: SimulatedHand, slip: Slip) -> None:
        self.teller = teller
        self.chance: random.Random = teller.chance
        self.bank = bank
        self.hand = hand
        self.slip = slip
        self.dealt: list[str] = []  # cards of the hands
        self.up: dict[Spot, int] = {}  # stakes on the layout, cents

    def stake(self, body: WagerPlaced) -> None:
        """Put chips from a patron's hand onto the layout."""
        spot = (body.position, body.wager, body.hand)
        self.up[spot] = self.up.get(spot, 0) + body.amount
        self.hand.patrons[body.position].chips -= body.amount

    def press(self, body: DecisionMade) -> None:
        """Press paid House Money onto another wager, if that was decided."""
        if body.decision == PRESS and body.amount:
            wager = body.wager or self.hand.model.always[0]
            spot = (body.position, wager, body.hand)
            self.up[spot] = self.up.get(spot, 0) + body.amount
            self.hand.patrons[body.position].chips -= body.amount

    def drop_coupon(self, step: Step) -> Fact:
        """Drop a coupon as its wager is paid or collected."""
        return self.bank.drop_coupon(step.what or "", step.amount or 0)

    def call_misdeal(self, kind: str, reason_by: str) -> None:
        """Call the misdeal, and give every wager back."""
        called = IrregularityCalled(kind=kind, by=reason_by)  # type: ignore[arg-type]  # of a game's own
        self.teller.tell("terminal", called, self.teller.between(1_500, 3_000))
        if self.hand.button is not None:
            self._pool()
        for (seat, wager, hand), cents in sorted(self.up.items()):
            self.hand.patrons[seat].chips += cents
            body = WagerReturned(position=seat, wager=wager, hand=hand, amount=cents)
            self.teller.tell("layout", body, self.teller.between(400, 900))
        self.up.clear()

    def _pool(self) -> None:
        """Count each player's chips in the pots as one sum."""
        for spot in list(self.up):
            cents, seat = self.up.pop(spot), spot[0]
            self.up[seat, POT, 1] = self.up.get((seat, POT, 1), 0) + cents

    def _move(self, step: Step, body: Body, truth: Body | None = None) -> Fact:
        del step
        return self.teller.tell("layout", body, self.teller.between(450, 1_000), truth=truth)

    def pay(self, step: Step) -> Fact | None:
        """Pay a winner, who takes his stake back. An armed mistake pays wrongly."""
        seat, wager, amount = step.position or 0, step.what or "", step.amount or 0
        stake = self.up.pop((seat, wager, step.hand), 0)
        if amount == 0:
            self._keeps(step, stake)
            return None
        paid = self._mispaid(amount, stake)
        if step.paid_from == "table":
            if paid > self.bank.tray:
                self.bank.fill(2 * paid)
            self.bank.tray -= paid
        self.hand.patrons[seat].chips += stake + paid
        if paid == 0:
            says = f"Position {seat} is passed over when {wager} is paid."
            self.slip.made(
                "skipped_player", None, seat, wager, expect=("underpaid",), says=says, cents=amount
            )
            self.teller.happen(_returned(step, stake))
            return None
        body = WagerPaid(
            position=seat,
            wager=wager,
            hand=step.hand,
            amount=paid,
            throw=step.throw,
            paid_from=step.paid_from,
        )
        reads = self._misread(amount, stake) if paid == amount else paid
        fact = self._move(step, replace(body, amount=reads), body)
        if reads != paid:
            says = (
                f"The layout reports {dollars(reads)} on {wager} at {seat}; it was {dollars(paid)}."
            )
            self.slip.made("payment_misread", fact, says=says, cents=reads - paid)
        if paid != amount:
            name = "overpay" if paid > amount else "underpay"
            says = (
                f"Position {seat} is paid {dollars(paid)} on {wager} instead of {dollars(amount)}."
            )
            self.slip.made(name, fact, says=says, cents=abs(paid - amount))
        return fact

    def _keeps(self, step: Step, stake: int) -> None:
        """A patron takes a stake back by himself."""
        self.hand.patrons[step.position or 0].chips += stake
        if stake:
            self.teller.happen(_returned(step, stake))

    def _misread(self, amount: int, stake: int) -> int:
        """The sum that the layout reports of a right payment."""
        misread = self.slip.may("payment_misread", 0.3)
        return amount + max(stake, CHIP) if misread else amount

    def _mispaid(self, amount: int, stake: int) -> int:
        """The sum paid instead of the amount owed."""
        if self.slip.may("overpay", 0.3):
            return amount + max(stake, CHIP)
        if amount >= 2 * DOLLAR and self.slip.may("underpay", 0.3):
            return amount // (2 * DOLLAR) * DOLLAR
        nobody_asked = self.hand.model.stays is None  # for a bet, so only a payment can be missed
        if nobody_asked and self.slip.may("skipped_player", 0.3):
            return 0
        return amount

    def collect(self, step: Step) -> Fact | None:
        """Collect a lost stake, unless the dealer leaves it."""
        seat, wager = step.position or 0, step.what or ""
        stake = self._taken(step)
        if self.slip.may("not_collected", 0.2):
            self._keeps(step, stake)
            says = f"Position {seat} keeps {dollars(stake)} lost on {wager}."
            self.slip.made("not_collected", None, seat, wager, says=says, cents=stake)
            return None
        self.bank.tray += stake
        return self._move(
            step,
            WagerCollected(
                position=seat, wager=wager, hand=step.hand, amount=stake, throw=step.throw
            ),
        )

    def give_back(self, step: Step) -> Fact:
        """Give a push back, unless the dealer takes it for a win."""
        seat, wager = step.position or 0, step.what or ""
        stake = self._taken(step)
        patron = self.hand.patrons[seat]
        patron.chips += stake
        pushed = (seat, wager, step.hand) not in self.up
        pushed = pushed and self.hand.button is None
        if pushed and 0 < stake <= self.bank.tray and self.slip.may("paid_push", 0.5):
            self.bank.tray -= stake
            patron.chips += stake
            paid = WagerPaid(position=seat, wager=wager, hand=step.hand, amount=stake)
            fact = self._move(step, paid)
            says = f"Position {seat} is paid {dollars(stake)} on {wager}, which pushes."
            self.slip.made("paid_push", fact, says=says, cents=stake)
            return fact
        return self._move(
            step,
            WagerReturned(
                position=seat, wager=wager, hand=step.hand, amount=stake, throw=step.throw
            ),
        )

    def _taken(self, step: Step) -> int:
        """Take a stake off the layout, or the part of it that moves this way."""
        spot = (step.position or 0, step.what or "", step.hand)
        stake = self.up.pop(spot, 0)
        part = min(stake, step.amount or stake)
        if part < stake:
            self.up[spot] = stake - part
        return part

    def award(self, step: Step) -> Fact:
        """Push a pot, or a share of it, to a winner."""
        number, _, share = (step.what or "").partition(" ")
        seat, due = step.position or 0, step.amount or 0
        cents = due
        for spot in [spot for spot in self.up if spot[1] == POT]:
            del self.up[spot]
        if self.slip.may("overpay", 0.3):
            cents += CHIP
        elif due > CHIP and self.slip.may("underpay", 0.3):
            cents -= CHIP
        self.bank.tray -= cents - due
        self.hand.patrons[seat].chips += cents
        body = PotAwarded(pot=int(number), share=share or None, position=seat, amount=cents)  # type: ignore[arg-type]  # a step names a share there is
        fact = self._move(step, body)
        if cents != due:
            says = f"Position {seat} is pushed {dollars(cents)} instead of {dollars(due)}."
            name = "overpay" if cents > due else "underpay"
            self.slip.made(name, fact, wager=POT, says=says)
        return fact

    def fee(self, step: Step) -> Fact:
        """Take a fee that a player pays the house."""
        seat, cents = step.position or 0, step.amount or 0
        self.hand.patrons[seat].chips -= cents
        self.bank.tray += cents
        name, _, purpose = (step.what or "").rpartition(" ")
        body = FeePaid(
            position=seat, fee=name or purpose, purpose=purpose if name else None, amount=cents
        )
        return self._move(step, body)
