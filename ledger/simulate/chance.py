"""Chance as the source of a round: it answers each step of `play` by making the fact.

The same `play` that judges a record asks here. A mistake that is armed is made at a step where
there is room for it; nothing here looks for mistakes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import (
    CardsDealt,
    CardsTurned,
    Coupon,
    DecisionMade,
    DiceThrown,
    FactRef,
    HandDiscarded,
    MarkerPlaced,
    NoMoreBetsCalled,
    NoRollCalled,
    StubCounted,
    WagerPlaced,
)
from ledger.rules.cards import DECK
from ledger.simulate import habits
from ledger.simulate.hand import CHIP, Chips, Hand, Misdealt
from ledger.values import UNKNOWN_CARD
from ledger.wire import Fact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ledger.facts import Body
    from ledger.rules.steps import Step
    from ledger.simulate.bank import Bank
    from ledger.simulate.mistakes import Slip
    from ledger.simulate.teller import Teller

Holder = tuple[str, int | None]

_HOLE_CARDS = 2
_SAME_RANK_MOST = 3  # with its copy no hand holds five of a kind
_COUPON, _NO_ROLL, _CANCELLED = 0.01, 0.02, 0.005  # how often: a wager, a throw
_HERE, _TOO_MANY = 0.4, 0.6  # a misdeal at this player; with a card too many
_NO_ROLLS = ("a die left the table", "a die hit the rail", "the dice did not reach the far end")


def _unsaid(body: Body) -> Fact:
    """What `play` is told and no device ever was."""
    return Fact(body, "", "", 0, None, None, None, None)


class Chance(Chips):
    """The source of one round. Every answer is told by a device at the time it happens."""

    ended = False
    excused = False

    def __init__(self, teller: Teller, bank: Bank, hand: Hand, slip: Slip) -> None:
        super().__init__(teller, bank, hand, slip)
        self.deck = list(DECK)
        self.chance.shuffle(self.deck)
        self.held: dict[Holder, list[str]] = {}
        self.open: list[str] = []  # community cards face up
        self.late: WagerPlaced | None = None
        self.shorted = 0  # a position dealt a card too few
        self.coupons: list[Coupon] = []
        self.counted = False  # the stub
        self._answers: dict[str, Callable[[Step], Fact | None]] = {
            "no_more_bets_called": self._no_more_bets,
            "cards_dealt": self._deal,
            "stub_counted": self._count_stub,
            "cards_turned": self._turn,
            "wager_placed": self._offer,
            "dice_thrown": self._throw,
            "marker_placed": self._mark,
            "hand_discarded": self._discard,
            "wager_paid": self.pay,
            "wager_collected": self.collect,
            "wager_returned": self.give_back,
        }

    # -- the source --------------------------------------------------------------------------

    def take(self, step: Step) -> Fact | None:
        """Make the fact that answers a step; None where nothing happens."""
        return self._answers[step.fact](step)

    def wagers(self, names: Sequence[str], section: str, throw: int | None) -> list[Fact]:
        """The wagers the patrons place now, position by position."""
        del section
        placed = []
        opening = throw is None
        late_seat = self._late_seat(names) if opening else 0
        for seat, patron in self.hand.patrons.items():
            chosen = habits.wagers(self.hand.habit, patron, names, self.chance, opening=opening)
            if seat == late_seat:
                fact = self._placed_late(seat, chosen, names)
                placed += [fact] if fact else []
            placed += [self._place(seat, wager, cents) for wager, cents in chosen]
        return placed

    def left(self, name: str) -> list[Fact]:
        """Nothing is left over: no fact is made before it is asked for."""
        del name
        return []

    def later_than(self, fact: Fact, other: Fact) -> bool | None:
        """What is made is never late by its own account."""
        del fact, other
        return False

    def shown(self, to: str, position: int | None, hand: int) -> int:
        """Nothing is turned before it is asked for."""
        del to, position, hand
        return 0

    def gone_from_deck(self) -> int:
        """How many cards were dealt."""
        return len(self.dealt)

    def plays_on(self, position: int) -> bool:
        """Nobody plays on without being asked."""
        del position
        return False

    def gone(self, position: int) -> bool:
        """Nobody leaves during a round."""
        del position
        return False

    def seat_of(self, position: int) -> tuple[int, ...]:
        """Each player holds one position."""
        return (position,)

    # -- wagers ------------------------------------------------------------------------------

    def _place(self, seat: int, wager: str, cents: int) -> Fact:
        coupon = None
        if wager == self.hand.habit.coupon and self.chance.random() < _COUPON:
            coupon = Coupon(f"MP-{self.chance.randrange(10_000):06d}", CHIP)
            self.coupons.append(coupon)
        body = WagerPlaced(position=seat, wager=wager, amount=cents, coupon=coupon)
        self.stake(body)
        return self.teller.tell("layout", body, self.teller.between(150, 900))

    def _late_seat(self, names: Sequence[str]) -> int:
        """Who puts a wager down late, if that is to happen now."""
        if not self.slip.may("late_wager"):
            return 0
        return self.chance.choice(list(self.hand.patrons)) if names else 0

    def _placed_late(
        self, seat: int, chosen: list[tuple[str, int]], names: Sequence[str]
    ) -> Fact | None:
        """Choose a wager he has not made, to go down once wagers are closed; it is settled."""
        made = {wager for wager, _ in chosen}
        free = [name for name in names if name in self.hand.habit.sometimes and name not in made]
        spare = self.hand.patrons[seat].chips - sum(cents for _, cents in chosen)
        if not free or not chosen or spare < CHIP:
            return None
        self.late = WagerPlaced(position=seat, wager=self.chance.choice(free), amount=CHIP)
        self.hand.patrons[seat].chips -= CHIP  # in his hand already
        return _unsaid(self.late)

    def _place_late(self) -> None:
        """The late chips go down, well after wagers closed."""
        if self.late is None:
            return
        body, self.late = self.late, None
        self.hand.patrons[body.position].chips += body.amount
        self.stake(body)
        fact = self.teller.tell("layout", body, self.teller.between(1_200, 2_600))
        self.slip.made(
            "late_wager", fact, says=f"Position {body.position} bets after wagers closed."
        )

    def _offer(self, step: Step) -> Fact | None:
        """A player is asked for a bet: he makes it, or folds."""
        if step.instead is None or step.position is None:
            return None
        seat, patron = step.position, self.hand.patrons[step.position]
        known = [*self.held.get(("player", seat), ()), *self.open]
        cents = habits.bet(known, step.choices, patron.chips, self.chance)
        after_us = self.teller.between(1_000, 3_500)
        if not self.open and not any(wager == "across" for _, wager in self.up):
            after_us += self.teller.between(800, 2_000)  # the first to be asked looks at his cards
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

    # -- cards -------------------------------------------------------------------------------

    def _no_more_bets(self, step: Step) -> Fact:
        del step
        fact = self.teller.tell("terminal", NoMoreBetsCalled(), self.teller.between(1_500, 4_000))
        self._place_late()
        return fact

    def _draw(self) -> str:
        """The next card of the deck; a second copy of one dealt, where that is planted."""
        if self.dealt and self.hand.reads and self.slip.may("duplicate_card", 0.2):
            card = self.chance.choice(self.dealt)
            if sum(other[0] == card[0] for other in self.dealt) < _SAME_RANK_MOST:
                self.slip.made("duplicate_card", None, says=f"{card} is dealt a second time.")
                self.dealt.append(card)
                return card
        card = self.deck.pop()
        self.dealt.append(card)
        return card

    def _deal(self, step: Step) -> Fact:
        """Cards off the deck: one at a time, or a holder's stack."""
        holder = (step.to or "", step.position)
        held = self.held.setdefault(holder, [])
        drawn = [self._draw() for _ in range(step.cards if self.hand.stacked else 1)]
        held += drawn
        if step.position and len(held) == _HOLE_CARDS:
            if self.hand.misdeals and self.chance.random() < _HERE:
                self._tell_dealt(step, [*drawn, self._draw()])
                raise Misdealt
            if self.slip.may("wrong_card_count", 0.3):
                return self._misdeal(step, held, drawn)
        return self._tell_dealt(step, drawn)

    def _tell_dealt(self, step: Step, cards: Sequence[str]) -> Fact:
        body = self._dealt_body(step, cards)
        device = "shoe" if self.hand.reads else "eye"
        return self.teller.tell(device, body, self.teller.between(350, 700))

    def _dealt_body(self, step: Step, cards: Sequence[str]) -> CardsDealt:
        read = tuple(cards) if self.hand.reads else (UNKNOWN_CARD,) * len(cards)
        return CardsDealt(to=step.to or "player", position=step.position, cards=read, face="down")  # type: ignore[arg-type]  # a step names who may hold cards

    def _misdeal(self, step: Step, held: list[str], drawn: list[str]) -> Fact:
        """A card too many or too few for one player; `play` is told it was right."""
        seat = step.position or 0
        if self.chance.random() < _TOO_MANY:
            fact = self._tell_dealt(step, drawn)
            extra = self._draw()
            held.append(extra)
            told = self._tell_dealt(step, [extra])
            says = f"Position {seat} is dealt three cards, and the round is played on."
            self.slip.made("wrong_card_count", told, seat, says=says)
            return fact
        last = held.pop()
        self.deck.append(last)
        self.dealt.remove(last)
        self.shorted = seat
        says = f"Position {seat} is dealt one card, and the round is played on."
        self.slip.made("wrong_card_count", None, seat, says=says)
        if len(drawn) > 1:
            self._tell_dealt(step, drawn[:1])
        return _unsaid(self._dealt_body(step, drawn))

    def _count_stub(self, step: Step) -> Fact | None:
        """The stub comes out of the shoe; from time to time it is counted."""
        del step
        if self.hand.stub_of is None:
            return None
        self.counted = True
        stub = StubCounted(batch=self.hand.stub_of, counted=len(DECK) - len(self.dealt))
        return self.teller.tell("terminal", stub, self.teller.between(6_000, 10_000))

    def _turn(self, step: Step) -> Fact:
        held = self.held[step.to or "", step.position]
        cards = tuple(held[index] for index in step.at)
        at = None
        if step.position is None:
            self.open += cards
            at = step.at
        body = CardsTurned(to=step.to or "player", position=step.position, cards=cards, at=at)  # type: ignore[arg-type]  # a step names who may hold cards
        return self.teller.tell("eye", body, self.teller.between(900, 1_800))

    def _discard(self, step: Step) -> Fact:
        body = HandDiscarded(to=step.to or "player", position=step.position)  # type: ignore[arg-type]  # a step names who may hold cards
        return self.teller.tell("eye", body, self.teller.between(500, 1_000))

    # -- dice --------------------------------------------------------------------------------

    def _throw(self, step: Step) -> Fact:
        """A valid throw; now and then one before it that does not count."""
        after_us = self.teller.between(3_000, 6_000)
        if self.chance.random() < _NO_ROLL:
            no_roll = NoRollCalled(reason=self.chance.choice(_NO_ROLLS))
            self.teller.tell("terminal", no_roll, after_us)
        elif self.chance.random() < _CANCELLED:
            cancelled = self.teller.tell("eye", self._thrown(step), after_us)
            of = FactRef(cancelled.source, cancelled.id)
            no_roll = NoRollCalled(reason=_NO_ROLLS[1], of=of)
            self.teller.tell("terminal", no_roll, self.teller.between(900, 1_500))
        fact = self.teller.tell("eye", self._thrown(step), after_us)
        self._place_late()
        return fact

    def _thrown(self, step: Step) -> DiceThrown:
        one, two, three = (int(self.chance.random() * 6) + 1 for _ in range(3))
        return DiceThrown(
            offensive=(one, two),
            defensive=three,
            purpose="extra_point" if step.what == "extra_point" else "down",
            position=self.hand.shooter or None,
        )

    def _mark(self, step: Step) -> Fact:
        body = MarkerPlaced(marker=step.what, at=step.at[0])  # type: ignore[arg-type]  # a step names a marker there is
        return self.teller.tell("terminal", body, self.teller.between(300, 700))
