"""Five Card Hi-Lo, Chapter 663a: hands settled by hand from sections 6, 7, 11 and 12.

A hand is written as it was set: three cards high, two low. The dealer shows 25 and 9 points,
K-8-7 and 4-5, unless a row says otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from typing import Unpack

    from tests.unit.games.rounds import Around

GAME = "five_card_hi_lo"
ALL: dict[str, Any] = {"offers": ("tie", "poker_bonus")}

DEALER = "Kh 8s 7d 4c 5h"

# What a code in the tables below stands for, as 663a.11 and 663a.12 print it.
BASE = {
    "W": "win {:+d} 663a.12(a) High hand higher and low hand lower, 1 to 1",
    "TH": "push +0 663a.11(g)(3)(i) High hand higher, low hand not lower, Push",
    "TL": "push +0 663a.11(g)(3)(ii) Low hand lower, high hand not higher, Push",
    "X": "lose -{:d} 663a.11(g)(2)",
}
TIE = {
    "B": "win +10000 663a.12(c) Both high and low hands tie, 20 to 1",
    "L": "win +2000 663a.12(c) Low hands tie, 4 to 1",
    "H": "win +2000 663a.12(c) High hands tie, 4 to 1",
    "X": "lose -500 663a.11(j)(1)(ii)",
}
ROWS_A = {
    "RF": (250, "Royal flush, 250 to 1"),
    "SF": (50, "Straight flush, 50 to 1"),
    "4K": (25, "Four-of-a-kind, 25 to 1"),
    "FH": (15, "Full house, 15 to 1"),
    "FL": (10, "Flush, 10 to 1"),
    "ST": (8, "Straight, 8 to 1"),
    "3K": (5, "Three-of-a-kind, 5 to 1"),
    "2P": (3, "Two pair, 3 to 1"),
    "P7": (1, "Pair of 7s or better, 1 to 1"),
}
ROWS_B = {
    "RF": (500, "Royal flush, 500 to 1"),
    "SF": (100, "Straight flush, 100 to 1"),
    "4K": (40, "Four-of-a-kind, 40 to 1"),
    "FH": (15, "Full house, 15 to 1"),
    "FL": (8, "Flush, 8 to 1"),
    "ST": (6, "Straight, 6 to 1"),
    "3K": (4, "Three-of-a-kind, 4 to 1"),
    "2P": (3, "Two pair, 3 to 1"),
    "P6": (1, "Pair of 6s or better, 1 to 1"),
}


def round_of(hand: str, dealer: str = DEALER) -> str:
    """A round of one player with every wager, his hand set as written, the dealer's likewise."""
    cards, dealers = hand.split(), dealer.split()
    return f"""
        start manual_shoe
        1 ante 1000
        1 tie 500
        1 poker_bonus 500
        nomorebets
        deal 1 {hand}
        deal dealer {dealer}
        1 play 1000
        set 1 high {" ".join(cards[:3])} low {" ".join(cards[3:])}
        show dealer {dealer}
        set dealer high {" ".join(dealers[:3])} low {" ".join(dealers[3:])}
        show 1 {hand}
    """


def expected_of(
    base: str,
    tie: str,
    bonus: str,
    *,
    aces: str = "",
    rows: dict[str, tuple[int, str]] = ROWS_A,
    reading: str = "",
) -> list[str]:
    """A ruling of the round above by its codes; `aces` what the Ante Bonus wins, as printed."""
    found = ["complete"]
    found += [f"1 {wager} 1000 {BASE[base].format(1000)}{reading}" for wager in ("ante", "play")]
    found += [f"1 ante_bonus 1000 win {aces}"] if aces else []
    found.append(f"1 tie 500 {TIE[tie]}{reading}")
    odds, row = rows.get(bonus, (0, ""))
    paid = f"win {odds * 500:+d} 663a.12(d) {row}" if odds else "lose -500 663a.11(j)(2)(ii)"
    return [*found, f"1 poker_bonus 500 {paid}"]


def check_hands(
    table: str,
    dealer: str = DEALER,
    rows: dict[str, tuple[int, str]] = ROWS_A,
    **around: Unpack[Around],
) -> None:
    """Each row: the hand as set / codes of Ante and Play, of Tie, of Poker Bonus."""
    for row in lines(table):
        hand, codes = row.split("/")
        base, tie, bonus = codes.split()
        found = text(ruling(round_of(hand.strip(), dealer), GAME, **around))
        assert found == expected_of(base, tie, bonus, rows=rows), row


def check(script: str, expected: str, **around: Unpack[Around]) -> None:
    """A script's whole ruling, line by line."""
    assert text(ruling(script, GAME, **around)) == lines(expected)


def test_663a_11_g_every_way_the_points_of_two_hands_can_stand_to_the_dealers() -> None:
    # The dealer: 10 + 8 + 7 = 25 high, 4 + 5 = 9 low. Ties are no copies: (g)(3) is not symmetric.
    check_hands("""
        Qc 9d 7s 3c 5d / W  X X
        Qc 9d 7s 4d 5s / TH L X
        Qc 9d 7s 4d 6s / TH X X
        Qc 8d 7s 3c 5d / TL H X
        Qc 8d 6s 3c 5d / TL X X
        Qc 8d 7s 4d 5s / X  B X
        Qc 8d 7h 4d 6c / X  H X
        Qc 8d 6s 4d 5s / X  L X
        Qc 8d 6s 5s 5d / X  X X
    """)


def test_663a_6_a_pips_count_themselves_and_jacks_queens_and_kings_ten() -> None:
    # 25 and 9 again: 10 + 9 + 6 or 10 + 8 + 7, and 4 + 5, 3 + 6 or 2 + 7.
    check_hands("""
        Tc 9d 6s 4d 5s / X B X
        Jc 9d 6s 4d 5s / X B X
        Qc 9d 6s 4d 5s / X B X
        Kc 9d 6s 4d 5s / X B X
        Tc 8d 7s 3d 6s / X B X
        Jc 8d 7s 2d 7c / X B P7
    """)


def test_663a_6_a_an_ace_counts_11_high_and_1_low() -> None:
    check_hands("""
        Ac 7c 7s 4d 5s / X  B P7
        Ac 8c 6s 4d 5s / X  B X
        Ac 8c 7s 4d 5s / TH L X
        9c 8d 8c 8h Ad / X  B 3K
        Ad 9c 8d 8c 8h / TH X 3K
    """)


def test_663a_11_d_one_ace_may_be_low_and_the_sections_example_counts_29_and_3() -> None:
    # Ace, jack, 10, 9 and 2 against 29 and 4; with the ace high they are 31 and 11.
    check_hands(
        """
        Jc Ts 9d Ac 2c / TL H X
        Ac Jc Ts 9d 2c / TH X X
        """,
        dealer="Kh Td 9c 2h 2d",
    )


def test_663a_11_e_the_dealers_aces_are_high_unless_he_has_four() -> None:
    # 11 + 10 + 9 and 5 + 2; then three aces high, 33, and the fourth low with the 9, 10.
    check_hands("Kc Qd Ts 4c 3h / X B X", dealer="Ah Kd 9s 5c 2h")
    check_hands("Kc Qd Js 4c 6h / TH X X", dealer="Ah Kd 8s 5c 2h")
    check_hands("Kc Qd Js 4c 6h / X L X", dealer="Ah Ad As Ac 9h")
    check_hands("Kc Qd Js 4c 5h / TL X X", dealer="Ah Ad As Ac 9h")


def test_663a_12_c_both_hands_tied_pay_20_to_1_and_nothing_beside() -> None:
    found = ruling(round_of("Qc 8d 7s 4d 5s"), GAME).settlements
    assert [(each.net, each.rows) for each in found if each.wager == "tie"] == [(10000, None)]


POKER_HANDS = """
    Ac Kc Qc Jc Tc / TH X RF
    9c 8c 7c 6c 5c / X  X SF
    Ad 5d 4d 2d 3d / TL X SF
    9c 9d 9h 9s 2c / TH X 4K
    Kc Kd 8h 8c 8d / TH X FH
    Kc 9c 7c 2c 3c / W  X FL
    Tc 9s 8h 7c 6d / TH X ST
    Ac Kd Qc Jc Tc / TH X ST
    Ac 5c 4d 2s 3h / TL X ST
    Kd 5c 5d 5s 2h / TL X 3K
    Kc Kd 3c 3d 2s / TL X 2P
"""


def test_663a_12_d_every_row_of_paytable_a() -> None:
    check_hands(POKER_HANDS)
    check_hands("""
        Ac Ad Kc 2c 3d / W  X P7
        Kc 7c 7h 2c 3d / TL X P7
        Kc 6c 6h 2c 3d / TL X X
    """)


def test_663a_12_d_every_row_of_paytable_b() -> None:
    filed = {**ALL, "paytables": {"poker_bonus": "B"}}
    check_hands(POKER_HANDS, rows=ROWS_B, filed=filed)
    check_hands(
        """
        Ac Ad Kc 2c 3d / W  X P6
        Kc 7c 7h 2c 3d / TL X P6
        Kc 6c 6h 2c 3d / TL X P6
        Kc 5c 5d 2c 3d / TL X X
        """,
        rows=ROWS_B,
        filed=filed,
    )


def test_579_6_c_an_ace_stands_at_either_end_of_a_straight_and_never_inside_one() -> None:
    check_hands("""
        Ac Kd Qc 2d 3s / W X X
        Ac Kc Qc 2c 3c / W X FL
    """)


ACES = {
    "Ac Ad 9s Ah 5c": ("Three aces", "W", "3K"),
    "Ac Ad Ah As 9c": ("Four aces", "TH", "4K"),
    "Ac Ad Ah As 2c": ("Four aces and one 2", "W", "4K"),
}
PRINTED = {"A": (10, 100, 1000), "B": (5, 50, 500), "C": (5, 50, 200), "D": (5, 50, 100)}


@pytest.mark.parametrize("letter", PRINTED)
def test_663a_12_b_every_row_of_each_paytable_pays_the_highest_alone_for_1(letter: str) -> None:
    for (hand, (label, base, bonus)), times in zip(ACES.items(), PRINTED[letter], strict=True):
        for value, paid in (("full", times * 1000), ("less_stake", (times - 1) * 1000)):
            filed = {
                **ALL,
                "paytables": {"ante_bonus": letter},
                "readings": {"bonus_for_1": value},
            }
            aces = f"{paid:+d} 663a.12(b) {label}, {times} for 1 [bonus_for_1 {value}]"
            found = text(ruling(round_of(hand), GAME, filed=filed))
            assert found == expected_of(base, "X", bonus, aces=aces), hand


def test_663a_12_b_without_a_submission_paytable_a_pays_in_full() -> None:
    aces = "+10000 663a.12(b) Three aces, 10 for 1 [bonus_for_1 full]"
    found = text(ruling(round_of("Ac Ad 9s Ah 5c"), GAME))
    assert found == expected_of("W", "X", "3K", aces=aces)


def test_663a_11_h_the_ante_bonus_is_paid_beside_an_ante_that_loses() -> None:
    # 29 and 7 against 30 and 5.
    aces = "+10000 663a.12(b) Three aces, 10 for 1 [bonus_for_1 full]"
    found = text(ruling(round_of("Ac Ad 7c Ah 6c", "Kh Qs Jd 2c 3h"), GAME))
    assert found == expected_of("X", "X", "3K", aces=aces)


def test_663a_11_h_two_aces_have_no_bonus() -> None:
    check_hands("Ac Ad 9s 4d 5c / TH L P7")


def given_up(hand: str) -> str:
    """The round of one player with every wager, who makes no Play Wager."""
    script, _, _ = round_of(hand).partition("1 play")
    return script + f"fold 1\n show 1 {hand}\n"


FORFEITED = """
    1 ante        1000 lose -1000 663a.11(b)
    1 tie          500 lose  -500 663a.11(b)(1)
"""


def test_663a_11_b_a_hand_without_a_play_wager_loses_ante_and_tie_and_keeps_its_bonus() -> None:
    won = "1 poker_bonus 500 win +500 663a.12(d) Pair of 7s or better, 1 to 1"
    check(given_up("Kc 7c 7h 2c 3d"), "complete" + FORFEITED + won)
    lost = "1 poker_bonus 500 lose -500 663a.11(j)(2)(ii)"
    check(given_up("Kc 6c 6h 2c 3d"), "complete" + FORFEITED + lost)


def test_663a_11_h_a_hand_given_up_has_an_ante_bonus_by_the_reading_alone() -> None:
    trips = "1 poker_bonus 500 win +2500 663a.12(d) Three-of-a-kind, 5 to 1"
    nothing = "1 poker_bonus 500 lose -500 663a.11(j)(2)(ii)"
    paid = """
        1 ante_bonus 1000 win +10000 663a.12(b) Three aces, 10 for 1
            [bonus_for_1, ante_bonus_after_fold full, true]
    """
    kept = {**ALL, "readings": {"ante_bonus_after_fold": True}}
    aces, fewer = given_up("Ac Ad 9s Ah 5c"), given_up("Ac Qd 9s Jh 5c")
    check(aces, "complete" + FORFEITED + trips)
    check(aces, "complete\n" + " ".join(paid.split()) + FORFEITED + trips, filed=kept)
    check(fewer, "complete" + FORFEITED + nothing, filed=kept)
    # A hand that is played has it under either.
    beside = "+10000 663a.12(b) Three aces, 10 for 1 [bonus_for_1 full]"
    found = text(ruling(round_of("Ac Ad 9s Ah 5c"), GAME, filed=kept))
    assert found == expected_of("W", "X", "3K", aces=beside)


def set_as(cards: str, high: str, low: str) -> str:
    """The round of one player who sets his cards so."""
    script = round_of(cards)
    was = f"set 1 high {' '.join(cards.split()[:3])} low {' '.join(cards.split()[3:])}"
    return script.replace(was, f"set 1 high {high} low {low}")


# Cards / high hand / low hand / what 11(d) makes it / as set / codes put right / codes as set.
MISSET = """
    Qc 9d 7s 4d 6s / Qc 9d 4d / 7s 6s / 26 and 10             / 23 and 13 / TH X X  / X  X X
    Kc 8d 7s 8c Ad / Kc 8d 7s / 8c Ad / 29 and 15 or 26 and 8 / 25 and 9  / W  X P7 / X  B P7
    Ac Kd 7s 4d 3c / Ac Kd 4d / 7s 3c / 28 and 7 or 21 and 4  / 25 and 10 / W  X X  / X  H X
    Ac Ad Kc 9s 8d / Kc 9s 8d / Ac Ad / 32 and 17 or 30 and 9 / 27 and 2  / TH L P7 / W  X P7
"""


def test_663a_11_d_hands_set_otherwise_are_put_right_or_stand_by_the_reading() -> None:
    for row in lines(MISSET):
        cards, high, low, due, was, reset, as_set = (part.strip() for part in row.split(" / "))
        finding = f"! hand_misset 1 {due} / {was} 663a.11(d)"
        for value, codes in (("reset", reset), ("as_set", as_set)):
            filed = {**ALL, "readings": {"misset": value}}
            found = text(ruling(set_as(cards, high, low), GAME, filed=filed))
            base, tie, bonus = codes.split()
            expected = expected_of(base, tie, bonus, reading=f" [misset {value}]")
            assert found == [*expected, finding], (row, value)


def test_663a_11_d_of_four_aces_one_is_low_whatever_the_player_chose() -> None:
    aces = "+100000 663a.12(b) Four aces, 100 for 1 [bonus_for_1 full]"
    found = text(ruling(set_as("Ac Ad Ah As 9c", "Ac Ad 9c", "Ah As"), GAME))
    expected = expected_of("TH", "X", "4K", aces=aces, reading=" [misset reset]")
    assert found == [*expected, "! hand_misset 1 33 and 10 / 31 and 2 663a.11(d)"]


def test_663a_11_d_hands_set_rightly_depend_on_no_reading() -> None:
    for value in ("reset", "as_set"):
        check_hands("Qc 9d 7s 3c 5d / W X X", filed={**ALL, "readings": {"misset": value}})


def test_663a_11_d_cards_of_equal_points_may_change_places() -> None:
    check_hands("""
        Tc Jd Qs Kc 5d / TH X X
        Kc Tc Jd Qs 5d / TH X X
        Qc 9d 7s 7c 5d / TH X P7
        Qc 9d 7c 7s 5d / TH X P7
    """)


def test_663a_11_d_four_cards_high_are_no_setting_and_are_put_right_where_one_is_left() -> None:
    reading = " [misset reset]"
    found = text(ruling(set_as("Qc 9d 7s 3c 5d", "Qc 9d 7s 5d", "3c"), GAME))
    expected = expected_of("W", "X", "X", reading=reading)
    assert found == [*expected, "! hand_misset 1 663a.11(d)"]
    # With an ace there are two ways, and none is known to be the player's.
    open_ = ["awaiting", "1 poker_bonus 500 lose -500 663a.11(j)(2)(ii)"]
    awaits = "> wager_collected position 1 poker_bonus 500 663a.11(j)(2)(ii)"
    found = text(ruling(set_as("Ac 9d 7s 3c 5d", "Ac 9d 7s 5d", "3c"), GAME))
    assert found == [*open_, "! hand_misset 1 663a.11(d)", awaits]
    stands = {**ALL, "readings": {"misset": "as_set"}}
    found = text(ruling(set_as("Qc 9d 7s 3c 5d", "Qc 9d 7s 5d", "3c"), GAME, filed=stands))
    assert found == [*open_, "! hand_misset 1 663a.11(d)", awaits]


def test_663a_11_e_a_dealers_hand_set_wrongly_is_put_right_under_either_reading() -> None:
    was, became = "high Kh 8s 7d low 4c 5h", "high Kh 8s 5h low 7d 4c"
    for value in ("reset", "as_set"):
        filed = {**ALL, "readings": {"misset": value}}
        script = round_of("Qc 9d 7s 4d 5s").replace(was, became)
        assert text(ruling(script, GAME, filed=filed)) == [
            *expected_of("TH", "L", "X"),
            "! hand_misset 25 and 9 / 23 and 11 663a.11(e)",
        ]


def test_663a_11_d_the_words_of_a_hand_set_wrongly() -> None:
    ruled = ruling(set_as("Qc 9d 7s 4d 6s", "Qc 9d 4d", "7s 6s"), GAME)
    found = ruled.findings[0]
    assert found.says == "Position 1 set 23 and 13 points; 663a.11(d) makes it 26 and 10."
    assert [fact.id for fact in found.facts] == ["9"]
    dealers = round_of("Qc 9d 7s 4d 5s").replace("7d low 4c 5h", "5h low 4c 7d")
    found = ruling(dealers, GAME).findings[0]
    assert found.says == "The dealer set 23 and 11 points; 663a.11(e) makes it 25 and 9."
    assert [fact.id for fact in found.facts] == ["11"]
