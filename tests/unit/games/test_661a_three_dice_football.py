"""Three Dice Football, Chapter 661a: throws and games settled by hand from sections 1, 3, 6 and 8.

A throw is written with its two offensive (green) dice first and its defensive (red) die last.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.unit.games.rounds import lines, ruling, text

if TYPE_CHECKING:
    from typing import Unpack

    from tests.unit.games.rounds import Around

GAME = "three_dice_football"

# 661a.1 and 661a.6(c): what a throw is, by the total of the offensive dice and the defensive die.
# T turnover, P penalty, else the yards gained; three equal dice are a Trips TD (*) before that.
THROW = """
    total   1   2   3   4   5   6
        2   1   0   P   P   P   T
        3   2   1   0   P   P   T
        4   3   2   1   0   P   P
        5   4   3   2   1   0   P
        6   5   4   3   2   1   0
        7   6   5   4   3   2   1
        8   7   6   5   4   3   2
        9   8   7   6   5   4   3
       10   9   8   7   6   5   4
       11  10   9   8   7   6   5
       12  11  10   9   8   7   6
"""
# 661a.3(d) and 661a.8(b): won on a wager of 1000 by what a throw is; a dot is lost.
SINGLE_PLAY = """
    throw  trips_td  penalty  turnover  cover_three  no_gain  big_play  over_four  under_four
        *     30000        .         .         7000        .      4000       7000           .
        T         .     9000     60000         7000     5000         .          .        1000
        P         .     9000         .         7000     5000         .          .        1000
        0         .        .         .            .     5000         .          .        1000
        1         .        .         .            .        .         .          .        1000
        2         .        .         .            .        .         .          .        1000
        3         .        .         .            .        .         .          .        1000
        4         .        .         .            .        .         .          .           .
        5         .        .         .            .        .         .       1000           .
        6         .        .         .            .        .         .       1000           .
        7         .        .         .            .        .      4000       1000           .
        8         .        .         .            .        .      4000       1000           .
        9         .        .         .            .        .      4000       1000           .
       10         .        .         .            .        .      4000       1000           .
       11         .        .         .            .        .      4000       1000           .
"""
# 661a.8: what each sum above is printed as.
SINGLE_PLAY_ROWS = {
    ("trips_td", 30000): "Trips TD Wager, 30 to 1",
    ("penalty", 9000): "Penalty Wager, 9 to 1",
    ("turnover", 60000): "Turnover Wager, 60 to 1",
    ("cover_three", 7000): "Cover Three Wager, 7 to 1",
    ("no_gain", 5000): "No Gain Wager, 5 to 1",
    ("big_play", 4000): "Big Play Wager, 4 to 1",
    ("over_four", 1000): "Over 4 Yards Wager, 1 to 1",
    ("over_four", 7000): "Over 4 Yards Wager with Trips TD, 7 to 1",
    ("under_four", 1000): "Under 4 Yards Wager, 1 to 1",
}
FULL_GAME_ROWS = {
    ("touchdown", 1000): "Touchdown Wager, 1 to 1",
    ("defense", 800): "Defense Wager, 4 to 5",
    ("extra_point", 1000): "A 1 appearing on one of the dice, 1 to 1",
    ("extra_point", 10000): "A 1 appearing on two of the dice, 10 to 1",
    ("extra_point", 50000): "A triple of 1s, 50 to 1",
    ("quick_strike_td", 8000): "Play One, 8 to 1",
    ("quick_strike_td", 5000): "Play Two, 5 to 1",
    ("quick_strike_td", 3000): "Play Three, 3 to 1",
    ("quick_strike_td", 1000): "Play Four, 1 to 1",
    ("game_changer", 5000): "Game Change Wager, 5 to 1",
    ("game_length_1", 22000): "One play, 22 to 1",
    ("game_length_2", 22000): "Two plays, 22 to 1",
    ("game_length_3", 1200): "Three plays, 6 to 5",
    ("game_length_4", 5000): "Four plays, 5 to 1",
    ("game_length_5", 3000): "Five plays, 3 to 1",
    ("game_length_6", 6000): "Six plays, 6 to 1",
}


def rows_of(table: str) -> dict[str, dict[str, str]]:
    """A table with a heading: row by its first word, then cell by its heading."""
    heading, *rows = (line.split() for line in table.splitlines() if line.strip())
    return {row[0]: dict(zip(heading[1:], row[1:], strict=True)) for row in rows}


KIND, WINS = rows_of(THROW), rows_of(SINGLE_PLAY)


def single_play(throw: tuple[int, int, int], number: int) -> list[str]:
    """What the eight single play wagers of 1000 are owed for one throw."""
    first, second, red = throw
    kind = "*" if first == second == red else KIND[str(first + second)][str(red)]
    found = []
    for wager, won in WINS[kind].items():
        how = "lose -1000 661a.6(d)"
        if won != ".":
            how = f"win +{won} 661a.8(b) {SINGLE_PLAY_ROWS[wager, int(won)]}"
        found.append(f"1 {wager} throw {number} 1000 {how}")
    return found


def check(script: str, expected: str, **around: Unpack[Around]) -> None:
    """A script's whole ruling, line by line."""
    assert text(ruling(script, GAME, **around)) == lines(expected)


SINGLE_BETS = "\n".join(f"1 {wager} 1000" for wager in WINS["*"])


def test_661a_8_b_every_single_play_wager_on_every_throw() -> None:
    for throw in product(range(1, 7), repeat=3):
        script = f"start\n{SINGLE_BETS}\nthrow {' '.join(map(str, throw))}"
        found = [line for line in text(ruling(script, GAME)) if " throw 1 " in line]
        assert found == single_play(throw, 1), throw


def test_661a_3_e_single_play_wagers_placed_during_the_game_go_by_their_own_throw() -> None:
    throws = [(6, 4, 2), (1, 1, 5), (2, 2, 4), (6, 6, 1), (3, 3, 3)]
    script = "start\n"
    expected = []
    for number, throw in enumerate(throws, 1):
        script += f"{SINGLE_BETS}\nthrow {' '.join(map(str, throw))}\n"
        expected += single_play(throw, number)
    # 12, 13, 13: 1st & Goal is not earned in three downs, so only three of them are played.
    assert text(ruling(script, GAME))[1:25] == expected[:24]
    near = [(6, 5, 1), *throws[1:3], (3, 3, 3)]
    script = "start\n"
    expected = []
    for number, throw in enumerate(near, 1):
        script += f"{SINGLE_BETS}\nthrow {' '.join(map(str, throw))}\n"
        expected += single_play(throw, number)
    assert text(ruling(script, GAME)) == ["complete", *expected]


def test_661a_6_d_the_dice_decide_single_play_wagers_and_not_the_yards_on_the_field() -> None:
    # From the 9 yard line a gain of 11 is a Big Play though only 9 yards are left.
    found = text(ruling("start\nthrow 6 6 1\n1 big_play 1000\nthrow 6 6 1\n", GAME))
    assert found == [
        "complete",
        "1 big_play throw 2 1000 win +4000 661a.8(b) Big Play Wager, 4 to 1",
    ]


FULL_BETS = "\n".join(f"1 {wager} 1000" for wager in dict.fromkeys(w for w, _ in FULL_GAME_ROWS))
# Throws / extra point / won or lost of 1000 on each full game wager. Yards left stand in brackets.
GAMES = """
    throws (marker)                    extra   TD   DEF   XP   QS   GC   L1   L2   L3   L4   L5   L6
    111                                        123    1000  -1000   1000  8000   5000  22000     .    .    .    .    .
    666                                        113    1000  -1000  10000  8000   5000  22000     .    .    .    .    .
    222                                        141    1000  -1000  10000  8000   5000  22000     .    .    .    .    .
    333                                        111    1000  -1000  50000  8000   5000  22000     .    .    .    .    .
    444                                        555    1000  -1000 X10000  8000   5000  22000     .    .    .    .    .
    555                                        234    1000  -1000  -1000  8000   5000  22000     .    .    .    .    .
    116                                        -     -1000    800  -1000     .   5000  22000     .    .    .    .    .
    216                                        -     -1000    800  -1000     .   5000  22000     .    .    .    .    .
    661(9) 661(-2)                             231    1000  -1000   1000  5000      .      . 22000    .    .    .    .
    661(9) 222                                 456    1000  -1000  -1000  5000   5000      . 22000    .    .    .    .
    661(9) 126                                 -     -1000    800  -1000     .   5000      . 22000    .    .    .    .
    123(20) 123(20) 123(20)                    -     -1000    800  -1000     .      .      .     . 1200    .    .    .
    641(11) 123(11) 123(11)                    -     -1000    800  -1000     .      .      .     . 1200    .    .    .
    125(21) 135(22) 225(23)                    -     -1000    800  -1000     .      .      .     . 1200    .    .    .
    125(21) 135(22) 224(22)                    -     -1000    800  -1000     .      .      .     . 1200    .    .    .
    552(12) 332(8) 642(0)                      245    1000  -1000  -1000  3000      .      .     . 1200    .    .    .
    552(12) 332(8) 651(-2)                     245    1000  -1000  -1000  3000      .      .     . 1200    .    .    .
    123(20) 123(20) 444                        245    1000  -1000  -1000  3000   5000      .     . 1200    .    .    .
    651(10) 123(10) 123(10) 123(10)            -     -1000    800  -1000     .      .      .     .    . 5000    .    .
    651(10) 125(11) 123(11) 123(11)            -     -1000    800  -1000     .      .      .     .    . 5000    .    .
    642(12) 642(4) 223(3) 332(-1)              222    1000  -1000 X10000  1000      .      .     .    . 5000    .    .
    642(12) 642(4) 223(3) 116                  -     -1000    800  -1000     .   5000      .     .    . 5000    .    .
    642(12) 642(4) 123(4) 123(4) 123(4)        -     -1000    800  -1000     .      .      .     .    .    . 3000    .
    642(12) 642(4) 123(4) 123(4) 332(0)        642    1000  -1000  -1000     .      .      .     .    .    . 3000    .
    123(20) 642(12) 323(10) 123(10) 123(10) 123(10) -  -1000  800  -1000     .      .      .     .    .    .    . 6000
    123(20) 642(12) 323(10) 123(10) 123(10) 651(0) 642  1000 -1000 -1000     .      .      .     .    .    .    . 6000
    123(20) 642(12) 652(3) 126                 -     -1000    800  -1000     .   5000      .     .    . 5000    .    .
    123(20) 642(12) 652(3) 125(4) 125(5) 222   642    1000  -1000  -1000     .   5000      .     .    .    .    . 6000
"""  # noqa: E501 - a reviewer reads a game at a glance


def played(throws: str, extra: str, bets: str = FULL_BETS) -> str:
    """A script of throws, without what is in brackets."""
    script = f"start\n{bets}\n"
    for throw in throws.split():
        script += "throw " + " ".join(throw.partition("(")[0]) + "\n"
    return script + (f"extra {' '.join(extra)}\n" if extra != "-" else "")


def games() -> list[tuple[str, str, list[str]]]:
    """Throws, the extra point and the eleven sums of each game."""
    found = []
    for line in GAMES.splitlines()[2:]:
        words = line.split()
        if words:
            found.append((" ".join(words[:-12]), words[-12], words[-11:]))
    return found


@pytest.mark.parametrize(("throws", "extra", "sums"), games())
def test_661a_8_a_every_full_game_wager(throws: str, extra: str, sums: list[str]) -> None:
    scored = extra != "-"
    lost = "661a.6(f)(1)" if scored else "661a.6(f)(2)"
    expected = []
    for wager, cell in zip(dict.fromkeys(w for w, _ in FULL_GAME_ROWS), sums, strict=True):
        if cell in (".", "-1000"):
            expected.append(f"1 {wager} 1000 lose -1000 {lost}")
            continue
        row = FULL_GAME_ROWS[wager, int(cell.removeprefix("X"))]
        if cell.startswith("X"):
            row = "Any triple other than 1s, 10 to 1"
        expected.append(f"1 {wager} 1000 win +{cell.removeprefix('X')} 661a.8(a) {row}")
    found = text(ruling(played(throws, extra), GAME))
    assert found[0] == "complete"
    assert sorted(line.partition(" [")[0] for line in found[1:]) == sorted(expected)
    # One throw fewer and the game is not over.
    open_game = text(ruling(played(" ".join(throws.split()[:-1]), "-"), GAME))
    assert open_game[0] == "awaiting"


# Games that the other value of a reading would settle otherwise, or not yet: which wagers.
READ = {
    "552 332 642": "touchdown_at: touchdown defense extra_point quick_strike_td game_changer "
    "game_length_3 game_length_4 game_length_5",
    "642 642 123 123 332": "touchdown_at: touchdown defense extra_point",
    "123 642 323 123 123 651": "touchdown_at: touchdown defense extra_point",
    "651 123 123 123": "new_downs: touchdown defense extra_point game_changer "
    "game_length_4 game_length_5 game_length_6",
    "651 125 123 123": "new_downs: touchdown defense extra_point game_changer "
    "game_length_4 game_length_5 game_length_6",
    "642 642 123 123 123": "new_downs: touchdown defense extra_point game_changer "
    "game_length_5 game_length_6",
}


@pytest.mark.parametrize(("throws", "extra", "sums"), games())
def test_661a_1_6_e_a_settlement_names_the_reading_that_it_depended_on(
    throws: str, extra: str, sums: list[str]
) -> None:
    del sums
    plain = " ".join(throw.partition("(")[0] for throw in throws.split())
    reading, _, wagers = READ.get(plain, "").partition(": ")
    found = ruling(played(throws, extra), GAME)
    named = {s.wager: (s.reading, s.reading_value) for s in found.settlements if s.reading}
    value = {"touchdown_at": "zero_or_beyond", "new_downs": "on_reaching_10"}.get(reading)
    assert named == dict.fromkeys(wagers.split(), (reading, value))


def test_661a_1_6_e_an_extra_point_depends_on_what_says_after_which_play_it_is_thrown() -> None:
    strict = {"readings": {"touchdown_at": "beyond_zero"}}
    found = ruling(played("642 642 332 223", "123"), GAME, filed=strict)
    named = {s.wager: s.reading for s in found.settlements}
    # Read the other way the game was won one play before: scored all the same.
    assert (named["touchdown"], named["defense"]) == (None, None)
    assert (named["extra_point"], named["game_length_4"]) == ("touchdown_at", "touchdown_at")


def test_661a_1_6_e_a_settlement_that_hangs_on_both_readings_names_both() -> None:
    # The 10 at once, the 0 exactly by the third down after it: the fourth play.
    found = ruling(played("651 123 123 651", "123"), GAME)
    named = {s.wager: (s.reading, s.reading_value) for s in found.settlements}
    assert named["touchdown"] == ("touchdown_at", "zero_or_beyond")
    later = {"readings": {"new_downs": "after_third_down", "touchdown_at": "beyond_zero"}}
    found = ruling(played("651 642 125 125 123 123", "-"), GAME, filed=later)
    assert {s.wager: s.reading for s in found.settlements}["game_length_6"] == "new_downs"
    found = ruling(played("651 123 123 651 123 651", "123"), GAME, filed=later)
    named = {s.wager: (s.reading, s.reading_value) for s in found.settlements}
    both = ("new_downs, touchdown_at", "after_third_down, beyond_zero")
    assert named["game_length_6"] == both


def test_661a_1_6_e_a_game_that_would_go_on_may_last_as_many_plays_as_it_has_downs_left() -> None:
    later = {"readings": {"new_downs": "after_third_down"}}
    found = ruling(played("651 651", "123"), GAME, filed=later)
    named = {s.wager for s in found.settlements if s.reading == "touchdown_at"}
    assert {f"game_length_{plays}" for plays in range(2, 7)} <= named
    assert "game_length_1" not in named


def test_661a_a_value_of_a_reading_that_the_game_does_not_know_chooses_nothing() -> None:
    for reading in ("touchdown_at", "new_downs"):
        unknown = {"readings": {reading: "as_we_like"}}
        for throws in ("642 642 332", "651 123 123 123"):
            script = played(throws, "-" if throws[-1] == "3" else "123")
            assert ruling(script, GAME, filed=unknown) == ruling(script, GAME)


def test_661a_6_f_1_after_a_touchdown_defense_goes_first_and_touchdown_and_extra_point_last() -> (
    None
):
    check(
        """
        start
        1 touchdown 1000
        1 extra_point 1000
        1 defense 1000
        1 game_length_2 1000
        2 defense 500
        2 touchdown 500
        throw 6 6 1
        1 big_play 1000
        throw 6 6 1
        extra 5 1 6
        """,
        """
        complete
        1 defense       1000 lose  -1000 661a.6(f)(1)
        2 defense        500 lose   -500 661a.6(f)(1)
        1 big_play throw 2 1000 win +4000 661a.8(b) Big Play Wager, 4 to 1
        1 game_length_2 1000 win  +22000 661a.8(a) Two plays, 22 to 1
        1 touchdown     1000 win   +1000 661a.8(a) Touchdown Wager, 1 to 1
        2 touchdown      500 win    +500 661a.8(a) Touchdown Wager, 1 to 1
        1 extra_point   1000 win   +1000 661a.8(a) A 1 appearing on one of the dice, 1 to 1
        """,
    )


def test_661a_6_f_2_without_a_touchdown_touchdown_and_extra_point_go_first_then_defense() -> None:
    check(
        """
        start
        2 game_changer 500
        1 defense 1000
        1 extra_point 1000
        1 touchdown 1000
        2 penalty 500
        throw 1 2 6
        """,
        """
        complete
        1 touchdown    1000 lose -1000 661a.6(f)(2)
        1 extra_point  1000 lose -1000 661a.6(f)(2)
        1 defense      1000 win   +800 661a.8(a) Defense Wager, 4 to 5
        2 penalty throw 1 500 win +4500 661a.8(b) Penalty Wager, 9 to 1
        2 game_changer  500 win  +2500 661a.8(a) Game Change Wager, 5 to 1
        """,
    )


def test_661a_6_f_1_the_extra_point_is_thrown_only_if_someone_wagered_on_it() -> None:
    won = "1 touchdown 1000 win +1000 661a.8(a) Touchdown Wager, 1 to 1"
    check("start\n1 touchdown 1000\nthrow 2 2 2\n", f"complete\n{won}")
    check(
        "start\n1 touchdown 1000\n2 extra_point 100\nthrow 2 2 2\n",
        "awaiting\n> dice_thrown dealer 661a.6(f)(1)",
    )


def test_661a_6_e_new_downs_start_on_reaching_the_10_or_after_the_third_down() -> None:
    # The 10 is reached by the first throw, then nothing is gained.
    bets = "1 game_length_4 1000\n1 game_length_6 1000"
    four, six = "651 123 123 123", "651 123 123 123 123 123"
    check(
        played(four, "-", bets),
        """
        complete
        1 game_length_4 1000 win +5000 661a.8(a) Four plays, 5 to 1 [new_downs on_reaching_10]
        1 game_length_6 1000 lose -1000 661a.6(f)(2) [new_downs on_reaching_10]
        """,
    )
    later = {"readings": {"new_downs": "after_third_down"}}
    assert text(ruling(played(four, "-", bets), GAME, filed=later))[0] == "awaiting"
    check(
        played(six, "-", bets),
        """
        complete
        1 game_length_4 1000 lose -1000 661a.6(f)(2) [new_downs after_third_down]
        1 game_length_6 1000 win +6000 661a.8(a) Six plays, 6 to 1 [new_downs after_third_down]
        """,
        filed=later,
    )
    # Reached only by the third down, both readings give three more; never reached, neither does.
    for throws, extra in (("123 642 323 123 123 123", "-"), ("123 123 123", "-"), ("666", "123")):
        script = played(throws, extra)
        assert text(ruling(script, GAME)) == text(ruling(script, GAME, filed=later))


def test_661a_1_a_touchdown_is_at_the_0_yard_line_or_only_beyond_it() -> None:
    beyond = "642 642 651"
    strict = {"readings": {"touchdown_at": "beyond_zero"}}
    assert text(ruling(played("642 642 223 332", "123"), GAME)) == text(
        ruling(played("642 642 223 332", "123"), GAME, filed=strict)
    )
    assert text(ruling(played(beyond, "123"), GAME)) == text(
        ruling(played(beyond, "123"), GAME, filed=strict)
    )
    # 12, 4, then 4 yards exactly: the 0 yard line is reached and not passed.
    reached = "642 642 332"
    bets = "1 touchdown 1000"
    won = "1 touchdown 1000 win +1000 661a.8(a) Touchdown Wager, 1 to 1"
    at_zero = "[touchdown_at zero_or_beyond]"
    both = "[new_downs, touchdown_at on_reaching_10, beyond_zero]"
    check(played(reached, "-", bets), f"complete\n{won} {at_zero}")
    assert text(ruling(played(reached, "-", bets), GAME, filed=strict))[0] == "awaiting"
    check(
        played(reached + " 123 123", "-", bets),
        f"complete\n1 touchdown 1000 lose -1000 661a.6(f)(2) {both}",
        filed=strict,
    )
    check(played(reached + " 223", "-", bets), f"complete\n{won}", filed=strict)
