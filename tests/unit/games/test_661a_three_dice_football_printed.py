"""Three Dice Football: what its module holds beside what Chapter 661a prints, word for word."""

from __future__ import annotations

from tests.unit.games.rounds import lines, printed, ruling, text
from tests.unit.games.test_661a_three_dice_football import GAME

ASKED_BY_NAME = "the record is asked for wagers by name, and the source is not told the section"
NO_ORDER = "the names of the wagers asked for are a set; each is settled in a step of its own"
NEVER_LOST = "a wager that the branch has already won cannot be lost there"

EQUIVALENT = {
    "SINGLE_PLAY: 0 -> -1": "each of these tables pays one wager: the first is the last",
    "BY_LENGTH: 0 -> -1": "each of these tables pays one wager: the first is the last",
    "BY_LENGTH: (QUICK_STRIKE, GAME_CHANGER, *GAME_LENGTH) -> "
    "(GAME_CHANGER, QUICK_STRIKE, *GAME_LENGTH)": "661a.6(f) gives no order among these",
    "BY_LENGTH: (QUICK_STRIKE, GAME_CHANGER, *GAME_LENGTH) -> "
    "(QUICK_STRIKE, *GAME_LENGTH, GAME_CHANGER)": "661a.6(f) gives no order among these",
    "FULL_GAME: ('touchdown', 'defense', 'extra_point', *BY_LENGTH) -> "
    "('defense', 'touchdown', 'extra_point', *BY_LENGTH)": NO_ORDER,
    "FULL_GAME: ('touchdown', 'defense', 'extra_point', *BY_LENGTH) -> "
    "('touchdown', 'extra_point', 'defense', *BY_LENGTH)": NO_ORDER,
    "FULL_GAME: ('touchdown', 'defense', 'extra_point', *BY_LENGTH) -> "
    "('touchdown', 'defense', *BY_LENGTH, 'extra_point')": NO_ORDER,
    "play: '6(b)' -> '6(c)'": ASKED_BY_NAME,
    "play: '6(b)' -> '6(c)' #2": ASKED_BY_NAME,
    "_endings: 2 -> 3": "no wager is on a seventh play",
    "_endings: Is -> IsNot": "a wager looks at the score or at the last throw, never at both",
    "_endings: (TRIPS, last) -> (last, TRIPS)": NO_ORDER,
    "_drive: '3(e)' -> '4'": ASKED_BY_NAME,
    "_score: '6(f)(2)' -> '6(g)'": NEVER_LOST,
    "_stop: '6(f)(1)' -> '6(f)(2)'": NEVER_LOST,
}
"""Mutants that change nothing, and why."""

EDGES = (
    "touchdown 3.6 defense 6.7 quick_strike_td 5.5 game_changer 3.8 "
    "game_length_1 4.2 game_length_2 6.8 game_length_3 8.0 game_length_4 7.4 game_length_5 12.4 "
    "game_length_6 11.4 extra_point 6.1 trips_td 13.9 penalty 7.4 turnover 15.3 cover_three 3.7 "
    "no_gain 2.8 big_play 5.1 over_four 4.6 under_four 2.8"
)
"""What the house keeps, per cent, under the default readings."""

FAVOURABLE = {
    "touchdown_at=beyond_zero": {"game_length_6"},
    "new_downs=after_third_down": {"touchdown", "extra_point", "game_length_6"},
}
"""Wagers that the player gains on, by reading: each a finding, and none a default."""

LATER: set[str] = set()
"""Wagers made once a die is known: none."""

GAMES = """
    touchdown       3(b)(1)      Touchdown Wager
    defense         3(b)(2)      Defense Wager
    extra_point     3(b)(3)      Extra Point Wager
    quick_strike_td 3(b)(4)      Quick Strike TD Wager
    game_changer    3(b)(5)      Game Changer Wager
    game_length_1   3(b)(6)(i)   Game Length Wager, one play
    game_length_2   3(b)(6)(ii)  Game Length Wager, two plays
    game_length_3   3(b)(6)(iii) Game Length Wager, three plays
    game_length_4   3(b)(6)(iv)  Game Length Wager, four plays
    game_length_5   3(b)(6)(v)   Game Length Wager, five plays
    game_length_6   3(b)(6)(vi)  Game Length Wager, six plays
"""
PLAYS = """
    trips_td    3(d)(1) Trips TD Wager
    penalty     3(d)(2) Penalty Wager
    turnover    3(d)(3) Turnover Wager
    cover_three 3(d)(4) Cover Three Wager
    no_gain     3(d)(5) No Gain Wager
    big_play    3(d)(6) Big Play Wager
    over_four   3(d)(7) Over Four Yards Wager
    under_four  3(d)(8) Under Four Yards Wager
"""


def test_661a_3_5_8_the_tables_are_as_printed() -> None:
    assert printed(GAME) == lines(
        GAMES
        + PLAYS
        + """
        [8(a) touchdown]
        Touchdown Wager: 1 to 1
        [8(a) defense]
        Defense Wager: 4 to 5
        [8(a) extra_point]
        A 1 appearing on one of the dice: 1 to 1
        A 1 appearing on two of the dice: 10 to 1
        A triple of 1s: 50 to 1
        Any triple other than 1s: 10 to 1
        [8(a) quick_strike_td]
        Play One: 8 to 1
        Play Two: 5 to 1
        Play Three: 3 to 1
        Play Four: 1 to 1
        [8(a) game_changer]
        Game Change Wager: 5 to 1
        [8(a) game_length_1]
        One play: 22 to 1
        [8(a) game_length_2]
        Two plays: 22 to 1
        [8(a) game_length_3]
        Three plays: 6 to 5
        [8(a) game_length_4]
        Four plays: 5 to 1
        [8(a) game_length_5]
        Five plays: 3 to 1
        [8(a) game_length_6]
        Six plays: 6 to 1
        [8(b) trips_td]
        Trips TD Wager: 30 to 1
        [8(b) penalty]
        Penalty Wager: 9 to 1
        [8(b) turnover]
        Turnover Wager: 60 to 1
        [8(b) cover_three]
        Cover Three Wager: 7 to 1
        [8(b) no_gain]
        No Gain Wager: 5 to 1
        [8(b) big_play]
        Big Play Wager: 4 to 1
        [8(b) over_four]
        Over 4 Yards Wager with Trips TD: 7 to 1
        Over 4 Yards Wager: 1 to 1
        [8(b) under_four]
        Under 4 Yards Wager: 1 to 1
        new_downs    6(e): on_reaching_10, after_third_down
        touchdown_at 1: zero_or_beyond, beyond_zero
        dice_mistotalled 5(e): play on
        """
    )


def test_661a_3_e_a_wager_when_no_throw_is_left_is_late_under_its_own_paragraph() -> None:
    for row in lines(PLAYS):
        wager, section, *_ = row.split()
        found = text(ruling(f"start\n1 touchdown 10\nthrow 2 2 2\n1 {wager} 300\n", GAME))
        assert found[-1] == f"! late_wager 1 {wager} None / 300 661a.{section}"


def test_661a_6_a_the_pucks_start_on_first_down_the_20_and_play_1() -> None:
    begins = "start\n1 touchdown 10\nmarker down {}\nmarker yard {}\nmarker game_length {}\n"
    assert text(ruling(begins.format(1, 20, 1), GAME))[1:] == ["> dice_thrown dealer 661a.5(a)"]
    found = text(ruling(begins.format(2, 19, 2), GAME))
    assert found[1:4] == lines("""
        ! step_missing 1 / 2 661a.6(a)
        ! step_missing 20 / 19 661a.6(a)
        ! step_missing 1 / 2 661a.6(a)
    """)


def test_661a_7_a_the_dice_go_clockwise_to_the_first_player_who_takes_them() -> None:
    thrown = "start\n1 touchdown 10\n{}\nthrow 2 2 2\n"
    for offers in ("offer 3 taken", "offer 3 no\noffer 4 taken", "offer 15 no\noffer 2 taken"):
        assert "out_of_turn" not in " ".join(text(ruling(thrown.format(offers), GAME)))
    found = text(ruling(thrown.format("offer 3 no\noffer 5 no\noffer 4 taken"), GAME))
    assert found[-1] == "! out_of_turn 4 661a.7(a)"
