"""Double Attack Blackjack, 665a.6 and 665a.9 to 665a.11: wagers, surrender, doubles and splits."""

from __future__ import annotations

import pytest

from tests.unit.games.attack import GAME, check, round_of
from tests.unit.games.rounds import lines, ruling, text

WIN = "12(a) Bet and Double Attack Wager, 1 to 1"
BOTH = "bet 1000 / double_attack 600"


# -- wagers (.6) ---------------------------------------------------------------------------------


def test_665a_6_e_a_double_attack_wager_is_no_larger_than_the_bet() -> None:
    for cents, allowed in ((1000, True), (1001, False), (5, True)):
        script = round_of("9d 8h", "Kc 9s", "decide 1 stand", f"bet 1000 / double_attack {cents}")
        found = text(ruling(script, GAME))
        assert f"1 double_attack {cents} win +{cents} 665a.{WIN}" in found
        assert ("! wager_not_permitted 1 double_attack 665a.6(e)" in found) is not allowed


def test_665a_6_f_a_bust_it_wager_is_no_larger_than_the_bet_and_none_without_it() -> None:
    for cents, allowed in ((1000, True), (1001, False)):
        script = round_of("9d 8h", "Kc 9s", "decide 1 stand", f"bet 1000 bust_it {cents}")
        found = text(ruling(script, GAME))
        assert ("! wager_not_permitted 1 bust_it 665a.6(f)" in found) is not allowed
    script = round_of("9d 8h", "Kc 9s", "decide 1 stand")
    script = script.replace("1 bet 1000", "1 bet 1000\n 2 bust_it 500")
    script = script.replace("deal dealer up 9d", "deal dealer up 9d\n 3 double_attack 500")
    found = text(ruling(script, GAME))
    assert "! wager_not_permitted 2 bust_it 665a.6(d)" in found
    assert "2 bust_it 500 void +0 665a.6(d)" in found
    assert "! wager_not_permitted 3 double_attack 665a.6(e)" in found
    assert "3 double_attack 500 void +0 665a.6(e)" in found


def test_665a_6_f_a_bust_it_wager_that_is_not_offered_is_not_permitted() -> None:
    script = round_of("9d 8h", "Kc 9s", "decide 1 stand", "bet 1000 bust_it 500")
    found = text(ruling(script, GAME, filed={"offers": ()}))
    assert "! wager_not_permitted 1 bust_it 665a.6(f)" in found


def test_665a_7_e_wagers_close_with_the_first_card_and_with_the_players_first() -> None:
    script = round_of("9d 8h", "Kc 9s", "decide 1 stand", BOTH)
    late = script.replace("deal dealer up 9d", "deal dealer up 9d\n 1 bust_it 500")
    assert "! late_wager 1 bust_it 665a.7(e)" in text(ruling(late, GAME))
    late = script.replace("1 double_attack 600\n", "").replace(
        "deal 1 up Kc", "deal 1 up Kc\n 1 double_attack 600"
    )
    found = text(ruling(late, GAME))
    assert "! late_wager 1 double_attack 665a.7(e)" in found
    assert f"1 double_attack 600 win +600 665a.{WIN}" in found
    late = script.replace("1 bet 1000\n", "1 bet 1000\n2 bet 500\n").replace(
        "deal dealer up 9d", "deal dealer up 9d\n3 bet 700\nwithdraw 1 bet 400"
    )
    found = text(ruling(late.replace("deal 1 up Kc", "deal 1 up Kc\ndeal 2 up 9h 9c"), GAME))
    assert "3 bet 700 void +0 665a.6(d)" in found
    assert "! late_wager 3 bet 665a.7(e)" in found
    assert "! wager_not_permitted 1 bet 665a.7(e)" in found  # 6(c): the chips stay at stake
    assert f"1 bet 1000 win +1000 665a.{WIN}" in found


@pytest.mark.parametrize(
    ("boxes", "seats", "wrong"),
    [
        (6, (1, 2, 3), []),
        (2, (1, 2, 3), [3]),
        (1, (1, 2), [2]),
        (3, (1, 3), [3]),
        (3, (2, 3), []),
    ],
)
def test_665a_6_g_a_player_may_bet_on_so_many_adjacent_boxes(
    boxes: int, seats: tuple[int, ...], wrong: list[int]
) -> None:
    cut = "start manual_shoe\n" + "".join(f"{seat} bet 1000\n" for seat in seats)
    cut += "4 bet 1000\n deal dealer up 9d\n"
    around = {"filed": {"options": {"boxes": boxes}}, "seats": (seats, (4,))}
    found = [line for line in text(ruling(cut, GAME, **around)) if "not_permitted" in line]  # type: ignore[arg-type]
    assert found == [f"! wager_not_permitted {seat} bet 665a.6(g)" for seat in wrong]


def test_665a_2_a_the_table_has_six_betting_positions() -> None:
    cut = "start manual_shoe\n 6 bet 1000\n 7 bet 1000\n deal dealer up 9d\n"
    assert "! wager_not_permitted 7 bet 665a.2(a)" in text(ruling(cut, GAME))
    # It goes back, unless cards were dealt to it all the same.
    assert "7 bet 1000 void +0 665a.2(a)" in text(ruling(cut, GAME))
    dealt = text(ruling(cut + "deal 7 up 2c\n", GAME))
    assert "! wager_not_permitted 7 bet 665a.2(a)" in dealt
    assert not [line for line in dealt if line.startswith("7 bet")]
    assert not [
        line for line in text(ruling(cut, GAME)) if line.startswith("! w") and " 6 " in line
    ]


# -- surrender (.9) ------------------------------------------------------------------------------

SURRENDER = """
    dealer   | player | does                                               | section
    9d 8h    | Kc 6s  | decide 1 surrender                                 | 9(b)(1)
    9d 8h    | 2c 3s  | decide 1 hit, deal 1 up 9h, decide 1 surrender     | 9(b)(1)
    Kd 8h    | Kc 6s  | decide 1 surrender                                 | 9(b)(2)(ii)
    Jd 8h    | Kc 6s  | decide 1 surrender                                 | 9(b)(2)(ii)
    Ad 8h    | Kc 6s  | decide 1 surrender                                 | 9(b)(2)(ii)
"""


@pytest.mark.parametrize("row", lines(SURRENDER)[1:])
def test_665a_9_b_a_surrender_gives_up_half_of_the_bet_and_the_double_attack(row: str) -> None:
    dealer, player, does, section = (part.strip() for part in row.split("|"))
    check(
        round_of(dealer, player, does, BOTH),
        f"""
        complete
        1 bet           1000 lose -500 665a.{section}
        1 double_attack  600 lose -300 665a.{section}
        """,
    )


def test_665a_9_a_the_halves_move_at_once_and_odd_cents_stay_with_the_house() -> None:
    script = round_of("9d 8h", "Kc 6s", "decide 1 surrender", "bet 1025")
    cut = script.partition("show dealer")[0]
    assert text(ruling(cut, GAME, filed={"unit": 25}), following=True) == lines("""
        complete
        1 bet 1025 lose -525 exact -1025/2 665a.9(b)(1)
        > wager_collected position 1 bet 525 665a.9(b)(1)
    """)
    paid = cut + "take 1 bet 525\n back 1 bet 500\n done"
    assert text(ruling(paid, GAME, filed={"unit": 25}))[1:] == [
        "1 bet 1025 lose -525 exact -1025/2 665a.9(b)(1)"
    ]


def test_665a_9_a_after_standing_and_at_21_there_is_no_surrender() -> None:
    for player, does in (
        ("Kc 6s", "decide 1 stand, decide 1 surrender"),
        ("Kc 6s", "decide 1 hit, deal 1 up 5c, decide 1 surrender"),
        ("Kc 6s", "decide 1 hit, deal 1 up 9c, decide 1 surrender"),
        ("Kc Ks", "decide 1 double_down, 1 double_down 1000, deal 1 up As, decide 1 surrender"),
    ):
        found = text(ruling(round_of("9d 8h", player, does), GAME))
        assert "! out_of_turn 1" in found
        assert not [line for line in found if "665a.9" in line]


def test_665a_9_b_2_i_against_a_blackjack_the_whole_bet_is_lost_and_the_rest_returned() -> None:
    # The reader was read as none, and the shoe knows the hole card for an ace.
    script = round_of(
        "Kd Ah", "Kc 6s", "decide 1 surrender", "bet 1000 bust_it 500 / double_attack 600"
    )
    script = script.replace("peek blackjack", "peek none")
    check(
        script,
        """
        complete
        1 bet           1000 lose -1000 665a.9(b)(2)(i)
        1 double_attack  600 push    +0 665a.9(b)(2)(i)
        1 bust_it        500 lose  -500 665a.7(m)(1)
        ! card_mismatch blackjack / none 665a.7(g)
        """,
    )


DOUBLED = "decide 1 double_down, 1 double_down 1600, deal 1 up 2d, decide 1 surrender"


def test_665a_9_a_surrender_after_a_double_gives_up_half_of_it_or_all_by_the_reading() -> None:
    script = round_of("9d 8h", "Kc 2s", DOUBLED, BOTH)
    halves = """
        complete
        1 bet           1000 lose -500 665a.9(b)(1)
        1 double_attack  600 lose -300 665a.9(b)(1)
    """
    half = "1 double_down 1600 lose -800 665a.9(b)(1) [surrender_double_down half]"
    whole = "1 double_down 1600 lose -1600 665a.9(b)(1) [surrender_double_down whole]"
    check(script, halves + half)
    filed = {"readings": {"surrender_double_down": "whole"}}
    check(script, halves + whole, filed=filed)
    plain = round_of("9d 8h", "Kc 6s", "decide 1 surrender", BOTH)
    check(plain, halves, filed=filed)


def test_665a_9_c_d_bust_it_and_insurance_are_settled_beside_a_surrender() -> None:
    script = round_of("Ad 5h Kd 9c", "Kc 6s", "decide 1 surrender", "bet 1000 bust_it 500")
    check(
        script.replace("peek", "1 insurance 400\n peek"),
        """
        complete
        1 insurance 400 lose -400 665a.8(d)
        1 bet      1000 lose -500 665a.9(b)(2)(ii)
        1 bust_it   500 lose -500 665a.7(m)(2)(ii)
        """,
    )


# -- doubles (.10) -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("player", "does"),
    [
        ("5c 6s", "decide 1 double_down, 1 double_down 1600, deal 1 up 9h"),
        (
            "5c 4s",
            "decide 1 hit, deal 1 up 2h, decide 1 double_down, 1 double_down 1600, deal 1 up 9h",
        ),
        ("5c 6s", "1 double_down 1600, decide 1 double_down, deal 1 up 9h"),
        ("5c 6s", "decide 1 double_down, 1 double_down 1600, deal 1 up 9h, decide 1 stand"),
    ],
)
def test_665a_10_a_a_double_on_any_number_of_cards_brings_one_card(player: str, does: str) -> None:
    check(
        round_of("9d 8h", player, does, BOTH),
        f"""
        complete
        1 bet           1000 win +1000 665a.{WIN}
        1 double_attack  600 win  +600 665a.{WIN}
        1 double_down   1600 win +1600 665a.{WIN}
        """,
    )


def test_665a_10_a_a_double_is_no_larger_than_bet_and_double_attack_and_has_one_card() -> None:
    for cents, allowed in ((1, True), (1600, True), (1601, False)):
        does = f"decide 1 double_down, 1 double_down {cents}, deal 1 up 9h"
        found = text(ruling(round_of("9d 8h", "5c 6s", does, BOTH), GAME))
        assert ("! wager_not_permitted 1 double_down 665a.10(a)" in found) is not allowed
    does = "decide 1 double_down, 1 double_down 1000, deal 1 up 2h, deal 1 up 7h"
    found = text(ruling(round_of("9d 8h", "5c 6s", does), GAME))
    assert found[1:] == lines("""
        1 bet         1000 lose -1000 665a.7(o)(1)(ii)(C)
        1 double_down 1000 lose -1000 665a.7(o)(1)(ii)(C)
        ! misdeal 1
    """)
    does = "decide 1 double_down, 1 double_down 1000, deal 1 up 2h, decide 1 hit, deal 1 up 7h"
    found = text(ruling(round_of("9d 8h", "5c 6s", does), GAME))
    assert found[-2:] == ["! out_of_turn 1", "! misdeal 1"]


def test_665a_10_a_chips_of_a_double_that_are_lost_leave_it_open() -> None:
    does = "decide 1 double_down, deal 1 up 9h"
    found = text(ruling(round_of("9d 8h", "5c 6s", does), GAME))
    assert found[0] == "awaiting"
    assert found[1] == f"1 bet 1000 win +1000 665a.{WIN}"
    assert "! step_missing 1 double_down wager_placed / None 665a.10(a)" in found


# -- splits (.11) --------------------------------------------------------------------------------

SPLIT = "decide 1 split, 1 split 1600 hand 2"


def test_665a_11_a_b_two_hands_of_a_king_and_a_queen_are_played_one_after_the_other() -> None:
    does = f"{SPLIT}, deal 1 up 9c, decide 1 stand, deal 1.2 up 6c, decide 1.2 hit, deal 1.2 up Jd"
    check(
        round_of("9d 8h", "Kc Qs", does, BOTH),
        f"""
        complete
        1.2 split       1600 lose -1600 665a.7(o)(1)(ii)(B)
        1 bet           1000 win  +1000 665a.{WIN}
        1 double_attack  600 win   +600 665a.{WIN}
        """,
    )
    cut = round_of("9d 8h", "Kc Qs", f"{SPLIT}, deal 1 up 9c", BOTH).partition("show")[0]
    assert text(ruling(cut, GAME), following=True)[-1] == (
        "> decision_made position 1 665a.7(h)(2)"
    )
    cut += "decide 1 stand\n"
    assert text(ruling(cut, GAME), following=True)[-1] == "> cards_dealt position 1 665a.7(i)"


def test_665a_11_a_the_wager_of_a_split_is_the_bet_and_the_double_attack() -> None:
    for cents, allowed in ((1600, True), (1599, False), (1000, False), (1601, False)):
        does = f"decide 1 split, 1 split {cents} hand 2, deal 1 up 9c, decide 1 stand"
        does += ", deal 1.2 up 9s, decide 1.2 stand"
        found = text(ruling(round_of("9d 8h", "7c 7s", does, BOTH), GAME))
        assert ("! wager_not_permitted 1 split 665a.11(a)" in found) is not allowed


def test_665a_11_a_cards_of_two_values_are_not_split() -> None:
    does = "decide 1 split, 1 split 1000 hand 2, deal 1 up 9c, decide 1 stand"
    does += ", deal 1.2 up 9s, decide 1.2 stand"
    found = text(ruling(round_of("9d 8h", "7c 8s", does), GAME))
    split = "! decision_not_permitted 1 hit, stand, double_down, surrender / split 665a.7(h)(2)"
    assert split in found


def test_665a_11_c_three_splits_make_four_hands_and_no_more() -> None:
    does = "decide 1 split, 1 split 1000 hand 2, deal 1 up 8h"
    does += ", decide 1 split, 1 split 1000 hand 3, deal 1 up 8c"
    does += ", decide 1 split, 1 split 1000 hand 4, deal 1 up 9c"
    four = f"{does}, decide 1 stand, deal 1.4 up 2c, decide 1.4 stand, deal 1.3 up 3c"
    four += ", decide 1.3 stand, deal 1.2 up 8d, decide 1.2 stand"
    check(
        round_of("9d 7h 9s", "8d 8s", four),
        f"""
        complete
        1.4 split 1000 win +1000 665a.{WIN}
        1.3 split 1000 win +1000 665a.{WIN}
        1.2 split 1000 win +1000 665a.{WIN}
        1 bet     1000 win +1000 665a.{WIN}
        """,
    )
    # The hands lie where the dealer laid them: by number is as good.
    other = f"{does}, decide 1 stand, deal 1.2 up 8d, decide 1.2 stand, deal 1.3 up 3c"
    other += ", decide 1.3 stand, deal 1.4 up 2c, decide 1.4 stand"
    found = text(ruling(round_of("9d 7h 9s", "8d 8s", other), GAME))
    assert found[0] == "complete"
    assert not [line for line in found if line.startswith("!")]
    # A fifth hand is not open to him.
    five = four.replace("decide 1.2 stand", "decide 1.2 split")
    found = text(ruling(round_of("9d 7h 9s", "8d 8s", five), GAME))
    fifth = "! decision_not_permitted 1 hit, stand, double_down, surrender / split 665a.7(h)(2)"
    assert fifth in found


def test_665a_11_c_the_first_hand_of_a_split_comes_first() -> None:
    does = f"{SPLIT}, deal 1.2 up 6c, decide 1.2 stand, deal 1 up 9c, decide 1 stand"
    found = text(ruling(round_of("9d 8h", "Kc Qs", does, BOTH), GAME))
    assert [line for line in found if "out_of_turn" in line]


def test_665a_11_e_split_aces_get_one_card_each_and_are_not_split_again() -> None:
    does = "decide 1 split, 1 split 1000 hand 2, deal 1 up Kc, deal 1.2 up Ad"
    check(
        round_of("9d 8h", "Ac As", does),
        f"""
        complete
        1.2 split 1000 lose -1000 665a.7(o)(1)(ii)(C)
        1 bet     1000 win  +1000 665a.{WIN}
        """,
    )
    for more in ("split", "hit", "double_down"):
        found = text(ruling(round_of("9d 8h", "Ac As", f"{does}, decide 1.2 {more}"), GAME))
        wrong = [line for line in found if line.startswith("!")]
        assert wrong == [f"! decision_not_permitted 1.2 None / {more} 665a.11(e)"]
    for chips in ("1 split 1000 hand 3", "1 double_down 1000 hand 2"):
        found = text(ruling(round_of("9d 8h", "Ac As", f"{does}, {chips}"), GAME))
        _, wager, cents, _, hand = chips.split()
        wrong = f"! wager_not_permitted 1.{hand} {wager} None / {cents} 665a.11(e)"
        assert [line for line in found if line.startswith("!")] == [wrong]
    for last in ("decide 1.2 surrender", "decide 1.2 stand"):
        found = text(ruling(round_of("9d 8h", "Ac As", f"{does}, {last}"), GAME))
        assert not [line for line in found if line.startswith("!")]
    assert "1.2 split 1000 lose -500 665a.9(b)(1)" in text(
        ruling(round_of("9d 8h", "Ac As", f"{does}, decide 1.2 surrender"), GAME)
    )


def test_665a_10_a_a_blackjack_is_not_doubled_and_what_is_put_down_was_never_permitted() -> None:
    does = "decide 1 double_down, 1 double_down 1000, deal 1 up 5c"
    found = text(ruling(round_of("9d 8h", "Ac Ks", does), GAME))
    assert found == lines("""
        complete
        1 bet 1000 win +1000 665a.12(a) Bet and Double Attack Wager, 1 to 1
        ! wager_not_permitted 1 double_down None / 1000 665a.10(a)
        ! decision_not_permitted 1 None / double_down 665a.10(a)
        ! misdeal 1
    """)
    # Chips for a hand that could be doubled, and stood: they come late.
    stood = text(ruling(round_of("9d 8h", "Kc 7s", "decide 1 stand, 1 double_down 1000"), GAME))
    assert "! late_wager 1 double_down None / 1000 665a.10(a)" in stood
    # There is no hand 2: no section permits a wager on it.
    none = text(ruling(round_of("9d 8h", "Kc 7s", "decide 1 stand, 1 split 1000 hand 2"), GAME))
    assert "! wager_not_permitted 1.2 split None / 1000 665a.11(a)" in none


def test_665a_10_a_where_facts_were_lost_a_double_may_have_been_asked_for() -> None:
    does = "decide 1 double_down, 1 double_down 1000 | seq 1, decide 1 stand | seq 3"
    found = text(ruling(round_of("9d 8h", "Ac Ks", does), GAME))
    assert not [line for line in found if "not_permitted" in line]


def test_665a_11_c_a_split_hand_is_doubled_and_surrendered_by_itself() -> None:
    does = f"{SPLIT}, deal 1 up 6c, decide 1 surrender, deal 1.2 up 3c"
    does += ", decide 1.2 double_down, 1 double_down 1600 hand 2, deal 1.2 up 7d"
    check(
        round_of("9d 8h", "8c 8s", does, BOTH),
        f"""
        complete
        1 bet           1000 lose -500 665a.9(b)(1)
        1 double_attack  600 lose -300 665a.9(b)(1)
        1.2 split       1600 win +1600 665a.{WIN}
        1.2 double_down 1600 win +1600 665a.{WIN}
        """,
    )


def test_665a_10_b_11_d_a_blackjack_seen_after_play_takes_the_bet_alone() -> None:
    does = f"{SPLIT}, deal 1 up 3c, decide 1 double_down, 1 double_down 1600, deal 1 up Kd"
    does += ", deal 1.2 up Kc, decide 1.2 stand"
    script = round_of("Kd ??", "8c 8s", does, BOTH).replace("show dealer 1 ??", "show dealer 1 Ah")
    check(
        script,
        """
        complete
        1.2 split       1600 push    +0 665a.11(d)
        1 bet           1000 lose -1000 665a.7(o)(1)(ii)(A)
        1 double_attack  600 push    +0 665a.7(o)(2)
        1 double_down   1600 push    +0 665a.10(b)
        ! card_mismatch blackjack / none 665a.7(g)
        """,
    )


def test_665a_9_b_2_i_against_a_blackjack_doubles_and_splits_go_back_too() -> None:
    does = f"{SPLIT}, deal 1 up 3c, decide 1 double_down, 1 double_down 1600, deal 1 up 2d"
    does += ", decide 1 surrender, deal 1.2 up 5c, decide 1.2 surrender"
    script = round_of("Kd Ah", "8c 8s", does, BOTH).replace("peek blackjack", "peek none")
    check(
        script,
        """
        complete
        1 bet           1000 lose -1000 665a.9(b)(2)(i)
        1 double_attack  600 push    +0 665a.9(b)(2)(i)
        1 double_down   1600 push    +0 665a.10(b)
        1.2 split       1600 push    +0 665a.11(d)
        ! card_mismatch blackjack / none 665a.7(g)
        """,
    )


def test_665a_6_the_words_of_a_wager_that_is_not_permitted() -> None:
    script = round_of("Ad 8h", "Kc 9s", "decide 1 stand", "bet 1000 bust_it 1500")
    script = script.replace("deal dealer up Ad", "deal dealer up Ad\n 3 double_attack 500")
    script = script.replace("peek", "1 insurance 900\n 2 insurance 500\n peek")
    assert [each.says for each in ruling(script, GAME).findings] == [
        "Position 1's Bust It Wager is not permitted: it is larger than the Bet (665a.6(f)).",
        "Position 3's Double Attack Wager is not permitted: it stands without a Bet (665a.6(e)).",
        "Position 1's Insurance Wager is not permitted: $5.00 is the most (665a.8(b)).",
        "Position 2's Insurance Wager is not permitted: it insures no wager (665a.8(a)).",
    ]
