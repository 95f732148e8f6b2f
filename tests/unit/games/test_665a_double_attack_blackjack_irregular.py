"""Double Attack Blackjack, 665a.13: irregularities ruled by hand; and facts that are lost."""

from __future__ import annotations

import pytest

from tests.unit.games.attack import (
    DEAL,
    DEALER,
    GAME,
    PAID,
    PLAYED,
    RETURNED,
    STAND,
    START,
    check,
    round_of,
)
from tests.unit.games.rounds import lines, ruling, text

WIN = "12(a) Bet and Double Attack Wager, 1 to 1"
ROUND = START + DEAL + STAND + DEALER + PAID


@pytest.mark.parametrize(
    "called",
    [
        "call card_face_up 7c\n burn 7c\n",
        "call card_face_up 7c\n call card_face_up 8h\n",
        "call card_drawn_unexposed\n",
        "call shuffler_failed\n",
        "call insufficient_cards\n burn ??\n",
        "call card_reader_failed\n",
    ],
)
def test_665a_13_a_b_e_i_j_play_goes_on(called: str) -> None:
    check(START + called + DEAL + STAND + DEALER + PAID, PLAYED)


def test_665a_13_i_a_card_reader_that_failed_is_not_waited_for() -> None:
    script = round_of("Kd 8h", "Kc 9s", "decide 1 stand").replace("peek none\n", "")
    assert "! step_missing hole_card_checked / None 665a.7(g)" in text(ruling(script, GAME))
    failed = script.replace("decide", "call card_reader_failed\n decide")
    check(failed, f"complete\n 1 bet 1000 win +1000 665a.{WIN}")


def test_665a_13_c_who_refuses_an_exposed_card_gets_no_more_cards() -> None:
    does = "call card_drawn_exposed 9c, decide 1 refuse_card"
    script = round_of("9d 8h", "Kc 6s", does)
    check(script, "complete\n 1 bet 1000 lose -1000 665a.7(o)(1)(ii)(C)")
    for more in ("decide 1 stand", "decide 1 surrender"):
        found = text(ruling(round_of("9d 8h", "Kc 6s", f"{does}, {more}"), GAME))
        assert not [line for line in found if line.startswith("!")]
    found = text(ruling(round_of("9d 8h", "Kc 6s", f"{does}, decide 1 hit, deal 1 up 2c"), GAME))
    assert "! out_of_turn 1" in found
    assert "! misdeal 1" in found
    # Without a card drawn in error there is nothing to refuse.
    found = text(ruling(round_of("9d 8h", "Kc 6s", "decide 1 refuse_card"), GAME))
    assert (
        "! decision_not_permitted 1 hit, stand, double_down, surrender / refuse_card 665a.7(h)(2)"
        in found
    )


@pytest.mark.parametrize(
    ("does", "left"),
    [
        ("hit, exposed, refuse", ""),
        ("exposed, hit, refuse, decide 1 stand", ""),
        ("hit, deal 1 up 2c, hit, exposed, refuse", ""),
        ("hit, exposed, deal 1 up 2c, refuse", ""),
        ("hit, exposed, refuse, deal 1 up 2c", "! misdeal 1"),
        (
            "decide 1 double_down, 1 double_down 400, exposed, refuse",
            "1 double_down 400 lose -400 665a.7(o)(1)(ii)(C)",
        ),
    ],
)
def test_665a_13_c_a_card_refused_after_it_was_asked_for_leaves_the_hand_as_it_is(
    does: str, left: str
) -> None:
    moves = does.replace("exposed", "call card_drawn_exposed").replace("hit", "decide 1 hit")
    script = round_of("9d 8h", "8c 3s", moves.replace("refuse", "decide 1 refuse_card"))
    lost = "1 bet 1000 lose -1000 665a.7(o)(1)(ii)(C)"
    found = text(ruling(script + "\ndone", GAME))
    assert found[0] == "complete"
    assert lost in found
    rest = [line for line in found[1:] if line != lost and not line.startswith("! not_collected")]
    assert rest == list(filter(None, [left]))


def test_665a_13_d_a_card_the_dealer_drew_at_17_goes_to_the_rack() -> None:
    won = f"complete\n 1 bet 1000 win +1000 665a.{WIN}"
    script = round_of("9d 8h", "Kc 9s", "decide 1 stand")
    check(script + "\ncall dealer_overdrew 5c\n", won)
    check(script + "\ndeal dealer up 4c\n call dealer_overdrew\n", won)
    check(script + "\ndeal dealer up 4c\n", won + "\n ! misdeal")
    # A third card and one too many, recorded as one stack: 9-7-4 stands at 20.
    script = round_of("9d 7h", "Kc 9s", "decide 1 stand") + "\ndeal dealer up 4c 2c\n"
    lost = "complete\n 1 bet 1000 lose -1000 665a.7(o)(1)(ii)(C)"
    check(script, lost + "\n ! misdeal None / 2c 665a.13(d)")
    check(script + "call dealer_overdrew\n", lost)


def test_665a_6_e_7_e_a_double_attack_wager_waits_for_the_dealers_first_card() -> None:
    script = round_of("9d 8h", "Kc 9s", "decide 1 stand", "bet 1000 / double_attack 600")
    early = script.replace("1 double_attack 600\n", "").replace(
        "deal dealer up 9d", "1 double_attack 600{}\ndeal dealer up 9d{}"
    )
    paid = f"1 bet 1000 win +1000 665a.{WIN}\n 1 double_attack 600 win +600 665a.{WIN}"
    check(script, f"complete\n {paid}")
    found = f"complete\n {paid}\n ! wager_not_permitted 1 double_attack 665a.7(e)"
    check(early.format("", ""), found)
    # By two clocks that are no further apart than they agree, nobody can say which came first.
    uncertain = found.replace("wager_not_permitted", "order_uncertain")
    check(early.format(" | at 5", " | by shoe at 5.1"), uncertain)
    # What of it came in time is as good as if it had been all.
    rest = early.format("", "\n1 double_attack 300").replace("attack 600", "attack 300")
    check(rest, found)
    # A first card that was lost is not the hole card that came after the wager.
    seen = script.replace("deal dealer up 9d", "burn 3c | by shoe seq 1")
    seen = text(ruling(seen.replace("dealer 8h", "dealer 8h | by shoe seq 3", 1), GAME))
    assert [line.split()[1] for line in seen if line.startswith("!")][:1] == ["fact_missing"]
    assert "! wager_not_permitted 1 double_attack 665a.7(e)" not in seen


def test_665a_13_f_a_bet_that_no_card_was_dealt_to_is_dead() -> None:
    script = START.replace("1 bet", "2 bet 700\n 2 bust_it 200\n 1 bet").replace(
        "1 double", "2 double_attack 300\n 1 double"
    )
    void = """
        2 bet           700 void +0 665a.13(f)
        2 double_attack 300 void +0 665a.13(f)
    """
    bust_it = "2 bust_it 200 win +1600 665a.12(c) Is an 8, 8 to 1"
    played = lines(PLAYED)
    expected = [played[0], *lines(void), bust_it, *played[1:]]
    for called in ("call no_card_dealt 2\n", "decide 2 dead_hand\n"):
        assert text(ruling(script + called + DEAL + STAND + DEALER, GAME)) == expected
    tardy = text(ruling(script + DEAL + "decide 2 dead_hand\n" + STAND + DEALER, GAME))
    assert tardy == [*expected, "! out_of_turn 2 665a.13(f)"]
    both = "call no_card_dealt 2\n decide 2 dead_hand\n"
    assert text(ruling(script + both + DEAL + STAND + DEALER, GAME)) == expected


def test_665a_13_f_one_card_dealt_brings_the_second_after_all_others_or_a_dead_hand() -> None:
    opening = (
        "start manual_shoe\n1 bet 1000\n2 bet 700\ndeal dealer up 9d\ndeal 1 up Kc\ndeal 2 up Kd\n"
    )
    opening += "call one_card_dealt 1\ndeal 2 up 9h\n"
    cut = text(ruling(opening, GAME), following=True)
    assert cut[-1] == "> decision_made position 1 665a.13(f)"
    late = opening + "decide 1 second_card\n"
    assert text(ruling(late, GAME), following=True)[-1] == "> cards_dealt position 1 665a.13(f)"
    rest = "deal dealer 8h\n{}decide 2 stand\nshow dealer 1 8h\n"
    check(
        late + "deal 1 up 9s\n" + rest.format("decide 1 stand\n"),
        f"""
        complete
        2 bet  700 win  +700 665a.{WIN}
        1 bet 1000 win +1000 665a.{WIN}
        """,
    )
    check(
        opening + "decide 1 dead_hand\n" + rest.format(""),
        f"""
        complete
        1 bet 1000 void   +0 665a.13(f)
        2 bet  700 win  +700 665a.{WIN}
        """,
    )


ASKED = "start manual_shoe\n1 bet 1000\n1 bust_it 500\n2 bet 700\ndeal dealer up 9d\n"
ASKED += "1 double_attack 600\ndeal 1 up Kc\ndeal 2 up Kd\n"
ASKED += "deal 1 up 2s\ndeal 2 up 9h\ndeal dealer 8h\ndecide 1 hit\n"
NOT_DEALT = "call requested_card_not_dealt 1\n"


def test_665a_13_g_a_card_asked_for_and_not_dealt_comes_after_the_others_or_the_hand_is_dead() -> (
    None
):
    others = ASKED + NOT_DEALT + "decide 2 stand\n"
    cut = text(ruling(others, GAME), following=True)
    assert cut[-1] == "> cards_dealt position 1 665a.13(g)"
    check(
        others + "deal 1 up 8c\ndecide 1 stand\nshow dealer 1 8h\n",
        f"""
        complete
        1 bust_it        500 lose  -500 665a.7(m)(1)
        2 bet            700 win   +700 665a.{WIN}
        1 bet           1000 win  +1000 665a.{WIN}
        1 double_attack  600 win   +600 665a.{WIN}
        """,
    )


def test_665a_13_g_a_dead_hand_gives_back_bet_and_double_attack_and_not_bust_it() -> None:
    dead = """
        complete
        1 bet           1000 void   +0 665a.13(g)
        1 double_attack  600 void   +0 665a.13(g)
        1 bust_it        500 lose -500 665a.7(m)(1)
        2 bet            700 win  +700 665a.12(a) Bet and Double Attack Wager, 1 to 1
    """
    for called in (NOT_DEALT, ""):
        check(ASKED + called + "decide 2 stand\ndecide 1 dead_hand\nshow dealer 1 8h\n", dead)


def test_665a_13_g_a_card_that_was_dealt_before_the_call_is_not_the_one_that_was_not() -> None:
    dealt = ASKED + "deal 1 up 3c\ndecide 1 hit\n" + NOT_DEALT + "decide 2 stand\n"
    found = text(ruling(dealt + "deal 1 up 5d\ndecide 1 stand\nshow dealer 1 8h\n", GAME))
    assert found[0] == "complete"
    assert not [line for line in found if line.startswith("!")]
    other = (
        ASKED + "deal 1 up 8c\ndecide 1 stand\ncall requested_card_not_dealt 2\ndecide 2 stand\n"
    )
    found = text(ruling(other + "show dealer 1 8h\n", GAME))
    assert not [line for line in found if line.startswith("!")]


def test_665a_13_h_a_misused_card_reader_voids_the_round_where_players_can_see_the_card() -> None:
    void = """
        void
        1 bet           1000 void +0 665a.13(h)(1)
        1 bust_it        500 void +0 665a.13(h)(1)
        1 double_attack  600 void +0 665a.13(h)(1)
    """
    for called in ("call card_reader_misused\n", "peek none\n"):
        misused = START + DEAL + called
        # As the floor called it, where no option says which reader is in use.
        check(misused + RETURNED + "void\n", void)
        check(misused + STAND + DEALER + PAID, PLAYED)
        shows = {"filed": {"options": {"card_reader": "shows"}, "offers": ("bust_it",)}}
        check(misused + RETURNED + "void\n", void, **shows)  # type: ignore[arg-type]
        found = text(ruling(misused + STAND + DEALER + PAID, GAME, **shows))  # type: ignore[arg-type]
        assert "! should_have_been_void 665a.13(h)(1)" in found
        hides = {"filed": {"options": {"card_reader": "hides"}, "offers": ("bust_it",)}}
        check(misused + STAND + DEALER + PAID, PLAYED, **hides)  # type: ignore[arg-type]
        found = text(ruling(misused + RETURNED + "void\n", GAME, **hides))  # type: ignore[arg-type]
        assert "! wrongly_voided" in found
    # An ace or a picture is what the reader is for.
    found = text(ruling(round_of("Kd 8h", "Kc 9s", "call card_reader_misused"), GAME, **shows))  # type: ignore[arg-type]
    assert found[0] == "complete"


def test_665a_3_a_a_10_is_no_card_of_these_decks_and_still_counts_10() -> None:
    script = round_of("9d 7h Td", "Kc 9s", "decide 1 stand", "bet 1000 bust_it 500")
    found = text(ruling(script, GAME))
    assert "1 bust_it 500 win +1500 665a.12(c) Is a king, queen or jack, 3 to 1" in found
    assert f"1 bet 1000 win +1000 665a.{WIN}" in found
    assert found[-1] == "! impossible_card None / Td"


def test_665a_3_a_eight_decks_hold_eight_of_each_card() -> None:
    script = round_of("2d 2d 2d 2d 2d 2d 2d 2d 3c", "Kc 9s", "decide 1 stand")
    assert not [line for line in text(ruling(script, GAME)) if line.startswith("!")]
    script = script.replace("deal 1 up Kc\ndeal 1 up 9s", "deal 1 up 2d\ndeal 1 up 2d")
    assert "! duplicate_card 1 None / 2d" in text(ruling(script, GAME))


# -- facts that are lost -------------------------------------------------------------------------


def test_665a_7_g_a_hole_card_read_wrongly_is_said_and_the_cards_rule() -> None:
    script = round_of("Kd 8h", "Kc 9s", "").replace("peek none", "peek blackjack")
    found = text(ruling(script + "\ndecide 1 stand", GAME))
    assert "! card_mismatch none / blackjack 665a.7(g)" in found
    assert f"1 bet 1000 win +1000 665a.{WIN}" in found


def test_665a_7_g_where_the_reading_is_lost_the_hole_card_seen_tells() -> None:
    script = round_of("Kd Ah", "Kc 9s", "").replace("peek blackjack\n", "")
    for known in (script, script.replace("deal dealer Ah", "deal dealer ??")):
        assert text(ruling(known, GAME)) == lines("""
            complete
            1 bet 1000 lose -1000 665a.7(o)(1)(ii)(A)
            ! step_missing hole_card_checked / None 665a.7(g)
        """)


def test_665a_7_h_a_decision_that_is_lost_is_seen_by_its_chips_and_cards() -> None:
    for does, what in (
        ("deal 1 up 4c, decide 1 stand", "bet 1000 lose"),
        ("1 double_down 1000, deal 1 up 9c", "double_down 1000 win"),
        ("1 split 1000 hand 2, deal 1 up 4c, decide 1 stand, deal 1.2 up 9d, decide 1.2 stand", ""),
        ("deal 1 up 4c, decide 1 stand, deal 1.2 up 9d, decide 1.2 stand", ""),
        ("show dealer 1 8h", "bet 1000 lose"),
    ):
        player = "5d 5s" if "1.2" in does or "double" in does else "Kc 2s"
        found = text(ruling(round_of("9d 8h", player, does) + "\ndone", GAME))
        assert "! step_missing 1 decision_made / None 665a.7(h)(2)" in found, does
        assert any(what in line for line in found)


def test_665a_7_o_a_card_that_is_not_known_leaves_its_wagers_open() -> None:
    for script in (
        round_of("9d 8h", "Kc ??", "decide 1 stand"),
        round_of("9d ??", "Kc 9s", "decide 1 stand"),
        round_of("9d 7h ??", "Kc 9s", "decide 1 stand"),
        round_of("9d 8h", "Kc 2s", "decide 1 hit, decide 1 stand"),
    ):
        found = text(ruling(script + "\ndone", GAME))
        assert found[0] == "awaiting", script
        assert "> wager_paid position 1 bet 665a.7(o)(1)" in found


def test_665a_7_m_a_bust_it_with_a_dealers_card_not_known_stays_open() -> None:
    for dealer in ("9d ??", "9d 7h ??", "9d 7h"):
        script = round_of(dealer, "Kc 9s", "decide 1 stand", "bet 1000 bust_it 500") + "\ndone"
        found = text(ruling(script, GAME))
        assert found[0] == "awaiting"
        assert not [line for line in found if line.startswith("1 bust_it")]


def test_665a_13_g_a_dead_hand_alone_needs_no_dealer() -> None:
    alone = "start manual_shoe\n1 bet 1000\ndeal dealer up 9d\ndeal 1 up Kc\ndeal 1 up 2s\n"
    alone += "deal dealer 8h\ndecide 1 hit\ndecide 1 dead_hand\nback 1 bet 1000\ndone"
    check(alone, "complete\n 1 bet 1000 void +0 665a.13(g)")


def test_665a_13_h_under_a_card_that_is_not_known_nothing_says_the_reader_was_misused() -> None:
    script = (
        START.replace("up 6d", "up ??") + DEAL + "call card_reader_misused\n" + RETURNED + "void"
    )
    assert "! wrongly_voided" in text(ruling(script, GAME))


def test_665a_7_g_a_blackjack_that_was_read_and_is_not_seen_settles_the_round() -> None:
    script = "start manual_shoe\n1 bet 1000\n2 bet 1000\ndeal dealer up Kd\ndeal 1 up Kc\n"
    script += "deal 2 up Ac\ndeal 1 up 9s\ndeal 2 up Ks\ndeal dealer ??\npeek blackjack\n"
    found = text(ruling(script + "show dealer 1 ??\ntake 1 bet 1000\nback 2 bet 1000\ndone", GAME))
    assert found == lines("""
        complete
        2 bet 1000 push    +0 665a.7(o)(1)(iii)
        1 bet 1000 lose -1000 665a.7(o)(1)(ii)(A)
    """)


def test_665a_7_where_a_card_was_lost_neither_a_hand_nor_a_bust_it_is_settled() -> None:
    script = START.replace("deal dealer", "burn 3c | by shoe seq 1\ndeal dealer")
    script += DEAL + "decide 1 hit\ndeal 1 up ??\n" + STAND + DEALER
    script = script.replace("deal dealer up 8c", "deal dealer up 8c | by shoe seq {}")
    whole = text(ruling(script.format(2) + "done", GAME))
    assert "1 bust_it 500 win +4000 665a.12(c) Is an 8, 8 to 1" in whole
    found = text(ruling(script.format(3) + "done", GAME))
    assert found[0] == "awaiting"
    assert not [line for line in found if line.startswith("1 ")]


def test_665a_10_a_chips_of_a_double_taken_back_and_never_placed_are_none() -> None:
    does = "withdraw 1 double_down 500, decide 1 double_down{}, deal 1 up 9h"
    never = "! wager_not_permitted 1 double_down 665a.10(a)"
    found = text(ruling(round_of("9d 8h", "Kc 2s", does.format("")) + "\ndone", GAME))
    assert found[0] == "awaiting"
    assert never in found
    assert "! step_missing 1 double_down wager_placed / None 665a.10(a)" in found
    assert not [line for line in found if line.startswith(("! out_of_turn", "1 double_down"))]
    # More taken back than lay there leaves none either, and is found.
    more = "decide 1 double_down, 1 double_down 1000, withdraw 1 double_down 1200, deal 1 up 9h"
    found = text(ruling(round_of("9d 8h", "Kc 2s", more), GAME))
    assert never in found
    assert not [line for line in found if line.startswith("1 double_down")]
