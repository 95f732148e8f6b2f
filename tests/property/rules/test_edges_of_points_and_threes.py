"""The counts behind the edges of Five Card Hi-Lo and Three Card Poker, beside rounds as ruled."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import pytest

from ledger.adjudication.submissions import in_force
from ledger.edges import NO_DAY
from ledger.edges import five_card_hi_lo as hi_lo
from ledger.edges import three_card_poker as three
from ledger.games import games
from ledger.games.five_card_hi_lo import TIE, TIE_HIGH, TIE_LOW, WIN, Compared
from ledger.rules.hands.cards import DECK
from ledger.rules.hands.points import dealer_hi_lo, player_hi_lo
from ledger.rules.hands.short_hands import six_card_hand
from tests.unit.games import test_649a_three_card_poker as table_of_three
from tests.unit.games import test_663a_five_card_hi_lo as table_of_five
from tests.unit.games.rounds import ruling

THREE = in_force(games()["three_card_poker"], "", "", NO_DAY, [])


def test_663a_every_hand_of_five_is_of_one_kind_and_every_dealers_hand_beside_it() -> None:
    assert sum(kind.hands for kind in hi_lo.kinds()) == 2_598_960
    chance = random.Random(663)  # noqa: S311 - no secret
    for kind in chance.sample(hi_lo.kinds(), 20):
        assert hi_lo.ways(kind).sum() == hi_lo.DEALT


def test_663a_11_g_the_tables_of_the_edge_pay_rounds_as_they_are_ruled() -> None:
    chance = random.Random(11)  # noqa: S311 - no secret
    for _ in range(60):
        cards = chance.sample(DECK, 10)
        points, dealer = player_hi_lo(cards[:5])[0], dealer_hi_lo(cards[5:])
        by = Compared(points.high - dealer.high, points.low - dealer.low)
        row = next((r for t in (WIN, TIE_HIGH, TIE_LOW) if (r := t.pays(by, {}))), None)
        tie = TIE.pays(by, {})
        hand, dealers = (" ".join(_high_first(each)) for each in (cards[:5], cards[5:]))
        ruled = ruling(table_of_five.round_of(hand, dealers), table_of_five.GAME)
        assert ruled.findings == []
        net = {each.wager: each.net for each in ruled.settlements}
        assert net["play"] == 1000 * (row.ratio if row else -1)
        assert net["tie"] == 500 * (tie.ratio if tie else -1)


def _high_first(cards: list[str]) -> list[str]:
    """Cards with the three highest first."""
    worth = {"A": 11, **dict.fromkeys("TJQK", 10)}
    return sorted(cards, key=lambda card: -int(worth.get(card[0]) or card[0]))


def test_649a_the_sixes_are_as_many_as_are_published() -> None:
    found = Counter[str]()
    for hand, count in three.sixes().items():
        found["Super Royal" if hand.super_royal else hand.category] += count
    assert found == {
        "Super Royal": 4,
        "Royal flush": 184,
        "Straight flush": 1_656,
        "Four-of-a-kind": 14_664,
        "Full house": 165_984,
        "Flush": 205_792,
        "Straight": 361_620,
        "Three-of-a-kind": 732_160,
        "Two pair": 2_532_816,
        "Pair": 9_730_740,
        "No pair": 6_612_900,
    }


def test_649a_a_sample_of_sixes_falls_as_they_are_counted() -> None:
    chance = random.Random(649)  # noqa: S311 - no secret
    drawn = Counter(six_card_hand(chance.sample(DECK, 6)).category for _ in range(20_000))
    every = sum(three.sixes().values())
    for category in ("No pair", "Pair", "Two pair", "Three-of-a-kind", "Straight"):
        count = sum(n for hand, n in three.sixes().items() if hand.category == category)
        assert drawn[category] / 20_000 == pytest.approx(count / every, abs=0.012)


@pytest.mark.long
def test_649a_12_standard_the_ante_and_the_pair_plus_keep_what_is_published() -> None:
    assert three.ante(THREE) == Fraction(686_689, 20_358_520)  # 3.37 %
    assert three.pair_plus(THREE) == Fraction(128, 5_525)  # 2.32 %
    assert sum(count for _, count in three.alike().values()) == 22_100


def test_649a_12_a_round_is_paid_as_the_edge_counts_it() -> None:
    chance = random.Random(12)  # noqa: S311 - no secret
    for _ in range(60):
        cards = chance.sample(DECK, 6)
        script = table_of_three.round_of(" ".join(cards[:3]), " ".join(cards[3:]))
        net = {s.wager: s.net for s in ruling(script, table_of_three.GAME).settlements}
        six = six_card_hand(cards)
        row = three.with_odds(THREE, three.SIX_CARD_BONUS, six).pays(six, {})
        assert net["six_card_bonus"] == 500 * (row.ratio if row else -1)
