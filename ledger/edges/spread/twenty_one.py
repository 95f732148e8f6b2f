"""The three games of 21: what a position gains by best play, for each last hand of the dealer.

Cards are drawn from full decks (`best_of_21`). Given the dealer's first card and last total, the
hands of two positions do not depend on one another there. So two positions vary together as far
as their means vary with the dealer's hand.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, NamedTuple

from ledger.edges import blackjack, double_attack_blackjack, spanish_21
from ledger.edges.best_of_21 import (
    ACE,
    DRAWS,
    EMPTY,
    FIRST,
    LIMIT,
    OF_SPLIT,
    State,
    best,
    blackjack_chance,
    choices,
    dealer,
    is_natural,
    pending,
    split,
    stand,
    without_blackjack,
)
from ledger.edges.spread.moments import EVEN_FACE, FACE, Moments
from ledger.games.blackjack import INSURANCE as OF_BLACKJACK
from ledger.games.double_attack_blackjack import INSURANCE as OF_DOUBLE_ATTACK
from ledger.games.spanish_21 import INSURANCE as OF_SPANISH_21

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.edges.best_of_21 import Game21
    from ledger.edges.spread.moments import Covariances
    from ledger.rules.engine.game import InForce

INSURANCE, BUST = "insurance", "bust_it"
HALF = Fraction(-1, 2)


class Gained(NamedTuple):
    """What a position gains of a stake of one, and what the face of a coupon on it wins."""

    stake: Fraction
    face: Fraction = Fraction(0)

    def __add__(self, other: object) -> Gained:
        """The gains of two hands of one position; a coupon lies on the first."""
        if not isinstance(other, Gained):
            return NotImplemented
        return Gained(self.stake + other.stake, self.face + other.face)


Chances = dict[Gained, Fraction]

LOST = Gained(Fraction(-1))


class DealersHand(NamedTuple):
    """The dealer's hand: his first card, and his last total. 22: over 21; None: a Blackjack."""

    game: Game21
    up: int
    total: int | None


def _mixed(parts: list[tuple[Fraction, Chances]]) -> Chances:
    found: Counter[Gained] = Counter()
    for chance, its in parts:
        for gained, then in its.items():
            found[gained] += chance * then  # type: ignore[assignment]  # fractions
    return dict(found)  # type: ignore[arg-type]  # as above


def _stood(of: DealersHand, cards: State) -> Gained:
    """The gain of a hand that gets no further cards."""
    total, his = cards.total, of.total or 0
    if total > LIMIT:
        return Gained(Fraction(0)) if of.game.bust_ties and his > LIMIT else LOST
    if (total == LIMIT and of.game.wins_with_21) or his > LIMIT or his < total:
        return Gained(Fraction(1), Fraction(1))
    return LOST if total < his else Gained(Fraction(0))


@cache
def played(of: DealersHand, cards: State, kind: int) -> Chances:
    """The gains of a hand that is played best, without splits."""
    open_ = choices(of.game, cards, of.up, kind)
    chosen = max(open_, key=lambda name: (open_[name], name))
    if chosen == "stand":
        return {_stood(of, cards): Fraction(1)}
    if chosen == "surrender":
        return {Gained(HALF): Fraction(1)}
    then = _doubled if chosen == "double_down" else _hit
    return _mixed([(of.game.chance(card), then(of, cards.plus(card))) for card in DRAWS])


def _hit(of: DealersHand, cards: State) -> Chances:
    return played(of, cards, 0)


def _doubled(of: DealersHand, cards: State) -> Chances:
    """Twice the stake; given up again where that costs less."""
    again = of.game.after_double
    if again is not None and cards.total < LIMIT and 2 * stand(of.game, cards, of.up) < again:
        return {Gained(again): Fraction(1)}
    gained = _stood(of, cards)
    return {Gained(2 * gained.stake, gained.face): Fraction(1)}


@cache
def _pending(of: DealersHand, card: int, hands: int, left: int, *, first: bool = True) -> Chances:
    """The gains of hands that each start with one card, with the splits left."""
    if not hands:
        return {Gained(Fraction(0)): Fraction(1)}
    others = _pending(of, card, hands - 1, left, first=False)
    parts = []
    for drawn in DRAWS:
        held = EMPTY.plus(card).plus(drawn)
        its, worth = _of_split(of, card, held)
        if drawn == card and left > 0 and (card != ACE or of.game.resplit_aces):
            # The player expects so much, and does not know the dealer's total.
            stays = worth + pending(of.game, card, of.up, hands - 1, left)
            if pending(of.game, card, of.up, hands + 1, left - 1) > stays:
                again = _pending(of, card, hands + 1, left - 1, first=first)
                parts.append((of.game.chance(drawn), again))
                continue
        parts.append((of.game.chance(drawn), _together(its, others, first=first)))
    return _mixed(parts)


def _of_split(of: DealersHand, card: int, held: State) -> tuple[Chances, Fraction]:
    """The gains of a hand after a split, and what the player expects of it."""
    if card != ACE:
        return played(of, held, OF_SPLIT), best(of.game, held, of.up, OF_SPLIT)
    worth = stand(of.game, held, of.up)
    if of.game.surrender == "any" and held.total < LIMIT and worth < HALF:
        return {Gained(HALF): Fraction(1)}, HALF
    return {_stood(of, held): Fraction(1)}, worth


def _together(one: Chances, others: Chances, *, first: bool) -> Chances:
    """The gains of one hand and of the others, which do not depend on it."""
    found: Counter[Gained] = Counter()
    for gained, chance in one.items():
        its = gained if first else gained._replace(face=Fraction(0))
        for more, then in others.items():
            found[its + more] += chance * then  # type: ignore[assignment]  # fractions
    return dict(found)  # type: ignore[arg-type]  # as above


@cache
def position(of: DealersHand) -> Chances:
    """The gains of a position against the dealer's hand."""
    chance = of.game.chance
    return _mixed(
        [
            ((1 if one == two else 2) * chance(one) * chance(two), first_two(of, one, two))
            for one, two in combinations_with_replacement(DRAWS, 2)
        ]
    )


def first_two(of: DealersHand, one: int, two: int) -> Chances:
    """The gains of two cards against the dealer's hand."""
    game, natural = of.game, is_natural(one, two)
    if of.total is None:
        wins = natural and game.wins_with_21
        tied = Gained(game.blackjack, game.blackjack) if wins else Gained(Fraction(0))
        return {tied if natural else LOST: Fraction(1)}
    if natural:
        return {Gained(game.blackjack, game.blackjack): Fraction(1)}
    cards = EMPTY.plus(one).plus(two)
    if one == two and split(game, one, of.up) > best(game, cards, of.up, FIRST):
        return _pending(of, one, 2, game.split_hands - 2)
    return played(of, cards, FIRST)


@cache
def dealers(game: Game21) -> dict[DealersHand, Fraction]:
    """The chance of each of the dealer's hands."""
    found = {}
    for up in DRAWS:
        lost = blackjack_chance(game, up)
        if lost:
            found[DealersHand(game, up, None)] = game.chance(up) * lost
        for total, chance in dealer(game, up).items():
            found[DealersHand(game, up, total)] = game.chance(up) * (1 - lost) * chance
    return found


# -- moments ---------------------------------------------------------------------------------------


class Named(NamedTuple):
    """A game's names: its wager, and what its Insurance pays."""

    wager: str
    insurance: Fraction


class Means(NamedTuple):
    """What the house gains against one hand of the dealer: means, and means of products."""

    one: dict[str, Fraction]
    both: Covariances


def moments(rules: InForce) -> Moments:
    """The moments of every wager whose gain does not depend on a meter."""
    game, names = _game(rules)
    of_main = main_wager(game, names.wager)
    own, other = dict(of_main.own), dict(of_main.other)
    means = dict(of_main.means)
    means[INSURANCE] = _add_shared(game, names.wager, INSURANCE, _insured(game, names), own)
    if rules.game.id == "double_attack_blackjack":
        _add_shared(game, names.wager, BUST, _busts(game), own)
        means[BUST] = double_attack_blackjack.bust_it()
        own[BUST, BUST] = double_attack_blackjack.bust_it_variance()
    shared = {pair: each for pair, each in own.items() if INSURANCE in pair or BUST in pair}
    other |= shared
    if rules.game.id == "blackjack":
        means["house_money"] = _add_house_money(game, rules, of_main.means, own)
    return Moments(means, own, other, frozenset(("double_down", "split", "double_attack")))


def _game(rules: InForce) -> tuple[Game21, Named]:
    if rules.game.id == "blackjack":
        table = rules.paytable(INSURANCE, OF_BLACKJACK)
        return blackjack.game_of(rules), Named("blackjack", table.rows[0].ratio)
    if rules.game.id == "spanish_21":
        table = rules.paytable(INSURANCE, OF_SPANISH_21)
        return spanish_21.game_of(rules), Named("spanish_21", table.rows[0].ratio)
    return double_attack_blackjack.game_of(rules), Named("bet", OF_DOUBLE_ATTACK.rows[0].ratio)


def main_wager(game: Game21, wager: str) -> Moments:
    """The moments of the wager before the cards, and of the faces of coupons on it."""
    means: Counter[str] = Counter()
    own: Counter[tuple[str, str]] = Counter()
    other: Counter[tuple[str, str]] = Counter()
    for of, chance in dealers(game).items():
        its = against(of, wager)
        for one, mean in its.one.items():
            means[one] += chance * mean  # type: ignore[assignment]  # fractions
            for two, more in its.one.items():
                other[one, two] += chance * mean * more  # type: ignore[assignment]  # as above
        for pair, both in its.both.items():
            own[pair] += chance * both  # type: ignore[assignment]  # as above
    found = {name: Fraction(mean) for name, mean in means.items()}
    less = {(one, two): found[one] * found[two] for one in found for two in found}
    return Moments(
        found,
        {pair: both - less[pair] for pair, both in own.items()},
        {pair: both - less[pair] for pair, both in other.items()},
    )


@cache
def against(of: DealersHand, wager: str) -> Means:
    """What the house gains of a position against the dealer's hand."""
    one: Counter[str] = Counter()
    both: Counter[tuple[str, str]] = Counter()
    for gained, chance in position(of).items():
        gains = _house(of, wager, gained)
        for name, gain in gains.items():
            one[name] += chance * gain  # type: ignore[assignment]  # fractions
            for other, more in gains.items():
                both[name, other] += chance * gain * more  # type: ignore[assignment]  # as above
    return Means(dict(one), dict(both))  # type: ignore[arg-type]  # as above


def _house(of: DealersHand, wager: str, gained: Gained) -> dict[str, Fraction]:
    """What the house gains; with a Double Attack where that is worth it to the player."""
    attacked = wager == "bet" and of.total is not None and without_blackjack(of.game, of.up) > 0
    return {
        wager: -gained.stake * (2 if attacked else 1),
        wager + FACE: -gained.face,
        wager + EVEN_FACE: Fraction(-1 if gained.face else 0),
    }


def _add_shared(
    game: Game21, wager: str, name: str, gains: dict[DealersHand, Fraction], own: Covariances
) -> Fraction:
    """Add a wager that the dealer's hand alone decides, and return its mean.

    `gains`: what the house gains of it, for each hand of the dealer that it may be placed against.
    """
    chances = {of: dealers(game)[of] for of in gains}
    total = sum(chances.values())
    mean = sum((chances[of] * gain for of, gain in gains.items()), Fraction(0)) / total
    own[name, name] = (
        sum((chances[of] * gain * gain for of, gain in gains.items()), Fraction(0)) / total
        - mean * mean
    )
    for other in _house(next(iter(gains)), wager, LOST):
        together = Fraction(0)
        for of, gain in gains.items():
            together += chances[of] / total * against(of, wager).one[other] * (gain - mean)
        own[other, name] = own[name, other] = together
    return mean


def _insured(game: Game21, names: Named) -> dict[DealersHand, Fraction]:
    """What the house gains of Insurance, placed when the dealer shows an ace."""
    return {
        of: Fraction(1) if of.total is not None else -names.insurance
        for of in dealers(game)
        if of.up == ACE
    }


def _busts(game: Game21) -> dict[DealersHand, Fraction]:
    """What the house gains of Bust It on average, for each hand of the dealer."""
    found = {of: Fraction(1) for of in dealers(game)}
    for of in found:
        if of.total == LIMIT + 1:
            found[of] = _bust_in_three(game, of.up) / dealer(game, of.up)[LIMIT + 1]
    return found


def _bust_in_three(game: Game21, up: int) -> Fraction:
    """What the house gains of Bust It where the dealer is over 21, times the chance of that."""
    gained = dealer(game, up)[LIMIT + 1]
    holes = {card: game.chance(card) for card in DRAWS if not is_natural(up, card)}
    for hole, chance in holes.items():
        for third in DRAWS:
            then = chance / sum(holes.values()) * game.chance(third)
            gained -= then * (1 + double_attack_blackjack.pays_of_values(up, hole, third))
    return gained


def _add_house_money(
    game: Game21, rules: InForce, main: Mapping[str, Fraction], own: Covariances
) -> Fraction:
    """Add House Money that is not pressed, and return its mean."""
    name, mean, square = "house_money", Fraction(0), Fraction(0)
    beside = {other: Fraction(0) for other in main}
    for (one, two), chance, gain in blackjack.house_money_paid(rules):
        mean += chance * gain
        square += chance * gain * gain
        held = _beside_two(game, one, two)
        for other in beside:
            beside[other] += chance * gain * (held[other] - main[other])
    own[name, name] = square - mean * mean
    for other, together in beside.items():
        own[name, other] = own[other, name] = together
    return mean


@cache
def _beside_two(game: Game21, one: int, two: int) -> dict[str, Fraction]:
    """What the house gains on average of a position that holds these two cards."""
    found: Counter[str] = Counter()
    for of, chance in dealers(game).items():
        for gained, then in first_two(of, one, two).items():
            for name, gain in _house(of, "blackjack", gained).items():
                found[name] += chance * then * gain  # type: ignore[assignment]  # fractions
    return dict(found)  # type: ignore[arg-type]  # as above
