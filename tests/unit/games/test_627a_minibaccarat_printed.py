"""Minibaccarat: its tables beside Chapter 627a, vigorish, and what the record may lack."""

from __future__ import annotations

from ledger.adjudication import adjudicate
from tests.unit.games.coup import asked, checker, coup
from tests.unit.games.rounds import lines, printed, ruling, text
from tests.unit.games.test_627a_minibaccarat import (
    BANKER_WINS,
    HOUSE,
    NATURAL,
    ONE,
    PLAYER_WINS,
    START,
    TIE,
)

GAME = "minibaccarat"
check = checker(GAME)

SHARED = ("ledger/rules/wagers/house_money.py", "ledger/rules/baccarat/coup.py")
"""Modules of the three baccarats whose mutants the cases of this game answer for."""

ASKED_BY_NAME = "the names of the wagers asked for are a set; each is settled in a step of its own"

EQUIVALENT = {
    "_options: 'Decks in the dealing shoe.' -> 'Decks in the dealing shoe.x'": "a sentence",
    "play: (PLAYER, BANKER, TIE, HOUSE_MONEY) -> (BANKER, PLAYER, TIE, HOUSE_MONEY)": ASKED_BY_NAME,
    "play: (PLAYER, BANKER, TIE, HOUSE_MONEY) -> (PLAYER, BANKER, HOUSE_MONEY, TIE)": ASKED_BY_NAME,
    "play: (PLAYER, BANKER, TIE, HOUSE_MONEY) -> (PLAYER, TIE, BANKER, HOUSE_MONEY)": ASKED_BY_NAME,
    "play: True -> False": "there are two of each of what is gone through together",
}
"""Mutants that change nothing, and why."""

EDGES = "player 1.2 banker 1.1 tie 14.4 house_money 35.8"
"""What the house keeps, per cent, under the default readings."""

MUTANTS_LEAST = 400
"""Nearly all of the game is in the shared modules, and they are small."""

FAVOURABLE: dict[str, set[str]] = {}
"""Wagers that the player gains on, by reading."""

LATER: set[str] = set()
"""Wagers made once cards are known."""


def test_627a_7_12_the_tables_are_as_printed_and_as_the_standard_game_has_them() -> None:
    assert printed(GAME) == lines("""
        player      7(a)    Player's Hand
        banker      7(a)    Banker's Hand
        tie         7(a)    Tie Wager
        house_money 7(a)(7) House Money Wager (optional)
        [12 player]
        Player's Hand: 1 to 1
        [12 banker]
        Banker's Hand: 19 to 20
        [12 banker]
        Banker's Hand, vigorish marked: 1 to 1
        [12 banker]
        Banker's Hand of three cards and 7 points: Push
        Banker's Hand, no vigorish: 1 to 1
        [12 tie]
        Tie: 8 to 1
        [12 player banker]
        Tie: Push
        [12(g) house_money]
        Player and Banker Pair: 15 to 1
        Player or Banker Pair: 3 to 1
        press_includes_stake 8(d)(1)(i): false, true
    """)


def test_627a_what_the_holder_chooses_and_what_is_shuffled_together() -> None:
    game = adjudicate.games()[GAME]
    assert [(each.name, each.values, each.section) for each in game.options] == [
        ("vigorish", ("on_payout", "marked", "none"), "2(b)(8)"),
        ("press_portion", ("whole", "any_part", "half"), "8(d)(1)(i)"),
        ("decks", (8, 7, 6, 5, 4, 3, 2, 1), "601a.2"),
    ]
    assert (game.decks, game.positions, game.fees) == (8, 9, ("vigorish",))


def test_627a_8_d_chance_is_told_how_cards_fall_and_what_may_be_pressed() -> None:
    placed = HOUSE.replace("2 banker 2000", "1 banker 2000")
    pairs = placed + coup("4c 4d", "7h Ts") + "\n"
    part = {"press_portion": "any_part"}
    steps = asked(GAME, pairs, options=part)
    assert {step.face for step in steps if step.fact == "cards_dealt"} == {"up"}
    [pressed] = [step for step in steps if step.fact == "decision_made"]
    assert (pressed.position, pressed.may, pressed.options) == (1, True, ("press",))
    assert pressed.ways
    assert list(pressed.ways("press")) == [
        {"wager": wager, "amount": amount}
        for wager in ("player", "banker")
        for amount in (500, 1000, 1500)
    ]
    assert pressed.ways.func("p", ("p",), 5, 9, "") == [{"amount": 5}]  # type: ignore[attr-defined]  # bound
    more = asked(GAME, pairs + "press 1 player 500", options=part)
    again = [step for step in more if step.options]
    # Position 2 has nothing to add to, and is asked only because the record has a press.
    assert [len(step.ways("press")) for step in again if step.ways] == [0, 6, 4]
    # Nothing was won, or he has nothing to add it to: he is not asked.
    assert not [step for step in asked(GAME, placed + coup("9c Kd", "7h Ts")) if step.options]
    down = asked(GAME, START + coup("2c 3d 4h", "7h Ts", face="down"))
    turns = [(step.to, step.at) for step in down if step.fact == "cards_turned"]
    assert turns == [("player_hand", (0, 1)), ("banker_hand", (0, 1)), ("player_hand", (2,))]


def filed(**values: object) -> dict[str, object]:
    return {"offers": ("house_money",), **values}


def test_627a_2_b_8_marked_vigorish_is_paid_once_the_win_is_paid_whole() -> None:
    marked = filed(options={"vigorish": "marked"})
    script = START + coup("2c 3d", "4h 4s")
    owed = """
        complete
        3 tie     500 lose  -500 627a.12
        2 banker 2000 win  +2000 627a.12 Banker's Hand, vigorish marked, 1 to 1
        2 vigorish 100 lose -100 627a.2(b)(8)
        1 player 1000 lose -1000 627a.12
    """
    check(script, owed, filed=marked)
    paid = script + "\n take 3 tie 500\n pay 2 banker 2000\n fee 2 vigorish 100\n"
    check(paid + "take 1 player 1000\n done", owed, filed=marked)
    check(
        paid.replace("fee 2 vigorish 100\n", "") + "take 1 player 1000\n done",
        owed
        + """
        ! not_collected 2 vigorish 100 / 0 627a.2(b)(8)
    """,
        filed=marked,
    )
    for lost_or_tied in (coup("9c Kd", "7h Ts"), coup("9c 9d", "4h 4s")):
        found = text(ruling(START + lost_or_tied, GAME, filed=marked))
        assert not [line for line in found if "vigorish 1" in line]


def test_627a_2_b_8_of_odd_cents_marked_vigorish_leaves_what_19_to_20_would_pay() -> None:
    # 19 of 20 parts of $7.00 are $6.65; in quarters $6.50, so that 50 cents are vigorish.
    script = START.replace("banker 2000", "banker 700") + coup("2c 3d", "4h 4s")
    for unit, vigorish in ((1, 35), (25, 50)):
        found = text(ruling(script, GAME, filed=filed(options={"vigorish": "marked"}, unit=unit)))
        assert f"2 vigorish {vigorish} lose -{vigorish} 627a.2(b)(8)" in found
        paid = text(ruling(script, GAME, filed=filed(unit=unit)))
        exact = "" if 700 - vigorish == 665 else " exact 665"
        assert f"2 banker 700 win +{700 - vigorish}{exact} 627a.12 Banker's Hand, 19 to 20" in paid


# The Banker draws to 5 a 2, and has 7 with three cards; the Player has 6, or 7.
DRAGON = coup("6c Kd", "5h Ts 2s")


def test_627a_2_b_8_without_vigorish_a_win_with_three_cards_and_7_points_pushes() -> None:
    free = filed(options={"vigorish": "none"})
    check(
        START + DRAGON,
        """
        complete
        3 tie     500 lose  -500 627a.12
        2 banker 2000 push    +0 627a.12 Banker's Hand of three cards and 7 points, Push
        1 player 1000 lose -1000 627a.12
    """,
        filed=free,
    )
    check(START + DRAGON, f"complete {BANKER_WINS}")
    for won in (coup("6c Kd", "7h Ts"), coup("6c Kd", "5h Ts 3s"), coup("6c Kd", "5h Ts 4s")):
        check(
            START + won,
            """
            complete
            3 tie     500 lose  -500 627a.12
            2 banker 2000 win  +2000 627a.12 Banker's Hand, no vigorish, 1 to 1
            1 player 1000 lose -1000 627a.12
        """,
            filed=free,
        )
    check(START + coup("7c Kd", "5h Ts 2s"), f"complete {TIE}", filed=free)
    check(START + coup("2c 3d 4s", "5h Ts 2s"), f"complete {PLAYER_WINS}", filed=free)


def test_627a_12_odds_of_the_holders_own_and_his_decks() -> None:
    own = filed(paytables={"tie": {"tie": "9 to 1"}, "banker": {"banker": "9 to 10"}})
    found = text(ruling(START + coup("9c 9d", "4h 4s"), GAME, filed=own))
    assert "3 tie 500 win +4500 627a.12 Tie, 9 to 1" in found
    assert "2 banker 2000 push +0 627a.12 Tie, Push" in found
    found = text(ruling(START + coup("2c 3d", "4h 4s"), GAME, filed=own))
    assert "2 banker 2000 win +1800 627a.12 Banker's Hand, 9 to 10" in found
    twice = START + coup("9c 9c", "4h 4s")
    check(twice, f"complete {TIE}")
    one = text(ruling(twice, GAME, filed=filed(options={"decks": 1})))
    assert one[-1] == "! duplicate_card None / 9c"
    four = START + coup("9c 9c", "9c 9c")
    three = text(ruling(four, GAME, filed=filed(options={"decks": 3})))
    assert three[-1] == "! duplicate_card None / 9c"
    assert not [each for each in text(ruling(four, GAME)) if each.startswith("!")]


def test_627a_7_8_a_record_cut_anywhere_says_what_comes_next() -> None:
    script, steps = HOUSE, [
        ("", "cards_dealt player_hand 627a.8(d)"),
        ("deal player_hand up 2c\n", "cards_dealt banker_hand 627a.8(d)"),
        ("deal banker_hand up 7h\n", "cards_dealt player_hand 627a.8(d)"),
        ("deal player_hand up 2d\n", "cards_dealt banker_hand 627a.8(d)"),
        ("deal banker_hand up Ts\n", "wager_paid position 2 house_money 1500 627a.12(g)"),
        ("pay 2 house_money 1500\n", "wager_paid position 1 house_money 1500 627a.12(g)"),
        ("pay 1 house_money 1500\n", "cards_dealt player_hand 627a.8(d)(2)"),
        ("press 1 player 500\n", "cards_dealt player_hand 627a.8(d)(2)"),
        ("deal player_hand up As\n", "wager_paid position 2 banker 1900 627a.12"),
        ("pay 2 banker 1900\n", "wager_collected position 1 player 1500 627a.12"),
        ("take 1 player 1500\n", "round_completed dealer 627a.12"),
    ]  # fmt: skip
    for fact, following in steps:
        script += fact
        assert text(ruling(script, GAME), following=True)[-1] == f"> {following}", script
    assert text(ruling("start", GAME))[-1] == "> wager_placed dealer player 627a.7(a)"
    placed = "start\n 2 banker 2000\n 1 house_money 500"
    assert text(ruling(placed, GAME))[-1] == "> no_more_bets_called dealer 627a.7(c)"


def test_627a_8_cards_face_down_are_the_cards_that_are_turned() -> None:
    down = START + coup("?? ??", "?? ??", face="down") + "\n"
    assert text(ruling(down, GAME)) == ["awaiting", "> cards_turned player_hand 627a.8(d)"]
    turned = down + "show player_hand 2c 3d\n"
    assert text(ruling(turned, GAME))[-1] == "> cards_turned banker_hand 627a.8(d)"
    turned += "show banker_hand 7h Ts\n"
    assert text(ruling(turned, GAME))[-1] == "> cards_dealt player_hand 627a.8(d)(2)"
    third = turned + "deal player_hand ??\n"
    assert text(ruling(third, GAME))[-1] == "> cards_turned player_hand 627a.8(d)(2)"
    check(third + "show player_hand 2 4h", f"complete {PLAYER_WINS}")
    # Read by the shoe, and the turns sent by no device.
    check(START + coup("2c 3d 4h", "7h Ts", face="down"), f"complete {PLAYER_WINS}")


def test_627a_8_where_cards_are_not_known_what_was_dealt_and_pressed_is_taken_as_it_is() -> None:
    thirds = "deal player_hand up 4h\n deal banker_hand up 2s\n done"
    script = HOUSE + coup("?? 3d", "7h Ts") + "\n press 1 player 9900\n" + thirds
    assert text(ruling(script, GAME)) == [
        "awaiting",
        "> wager_paid position 2 house_money 627a.8(d)(1)",
    ]


def test_627a_8_a_card_that_a_device_lost_leaves_open_what_the_cards_decide() -> None:
    # The shoe lost the Player's second card, so that the third looks like it.
    dealt = coup("2c 3d 4h", "7h Ts").split("\n")
    told = [f"{line} | by shoe seq {number}" for number, line in enumerate(dealt)]
    script = HOUSE + "\n".join([*told[:2], *told[3:]]) + "\n done"
    found = text(ruling(script, GAME))
    assert found[0] == "awaiting"
    assert [line.split()[1] for line in found if line.startswith("!")] == ["fact_missing"]
    # Turned, it is known.
    turns = "show player_hand 2c 3d\n show banker_hand 7h Ts\n show player_hand 2 4h"
    shown = script.replace("done", turns)
    found = text(ruling(shown, GAME))
    assert found[0] == "complete"
    assert "1 player 1000 win +1000 627a.12 Player's Hand, 1 to 1" in found
    # What another device lost says nothing of the cards.
    layout = NATURAL.replace("1 player 1000", "1 player 1000 | by layout seq 1")
    layout = layout.replace("2 banker 2000", "2 banker 2000 | by layout seq 3")
    found = text(ruling(layout, GAME))
    assert found[:3] == lines(f"complete {ONE}")
