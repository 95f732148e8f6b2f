"""Games of one hand against the dealer's: moments from every hand of a player and of the dealer.

Given the dealer's cards, the hands of two positions are taken as independent: that they cannot
share a card is left out. So two positions vary together as far as their means vary with the
dealer's hand. A position's own wagers are counted over every deal.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ledger.edges import five_card_hi_lo as hi_lo
from ledger.edges import saigon_5_card as saigon
from ledger.edges import three_card_poker as three
from ledger.edges.spread.moments import Moments
from ledger.games.five_card_hi_lo import (
    ANTE_BONUS,
    POKER_BONUS,
    TIE,
    TIE_HIGH,
    TIE_LOW,
    WIN,
    Compared,
)
from ledger.games.saigon_5_card import BONUS, FIVE
from ledger.games.three_card_poker import ANTE, PAIR_PLUS, PLAY, SIX_CARD_BONUS, Showdown, with_odds
from ledger.games.three_card_poker import ANTE_BONUS as THREE_BONUS
from ledger.rules.hands.joker import saigon_bonus
from ledger.rules.hands.points import aces_bonus
from ledger.rules.hands.poker import hand_of
from ledger.rules.hands.short_hands import queen_high, three_card_hand

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ledger.edges.spread.moments import Covariances
    from ledger.rules.engine.game import InForce
    from ledger.rules.engine.odds import Paytable

    Ints = npt.NDArray[np.int64]

SCALE = 60
"""Gains are counted in sixtieths of a stake: odds are printed in halves to sixths."""


class OddsTooFineError(ValueError):
    """A paytable's odds are no whole number of sixtieths."""


def whole(gain: Fraction) -> int:
    """A gain in sixtieths."""
    scaled = gain * SCALE
    if scaled.denominator != 1:
        raise OddsTooFineError(f"{gain} is no whole number of sixtieths")
    return scaled.numerator


class Sums:
    """Sums over deals: of gains, of products of two, and of gains against each dealer's hand."""

    def __init__(self, wagers: Sequence[str], dealers: int, alike: Ints | None = None) -> None:
        """`alike`: hands of the dealer that count as one, by a number from 0."""
        self._wagers = tuple(wagers)
        self._alike = alike
        self._one: Counter[str] = Counter()
        self._both: Counter[tuple[str, str]] = Counter()
        self._against = {wager: np.zeros(dealers, dtype=np.int64) for wager in wagers}
        self._dealt = np.zeros(dealers, dtype=np.int64)

    def add(self, ways: Ints, gains: Mapping[str, Ints], times: int) -> None:
        """Add a player's hand that comes so many `times`: its `ways` for each dealer's hand."""
        for at, one in enumerate(self._wagers):
            weighed = ways * gains[one]
            self._one[one] += times * int(weighed.sum())
            for two in self._wagers[at:]:
                self._both[one, two] += times * int((weighed * gains[two]).sum())
            self._to(self._against[one], times * weighed)
        self._to(self._dealt, times * ways)

    def _to(self, sums: Ints, each: Ints) -> None:
        if self._alike is None:
            sums += each
        else:
            np.add.at(sums, self._alike, each)

    def moments(self, inside: frozenset[str]) -> Moments:
        """The moments of all deals that were added."""
        dealt = self._dealt.tolist()
        every = sum(dealt)
        against = {wager: sums.tolist() for wager, sums in self._against.items()}
        means = {name: Fraction(gain, every * SCALE) for name, gain in self._one.items()}
        own: Covariances = {}
        other: Covariances = {}
        for (one, two), both in self._both.items():
            less = means[one] * means[two]
            own[one, two] = own[two, one] = Fraction(both, every * SCALE**2) - less
            each = zip(against[one], against[two], dealt, strict=True)
            parts = (Fraction(mine * his, count) for mine, his, count in each if count)
            shared = sum(parts, Fraction(0))
            other[one, two] = other[two, one] = shared / (every * SCALE**2) - less
        return Moments(means, own, other, inside)


def _pays(table: Paytable, outcome: object, rules: InForce) -> int:
    """What the house gains by a table, in sixtieths; a stake if no row pays."""
    row = table.pays(outcome, rules.readings)
    return whole(-row.ratio) if row else SCALE


def _beside(table: Paytable, outcome: object, rules: InForce) -> int:
    """What a payout beside a wager costs the house."""
    row = table.pays(outcome, rules.readings)
    return whole(-row.ratio) if row else 0


def five_card_hi_lo(rules: InForce) -> Moments:
    """The moments of Ante (with Play Wager and Ante Bonus), Tie Wager and Poker Bonus."""
    bonus = _by_kind(rules.paytable("poker_bonus", *POKER_BONUS), rules)
    aces = rules.paytable("ante_bonus", *ANTE_BONUS)
    kinds, dealers = hi_lo.kinds(), hi_lo.dealers()
    sums = Sums(("ante", "tie"), len(kinds))
    square = mean = 0
    beside: Counter[str] = Counter()
    for kind in kinds:
        ways = hi_lo.ways(kind)
        paid = _beside(aces, aces_bonus(kind.cards), rules)
        best = _given_up(rules, paid, len(kinds))
        for setting in kind.settings:
            high, low = np.sign(setting.high - dealers.high), np.sign(setting.low - dealers.low)
            ante = 2 * _by_comparison((WIN, TIE_HIGH, TIE_LOW), high, low, rules) + paid
            tie = _by_comparison((TIE,), high, low, rules)
            best = min(best, (ante, tie), key=lambda of: [int((ways * each).sum()) for each in of])
        gains = dict(zip(("ante", "tie"), best, strict=True))
        sums.add(ways, gains, kind.hands)
        its = bonus[kind.counts]
        mean += sum(gain * hands for gain, hands in its.items()) * hi_lo.DEALT
        square += sum(gain**2 * hands for gain, hands in its.items()) * hi_lo.DEALT
        for wager, each in gains.items():
            beside[wager] += int((ways * each).sum()) * sum(g * n for g, n in its.items())
    found = sums.moments(frozenset(("play", "ante_bonus")))
    every = sum(kind.hands for kind in kinds) * hi_lo.DEALT
    return _with_own(found, "poker_bonus", OwnSums(every, mean, square, beside))


def _given_up(rules: InForce, paid: int, dealers: int) -> tuple[Ints, Ints]:
    """What the house gains of Ante and Tie Wager of a hand that is given up."""
    lost = SCALE + (paid if rules.readings["ante_bonus_after_fold"] else 0)
    return np.full(dealers, lost), np.full(dealers, SCALE)


def _by_comparison(tables: Sequence[Paytable], high: Ints, low: Ints, rules: InForce) -> Ints:
    """What the house gains of a stake by these tables, against each of the dealer's hands."""
    found = np.full(len(high), SCALE, dtype=np.int64)
    for by_high in (-1, 0, 1):
        for by_low in (-1, 0, 1):
            by = Compared(by_high, by_low)
            row = next(filter(None, (each.pays(by, rules.readings) for each in tables)), None)
            if row:
                found[(high == by_high) & (low == by_low)] = whole(-row.ratio)
    return found


def _by_kind(table: Paytable, rules: InForce) -> dict[tuple[int, ...], Counter[int]]:
    """What the house gains of the Poker Bonus: how many hands of each kind by points."""
    found: dict[tuple[int, ...], Counter[int]] = {}
    for cards, hands in hi_lo.five_cards():
        ranks = ["T" if card[0] in hi_lo.TENS else card[0] for card in cards]
        counts = tuple(ranks.count(value) for value in hi_lo.VALUES)
        found.setdefault(counts, Counter())[_pays(table, hand_of(cards), rules)] += hands
    return found


class OwnSums(NamedTuple):
    """Sums over every deal of a wager that the player's own cards decide."""

    every: int  # deals
    mean: int
    square: int
    beside: Mapping[str, int]  # its products with other wagers


def _with_own(found: Moments, wager: str, sums: OwnSums) -> Moments:
    """The moments with a wager that does not depend on the dealer's hand."""
    mean = Fraction(sums.mean, sums.every * SCALE)
    own = dict(found.own)
    own[wager, wager] = Fraction(sums.square, sums.every * SCALE**2) - mean * mean
    for other, both in sums.beside.items():
        together = Fraction(both, sums.every * SCALE**2) - mean * found.means[other]
        own[wager, other] = own[other, wager] = together
    return Moments({**found.means, wager: mean}, own, found.other, found.inside)


def saigon_5_card(rules: InForce) -> Moments:
    """The moments of Ante and Bonus. The pot is the players' own."""
    hands, mine, his, ways = saigon.deals(str(rules.readings["dealer_joker"]))
    sums = Sums(("ante",), len(hands))
    bonus = _by_values(rules)
    every = mean = square = both = 0
    for index, hand in enumerate(hands):
        of_dealer, here = ways(index)
        won = np.sign(mine[index] - his)
        paid = SCALE // 2 if mine[index] == FIVE else SCALE
        ante = np.where(won > 0, -paid, np.where(won < 0, SCALE, 0))
        sums.add(of_dealer, {"ante": ante}, here)
        dealt = int(of_dealer.sum())
        its = bonus[hand]
        every += here * dealt
        mean += sum(gain * count for gain, count in its.items()) * dealt
        square += sum(gain**2 * count for gain, count in its.items()) * dealt
        both += sum(gain * n for gain, n in its.items()) * int((of_dealer * ante).sum())
    found = sums.moments(frozenset())
    return _with_own(found, "bonus", OwnSums(every, mean, square, {"ante": both}))


def _by_values(rules: InForce) -> dict[tuple[int, ...], Counter[int]]:
    """What the house gains of the Bonus: how many hands, by the values of their cards."""
    found: dict[tuple[int, ...], Counter[int]] = {}
    for cards, ways in saigon.hands_of_five():
        values = tuple(sorted(saigon.value_of(card) for card in cards))
        found.setdefault(values, Counter())[_pays(BONUS, saigon_bonus(cards), rules)] += ways
    return found


def three_card_poker(rules: InForce) -> Moments:
    """The moments of Ante (with Play Wager and Ante Bonus) and Pair Plus."""
    values = np.array([three_card_hand(cards).value for cards in three.HANDS])
    can = np.array([queen_high(three_card_hand(cards)) for cards in three.HANDS])
    numbers = {key: number for number, key in enumerate(three.alike())}
    alike = np.array([numbers[three.suits_apart(cards)] for cards in three.HANDS])
    sums = Sums(("ante", "pair_plus"), len(numbers), alike)
    for cards, count in three.alike().values():
        hand = three_card_hand(cards)
        ways = three.apart(cards).astype(np.int64)
        by = np.sign(hand.value - values)
        ante = np.full(len(values), _beside(with_odds(rules, THREE_BONUS, hand), hand, rules))
        for qualifies in (False, True):
            for compared in (-1, 0, 1):
                found = Showdown(qualifies, compared)
                gains = sum(_pays(table, found, rules) for table in (ANTE, PLAY))
                ante[(can == qualifies) & (by == compared)] += gains
        if int((ways * ante).sum()) > SCALE * three.DEALT:
            ante = np.full(len(values), SCALE)  # given up
        pair = _pays(with_odds(rules, PAIR_PLUS, hand), hand, rules)
        sums.add(ways, {"ante": ante, "pair_plus": np.full(len(values), pair)}, count)
    return sums.moments(frozenset(("play", "ante_bonus")))


def six_card_bonus(rules: InForce) -> tuple[Fraction, Fraction]:
    """The mean and the variance of the Six Card Bonus."""
    sixes = three.sixes()
    gains = [
        (count, Fraction(_pays(with_odds(rules, SIX_CARD_BONUS, hand), hand, rules), SCALE))
        for hand, count in sixes.items()
    ]
    mean = sum((count * gain for count, gain in gains), Fraction(0)) / sixes.total()
    square = sum((count * gain**2 for count, gain in gains), Fraction(0)) / sixes.total()
    return mean, square - mean**2
