"""Five Card Hi-Lo, 663a.7, .8 to .10 and .13: wagers and irregularities ruled by hand."""

from __future__ import annotations

import pytest

from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.test_663a_five_card_hi_lo import GAME, check

START = """
    start manual_shoe
    1 ante 1000
    1 tie 500
    1 poker_bonus 500
    nomorebets
"""
# 26 and 8 against 25 and 9.
DEAL = """
    deal 1 Qc 9d 7s 3c 5d
    deal dealer Kh 8s 7d 4c 5h
"""
SET = """
    set 1 high Qc 9d 7s low 3c 5d
    show dealer Kh 8s 7d 4c 5h
    set dealer high Kh 8s 7d low 4c 5h
    show 1 Qc 9d 7s 3c 5d
"""
PLAY = "1 play 1000\n" + SET
PAID = """
    pay 1 ante 1000
    pay 1 play 1000
    take 1 tie 500
    take 1 poker_bonus 500
    rack 1
    done
"""
BASE = """
    1 ante        1000 win +1000 663a.12(a) High hand higher and low hand lower, 1 to 1
    1 play        1000 win +1000 663a.12(a) High hand higher and low hand lower, 1 to 1
"""
SIDES = """
    1 tie          500 lose -500 663a.11(j)(1)(ii)
    1 poker_bonus  500 lose -500 663a.11(j)(2)(ii)
"""
PLAYED = "complete" + BASE + SIDES
RETURNED = """
    back 1 ante 1000
    back 1 poker_bonus 500
    back 1 tie 500
    void
"""


def voided(section: str) -> str:
    """The opening wagers of the round above, given back."""
    return f"""
        void
        1 ante        1000 void +0 663a.{section}
        1 poker_bonus  500 void +0 663a.{section}
        1 tie          500 void +0 663a.{section}
    """


def test_663a_13_the_round_that_the_cases_bend_has_no_finding() -> None:
    check(START + DEAL + PLAY + PAID, PLAYED)


def test_663a_11_e_with_all_hands_given_up_the_dealer_may_turn_and_set_his() -> None:
    given_up = START.replace("1 poker_bonus 500\n", "") + DEAL + "fold 1\n"
    lost = """
        complete
        1 ante 1000 lose -1000 663a.11(b)
        1 tie   500 lose  -500 663a.11(b)(1)
    """
    taken = "take 1 ante 1000\n take 1 tie 500\n rack 1\n"
    turned, set_ = (f"{line}\n" for line in SET.splitlines()[2:4])
    for shown in ("", turned, turned + set_):
        check(given_up + taken + shown + "done", lost)
        check(given_up + shown + taken + "done", lost)
    wrong = set_.replace("Kh 8s 7d low 4c 5h", "8s 7d 5h low Kh 4c")
    misset = "! hand_misset 25 and 9 / 20 and 14 663a.11(e)"
    check(given_up + taken + turned + wrong + "done", lost + misset)
    other = turned.replace("5h", "6h")
    check(given_up + taken + other + "done", lost + "! card_mismatch 5h / 6h 663a.11(e)")
    # A Poker Bonus that is left is settled after it.
    bonus = START + DEAL + "fold 1\n" + taken.replace("rack 1\n", "") + turned + set_
    bonus += "show 1 Qc 9d 7s 3c 5d\n take 1 poker_bonus 500\n rack 1\n done"
    check(bonus, lost + "1 poker_bonus 500 lose -500 663a.11(j)(2)(ii)")


# -- 663a.13 and the counts of 663a.8 to 663a.10 ---------------------------------------------------


def test_663a_13_a_one_card_found_face_up_is_not_used_and_a_second_voids_the_round() -> None:
    check(START + "call card_face_up 2c\n" + DEAL + PLAY + PAID, PLAYED)
    check(START + "call card_face_up 2c 2d\n" + RETURNED, voided("13(a)"))
    check(START + "call card_face_up 2c\n call card_face_up 2d\n" + RETURNED, voided("13(a)"))
    check(START + "call cards_face_up\n" + RETURNED, voided("13(a)"))


def test_663a_13_b_a_card_drawn_in_error_and_not_exposed_is_the_next_card() -> None:
    check(START + "call card_drawn_unexposed\n" + DEAL + PLAY + PAID, PLAYED)


WRONG_COUNTS = {
    "a player with four cards": ("deal 1 Qc 9d 7s 3c\n deal dealer Kh 8s 7d 4c 5h", "1 5 / 4"),
    "a player with six": ("deal 1 Qc 9d 7s 3c 5d 2c\n deal dealer Kh 8s 7d 4c 5h", "1 5 / 6"),
    "a dealer with four": ("deal 1 Qc 9d 7s 3c 5d\n deal dealer Kh 8s 7d 4c", "5 / 4"),
    "a dealer with six": ("deal 1 Qc 9d 7s 3c 5d\n deal dealer Kh 8s 7d 4c 5h 2c", "5 / 6"),
    "cards without an Ante": (DEAL + "deal 2 2c 2d 2h 2s 3d", "2 0 / 5"),
}


@pytest.mark.parametrize("case", WRONG_COUNTS)
def test_663a_13_c_an_incorrect_number_of_cards_voids_the_round(case: str) -> None:
    cards, misdeal = WRONG_COUNTS[case]
    found = voided("13(c)") + f"! misdeal {misdeal} 663a.13(c)"
    check(START + cards + "\n" + RETURNED, found)
    check(START + "call wrong_card_count\n" + RETURNED, voided("13(c)"))


def test_663a_13_c_a_misdeal_that_was_played_on_should_have_been_void() -> None:
    cards = "deal 1 Qc 9d 7s 3c 5d 2c\n deal dealer Kh 8s 7d 4c 5h\n"
    found = text(ruling(START + cards + PLAY + PAID, GAME))
    assert found[0] == "void"
    assert "! should_have_been_void 663a.13(c)" in found


def test_663a_13_d_a_shuffler_that_fails_voids_nothing() -> None:
    check("call shuffler_failed\n" + START + DEAL + PLAY + PAID, PLAYED)


def test_663a_13_e_a_dealing_shoe_that_fails_voids_the_round_it_deals() -> None:
    failed = START + "call dealing_shoe_failed\n" + RETURNED
    check(failed.replace("manual_shoe", "automated_shoe"), voided("13(e)"))
    by_hand = START + "call dealing_shoe_failed\n" + DEAL + PLAY + PAID
    check(by_hand.replace("manual_shoe", "hand"), PLAYED)


def test_663a_13_an_irregularity_the_chapter_does_not_know_voids_nothing() -> None:
    for kind in ("dealer_hand_misset", "dealer_card_exposed", "player_card_exposed"):
        check(START + DEAL + f"call {kind}\n" + PLAY + PAID, PLAYED)


STUB = """
    manual_shoe     8(h)
    hand            9(f)
    automated_shoe  10(f)
"""


def test_663a_8_h_9_f_10_f_a_stub_that_is_short_or_over_voids_the_round() -> None:
    # Ten of 52 cards are dealt, so 42 are left.
    for row in lines(STUB):
        way, section = row.split()
        dealt = START.replace("manual_shoe", way) + DEAL
        check(dealt + "stub 42\n" + PLAY + PAID, PLAYED)
        check(dealt + "call card_missing\n" + RETURNED, voided(section))
        for counted in (41, 43):
            check(
                dealt + f"stub {counted}\n" + RETURNED,
                voided(section) + f"! misdeal 42 / {counted} 663a.{section}",
            )


# -- 663a.7 ----------------------------------------------------------------------------------------


def test_663a_7_b_a_player_who_left_loses_every_wager_the_bonus_among_them() -> None:
    lost = """
        complete
        1 ante        1000 lose -1000 663a.7(b)
        1 tie          500 lose  -500 663a.7(b)
        1 poker_bonus  500 lose  -500 663a.7(b)
    """
    check(START + DEAL, lost, gone=(1,))
    played = lost + "1 play 1000 lose -1000 663a.7(b)"
    check(START + DEAL + "1 play 1000\n", played, gone=(1,))
    shown = "1 play 1000\n show dealer Kh 8s 7d 4c 5h\n show 1 Qc 9d 7s 3c 5d\n"
    check(START + DEAL + shown, played, gone=(1,))
    # One who had set his hands before he left has played them.
    check(START + DEAL + PLAY, PLAYED, gone=(1,))


def test_663a_7_c_a_wager_after_no_more_bets_is_late_and_stays() -> None:
    for wager in ("tie", "poker_bonus"):
        late = START.replace(f"1 {wager} 500\n", "") + f"1 {wager} 500\n"
        check(late + DEAL + PLAY + PAID, PLAYED + f"! late_wager 1 {wager} 663a.7(c)")


def test_663a_7_c_a_late_ante_goes_back_unless_cards_were_dealt_to_it() -> None:
    late = "! late_wager 2 ante 663a.7(c)"
    without = "complete\n 2 ante 1000 void +0 663a.7(c)" + BASE + SIDES
    check(START + "2 ante 1000\n" + DEAL + PLAY, without + late)
    dealt = DEAL.replace("deal dealer", "deal 2 Jc 8d 6s 2d 4h\n deal dealer")
    folded = PLAY.replace("1 play 1000", "1 play 1000\n fold 2")
    with_cards = "complete\n 2 ante 1000 lose -1000 663a.11(b)" + BASE + SIDES
    check(START + "2 ante 1000\n" + dealt + folded, with_cards + late)


def test_663a_7_d_e_an_optional_wager_without_an_ante_is_not_permitted_and_goes_back() -> None:
    for wager, section in (("tie", "7(e)(1)"), ("poker_bonus", "7(e)(2)")):
        script = START.replace("nomorebets", f"2 {wager} 700\n nomorebets") + DEAL + PLAY
        finding = f"! wager_not_permitted 2 {wager} 663a.{section}"
        back = f"complete\n 2 {wager} 700 void +0 663a.{section}"
        check(script, back + BASE + SIDES + finding)
    both = "2 poker_bonus 700\n 2 tie 300\n nomorebets"
    found = text(ruling(START.replace("nomorebets", both) + DEAL + PLAY, GAME))
    assert found[1:3] == [
        "2 tie 300 void +0 663a.7(e)(1)",
        "2 poker_bonus 700 void +0 663a.7(e)(2)",
    ]
    says = ruling(script, GAME).findings[0].says
    assert says == (
        "Position 2's Poker Bonus is not permitted: it stands without an Ante (663a.7(e)(2))."
    )


def test_663a_7_e_what_the_submission_does_not_offer_is_not_permitted_and_is_settled() -> None:
    script = START + DEAL + PLAY + PAID
    tie = "! wager_not_permitted 1 tie 663a.7(e)(1)\n"
    bonus = "! wager_not_permitted 1 poker_bonus 663a.7(e)(2)\n"
    check(script, PLAYED + tie + bonus, filed={})
    check(script, PLAYED + bonus, filed={"offers": ("tie",)})
    check(script, PLAYED, filed={"offers": ("tie", "poker_bonus")})


def test_663a_11_b_a_play_wager_is_as_large_as_the_ante() -> None:
    for amount in (500, 1500, 2000):
        script = START + DEAL + PLAY.replace("play 1000", f"play {amount}")
        expected = PLAYED.replace("play        1000 win +1000", f"play {amount} win +{amount}")
        check(script, expected + "! wager_not_permitted 1 play 663a.11(b)")


def test_663a_2_a_a_position_that_the_table_does_not_have_is_not_permitted() -> None:
    for position, permitted in ((6, True), (7, False)):
        script = (START + DEAL + PLAY).replace("\n    1 ", f"\n    {position} ")
        script = script.replace("1 play", f"{position} play").replace("set 1", f"set {position}")
        script = script.replace("deal 1", f"deal {position}").replace("show 1", f"show {position}")
        found = text(ruling(script, GAME))
        assert found[0] == "complete"
        assert (f"! wager_not_permitted {position} ante 663a.2(a)" in found) is not permitted


def test_663a_7_d_an_ante_that_the_record_lost_leaves_its_own_settlement_open() -> None:
    script = START.replace("start manual_shoe", "start manual_shoe | seq 1")
    script = script.replace("1 ante 1000\n", "").replace("1 tie 500", "1 tie 500 | seq 3")
    found = text(ruling(script + DEAL + PLAY + PAID, GAME))
    assert found == lines(
        "awaiting"
        + BASE.replace(
            "1 ante        1000 win +1000 663a.12(a) High hand higher and low hand lower, 1 to 1",
            "",
        )
        + SIDES
        + "! fact_missing 1 more / 1, then 3\n > wager_placed position 1 ante 663a.7(d)"
    )


def test_663a_7_d_a_hand_whose_wagers_were_all_lost_is_still_in_play() -> None:
    script = START.replace("start manual_shoe", "start manual_shoe | seq 1")
    script = script.replace("nomorebets", "nomorebets | seq 5")
    script = "\n".join(line for line in lines(script) if not line[0].isdigit()) + "\n"
    found = text(ruling(script + DEAL + PLAY, GAME))
    assert found[:2] == ["awaiting", lines(BASE)[1]]
    assert not [line for line in found if "misdeal" in line or "not_permitted" in line]


# -- what is seen and what is sent


def test_663a_11_f_cards_of_a_set_hand_may_be_shown_in_any_order() -> None:
    shown = PLAY.replace("show 1 Qc 9d 7s 3c 5d", "show 1 5d 3c Qc 7s 9d")
    check(START + DEAL + shown, PLAYED)
    apart = PLAY.replace("show 1 Qc 9d 7s 3c 5d", "show 1 Qc 9d 7s\n show 1 3 3c\n show 1 4 5d")
    check(START + DEAL + apart, PLAYED)


def test_663a_11_f_the_card_that_is_seen_rules_where_another_was_told() -> None:
    mismatch = "! card_mismatch 1 2h / Qc 663a.11(f)"
    dealt = DEAL.replace("Qc 9d", "2h 9d")
    told = "! card_mismatch 1 None / Qc 663a.11(d)\n"
    check(START + dealt + PLAY, PLAYED + told + mismatch)
    both = dealt + PLAY.replace("set 1 high Qc", "set 1 high 2h")
    check(START + both, PLAYED + mismatch)
    check(START + DEAL.replace("Qc 9d", "?? ??") + PLAY, PLAYED)


def test_663a_11_d_hands_of_cards_that_nobody_read_are_left_open() -> None:
    unread = DEAL.replace("Qc 9d 7s 3c 5d", "?? ?? ?? ?? ??")
    hidden = PLAY.replace("set 1 high Qc 9d 7s low 3c 5d", "set 1 high ?? ?? ?? low ?? ??")
    # No ace: there is one way to set the cards that are shown.
    found = text(ruling(START + unread + hidden, GAME))
    assert found == lines(
        "complete"
        + BASE.replace("1 to 1", "1 to 1 [misset reset]")
        + SIDES.replace("11(j)(1)(ii)", "11(j)(1)(ii) [misset reset]")
    )
    ace = hidden.replace("show 1 Qc", "show 1 Ac")
    found = text(ruling(START + unread + ace, GAME))
    assert found[:2] == ["awaiting", "1 poker_bonus 500 lose -500 663a.11(j)(2)(ii)"]
    dealers = PLAY.replace("Kh 8s 7d 4c 5h", "?? 8s 7d 4c 5h").replace("high Kh", "high ??")
    found = text(ruling(START + DEAL.replace("Kh", "??") + dealers, GAME))
    assert found[:2] == ["awaiting", "1 poker_bonus 500 lose -500 663a.11(j)(2)(ii)"]


def test_663a_11_b_a_play_wager_that_the_record_lost_leaves_the_hand_in_play() -> None:
    found = text(ruling(START + DEAL + SET + PAID, GAME))
    assert found[0] == "awaiting"
    assert "! step_missing 1 play wager_placed / None 663a.11(b)" in found
    assert lines(BASE)[0] in found
    assert found[-1] == "> wager_placed position 1 play 663a.11(b)"


def test_663a_11_b_a_hand_given_up_and_shown_for_its_bonus_is_given_up() -> None:
    script = START + DEAL + "fold 1\n show 1 Qc 9d 7s 3c 5d\n"
    check(
        script,
        """
        complete
        1 ante        1000 lose -1000 663a.11(b)
        1 tie          500 lose  -500 663a.11(b)(1)
        1 poker_bonus  500 lose  -500 663a.11(j)(2)(ii)
        """,
    )
    # Without the bonus it lies in the rack, and cards that are turned are of a hand in play.
    bare = script.replace("1 poker_bonus 500\n", "")
    assert text(ruling(bare + "done", GAME))[0] == "awaiting"


MONEY = """
    pay 1 ante 1000  > pay 1 ante 1100  : overpaid 1 ante 1000 / 1100 663a.12(a)
    pay 1 play 1000  > pay 1 play 900   : underpaid 1 play 1000 / 900 663a.12(a)
    take 1 tie 500   >                  : not_collected 1 tie 500 / 0 663a.11(j)(1)(ii)
    rack 1           > pay 1 ante_bonus 5000 & rack 1 : overpaid 1 ante_bonus 0 / 5000
"""


@pytest.mark.parametrize("row", lines(MONEY))
def test_663a_11_g_h_what_was_paid_otherwise_than_owed_is_found(row: str) -> None:
    change, finding = row.split(" : ")
    was, _, became = change.partition(">")
    paid = PAID.replace(was.strip(), became.strip().replace(" & ", "\n"))
    assert paid != PAID
    check(START + DEAL + PLAY + paid, PLAYED + "! " + finding)


def test_663a_12_b_an_ante_bonus_that_was_not_paid_is_found() -> None:
    script = (START + DEAL + PLAY).replace("Qc 9d 7s 3c 5d", "Ac Ad 9s Ah 5c")
    script = script.replace("high Qc 9d 7s low 3c 5d", "high Ac Ad 9s low Ah 5c")
    paid = PAID.replace("take 1 poker_bonus 500", "pay 1 poker_bonus 2500")
    found = text(ruling(script + paid, GAME))
    assert found[-1] == "! underpaid 1 ante_bonus 10000 / 0 663a.12(b)"
    whole = paid.replace("take 1 tie", "pay 1 ante_bonus 10000\n take 1 tie")
    assert not [line for line in text(ruling(script + whole, GAME)) if line.startswith("!")]


def test_663a_2_a_a_wager_where_there_is_no_position_goes_back_and_voids_nothing() -> None:
    for position in (0, 7):
        more = f"{position} ante 700\n {position} tie 100\n nomorebets"
        found = text(ruling(START.replace("nomorebets", more) + DEAL + PLAY, GAME))
        assert found == [
            "complete",
            f"{position} ante 700 void +0 663a.2(a)",
            f"{position} tie 100 void +0 663a.2(a)",
            *lines(BASE + SIDES),
            f"! wager_not_permitted {position} ante 663a.2(a)",
        ]


def test_663a_11_b_who_gave_up_his_hand_has_ended_his_round_and_his_play_wager_goes_back() -> None:
    """Three aces, for which an Ante Bonus is paid to a hand that is in play."""
    aces = START + DEAL.replace("Qc 9d 7s 3c 5d", "As Ad Ah 3c 5d") + "{}"
    after = "\n show 1 As Ad Ah 3c 5d\n"
    given_up = """
        complete
        1 play        1000 void    +0 663a.11(b)
        1 ante        1000 lose -1000 663a.11(b)
        1 tie          500 lose  -500 663a.11(b)(1)
        1 poker_bonus  500 win  +2500 663a.12(d) Three-of-a-kind, 5 to 1
        ! wager_not_permitted 1 play 663a.11(b)
    """
    check(aces.format("fold 1\n 1 play 1000") + after, given_up)
    check(aces.format("fold 1\n 1 play 700\n 1 play 300") + after, given_up)
    # The other way round he has wagered, and what he says then decides nothing.
    found = text(ruling(START + DEAL + PLAY.replace("play 1000", "play 1000\n fold 1"), GAME))
    assert found == [*lines(PLAYED), "! out_of_turn 1"]
    # Chips taken back before he folds are none.
    back = aces.format("1 play 1000\n withdraw 1 play 1000\n fold 1") + after
    assert not [line for line in text(ruling(back, GAME)) if "play" in line]


@pytest.mark.parametrize(
    ("after", "code"),
    [("1 play 1000", None), ("low 3c 5d", "late_wager"), ("4c 5h", "wager_not_permitted")],
)
def test_663a_11_b_a_play_wager_taken_back_once_the_hand_is_set_or_the_dealers_seen_still_lies(
    after: str, code: str | None
) -> None:
    script = (START + DEAL + PLAY).replace(after, f"{after}\n withdraw 1 play 400", 1)
    if after == "4c 5h":  # of the dealer's cards as they are turned, not as they are dealt
        shown = "show dealer Kh 8s 7d 4c 5h"
        script = (START + DEAL + PLAY).replace(shown, f"{shown}\n withdraw 1 play 400")
    found = text(ruling(script, GAME))
    if code:
        assert found == [*lines(PLAYED), f"! {code} 1 play 663a.11(b)"]
    else:
        less = "1 play 600 win +600 663a.12(a) High hand higher and low hand lower, 1 to 1"
        assert less in found
