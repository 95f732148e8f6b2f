"""Points of set hands: Five Card Hi-Lo's high and low, Saigon's three and showdown.

663a.6(a) and .11(d)-(h) (579 prints the same); 680a.6(a)-(b) and .11(b)-(c). The record has the
setting that a player chose. This module gives the settings that the sections allow, and their
points.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.hands.cards import RANK, if_known
from ledger.rules.hands.joker import JOKER
from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ledger.rules.engine.steps import Ways

HIGH_VALUE: dict[str, int] = {
    card: 11 if card[0] == "A" else min(rank + 2, 10) for card, rank in RANK.items()
}
"""Five Card Hi-Lo points in the high hand: pips, 10 for a face card, 11 for an ace."""

LOW_VALUE: dict[str, int] = {**HIGH_VALUE, **{card: 1 for card in RANK if card[0] == "A"}}
"""Points in the low hand, an ace 1. Also the value of a card in Saigon 5 Card."""

JOKER_VALUES = (3, 6, 9)
"""The values that Saigon's joker may have: 680a.6(a)(4)."""

FOUR_ACES_AND_A_DEUCE = "Four aces and one 2"
FOUR_ACES = "Four aces"
THREE_ACES = "Three aces"
NO_ANTE_BONUS = "Fewer than three aces"

BEST_FOR_DEALER = "best_for_dealer"

_HIGH = 3
_DEUCE = RANK["2s"]
_TEN = 10
_QUALIFYING = (10, 20, 30)


class HiLo(NamedTuple):
    """Points of a set hand of Five Card Hi-Lo."""

    high: int  # points of three cards
    low: int  # points of two cards


def hi_lo_points(high: Sequence[str], low: Sequence[str]) -> HiLo:
    """Points of a high and a low hand as set. Raises KeyError for an unknown card."""
    return HiLo(sum(HIGH_VALUE[card] for card in high), sum(LOW_VALUE[card] for card in low))


def hi_lo_as_set(hands: Mapping[str, Sequence[str]], seen: Sequence[str]) -> HiLo | None:
    """Points of a `high` and a `low` hand as set, by the cards that were seen.

    A card recorded otherwise than it was seen counts as seen. None if a card is not known, or if it
    is not known which hand it lies in.
    """
    told, cards = Counter(card for each in hands.values() for card in each), Counter(seen)
    wrong, other = told - cards, list((cards - told).elements())
    card_seen = other[0] if len(other) == 1 else UNKNOWN_CARD
    high, low = ([card_seen if c in wrong else c for c in hands[name]] for name in ("high", "low"))
    return hi_lo_points_if_known(high, low)


def hi_lo_settings(cards: Sequence[str], *, ace_low: bool) -> list[tuple[str, ...]]:
    """Settings of five cards, the high hand first: the three highest high, 663a.11(d)-(e).

    With `ace_low`, also the one with an ace low, if there is an ace. Raises KeyError for an unknown
    card.
    """
    ranked = tuple(sorted(cards, key=HIGH_VALUE.__getitem__, reverse=True))
    if ace_low and HIGH_VALUE[ranked[0]] != LOW_VALUE[ranked[0]]:
        return [ranked, (*ranked[1:], ranked[0])]
    return [ranked]


def hi_lo_ways(cards: Sequence[str], *, ace_low: bool) -> Ways:
    """The settings open to a holder, for a simulation."""
    return lambda _: [
        {"hands": {"high": each[:_HIGH], "low": each[_HIGH:]}}
        for each in hi_lo_settings(cards, ace_low=ace_low)
    ]


def dealer_hi_lo(cards: Sequence[str]) -> HiLo:
    """The dealer's points: three highest cards high, aces too, 663a.11(e).

    If he has four aces, one is left for the low hand. Raises KeyError for an unknown card.
    """
    (setting,) = hi_lo_settings(cards, ace_low=False)
    return hi_lo_points(setting[:_HIGH], setting[_HIGH:])


def player_hi_lo(cards: Sequence[str]) -> tuple[HiLo, ...]:
    """The points of every setting a player may choose, one or two: 663a.11(d).

    The three highest cards are high, or one ace is low and the three highest others are high. Cards
    of equal points may change places. Raises KeyError for an unknown card.
    """
    settings = hi_lo_settings(cards, ace_low=True)
    return tuple(dict.fromkeys(hi_lo_points(each[:_HIGH], each[_HIGH:]) for each in settings))


def aces_bonus(cards: Sequence[str]) -> str:
    """The Ante Bonus row of five cards, only the highest: 663a.11(h), 663a.12(b).

    Raises KeyError for an unknown card.
    """
    ranks = [RANK[card] for card in cards]
    aces = ranks.count(RANK["As"])
    if aces == 4:  # noqa: PLR2004 - four aces
        return FOUR_ACES_AND_A_DEUCE if _DEUCE in ranks else FOUR_ACES
    return THREE_ACES if aces == 3 else NO_ANTE_BONUS  # noqa: PLR2004 - three aces


def _sums(cards: Iterable[str]) -> tuple[int, ...]:
    """The possible sums of Saigon's cards: one, or three with the joker."""
    cards = tuple(cards)
    fixed = sum(LOW_VALUE[card] for card in cards if card != JOKER)
    return tuple(fixed + value for value in JOKER_VALUES) if JOKER in cards else (fixed,)


def three_qualify(cards: Sequence[str]) -> bool:
    """Whether three cards total 10, 20 or 30, the joker at 3, 6 or 9: 680a.11(b)(1).

    Raises KeyError for a card that is not in the deck of 53.
    """
    return any(total in _QUALIFYING for total in _sums(cards))


def point_counts(cards: Sequence[str]) -> tuple[int, ...]:
    """The possible Point Counts of a showdown hand, 1 to 10, highest first: 680a.6(b).

    10 is taken off a total above 10, once: 20 counts 10. There are several only with the joker.
    Raises KeyError for a card that is not in the deck of 53.
    """
    totals = (total - _TEN if total > _TEN else total for total in _sums(cards))
    return tuple(sorted(set(totals), reverse=True))


class SaigonSet(NamedTuple):
    """A setting of five cards in which three qualify."""

    three: tuple[str, ...]
    showdown: tuple[str, ...]
    counts: tuple[int, ...]  # the showdown's possible Point Counts, highest first


def saigon_settings(cards: Sequence[str]) -> tuple[SaigonSet, ...]:
    """Every setting of five cards with a qualifying three; none if the hand does not qualify.

    680a.11(b) and (c). Raises KeyError for a card that is not in the deck of 53.
    """
    found = []
    for places in combinations(range(len(cards)), 3):
        three = tuple(cards[place] for place in places)
        if three_qualify(three):
            showdown = tuple(card for place, card in enumerate(cards) if place not in places)
            found.append(SaigonSet(three, showdown, point_counts(showdown)))
    return tuple(found)


def dealer_count(cards: Sequence[str], dealer_joker: str = BEST_FOR_DEALER) -> int:
    """The dealer's Point Count, 1 to 10, or 0 if no three of the five qualify: 680a.11(c).

    The text leaves the three and the joker's value open. `best_for_dealer` takes the highest count
    of any choice, `worst_for_dealer` the lowest. Without the joker all choices give one count.
    Raises KeyError for a card that is not in the deck of 53.
    """
    counts = [count for setting in saigon_settings(cards) for count in setting.counts]
    pick = max if dealer_joker == BEST_FOR_DEALER else min
    return pick(counts, default=0)


hi_lo_points_if_known = if_known(hi_lo_points)
dealer_hi_lo_if_known = if_known(dealer_hi_lo)
player_hi_lo_if_known = if_known(player_hi_lo)
aces_bonus_if_known = if_known(aces_bonus)
three_qualify_if_known = if_known(three_qualify)
point_counts_if_known = if_known(point_counts)
saigon_settings_if_known = if_known(saigon_settings)
dealer_count_if_known = if_known(dealer_count)
