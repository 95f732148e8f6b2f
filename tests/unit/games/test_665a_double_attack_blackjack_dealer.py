"""Double Attack Blackjack: Insurance, the hole card and the draw, where what is seen rules."""

from __future__ import annotations

import pytest

from tests.unit.games.attack import GAME, check, round_of
from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.spy import asked

WIN = "12(a) Bet and Double Attack Wager, 1 to 1"
INSURED = "1 insurance 400\npeek"
PAID = "1 insurance 400 win +1000 665a.12(b) Insurance Wager, 5 to 2"
LOST = "1 insurance 400 lose -400 665a.8(d)"


def insured(dealer: str, does: str = "decide 1 stand") -> str:
    """A player with king-9 under an ace, who is insured."""
    return round_of(dealer, "Kc 9s", does).replace("peek", INSURED)


# -- Insurance (.8) ------------------------------------------------------------------------------


def test_665a_8_a_insurance_wins_by_a_king_seen_later_though_the_reader_told_of_none() -> None:
    script = insured("Ad ??").replace("show dealer 1 ??", "show dealer 1 Kh")
    check(
        script,
        f"""
        complete
        {PAID}
        1 bet 1000 lose -1000 665a.7(o)(1)(ii)(A)
        ! card_mismatch blackjack / none 665a.7(g)
        """,
    )
    # As the shoe dealt it, it is known before any card is turned.
    assert PAID in text(ruling(insured("Ad Kh").replace("peek blackjack", "peek none"), GAME))


def test_665a_8_d_insurance_is_lost_by_a_9_seen_though_the_reader_told_of_a_blackjack() -> None:
    script = insured("Ad ??").replace("peek none", "peek blackjack")
    found = text(ruling(script.replace("show dealer 1 ??", "show dealer 1 9h"), GAME))
    assert LOST in found
    assert "1 bet 1000 lose -1000 665a.7(o)(1)(ii)(C)" in found
    assert "! card_mismatch none / blackjack 665a.7(g)" in found


def test_665a_8_insurance_goes_by_the_reader_where_the_hole_card_is_never_seen() -> None:
    script = insured("Ad ??", "")
    check(
        script.replace("peek none", "peek blackjack"),
        f"complete\n {PAID}\n 1 bet 1000 lose -1000 665a.7(o)(1)(ii)(A)",
    )
    assert LOST in text(ruling(script, GAME))
    # A card that is turned and not read is no other than the one that was dealt.
    dealt = insured("Ad Kh").replace("peek blackjack", "peek none")
    assert PAID in text(ruling(dealt.replace("show dealer 1 Kh", "show dealer 1 ??"), GAME))


def test_665a_8_a_the_reader_tells_of_a_first_card_that_the_shoe_did_not_read() -> None:
    script = insured("Ad ??", "").replace("deal dealer up Ad", "deal dealer up ??")
    found = text(ruling(script.replace("peek none", "peek blackjack") + "\ndone", GAME))
    assert found[:3] == lines(f"""
        complete
        {PAID}
        1 bet 1000 lose -1000 665a.7(o)(1)(ii)(A)
    """)
    assert "step_missing" not in " ".join(found)
    assert LOST in text(ruling(script.replace("show", "decide 1 stand\nshow"), GAME))


@pytest.mark.parametrize(
    ("up", "read", "failed"),
    [("Ad", "", ""), ("Ad", "", "call card_reader_failed"), ("??", "", "")],
)
def test_665a_8_insurance_stays_open_where_neither_a_reading_nor_the_hole_card_is_known(
    up: str, read: str, failed: str
) -> None:
    script = insured("Ad ??").replace("up Ad", f"up {up}")
    script = script.replace("peek none", read or failed) + "\ndone"
    found = text(ruling(script, GAME))
    assert found[0] == "awaiting"
    assert not [line for line in found if line.startswith("1 insurance")]
    # Nor is there a finding that it is to be collected, or was not.
    assert not [line for line in found if line.startswith(("! not_collected", "! underpaid"))]


def test_665a_8_where_a_card_was_lost_insurance_goes_by_the_reader_alone() -> None:
    """The first card is lost: 5 and king, which the record has, are the dealer's second and third.

    He may have drawn the king to an ace and a 5: nothing on record shows it.
    """
    script = insured("Ad 5h Kd Qc").replace("show dealer 1 5h\n", "")
    script = script.replace("deal dealer up Ad", "burn 3c | by shoe seq 1")
    script = script.replace("deal dealer 5h", "deal dealer 5h | by shoe seq 3") + "\ndone"
    assert LOST in text(ruling(script, GAME))
    found = text(ruling(script.replace("peek none\n", ""), GAME))
    assert found[0] == "awaiting"
    assert not [line for line in found if line.startswith("1 ")]


def test_665a_13_i_a_reader_that_failed_leaves_the_blackjack_to_be_seen() -> None:
    """No further card may be dealt where the dealer has a Blackjack: 7(g)."""
    script = insured("Ad Kh", "").replace("peek blackjack", "call card_reader_failed")
    check(script, f"complete\n {PAID}\n 1 bet 1000 lose -1000 665a.7(o)(1)(ii)(A)")
    other = script.replace("Kh", "9h").replace("show", "decide 1 stand\nshow")
    found = text(ruling(other, GAME))
    assert found == ["complete", LOST, "1 bet 1000 lose -1000 665a.7(o)(1)(ii)(C)"]


@pytest.mark.parametrize(("bet", "cents", "wrong"), [(1001, 502, False), (1001, 504, True)])
def test_665a_8_b_the_next_chip_is_of_the_smallest_unit_that_is_filed(
    bet: int,
    cents: int,
    wrong: bool,  # noqa: FBT001 - a column of the table above
) -> None:
    script = round_of("Ad 9h", "Kc 9s", bets=f"bet {bet}", moves="decide 1 stand")
    script = script.replace("peek", f"1 insurance {cents}\npeek")
    found = text(ruling(script, GAME, filed={"unit": 2}))
    assert ("! wager_not_permitted 1 insurance 665a.8(b)" in found) is wrong


def test_665a_8_b_insurance_that_came_late_and_went_whole_leaves_no_wager_of_nothing() -> None:
    script = round_of("Ad Kh", "Kc 9s", "")
    script = script.replace("peek blackjack", "peek blackjack\n1 insurance 500")
    found = text(ruling(script + "\nback 1 insurance 500\ntake 1 bet 1000\ndone", GAME))
    assert [line for line in found if line.startswith("1 insurance")] == [
        "1 insurance 500 void +0 665a.8(b)"
    ]


def test_665a_7_g_8_a_the_words_of_insurance_and_of_a_reading_that_is_not_what_is_seen() -> None:
    script = round_of("Kd Ah", "Kc 9s", "").replace("peek blackjack", "1 insurance 400\npeek none")
    assert [each.says for each in ruling(script, GAME).findings][:2] == [
        (
            "Position 1's Insurance Wager is not permitted: the dealer's first card is no ace "
            "(665a.8(a))."
        ),
        "The hole card was read as none; as seen it is blackjack (665a.7(g)).",
    ]


# -- the hole card and the draw (.7(l)-(n)) ------------------------------------------------------


def test_665a_7_e_f_the_dealers_first_card_and_all_that_he_draws_come_face_up_one_by_one() -> None:
    script = round_of("6d 2h 3c Kd", "Kc 9s", "decide 1 stand")
    dealt = [step for step in asked(script, GAME) if step.fact == "cards_dealt"]
    assert [(step.to, step.face, step.cards) for step in dealt] == [
        ("dealer", "up", 1),
        ("player", "up", 1),
        ("player", "up", 1),
        ("dealer", "down", 1),
        ("dealer", "up", 1),
        ("dealer", "up", 1),
    ]


def test_665a_7_e_a_round_without_a_card_of_the_dealer_settles_nothing() -> None:
    script = "start manual_shoe\n1 bet 1000\ndeal 1 up Kc\ndeal 1 up 9s\ndecide 1 stand\n"
    assert text(ruling(script + "done", GAME)) == lines("""
        awaiting
        ! step_missing cards_dealt / None 665a.7(e)
        ! step_missing cards_turned / None 665a.7(l)
        > wager_paid position 1 bet 665a.7(o)(1)
    """)


def test_665a_7_g_a_dealers_blackjack_is_turned_before_anything_is_settled() -> None:
    cut = round_of("Kd Ah", "Kc 9s", "").partition("show")[0]
    assert text(ruling(cut, GAME)) == ["awaiting", "> cards_turned dealer 665a.7(g)"]
    closed = text(ruling(cut + "take 1 bet 1000\ndone", GAME))
    assert closed == lines("""
        complete
        1 bet 1000 lose -1000 665a.7(o)(1)(ii)(A)
        ! step_missing cards_turned / None 665a.7(g)
    """)


def test_665a_7_n_a_dealer_who_does_not_draw_on_16_leaves_what_is_owed_open() -> None:
    """A card more may make it 17 to 21 or more than 21: nobody can say who wins."""
    script = round_of("9d 7h", "Kc 9s", "decide 1 stand")
    assert text(ruling(script, GAME)) == ["awaiting", "> cards_dealt dealer 665a.7(m)(2)"]
    assert text(ruling(script + "\npay 1 bet 1000\ndone", GAME)) == lines("""
        awaiting
        ! step_missing cards_dealt / None 665a.7(m)(2)
        > wager_paid position 1 bet 665a.7(o)(1)
    """)


def test_665a_7_l_a_hole_card_turned_though_no_wager_goes_by_it_is_held_to_the_shoe() -> None:
    bust = round_of("6d Qh", "Kc 6s", "decide 1 hit, deal 1 up 9c")
    lost = "1 bet 1000 lose -1000 665a.7(o)(1)(ii)(B)"
    seen = bust.replace("show dealer 1 Qh", "show dealer 1 Jh")
    check(seen, f"complete\n {lost}\n ! card_mismatch Qh / Jh 665a.7(l)")
    steps = asked(bust.partition("show")[0], GAME)
    turned = [each for each in steps if each.fact == "cards_turned"]
    assert [(each.to, each.at) for each in turned] == [("dealer", (1,))]
    over = bust + "\ndeal dealer up 8c"
    check(over, f"complete\n {lost} [both_bust lose]")


def test_665a_7_g_l_with_nobody_left_in_play_the_dealers_cards_are_held_to_the_record() -> None:
    bust = round_of("6d Qh", "Kc 6s", "decide 1 hit, deal 1 up 9c")
    lost = "complete\n 1 bet 1000 lose -1000 665a.7(o)(1)(ii)(B)"
    drawn = bust + "\ndeal dealer up 8c"
    check(drawn + "\nshow dealer 2 9c", f"{lost} [both_bust lose]\n ! card_mismatch None / 9c")
    check(drawn + "\nshow dealer 6d Qh 8c", f"{lost} [both_bust lose]")
    check(drawn + "\ndeal dealer up 2c", f"{lost} [both_bust lose]\n ! misdeal")
    # A first card of 9 with the hole card stands, whether that was turned or not.
    stands = bust.replace("up 6d", "up 9d")
    check(stands + "\ndeal dealer up 8c", f"{lost}\n ! misdeal")
    down = stands.partition("show dealer")[0]
    check(down + "\ndeal dealer up 8c", f"{lost}\n ! misdeal")
    # The card reader is held to the hole card that the shoe dealt.
    read = round_of("Ad Qh", "Kc 6s", "decide 1 hit, deal 1 up 9c").partition("show dealer")[0]
    check(
        read.replace("peek blackjack", "peek none"),
        """
        complete
        1 bet 1000 lose -1000 665a.7(o)(1)(ii)(A)
        ! card_mismatch blackjack / none 665a.7(g)
        """,
    )


def test_665a_3_a_a_10_drawn_beside_a_hole_card_that_is_not_known_is_found() -> None:
    script = round_of("9d ??", "Kc 9s", "decide 1 stand") + "\ndeal dealer up Td\ndone"
    found = text(ruling(script, GAME))
    assert found[0] == "awaiting"
    assert "! impossible_card None / Td" in found


def test_665a_13_d_the_words_of_cards_that_the_dealer_drew_too_many() -> None:
    script = round_of("9d 7h", "Kc 9s", "decide 1 stand") + "\ndeal dealer up 4c 2c 3c"
    found = ruling(script, GAME).findings[0]
    assert found.says == "The dealer drew 2c, 3c though he had to stand (665a.13(d))."
    assert (found.code, found.recorded) == ("misdeal", "2c 3c")


# -- who is dealt in (.6, .7(e), .13(f)) ---------------------------------------------------------


def test_665a_7_f_1_cards_are_dealt_to_a_bet_alone_so_one_that_was_lost_was_there() -> None:
    script = """
        start manual_shoe
        1 bet 1000 | by rack seq 1
        2 bet 700  | by rack seq {}
        deal dealer up 9d
        deal 1 up Kc
        deal 2 up Kd
        deal 1 up 9s
        deal 2 up 9h
        deal dealer 8h
        decide 1 stand
        decide 2 stand
        show dealer 1 8h
        pay 2 bet 700
        pay 1 bet 1000
        stack 1 0  | by rack seq 3
        done
    """
    first = f"1 bet 1000 win +1000 665a.{WIN}"
    whole = text(ruling(script.format(2), GAME))
    assert whole == ["complete", f"2 bet 700 win +700 665a.{WIN}", first]
    lost = [line for line in script.splitlines() if "2 bet 700  |" not in line]
    assert text(ruling("\n".join(lost), GAME)) == lines(f"""
        awaiting
        {first}
        ! fact_missing 1 more / 1, then 3
        > wager_placed position 2 bet 665a.6(d)
    """)


def test_665a_13_f_who_was_dealt_one_card_gets_a_second_or_his_hand_is_dead() -> None:
    opening = "start manual_shoe\n1 bet 1000\ndeal dealer up 9d\ndeal 1 up Kc\n"
    opening += "call one_card_dealt 1\ndecide 1 stand\n"
    assert "! decision_not_permitted 1 second_card, dead_hand / stand 665a.13(f)" in text(
        ruling(opening, GAME)
    )


def test_665a_6_the_words_of_a_bet_that_is_missing_or_on_a_box_too_far() -> None:
    script = "start manual_shoe\n1 bust_it 500\n2 bet 1000\n4 bet 1000\ndeal dealer up 9d\n"
    assert [each.says for each in ruling(script, GAME, seats=((2, 4),)).findings] == [
        "Position 1's Bust It Wager is not permitted: it stands without Bet (665a.6(d)).",
        (
            "Position 4's Bet is not permitted: its player may wager on 6 adjacent boxes, "
            "starting at 2 (665a.6(g))."
        ),
    ]


def test_665a_7_e_a_double_attack_taken_back_before_the_dealers_first_card_was_there_once() -> None:
    early = round_of("9d 8h", "Kc 9s", "decide 1 stand").replace(
        "deal dealer up 9d",
        "1 double_attack 600 | id da\nwithdraw 1 double_attack 600\ndeal dealer up 9d | id up",
    )
    found = ruling(early, GAME).findings
    assert [(each.code, [fact.id for fact in each.facts]) for each in found] == [
        ("wager_not_permitted", ["da", "up"])
    ]
    near = early.replace("withdraw 1 double_attack 600\n", "")
    near = near.replace("| id da", "| id da at 5").replace("| id up", "| by shoe id up at 5.1")
    only = ruling(near, GAME).findings[0]
    assert (only.code, [fact.id for fact in only.facts]) == ("order_uncertain", ["da", "up"])
    assert only.says == (
        "Position 1's Double Attack Wager may be before the card that opens it: clocks "
        "agree to 250 ms (665a.7(e))."
    )


def test_665a_7_e_double_attacks_told_by_a_clock_five_seconds_behind_are_in_time() -> None:
    seats = (1, 2, 3, 4)
    cut = "start manual_shoe | at 0.5\n"
    cut += "".join(f"{seat} bet 1000 | at {seat}\n" for seat in seats)
    cut += "".join(f"{seat} double_attack 500 | by rack at {15 + seat}\n" for seat in seats)
    cut += "deal dealer up 9d | at 20\n"
    cut += "".join(f"deal {seat} up Kc | at {29 + seat}\n" for seat in seats)
    assert text(ruling(cut, GAME)) == lines("""
        awaiting
        ! clock_skewed None / -7500 ms
        > cards_dealt position 1 665a.7(f)(2)
    """)
