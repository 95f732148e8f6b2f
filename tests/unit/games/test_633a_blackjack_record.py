"""Blackjack and Spanish 21 on records that are cut, lossy or wrong, ruled by hand."""

from __future__ import annotations

import pytest

from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.twenty_one import check, round_of

GAME = "blackjack"
BOTH = ("blackjack", "spanish_21")
WIN = "13(a) Win, 1 to 1"


def test_633a_8_who_takes_no_even_money_is_paid_3_to_2_or_ties() -> None:
    paid = "complete\n 1 blackjack 1000 win +1500 633a.13(a) Blackjack, 3 to 2"
    check(round_of("Ad 9h", "Kc As", ""), paid, GAME)
    check(round_of("Ad Kh", "Kc As", ""), "complete\n 1 blackjack 1000 push +0 633a.7(p)", GAME)


def test_633a_7_a_dead_hand_gives_back_its_wagers() -> None:
    script = round_of("9d 8h", "5c 2s", "decide 1 hit, decide 1 dead_hand")
    check(script, "complete\n 1 blackjack 1000 void +0 633a.7", GAME)


@pytest.mark.parametrize(
    "does",
    [
        "decide 1 dead_hand",
        "decide 1 hit, deal 1 up 4c, decide 1 dead_hand",
        "decide 1 hit, deal 1 up 4c Kc, decide 1 dead_hand",
        "decide 1 hit, decide 1 dead_hand",
    ],
)
def test_633a_7_a_hand_is_called_dead_at_any_point_of_its_play(does: str) -> None:
    for game in BOTH:
        script = round_of("9d 8h", "5c 2s", does, f"{game} 1000")
        check(script, f"complete\n 1 {game} 1000 void +0 633a.7", game)


def test_633a_7_each_hand_of_a_split_may_be_called_dead() -> None:
    does = "decide 1 split, 1 split 1000 hand 2, deal 1 up 3c, decide 1 dead_hand"
    does += ", deal 1.2 up Kd, decide 1.2 stand"
    won = f"1.2 split 1000 win +1000 633a.{WIN}"
    check(
        round_of("9d 7h Kd", "8c 8s", does),
        f"complete\n 1 blackjack 1000 void +0 633a.7\n {won}",
        GAME,
    )


@pytest.mark.parametrize("game", BOTH)
def test_633a_7_a_hand_without_its_cards_is_dead_or_gets_the_second_after_the_others(
    game: str,
) -> None:
    start = f"start manual_shoe\n1 {game} 1000\n2 {game} 700\n"
    rest = "deal dealer 8h\n{}decide 2 stand\nshow dealer 1 8h\n"
    other = f"2 {game} 700 win +700 633a.{WIN}"
    none = start + "{}deal 2 up Kc\ndeal dealer up 9d\ndeal 2 up 9s\n" + rest.format("")
    void = f"1 {game} 1000 void +0 633a.7"
    for called in ("call no_card_dealt 1\n", "decide 1 dead_hand\n"):
        check(none.format(called), f"complete\n {void}\n {other}", game)
    one = start + "deal 1 up Kd\ndeal 2 up Kc\ndeal dealer up 9d\ncall one_card_dealt 1\n"
    one += "deal 2 up 9s\ndecide 1 {}\n"
    dead = one.format("dead_hand") + rest.format("")
    check(dead, f"complete\n {void}\n {other}", game)
    assert text(ruling(one.format("second_card"), game), following=True)[-1] == (
        "> cards_dealt position 1 633a.7"
    )
    late = one.format("second_card") + "deal 1 up 9c\n" + rest.format("decide 1 stand\n")
    won = f"1 {game} 1000 win +1000 633a.{WIN}"
    check(late, f"complete\n {other}\n {won}", game)


def test_633a_7_the_optional_wagers_of_a_hand_without_cards_go_back_too() -> None:
    bets = "blackjack 1000 house_money 500 straight_jack 500"
    script = round_of("9d 8h", "Kc 2s", "", bets).replace("deal 1 up Kc", "decide 1 dead_hand")
    check(
        script.replace("deal 1 up 2s\n", ""),
        """
        complete
        1 blackjack 1000 void +0 633a.7
        1 straight_jack 500 void +0 633a.7
        1 house_money 500 void +0 633a.7
        """,
        GAME,
    )


@pytest.mark.parametrize("does", ["{}, {}", "decide 1 hit, {}, {}", "{}, decide 1 hit, {}"])
def test_633a_7_an_exposed_card_may_be_refused_and_the_hand_stands(does: str) -> None:
    moves = does.format("call card_drawn_exposed 9c", "decide 1 refuse_card")
    for game in BOTH:
        lost = f"complete\n 1 {game} 1000 lose -1000 633a.7(p)"
        check(round_of("9d 8h", "8c 3s", moves, f"{game} 1000"), lost, game)


def test_633a_7_where_no_card_was_exposed_there_is_none_to_refuse() -> None:
    for game in BOTH:
        script = round_of("9d 8h", "8c 3s", "decide 1 refuse_card", f"{game} 1000")
        found = [line for line in text(ruling(script, game)) if line.startswith("!")]
        assert [line.split()[1] for line in found] == ["decision_not_permitted"]


def test_633a_7_h_a_blackjack_that_was_read_and_is_not_seen_settles_the_round() -> None:
    script = round_of("Kd ??", "Kc 9s", "").replace("peek none", "peek blackjack")
    check(script, "complete\n 1 blackjack 1000 lose -1000 633a.7(p)", GAME)


def test_633a_7_a_card_the_dealer_drew_at_17_is_none_of_his() -> None:
    stack = round_of("9d 7h", "Kc 9s") + "\ndeal dealer up 4c 2c"
    lost = "complete\n 1 blackjack 1000 lose -1000 633a.7(p)"
    check(stack, lost + "\n ! misdeal None / 2c 633a.7", GAME)


def test_633a_7_a_lost_reading_is_made_up_for_by_the_card_that_is_seen() -> None:
    script = round_of("Kd ??", "Kc 9s", "").replace("peek none\n", "")
    seen = script.replace("show dealer 1 ??", "show dealer 1 Ah")
    assert text(ruling(seen, GAME)) == lines("""
        complete
        1 blackjack 1000 lose -1000 633a.7(p)
        ! step_missing hole_card_checked / None 633a.7(h)
    """)
    script = script.replace("show dealer 1 ??", "decide 1 stand\nshow dealer 1 8h")
    assert f"1 blackjack 1000 win +1000 633a.{WIN}" in text(ruling(script, GAME))


@pytest.mark.parametrize("lost", ["deal 1 up Kc", "deal dealer up 9d", "deal 1 up 4d"])
def test_633a_7_where_a_card_was_lost_no_hand_is_settled_and_nothing_else_is_found(
    lost: str,
) -> None:
    script = round_of("9d 8h", "Kc 2s", "decide 1 hit, deal 1 up 4d, decide 1 stand")
    # The shoe counts its facts: a card burned before the deal, and one after it.
    numbered = []
    for line in script.replace("deal 1 up Kc", "burn 3c\ndeal 1 up Kc").splitlines():
        by_shoe = line.startswith(("deal", "burn"))
        count = sum("seq" in each for each in numbered)
        numbered.append(f"{line} | by shoe seq {count}" if by_shoe else line)
    numbered.append(f"burn 3d | by shoe seq {sum('seq' in each for each in numbered)}")
    over = ["take 1 blackjack 1000", "done"]
    assert text(ruling("\n".join([*numbered, *over]), GAME)) == [
        "complete",
        "1 blackjack 1000 lose -1000 633a.7(p)",
    ]
    kept = [line for line in numbered if not line.startswith(f"{lost} ")]
    found = text(ruling("\n".join([*kept, *over]), GAME))
    assert found[0] == "awaiting"
    assert [line.split()[1] for line in found if line.startswith("!")] == ["fact_missing"]


def test_633a_13_m_2_of_several_readings_of_a_meter_the_last_is_what_a_win_is_paid_from() -> None:
    six = "".join(f", decide 1 hit, deal 1 up {card}c" for card in "3456").removeprefix(", ")
    script = round_of("9d 8h", "Ad 2c", six, "blackjack 1000 straight_jack 500")
    read = "\nmeter read straight_jack 900000\nmeter read straight_jack 1000000"
    won = ruling(script + read, GAME).settlements[-1]
    assert (won.wager, won.net, won.paid_from) == ("straight_jack", 200000, "cage")


def test_633a_13_m_2_a_win_of_just_a_tenth_of_the_least_a_meter_shows_asks_for_it() -> None:
    four = "decide 1 hit, deal 1 up 6h, decide 1 hit, deal 1 up 3s, decide 1 stand"
    for stake, asked in ((999, False), (1000, True)):
        script = round_of("9d 8h", "4c 5d", four, f"blackjack 1000 straight_jack {stake}")
        step = text(ruling(script + "\npay 1 blackjack 1000", GAME), following=True)[-1]
        assert ("meter_read" in step) is asked


def test_633a_13_m_2_terms_that_are_no_numbers_are_none() -> None:
    terms = {"straight_jack": {"rate": "1/0", "reset": "much", "initial": None, "meter": 7}}
    six = ", ".join(f"decide 1 hit, deal 1 up {rank}c" for rank in "3456")
    script = round_of("9d 8h", "As 2c", six, "blackjack 1000 straight_jack 500")
    paid = "\nmeter read straight_jack 700000\npay 1 blackjack 1000\npay 1 straight_jack 800000"
    for progressives in (terms, {"straight_jack": "1/10"}, {}):
        filed = {"offers": ("straight_jack",), "progressives": progressives}
        found = text(ruling(f"{script}{paid} from cage", GAME, filed=filed), following=True)
        assert found[-1] == "> meter_reset dealer 500000 633a.13(m)(2)"


def test_633a_7_where_a_card_was_lost_no_optional_wager_is_settled() -> None:
    bets = "blackjack 1000 house_money 500 straight_jack 500"
    script = round_of("9d 8h", "8c 9c", bets=bets)
    script = script.replace(
        "deal 1 up 8c", "burn 3c | by shoe seq 1\ndeal 1 up 8c | by shoe seq {}"
    )
    whole = text(ruling(script.format(2) + "\ndone", GAME))
    assert "1 straight_jack 500 win +1500 633a.13(m)(1) Two-card straight, 3 to 1" in whole
    assert "1 house_money 500 win +2000 633a.13(n)(2) Two-card straight flush, 4 to 1" in whole
    found = text(ruling(script.format(3) + "\ndone", GAME))
    assert found[0] == "awaiting"
    assert not [line for line in found if line.startswith("1 ")]


@pytest.mark.parametrize("holder", ["dealer@1", "community@1", "banker_hand@1", "dealer@1.2"])
def test_633a_7_a_card_of_another_holder_at_a_position_is_none_of_its_players(holder: str) -> None:
    script = round_of("5h 9h", "7s 2h", "").partition("show dealer")[0]
    stray = script + f"deal {holder} up 2c\ndone"
    assert "! step_missing 1 decision_made / None 633a.7" in text(ruling(stray, GAME))
    # Beside a split it is no card of the hand that comes first either.
    does = "decide 1 split, 1 split 1000 hand 2, deal {} up 2c, deal 1 up 3c, decide 1 stand"
    split = round_of(
        "5h 9h Kd", "7s 7h", does.format(holder) + ", deal 1.2 up 4c, decide 1.2 stand"
    )
    found = text(ruling(split, GAME))
    assert "1.2 split 1000 win +1000 633a.13(a) Win, 1 to 1" in found
    assert not [line for line in found if line.startswith("! out_of_turn")]


def test_633a_7_a_record_of_nothing_but_hits_and_splits_comes_to_an_end() -> None:
    for does in ("decide 1 hit", "decide 1 split", "1 split 1000 hand 2", "deal 1.2 up 2c"):
        script = round_of("5h 9h", "7s 2h", ", ".join([does] * 60))
        assert text(ruling(script + "\ndone", GAME))[0] == "awaiting"
