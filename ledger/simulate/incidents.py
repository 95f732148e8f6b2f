"""Irregularities at a table that are called and handled by their section: play goes on.

They happen by chance, one a round, and never beside a planted mistake. Nothing of them is a
finding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import IrregularityCalled
from ledger.rules.hands.twenty_one import VALUE
from ledger.simulate.card_room import CardRoom

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.facts import Body
    from ledger.record.wire import Fact
    from ledger.rules.engine.steps import Step

_ODDS = {
    "card_face_up": 0.0008,
    "card_drawn_unexposed": 0.0005,
    "player_card_exposed": 0.008,
    "no_card_dealt": 0.008,
    "one_card_dealt": 0.004,
    "card_drawn_exposed": 0.004,
    "requested_card_not_dealt": 0.006,
    "card_reader_misused": 0.01,
    "card_reader_failed": 0.01,
}
"""How often each happens if it may: per card drawn, player, decision or deal."""
_READ = frozenset((1, 10))  # values of a first card under which the hole card is read


class Incidents(CardRoom):
    """The irregularities of one round."""

    calls: list[Fact]  # called, and not yet taken by `play`
    racked = 0  # cards found face up
    reader_failed = False  # a failed device, repaired before the next round

    def _goes_wrong(self, kind: str) -> bool:
        """Whether this irregularity happens now."""
        return kind in self.hand.kinds and self.chance.random() < _ODDS[kind]

    def _happens(self, kind: str, position: int | None = None) -> None:
        """Let this irregularity happen by chance, and call it at once."""
        if self._goes_wrong(kind):
            self.call(kind, position)

    def call(self, kind: str, position: int | None = None, cards: Sequence[str] = ()) -> None:
        """Call an irregularity, the only one of the round."""
        self.hand.kinds = frozenset()
        self.reader_failed = kind == "card_reader_failed"
        body: Body = IrregularityCalled(kind=kind, position=position, cards=tuple(cards) or None)  # type: ignore[arg-type]  # of a game's own
        told = self.teller.tell("terminal", body, self.teller.between(1_500, 3_000))
        self.calls.append(told)

    def called(self, step: Step) -> Fact | None:
        """A called irregularity of this kind, once."""
        for fact in self.calls:
            if getattr(fact.body, "kind", None) == step.what:
                self.calls.remove(fact)
                return fact
        return None

    def left_out(self, placed: Sequence[Fact]) -> None:
        """A player who gets no card."""
        seats = {getattr(fact.body, "position", 0) for fact in placed}
        if len(seats) > 1:
            self._happens("no_card_dealt", self.chance.choice(sorted(seats)))

    def drawn(self) -> None:
        """Find a card face up and rack it, or draw one too soon, unseen."""
        if self.deck and self._goes_wrong("card_face_up"):
            card = self.deck.pop()
            self.racked += 1
            self.call("card_face_up", cards=(card,))
        self._happens("card_drawn_unexposed")

    def after_deal(self, step: Step, held: Sequence[str]) -> None:
        """Give a player only his first card or show one; or give the dealer his second."""
        seat = step.position
        playing = any(spot[0] == seat for spot in self.up)
        if seat and playing and len(held) == self.hand.model.hole:
            self._happens("player_card_exposed", seat)
        elif seat and playing and len(held) == 1:
            self._happens("one_card_dealt", seat)
        elif seat is None and step.to == "dealer" and len(held) == 2:  # noqa: PLR2004 - the hole card
            read = VALUE.get(held[0]) in _READ
            self._happens("card_reader_failed" if read else "card_reader_misused")

    def before_decision(self, options: Sequence[str]) -> None:
        """Draw the next card in error, and see it."""
        if "hit" in options and self.deck and self._goes_wrong("card_drawn_exposed"):
            self.call("card_drawn_exposed", cards=self.deck[-1:])

    def after_decision(self, seat: int, decision: str) -> None:
        """Leave out a card that a player asked for."""
        if decision == "hit":
            self._happens("requested_card_not_dealt", seat)
