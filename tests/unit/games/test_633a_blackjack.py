"""Blackjack, Chapter 633a: the standard game, which the documents do not print, settled by hand."""

from __future__ import annotations

import pytest

from tests.unit.games.rounds import lines, ruling, text
from tests.unit.games.twenty_one import check, round_of

GAME = "blackjack"
WIN = "13(a) Win, 1 to 1"


SETTLED = """
    dealer      | player   | does                              | net   | section
    6d Qh 8c    | Kc 9s    | decide 1 stand                    | +1000 | 13(a) Win, 1 to 1
    9d 8h       | Kc 9s    | decide 1 stand                    | +1000 | 13(a) Win, 1 to 1
    9d 9h       | Kc 8s    | decide 1 stand                    | +0    | 7(p)
    9d 9h       | Kc 7s    | decide 1 stand                    | -1000 | 7(p)
    Td 8h       | Tc 9s    | decide 1 stand                    | +1000 | 13(a) Win, 1 to 1
    Ad 6h       | Kc 7s    | decide 1 stand                    | +0    | 7(p)
    6d 5h Tc    | 9c 5s    | decide 1 hit, deal 1 up 7s        | +0    | 7(p)
    6d 5h 6c    | Ac Ts    | -                                 | +1500 | 13(a) Blackjack, 3 to 2
    9d 5h 7c    | Kc As    | -                                 | +1500 | 13(a) Blackjack, 3 to 2
    Td Ah       | Ac Qs    | -                                 | +0    | 7(p)
    Ad Th       | Kc 9s    | -                                 | -1000 | 7(p)
    Jd Ah       | 9c 9s    | -                                 | -1000 | 7(p)
    Ad 5h       | Kc 6s    | decide 1 surrender                | -500  | 7
    9d 5h       | Kc 6s    | decide 1 surrender                | -500  | 7
    6d Qh 8c    | Kc 6s    | decide 1 hit, deal 1 up 9c        | -1000 | 7(p)
"""


@pytest.mark.parametrize("row", lines(SETTLED)[1:])
def test_633a_13_a_a_hand_wins_loses_or_ties(row: str) -> None:
    dealer, player, does, net, section = (part.strip() for part in row.split("|"))
    outcome = {"+": "win", "-": "lose"}[net[0]] if net != "+0" else "push"
    check(
        round_of(dealer, player, "" if does == "-" else does),
        f"complete\n 1 blackjack 1000 {outcome} {net} 633a.{section}",
        GAME,
    )


def test_633a_7_a_player_in_excess_of_21_loses_though_the_dealer_is_too_and_at_once() -> None:
    script = round_of("6d Qh 8c", "Kc 6s", "decide 1 hit, deal 1 up 9c").partition("show")[0]
    lost = "complete\n 1 blackjack 1000 lose -1000 633a.7(p)"
    check(script + "take 1 blackjack 1000\n done", lost, GAME)
    following = text(ruling(script, GAME), following=True)
    assert following[-1] == "> wager_collected position 1 blackjack 1000 633a.7(p)"
    turned = script + "take 1 blackjack 1000\n show dealer 1 Qh\n done"
    check(turned, lost, GAME)
    check(turned.replace("done", "deal dealer up 8c\n done"), lost, GAME)


def test_633a_8_insurance_pays_2_to_1_and_even_money_1_to_1() -> None:
    script = round_of("Ad Kh", "Kc 9s", "", before="1 insurance 500")
    check(
        script,
        """
        complete
        1 insurance  500 win +1000 633a.8 Insurance, 2 to 1
        1 blackjack 1000 lose -1000 633a.7(p)
        """,
        GAME,
    )
    lost = round_of("Ad 9h", "Kc Ks", before="1 insurance 500")
    assert text(ruling(lost, GAME))[1] == "1 insurance 500 lose -500 633a.8"
    too_much = round_of("Ad 9h", "Kc Ks", before="1 insurance 501")
    assert "! wager_not_permitted 1 insurance 633a.8" in text(ruling(too_much, GAME))
    for dealer in ("Ad Kh", "Ad 9h"):
        check(
            round_of(dealer, "Kc As", "", before="decide 1 even_money"),
            "complete\n 1 blackjack 1000 win +1000 633a.8 Even money, 1 to 1",
            GAME,
        )
    for dealer, player in (("Kd Ah", "Kc As"), ("Ad 9h", "Kc 9s")):
        found = text(ruling(round_of(dealer, player, "", before="decide 1 even_money"), GAME))
        assert [line for line in found if "even_money" in line or "out_of_turn" in line]


def test_633a_7_h_the_hole_card_is_read_under_an_ace_or_a_10() -> None:
    for up, next_ in (
        ("Ad", "hole_card_checked dealer 633a.7(h)"),
        ("Td", "hole_card_checked dealer 633a.7(h)"),
        ("Jd", "hole_card_checked dealer 633a.7(h)"),
        ("9d", "decision_made position 1 633a.7"),
    ):
        cut = f"start\n1 blackjack 1000\ndeal 1 up 2c 3c\ndeal dealer up {up}\ndeal dealer ??"
        assert text(ruling(cut, GAME), following=True)[-1] == f"> {next_}"


def test_633a_7_what_comes_next_in_the_deal_which_may_have_any_order() -> None:
    cut = "start\n"
    for fact, following in (
        ("", "wager_placed dealer blackjack 633a.6(e)"),
        ("1 blackjack 1000\n 2 blackjack 1000\n", "cards_dealt position 1 633a.7"),
        ("deal 1 up 2c\n", "cards_dealt position 2 633a.7"),
        ("deal 2 up 2d\n", "cards_dealt dealer 633a.7"),
        ("deal dealer up 9d\n", "cards_dealt position 1 633a.7"),
        ("deal 1 up 3c\n deal 2 up 3d\n", "cards_dealt dealer 633a.7"),
        ("deal dealer 7d\n", "decision_made position 1 633a.7"),
        ("decide 1 stand\n decide 2 stand\n", "cards_turned dealer 633a.7"),
        ("show dealer 1 7d\n", "cards_dealt dealer 633a.7"),
    ):
        cut += fact
        assert text(ruling(cut, GAME), following=True)[-1] == f"> {following}"
    other = """
        start
        1 blackjack 1000
        deal dealer up 9d
        deal dealer 8h
        deal 1 up Kc 9s
        decide 1 stand
        show dealer 1 8h
    """
    check(other, f"complete\n 1 blackjack 1000 win +1000 633a.{WIN}", GAME)


def test_633a_6_wagers_close_with_the_first_card() -> None:
    script = round_of("9d 8h", "Kc 9s").replace(
        "deal dealer up", "1 house_money 500\ndeal dealer up"
    )
    assert "! late_wager 1 house_money 633a.6(e)" in text(ruling(script, GAME))
    alone = round_of("9d 8h", "Kc 9s").replace("start manual_shoe", "start\n2 straight_jack 500")
    found = text(ruling(alone, GAME))
    assert "2 straight_jack 500 void +0 633a.6(e)" in found
    assert "! wager_not_permitted 2 straight_jack 633a.6(e)" in found


def test_633a_10_11_two_cards_are_doubled_and_pairs_split_to_four_hands() -> None:
    double = "decide 1 double_down, 1 double_down 1000, deal 1 up 9h"
    check(
        round_of("9d 8h", "5c 6s", double),
        f"""
        complete
        1 blackjack   1000 win +1000 633a.{WIN}
        1 double_down 1000 win +1000 633a.{WIN}
        """,
        GAME,
    )
    three = f"decide 1 hit, deal 1 up 2s, {double}"
    found = text(ruling(round_of("9d 8h", "5c 3s", three), GAME))
    assert "! decision_not_permitted 1 hit, stand / double_down 633a.7" in found
    split = "decide 1 split, 1 split 1000 hand 2, deal 1 up As, decide 1 stand, deal 1.2 up 3d"
    split += ", decide 1.2 double_down, 1 double_down 1000 hand 2, deal 1.2 up 6c"
    check(
        round_of("9d 8h", "8c 8s", split),
        f"""
        complete
        1.2 split       1000 push    +0 633a.7(p)
        1.2 double_down 1000 push    +0 633a.7(p)
        1 blackjack     1000 win  +1000 633a.{WIN}
        """,
        GAME,
    )
    # 21 in a split hand is no Blackjack.
    aces = "decide 1 split, 1 split 1000 hand 2, deal 1 up Ks, deal 1.2 up 3d"
    found = text(ruling(round_of("9d 8h", "Ac Ad", aces), GAME))
    assert f"1 blackjack 1000 win +1000 633a.{WIN}" in found
    found = text(ruling(round_of("9d 8h", "8c 8s", split + ", decide 1.2 surrender"), GAME))
    assert "! decision_not_permitted 1.2 None / surrender" in found


def test_633a_10_11_a_blackjack_is_not_doubled_and_aces_are_not_split_again() -> None:
    double = "decide 1 double_down, 1 double_down 1000"
    check(
        round_of("9d 8h", "Ac Ks", double),
        """
        complete
        1 blackjack 1000 win +1500 633a.13(a) Blackjack, 3 to 2
        ! wager_not_permitted 1 double_down None / 1000 633a.10
        ! decision_not_permitted 1 None / double_down 633a.10
        """,
        GAME,
    )
    aces = "decide 1 split, 1 split 1000 hand 2, deal 1 up Ks, deal 1.2 up Ah"
    again = f"{aces}, decide 1.2 split, 1 split 1000 hand 3"
    found = text(ruling(round_of("9d 8h", "Ac Ad", again), GAME))
    assert [line for line in found if line.startswith("!")] == [
        "! wager_not_permitted 1.3 split None / 1000 633a.11",
        "! decision_not_permitted 1.2 None / split 633a.11",
    ]
    first = "decide 1 split, 1 split 1000 hand 2, deal 1 up Ah, deal 1.2 up Ks"
    first += ", decide 1 split, 1 split 1000 hand 3"
    found = text(ruling(round_of("9d 8h", "Ac Ad", first), GAME))
    assert [line for line in found if line.startswith("!")] == [
        "! wager_not_permitted 1.3 split None / 1000 633a.11",
        "! decision_not_permitted 1 None / split 633a.11",  # it was open to the first two aces
    ]
    may = {"options": {"resplit_aces": True}}
    dealt = f"{again}, deal 1.2 up 5s, deal 1.3 up 9s"
    found = text(ruling(round_of("9d 8h", "Ac Ad", dealt), GAME, filed=may))
    assert not [line for line in found if line.startswith("!")]


def test_633a_8_10_11_a_blackjack_seen_after_play_takes_the_first_wager_alone() -> None:
    does = "decide 1 split, 1 split 1000 hand 2, deal 1 up 3c, decide 1 double_down"
    does += ", 1 double_down 1000, deal 1 up Kd, deal 1.2 up Kc, decide 1.2 stand"
    script = round_of("Kd ??", "8c 8s", does).replace("show dealer 1 ??", "show dealer 1 Ah")
    check(
        script,
        """
        complete
        1.2 split     1000 push    +0 633a.11
        1 blackjack   1000 lose -1000 633a.7(p)
        1 double_down 1000 push    +0 633a.10
        ! card_mismatch blackjack / none 633a.7(h)
        """,
        GAME,
    )


def filed(**options: object) -> dict[str, object]:
    return {"options": options, "offers": ("house_money", "straight_jack")}


def test_633a_7_a_holder_may_hit_soft_17_and_refuse_surrender() -> None:
    soft = round_of("Ad 6h", "Kc 8s")
    won = f"complete\n 1 blackjack 1000 win +1000 633a.{WIN}"
    check(soft, won, GAME)
    hits = {"filed": filed(soft_17="hits")}
    assert "> cards_dealt dealer 633a.7" in text(ruling(soft, GAME, **hits))  # type: ignore[arg-type]
    lost = "complete\n 1 blackjack 1000 lose -1000 633a.7(p)"
    check(soft + "\ndeal dealer up 4c", lost, GAME, **hits)  # type: ignore[arg-type]
    check(soft + "\ndeal dealer up 4c", won + "\n ! misdeal", GAME)
    hard = round_of("9d 8h", "Kc 8s")
    check(hard, won, GAME, **hits)  # type: ignore[arg-type]
    none = {"filed": filed(surrender="none")}
    found = text(ruling(round_of("9d 8h", "Kc 6s", "decide 1 surrender"), GAME, **none))  # type: ignore[arg-type]
    assert "! decision_not_permitted 1 hit, stand, double_down / surrender 633a.7" in found


SPLIT = "decide 1 split, 1 split 1000 hand 2, deal 1 up 8d"


def test_633a_11_a_holder_may_allow_fewer_hands_no_double_after_and_aces_again() -> None:
    again = f"{SPLIT}, decide 1 split, 1 split 1000 hand 3, deal 1 up 9c, decide 1 stand"
    again += ", deal 1.3 up 9d, decide 1.3 stand, deal 1.2 up 9h, decide 1.2 stand"
    script = round_of("9d 8h", "8c 8s", again)
    assert not [line for line in text(ruling(script, GAME)) if line.startswith("!")]
    found = text(ruling(script, GAME, filed=filed(split_hands=2)))  # type: ignore[arg-type]
    refused = "! decision_not_permitted 1 hit, stand, double_down / split 633a.7"
    assert refused in found
    double = SPLIT.replace("8d", "3d") + ", decide 1 double_down, 1 double_down 1000, deal 1 up 9d"
    script = round_of("9d 8h", "8c 8s", f"{double}, deal 1.2 up 9h, decide 1.2 stand")
    assert not [line for line in text(ruling(script, GAME)) if line.startswith("!")]
    found = text(ruling(script, GAME, filed=filed(double_split=False)))  # type: ignore[arg-type]
    assert "! decision_not_permitted 1 hit, stand / double_down 633a.7" in found
    aces = "decide 1 split, 1 split 1000 hand 2, deal 1 up Ah, decide 1 split"
    aces += ", 1 split 1000 hand 3, deal 1 up 9c, deal 1.3 up Kc, deal 1.2 up 5d"
    script = round_of("9d 8h", "Ac Ad", aces)
    assert [line for line in text(ruling(script, GAME)) if line.startswith("!")]
    found = text(ruling(script, GAME, filed=filed(resplit_aces=True)))  # type: ignore[arg-type]
    assert found == lines(f"""
        complete
        1.3 split   1000 win  +1000 633a.{WIN}
        1.2 split   1000 lose -1000 633a.7(p)
        1 blackjack 1000 win  +1000 633a.{WIN}
    """)


def test_633a_13_a_a_holder_may_file_odds_of_his_own() -> None:
    script = round_of("6d 5h 6c", "Ac Ts", "")
    own = {"blackjack": {"blackjack": "6 to 5", "win": "1 to 1"}}
    found = text(ruling(script, GAME, filed={"paytables": own}))
    assert found[1] == "1 blackjack 1000 win +1200 633a.13(a) Blackjack, 6 to 5"
    insured = round_of("Ad Kh", "Kc 9s", "", before="1 insurance 500")
    own = {"insurance": {"insurance": "3 to 1"}}
    found = text(ruling(insured, GAME, filed={"paytables": own}))
    assert found[1] == "1 insurance 500 win +1500 633a.8 Insurance, 3 to 1"


@pytest.mark.parametrize(("decks", "wrong"), [(6, False), (8, False), (1, True), (2, True)])
def test_633a_7_a_shoe_has_six_decks_or_as_many_as_are_filed(decks: int, wrong: bool) -> None:  # noqa: FBT001 - a column of the table above
    script = round_of("2d 2d 2d 9c 3c", "Kc 9s")
    found = text(ruling(script, GAME, filed=filed(decks=decks)))  # type: ignore[arg-type]
    assert any("duplicate_card" in line for line in found) is wrong


@pytest.mark.parametrize(("boxes", "wrong"), [(7, []), (2, [3]), (1, [2, 3])])
def test_633a_6_f_a_player_may_wager_on_so_many_adjacent_boxes(
    boxes: int, wrong: list[int]
) -> None:
    cut = "start\n1 blackjack 1000\n2 blackjack 1000\n3 blackjack 1000\n deal 1 up 9d"
    around = {"filed": filed(boxes=boxes), "seats": ((1, 2, 3),)}
    found = [line for line in text(ruling(cut, GAME, **around)) if "not_permitted" in line]  # type: ignore[arg-type]
    assert found == [f"! wager_not_permitted {seat} blackjack 633a.6(f)" for seat in wrong]
    cut = "start\n7 blackjack 1000\n8 blackjack 1000\n deal 7 up 9d"
    found = [line for line in text(ruling(cut, GAME)) if "not_permitted" in line]
    assert found == ["! wager_not_permitted 8 blackjack 633a.6(e)"]
    assert "8 blackjack 1000 void +0 633a.6(e)" in text(ruling(cut, GAME))
    assert "8 blackjack 1000 void" not in " ".join(text(ruling(cut + "\ndeal 8 up 9c", GAME)))


def test_633a_8_insurance_taken_back_after_the_reading_is_still_at_stake() -> None:
    read = round_of("Ad 8h", "Kc 9s", before="1 insurance 400")
    lost, wrong = "1 insurance 400 lose -400 633a.8", "! wager_not_permitted 1 insurance 633a.8"
    for cents in (400, 100):
        after = read.replace("peek none", f"peek none\nwithdraw 1 insurance {cents}")
        found = text(ruling(after, GAME))
        assert lost in found
        assert found.count(wrong) == 1
    before = read.replace("peek none", "withdraw 1 insurance 400\npeek none")
    assert not [line for line in text(ruling(before, GAME)) if "insurance" in line]


@pytest.mark.parametrize(("came", "went", "wrong"), [(100, 100, 0), (100, 40, 0), (100, 150, 1)])
def test_633a_8_insurance_that_came_too_late_and_went_again_was_never_at_stake(
    came: int, went: int, wrong: int
) -> None:
    late = f"peek none\n1 insurance {came}\nwithdraw 1 insurance {went}"
    script = round_of("Ad 8h", "Kc 9s", before="1 insurance 400").replace("peek none", late)
    found = text(ruling(script, GAME))
    left = 400 + max(came - went, 0)
    assert f"1 insurance {left} lose -{left} 633a.8" in found
    assert found.count("! late_wager 1 insurance 633a.8") == 1
    assert found.count("! wager_not_permitted 1 insurance 633a.8") == wrong


def test_633a_8_insurance_without_an_ace_goes_back_and_after_the_reading_is_late() -> None:
    found = text(ruling(round_of("9d 8h", "Kc 9s", before="1 insurance 400"), GAME))
    assert "1 insurance 400 void +0 633a.8" in found
    assert "! wager_not_permitted 1 insurance 633a.8" in found
    late = round_of("Ad 8h", "Kc 9s").replace("peek none", "peek none\n1 insurance 400")
    assert "! late_wager 1 insurance 633a.8" in text(ruling(late, GAME))
    assert "1 insurance 400 lose -400 633a.8" in text(ruling(late, GAME))
    back = text(ruling(late + "\nback 1 insurance 400", GAME))
    assert "1 insurance 400 void +0 633a.8" in back
    cut = round_of("Ad 8h", "Kc 9s", before="1 insurance 400").partition("decide")[0]
    assert text(ruling(cut, GAME), following=True)[-1] == (
        "> wager_collected position 1 insurance 400 633a.8"
    )


def test_633a_10_11_what_comes_next_of_a_hit_a_double_and_a_split() -> None:
    for does, following in (
        ("decide 1 hit", "cards_dealt position 1 633a.7"),
        ("decide 1 double_down", "wager_placed position 1 double_down 633a.10"),
        ("decide 1 split", "wager_placed position 1 split 633a.11"),
        ("decide 1 split, 1 split 1000 hand 2", "cards_dealt position 1 633a.7"),
        ("decide 1 surrender", "wager_collected position 1 blackjack 500 633a.7"),
    ):
        cut = round_of("9d 8h", "8c 8s", does).partition("show")[0]
        assert text(ruling(cut, GAME), following=True)[-1] == f"> {following}"
