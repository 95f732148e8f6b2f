"""The three games of baccarat: every coup of the shoe decides all wagers of a round."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from ledger.edges.coups import shoe, stakes, tails
from ledger.edges.spread.moments import joint, with_faces
from ledger.games import baccarat, midibaccarat, minibaccarat
from ledger.rules.baccarat.coup import HOUSE_MONEY, base

if TYPE_CHECKING:
    from ledger.edges.spread.moments import Moments
    from ledger.rules.baccarat.coup import Coup
    from ledger.rules.engine.game import InForce

PRINTED = {
    "baccarat": baccarat.PRINTED,
    "midibaccarat": midibaccarat.PRINTED,
    "minibaccarat": minibaccarat.PRINTED,
}
CHARGED = frozenset(("vigorish",))
"""Vigorish that is marked: a win of 19 to 20 has it already."""


def moments(rules: InForce) -> Moments:
    """The moments of every wager, by the coups of whole decks."""
    printed = PRINTED[rules.game.id]
    by_wager = stakes(rules, base(printed.paid))
    found = []
    for (pairs, coup), ways in _ended(rules.decks).items():
        row = printed.house_money.pays(pairs, rules.readings)
        gains = {wager: -gained(coup) for wager, gained in by_wager.items()}
        gains[HOUSE_MONEY] = -row.ratio if row else Fraction(1)
        found.append((ways, with_faces(gains)))
    return joint(found, CHARGED)


def _ended(decks: int) -> Counter[tuple[int, Coup]]:
    """Ways to draw six cards, by the hands that begin with a pair and by the coup."""
    found: Counter[tuple[int, Coup]] = Counter()
    for initial, ways in shoe(decks).items():
        for coup, more in tails(decks, initial.player, initial.banker).items():
            found[initial.pairs, coup] += ways * more
    return found
