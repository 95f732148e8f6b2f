"""Blackjack, 633a.7(h) and 633a.8: what the hole card seen, and the card reader, make of wagers."""

from __future__ import annotations

import pytest

from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.spy import asked
from tests.unit.games.twenty_one import check, round_of

GAME = "blackjack"
PAID = "1 insurance 400 win +800 633a.8 Insurance, 2 to 1"
LOST = "1 insurance 400 lose -400 633a.8"


def test_633a_8_insurance_wins_by_a_10_seen_later_though_the_reader_told_of_none() -> None:
    script = round_of("Ad ??", "Kc 9s", before="1 insurance 400")
    check(
        script.replace("show dealer 1 ??", "show dealer 1 Th"),
        f"""
        complete
        {PAID}
        1 blackjack 1000 lose -1000 633a.7(p)
        ! card_mismatch blackjack / none 633a.7(h)
        """,
        GAME,
    )
    assert LOST in text(ruling(script, GAME))


def test_633a_8_the_reader_tells_of_a_first_card_that_the_shoe_did_not_read() -> None:
    script = round_of("Ad ??", "Kc 9s", "", before="1 insurance 400")
    script = script.replace("up Ad", "up ??").replace("peek none", "peek blackjack")
    lost = "1 blackjack 1000 lose -1000 633a.7(p)"
    check(script, f"complete\n {PAID}\n {lost}", GAME)
    # No reading, no card seen: nobody can say.
    found = text(ruling(script.replace("peek blackjack\n", "") + "\ndone", GAME))
    assert found[0] == "awaiting"
    assert not [line for line in found if line.startswith("1 insurance")]


def test_633a_8_even_money_taken_tells_of_an_ace_that_the_shoe_did_not_read() -> None:
    script = round_of("Ad 9h", "Kc As", "", before="decide 1 even_money")
    paid = "complete\n 1 blackjack 1000 win +1000 633a.8 Even money, 1 to 1"
    check(script.replace("up Ad", "up ??"), paid, GAME)
    found = text(ruling(script.replace("up Ad", "up 9d").replace("peek none\n", ""), GAME))
    assert found[1] == "1 blackjack 1000 win +1500 633a.13(a) Blackjack, 3 to 2"


def test_633a_7_h_a_reader_that_is_not_on_record_tells_nothing_by_another_holders_card() -> None:
    script = round_of("Kd ??", "Kc 9s", "").replace("peek none\n", "")
    # Position 1 shows an ace as its second card once the dealer has turned a 9.
    turned = "decide 1 stand\nshow dealer 1 9h\nshow 1 1 Ah"
    found = text(ruling(script.replace("show dealer 1 ??", turned), GAME))
    assert found == lines("""
        complete
        1 blackjack 1000 push +0 633a.7(p)
        ! step_missing hole_card_checked / None 633a.7(h)
        ! card_mismatch 1 None / Ah
    """)


# -- what a hand may do, by what is known of it ---------------------------------------------------


def test_633a_8_where_a_card_was_lost_even_money_taken_is_neither_settled_nor_found() -> None:
    script = "start\n1 blackjack 1000\nburn 3d | by shoe seq 1\ndeal 1 up Kc\ndeal dealer up Ad\n"
    script += "deal 1 up As\ndeal dealer 8h | by shoe seq {}\ndecide 1 even_money\npeek none\n"
    whole = text(ruling(script.format(2) + "pay 1 blackjack 1000\ndone", GAME))
    assert whole == lines("""
        complete
        1 blackjack 1000 win +1000 633a.8 Even money, 1 to 1
    """)
    assert text(ruling(script.format(3) + "done", GAME)) == lines("""
        awaiting
        ! fact_missing 1 more / 1, then 3
        > wager_paid position 1 blackjack 633a.7(p)
    """)


def test_633a_7_a_card_that_was_not_dealt_comes_late_and_the_hand_plays_on() -> None:
    script = round_of(
        "9d 8h", "Kc 2h", "decide 1 hit, call requested_card_not_dealt 1, deal 1 up 8c"
    )
    won = "complete\n 1 blackjack 1000 win +1000 633a.13(a) Win, 1 to 1"
    check(script.replace("show", "decide 1 stand\nshow"), won, GAME)
    check(script.replace("up 8c", "up 9c"), won, GAME)


def test_633a_7_a_call_that_names_nobody_is_of_the_first_hand_that_asks_and_of_no_other() -> None:
    script = "start\n1 blackjack 1000\n2 blackjack 700\ndeal 1 up Kc\ndeal 2 up Kd\n"
    script += "deal dealer up 9d\ndeal 1 up 2h\ndeal 2 up 3h\ndeal dealer 8h\ndecide 1 hit\n"
    script += "call requested_card_not_dealt\ndecide 2 hit\ndeal 2 up 6c\ndecide 2 stand\n"
    # No section says when it is made good: before the next position plays.
    late = script.replace("decide 2 hit\n", "deal 1 up 8c\ndecide 1 stand\ndecide 2 hit\n")
    check(
        late + "show dealer 1 8h",
        """
        complete
        2 blackjack  700 win  +700 633a.13(a) Win, 1 to 1
        1 blackjack 1000 win +1000 633a.13(a) Win, 1 to 1
        """,
        GAME,
    )


def test_633a_10_who_stands_after_a_double_has_not_given_up_his_hand() -> None:
    for game in (GAME, "spanish_21"):
        does = "decide 1 double_down, 1 double_down 1000, deal 1 up 7h, decide 1 stand"
        found = text(ruling(round_of("9d 8h", "5c 6s", does, f"{game} 1000"), game))
        assert found[1].startswith(f"1 {game} 1000 win +1000")
        assert found[2].startswith("1 double_down 1000 win +1000")
        assert not found[3:]


def test_633a_11_an_ace_split_off_that_gets_an_ace_is_split_again_or_stands() -> None:
    again = {"filed": {"options": {"resplit_aces": True}}}
    does = "decide 1 split, 1 split 1000 hand 2, deal 1 up Ah, decide 1 {}, deal 1.2 up 9d"
    stands = text(ruling(round_of("9d 8h", "Ac As", does.format("stand")), GAME, **again))  # type: ignore[arg-type]
    assert not [line for line in stands if line.startswith("!")]
    hits = text(ruling(round_of("9d 8h", "Ac As", does.format("hit")), GAME, **again))  # type: ignore[arg-type]
    assert "! decision_not_permitted 1 stand, split / hit 633a.7" in hits


def test_633a_7_where_a_card_was_lost_a_hand_may_decide_whatever_the_game_knows() -> None:
    for game, known in ((GAME, "surrender"), ("spanish_21", "surrender, rescue")):
        script = f"start\n1 {game} 1000\nburn 3d | by shoe seq 1\ndeal 1 up Kc\n"
        script += "deal dealer up 9d\ndeal 1 up 2s\ndeal dealer 8h | by shoe seq 3\n"
        found = text(ruling(script + "decide 1 press 500\n", game))
        every = f"hit, stand, double_down, split, {known}, refuse_card"
        assert f"! decision_not_permitted 1 {every} / press 633a.7" in found


def test_633a_10_11_what_a_double_and_a_split_cost_is_the_wager() -> None:
    script = round_of("9d 8h", "8c 8s", "").partition("show")[0]
    step = asked(script, GAME)[-1]
    assert (step.fact, step.costs) == ("decision_made", {"double_down": 1000, "split": 1000})


@pytest.mark.parametrize(
    ("chips", "does"),
    [
        (
            "1 split 1000 hand 2",
            "decide 1 split, {}, deal 1 up Kc, decide 1 stand, deal 1.2 up Kd, decide 1.2 stand",
        ),
        ("1 double_down 1000", "decide 1 double_down, {}, deal 1 up 2c"),
    ],
)
def test_633a_10_11_chips_beside_a_wager_that_was_lost_are_held_to_nothing(
    chips: str, does: str
) -> None:
    script = round_of("9d 8h", "8c 8s", does.format(chips))
    script = script.replace(
        "1 blackjack 1000", "burn 3c | by shoe seq 1\nstack 1 0 | by rack seq 1"
    )
    found = text(ruling(script + "\nstack 1 0 | by rack seq 3\ndone", GAME))
    assert found[0] == "awaiting"
    assert [line for line in found if line.startswith("!")] == ["! fact_missing 1 more / 1, then 3"]


def test_633a_7_11_split_aces_and_a_hand_that_refused_a_card_are_not_surrendered() -> None:
    aces = "decide 1 split, 1 split 1000 hand 2, deal 1 up 9h, decide 1 surrender, deal 1.2 up 9d"
    check(
        round_of("9d 8h", "Ac As", aces),
        """
        complete
        1.2 split   1000 win +1000 633a.13(a) Win, 1 to 1
        1 blackjack 1000 win +1000 633a.13(a) Win, 1 to 1
        ! out_of_turn 1
        """,
        GAME,
    )
    refused = "call card_drawn_exposed 9c, decide 1 refuse_card, decide 1 surrender"
    lost = "complete\n 1 blackjack 1000 lose -1000 633a.7(p)\n ! out_of_turn 1"
    check(round_of("9d 8h", "8c 3s", refused), lost, GAME)


def test_633a_7_a_hand_with_a_card_not_known_may_be_a_blackjack_and_need_decide_nothing() -> None:
    script = round_of("9d 8h", "Kc ??", "") + "\ndone"
    waits = "> wager_paid position 1 blackjack 633a.7(p)"
    assert text(ruling(script, GAME)) == ["awaiting", waits]
    # A card more was asked for, and nothing on record says so.
    script = round_of("9d 8h", "2c ??", "deal 1 up 5c") + "\ndone"
    missing = "! step_missing 1 decision_made / None 633a.7"
    assert text(ruling(script, GAME)) == ["awaiting", missing, waits]


@pytest.mark.parametrize(
    ("before", "wrong"),
    [("deal 1 up Kc", 1), ("deal 1 up 9s", 1), ("deal dealer 8h", 1), ("peek", 0)],
)
def test_633a_8_insurance_is_placed_once_the_deal_is_done(before: str, wrong: int) -> None:
    script = round_of("Ad 8h", "Kc 9s").replace(before, f"1 insurance 400\n{before}", 1)
    ruled = ruling(script, GAME)
    told = [each.says for each in ruled.findings if each.code == "wager_not_permitted"]
    assert all(
        "before the card that opens it (" in says or says.endswith("opens it.") for says in told
    ), told
    found = text(ruled)
    assert found.count("! wager_not_permitted 1 insurance 633a.8") == wrong
    assert "1 insurance 400 lose -400 633a.8" in found


def test_633a_8_what_is_done_between_the_deal_and_the_reading_opens_no_insurance() -> None:
    bets = "blackjack 1000 house_money 500"
    after = "1 insurance 400, take 1 house_money 500"
    found = text(ruling(round_of("Ad 8h", "Kc 9s", bets=bets, before=after), GAME))
    assert "1 insurance 400 lose -400 633a.8" in found
    assert not [line for line in found if line.startswith("!")]


def test_633a_7_p_a_blackjack_that_was_read_is_settled_before_the_hole_card_is_turned() -> None:
    script = round_of("Td Ah", "9c 9d", "").replace(
        "show dealer", "take 1 blackjack 1000\nshow dealer"
    )
    assert text(ruling(script + "\ndone", GAME)) == [
        "complete",
        "1 blackjack 1000 lose -1000 633a.7(p)",
    ]
    early = script.replace("take 1 blackjack 1000\n", "").replace(
        "peek", "take 1 blackjack 1000\npeek"
    )
    found = text(ruling(early + "\ndone", GAME))
    assert found[2:] == ["! out_of_turn 1 blackjack 633a.7(p)"]
