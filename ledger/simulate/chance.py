"""The simulated source of a round: it answers each step of `play` by making the fact.

The same `play` that judges a record asks here. An armed mistake is made at a step that has room for
it. Nothing here looks for mistakes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from ledger.facts import (
    CardsDealt,
    CardsExchanged,
    CardsTurned,
    DecisionMade,
    DecisionsLockedCalled,
    DiceThrown,
    FactRef,
    HandDiscarded,
    MarkerPlaced,
    NoMoreBetsCalled,
    NoRollCalled,
    StartingPositionDetermined,
    StubCounted,
)
from ledger.rules.engine.table import THREE_DICE
from ledger.simulate.hand import Misdealt
from ledger.simulate.incidents import Incidents
from ledger.simulate.meters import check_hole
from ledger.simulate.players import Holder, unsaid
from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.steps import Step
    from ledger.simulate.bank import Bank
    from ledger.simulate.device_emitter import DeviceEmitter
    from ledger.simulate.hand import SimulatedHand
    from ledger.simulate.mistakes import Slip

_SAME_RANK_MOST = 3  # with its copy no hand holds five of a kind
_NO_ROLL, _CANCELLED = 0.02, 0.005  # share of the throws
_HERE, _TOO_MANY = 0.4, 0.6  # chance of a misdeal at a player; of a card too many in it
_NO_ROLLS = ("a die left the table", "a die hit the rail", "the dice did not reach the far end")


class Chance(Incidents):
    """The source of one round. A device sends every answer at the time it happens."""

    ended = False
    may_be_lost = False
    voided = False

    def __init__(
        self, teller: DeviceEmitter, bank: Bank, hand: SimulatedHand, slip: Slip, deck: list[str]
    ) -> None:
        """`deck`: the cards of the round, the next one last."""
        super().__init__(teller, bank, hand, slip)
        self.deck = deck
        self.cards = len(deck)
        self.calls = []
        self.counted = False  # cards of the stub
        self.whole: set[Holder] = set()  # positions whose first deal is complete
        self.downs: list[tuple[int, int, int]] = []  # throws of three dice
        self._answers: dict[str, Callable[[Step], Fact | None]] = {
            "no_more_bets_called": self._no_more_bets,
            "decisions_locked_called": self._locked,
            "starting_position_determined": self._start,
            "cards_dealt": self._deal,
            "stub_counted": self._count_stub,
            "cards_turned": self._turn,
            "hole_card_checked": lambda _: check_hole(teller, self.held["dealer", None, 1]),
            "meter_read": lambda step: hand.meters.read(teller, step),
            "meter_reset": lambda step: hand.meters.reset(teller, step),
            "wager_placed": self.offer,
            "dice_thrown": self._throw,
            "marker_placed": self._mark,
            "hand_discarded": self._discard,
            "wager_paid": self.pay,
            "wager_collected": self.collect,
            "wager_returned": self.give_back,
            "decision_made": self.decide,
            "hand_set": self.set_hand,
            "cards_exchanged": self._exchange,
            "fee_paid": self.fee,
            "pot_awarded": self.award,
            "coupon_dropped": self.drop_coupon,
            "stack_counted": self.count_stack,
            "card_burned": self.burn,
            "discards_reshuffled": self.reshuffle,
            "hand_shown": self.show,
            "rake_taken": self.rake,
            "irregularity_called": self.called,
        }

    # -- the source --------------------------------------------------------------------------

    @property
    def button(self) -> int | None:
        """The position with the button."""
        return self.hand.button

    def wagers(self, names: Sequence[str], section: str, throw: int | None) -> list[Fact]:
        """The wagers that patrons place now; at Poker the Antes and the blinds."""
        if self.hand.button is not None:
            return self.post(names)
        placed = super().wagers(names, section, throw)
        if not self.dealt:
            self.left_out(placed)
        return placed

    def take(self, step: Step) -> Fact | None:
        """Make the fact that answers a step; None if nothing happens."""
        answer = self._answers.get(step.fact)
        fact = answer(step) if answer else None
        if fact and self.hand.button is not None and isinstance(fact.body, DecisionMade):
            self.chips_in(fact.body)
        return fact

    def untaken(self, name: str, before: Sequence[str] = ()) -> list[Fact]:
        """Only irregularities called: any other fact is made when it is asked for."""
        del before
        return list(self.calls) if name == "irregularity_called" else []

    def of_hand(self, name: str, position: int, hand: int) -> list[Fact]:
        """None: each is made when it is asked for."""
        del name, position, hand
        return []

    def first(self, name: str) -> Fact | None:
        """The first of what was called; nothing else is left over."""
        return next(iter(self.untaken(name)), None)

    def has_lost(self, name: str, *, among: bool = False) -> bool:
        """False: a fact can only be lost after it is sent."""
        del name, among
        return False

    def later_than(self, fact: Fact, other: Fact) -> bool | None:
        """False: a fact made here is never late."""
        del fact, other
        return False

    def shown(self, to: str, position: int | None, hand: int) -> int:
        """0: no card is turned before it is asked for."""
        del to, position, hand
        return 0

    def gone_from_deck(self) -> int:
        """The number of cards dealt."""
        return len(self.dealt) + self.racked

    def plays_on(self, position: int, *, turns_show: bool = True) -> bool:
        """False: no player goes on without being asked."""
        del position, turns_show
        return False

    def gone(self, position: int) -> bool:
        """False: no player leaves during a round."""
        del position
        return False

    def seat_of(self, position: int) -> tuple[int, ...]:
        """One position for each player."""
        return (position,)

    # -- cards -------------------------------------------------------------------------------

    def _exchange(self, step: Step) -> Fact | None:
        """Exchange the cards that a holder decided on, or that the section names."""
        ways = step.ways("cards_exchanged") if step.ways else ()
        if not ways:
            return None
        body = CardsExchanged(to=step.to or "player", position=step.position, **ways[0])  # type: ignore[arg-type]  # a step names who may hold cards
        held = self.held[step.to or "", step.position, 1]
        for card in body.discards:
            held.remove(card)
        return self.teller.tell("eye", body, self.teller.between(900, 1_800))

    def _no_more_bets(self, step: Step) -> Fact:
        del step
        fact = self.teller.tell("terminal", NoMoreBetsCalled(), self.teller.between(1_500, 4_000))
        self.place_late()
        return fact

    def _locked(self, step: Step) -> Fact:
        del step
        after_us = self.teller.between(900, 2_000)
        return self.teller.tell("terminal", DecisionsLockedCalled(), after_us)

    def _start(self, step: Step) -> Fact | None:
        """Determine where the deal begins, in a way the section allows."""
        ways = step.ways(step.fact) if step.ways else ()
        if not ways:
            return None
        if self.hand.starts is not None:
            body = StartingPositionDetermined(method="button", position=self.hand.starts)
        else:
            body = StartingPositionDetermined(**self.chance.choice(ways))
        return self.teller.tell("terminal", body, self.teller.between(2_000, 4_000))

    def _draw(self) -> str:
        """The next card of the deck; a second copy of a dealt one, if that is planted."""
        if self.dealt and self.hand.reads and self.slip.may("duplicate_card", 0.2):
            card = self.chance.choice(self.dealt)
            if sum(other[0] == card[0] for other in self.dealt) < _SAME_RANK_MOST:
                self.slip.made("duplicate_card", None, says=f"{card} is dealt a second time.")
                self.dealt.append(card)
                return card
        self.drawn()
        if not self.deck:
            self.refill()
        card = self.deck.pop()
        self.dealt.append(card)
        return card

    def _deal(self, step: Step) -> Fact:
        """Deal cards: one at a time, or a holder's stack."""
        holder = (step.to or "", step.position, step.hand)
        held = self.held.setdefault(holder, [])
        drawn = [self._draw() for _ in range(step.cards if self.hand.stacked else 1)]
        held += drawn
        whole = step.position and len(held) == self.hand.model.hole and step.hand == 1
        if whole and holder not in self.whole:
            self.whole.add(holder)
            if self.hand.misdeals and self.chance.random() < _HERE:
                kind = self.chance.choice(self.hand.voids)
                over = [self._draw()] if kind == "wrong_card_count" else []
                self._tell_dealt(step, [*drawn, *over])
                raise Misdealt(kind)
            if self.slip.may("wrong_card_count", 0.3):
                return self._misdeal(step, held, drawn)
        fact = self._tell_dealt(step, drawn)
        self.after_deal(step, held)
        return fact

    def _tell_dealt(self, step: Step, cards: Sequence[str]) -> Fact:
        body = self._dealt_body(step, cards)
        device = "shoe" if self.hand.reads else "eye"
        truth = replace(body, cards=tuple(cards))
        told = self.teller.tell(device, body, self.teller.between(350, 700), truth=truth)
        self.place_late()  # if no call closed the wagers, the first card does
        # A player knows his cards and decides by them, though no device has sent them yet.
        return told if self.hand.reads else replace(told, body=truth)

    def _dealt_body(self, step: Step, cards: Sequence[str]) -> CardsDealt:
        read = tuple(cards) if self.hand.reads else (UNKNOWN_CARD,) * len(cards)
        return CardsDealt(
            to=step.to or "player",  # type: ignore[arg-type]  # a step names who may hold cards
            position=step.position,
            hand=step.hand,
            cards=read if step.face == "down" else tuple(cards),  # type: ignore[arg-type]  # a deck's
            face=step.face,
        )

    def _misdeal(self, step: Step, held: list[str], drawn: list[str]) -> Fact:
        """Deal a card too many or too few to one player; `play` is answered as if it were right."""
        seat = step.position or 0
        if self.chance.random() < _TOO_MANY:
            fact = self._tell_dealt(step, drawn)
            extra = self._draw()
            held.append(extra)
            told = self._tell_dealt(step, [extra])
            says = f"Position {seat} is dealt {len(held)} cards, and the round is played on."
            self.slip.made("wrong_card_count", told, seat, says=says)
            return fact
        last = held.pop()
        self.deck.append(last)
        self.dealt.remove(last)
        self.shorted = seat
        says = f"Position {seat} is dealt {len(held)} of its cards, and the round is played on."
        self.slip.made("wrong_card_count", None, seat, says=says)
        if len(drawn) > 1:
            self._tell_dealt(step, drawn[:1])
        return unsaid(self._dealt_body(step, drawn))

    def _count_stub(self, step: Step) -> Fact | None:
        """Take out the stub or the whole deck, and sometimes count it."""
        if self.hand.stub_of is None:
            return None
        self.counted = True
        there = step.cards or self.cards - self.gone_from_deck()
        stub = StubCounted(batch=self.hand.stub_of, counted=there)
        return self.teller.tell("terminal", stub, self.teller.between(6_000, 10_000))

    def _turn(self, step: Step) -> Fact | None:
        held = self.held[step.to or "", step.position, step.hand]
        cards = tuple(held[index] for index in step.at if index < len(held))
        if not cards:
            return None
        if step.position is None:
            self.open += cards
        whole = step.position and step.at == tuple(range(len(step.at)))
        at = None if whole else step.at[: len(cards)]
        body = CardsTurned(
            to=step.to or "player",  # type: ignore[arg-type]  # a step names who may hold cards
            position=step.position,
            hand=step.hand,
            cards=cards,  # type: ignore[arg-type]  # of a deck
            at=at,
        )
        return self.teller.tell("eye", body, self.teller.between(900, 1_800))

    def _discard(self, step: Step) -> Fact:
        body = HandDiscarded(to=step.to or "player", position=step.position, hand=step.hand)  # type: ignore[arg-type]  # a step names who may hold cards
        return self.teller.tell("eye", body, self.teller.between(500, 1_000))

    # -- dice --------------------------------------------------------------------------------

    def _throw(self, step: Step) -> Fact:
        """Throw the dice; sometimes a throw that does not count comes first."""
        after_us = self.teller.between(3_000, 6_000)
        if self.chance.random() < _NO_ROLL:
            no_roll = NoRollCalled(reason=self.chance.choice(_NO_ROLLS))
            self.teller.tell("terminal", no_roll, after_us)
        elif self.chance.random() < _CANCELLED:
            cancelled = self.teller.tell("eye", self._thrown(step), after_us)
            of = FactRef(cancelled.source, cancelled.id)
            no_roll = NoRollCalled(reason=_NO_ROLLS[1], of=of)
            self.teller.tell("terminal", no_roll, self.teller.between(900, 1_500))
        thrown = self._thrown(step)
        fact = self.teller.tell("eye", thrown, after_us)
        if thrown.purpose == "down" and thrown.offensive and thrown.defensive:
            self.downs.append((*thrown.offensive, thrown.defensive))
        self.place_late()
        return fact

    def _thrown(self, step: Step) -> DiceThrown:
        shown = tuple(int(self.chance.random() * 6) + 1 for _ in range(step.dice))
        three = step.dice == THREE_DICE
        return DiceThrown(
            dice=None if three else shown,
            offensive=(shown[0], shown[1]) if three else None,
            defensive=shown[2] if three else None,
            purpose="extra_point" if step.what == "extra_point" else "down",
            position=self.hand.shooter or None,
        )

    def _mark(self, step: Step) -> Fact:
        body = MarkerPlaced(marker=step.what, at=step.at[0])  # type: ignore[arg-type]  # a step names a marker there is
        return self.teller.tell("terminal", body, self.teller.between(300, 700))
