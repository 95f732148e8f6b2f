"""Criss-Cross Poker, 592.13 and the counts of 592.8 to 592.10: irregularities ruled by hand."""

from __future__ import annotations

import pytest

from tests.unit.games.cross import DEAL, GAME, PAID, PLAY, PLAYED, RETURNED, START, check, voided
from tests.unit.games.rounds import lines, ruling, text


def test_592_13_a_one_card_found_face_up_is_not_used_and_play_goes_on() -> None:
    check(START + "call card_face_up 7c\n burn 7c\n" + DEAL + PLAY + PAID, PLAYED)


def test_592_13_a_more_than_one_card_found_face_up_voids_the_round() -> None:
    check(START + "call cards_face_up\n" + RETURNED, voided("13(a)"))
    check(START + "call card_face_up 7c 8c\n" + RETURNED, voided("13(a)"))


def test_592_13_a_a_second_card_found_face_up_makes_more_than_one() -> None:
    check(START + "call card_face_up 7c\n call card_face_up 2d\n" + RETURNED, voided("13(a)"))
    check(START + "call card_face_up\n cross 9h\n call card_face_up\n" + RETURNED, voided("13(a)"))


def test_592_13_a_one_card_told_twice_is_one_card() -> None:
    twice = "call card_face_up 7c\n call card_face_up 7c | by camera\n"
    check(START + twice + DEAL + PLAY + PAID, PLAYED)


def test_592_13_b_a_card_drawn_in_error_and_not_exposed_is_the_next_card() -> None:
    check(START + "call card_drawn_unexposed\n" + DEAL + PLAY + PAID, PLAYED)


CROSS = "cross 9h 8s 9d 3c"
WRONG_COUNTS = {
    "a player with one card": (f"{CROSS} Ah\n deal 1 8c\n", "1 2 / 1"),
    "a player with three": (f"{CROSS} Ah\n deal 1 8c Qs 2d\n", "1 2 / 3"),
    "four community cards": (f"{CROSS}\n deal 1 8c Qs\n", "5 / 4"),
    "six community cards": (f"{CROSS} Ah 2d\n deal 1 8c Qs\n", "5 / 6"),
    "cards without Antes": (f"{CROSS} Ah\n deal 1 8c Qs\n deal 2 2d 2c\n", "2 0 / 2"),
}


@pytest.mark.parametrize("case", WRONG_COUNTS)
def test_592_13_c_an_incorrect_number_of_cards_voids_the_round(case: str) -> None:
    cards, misdeal = WRONG_COUNTS[case]
    check(START + cards + RETURNED, voided("13(c)") + f"! misdeal {misdeal} 592.13(c)")
    shown = PLAY
    if case == "a player with one card":
        shown = PLAY.replace("show 1 8c Qs", "show 1 8c")
    elif case == "four community cards":
        shown = PLAY.replace("turn 0 9h 4 Ah", "turn 0 9h")
    assert "! should_have_been_void 592.13(c)" in text(ruling(START + cards + shown + PAID, GAME))


def test_592_13_c_an_incorrect_number_that_was_called_voids_the_round_without_the_cards() -> None:
    check(START + "call wrong_card_count\n" + RETURNED, voided("13(c)"))


def test_592_13_d_a_community_card_exposed_early_voids_the_round() -> None:
    check(START + DEAL + "call community_card_exposed\n" + RETURNED, voided("13(d)"))
    face_up = DEAL.replace("cross 9h 8s", "cross 9h\n cross up 8s\n cross")
    check(START + face_up + RETURNED, voided("13(d)"))


EXPOSED_EARLY = """
    11(c), the middle with the row      / 1 8s 3 3c 2 9d / -            / -
    11(c), the column instead           / 0 9h 4 Ah      / -            / -
    11(e), the middle with the column   / 1 8s 3 3c      / 0 9h 4 Ah 2 9d / 1 down 1000
"""


@pytest.mark.parametrize("row", [row for row in EXPOSED_EARLY.splitlines() if row.strip()])
def test_592_13_d_a_card_turned_before_its_street_voids_the_round_and_its_later_bets(
    row: str,
) -> None:
    _, first, second, down = (part.strip() for part in row.split("/"))
    script = START + DEAL + f"1 across 2000\n turn {first}\n"
    back = "back 1 across 2000\n"
    across = "1 across 2000 void +0 592.13(d)"
    bets = [across]
    if second != "-":
        script += f"{down}\n turn {second}\n"
        back += "back 1 down 1000\n"
        bets.append("1 down 1000 void +0 592.13(d)")
    antes = lines(voided("13(d)"))
    expected = ["void", bets[0], *antes[1:3], *bets[1:], antes[3]]
    assert text(ruling(script + back + RETURNED, GAME)) == expected
    assert text(ruling(script, GAME), following=True)[0] == "void"


def test_592_13_e_a_shuffler_that_fails_voids_nothing() -> None:
    check("call shuffler_failed\n" + START + DEAL + PLAY + PAID, PLAYED)


def test_592_13_f_a_dealing_shoe_that_fails_voids_the_round_it_deals() -> None:
    failed = START + "call dealing_shoe_failed\n" + RETURNED
    check(failed.replace("manual_shoe", "automated_shoe"), voided("13(f)"))
    check(failed.replace("manual_shoe", ""), voided("13(f)"))
    by_hand = (START + "call dealing_shoe_failed\n" + DEAL + PLAY + PAID).replace(
        "manual_shoe", "hand"
    )
    check(by_hand, PLAYED)


def test_592_8_h_9_f_10_f_a_deck_that_is_short_or_over_voids_the_round() -> None:
    short = START + DEAL + "call card_missing\n" + RETURNED
    check(short, voided("8(h)"))
    check(short.replace("manual_shoe", "hand"), voided("9(f)"))
    check(short.replace("manual_shoe", "automated_shoe"), voided("10(f)"))


def test_592_13_a_void_round_gives_back_forfeited_wagers_too() -> None:
    check(
        START + DEAL + "fold 1\n turn 1 8s 3 3c\n call community_card_exposed\n" + RETURNED,
        voided("13(d)"),
    )


def test_592_13_c_wagers_of_a_void_round_that_stayed_or_were_paid_are_found() -> None:
    script = START + "call wrong_card_count\n"
    kept = "back 1 ante_across 1000\n take 1 ante_down 1000\n pay 1 five_card_bonus 500\n void\n"
    check(
        script + kept,
        voided("13(c)")
        + """
        ! wrongly_collected 1 ante_down 0 / 1000 592.13(c)
        ! overpaid 1 five_card_bonus 0 / 500 592.13(c)
        """,
    )


def test_592_13_a_round_voided_without_ground_is_owed_as_it_was_played() -> None:
    found = text(ruling(START + DEAL + PLAY + "void\n", GAME))
    assert found[:7] == lines(PLAYED)
    assert found[7] == "! wrongly_voided"
    # A bonus that won is owed; the pushed wagers are still on the layout.
    assert "! underpaid 1 five_card_bonus 500 / 0 592.12(c)" in found


def test_592_13_a_round_voided_without_ground_where_it_stood_forfeits_no_undecided_hand() -> None:
    for played in ("", "call card_drawn_unexposed\n"):
        assert text(ruling(START + DEAL + played + RETURNED, GAME)) == [
            "awaiting",
            "! wrongly_voided",
            "> wager_placed position 1 across 592.11(b)",
        ]
    folded = text(ruling(START + DEAL + "fold 1\n" + RETURNED, GAME))
    # What was decided before the call is owed all the same.
    assert "! not_collected 1 ante_across 1000 / 0 592.11(b)" in folded
    assert "1 five_card_bonus" not in " ".join(folded)


def test_592_11_a_wager_left_open_hides_no_mistake_of_another() -> None:
    # The left card is not read: the Across Hand is not known, the Down Hand is.
    script = (START + DEAL + PLAY).replace("9h 8s 9d", "9h ?? 9d").replace("1 8s 3", "1 ?? 3")
    found = text(ruling(script + PAID.replace("back 1 down 1000", "pay 1 down 900"), GAME))
    assert [line for line in found if line.startswith("!")] == [
        "! overpaid 1 down 0 / 900 592.12(b)"
    ]


def test_592_13_an_irregularity_the_chapter_does_not_know_voids_nothing() -> None:
    check(START + DEAL + "call player_card_exposed\n" + PLAY + PAID, PLAYED)


def test_592_13_c_a_void_round_on_record_waits_for_its_wagers_and_then_for_the_call() -> None:
    script = lines(START + "call wrong_card_count\n" + RETURNED)
    following = [
        text(ruling("\n".join(script[:count]), GAME), following=True)[-1] for count in (6, 7, 8, 9)
    ]
    assert following == lines("""
        > wager_returned position 1 ante_across 1000 592.13(c)
        > wager_returned position 1 ante_down 1000 592.13(c)
        > wager_returned position 1 five_card_bonus 500 592.13(c)
        > round_voided dealer 592.13(c)
    """)
