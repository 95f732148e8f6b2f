"""Lunar Poker's hands: ace-king, the Super Wager, and the two combinations that a Bet is paid for.

589.6, 589.11(e)(1)(ii) and (e)(2). Hands compare as `PokerHand` does: 589.6(c), the highest card
not in the other hand, decides only after the rank inside the category (the pair, the trips, the top
of the straight), or A-2-3-4-5 would beat 2-6. An instant payout is a `PokerHand` of five cards.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.hands.cards import RANK, SUIT, SUITS, if_known
from ledger.rules.hands.poker import (
    CATEGORIES,
    FLUSH,
    FOUR_OF_A_KIND,
    FULL_HOUSE,
    NO_PAIR,
    PAIR,
    ROYAL_FLUSH,
    STRAIGHT,
    STRAIGHT_FLUSH,
    THREE_OF_A_KIND,
    TWO_PAIR,
    PokerHand,
    hand_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ledger.rules.engine.odds import PaytableRow

ACE_KING = "Ace-king"

_ACE, _KING, _QUEEN = RANK["As"], RANK["Ks"], RANK["Qs"]
_RED = {SUITS.index("d"), SUITS.index("h")}
_STRAIGHTS = (STRAIGHT, STRAIGHT_FLUSH, ROYAL_FLUSH)
_ORDER = (ACE_KING, *CATEGORIES[CATEGORIES.index(PAIR) :])
_SETS = {2: PAIR, 3: THREE_OF_A_KIND, 4: FOUR_OF_A_KIND}


def qualifies(hand: PokerHand) -> bool:
    """Whether a dealer's hand is an ace-king or better: 589.6(b)(10), 589.11(e)."""
    return hand.category != NO_PAIR or hand.ranks[:2] == (_ACE, _KING)


def forced_discard(cards: Sequence[str]) -> str:
    """The card a dealer who does not qualify gives up: the highest, 589.11(e)(2)(ii).

    Such a hand has no pair, so there is one. Raises KeyError for a card that is not one of 52.
    """
    return max(cards, key=RANK.__getitem__)


class SuperHand(NamedTuple):
    """A player's first five cards as the Super Wager sees them: 589.6(d)."""

    category: str  # of the poker hand
    ranks: frozenset[int]  # 12 is an ace
    one_color: bool


def super_hand(cards: Sequence[str]) -> SuperHand:
    """What five cards are for the Super Wager. Raises KeyError for a card that is not one of 52."""
    return SuperHand(
        hand_of(cards).category,
        frozenset(RANK[card] for card in cards),
        len({SUIT[card] in _RED for card in cards}) == 1,
    )


def same_colored_straight(found: SuperHand) -> bool:
    """Five of consecutive rank and one color, straight and royal flushes too: 589.11(c)(2)(ii)."""
    return found.one_color and found.category in _STRAIGHTS


def same_colored_five(found: SuperHand) -> bool:
    """Five cards of one color: 589.6(d)(8)."""
    return found.one_color


def holds_ace_king(found: SuperHand) -> bool:
    """An ace and a king among the five, whatever the others are: 589.6(d)(7) as printed."""
    return found.ranks >= {_ACE, _KING}


def holds_ace_king_queen(found: SuperHand) -> bool:
    """An ace, a king and a queen among the five: the licensor's row for 589.6(d)(7)."""
    return found.ranks >= {_ACE, _KING, _QUEEN}


class Combination(NamedTuple):
    """A paying combination within five or six cards; a greater one ranks higher."""

    order: int  # of the category, 0 is ace-king
    ranks: tuple[int, ...]  # by weight, of the combination's own cards
    category: str
    cards: frozenset[str]


def _combination(category: str, ranks: Iterable[int], cards: Iterable[str]) -> Combination:
    return Combination(_ORDER.index(category), tuple(ranks), category, frozenset(cards))


def _found(cards: Sequence[str]) -> Iterator[Combination]:
    """Every paying combination, those that are part of another one too."""
    by_rank: dict[int, list[str]] = {}
    for card in cards:
        by_rank.setdefault(RANK[card], []).append(card)
    sets = [
        _combination(category, (rank,), some)
        for rank, held in by_rank.items()
        for size, category in _SETS.items()
        for some in combinations(held, size)
    ]
    yield from sets
    pairs = [one for one in sets if one.category == PAIR]
    for high, low in product(pairs, pairs):
        if high.ranks > low.ranks:
            yield _combination(TWO_PAIR, high.ranks + low.ranks, high.cards | low.cards)
    for three, two in product(sets, pairs):
        if three.category == THREE_OF_A_KIND and three.ranks != two.ranks:
            yield _combination(FULL_HOUSE, three.ranks + two.ranks, three.cards | two.cards)
    for five in combinations(cards, 5):
        hand = hand_of(five)
        if hand.category == FLUSH or hand.category in _STRAIGHTS:
            yield _combination(hand.category, hand.ranks, five)
    for ace_king in product(by_rank.get(_ACE, ()), by_rank.get(_KING, ())):
        yield _combination(ACE_KING, (_ACE, _KING), ace_king)


def combinations_in(cards: Sequence[str]) -> tuple[Combination, ...]:
    """Every paying combination within five or six cards, highest first; none where nothing pays.

    589.6(b) and 589.12(c). Raises KeyError for a card that is not one of 52.
    """
    return tuple(sorted(_found(cards), key=lambda one: one[:2], reverse=True))


def paid_rows(
    found: Sequence[Combination], rows: Sequence[PaytableRow], second: str = "best_paying"
) -> tuple[PaytableRow, ...]:
    """The rows that a winning Bet is paid by, two at most: 589.11(e)(1)(ii).

    `found` is what `combinations_in` gave, `rows` the printed table of 589.12(c). The first row is
    that of the highest combination; a second one needs a card that is not in the first.
    `second` says which: the `best_paying` of those, or the `next_best` combination in rank alone,
    which pays nothing where its cards are all in the first. No combination, no row.
    """
    if not found:
        return ()
    first, *others = found
    if second == "next_best":
        others = [one for one in others if one[:2] == others[0][:2]]
    taken = [_row(rows, one) for one in others if one.cards - first.cards]
    rest = max((row for row in taken if row), key=lambda row: row.ratio, default=None)
    return tuple(row for row in (_row(rows, first), rest) if row)


def _row(rows: Sequence[PaytableRow], one: Combination) -> PaytableRow | None:
    return next((row for row in rows if row.fits(one)), None)


super_hand_if_known = if_known(super_hand)
