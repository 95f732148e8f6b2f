"""Spanish 21, Chapter 635a: doubling and rescue by 10(a), the rest as Blackjack without 10s."""

from __future__ import annotations

import pytest

from ledger.adjudication import adjudicate
from tests.unit.games.rounds import lines, printed, ruling, text
from tests.unit.games.twenty_one import check, round_of

GAME = "spanish_21"
WIN = "633a.13(a) Win, 1 to 1"
BET = "spanish_21 1000"

EQUIVALENT: dict[str, str] = {}
"""Mutants that change nothing, and why."""

MUTANTS_LEAST = 50
"""Most of it is what it shares with Blackjack."""

LATER = {"insurance", "double_down", "split"}
"""Wagers made once cards are known: their edge is inside that of the Spanish 21 Wager."""

FAVOURABLE: dict[str, set[str]] = {}
"""Wagers that the player gains on, by reading."""

EDGES = "spanish_21 2.2"
"""What the house keeps, per cent, under the default readings."""


def test_635a_10_the_tables_are_as_printed() -> None:
    assert printed(GAME) == lines("""
        spanish_21  10(a)    Spanish 21 Wager
        insurance   633a.8   Insurance Wager
        double_down 10(a)    Double Down Wager
        split       633a.11  wager on a split hand
        [633a.13(a) spanish_21 split double_down]
        Blackjack: 3 to 2
        Win: 1 to 1
        [633a.8 even_money]
        Even money: 1 to 1
        [633a.8 insurance]
        Insurance: 2 to 1
    """)


SETTLED = """
    dealer   | player | does               | net   | section
    6d Qh 8c | Kc 9s  | decide 1 stand     | +1000 | 633a.13(a) Win, 1 to 1
    9d 9h    | Kc 8s  | decide 1 stand     | +0    | 633a.7(p)
    9d 9h    | Kc 7s  | decide 1 stand     | -1000 | 633a.7(p)
    6d 5h 6c | Ac Ks  | -                  | +1500 | 633a.13(a) Blackjack, 3 to 2
    Kd Ah    | Ac Qs  | -                  | +0    | 633a.7(p)
    Ad Kh    | Kc 9s  | -                  | -1000 | 633a.7(p)
    9d 5h    | Kc 6s  | decide 1 surrender | -500  | 633a.7
    9d 5h 7c | 7c 7s  | decide 1 hit, deal 1 up 7d | +0 | 633a.7(p)
"""


@pytest.mark.parametrize("row", lines(SETTLED)[1:])
def test_635a_the_rest_is_the_standard_game(row: str) -> None:
    dealer, player, does, net, section = (part.strip() for part in row.split("|"))
    outcome = {"+": "win", "-": "lose"}[net[0]] if net != "+0" else "push"
    check(
        round_of(dealer, player, "" if does == "-" else does, BET),
        f"complete\n 1 spanish_21 1000 {outcome} {net} {section}",
        GAME,
    )


def test_635a_the_decks_have_no_10s() -> None:
    found = text(ruling(round_of("9d 8h", "Tc 9s", bets=BET), GAME))
    assert "! impossible_card 1 None / Tc" in found
    assert f"1 spanish_21 1000 win +1000 {WIN}" in found
    seven = round_of("2d 2d 2d 2d 2d 2d 2d 3c", "Kc 9s", bets=BET)
    assert any("duplicate_card" in line for line in text(ruling(seven, GAME)))


@pytest.mark.parametrize("drawn", ["", "2c", "2c Ah"])
def test_635a_10_a_a_hand_of_two_or_more_cards_is_doubled_once_with_one_card(drawn: str) -> None:
    hits = [f"decide 1 hit, deal 1 up {card}" for card in drawn.split()]
    does = [*hits, "decide 1 double_down, 1 double_down 1000, deal 1 up 9h"]
    player = {"": "5c 6s", "2c": "5c 4s", "2c Ah": "4c 3s"}[drawn]
    check(
        round_of("9d 8h", player, ", ".join(does), BET),
        f"""
        complete
        1 spanish_21  1000 win +1000 {WIN}
        1 double_down 1000 win +1000 {WIN}
        """,
        GAME,
    )
    again = ", ".join([*does, "decide 1 hit, deal 1 up As"])
    found = text(ruling(round_of("9d 8h", player, again, BET), GAME))
    assert "! out_of_turn 1" in found


def test_635a_10_a_a_blackjack_is_not_doubled() -> None:
    does = "decide 1 double_down, 1 double_down 1000"
    check(
        round_of("9d 8h", "Ac Ks", does, BET),
        """
        complete
        1 spanish_21 1000 win +1500 633a.13(a) Blackjack, 3 to 2
        ! wager_not_permitted 1 double_down None / 1000 635a.10(a)
        ! decision_not_permitted 1 None / double_down 635a.10(a)
        """,
        GAME,
    )


def test_635a_10_a_a_double_is_no_larger_than_the_wager() -> None:
    for cents, allowed in ((1, True), (1000, True), (1001, False)):
        does = f"decide 1 double_down, 1 double_down {cents}, deal 1 up 9h"
        found = text(ruling(round_of("9d 8h", "5c 6s", does, BET), GAME))
        assert ("! wager_not_permitted 1 double_down 635a.10(a)" in found) is not allowed
    cut = round_of("9d 8h", "5c 6s", "decide 1 double_down", BET).partition("show")[0]
    assert text(ruling(cut, GAME), following=True)[-1] == (
        "> wager_placed position 1 double_down 635a.10(a)"
    )


def test_635a_10_a_a_split_hand_is_doubled_on_two_or_more_cards_too() -> None:
    does = "decide 1 split, 1 split 1000 hand 2, deal 1 up 2c, decide 1 hit, deal 1 up Ac"
    does += ", decide 1 double_down, 1 double_down 1000, deal 1 up 8d"
    does += ", deal 1.2 up Kd, decide 1.2 stand"
    check(
        round_of("9d 8h", "7c 7s", does, BET),
        f"""
        complete
        1.2 split     1000 push    +0 633a.7(p)
        1 spanish_21  1000 win  +1000 {WIN}
        1 double_down 1000 win  +1000 {WIN}
        """,
        GAME,
    )


DOUBLED = "decide 1 double_down, 1 double_down 1000, deal 1 up 2h"


def test_635a_10_rescue_gives_up_the_wager_and_takes_back_the_double() -> None:
    rescued = """
        complete
        1 spanish_21  1000 lose -1000 635a.10(a)
        1 double_down 1000 push    +0 635a.10(a)
    """
    script = round_of("9d 8h", "5c 6s", f"{DOUBLED}, decide 1 rescue", BET)
    check(script, rescued, GAME)
    cut = script.partition("show")[0]
    assert text(ruling(cut, GAME), following=True)[-1] == (
        "> wager_collected position 1 spanish_21 1000 635a.10(a)"
    )
    split = "decide 1 split, 1 split 1000 hand 2, deal 1 up Kc, decide 1 stand, deal 1.2 up 2d"
    split += ", decide 1.2 double_down, 1 double_down 700 hand 2, deal 1.2 up 3h, decide 1.2 rescue"
    check(
        round_of("9d 8h", "7c 7s", split, BET),
        """
        complete
        1.2 split       1000 lose -1000 635a.10(a)
        1.2 double_down  700 push    +0 635a.10(a)
        1 spanish_21    1000 push    +0 633a.7(p)
        """,
        GAME,
    )


def test_635a_10_only_a_doubled_hand_below_21_is_rescued() -> None:
    for player, does in (
        ("Kc 6s", "decide 1 rescue, decide 1 stand"),
        ("Kc 6s", "decide 1 double_down, 1 double_down 1000, deal 1 up 9h, decide 1 rescue"),
        ("Kc 6s", "decide 1 double_down, 1 double_down 1000, deal 1 up 5h, decide 1 rescue"),
        ("Kc 6s", "decide 1 double_down, 1 double_down 1000, deal 1 up 2h, decide 1 surrender"),
    ):
        found = text(ruling(round_of("9d 8h", player, does, BET), GAME))
        assert [line for line in found if "out_of_turn" in line or "decision_not" in line]
        assert not [line for line in found if "push +0 635a.10(a)" in line]


def test_635a_a_21_of_the_player_may_always_win_by_the_rules_submission() -> None:
    wins = {"options": {"player_21": "wins"}}
    for script, net, section in (
        (round_of("9d 5h 7c", "7c 7s", "decide 1 hit, deal 1 up 7d", BET), 1000, "Win, 1 to 1"),
        (round_of("Kd Ah", "Ac Qs", "", BET), 1500, "Blackjack, 3 to 2"),
    ):
        assert text(ruling(script, GAME))[1].endswith("push +0 633a.7(p)")
        assert text(ruling(script, GAME, filed=wins))[1] == (
            f"1 spanish_21 1000 win +{net} 633a.13(a) {section}"
        )
    tie = round_of("9d 9h", "Kc 8s", bets=BET)
    assert text(ruling(tie, GAME, filed=wins)) == text(ruling(tie, GAME))


def test_635a_insurance_and_even_money_are_those_of_blackjack() -> None:
    lost = round_of("Ad Kh", "Kc 9s", "", BET, before="1 insurance 500")
    assert text(ruling(lost, GAME))[1] == "1 insurance 500 win +1000 633a.8 Insurance, 2 to 1"
    paid = text(ruling(lost.partition("show")[0], GAME), following=True)
    assert paid[-1] == "> cards_turned dealer 633a.7(h)"
    paid = text(ruling(lost, GAME), following=True)
    assert paid[-1] == "> wager_paid position 1 insurance 1000 633a.8"
    even = round_of("Ad Kh", "Kc As", "", BET, before="decide 1 even_money")
    assert text(ruling(even, GAME))[1] == "1 spanish_21 1000 win +1000 633a.8 Even money, 1 to 1"
    assert [line for line in text(ruling(even, GAME)) if line.startswith("!")] == []


def test_635a_what_comes_next_from_the_wager_to_the_dealers_draw() -> None:
    cut = "start\n"
    for fact, following in (
        ("", "wager_placed dealer spanish_21 633a.6(e)"),
        ("1 spanish_21 1000\n", "cards_dealt position 1 633a.7"),
        ("deal 1 up 2c 2d\n", "cards_dealt dealer 633a.7"),
        ("deal dealer up Kd\n deal dealer ??\n", "hole_card_checked dealer 633a.7(h)"),
        ("peek none\n", "decision_made position 1 633a.7"),
        ("decide 1 split\n", "wager_placed position 1 split 633a.11"),
        ("1 split 1000 hand 2\n", "cards_dealt position 1 633a.7"),
    ):
        cut += fact
        assert text(ruling(cut, GAME), following=True)[-1] == f"> {following}"
    boxes = "start\n1 spanish_21 1000\n2 spanish_21 1000\n deal 1 up 2c"
    found = text(ruling(boxes, GAME, filed={"options": {"boxes": 1}}, seats=((1, 2),)))
    assert "! wager_not_permitted 2 spanish_21 633a.6(f)" in found


def test_633a_11_aces_are_not_split_again() -> None:
    aces = "decide 1 split, 1 split 1000 hand 2, deal 1 up Ks, deal 1.2 up Ah"
    again = f"{aces}, decide 1.2 split, 1 split 1000 hand 3"
    found = text(ruling(round_of("9d 8h", "Ac Ad", again, bets=BET), GAME))
    assert [line for line in found if line.startswith("!")] == [
        "! wager_not_permitted 1.3 split None / 1000 633a.11",
        "! decision_not_permitted 1.2 None / split 633a.11",
    ]


def test_635a_what_the_holder_may_choose_and_how_many_decks_and_boxes_there_are() -> None:
    game = adjudicate.games()[GAME]
    assert (game.decks, game.positions, len(game.deck)) == (6, 7, 48)
    assert [(each.name, each.values[0], each.section) for each in game.options] == [
        ("decks", 6, "633a.7"),
        ("soft_17", "stands", "633a.7"),
        ("surrender", "first_two", "633a.7"),
        ("split_hands", 4, "633a.11"),
        ("double_split", True, "633a.11"),
        ("resplit_aces", False, "633a.11"),
        ("boxes", 7, "633a.6(f)"),
        ("player_21", "ties", "633a.7(p)"),
    ]


def test_635a_insurance_is_half_the_wager_under_an_ace_before_the_reading() -> None:
    found = text(ruling(round_of("9d 8h", "Kc 9s", bets=BET, before="1 insurance 400"), GAME))
    assert "1 insurance 400 void +0 633a.8" in found
    found = text(ruling(round_of("Ad 8h", "Kc 9s", bets=BET, before="1 insurance 501"), GAME))
    assert "! wager_not_permitted 1 insurance 633a.8" in found
    assert "1 insurance 501 lose -501 633a.8" in found
    late = round_of("Ad 8h", "Kc 9s", bets=BET).replace("peek none", "peek none\n1 insurance 400")
    assert "! late_wager 1 insurance 633a.8" in text(ruling(late, GAME))


def test_635a_a_blackjack_seen_after_play_takes_the_first_wager_alone() -> None:
    does = "decide 1 split, 1 split 1000 hand 2, deal 1 up 3c, decide 1 double_down"
    does += ", 1 double_down 1000, deal 1 up Kd, deal 1.2 up Kc, decide 1.2 stand"
    script = round_of("Kd ??", "8c 8s", does, BET).replace("show dealer 1 ??", "show dealer 1 Ah")
    check(
        script,
        """
        complete
        1.2 split     1000 push    +0 633a.11
        1 spanish_21  1000 lose -1000 633a.7(p)
        1 double_down 1000 push    +0 635a.10(a)
        ! card_mismatch blackjack / none 633a.7(h)
        """,
        GAME,
    )


def test_635a_an_exposed_card_may_be_refused_and_a_hand_called_dead() -> None:
    refused = "decide 1 hit, call card_drawn_exposed 9c, decide 1 refuse_card"
    lost = "complete\n 1 spanish_21 1000 lose -1000 633a.7(p)"
    check(round_of("9d 8h", "8c 3s", refused, BET), lost, GAME)
    dead = "decide 1 hit, deal 1 up 4c, decide 1 dead_hand"
    void = "complete\n 1 spanish_21 1000 void +0 633a.7"
    check(round_of("9d 8h", "8c 3s", dead, BET), void, GAME)
