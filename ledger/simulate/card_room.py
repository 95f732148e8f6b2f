"""Poker players and their dealer by chance: blinds, bets, draws, rake, the showdown.

Everything stays within the chips there are and the limits of `play`; there is no strategy. The
floor moves the button.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import (
    CardBurned,
    DiscardsReshuffled,
    HandMucked,
    HandShown,
    RakeTaken,
    StackCounted,
    WagerPlaced,
)
from ledger.simulate.hand import DOLLAR
from ledger.simulate.patrons import CHIP
from ledger.simulate.players import Players

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.facts import DecisionMade
    from ledger.record.wire import Fact
    from ledger.rules.engine.steps import Step

SMALL, BIG = CHIP, 2 * CHIP
_ANTES, _SECOND, _STRADDLES, _KILLS = 0.3, 0.8, 0.1, 0.05  # shares of the rounds
_MUCKS, _RAKED = 0.1, 0.7  # of the hands at a showdown; of the rounds
_RAKE_MOST = 500  # cents


class CardRoom(Players):
    """The players of one round of Poker."""

    deck: list[str]
    drawer = 0  # the last player to draw
    raked = False

    def post(self, names: Sequence[str]) -> list[Fact]:
        """Post antes (all or none), blinds left of the button, and sometimes a straddle."""
        button = self.hand.button or 0
        seats = sorted(self.hand.patrons, key=lambda seat: (seat <= button, seat))
        posted = [(seat, "ante", DOLLAR) for seat in seats if self.chance.random() < _ANTES]
        posted = posted if len(posted) * 2 > len(seats) else []
        due = [("blind", SMALL, 1.0), ("blind", BIG, _SECOND), ("straddle", 2 * BIG, _STRADDLES)]
        for (wager, cents, odds), seat in zip(due, seats, strict=False):
            if self.chance.random() >= odds:
                break
            posted.append((seat, wager, cents))
        if self.chance.random() < _KILLS and len(posted) < len(seats):
            posted.append((seats[-1], "kill", 2 * BIG))
        return [self._post(*each) for each in posted if each[1] in names]

    def _post(self, seat: int, wager: str, cents: int) -> Fact:
        body = WagerPlaced(position=seat, wager=wager, amount=cents)
        self.stake(body)
        return self.teller.tell("layout", body, self.teller.between(400, 1_200))

    def count_stack(self, step: Step) -> Fact | None:
        """Count a player's chips before the deal."""
        patron = self.hand.patrons.get(step.position or 0)
        if patron is None:
            return None
        body = StackCounted(position=step.position or 0, amount=patron.chips)
        return self.teller.tell("layout", body, self.teller.between(100, 300))

    def chips_in(self, body: DecisionMade) -> None:
        """Put a call, bet or raise into the pot; take cards that are discarded or given up."""
        seat = body.position
        if body.amount:
            self.hand.patrons[seat].chips -= body.amount
            self.up[seat, "bet", 1] = self.up.get((seat, "bet", 1), 0) + body.amount
        held = self.held.get(("player", seat, 1), [])
        for card in held[:] if body.decision == "fold" else body.discards or ():
            if card in held:
                held.remove(card)
                self.given.setdefault(seat, []).append(card)
        self.drawer = seat

    def burn(self, step: Step) -> Fact:
        """Burn the top card, unseen."""
        del step
        if self.deck:
            self.deck.pop()
        return self.teller.tell("eye", CardBurned(), self.teller.between(500, 900))

    def reshuffle(self, step: Step) -> Fact:
        """Put the discards of all but the drawer below the rest of the deck."""
        del step
        self.refill()
        body = DiscardsReshuffled(except_=self.drawer)
        return self.teller.tell("terminal", body, self.teller.between(20_000, 40_000))

    def refill(self) -> None:
        """Put others' discards below the deck, without a fact, after a misdealt card too many."""
        others = [seat for seat in self.given if seat != self.drawer]
        cards = [card for seat in others for card in self.given.pop(seat)]
        self.chance.shuffle(cards)
        self.deck[:0] = cards
        self.dealt = [card for card in self.dealt if card not in cards]

    def show(self, step: Step) -> Fact:
        """Show or muck a hand."""
        seat = step.position or 0
        after_us = self.teller.between(1_000, 3_000)
        if self.chance.random() < _MUCKS:
            return self.teller.tell("eye", HandMucked(position=seat), after_us)
        cards = tuple(self.held[("player", seat, 1)])
        return self.teller.tell("eye", HandShown(position=seat, cards=cards), after_us)  # type: ignore[arg-type]  # a deck's

    def rake(self, step: Step) -> Fact | None:
        """Take the rake, once and from the main pot."""
        pot = sum(self.up.values())
        cents = min(_RAKE_MOST, pot // 10 // DOLLAR * DOLLAR)
        if step.what != "0" or self.raked or not cents or self.chance.random() >= _RAKED:
            return None
        self.raked = True
        self.bank.drop_rake(cents)
        return self.teller.tell("layout", RakeTaken(amount=cents), self.teller.between(400, 900))
