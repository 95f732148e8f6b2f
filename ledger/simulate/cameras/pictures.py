"""The shots a camera over a table sees after each event, drawn from the facts.

Lost facts are drawn too: a camera sees the card that no device reported. Cards are face up only
once turned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import (
    CardsDealt,
    CardsTurned,
    DecisionMade,
    DiceThrown,
    HandDiscarded,
    MarkerPlaced,
    RoundCompleted,
    RoundStarted,
    RoundVoided,
    WagerCollected,
    WagerPaid,
    WagerPlaced,
    WagerReturned,
    indexes,
    type_name,
)
from ledger.simulate.cameras.shot_list import FilmedArea, Shot
from ledger.values import UNKNOWN_CARD, dollars

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.facts import Body
    from ledger.simulate.device_emitter import Happening
    from ledger.values import RoundId

_WORDS = {
    "ante_across": "AA",
    "ante_down": "AD",
    "across": "Across",
    "down": "Down",
    "middle": "Middle",
    "five_card_bonus": "Bonus",
}
"""Short names, as printed in a betting area."""


_LABEL_MOST = 34  # width in characters


def _word(wager: str) -> str:
    return _WORDS.get(wager, wager.replace("_", " "))


class SimulatedLayout:
    """The things that lie on one table."""

    def __init__(self) -> None:
        self.cards: dict[tuple[str, int | None], list[str]] = {}
        self.stakes: dict[int, dict[str, int]] = {}
        self.dice: tuple[int, ...] = ()
        self.markers: dict[str, int | str] = {}
        self.said: dict[int, str] = {}

    def see(self, body: object) -> None:
        """Apply one event on the table."""
        match body:
            case RoundStarted():
                self.__init__()  # type: ignore[misc]  # the layout is cleared
            case CardsDealt(to=to, position=position, cards=cards):
                self.cards.setdefault((to, position), []).extend([UNKNOWN_CARD] * len(cards))
            case CardsTurned(to=to, position=position, cards=cards):
                held = self.cards.setdefault((to, position), [])
                for index, card in zip(indexes(body), cards, strict=False):
                    held.extend([UNKNOWN_CARD] * (index + 1 - len(held)))
                    held[index] = card
            case HandDiscarded(to=to, position=position):
                self.cards.pop((to, position), None)
            case DiceThrown(offensive=offensive, defensive=defensive) if offensive and defensive:
                self.dice = (*offensive, defensive)
            case MarkerPlaced(marker=marker, at=at):
                self.markers[marker] = at
            case DecisionMade(position=position, decision=decision):
                self.said[position] = decision
            case RoundCompleted() | RoundVoided():
                self.cards.clear()
            case _:
                self._chips(body)

    def _chips(self, body: object) -> None:
        match body:
            case WagerPlaced(position=seat, wager=wager, amount=cents):
                stakes = self.stakes.setdefault(seat, {})
                stakes[wager] = stakes.get(wager, 0) + cents
            case WagerPaid(position=seat, wager=wager, amount=cents):
                self.stakes.get(seat, {}).pop(wager, None)
                self.said[seat] = f"{_word(wager)} paid {dollars(cents)}"
            case WagerCollected(position=seat, wager=wager):
                self.stakes.get(seat, {}).pop(wager, None)
                self.said[seat] = f"{_word(wager)} lost"
            case WagerReturned(position=seat, wager=wager):
                self.stakes.get(seat, {}).pop(wager, None)
                self.said[seat] = f"{_word(wager)} back"
            case _:
                pass

    def areas(self) -> tuple[FilmedArea, ...]:
        """The drawn areas, in the order of the layout."""
        found = []
        community = self.cards.get(("community", None))
        if community:
            found.append(FilmedArea("Community: far, row, row, row, near", cards=tuple(community)))  # type: ignore[arg-type]  # cards are codes
        if self.dice:
            found.append(FilmedArea("Green, green, red", dice=self.dice))
        if self.markers:
            says = "  ".join(f"{name.replace('_', ' ')} {at}" for name, at in self.markers.items())
            found.append(FilmedArea("Field", text=says))
        held = {position for _, position in self.cards if position}
        for seat in sorted(held | self.stakes.keys()):
            stakes = self.stakes.get(seat, {})
            words = " ".join(map(_word, stakes))
            found.append(
                FilmedArea(
                    f"{seat} {words}"[:_LABEL_MOST].rstrip(),
                    cards=tuple(self.cards.get(("player", seat), ())),  # type: ignore[arg-type]  # cards are codes
                    chips=sum(stakes.values()),
                    text=self.said.get(seat, ""),
                )
            )
        return tuple(found)


def shots(happened: Iterable[Happening], from_us: int, to_us: int) -> tuple[Shot, ...]:
    """One table's shots between two true times; `happened` are its events in order of time.

    The first shot is at `from_us` or before, as the table was left.
    """
    layout = SimulatedLayout()
    before: list[Happening] = []
    during: list[Happening] = []
    for each in happened:
        if each.true_us > to_us:
            break
        if each.true_us > from_us:
            during.append(each)
        elif isinstance(each.fact.body, RoundStarted):
            before = [each]
        elif before:
            before.append(each)
    for each in before:
        layout.see(each.fact.body)
    found = [Shot(from_us, _caption(before[-1:]), layout.areas())]
    for each in during:
        layout.see(each.fact.body)
        found.append(Shot(each.true_us, _caption([each]), layout.areas()))
    return tuple(found)


def _caption(last: Sequence[Happening]) -> str:
    """The last event, in a few words."""
    if not last:
        return ""
    fact = last[0].fact
    body: Body = fact.body  # type: ignore[assignment]  # a fact's body is one of ledger.facts
    what = type_name(type(body)).partition(".")[0].replace("_", " ")
    seat = getattr(body, "position", None)
    return f"{_round(fact.round)}{what}{f', position {seat}' if seat else ''}"


def _round(round_: RoundId | None) -> str:
    return f"Round {round_.number}: " if round_ else ""
