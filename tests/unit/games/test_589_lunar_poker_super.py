"""Lunar Poker: the Super Wager, the instant payout, cards that are bought (589.11(b)-(d))."""

from __future__ import annotations

import pytest

from tests.unit.games.lunar import GAME, NO_HAND, check, opening, told
from tests.unit.games.rounds import lines, ruling

SUPER = """
    4K  9c 9d 9h 9s 2c   Four-of-a-kind, 250 to 1         125000 125000 125000
    CS  5c 6s 7c 8s 9c   Same-colored straight, 150 to 1   75000  75000  75000
    SF  5c 6c 7c 8c 9c   Same-colored straight, 150 to 1   75000  75000  75000
    RF  Ah Kh Qh Jh Th   Same-colored straight, 150 to 1   75000  75000  75000
    FH  8h 8c 8d Ks Kc   Full house, 100 to 1              50000  50000  50000
    FL  Ad Kd 9d 4d 2d   Flush, 60 to 1                    30000  30000  30000
    ST  Ac Kd Qh Jc Tc   Straight, 30 to 1                 15000  15000  15000
    3K  Kc Kd Kh As 4d   Three-of-a-kind, {three} to 1      4000   4000   3500
    AQ  Ac Kd Qh 4c 2d   Ace-king, {king} to 1              3000   2500   3000
    C5  Ac Ks Qc 4s 2c   Ace-king, {king} to 1              3000   2500   3000
    5C  Ac Js Qc 4s 2c   Same colored five, 2 to 1          1000   1000   1000
    2C  9d 9h 4d 4h 2d   Same colored five, 2 to 1          1000   1000   1000
"""
INSTANT = {
    "A": (1500, 500),
    "B": (1500, 400),
    "C": (1500, 300),
    "D": (1200, 400),
    "E": (1200, 300),
    "F": (1000, 300),
    "G": (800, 300),
    "H": (600, 300),
}


def declared(cards: str, *, more: str = "1 super 500") -> str:
    """A hand that is declared and shown, and plays no Bet."""
    return opening(cards, "3c 3h 6h 7d Td", more=more) + f"decide 1 declare\n show 1 {cards}\n"


def test_589_12_b_every_row_of_every_super_paytable() -> None:
    for letter, three, king, column in (("A", 8, 6, 0), ("B", 8, 5, 1), ("C", 7, 6, 2)):
        filed = {"offers": ("super",), "paytables": {"super": letter}}
        for row in lines(SUPER):
            what, *rest = row.split()
            cards, label, nets = " ".join(rest[:5]), " ".join(rest[5:-3]), rest[-3:]
            if what in ("SF", "RF"):
                continue
            paid = f"1 super 500 win +{nets[column]} 589.12(b) "
            paid += label.format(three=three, king=king)
            found = told(declared(cards) + "fold 1\n locked", filed=filed)
            assert found[1] == paid, row
            assert found[2:] == ["1 ante 1000 lose -1000 589.11(d)(1)"], row


def test_589_11_c_2_ii_a_straight_flush_is_paid_at_once_and_as_a_same_colored_straight() -> None:
    straight = "Same-colored straight, 150 to 1"
    for letter, odds in INSTANT.items():
        filed = {"offers": ("super",), "paytables": {"instant": letter}}
        for cards, row, times in (
            ("Ah Kh Qh Jh Th", "Royal flush", odds[0]),
            ("5c 6c 7c 8c 9c", "Straight flush", odds[1]),
        ):
            assert told(declared(cards) + "locked", filed=filed) == [
                "complete",
                f"1 instant 1000 win +{times * 1000} 589.12(a) {row}, {times} to 1",
                f"1 super 500 win +75000 589.12(b) {straight}",
                "1 ante 1000 push +0 589.11(c)(1)(i)",
            ]


ACE_KING = "Ac Kd Jh 4c 2d"
"""An ace and a king of two colors, and no queen."""


def test_589_6_d_7_an_ace_king_without_a_queen_is_paid_by_the_literal_text_alone() -> None:
    literal, sheet = ({"super_ace_king": value} for value in ("ace_king", "ace_king_queen"))
    lost = "1 ante 1000 lose -1000 589.11(d)(1)"
    for readings, cards, settled in (
        (literal, ACE_KING, "win +3000 589.12(b) Ace-king, 6 to 1 [super_ace_king ace_king]"),
        (sheet, ACE_KING, "lose -500 589.11(c)(2)(i) [super_ace_king ace_king_queen]"),
        (
            literal,
            "Ac Ks Jc 4s 2c",
            "win +3000 589.12(b) Ace-king, 6 to 1 [super_ace_king ace_king]",
        ),
        (
            sheet,
            "Ac Ks Jc 4s 2c",
            "win +1000 589.12(b) Same colored five, 2 to 1 [super_ace_king ace_king_queen]",
        ),
        (sheet, "Ac Kd Qh 4c 2d", "win +3000 589.12(b) Ace-king, 6 to 1"),
        (sheet, "Ac Kc Kh Ks 2d", "win +4000 589.12(b) Three-of-a-kind, 8 to 1"),
        (sheet, "9c 8d Jh 4c 2d", "lose -500 589.11(c)(2)(i)"),
    ):
        filed = {"offers": ("super",), "readings": readings}
        found = told(declared(cards) + "fold 1\n locked", filed=filed)
        assert found == ["complete", f"1 super 500 {settled}", lost], cards


def test_589_11_c_2_i_a_super_wager_that_is_not_declared_is_lost() -> None:
    script = opening(ACE_KING, NO_HAND, more="1 super 500") + "fold 1\n locked"
    check(
        script,
        """
        complete
        1 super  500 lose  -500 589.11(c)(2)(i)
        1 ante  1000 lose -1000 589.11(d)(1)
        """,
    )


def test_589_11_b_2_an_instant_hand_that_is_not_declared_plays_on() -> None:
    cards = "5c 6c 7c 8c 9s".replace("9s", "9c")
    script = opening(cards, "Ah Kd 9h 7s 2h", more="1 super 500") + "1 bet 2000\n locked\n"
    script += f"show dealer Ah Kd 9h 7s\n show 1 {cards}"
    check(
        script,
        """
        complete
        1 super  500 lose    -500 589.11(c)(2)(i)
        1 ante  1000 push      +0 589.11(e)(1)(ii)
        1 bet   2000 win  +100000 589.12(c) Straight flush, 50 to 1
        """,
    )


def test_589_11_c_1_i_a_hand_declared_once_another_card_is_dealt_is_paid_nothing_at_once() -> None:
    """Position 2 draws; position 1 declares before the new card, or after it."""
    script = """
        start manual_shoe
        1 ante 1000
        1 super 500
        2 ante 1000
        nomorebets
        deal 1 5c 6c 7c 8c 9c
        deal 2 Jc Td 8h 4c 3d
        deal dealer Ah Kd 9h 7s 2h
        show dealer 4 2h
        1 bet 2000
        decide 2 sixth_card
        fee 2 options 1000 sixth_card
        locked
        {before}
        deal 2 5h
        {after}
        fold 2
        show dealer Ah Kd 9h 7s
        show 1 5c 6c 7c 8c 9c
    """
    fee = "2 options 1000 lose -1000 589.11(b)(3)"
    late = told(script.format(before="", after="decide 1 declare"))
    assert late == [
        "complete",
        fee,
        "1 super 500 lose -500 589.11(c)(2)(i)",
        "2 ante 1000 lose -1000 589.11(d)(2)(iv)",
        "1 ante 1000 push +0 589.11(e)(1)(ii)",
        "1 bet 2000 win +100000 589.12(c) Straight flush, 50 to 1",
    ]
    in_time = told(script.format(before="decide 1 declare", after=""))
    assert in_time == [
        "complete",
        fee,
        "1 instant 1000 win +500000 589.12(a) Straight flush, 500 to 1",
        "1 super 500 win +75000 589.12(b) Same-colored straight, 150 to 1",
        "1 ante 1000 push +0 589.11(c)(1)(i)",
        "1 bet 2000 void +0 589.11(b)(2)",
        "2 ante 1000 lose -1000 589.11(d)(2)(iv)",
        "! wager_not_permitted 1 bet 589.11(b)(2)",
    ]


def test_589_11_c_2_ii_b_a_declared_hand_plays_on_with_its_cards_open() -> None:
    """Declared before the decisions, or when the Super Wagers are settled; folded or not."""
    show = f"decide 1 declare\n show 1 {ACE_KING}\n"
    paid = "1 super 500 win +3000 589.12(b) Ace-king, 6 to 1 [super_ace_king ace_king]"
    dealer = "Qs Qd 9c 7s 2h"
    for before, after in ((show, ""), ("", show)):
        script = opening(ACE_KING, dealer, more="1 super 500") + before + "1 bet 2000\n locked\n"
        found = told(script + after + "show dealer Qs Qd 9c 7s")
        assert found == [
            "complete",
            paid,
            "1 ante 1000 lose -1000 589.11(e)(1)(i)",
            "1 bet 2000 lose -2000 589.11(e)(1)(i)",
        ]
        script = opening(ACE_KING, dealer, more="1 super 500") + before + "fold 1\n locked\n"
        assert told(script + after) == ["complete", paid, "1 ante 1000 lose -1000 589.11(d)(1)"]


DRAWN = """
    start manual_shoe
    1 ante 1000
    {super}
    nomorebets
    deal 1 Ac Kd Jh 4c 2d
    deal dealer Ah Ks 9c 7s 2h
    show dealer 4 2h
    decide 1 exchange {discards}
    fee 1 options 1000 exchange
    locked
"""


@pytest.mark.parametrize(
    ("discards", "new", "shown"),
    [
        ("4c 2d", "As 5s", "Ac Kd Jh As 5s"),
        ("Jh 4c 2d", "As 5s 8d", "Ac Kd As 5s 8d"),
        ("Kd Jh 4c 2d", "As 5s 8d Kc", "Ac As 5s 8d Kc"),
        ("Ac Kd Jh 4c 2d", "As 5s 8d Kc Ad", "As 5s 8d Kc Ad"),
    ],
)
def test_589_11_d_2_i_b_two_to_five_cards_are_exchanged_and_the_bet_follows(
    discards: str, new: str, shown: str
) -> None:
    drawn = DRAWN.format(super="", discards=discards)
    script = drawn + f"exchange 1 {discards}\n deal 1 {new}\n 1 bet 2000\n"
    assert told(script + f"show dealer Ah Ks 9c 7s\n show 1 {shown}") == [
        "complete",
        "1 options 1000 lose -1000 589.11(b)(3)",
        "1 ante 1000 push +0 589.11(e)(1)(ii)",
        "1 bet 2000 win +4000 589.12(c) One pair, 1 to 1",
        "+ 1 One pair and Ace-king",
    ]


def test_589_11_d_2_iv_a_hand_that_drew_and_is_given_up_loses_the_ante_and_the_fee() -> None:
    drawn = DRAWN.format(super="", discards="4c 2d") + "exchange 1 4c 2d\n deal 1 5s 8d\n fold 1"
    check(
        drawn,
        """
        complete
        1 options 1000 lose -1000 589.11(b)(3)
        1 ante    1000 lose -1000 589.11(d)(2)(iv)
        """,
    )


def test_589_11_b_3_one_card_may_not_be_exchanged() -> None:
    drawn = DRAWN.format(super="", discards="2d") + "exchange 1 2d\n deal 1 5s\n fold 1"
    assert told(drawn)[-1] == "! decision_not_permitted 1 589.11(b)(3)"
    assert [found.says for found in ruling(drawn, GAME).findings] == [
        "Position 1 gave up 1 for exchange; two to five cards may be exchanged."
    ]
    two = DRAWN.format(super="", discards="4c 2d") + "exchange 1 4c 2d\n deal 1 5s 8d\n fold 1"
    assert not [line for line in told(two) if line.startswith("!")]


def test_589_11_b_3_no_card_and_six_may_not_be_exchanged_and_the_fee_is_paid() -> None:
    drawn = DRAWN.format(super="", discards="")
    none = drawn + "exchange 1\n fold 1"
    check(
        none,
        """
        complete
        1 options 1000 lose -1000 589.11(b)(3)
        1 ante    1000 lose -1000 589.11(d)(2)(iv)
        ! decision_not_permitted 1 589.11(b)(3)
        """,
    )
    six = drawn + "exchange 1 Ac Kd Jh 4c 2d 2d\n deal 1 As 5s 8d Kc Ad\n fold 1"
    assert "! decision_not_permitted 1 589.11(b)(3)" in told(six)
    five = six.replace("2d 2d", "2d")
    assert not [line for line in told(five) if line.startswith("!")]
    # What was given up is not known where the record has lost it.
    lost = drawn.replace("locked", "locked | seq 2") + "deal 1 As 5s | seq 4\n fold 1"
    assert not [line for line in told(lost) if "decision" in line]


def test_589_11_d_2_i_b_where_the_decision_names_no_cards_the_exchange_does() -> None:
    drawn = DRAWN.format(super="", discards="") + "exchange 1 4c 2d\n deal 1 5s 8d\n fold 1"
    assert told(drawn)[-1] == "1 ante 1000 lose -1000 589.11(d)(2)(iv)"
    missing = DRAWN.format(super="", discards="")
    assert told(missing)[-1] == "> cards_exchanged position 1 589.11(d)(2)(i)(B)"


def test_589_11_c_the_super_wager_goes_by_the_first_five_cards_and_not_by_those_drawn() -> None:
    """Three kings and two aces come together only with the new cards."""
    drawn = DRAWN.format(super="1 super 500", discards="4c 2d")
    script = drawn + "decide 1 declare\n show 1 Ac Kd Jh 4c 2d\n exchange 1 4c 2d\n"
    script += "deal 1 Kc Kh\n 1 bet 2000\n show dealer Ah Ks 9c 7s\n show 1 3 Kc\n show 1 4 Kh"
    found = told(script)
    assert found[2] == "1 super 500 win +3000 589.12(b) Ace-king, 6 to 1 [super_ace_king ace_king]"
    assert found[4].startswith("1 bet 2000 win +8000 589.12(c) Three-of-a-kind, 3 to 1")
    assert not [line for line in found if line.startswith("!")]
