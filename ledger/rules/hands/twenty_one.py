"""Blackjack totals and Straight Jack runs, for decks of 52 and of 48 cards.

665a.1, 665a.7 and the standard game: an ace is 1 or 11. A hand does not know of splits, so the game
decides whether 21 in two cards is a Blackjack after one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.hands.cards import DECK, RANK, if_known

if TYPE_CHECKING:
    from collections.abc import Sequence

DECK_48: tuple[str, ...] = tuple(card for card in DECK if card[0] != "T")
"""A deck without 10s (665a.3, 635a). A 10 on record is an irregularity, but still counts 10."""

VALUE: dict[str, int] = {
    card: 1 if card[0] == "A" else min(rank + 2, 10) for card, rank in RANK.items()
}
"""The value of a card, an ace 1."""

LIMIT = 21
DEALER_STANDS = 17
_ACE_MORE = 10
_HIGH_ACE = RANK["As"] + 2


class Total(NamedTuple):
    """A hand's best total, and whether an ace in it counts 11."""

    points: int
    soft: bool

    @property
    def bust(self) -> bool:
        """Whether the total is in excess of 21."""
        return self.points > LIMIT


def total_of(cards: Sequence[str]) -> Total:
    """The total of a hand, one ace at 11 if that is not in excess of 21: 665a.1.

    Raises KeyError for a card that is not one of 52.
    """
    points = sum(VALUE[card] for card in cards)
    soft = points + _ACE_MORE <= LIMIT and any(VALUE[card] == 1 for card in cards)
    return Total(points + _ACE_MORE if soft else points, soft)


def is_blackjack(cards: Sequence[str]) -> bool:
    """Whether the first two cards are an ace and a 10: 665a.1. The hand must not be split.

    Raises KeyError for a card that is not one of 52.
    """
    return len(cards) == 2 and total_of(cards).points == LIMIT  # noqa: PLR2004 - the initial two


def dealer_draws(total: Total) -> bool:
    """Whether a dealer must draw: below 17, hard or soft: 665a.7(n)."""
    return total.points < DEALER_STANDS


def same_value(cards: Sequence[str]) -> bool:
    """Whether two cards may be split: equal in value, king and queen too: 665a.11.

    Raises KeyError for a card that is not one of 52.
    """
    first, second = cards
    return VALUE[first] == VALUE[second]


class StraightJack(NamedTuple):
    """A Straight Jack run: 633a.7(o)(3), 633a.13(m)."""

    length: int  # 0 if the first two cards are not a straight
    ace: str | None  # the suit of the ace in the run, `s` for spades


def straight_jack(cards: Sequence[str], repeated_rank: str = "breaks") -> StraightJack:
    """The run of a hand's cards, in the order they were drawn: 633a.7(o)(3)(i).

    Each card drawn must be next to the run so far. The first that is not ends the run, and so does
    one that takes the hand over 21. `repeated_rank` says whether a rank already in the run ends it
    (`breaks`) or is passed over (`ignored`). An ace is next to a 2 or to a king, never both. Raises
    KeyError for a card that is not one of 52.
    """
    runs = [_run(cards, ace, repeated_rank) for ace in (1, _HIGH_ACE)]
    best = max(runs, key=len)
    return StraightJack(len(best), next((card[1] for card in best if card[0] == "A"), None))


def _run(cards: Sequence[str], ace: int, repeated_rank: str) -> list[str]:
    """The cards of the run with the ace at one end."""
    places = [ace if card[0] == "A" else RANK[card] + 2 for card in cards]
    low, high = sorted(places[:2])
    if high - low != 1:
        return []
    run = list(cards[:2])
    for count, place in enumerate(places[2:], 3):
        if total_of(cards[:count]).bust:
            break
        if place in (low - 1, high + 1):
            low, high = min(low, place), max(high, place)
            run.append(cards[count - 1])
        elif repeated_rank == "breaks" or not low <= place <= high:
            break
    return run


total_if_known = if_known(total_of)
is_blackjack_if_known = if_known(is_blackjack)
same_value_if_known = if_known(same_value)
straight_jack_if_known = if_known(straight_jack)
