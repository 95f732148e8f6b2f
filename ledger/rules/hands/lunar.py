"""Lunar Poker's hands: ace-king, the Super Wager, and the two combinations that pay a Bet.

589.6, 589.11(e)(1)(ii) and (e)(2). Hands compare as `PokerHand` does. By 589.6(c) the highest card
not in the other hand decides. It decides only after the rank inside the category (the pair, the
trips, the top of the straight), or A-2-3-4-5 would beat 2-6. An instant payout is a `PokerHand` of
five cards.
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
    """The highest card, which a dealer who does not qualify gives up: 589.11(e)(2)(ii).

    Such a hand has no pair, so one card is highest. Raises KeyError for a card that is not one of
    52.
    """
    return max(cards, key=RANK.__getitem__)


class SuperHand(NamedTuple):
    """A player's first five cards as the Super Wager ranks them: 589.6(d)."""

    category: str  # category of the poker hand
    ranks: frozenset[int]  # 12 is an ace
    one_color: bool


def super_hand(cards: Sequence[str]) -> SuperHand:
    """The Super Wager hand of five cards. Raises KeyError for a card that is not one of 52."""
    return SuperHand(
        hand_of(cards).category,
        frozenset(RANK[card] for card in cards),
        len({SUIT[card] in _RED for card in cards}) == 1,
    )


def same_colored_straight(found: SuperHand) -> bool:
    """Whether five have consecutive ranks and one color, flushes included: 589.11(c)(2)(ii)."""
    return found.one_color and found.category in _STRAIGHTS


def same_colored_five(found: SuperHand) -> bool:
    """Whether five cards have one color: 589.6(d)(8)."""
    return found.one_color


def holds_ace_king(found: SuperHand) -> bool:
    """Whether the five hold an ace and a king: 589.6(d)(7) as printed."""
    return found.ranks >= {_ACE, _KING}


def holds_ace_king_queen(found: SuperHand) -> bool:
    """Whether the five hold an ace, a king and a queen: the licensor's row for 589.6(d)(7)."""
    return found.ranks >= {_ACE, _KING, _QUEEN}


class Combination(NamedTuple):
    """A paying combination in five or six cards. A greater value ranks higher."""

    order: int  # category, 0 is ace-king
    ranks: tuple[int, ...]  # ranks of the combination's own cards, by weight
    category: str
    cards: frozenset[str]


def _combination(category: str, ranks: Iterable[int], cards: Iterable[str]) -> Combination:
    return Combination(_ORDER.index(category), tuple(ranks), category, frozenset(cards))


def _found(cards: Sequence[str]) -> Iterator[Combination]:
    """Every paying combination, those inside another one too."""
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
    """Every paying combination in five or six cards, highest first; none if nothing pays.

    589.6(b) and 589.12(c). Raises KeyError for a card that is not one of 52.
    """
    return tuple(sorted(_found(cards), key=lambda one: one[:2], reverse=True))


def paid_rows(
    found: Sequence[Combination], rows: Sequence[PaytableRow], second: str = "best_paying"
) -> tuple[PaytableRow, ...]:
    """The rows that pay a winning Bet, two at most: 589.11(e)(1)(ii).

    `found` comes from `combinations_in`, `rows` is the printed table of 589.12(c). The first row is
    that of the highest combination. A second one needs a card that is not in the first. `second`
    says which one: the `best_paying`, or the `next_best` combination by rank alone. The latter pays
    nothing if its cards are all in the first. Without a combination there is no row.
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
