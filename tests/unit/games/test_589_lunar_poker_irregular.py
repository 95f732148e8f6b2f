"""Lunar Poker: irregularities (589.13), wagers not permitted (589.7), and what was lost."""

from __future__ import annotations

import pytest

from tests.unit.games.lunar import GAME, NO_HAND, QUALIFIED, check, one_hand, opening, told
from tests.unit.games.rounds import lines, ruling, text

PLAYER = "Ts Td 8h 4c 3d"
BEFORE = opening(PLAYER, QUALIFIED, more="1 super 500")
PLAY = "1 bet 2000\n locked\n show dealer Ah Kd 9c 7s\n show 1 Ts Td 8h 4c 3d\n"
PLAYED = """
    complete
    1 super  500 lose  -500 589.11(c)(2)(i)
    1 ante  1000 push    +0 589.11(e)(1)(ii)
    1 bet   2000 win  +2000 589.12(c) One pair, 1 to 1
"""
PAID = """
    take 1 super 500
    back 1 ante 1000
    pay 1 bet 2000
    rack 1
    done
"""
RETURNED = "back 1 ante 1000\n back 1 super 500\n void"


def voided(section: str, *, bet: bool = False) -> str:
    """The wagers of the round above, given back."""
    return f"""
        void
        1 ante  1000 void +0 589.{section}
        {f"1 bet 2000 void +0 589.{section}" if bet else ""}
        1 super  500 void +0 589.{section}
    """


VOIDING = """
    cards_face_up          manual_shoe     13(a)
    wrong_card_count       hand            13(c)
    dealer_card_exposed    manual_shoe     13(d)
    dealing_shoe_failed    automated_shoe  13(f)
"""


def test_589_13_what_is_called_and_voids_the_round() -> None:
    for row in lines(VOIDING):
        kind, way, section = row.split()
        script = BEFORE.replace("manual_shoe", way) + f"call {kind}\n"
        check(script + RETURNED, voided(section))
        found = told(script + PLAY + PAID)
        if kind != "dealer_card_exposed":
            assert f"! should_have_been_void 589.{section}" in found, row


PLAYING_ON = """
    card_face_up Qc      manual_shoe
    card_drawn_unexposed hand
    shuffler_failed      manual_shoe
    dealing_shoe_failed  hand
    card_missing         automated_shoe
    player_card_exposed  manual_shoe
"""


def test_589_13_what_is_called_and_the_round_goes_on() -> None:
    for row in lines(PLAYING_ON):
        *call, way = row.split()
        script = BEFORE.replace("manual_shoe", way) + f"call {' '.join(call)}\n"
        check(script + PLAY + PAID, PLAYED)


def test_589_13_a_a_second_card_found_face_up_voids() -> None:
    check(BEFORE + "call card_face_up Qc\n call card_face_up Jc\n" + RETURNED, voided("13(a)"))
    check(BEFORE + "call card_face_up Qc\n call card_face_up Qc | by eye\n" + PLAY, PLAYED)


@pytest.mark.parametrize(
    ("change", "expected", "recorded"),
    [
        ("deal 1 Ts Td 8h 4c 3d > deal 1 Ts Td 8h 4c 3d 5d", 5, 6),
        ("deal 1 Ts Td 8h 4c 3d > deal 1 Ts Td 8h 4c", 5, 4),
        ("deal dealer Ah Kd 9c 7s 2h > deal dealer Ah Kd 9c 7s 2h 5d", 5, 6),
    ],
)
def test_589_13_c_a_hand_of_more_or_fewer_cards_voids(
    change: str, expected: int, recorded: int
) -> None:
    was, became = change.split(" > ")
    script = BEFORE.replace(was, became) + RETURNED
    position = "1 " if " 1 " in was else ""
    check(script, voided("13(c)") + f"! misdeal {position}{expected} / {recorded} 589.13(c)")


DRAWN = """
    decide 1 {what}
    fee 1 options 1000 {what}
    locked
    {cards}
"""


def test_589_13_c_a_card_too_many_voids_before_anybody_has_decided() -> None:
    dealt = BEFORE.replace("4c 3d", "4c 3d 5h")
    check(
        dealt,
        voided("13(c)") + "! misdeal 1 5 / 6 589.13(c)",
    )


def test_589_13_c_a_card_too_many_or_too_few_after_a_draw_voids_and_the_fee_stays() -> None:
    """A fee is no wager: 13(c) returns wagers."""
    fee = "1 options 1000 lose -1000 589.13(c)"
    for what, cards, due, recorded in (
        ("exchange 4c 3d", "exchange 1 4c 3d\n deal 1 5h 6h 7h", 5, 6),
        ("exchange 4c 3d", "exchange 1 4c 3d\n deal 1 5h", 5, 4),
        ("sixth_card", "deal 1 5h 6h", 6, 7),
    ):
        drawn = DRAWN.format(what=what, cards=cards).replace(
            "options 1000 exchange 4c 3d", "options 1000 exchange"
        )
        misdeal = f"! misdeal 1 {due} / {recorded} 589.13(c)"
        status, *wagers = lines(voided("13(c)"))
        collected = "take 1 super 500\n"
        script = BEFORE + drawn.replace("locked\n", f"locked\n{collected}") + RETURNED
        found = told(script)
        assert found[:5] == [status, fee, *wagers, misdeal]


def test_589_13_c_a_second_card_for_the_dealer_voids() -> None:
    script = one_hand("9s 9d Kd 8c 4d", NO_HAND).partition("show 1")[0]
    script += "decide 1 force_dealer\n fee 1 options 1000 force_dealer\n exchange dealer Kh\n"
    found = told(script + "deal dealer up 3h 4h\n back 1 ante 1000\n back 1 bet 2000\n void")
    assert found == lines("""
        void
        1 options 1000 lose -1000 589.13(c)
        1 ante    1000 void    +0 589.13(c)
        1 bet     2000 void    +0 589.13(c)
        ! misdeal 5 / 6 589.13(c)
    """)


def test_589_13_d_a_card_of_the_dealers_seen_voids_until_each_player_has_folded_or_bet() -> None:
    call = "call dealer_card_exposed\n"
    check(BEFORE + "1 bet 2000\n" + call + "locked\n" + PLAY.partition("locked")[2] + PAID, PLAYED)
    check(BEFORE + "fold 1\n" + call + "locked", PLAYED.partition("1 ante")[0] + LOST)
    for before, after in (("", "1 bet 2000\n"), ("decide 1 declare\n", "1 bet 2000\n")):
        found = told(BEFORE + before + call + after + "locked")
        assert found == lines(voided("13(d)", bet=True))
    # A Bet that he had taken back was no Bet when the card was seen.
    taken_back = "1 bet 2000\n withdraw 1 bet 2000\n"
    assert told(BEFORE + taken_back + call + "fold 1\n locked")[0] == "void"
    assert told(BEFORE + taken_back + "1 bet 2000\n" + call + "locked")[0] != "void"
    # He bought a card, so his Bet is still to come.
    drawn = DRAWN.format(what="sixth_card", cards=call + "deal 1 5h\n 1 bet 2000")
    assert told(BEFORE + drawn)[0] == "void"


LOST = "1 ante 1000 lose -1000 589.11(d)(1)"


def test_589_13_d_a_hand_declared_that_may_not_bet_has_decided_and_another_has_not() -> None:
    call, declare = "call dealer_card_exposed\n", "decide 1 declare\n"
    for cards, plays_on in (("9s 8s 7s 6s 5s", True), ("Ts Tc Th Td 2c", False)):
        before = opening(cards, QUALIFIED)
        assert (told(before + declare + call + "locked")[0] != "void") is plays_on
        # Before it was declared he had decided nothing, and another player has not either.
        assert told(before + call + declare + "locked")[0] == "void"
    two = opening("9s 8s 7s 6s 5s", QUALIFIED).replace(
        "1 ante 1000", "1 ante 1000\n 2 ante 1000", 1
    )
    two = two.replace("deal dealer", "deal 2 Qs Qc 4h 4d 3c\n deal dealer", 1)
    assert told(two + declare + call + "fold 2\n locked")[0] == "void"
    assert told(two + declare + "fold 2\n" + call + "locked")[0] != "void"


@pytest.mark.parametrize("dealt", ["?? ?? ?? ?? ??", "?? 8s 7s 6s 5s", "2d 8s 7s 6s 5s"])
def test_589_13_d_a_declared_hand_is_the_one_shown_whatever_the_shoe_read(dealt: str) -> None:
    call, declare = "call dealer_card_exposed\n", "decide 1 declare\n"
    before, shown = opening(dealt, QUALIFIED), "show 1 9s 8s 7s 6s 5s\n"
    found = told(before + declare + shown + call + "locked")
    assert found[:2] == ["complete", INSTANT_PAID]
    assert told(before + declare + call + "locked")[0] == "void"
    # Another's cards, a hand that must bet, and one shown once decisions are locked say nothing.
    flush = shown.replace("9s", "2s")
    for other in (shown.replace("show 1", "show 2"), flush, "show 1 ?? 8s 7s 6s 5s\n"):
        assert told(before + declare + other + call + "locked")[0] == "void"
    assert told(before + declare + call + "locked\n" + shown)[0] == "void"


INSTANT_PAID = "1 instant 1000 win +500000 589.12(a) Straight flush, 500 to 1"


def test_589_13_d_another_card_of_the_dealers_dealt_face_up_voids() -> None:
    up = BEFORE.replace("deal dealer Ah Kd 9c 7s 2h", "deal dealer up Ah\n deal dealer Kd 9c 7s 2h")
    check(up + RETURNED, voided("13(d)"))


def test_589_7_d_wagers_close_with_no_more_bets() -> None:
    late = BEFORE.replace("1 super 500", "").replace("nomorebets", "nomorebets\n 1 super 500")
    check(late + PLAY + PAID, PLAYED + "! late_wager 1 super 589.7(d)")
    dealt = BEFORE.replace("1 ante 1000\n", "").replace("nomorebets", "nomorebets\n 1 ante 1000")
    check(dealt + PLAY + PAID, PLAYED + "! late_wager 1 ante 589.7(d)")
    passed_over = BEFORE.replace("nomorebets", "nomorebets\n 2 ante 700\n 2 super 100")
    found = told(passed_over + PLAY)
    assert found[1:3] == ["2 ante 700 void +0 589.7(d)", "2 super 100 void +0 589.7(c)(2)"]


def test_589_7_c_2_a_super_wager_stands_beside_an_ante_and_only_where_it_is_offered() -> None:
    script = BEFORE.replace("nomorebets", "2 super 500\n nomorebets") + PLAY
    found = ruling(script, GAME)
    assert text(found)[1] == "2 super 500 void +0 589.7(c)(2)"
    assert [each.says for each in found.findings] == [
        "Position 2's Super Wager is not permitted: it stands without an Ante (589.7(c)(2))."
    ]
    refused = "! wager_not_permitted 1 super 589.7(c)(2)"
    check(BEFORE + PLAY, PLAYED + refused, filed={"offers": ()})


def test_589_7_e_a_player_has_one_position_and_the_table_has_five() -> None:
    script = BEFORE.replace("nomorebets", "5 ante 1000\n nomorebets")
    script = script.replace("deal dealer", "deal 5 Qc Jc 8c 5d 3h\n deal dealer") + "fold 5\n"
    assert not [line for line in told(script + PLAY) if line.startswith("!")]
    found = text(ruling(script + PLAY, GAME, seats=((1, 5),)))
    assert "! wager_not_permitted 5 ante 589.7(e)" in found
    six = script.replace("5 ante", "6 ante").replace("deal 5", "deal 6").replace("fold 5", "fold 6")
    assert "! wager_not_permitted 6 ante 589.2(a)" in told(six + PLAY)


def test_589_8_a_card_that_the_record_lost_leaves_its_hand_open_and_no_other() -> None:
    lost = (BEFORE + PLAY).replace("deal 1 Ts Td 8h 4c 3d", "deal 1 Ts Td 8h 4c ??")
    check(lost, PLAYED)
    unseen = lost.replace("show 1 Ts Td 8h 4c 3d", "show 1 Ts Td 8h 4c ??")
    assert told(unseen + "done") == lines("""
        awaiting
        1 super 500 lose -500 589.11(c)(2)(i)
        ! not_collected 1 super 500 / 0 589.11(c)(2)(i)
        > wager_paid position 1 ante 589.11(e)(1)(i)
    """)
    dealer = (BEFORE + PLAY).replace("Ah Kd 9c 7s 2h", "Ah Kd ?? 7s 2h")
    dealer = dealer.replace("Ah Kd 9c 7s\n", "Ah Kd ?? 7s\n").replace("show 1 Ts", "1 super 0\n#")
    dealer = dealer.partition("1 super 0")[0]
    assert told(dealer + "done")[-1] == "> wager_paid position 1 ante 589.11(e)(1)(i)"


def test_589_8_a_card_lost_of_the_first_deal_is_not_taken_from_those_drawn() -> None:
    script = BEFORE.replace("deal 1 Ts Td 8h 4c 3d", "deal 1 Ts Td 8h 4c | seq 4")
    script = script.replace("nomorebets", "nomorebets | seq 3")
    script = script.replace("deal dealer Ah Kd 9c 7s 2h", "deal dealer Ah Kd 9c 7s 2h | seq 6")
    drawn = DRAWN.format(what="sixth_card", cards="deal 1 5h\n 1 bet 2000")
    script += drawn + "show dealer Ah Kd 9c 7s\n show 1 Ts Td 8h 4c 3d 5h"
    assert told(script) == lines("""
        complete
        1 options 1000 lose -1000 589.11(b)(3)
        1 super    500 lose  -500 589.11(c)(2)(i)
        1 ante    1000 push    +0 589.11(e)(1)(ii)
        1 bet     2000 win  +2000 589.12(c) One pair, 1 to 1
        ! fact_missing 1 more / 4, then 6
    """)


def test_589_7_d_an_ante_that_the_record_lost_leaves_it_open_and_the_bet_without_a_measure() -> (
    None
):
    script = BEFORE.replace("1 ante 1000\n", "").replace("manual_shoe", "manual_shoe | seq 1")
    script = script.replace("nomorebets", "nomorebets | seq 3") + PLAY + PAID
    found = told(script)
    assert "1 bet 2000 win +2000 589.12(c) One pair, 1 to 1" in found
    assert found[-1] == "> wager_placed position 1 ante 589.7(d)"
    assert not [line for line in found if "not_permitted" in line or "misdeal" in line]


def test_589_7_d_a_hand_whose_wagers_were_all_lost_is_still_in_play() -> None:
    script = BEFORE.replace("1 ante 1000\n", "").replace("1 super 500\n", "")
    script = script.replace("manual_shoe", "manual_shoe | seq 1")
    found = told(script.replace("nomorebets", "nomorebets | seq 4") + PLAY + PAID)
    assert found[1] == "1 bet 2000 win +2000 589.12(c) One pair, 1 to 1"
    assert not [line for line in found if "not_permitted" in line or "misdeal" in line]


def test_589_8_a_declared_hand_with_a_card_that_was_lost_is_not_known() -> None:
    script = BEFORE.replace("deal 1 Ts Td 8h 4c 3d", "deal 1 Ts Td 8h 4c | seq 4")
    script = script.replace("deal dealer Ah Kd 9c 7s 2h", "deal dealer Ah Kd 9c 7s 2h | seq 6")
    end = "locked\n done"
    found = told(script + "decide 1 declare\n fold 1\n" + end)
    assert found[-1] == "> wager_paid position 1 instant 589.12(a)"
    assert not [line for line in found if line.startswith("1 super")]
    # Shown later, with the cards he drew, his hand is lower: the Super Wager stays open.
    drawn = DRAWN.format(what="exchange", cards="exchange 1 4c 8h\n deal 1 5h 2c\n 1 bet 2000")
    drawn += "show dealer Ah Kd 9c 7s\n show 1 Ts Td 6d 5h 2c\n"
    dealer = script.replace("Ah Kd 9c 7s 2h", "Ah Ad 9c 7s 2h")
    found = told(dealer + "decide 1 declare\n" + drawn.replace("Ah Kd", "Ah Ad") + "done")
    assert "1 bet 2000 lose -2000 589.11(e)(1)(i)" in found
    assert not [line for line in found if line.startswith("1 super")]


def test_589_11_d_cards_drawn_where_nobody_locked_the_decisions_are_no_misdeal() -> None:
    drawn = DRAWN.format(what="sixth_card", cards="deal 1 5h\n fold 1").replace("locked", "")
    found = told(BEFORE + drawn + "take 1 super 500\n take 1 ante 1000\n rack 1\n done")
    assert [line for line in found if line.startswith("!")] == [
        "! step_missing decisions_locked_called / None 589.11(c)"
    ]


def test_589_11_b_2_a_bet_that_the_record_lost_leaves_that_bet_open() -> None:
    found = told(BEFORE + PLAY.replace("1 bet 2000\n", "") + "done")
    assert "1 ante 1000 lose -1000 589.11(d)(1)" in found
    assert "! step_missing 1 bet wager_placed / None 589.11(b)(2)" in found


def test_589_11_b_a_decision_that_the_game_does_not_know_decides_nothing() -> None:
    found = told(BEFORE + "decide 1 stand\n" + PLAY)
    wrong = ["! decision_not_permitted 1 None / stand"]
    assert [line for line in found if line.startswith("!")] == wrong


def test_589_2_a_a_wager_where_there_is_no_position_goes_back_and_voids_nothing() -> None:
    for position in (0, 6):
        script = BEFORE.replace("nomorebets", f"{position} ante 700\n nomorebets") + PLAY
        returned = f"complete\n {position} ante 700 void +0 589.2(a)"
        refused = f"! wager_not_permitted {position} ante 589.2(a)"
        check(script, PLAYED.replace("complete", returned) + refused)
