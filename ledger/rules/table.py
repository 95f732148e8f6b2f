"""The verbs a game is written in. Each names the section that requires it and asks for the fact.

The same `play` serves a record (it is adjudicated), a record that ends early (what must come next),
an irregularity on record (what follows), and chance (a round is dealt). Which of them, the `Source`
decides. Nothing here knows a clock or a file, and nothing raises because a rule was broken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import (
    CardsDealt,
    CardsTurned,
    DiceOffered,
    DiceThrown,
    MarkerPlaced,
    StubCounted,
    WagerPlaced,
    WagerWithdrawn,
)
from ledger.facts.rounds import indexes
from ledger.rules.layout import Layout
from ledger.rules.settling import decided, voided
from ledger.rules.steps import PAYMENT, Spot, Step, Stop, Void, said
from ledger.values import UNKNOWN_CARD, dollars

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.rules.odds import Paytable, Row
    from ledger.rules.ruling import Settlement
    from ledger.wire import Fact


class Table(Layout):
    """One round in progress, as `play` sees it."""

    # -- steps of play -----------------------------------------------------------------------

    def announce(self, fact: str, section: str) -> Fact | None:
        """The dealer says it."""
        return self.take(Step(fact, section))

    def deal(
        self, to: str, count: int, section: str, position: int | None = None, hand: int = 1
    ) -> list[str]:
        """Deal until the holder has `count` cards; in the order they came off the deck."""
        held = self.cards.setdefault((to, position, hand), [])
        while len(held) < count:
            fact = self.take(
                Step("cards_dealt", section, to, position, hand, cards=count - len(held))
            )
            if fact is None:
                break
            self.hold(held, fact)
        return held

    def hold(self, held: list[str], fact: Fact) -> None:
        """Add the cards of a deal to a holder's."""
        body = said(fact, CardsDealt)
        if body.face == "up":
            faces = range(len(held), len(held) + len(body.cards))
            spot = (body.to, body.position, body.hand)
            self.exposed.setdefault(spot, set()).update(faces)
        held.extend(body.cards)

    def counted(self, due: Mapping[tuple[str, int | None], int], section: str) -> None:
        """Everyone has as many cards as the deal gives. Raises Void (or Stop, if it may go on).

        A card too few is no misdeal where a device's sequence shows that facts were lost, or a
        later turn shows the cards: which one was lost is not known, so neither are the places and
        turns of the holder's others.
        """
        for fact in self.source.left("cards_dealt"):
            body = said(fact, CardsDealt)
            self.hold(self.cards.setdefault((body.to, body.position, body.hand), []), fact)
            self.source.take(Step("cards_dealt", section, body.to, body.position, body.hand))
        wrong = {}
        for spot, held in self.cards.items():
            over = len(held) - due.get(spot[:2], 0)
            lost = self.source.excused or self.source.shown(*spot) >= due.get(spot[:2], 0)
            if over > 0 or (over < 0 and not lost):
                wrong[spot] = over
            elif over < 0:
                self._forget_order(spot)
                held.clear()
                over = -due[spot[:2]]
            held.extend([UNKNOWN_CARD] * -over)
        if not wrong:
            return
        if self.source.ended and max(wrong.values()) < 0:
            raise Stop
        for (to, position, _), over in wrong.items():
            who = f"Position {position}" if position else f"The {to} area"
            owed = due.get((to, position), 0)
            self.find(
                "misdeal",
                f"{who} was dealt {owed + over} cards and is due {owed} "
                f"({self.rules.section(section)}).",
                section,
                position=position,
                expected=str(owed),
                recorded=str(owed + over),
            )
        raise Void(section)

    def _forget_order(self, spot: tuple[str, int | None, int]) -> None:
        """One of a holder's deals is lost: which step each of the others answered is not known."""
        self.taken = [
            (step, fact)
            for step, fact in self.taken
            if step.fact != "cards_dealt" or (step.to, step.position, step.hand) != spot
        ]

    def stub(self, deck_cards: int, section: str) -> None:
        """Where the stub was counted, it holds what was not dealt. Raises Void."""
        fact = self.source.take(Step("stub_counted", section))
        if fact is None or self.source.excused:
            return
        counted = said(fact, StubCounted).counted
        due = deck_cards - self.source.gone_from_deck()
        if counted != due:
            self.find(
                "misdeal",
                f"The stub held {counted} cards and {due} were left of {deck_cards} "
                f"({self.rules.section(section)}).",
                section,
                expected=str(due),
                recorded=str(counted),
                facts=(fact,),
            )
            raise Void(section)

    def offered_dice(self, section: str) -> None:
        """The dice go round clockwise until a player accepts; he throws."""
        offers = self.source.left("dice_offered")
        places = [said(fact, DiceOffered).position for fact in offers]
        first = places[0] if places else 0
        turns = [(place - first) % self.rules.game.positions for place in places]
        for fact, place, turn, before in zip(
            offers[1:], places[1:], turns[1:], turns, strict=False
        ):
            if turn <= before:
                self._out_of_turn(place, "was offered the dice out of turn", section, fact)
        taker = [
            place
            for fact, place in zip(offers, places, strict=True)
            if said(fact, DiceOffered).accepted
        ]
        for fact in self.source.left("dice_thrown")[:1]:
            thrower = said(fact, DiceThrown).position
            if taker and thrower not in (None, taker[-1]):
                self._out_of_turn(thrower, "threw dice that another accepted", section, fact)

    def _out_of_turn(self, position: int | None, what: str, section: str, fact: Fact) -> None:
        says = f"Position {position} {what} ({self.rules.section(section)})."
        self.find("out_of_turn", says, section, position=position, facts=(fact,))

    def unexposed(self, to: str, section: str) -> None:
        """No card of a holder was dealt face up. Raises Void."""
        if self.exposed.get((to, None, 1)):
            raise Void(section)

    def turn(
        self,
        to: str,
        at: Sequence[int],
        section: str,
        position: int | None = None,
        hand: int = 1,
        *,
        early: str | None = None,
    ) -> Fact | None:
        """Turn these cards of a holder face up; the last fact that did. What is seen rules.

        `early` is the paragraph that voids a round where another card shows. Raises Void.
        """
        held = self.cards.setdefault((to, position, hand), [])
        face_up = self.exposed.setdefault((to, position, hand), set())
        due_up = face_up.union(at)
        fact = None
        while not face_up.issuperset(at):
            due = tuple(index for index in at if index not in face_up)
            fact = self.take(Step("cards_turned", section, to, position, hand, at=due))
            if fact is None:
                break
            body = said(fact, CardsTurned)
            for index, card in zip(indexes(body), body.cards, strict=False):
                face_up.add(index)
                self._see(held, index, card, fact, section)
            if early and not face_up <= due_up:
                raise Void(early)
        return fact

    def _see(self, held: list[str], index: int, card: str, fact: Fact, section: str) -> None:
        """Put a card seen face up in its place; say so where the shoe had read another."""
        held.extend([UNKNOWN_CARD] * (index + 1 - len(held)))
        dealt = held[index]
        if card in (dealt, UNKNOWN_CARD):
            return
        held[index] = card
        if dealt == UNKNOWN_CARD:
            return
        body = said(fact, CardsTurned)
        where = f"position {body.position}" if body.position else f"the {body.to} cards"
        self.find(
            "card_mismatch",
            f"Card {index} of {where} was dealt as {dealt} and turned as {card}; "
            f"the card seen is the one ruled on.",
            section,
            position=body.position,
            expected=dealt,
            recorded=card,
            facts=(fact,),
        )

    def offer(
        self, seat: int, wager: str, choices: Sequence[int], section: str, hand: int = 1
    ) -> list[Fact] | None:
        """Ask a player for a wager of one of these amounts: the facts that place it.

        None where he folds, or is passed over; an empty list where the record has lost the wager
        but shows his hand in play later on.
        """
        step = Step(
            "wager_placed",
            section,
            None,
            seat,
            hand,
            wager,
            choices=tuple(choices),
            instead="decision_made",
        )
        fact = self.expect(step) if self.source.gone(seat) else self.take(step)
        if fact is None and self.source.plays_on(seat):
            self.stakes[seat, wager, hand] = None
            self.unsettled.append(step)
            return []
        if fact is None or not isinstance(fact.body, WagerPlaced):
            return None
        placed, more = [fact], self.source.take(step._replace(instead=None))
        while more is not None:
            placed.append(more)
            more = self.source.take(step._replace(instead=None))
        stake = sum(
            each.body.amount
            if isinstance(each.body, WagerPlaced)
            else -said(each, WagerWithdrawn).amount
            for each in placed
        )
        if stake == 0 and len(placed) > 1:  # all of it was taken back: he is asked again
            return self.offer(seat, wager, choices, section, hand)
        self.stakes[seat, wager, hand] = stake
        if choices and stake not in choices:
            allowed = ", ".join(dollars(choice) for choice in choices)
            why = f"it is {dollars(stake)}, not one of {allowed}"
            self.not_permitted(seat, wager, why, section, placed)
        return placed

    def left_table(self, seat: int) -> bool:
        """Whether the player left the table during the round."""
        return self.source.gone(seat)

    def throw(self, section: str, purpose: str = "down") -> tuple[Fact, tuple[int, int, int]]:
        """Throw the dice: a valid throw, and what came up. Raises Stop without one."""
        fact = self.take(Step("dice_thrown", section, what=purpose, throw=self.throws + 1))
        if fact is None:
            raise Stop
        self.throws += 1
        body = said(fact, DiceThrown)
        if body.offensive is None or body.defensive is None:
            raise Stop
        return fact, (*body.offensive, body.defensive)

    def mark(self, marker: str, at: int, section: str, *, or_at: int | None = None) -> None:
        """Place a puck; where a device reports pucks, a wrong place is found.

        `or_at` is the same place by another count.
        """
        step = Step("marker_placed", section, what=marker, at=(at,), throw=self.throws)
        fact = self.expect(step)
        if fact is None:
            return
        placed = said(fact, MarkerPlaced).at
        if str(placed) not in (str(at), str(or_at)):
            self.find(
                "step_missing",
                f"The {marker.replace('_', ' ')} marker was placed at {placed}; "
                f"{self.rules.section(section)} places it at {at}.",
                section,
                expected=str(at),
                recorded=str(placed),
                facts=(fact,),
            )

    def discard(self, section: str, to: str, position: int | None = None, hand: int = 1) -> None:
        """Put a hand into the discard rack."""
        self.expect(Step("hand_discarded", section, to, position, hand))

    # -- settlement --------------------------------------------------------------------------

    def settle(
        self,
        seat: int,
        wager: str,
        table: Paytable,
        outcome: object,
        lost: str,
        *,
        throw: int | None = None,
        hand: int = 1,
        readings: Sequence[str] = (),
    ) -> None:
        """Settle a wager by its paytable; `lost` is the paragraph that collects it.

        Nothing happens where none was placed. An outcome of None (a card not known) leaves it open.
        `readings` are those the outcome depended on.
        """
        spot = (seat, wager, hand)
        if spot not in self.stakes:
            return
        stake = self.stakes[spot]
        if stake is None or outcome is None:
            self.unsettled.append(Step("wager_paid", lost, None, seat, hand, wager))
            return
        row = table.pays(outcome, self.rules.readings)
        section = lost if row is None else table.section
        self._decide(spot, row, section, throw, table.letter, readings)

    def collect(
        self,
        seat: int,
        wager: str,
        section: str,
        *,
        hand: int = 1,
        readings: Sequence[str] = (),
    ) -> None:
        """A wager is lost; `readings` are those that depended on."""
        if (seat, wager, hand) in self.stakes:
            self._decide((seat, wager, hand), None, section, None, None, readings)

    def forfeit(self, seat: int, section: str, keep: Sequence[str] = ()) -> None:
        """A hand is given up: its wagers are collected, its cards go into the rack."""
        for held, wager, hand in list(self.stakes):
            if held == seat and wager not in keep:
                self.collect(seat, wager, section, hand=hand)
        self.discard(section, "player", seat)

    def give_back(self, seat: int, wager: str, section: str, hand: int = 1) -> None:
        """A wager that never came into play, or is void, goes back."""
        spot = (seat, wager, hand)
        stake = self.stakes.pop(spot, None)
        if stake is not None:
            self._keep(voided(spot, stake, self.rules.section(section)))

    def _decide(
        self,
        spot: Spot,
        row: Row | None,
        section: str,
        throw: int | None,
        letter: str | None,
        readings: Sequence[str],
    ) -> None:
        """Write down what a stake is owed, and expect it to be paid."""
        seat, wager, hand = spot
        stake = self.stakes.pop(spot)
        if stake is None:
            self.unsettled.append(Step("wager_collected", section, None, seat, hand, wager))
            return
        self._keep(decided(spot, stake, row, self.rules, section, throw, letter, readings))

    def _keep(self, settlement: Settlement) -> None:
        """Keep a settlement; its chips move next."""
        self.settlements.append(settlement)
        fact = PAYMENT[settlement.outcome]
        self.expect(
            Step(
                fact,
                settlement.section.partition(".")[2],
                None,
                settlement.position,
                settlement.hand,
                settlement.wager,
                amount=settlement.net if fact == "wager_paid" else settlement.stake,
                throw=settlement.throw,
            )
        )
