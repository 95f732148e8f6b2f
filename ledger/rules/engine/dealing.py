"""The verbs of cards; each names the section that requires it.

What is seen rules: a card turned is the card ruled on, whatever the shoe had read. Nothing here
decides a wager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ledger.facts import (
    CardsDealt,
    CardsExchanged,
    CardsTurned,
    HandSet,
    StubCounted,
)
from ledger.facts.rounds import indexes
from ledger.rules.engine.steps import Step, Stop, Void, said
from ledger.rules.engine.throwing import Throwing
from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.steps import Ways


class Dealing(Throwing):
    """One round in progress: the cards and dice of it."""

    # -- cards -------------------------------------------------------------------------------

    def announce(self, fact: str, section: str) -> Fact | None:
        """The dealer says it."""
        return self.take(Step(fact, section))

    def deal(
        self,
        to: str,
        count: int,
        section: str,
        position: int | None = None,
        hand: int = 1,
        *,
        face: Literal["up", "down"] = "down",
        before: tuple[str, ...] = (),
    ) -> list[str]:
        """Deal until the holder has `count` cards; in the order they came off the deck.

        `before`: the steps of play after which cards are dealt that are none of this deal.
        """
        held = self.cards.setdefault((to, position, hand), [])
        step = Step("cards_dealt", section, to, position, hand, face=face, before=before)
        while len(held) < count:
            fact = self.take(step._replace(cards=count - len(held)))
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

    def counted(
        self,
        due: Mapping[tuple[str, int | None], int],
        section: str,
        before: Sequence[str] = (),
    ) -> None:
        """Everyone has as many cards as the deal gives. Raises Void (or Stop, if it may go on).

        `before`: the steps of play after which cards are dealt that are none of this deal.

        A card too few is no misdeal where a device's sequence shows that facts were lost, or a
        later turn shows the cards: which one was lost is not known, so neither are the places and
        turns of the holder's others.
        """
        for fact in self.source.left("cards_dealt", before):
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
                self.forget_order(*spot)
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

    def forget_order(self, to: str, position: int | None = None, hand: int = 1) -> None:
        """One of a holder's deals is lost: which step each of the others answered is not known."""
        spot = (to, position, hand)
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

    def exchange(
        self,
        to: str,
        discards: Sequence[str] | None,
        section: str,
        position: int | None = None,
        *,
        ways: Ways | None = None,
    ) -> list[str]:
        """A holder gives cards up: what he keeps, in its order. `deal` gives him the new ones.

        `discards` as a decision told them; None where only the exchange tells which.
        """
        step = Step("cards_exchanged", section, to, position, ways=ways)
        fact = self.take(step) if discards is None else self.expect(step)
        given = said(fact, CardsExchanged).discards if fact else tuple(discards or ())
        held = self.cards.setdefault((to, position, 1), [])
        open_ = self.exposed.setdefault((to, position, 1), set())
        for card in given:
            gone = card if card in held else UNKNOWN_CARD
            if gone in held:
                place = held.index(gone)
                del held[place]
                kept = {index - (index > place) for index in open_ if index != place}
                open_.clear()
                open_.update(kept)
            else:
                self._not_held(to, position, card, section, fact)
        self.discarded.setdefault((to, position), []).extend(given)
        return held

    def set_hand(
        self,
        to: str,
        sizes: Mapping[str, int],
        section: str,
        position: int | None = None,
        *,
        ways: Ways | None = None,
    ) -> Mapping[str, Sequence[str]] | None:
        """How a holder arranged his cards into hands of these sizes; the last setting holds.

        None where it is not on record, or is no arrangement of so many cards.
        """
        step = Step("hand_set", section, to, position, ways=ways)
        fact = self.take(step)
        again = fact and self.source.take(step._replace(may=True))
        while again:
            fact, again = again, self.source.take(step._replace(may=True))
        if fact is None:
            return None
        hands = said(fact, HandSet).hands
        if {name: len(cards) for name, cards in hands.items()} != dict(sizes):
            due = ", ".join(f"{name} of {count}" for name, count in sizes.items())
            who = f"Position {position}" if position else f"The {to}"
            says = f"{who} set no hands of {due} ({self.rules.section(section)})."
            self.find("hand_misset", says, section, facts=(fact,), position=position)
            return None
        self._arranged(to, position, hands, section, fact)
        return hands

    def _arranged(
        self,
        to: str,
        position: int | None,
        hands: Mapping[str, Sequence[str]],
        section: str,
        fact: Fact,
    ) -> None:
        """The cards of a setting are those dealt; where the shoe did not read one, it shows it."""
        self.arranged.add((to, position))
        held = self.cards.setdefault((to, position, 1), [])
        shown = [card for cards in hands.values() for card in cards]
        for card in held:
            if card in shown:
                shown.remove(card)
        for card in shown:
            if UNKNOWN_CARD in held:
                held[held.index(UNKNOWN_CARD)] = card
            else:
                self._not_held(to, position, card, section, fact)

    def _not_held(
        self, to: str, position: int | None, card: str, section: str, fact: Fact | None
    ) -> None:
        """A card is told of a holder who was dealt none like it."""
        if card == UNKNOWN_CARD:
            return
        who = f"position {position}" if position else f"the {to}"
        says = f"{card} was not among the cards of {who} ({self.rules.section(section)})."
        facts = (fact,) if fact else ()
        self.find("card_mismatch", says, section, facts=facts, position=position, recorded=card)

    def reshuffle(self, section: str, *, keep: int) -> Fact | None:
        """The discards go back into the deck, all but those of position `keep`."""
        fact = self.take(Step("discards_reshuffled", section, position=None))
        for spot in [spot for spot in self.discarded if spot[1] != keep]:
            del self.discarded[spot]
        return fact

    def unexposed(self, to: str, section: str, *, but: int | None = None) -> None:
        """No card of a holder was dealt face up, `but` this one perhaps. Raises Void."""
        if self.exposed.get((to, None, 1), {but}) - {but}:
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
        must: bool = True,
    ) -> Fact | None:
        """Turn these cards of a holder face up; the last fact that did. What is seen rules.

        `early` is the paragraph that voids a round where another card shows; play goes on without
        cards that need not be seen (not `must`). Raises Void.
        """
        held = self.cards.setdefault((to, position, hand), [])
        face_up = self.exposed.setdefault((to, position, hand), set())
        due_up = face_up.union(at)
        fact = None
        while not face_up.issuperset(at):
            due = tuple(index for index in at if index not in face_up)
            step = Step("cards_turned", section, to, position, hand, at=due)
            fact = self.take(step) if must else self.expect(step)
            if fact is None:
                break
            body = said(fact, CardsTurned)
            has = max(len(held), *(index + 1 for index in at))
            for index, card in zip(indexes(body), body.cards, strict=False):
                if index >= has:
                    self._not_held(to, position, card, section, fact)
                    continue
                if (to, position) in self.arranged:
                    _bring(held, card, index, face_up)
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

    def discard(self, section: str, to: str, position: int | None = None, hand: int = 1) -> None:
        """Put a hand into the discard rack."""
        self.expect(Step("hand_discarded", section, to, position, hand))


def _bring(held: list[str], card: str, to: int, face_up: set[int]) -> None:
    """Cards that were arranged are turned in any order: put the one seen where it was told of."""
    places = [place for place in range(len(held)) if place not in face_up]
    for wanted in (card, UNKNOWN_CARD):
        place = next((place for place in places if held[place] == wanted), None)
        if place is not None and to in places:
            held[to], held[place] = held[place], held[to]
            return
