"""The patrons of one round: they place wagers, in time or late, bet, decide, arrange hands.

Everything is by chance and within their chips. The device that sees an action sends its fact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import Coupon, DecisionMade, HandSet, WagerPlaced
from ledger.record.wire import Fact
from ledger.simulate import patrons
from ledger.simulate.hand import Chips, SimulatedHand
from ledger.simulate.patrons import CHIP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.facts import Body
    from ledger.rules.engine.steps import Step
    from ledger.simulate.bank import Bank
    from ledger.simulate.device_emitter import DeviceEmitter
    from ledger.simulate.mistakes import Slip

Holder = tuple[str, int | None, int]

_COUPON = 0.01  # share of the wagers it may be played on
_LIKED = 500  # per mille, for an added wager without a model
_WHOLE, _DECIDES = 0.5, 0.3  # share that adds all it may; share that decides without need


def unsaid(body: Body) -> Fact:
    """A fact that `play` gets and no device sent."""
    return Fact(body, "", "", 0, None, None, None, None)


class Players(Chips):
    """The patrons of one round, and the cards they know."""

    def __init__(self, teller: DeviceEmitter, bank: Bank, hand: SimulatedHand, slip: Slip) -> None:
        super().__init__(teller, bank, hand, slip)
        self.held: dict[Holder, list[str]] = {}
        self.open: list[str] = []  # community cards face up
        self.late: WagerPlaced | None = None
        self.looked: set[int] = set()  # positions whose players looked at their cards
        self.shorted = 0  # a position dealt a card too few
        self.couponed: set[int] = set()  # positions whose players used a coupon
        self.given: dict[int, list[str]] = {}  # cards discarded or given up, by position

    def wagers(self, names: Sequence[str], section: str, throw: int | None) -> list[Fact]:
        """The wagers that patrons place now, position by position."""
        del section
        placed = []
        opening = throw is None or (throw == 1 and self.hand.model.otherwise in names)
        late_seat = self._late_seat(names) if opening else 0
        for seat, patron in self.hand.patrons.items():
            chosen = patrons.wagers(self.hand.model, patron, names, self.chance, opening=opening)
            if seat == late_seat:
                fact = self._placed_late(seat, chosen, names)
                placed += [fact] if fact else []
            placed += [self._place(seat, wager, cents) for wager, cents in chosen]
        self._feed([fact.body for fact in placed if fact.body is not self.late])
        return placed

    def _feed(self, placed: Sequence[object]) -> None:
        """Raise the progressive meters that these wagers feed."""
        bodies = [body for body in placed if isinstance(body, WagerPlaced)]
        self.hand.meters.advance(self.teller, bodies, self.slip)

    def _place(self, seat: int, wager: str, cents: int) -> Fact:
        coupon = None
        likes = wager == self.hand.model.coupon and self.chance.random() < _COUPON
        if likes and seat not in self.couponed:
            coupon = Coupon(next(self.bank.serials), CHIP)
            self.couponed.add(seat)
        body = WagerPlaced(position=seat, wager=wager, amount=cents, coupon=coupon)
        self.stake(body)
        return self.teller.tell("layout", body, self.teller.between(150, 900))

    def _late_seat(self, names: Sequence[str]) -> int:
        """The seat of a late wager, if one is to be made now."""
        if not self.slip.may("late_wager"):
            return 0
        return self.chance.choice(list(self.hand.patrons)) if names else 0

    def _placed_late(
        self, seat: int, chosen: list[tuple[str, int]], names: Sequence[str]
    ) -> Fact | None:
        """Choose a wager that he has not made, to place once wagers are closed. It is settled."""
        made = {wager for wager, _ in chosen}
        free = [name for name in names if name in self.hand.model.sometimes and name not in made]
        spare = self.hand.patrons[seat].chips - sum(cents for _, cents in chosen)
        wager = self.chance.choice(free) if free else ""
        cents = self.hand.model.chips.get(wager, CHIP)
        if not free or not chosen or spare < cents:
            return None
        self.late = WagerPlaced(position=seat, wager=wager, amount=cents)
        self.hand.patrons[seat].chips -= cents  # already in his hand
        return unsaid(self.late)

    def place_late(self) -> None:
        """Place the late chips, well after wagers closed."""
        if self.late is None:
            return
        body, self.late = self.late, None
        self.hand.patrons[body.position].chips += body.amount
        self.stake(body)
        fact = self.teller.tell("layout", body, self.teller.between(1_200, 2_600))
        self.slip.made(
            "late_wager", fact, says=f"Position {body.position} bets after wagers closed."
        )
        self._feed([body])

    def offer(self, step: Step) -> Fact | None:
        """Ask a player for a bet: he makes it, or folds."""
        if step.position is None:
            return None
        if step.instead is None:
            return self._add(step)
        seat, patron = step.position, self.hand.patrons[step.position]
        known = [*self.held.get(("player", seat, 1), ()), *self.open]
        cents = patrons.bet(known, step.choices, patron.chips, self.chance)
        after_us = self.teller.between(1_000, 3_500)
        if seat not in self.looked:
            self.looked.add(seat)
            after_us += self.teller.between(800, 2_000)  # he looks at his cards
        if self.slip.may("skipped_player", 0.3):
            says = f"Position {seat} is not asked for {step.what}; his hand is taken."
            self.slip.made("skipped_player", None, seat, step.what, says=says)
            return None
        if cents is None or seat == self.shorted:
            folded = DecisionMade(position=seat, decision="fold")
            return self.teller.tell("terminal", folded, after_us)
        body = WagerPlaced(position=seat, wager=step.what or "", amount=cents)
        self.stake(body)
        return self.teller.tell("layout", body, after_us)

    def _add(self, step: Step) -> Fact | None:
        """Chips that a player may put down, or must after his decision."""
        seat, wager = step.position or 0, step.what or ""
        liked = self.hand.model.sometimes.get(wager, _LIKED)
        spot = (seat, wager, step.hand)
        if spot in self.up or (step.may and self.chance.random() * 1000 >= liked):
            return None
        can = patrons.affordable(step.choices, self.hand.patrons[seat].chips)
        if not can:
            return None
        cents = (
            can[-1] if not step.may or self.chance.random() < _WHOLE else self.chance.choice(can)
        )
        body = WagerPlaced(position=seat, wager=wager, amount=cents, hand=step.hand)
        self.stake(body)
        return self.teller.tell("layout", body, self.teller.between(800, 2_000))

    def decide(self, step: Step) -> Fact | None:
        """A player's decision among those he can pay for. He often leaves out one he need not make.

        A player dealt a card too few gives his hand up, or leaves out what he may do.
        """
        seat = step.position or 0
        chips = self.hand.patrons[seat].chips
        costs = step.costs or {}
        can = [each for each in step.options if costs.get(each, 0) <= chips]
        if seat == self.shorted:
            can = [each for each in can if each == "fold"] or ([] if step.may else can)
        held = self.held.get(("player", seat, step.hand), [])
        if not can or (step.may and self.chance.random() >= self._inclined(held, can)):
            return None
        self.before_decision(can)
        decision = patrons.decision(self.hand.model, held, can, self.chance)
        ways = step.ways(decision) if step.ways else ()
        way = self.chance.choice(ways) if ways else {}
        if decision == "split":
            self._split(seat, held)
        body = DecisionMade(position=seat, hand=step.hand, decision=decision, **way)
        self.press(body)
        told = self.teller.tell("terminal", body, self.teller.between(1_000, 3_500))
        self.after_decision(seat, decision)
        return told

    def before_decision(self, options: Sequence[str]) -> None:
        """The irregularity, if any, before a player decides."""

    def after_decision(self, seat: int, decision: str) -> None:
        """The irregularity, if any, after he decided."""

    def _inclined(self, held: Sequence[str], can: Sequence[str]) -> float:
        """The chance that a player makes an optional decision: the sum of his weights."""
        model = self.hand.model
        decision_weights = model.decision_weights(held, can) if model.decision_weights else {}
        named = [decision_weights[each] for each in can if each in decision_weights]
        return sum(named) / 1000 if named else _DECIDES

    def _split(self, seat: int, held: list[str]) -> None:
        """Split a pair: its second card begins a hand with the next free number."""
        hands = [number for to, position, number in self.held if (to, position) == ("player", seat)]
        self.held["player", seat, max(hands) + 1] = [held.pop()]

    def set_hand(self, step: Step) -> Fact | None:
        """Arrange a holder's cards, once, in a way the section allows."""
        ways = step.ways("hand_set") if step.ways and not step.may else ()
        if not ways:
            return None
        body = HandSet(to=step.to or "player", position=step.position, **self.chance.choice(ways))  # type: ignore[arg-type]  # a step names who may hold cards
        return self.teller.tell("eye", body, self.teller.between(2_000, 6_000))
