"""Saigon 5 Card, Chapter 680a: hands settled by hand from sections 6, 11 and 12."""

from __future__ import annotations

import pytest

from ledger.adjudication import adjudicate
from tests.unit.games.rounds import lines, ruling
from tests.unit.games.saigon import DAY, DEALER, GAME, NO_DEALER, check, dealt, one_hand, told

PAYS = "680a.12(a) Point Count of 1-4 or 6-10, 1 to 1"
HALF = "680a.12(b) Point Count of 5, 1 to 2"
AGAINST_NONE = """
    Kc Qd Jh / As Ks 1
    5c 3d 2s / As Ac 2
    Kc Qd Jh / 2s As 3
    Kc Qd Jh / 2s 3s 5
    Kc Qd Jh / As 4s 5
    Kc Qd Jh / 9s 6s 5
    Kc Qd Jh / 3s 4s 7
    Kc Qd Jh / 5s 5d 10
    Kc Qd Jh / Ts Js 10
    Kc 9d As / 9s 8s 7
    6c 3d As / 7s Ks 7
"""


def test_680a_6_b_and_11_d_1_ii_a_count_of_5_is_paid_1_to_2_and_any_other_1_to_1() -> None:
    """20 counts 10, 15 counts 5, 17 counts 7: 10 is taken off once."""
    for row in lines(AGAINST_NONE):
        hand, count = row.rsplit(" ", 1)
        settled = f"win +500 {HALF}" if count == "5" else f"win +1000 {PAYS}"
        expected = ["complete", f"1 ante 1000 {settled}"]
        assert told(one_hand(hand, NO_DEALER)) == expected, row


def test_680a_11_b_1_the_example_of_the_joker_8_6_5_and_2_counts_10() -> None:
    """Joker as 9, 5 and 6 make 20; the 8 and the 2 count 10, which beats 9."""
    hand = "Jk 5c 6d / 8h 2s"
    found = told(one_hand(hand, "Kc Qd Jh 4c 5d"))
    assert found == ["complete", f"1 ante 1000 win +1000 {PAYS}"]


COMPARED = """
    Ks Qs Js / 3s 5s | win +1000 {pays}
    Ks Qs Js / 3s 4s | push +0 680a.11(d)(2)(ii)(C)
    Ks Qs Js / 3s 3d | lose -1000 680a.11(d)(2)(ii)(A)
    Ks Qs Js / As 4s | lose -1000 680a.11(d)(2)(ii)(A)
    As Ah 2s / 3d 4s | lose -1000 680a.11(d)(2)(i)
"""


def test_680a_11_d_2_a_dealer_who_qualifies_is_compared_by_point_count() -> None:
    for row in lines(COMPARED.format(pays=PAYS)):
        hand, settled = row.split(" | ")
        assert told(one_hand(hand, DEALER)) == ["complete", f"1 ante 1000 {settled}"], row
    found = told(one_hand("Ks Qs Js / 2s 3s", "Kc Qd Jh 3c As"))
    assert found == ["complete", f"1 ante 1000 win +500 {HALF}"]


def test_680a_11_d_1_i_neither_qualifies_and_the_ante_goes_back() -> None:
    found = told(one_hand("As Ah 2s / 3d 4s", NO_DEALER))
    assert found == ["complete", "1 ante 1000 push +0 680a.11(d)(1)(i)"]


def test_680a_12_b_half_of_an_odd_ante_is_broken_to_the_chip() -> None:
    script = one_hand("Kc Qd Jh / 2s 3s", NO_DEALER).replace("ante 1000", "ante 1005")
    exact = "1 ante 1005 win {} exact 1005/2 680a.12(b) Point Count of 5, 1 to 2"
    assert told(script)[1] == exact.format("+502")
    assert told(script, filed={"unit": 100})[1] == exact.format("+500")


BONUS = """
    FA  As Ac Ah / Ad Jk  Five aces, 5000 to 1               2500000
    RF  As Ks Qs / Js Ts  Royal flush—no joker, 1000 to 1     500000
    RJ  As Ks Qs / Jk Ts  Royal flush—with a joker, 250 to 1  125000
    SF  9s 8s 7s / 6s 5s  Straight flush, 100 to 1             50000
    SJ  9s Jk 7s / 6s 5s  Straight flush, 100 to 1             50000
    SA  As 2s 3s / 4s 5s  Straight flush, 100 to 1             50000
    4K  9s 9c 9h / 9d 5s  Four-of-a-kind, 50 to 1              25000
    4A  As Ac Ah / Jk 5s  Four-of-a-kind, 50 to 1              25000
    FH  9s 9c 9h / 5d 5s  Full house, 20 to 1                  10000
    FL  Ks 9s 7s / 3s 2s  Flush, 15 to 1                        7500
    FJ  Ks 9s 7s / Jk 2s  Flush, 15 to 1                        7500
    ST  9s 8c 7h / 6d 5s  Straight, 12 to 1                     6000
    SW  As 2c 3h / Jk 5s  Straight, 12 to 1                     6000
    3K  9s 9c 9h / 6d 5s  Three-of-a-kind, 10 to 1              5000
    3A  As Ac 9h / Jk 5s  Three-of-a-kind, 10 to 1              5000
    2P  9s 9c 6h / 6d 5s  Two pair, 8 to 1                      4000
"""
NO_BONUS = ("9s 9c 6h / Jk Ks", "As Kc 9h / Jk 5s", "Qs Ks As / 2c 3s", "As Kc 9h / 7d 5s")


def test_680a_12_c_every_row_of_the_bonus_and_680a_6_c_what_a_joker_may_be() -> None:
    for row in lines(BONUS):
        code, *cards = row.split()[:7]
        net, label = row.split()[-1], " ".join(row.split()[7:-1])
        found = told(one_hand(" ".join(cards), "4h 2d 4c 2h 3d", more="1 bonus 500"))
        assert found[2] == f"1 bonus 500 win +{net} 680a.12(c) {label}", code


def test_680a_11_e_1_a_pair_is_no_two_pair_and_a_joker_is_no_second_one() -> None:
    for hand in NO_BONUS:
        found = told(one_hand(hand, "4h 2d 4c 2h 3d", more="1 bonus 500"))
        assert found[2] == "1 bonus 500 lose -500 680a.11(e)(1)", hand


def test_680a_11_c_1_the_dealers_joker_by_either_reading() -> None:
    """K Q and the joker's 9, 3 or 6 leave 8 and 2.. or the joker in the showdown: 2 to 8.

    Kc Qd Jh Jk 2c: the face cards make 30, and the joker with the 2 counts 5, 8 or 1.
    """
    hand, dealer = "Ks Qs Js / 3s 4s", "Kc Qd Jh Jk 2c"
    worst = {"readings": {"dealer_joker": "worst_for_dealer"}}
    check(
        one_hand(hand, dealer),
        """
        complete
        1 ante 1000 lose -1000 680a.11(d)(2)(ii)(A) [dealer_joker best_for_dealer]
        """,
    )
    check(
        one_hand(hand, dealer),
        f"""
        complete
        1 ante 1000 win +1000 {PAYS} [dealer_joker worst_for_dealer]
        """,
        filed=worst,
    )
    # A count of 9 beats 8 and 1 alike: it hangs on no reading.
    for filed in ({}, worst):
        found = told(one_hand("Ks Qs Js / 3s 6s", dealer), filed=filed)
        assert found == ["complete", f"1 ante 1000 win +1000 {PAYS}"]


MISSET = "Ks 2s Js / Qs 5s"
"""Three face cards make 30; the 2 among them makes 22."""


def test_680a_11_b_1_a_hand_set_otherwise_than_it_shall_be_is_reset_or_taken_as_set() -> None:
    """Reset, the 2 and the 5 count 7, as the dealer's hand does."""
    finding = "! hand_misset 1 680a.11(b)(1)"
    found = told(one_hand(MISSET, DEALER))
    assert found == ["complete", "1 ante 1000 push +0 680a.11(d)(2)(ii)(C) [misset reset]", finding]
    found = told(one_hand(MISSET, DEALER), filed={"readings": {"misset": "as_set"}})
    assert found == [
        "complete",
        "1 ante 1000 lose -1000 680a.11(d)(2)(i) [misset as_set]",
        finding,
    ]
    says = ruling(one_hand(MISSET, DEALER), GAME, day=DAY).findings[0].says
    assert says == "Position 1 holds three cards that qualify, but did not set them."


def test_680a_11_c_1_a_dealer_who_sets_against_the_reading_is_found_and_changes_nothing() -> None:
    """His count is 8 by the default: joker and 2; set with the king in his showdown it is 10."""
    dealer = "Kc Qd Jh Jk 2c"
    for setting, finding in (
        ("qualifying Kc Qd Jh showdown Jk 2c", []),
        ("qualifying Kc Qd Jk showdown Jh 2c", ["! hand_misset 8 / None 680a.11(c)(1)"]),
    ):
        script = one_hand("Ks Qs Js / 3s 6s", dealer)
        script = script.replace("qualifying Kc Qd Jh showdown Jk 2c", setting)
        assert told(script) == ["complete", f"1 ante 1000 win +1000 {PAYS}", *finding]


def test_680a_11_c_2_a_dealer_who_does_not_qualify_may_arrange_his_hand_in_any_way() -> None:
    hand = "Ks Qs Js / 3s 4s"
    paid = ["complete", f"1 ante 1000 win +1000 {PAYS}"]
    script = one_hand(hand, NO_DEALER)
    assert told(script) == paid
    assert told(script.replace("2c 2d 3h showdown 4c 2h", "4c 2h 2d showdown 2c 3h")) == paid
    assert told(script.replace("set dealer qualifying 2c 2d 3h showdown 4c 2h\n", "")) == paid
    other = script.replace("2c 2d 3h showdown 4c 2h", "2c 2d 3h showdown 4c 9h")
    assert told(other) == [*paid, "! card_mismatch None / 9h 680a.11(c)"]
    short = script.replace("2c 2d 3h showdown 4c 2h", "2c 2d showdown 4c 2h")
    assert told(short) == [*paid, "! hand_misset 680a.11(c)"]


def test_680a_11_c_1_a_dealer_who_qualifies_sets_his_hand_and_the_last_setting_counts() -> None:
    script, unset = one_hand("Ks Qs Js / 3s 5s", DEALER), SETTING.format("Kc Qd Jh", "3c 4d")
    paid = ["complete", f"1 ante 1000 win +1000 {PAYS}"]
    assert told(script) == paid
    missing = "! step_missing hand_set / None 680a.11(c)(1)"
    assert told(script.replace(unset, "") + "done")[:3] == [*paid, missing]
    wrong = SETTING.format("Kc Qd 3c", "Jh 4d")
    misset = "! hand_misset 7 / None 680a.11(c)(1)"
    assert told(script.replace(unset, wrong)) == [*paid, misset]
    assert told(script.replace(unset, wrong + unset)) == paid
    assert told(script.replace(unset, unset + wrong)) == [*paid, misset]


def test_680a_11_c_1_a_card_that_the_shoe_did_not_read_is_seen_as_the_dealer_sets_it() -> None:
    unread = one_hand("Ks Qs Js / 3s 5s", DEALER).replace(
        "Jh 3c 4d\n        set 1", "Jh 3c ??\n set 1"
    )
    unread = unread.replace("show dealer Kc Qd Jh 3c 4d", "show dealer Kc Qd Jh 3c ??")
    assert "?? ??" not in unread
    assert unread.count("??") == 2
    assert told(unread) == ["complete", f"1 ante 1000 win +1000 {PAYS}"]


def test_680a_11_c_with_no_player_left_the_dealer_may_turn_and_set_his_hand() -> None:
    script = dealt("Ks Qs Js / 3s 5s", DEALER)
    set_, _, shown = script.partition("set 1")
    lost = ["complete", "1 ante 1000 lose -1000 680a.7(b)"]
    shown = shown.partition("\n")[2]
    assert told(set_ + shown + "take 1 ante 1000\ndone", gone=(1,)) == lost
    assert told(set_ + "take 1 ante 1000\ndone", gone=(1,)) == lost
    other = shown.replace("Kc Qd Jh 3c 4d", "Kc Qd Jh 3c 9d")
    found = told(set_ + other + "take 1 ante 1000\ndone", gone=(1,))
    assert found[:3] == [*lost, "! card_mismatch 4d / 9d 680a.11(c)"]


SETTING = "set dealer qualifying {} showdown {}\n"
POTS = """
    start manual_shoe
    1 ante 1000
    1 pot 500
    2 ante 1000
    2 pot 500
    3 ante 1000
    3 pot 500
    nomorebets
    deal 1 Ks Qs Js {one}
    deal 2 Kd Qd Jd {two}
    deal 3 {three}
    deal dealer 2c 2d 3h 4c 2h
    set 1 qualifying Ks Qs Js showdown {one}
    set 2 qualifying Kd Qd Jd showdown {two}
    set 3 qualifying {set}
    show dealer 2c 2d 3h 4c 2h
"""


def pot(one: str, two: str, three: str, setting: str, **filed: object) -> list[str]:
    """The pot's settlements, seat by seat."""
    script = POTS.format(one=one, two=two, three=three, set=setting)
    found = told(script, filed={"offers": ("pot",), **filed})
    return [line for line in found if " pot " in line or "!" in line]


def test_680a_11_f_the_highest_two_card_hand_is_paid_the_whole_pot() -> None:
    three = ("Kh Qh Jh 5s 2s", "Kh Qh Jh showdown 5s 2s")
    assert pot("3s 5h", "4s 5d", *three) == [
        "1 pot 500 lose -500 680a.11(f)",
        "2 pot 500 win +1000 680a.11(f)",
        "3 pot 500 lose -500 680a.11(f)",
    ]


def test_680a_11_f_a_tie_splits_the_pot_and_what_cannot_be_split_goes_to_the_first() -> None:
    three = ("Kh Qh Jh 5s 2s", "Kh Qh Jh showdown 5s 2s")
    even = ["1 pot 500 win +250 680a.11(f)", "2 pot 500 win +250 680a.11(f)"]
    lost = "3 pot 500 lose -500 680a.11(f)"
    assert pot("4h 5h", "4s 5d", *three) == [*even, lost]
    odd = "[odd_chip first_left_of_button]"
    assert pot("4h 5h", "4s 5d", *three, unit=500) == [
        f"1 pot 500 win +500 680a.11(f) {odd}",
        f"2 pot 500 push +0 680a.11(f) {odd}",
        f"{lost} {odd}",
    ]
    same = ("Kh Qh Jh 9s Ts", "Kh Qh Jh showdown 9s Ts")
    assert pot("4h 5h", "4s 5d", *same) == [f"{n} pot 500 push +0 680a.11(f)" for n in (1, 2, 3)]


def test_680a_11_f_a_hand_that_does_not_qualify_competes_or_not_by_the_reading() -> None:
    """Position 3 holds no three that qualify, and the highest count, 9."""
    three = ("3d 3s 2s 9h Ts", "3d 3s 2s showdown 9h Ts")
    others = {"readings": {"pot_requires_qualifying": True}}
    literal, strict = (f"[pot_requires_qualifying {value}]" for value in ("false", "true"))
    assert pot("3c 5h", "4s 4h", *three) == [
        f"1 pot 500 lose -500 680a.11(f) {literal}",
        f"2 pot 500 lose -500 680a.11(f) {literal}",
        f"3 pot 500 win +1000 680a.11(f) {literal}",
    ]
    assert pot("4d 4s", "3c 4h", *three, **others) == [
        f"1 pot 500 win +1000 680a.11(f) {strict}",
        f"2 pot 500 lose -500 680a.11(f) {strict}",
        f"3 pot 500 lose -500 680a.11(f) {strict}",
    ]


def test_680a_11_f_where_nobody_qualifies_all_compete() -> None:
    hands = {"readings": {"pot_requires_qualifying": True}}
    script = dealt("As Ah 2s / 3d 4s", DEALER, more="1 pot 500")
    assert told(script, filed={"offers": ("pot",), **hands})[-1] == "1 pot 500 push +0 680a.11(f)"


LIMIT = {"limits": {"payout_per_player_round": 5_000_000}}


def test_680a_12_d_a_limit_holds_for_the_antes_of_a_player_and_never_for_the_bonus() -> None:
    script = one_hand("9s 9c 2h / 6d 6s", NO_DEALER.replace("2h", "Ah"), more="1 bonus 500")
    script = script.replace("ante 1000", "ante 6000000")
    script = script.replace("9s 9c 2h", "9s 9c 2s")
    assert told(script, filed={"offers": ("bonus",), **LIMIT}) == [
        "complete",
        "1 ante 6000000 win +5000000 680a.12(d) Point Count of 1-4 or 6-10, 1 to 1",
        "1 bonus 500 win +4000 680a.12(c) Two pair, 8 to 1",
    ]


def test_680a_12_d_the_limit_is_one_for_all_boxes_of_a_player() -> None:
    script = """
        start manual_shoe
        1 ante 4000000
        2 ante 4000000
        nomorebets
        deal 1 Ks Qs Js 3s 4s
        deal 2 Kd Qd Jd 3d 4d
        deal dealer 2c 2d 3h 4c 2h
        set 1 qualifying Ks Qs Js showdown 3s 4s
        set 2 qualifying Kd Qd Jd showdown 3d 4d
        show dealer 2c 2d 3h 4c 2h
    """
    whole = "2 ante 4000000 win +4000000 680a.12(a) Point Count of 1-4 or 6-10, 1 to 1"
    second = "1 ante 4000000 win +1000000 680a.12(d) Point Count of 1-4 or 6-10, 1 to 1"
    assert told(script, filed=LIMIT, seats=((1, 2),)) == ["complete", whole, second]
    each = f"1 ante 4000000 win +4000000 {PAYS}"
    low = {"limits": {"payout_per_player_round": 4_999_999}}  # less than the section allows
    assert told(script, filed=low, seats=((1, 2),)) == ["complete", whole, each]
    assert told(script, filed=LIMIT) == ["complete", whole, each]
    assert told(script, seats=((1, 2),)) == ["complete", whole, each]


PRINTED = """
    ante  7(d)(1) Ante Wager
    pot   7(d)(2) Pot Wager (optional)
    bonus 7(d)(3) Bonus Wager (optional)
"""


@pytest.mark.parametrize("value", [True, False])
def test_680a_7_e_adjacent_boxes_are_a_players_where_the_house_allows_them(value: bool) -> None:  # noqa: FBT001 - a row of the table
    script = "start\n 1 ante 1000\n 2 ante 1000\n 4 ante 1000\n nomorebets\n"
    for seat, suit in ((1, "s"), (2, "d"), (4, "h")):
        script += f"deal {seat} K{suit} Q{suit} J{suit} 3{suit} 4{suit}\n"
    script += "deal dealer Kc Qc Jc 3c 5c\n"
    filed = {"options": {"adjacent_boxes": value}}
    for seats, refused in (((1, 2), None if value else 2), ((2, 4), 4)):
        found = told(script, filed=filed, seats=(seats,))
        expected = [f"! wager_not_permitted {refused} ante 680a.7(e)"] if refused else []
        assert [line for line in found if line.startswith("!")] == expected


def test_680a_the_game_has_six_positions_and_a_joker() -> None:
    game = adjudicate.games()[GAME]
    assert (game.positions, len(game.deck), game.procedures.deck_cards) == (6, 53, 53)  # type: ignore[union-attr]
