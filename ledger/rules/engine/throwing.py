"""The verbs of dice and markers; each names the section that requires it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import DiceOffered, DiceThrown, MarkerPlaced
from ledger.rules.engine.layout import Layout
from ledger.rules.engine.steps import Step, Stop, said

if TYPE_CHECKING:
    from ledger.record.wire import Fact

THREE_DICE = 3
"""Two offensive dice and a defensive one; fewer are read without a name."""


class Throwing(Layout):
    """One round in progress: the dice of it."""

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

    def throw(
        self, section: str, purpose: str = "down", dice: int = 3
    ) -> tuple[Fact, tuple[int, ...]]:
        """Throw the dice: a valid throw, and what came up, the defensive die of three last.

        Raises Stop without one, or where it was read as so many dice as the game does not have.
        """
        fact = self.take(
            Step("dice_thrown", section, what=purpose, throw=self.throws + 1, dice=dice)
        )
        if fact is None:
            raise Stop
        self.throws += 1
        body = said(fact, DiceThrown)
        three = body.offensive and body.defensive and (*body.offensive, body.defensive)
        shown = three or body.dice or ()
        if len(shown) != dice or bool(three) != (dice == THREE_DICE):
            self._misread(fact, section, purpose, len(shown), dice)
            raise Stop
        return fact, shown

    def _misread(self, fact: Fact, section: str, purpose: str, shown: int, dice: int) -> None:
        """A throw was told with other dice than the game's: what came up is not on record."""
        self.unsettled.append(Step("dice_thrown", section, what=purpose, throw=self.throws))
        self.find(
            "step_missing",
            f"A throw was told as {shown} dice of another game; this one is played with {dice} "
            f"({self.rules.section(section)}).",
            section,
            facts=(fact,),
            expected=f"{dice} dice",
            recorded=f"{shown} dice",
        )

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
