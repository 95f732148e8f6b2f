"""Criss-Cross Poker, 592.7 and the bets of 592.11: wagers that are late, uneven or not allowed."""

from __future__ import annotations

import pytest

from tests.unit.games.cross import DEAL, GAME, PAID, PLAY, PLAYED, START, check
from tests.unit.games.rounds import lines, ruling, text


def test_592_7_b_a_player_who_left_loses_every_wager_the_bonus_among_them() -> None:
    check(
        START + DEAL + "1 across 2000\n turn 1 8s 3 3c\n",
        """
        complete
        1 ante_across     1000 lose -1000 592.7(b)
        1 ante_down       1000 lose -1000 592.7(b)
        1 five_card_bonus  500 lose  -500 592.7(b)
        1 across          2000 lose -2000 592.7(b)
        """,
        gone=(1,),
    )


def test_592_7_c_a_wager_after_no_more_bets_is_late_and_stays() -> None:
    late = START.replace("1 five_card_bonus 500\n", "") + "1 five_card_bonus 500\n"
    check(late + DEAL + PLAY + PAID, PLAYED + "! late_wager 1 five_card_bonus 592.7(c)")


def test_592_7_c_two_clocks_cannot_tell_what_came_first_within_their_uncertainty() -> None:
    close = (
        START.replace("1 five_card_bonus 500\n", "") + "1 five_card_bonus 500 | by layout at {}\n"
    )
    script = close + DEAL.replace("3c Ah", "3c Ah | at 6.0") + PLAY + PAID
    certain, uncertain = (
        "! late_wager 1 five_card_bonus 592.7(c)",
        "! order_uncertain 1 five_card_bonus 592.7(c)",
    )
    check(script.format("4.25"), PLAYED + uncertain)
    check(script.format("4.250001"), PLAYED + certain)


def test_592_7_c_late_antes_of_a_position_without_cards_go_back() -> None:
    check(
        START + "2 ante_across 1000\n 2 ante_down 1000\n" + DEAL + PLAY,
        """
        complete
        2 ante_across 1000 void +0 592.7(c)
        2 ante_down   1000 void +0 592.7(c)
        """
        + PLAYED.replace("complete", "")
        + """
        ! late_wager 2 ante_across 592.7(c)
        ! late_wager 2 ante_down   592.7(c)
        """,
    )


def test_592_7_c_late_antes_of_a_position_that_was_dealt_in_stay() -> None:
    found = text(
        ruling(
            START
            + "2 ante_across 1000\n 2 ante_down 1000\n"
            + DEAL
            + "deal 2 Kd 4c\n"
            + PLAY.replace("turn 1 8s", "fold 2\n turn 1 8s"),
            GAME,
        )
    )
    assert found[1:3] == lines("""
        2 ante_across 1000 lose -1000 592.11(b)
        2 ante_down   1000 lose -1000 592.11(b)
    """)
    assert found[-2:] == lines("""
        ! late_wager 2 ante_across 592.7(c)
        ! late_wager 2 ante_down   592.7(c)
    """)


def test_592_7_c_chips_taken_back_before_no_more_bets_are_no_wager() -> None:
    before = START.replace("nomorebets", "withdraw 1 five_card_bonus 500\n nomorebets")
    check(
        before + DEAL + PLAY,
        PLAYED.replace(
            "1 five_card_bonus  500 win  +500 592.12(c) Pair of 6s or better, 1 to 1", ""
        ),
    )


def test_592_7_c_chips_taken_back_after_no_more_bets_are_still_at_stake() -> None:
    check(
        START + "withdraw 1 five_card_bonus 500\n" + DEAL + PLAY,
        PLAYED + "! late_wager 1 five_card_bonus 592.7(c)",
    )


def test_592_7_d_the_two_antes_are_equal() -> None:
    for across, down, larger in ((1500, 1000, "ante_across"), (1000, 1500, "ante_down")):
        script = START.replace("across 1000", f"across {across}").replace(
            "down 1000", f"down {down}"
        )
        found = text(
            ruling(script + DEAL + "fold 1\n turn 1 8s 3 3c\n turn 0 9h 4 Ah\n turn 2 9d\n", GAME)
        )
        assert found[1:3] == [
            f"1 ante_across {across} lose -{across} 592.11(b)",
            f"1 ante_down {down} lose -{down} 592.11(b)",
        ]
        assert found[4:] == [f"! wager_not_permitted 1 {larger} 592.7(d)"]


def test_592_7_d_one_ante_alone_is_not_dealt_in_and_goes_back() -> None:
    for alone, other in (("ante_across", "ante_down"), ("ante_down", "ante_across")):
        larger = f"! wager_not_permitted 2 {alone} 592.7(d)"
        check(
            START.replace("nomorebets", f"2 {alone} 700\n nomorebets") + DEAL + PLAY,
            f"complete\n 2 {alone} 700 void +0 592.7(d)\n"
            + PLAYED.replace("complete", "")
            + larger,
        )
        waits = text(ruling(f"start\n 2 {alone} 700\n", GAME))[-1]
        assert waits == f"> wager_placed position 2 {other} 592.7(d)"


def test_592_7_e_a_bonus_without_antes_is_not_permitted_and_goes_back() -> None:
    check(
        START.replace("nomorebets", "2 five_card_bonus 700\n nomorebets") + DEAL + PLAY,
        "complete\n 2 five_card_bonus 700 void +0 592.7(e)\n"
        + PLAYED.replace("complete", "")
        + "! wager_not_permitted 2 five_card_bonus 592.7(e)",
    )


def test_592_7_e_a_bonus_that_the_submission_does_not_offer_is_not_permitted_and_is_settled() -> (
    None
):
    not_offered = PLAYED + "! wager_not_permitted 1 five_card_bonus 592.7(e)"
    check(START + DEAL + PLAY + PAID, not_offered, filed={})
    check(START + DEAL + PLAY + PAID, PLAYED, filed={"offers": ("five_card_bonus",)})


BETS = """
    across  999 | across 1500 | across 4000 | down  999 | down 4000 | middle 0 | middle 3500
"""


@pytest.mark.parametrize("bet", [bet.strip() for bet in BETS.split("|")])
def test_592_11_b_d_f_a_bet_is_one_two_or_three_times_the_ante(bet: str) -> None:
    wager, amount = bet.split()
    as_printed = {"across": "2000", "down": "1000", "middle": "3000"}[wager]
    section = {"across": "11(b)", "down": "11(d)", "middle": "11(f)"}[wager]
    check(
        START + DEAL + PLAY.replace(f"1 {wager} {as_printed}", f"1 {wager} {amount}"),
        "\n".join(
            line.replace(f"1 {wager} {as_printed}", f"1 {wager} {amount}") for line in lines(PLAYED)
        )
        + f"\n! wager_not_permitted 1 {wager} 592.{section}",
    )


def test_592_11_f_the_middle_bet_may_go_by_either_of_two_unequal_antes() -> None:
    unequal = START.replace("ante_down 1000", "ante_down 1500") + DEAL
    play = PLAY.replace("1 down 1000", "1 down 4500")
    for middle, permitted in ((1500, True), (2000, True), (4500, True), (2500, False)):
        found = text(ruling(unequal + play.replace("middle 3000", f"middle {middle}"), GAME))
        assert ("! wager_not_permitted 1 middle 592.11(f)" in found) is not permitted


def test_592_11_b_a_bet_placed_in_two_parts_is_their_sum() -> None:
    check(START + DEAL + PLAY.replace("1 across 2000", "1 across 1000\n 1 across 1000"), PLAYED)


def test_592_11_b_a_bet_taken_back_in_time_is_none_and_in_part_is_the_rest() -> None:
    whole = PLAY.replace("1 across 2000", "1 across 2000\n withdraw 1 across 1000")
    check(START + DEAL + whole, PLAYED.replace("1 across          2000", "1 across 1000"))
    folded = """
        1 across 2000
        withdraw 1 across 2000
        fold 1
        turn 1 8s 3 3c
        turn 0 9h 4 Ah
        turn 2 9d
    """
    check(
        START + DEAL + folded,
        """
        complete
        1 ante_across     1000 lose -1000 592.11(b)
        1 ante_down       1000 lose -1000 592.11(b)
        1 five_card_bonus  500 win   +500 592.12(c) Pair of 6s or better, 1 to 1
        """,
    )


@pytest.mark.parametrize("cents", [1000, 2000])
def test_592_11_b_a_bet_taken_back_once_its_cards_lie_open_is_settled_as_if_it_lay(
    cents: int,
) -> None:
    for bet, stake, turned, section in (
        ("across", 2000, "turn 1 8s 3 3c\n", "11(b)"),
        ("down", 1000, "turn 0 9h 4 Ah\n", "11(d)"),
        ("middle", 3000, "turn 2 9d\n", "11(f)"),
    ):
        for back in {min(cents, stake), stake}:
            late = PLAY.replace(turned, f"{turned} withdraw 1 {bet} {back}\n")
            check(START + DEAL + late, PLAYED + f"! wager_not_permitted 1 {bet} 592.{section}")


def test_592_11_d_a_bet_taken_back_before_a_fold_is_lost_with_it() -> None:
    folded = """
        1 across 2000
        turn 1 8s 3 3c
        withdraw 1 across 2000
        fold 1
        turn 0 9h 4 Ah
        turn 2 9d
    """
    check(
        START + DEAL + folded,
        """
        complete
        1 ante_across     1000 lose -1000 592.11(d)
        1 ante_down       1000 lose -1000 592.11(d)
        1 across          2000 lose -2000 592.11(d)
        1 five_card_bonus  500 win   +500 592.12(c) Pair of 6s or better, 1 to 1
        ! wager_not_permitted 1 across 592.11(b)
        """,
    )


def test_592_11_b_more_than_lay_there_cannot_be_taken_back() -> None:
    more = PLAY.replace("1 across 2000", "1 across 2000\n withdraw 1 across 2500\n 1 across 2000")
    check(START + DEAL + more, PLAYED + "! wager_not_permitted 1 across 592.11(b)")
    before = PLAY.replace("1 across 2000", "withdraw 1 across 2000\n 1 across 2000")
    check(START + DEAL + before, PLAYED + "! wager_not_permitted 1 across 592.11(b)")


def test_592_11_b_what_came_too_late_itself_may_go_again() -> None:
    late = "turn 1 8s 3 3c\n 1 across 1000\n withdraw 1 across 1000\n"
    found = text(ruling(START + DEAL + PLAY.replace("turn 1 8s 3 3c\n", late), GAME))
    assert found == [*lines(PLAYED), "! late_wager 1 across 592.11(b)"]


def test_592_7_c_a_wager_is_taken_back_too_late_and_once_its_cards_are_seen_against_11() -> None:
    turned = PLAY.replace("1 down 1000", "withdraw 1 ante_down 1000\n 1 down 1000")
    check(START + DEAL + turned, PLAYED + "! wager_not_permitted 1 ante_down 592.7(c)")
    dealt = START + DEAL + "withdraw 1 ante_down 1000\n" + PLAY
    check(dealt, PLAYED + "! late_wager 1 ante_down 592.7(c)")


def test_592_11_c_a_bet_after_the_cards_were_turned_is_late_and_stays() -> None:
    turned = PLAY.replace("1 across 2000\n", "").replace("3 3c\n", "3 3c\n 1 across 2000\n")
    check(START + DEAL + turned, PLAYED + "! late_wager 1 across 592.11(b)")


def test_592_7_g_a_player_wagers_on_one_position_only() -> None:
    two = START + "".join(DEAL).replace("deal 1 8c Qs", "deal 1 8c Qs\n deal 3 Kd 4c")
    two = two.replace("nomorebets", "3 ante_across 1000\n 3 ante_down 1000\n nomorebets")
    play = PLAY.replace("turn 1 8s", "fold 3\n turn 1 8s")
    found = text(ruling(two + play, GAME, seats=((1, 3),)))
    assert found[-1] == "! wager_not_permitted 3 ante_across 592.7(g)"
    apart = text(ruling(two + play, GAME, seats=((1,), (3,))))
    assert not [line for line in apart if line.startswith("!")]


def test_592_7_a_wager_the_chapter_does_not_know_is_not_permitted() -> None:
    script = START.replace("nomorebets", "1 lucky_seven 100\n nomorebets") + DEAL + PLAY
    check(script, PLAYED + "! wager_not_permitted 1 lucky_seven None / 100")
    waits = text(ruling(START.replace("nomorebets", "1 lucky_seven 100"), GAME), following=True)
    assert waits == ["awaiting", "> no_more_bets_called dealer 592.8(b)"]


def test_592_2_a_a_position_that_the_table_does_not_have_is_not_permitted() -> None:
    for position, permitted in ((6, True), (7, False)):
        script = (START + DEAL + PLAY).replace("\n    1 ", f"\n    {position} ")
        script = script.replace("deal 1", f"deal {position}").replace("show 1", f"show {position}")
        found = text(ruling(script, GAME))
        assert found[0] == "complete"
        assert (f"! wager_not_permitted {position} ante_across 592.2(a)" in found) is not permitted


def test_592_2_a_a_wager_where_there_is_no_position_goes_back_and_voids_nothing() -> None:
    for position in (0, 7):
        more = f"{position} ante_across 1000\n {position} ante_down 1000\n nomorebets"
        found = text(ruling(START.replace("nomorebets", more) + DEAL + PLAY, GAME))
        assert found[:3] == lines(f"""
            complete
            {position} ante_across 1000 void +0 592.2(a)
            {position} ante_down   1000 void +0 592.2(a)
        """)
        assert found[3:] == [
            *lines(PLAYED)[1:],
            f"! wager_not_permitted {position} ante_across 592.2(a)",
        ]


@pytest.mark.parametrize(
    ("stage", "bets", "section"),
    [
        ("", ("across", "down"), "11(b)"),
        ("1 across 2000\n turn 1 8s 3 3c\n", ("down", "middle"), "11(d)"),
        ("1 across 2000\n turn 1 8s 3 3c\n 1 down 1000\n turn 0 4d 4 9h\n", ("middle",), "11(f)"),
    ],
)
def test_592_11_who_folds_and_bets_afterwards_is_out_and_has_those_bets_back(
    stage: str, bets: tuple[str, ...], section: str
) -> None:
    later = "".join(f"1 {bet} 1000\n" for bet in bets)
    found = text(ruling(f"{START}{DEAL}{stage}fold 1\n{later}", GAME))
    for bet in bets:
        assert f"1 {bet} 1000 void +0 592.{section}" in found
        assert f"! wager_not_permitted 1 {bet} 592.{section}" in found
    for ante in ("ante_across", "ante_down"):
        assert f"1 {ante} 1000 lose -1000 592.{section}" in found
    # By two clocks that agree to 250 ms at best the bet may have come first, and stands.
    near = (
        f"{START}{DEAL}{stage}fold 1 | by terminal at 60\n1 {bets[0]} 1000 | by layout at 60.25\n"
    )
    assert f"1 {bets[0]} 1000 void" not in " ".join(text(ruling(near, GAME)))
