"""Baccarat, Chapter 631a: coups settled by hand, each by its own paragraphs.

What it shares with Minibaccarat is tried there case by case. Here is that it is the same, and what
only Chapter 631a prints: House Money once the cards are turned.
"""

from __future__ import annotations

from ledger.adjudication import adjudicate
from tests.unit.games.coup import asked, checker, coup
from tests.unit.games.rounds import lines, printed, ruling, text

GAME = "baccarat"
check = checker(GAME)

EQUIVALENT: dict[str, str] = {}
"""Mutants that change nothing, and why."""

MUTANTS_LEAST = 16
"""Nearly all of the game is in modules that Minibaccarat answers for."""

EDGES = "player 1.2 banker 1.1 tie 14.4 house_money 35.8"
"""What the house keeps, per cent, under the default readings."""

FAVOURABLE: dict[str, set[str]] = {}
"""Wagers that the player gains on, by reading."""

LATER: set[str] = set()
"""Wagers made once cards are known."""

START = """
    start manual_shoe
    1 player 1000
    2 banker 2000
    3 tie     500
    nomorebets
"""


def test_631a_8_13_the_tables_are_as_printed_and_as_the_standard_game_has_them() -> None:
    assert printed(GAME) == lines("""
        player      8(a)    Player's Hand
        banker      8(a)    Banker's Hand
        tie         8(a)    Tie Wager
        house_money 8(a)(7) House Money Wager (optional)
        [13 player]
        Player's Hand: 1 to 1
        [13 banker]
        Banker's Hand: 19 to 20
        [13 banker]
        Banker's Hand, vigorish marked: 1 to 1
        [13 banker]
        Banker's Hand of three cards and 7 points: Push
        Banker's Hand, no vigorish: 1 to 1
        [13 tie]
        Tie: 8 to 1
        [13 player banker]
        Tie: Push
        [13(h) house_money]
        Player and Banker Pair: 15 to 1
        Player or Banker Pair: 3 to 1
        press_includes_stake 9(e)(1)(i): false, true
    """)
    game = adjudicate.games()[GAME]
    assert [each.section for each in game.options] == ["2(b)(8)", "9(e)(1)(i)", "601a.2"]
    assert (game.decks, game.positions, game.fees) == (8, 14, ("vigorish",))


def test_631a_8_13_coups_are_those_of_the_standard_game() -> None:
    natural = """
        complete
        3 tie     500 lose  -500 631a.13
        2 banker 2000 lose -2000 631a.13
        1 player 1000 win  +1000 631a.13 Player's Hand, 1 to 1
    """
    tied = """
        complete
        3 tie     500 win  +4000 631a.13 Tie, 8 to 1
        2 banker 2000 push    +0 631a.13 Tie, Push
        1 player 1000 push    +0 631a.13 Tie, Push
    """
    # The Banker draws to 3 where the Player's third card is a 9: 5 beats 4.
    drawn = """
        complete
        3 tie     500 lose  -500 631a.13
        2 banker 2000 win  +1900 631a.13 Banker's Hand, 19 to 20
        1 player 1000 lose -1000 631a.13
    """
    check(START + coup("9c Kd", "7h Ts"), natural)
    check(START + coup("9c 9d", "4h 4s"), tied)
    check(START + coup("2c 3d 9h", "3h Ks 2s"), drawn)


HOUSE = """
    start manual_shoe
    1 player 1000
    1 house_money 500
    2 banker 2000
    2 house_money 500
    nomorebets
"""
ONE = """
    2 house_money 500 win  +1500 631a.13(h) Player or Banker Pair, 3 to 1
    1 house_money 500 win  +1500 631a.13(h) Player or Banker Pair, 3 to 1
"""


def test_631a_9_e_1_house_money_is_paid_by_either_pair_and_lost_without() -> None:
    both = text(ruling(HOUSE + coup("9c 9d", "4h 4s"), GAME))
    assert both[1:3] == lines("""
        2 house_money 500 win +7500 631a.13(h) Player and Banker Pair, 15 to 1
        1 house_money 500 win +7500 631a.13(h) Player and Banker Pair, 15 to 1
    """)
    for pair in (coup("4c 4d", "7h Ts"), coup("9c Kd", "7h 7s")):
        assert text(ruling(HOUSE + pair, GAME))[1:3] == lines(ONE)
    assert text(ruling(HOUSE + coup("9c Kd", "7h Ts"), GAME))[1:3] == lines("""
        2 house_money 500 lose -500 631a.9(e)(1)
        1 house_money 500 lose -500 631a.9(e)(1)
    """)
    assert "! wager_not_permitted 1 house_money 631a.8(a)(7)" in text(
        ruling(HOUSE + coup("9c Kd", "7h Ts"), GAME, filed={"offers": ()})
    )


def test_631a_9_e_1_i_what_is_pressed_is_settled_with_the_wager_it_was_added_to() -> None:
    script = HOUSE + coup("3c 3d", "7h Ts")
    check(
        script + "\n press 1 player 1500\n press 2 banker 1500",
        f"""
        complete {ONE}
        2 banker 3500 win  +3325 631a.13 Banker's Hand, 19 to 20
        1 player 2500 lose -2500 631a.13
    """,
    )
    stake_too = {"readings": {"press_includes_stake": True}, "offers": ("house_money",)}
    for filed, found in (({"offers": ("house_money",)}, True), (stake_too, False)):
        said = text(ruling(script + "\n press 1 player 2000", GAME, filed=filed))
        assert ("! wager_not_permitted 1 player 631a.9(e)(1)(i)" in said) is found
        assert ("1 player 3000 lose -3000 631a.13 [press_includes_stake true]" in said) is not found


def test_631a_2_b_8_marked_vigorish_is_paid_once_the_win_is_paid_whole() -> None:
    marked = {"offers": ("house_money",), "options": {"vigorish": "marked"}}
    found = text(ruling(START + coup("2c 3d", "4h 4s"), GAME, filed=marked))
    assert "2 vigorish 100 lose -100 631a.2(b)(8)" in found


def test_631a_8_c_a_wager_after_no_more_bets_is_late_and_stays() -> None:
    script = START + "2 player 500 | at 20\n" + coup("9c Kd", "7h Ts")
    script = script.replace("deal player_hand up 9c", "deal player_hand up 9c | at 30", 1)
    assert text(ruling(script, GAME))[-1] == "! late_wager 2 player 631a.8(c)"


def test_631a_9_e_1_a_record_cut_anywhere_says_what_comes_next() -> None:
    script, steps = HOUSE, [
        ("", "cards_dealt player_hand 631a.9(e)"),
        ("deal player_hand ??\n", "cards_dealt banker_hand 631a.9(e)"),
        ("deal banker_hand ??\n", "cards_dealt player_hand 631a.9(e)"),
        ("deal player_hand ??\n", "cards_dealt banker_hand 631a.9(e)"),
        ("deal banker_hand ??\n", "cards_turned player_hand 631a.9(e)"),
        ("show player_hand 2c 2d\n", "cards_turned banker_hand 631a.9(e)"),
        ("show banker_hand 3h Ks\n", "wager_paid position 2 house_money 1500 631a.13(h)"),
        ("pay 2 house_money 1500\n", "wager_paid position 1 house_money 1500 631a.13(h)"),
        ("pay 1 house_money 1500\n", "cards_dealt player_hand 631a.9(e)(2)"),
        ("press 1 player 500\n", "cards_dealt player_hand 631a.9(e)(2)"),
        ("deal player_hand ??\n", "cards_turned player_hand 631a.9(e)(2)"),
        ("show player_hand 2 As\n", "cards_dealt banker_hand 631a.9(e)(2)"),
        ("deal banker_hand ??\n", "cards_turned banker_hand 631a.9(e)(2)"),
        ("show banker_hand 2 2s\n", "wager_returned position 2 banker 2000 631a.13"),
    ]  # fmt: skip
    # 2, 2 and an ace are 5; the Banker draws a 2 to 3 and has 5 as well: both hands push.
    for fact, following in steps:
        script += fact
        assert text(ruling(script, GAME), following=True)[-1] == f"> {following}", script
    assert text(ruling("start", GAME))[-1] == "> wager_placed dealer player 631a.8(a)"
    placed = "start\n 2 banker 2000\n 1 house_money 500"
    assert text(ruling(placed, GAME))[-1] == "> no_more_bets_called dealer 631a.8(c)"


def test_631a_9_e_1_cards_are_dealt_face_down_and_turned_before_anything_is_settled() -> None:
    script = HOUSE + coup("2c 2d 9h", "7h Ts", face="down")
    assert {step.face for step in asked(GAME, script) if step.fact == "cards_dealt"} == {"down"}
    assert "! step_missing cards_turned / None 631a.9(e)" in text(ruling(script, GAME))
    said = text(ruling(script + "\n show player_hand 2c 2d\n done", GAME))
    assert [line for line in said if "step_missing" in line] == [
        "! step_missing cards_turned / None 631a.9(e)",
        "! step_missing cards_turned / None 631a.9(e)(2)",
    ]
