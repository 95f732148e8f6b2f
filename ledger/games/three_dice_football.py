"""Three Dice Football, 58 Pa. Code Chapter 661a: a drive of up to six downs with three dice.

Two greens (offensive) go against one red (defensive). The field decides full game wagers (.3(b)).
The dice of one throw decide single play wagers (.3(d), .6(d)). One round is one game.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.rules.engine.game import (
    DiceProcedures,
    Edition,
    Game,
    Irregularity,
    PlayerModel,
    Reading,
    Rotation,
    Wager,
)
from ledger.rules.engine.odds import paytable, row
from ledger.rules.hands.dice import Throw

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.record.wire import Fact
    from ledger.rules.engine.odds import Paytable
    from ledger.rules.engine.table import Table

    Others = dict[str, tuple["Drive", ...]]  # by reading: endings under its other value


class Drive(NamedTuple):
    """The ending of a game, which decides full game wagers."""

    scored: bool  # a touchdown or a Trips TD
    plays: int
    last: Throw


def _scored_in(plays: int) -> Callable[[Drive], bool]:
    return lambda drive: drive.scored and drive.plays == plays


def _lasted(plays: int) -> Callable[[Drive], bool]:
    return lambda drive: drive.plays == plays


def _ones(count: int) -> Callable[[Throw], bool]:
    return lambda throw: throw.ones == count


BIG_PLAY_YARDS, SPLIT_YARDS = 7, 4  # 3(d)(6); 3(d)(7)-(8): exactly 4 yards loses Over and Under

TOUCHDOWN = paytable(
    "touchdown", "8(a)", [row("Touchdown Wager", lambda drive: drive.scored, "1 to 1")]
)
DEFENSE = paytable(
    "defense", "8(a)", [row("Defense Wager", lambda drive: not drive.scored, "4 to 5")]
)
# One 1 or more, or any triple other than 1s (3(b)(3)(i)-(ii)).
EXTRA_POINT = paytable(
    "extra_point",
    "8(a)",
    [
        row("A 1 appearing on one of the dice", _ones(1), "1 to 1"),
        row("A 1 appearing on two of the dice", _ones(2), "10 to 1"),
        row("A triple of 1s", _ones(3), "50 to 1"),
        row("Any triple other than 1s", lambda d: d.triple and d.ones == 0, "10 to 1"),
    ],
)
QUICK_STRIKE = paytable(
    "quick_strike_td",
    "8(a)",
    [
        row("Play One", _scored_in(1), "8 to 1"),
        row("Play Two", _scored_in(2), "5 to 1"),
        row("Play Three", _scored_in(3), "3 to 1"),
        row("Play Four", _scored_in(4), "1 to 1"),
    ],
)
GAME_CHANGER = paytable(
    "game_changer",
    "8(a)",
    [row("Game Change Wager", lambda drive: drive.last.triple or drive.last.turnover, "5 to 1")],
)
# The six of 3(b)(6)(i)-(vi).
GAME_LENGTH = tuple(
    paytable(f"game_length_{plays}", "8(a)", [row(label, _lasted(plays), odds)])
    for plays, label, odds in (
        (1, "One play", "22 to 1"),
        (2, "Two plays", "22 to 1"),
        (3, "Three plays", "6 to 5"),
        (4, "Four plays", "5 to 1"),
        (5, "Five plays", "3 to 1"),
        (6, "Six plays", "6 to 1"),
    )
)
TRIPS_TD = paytable("trips_td", "8(b)", [row("Trips TD Wager", lambda d: d.triple, "30 to 1")])
PENALTY = paytable(
    "penalty", "8(b)", [row("Penalty Wager", lambda d: d.penalty or d.turnover, "9 to 1")]
)
TURNOVER = paytable("turnover", "8(b)", [row("Turnover Wager", lambda d: d.turnover, "60 to 1")])
COVER_THREE = paytable(
    "cover_three",
    "8(b)",
    [row("Cover Three Wager", lambda d: d.triple or d.penalty or d.turnover, "7 to 1")],
)
NO_GAIN = paytable(
    "no_gain",
    "8(b)",
    # A triple gains no yards by the dice, but is a touchdown; .3(d)(5) does not name it.
    [row("No Gain Wager", lambda d: d.gain == 0 and not d.triple, "5 to 1")],
)
BIG_PLAY = paytable(
    "big_play",
    "8(b)",
    [row("Big Play Wager", lambda d: d.gain >= BIG_PLAY_YARDS or d.triple, "4 to 1")],
)
OVER_FOUR = paytable(
    "over_four",
    "8(b)",
    [
        row("Over 4 Yards Wager with Trips TD", lambda d: d.triple, "7 to 1"),
        row("Over 4 Yards Wager", lambda d: d.gain > SPLIT_YARDS, "1 to 1"),
    ],
)
UNDER_FOUR = paytable(
    "under_four",
    "8(b)",
    [row("Under 4 Yards Wager", lambda d: d.gain < SPLIT_YARDS and not d.triple, "1 to 1")],
)

SINGLE_PLAY = {
    table.wagers[0]: table
    for table in (
        TRIPS_TD,
        PENALTY,
        TURNOVER,
        COVER_THREE,
        NO_GAIN,
        BIG_PLAY,
        OVER_FOUR,
        UNDER_FOUR,
    )
}
BY_LENGTH = {table.wagers[0]: table for table in (QUICK_STRIKE, GAME_CHANGER, *GAME_LENGTH)}
FULL_GAME = ("touchdown", "defense", "extra_point", *BY_LENGTH)

FIRST_DOWN_YARDS, GOAL_YARDS, DOWNS = 20, 10, 3

READINGS = (
    Reading(
        "new_downs",
        ("on_reaching_10", "after_third_down"),
        "6(e)",
        "Three more downs follow a 1st & Goal: from the throw that reaches the 10 yard line, "
        "or only once three downs are played.",
    ),
    Reading(
        "touchdown_at",
        ("zero_or_beyond", "beyond_zero"),
        "1",
        "A touchdown is scored when the 0 yard line is passed: on reaching it, or beyond it. "
        "The second makes Game Length six favour the player.",
    ),
)


class FieldPosition(NamedTuple):
    """The state of a game after a throw."""

    yards: int = FIRST_DOWN_YARDS
    down: int = 0  # downs played of the current three
    plays: int = 0
    earned: bool = False  # the 10 yard line was reached
    goal: bool = False  # the three more downs have begun
    drive: Drive | None = None  # the ending, once the game has ended


def play(t: Table) -> None:
    """One game, from the Down Puck on 1st Down to the extra point; paid by section 8 (6(g))."""
    opening = t.wagers(FULL_GAME, "6(b)")
    t.wagers(tuple(SINGLE_PLAY), "6(b)", throw=1)
    t.awaits(("touchdown",), "6(b)")
    t.within_positions("2(a)")
    t.offered_dice("7(a)")
    t.mark("down", 1, "6(a)")
    t.mark("yard", FIRST_DOWN_YARDS, "6(a)")
    t.mark("game_length", 1, "6(a)")
    drive, others = _drive(t, opening)
    if drive.scored:
        _score(t, drive, others)
    else:
        _stop(t, drive, others)


def _drive(t: Table, opening: list[Fact]) -> tuple[Drive, Others]:
    """Throw until the game ends. Each throw decides its single play wagers (6(c)-(e)).

    A throw that is invalid or called no roll does not count (5(b), 5(c), 5(f), 5(g)). Returns how
    the game ended, and how it would have ended under each other reading.
    """
    field, throws = FieldPosition(), []
    while True:
        fact, dice = t.throw("5(a)")
        throw = Throw(*dice)
        throws.append(throw)
        field = _after(field, throw, t.rules.readings)
        if field.plays == 1:
            t.close(opening, fact, "3(c)")
        if field.drive:
            return field.drive, _read_otherwise(throws, t.rules.readings)
        _move_markers(t, throw, field)
        _settle_single_play(t, throw, field.plays)
        t.wagers(tuple(SINGLE_PLAY), "3(e)", throw=field.plays + 1)


def _after(field: FieldPosition, throw: Throw, readings: Mapping[str, str | bool]) -> FieldPosition:
    """The field after a throw (6(c)).

    A turnover and a Trips TD end the game (6(c)(4), 6(c)(5)), and so do three downs without a 1st &
    Goal (6(e)(1)).
    """
    at_zero = readings["touchdown_at"] == "zero_or_beyond"
    at_once = readings["new_downs"] == "on_reaching_10"
    plays, down, goal = field.plays + 1, field.down + 1, field.goal
    yards = field.yards + (1 if throw.penalty else -throw.gain)
    scored = throw.triple or yards < 0 or (at_zero and yards == 0)
    earned = field.earned or yards <= GOAL_YARDS
    if scored or throw.turnover or (down == DOWNS and (goal or not earned)):
        return field._replace(plays=plays, drive=Drive(scored, plays, throw))
    if earned and not goal and (at_once or down == DOWNS):
        goal, down = True, 0
    return FieldPosition(yards, down, plays, earned, goal)


def keeps_dice(throws: Sequence[Sequence[int]], readings: Mapping[str, str | bool]) -> bool | None:
    """Whether these throws ended in a touchdown or Trips TD (7(a)); None without an end."""
    field = FieldPosition()
    for dice in throws:
        field = _after(field, Throw(*dice), readings) if field.drive is None else field
    return field.drive.scored if field.drive else None


def _read_otherwise(throws: Sequence[Throw], readings: Mapping[str, str | bool]) -> Others:
    """The endings under each other reading: every possible one, if the game would go on there."""
    found: Others = {}
    for reading in READINGS:
        [other] = [value for value in reading.values if value != readings[reading.name]]
        field = FieldPosition()
        for throw in throws:
            if field.drive is None:
                field = _after(field, throw, {**readings, reading.name: other})
        found[reading.name] = (field.drive,) if field.drive else _endings(field, throw)
    return found


TRIPS = Throw(1, 1, 1)


def _endings(field: FieldPosition, last: Throw) -> tuple[Drive, ...]:
    """The possible endings of a game that goes on: by a Trips TD or no score, in each play left."""
    most = field.plays - field.down + (DOWNS if field.goal else 2 * DOWNS)
    later = range(field.plays + 1, most + 1)
    return tuple(Drive(how is TRIPS, plays, how) for plays in later for how in (TRIPS, last))


def _depends(t: Table, table: Paytable, drive: Drive, others: Others) -> list[str]:
    """The readings that decide how, or whether, a full game wager is settled."""
    row = table.pays(drive, t.rules.readings)
    return [
        reading
        for reading, drives in others.items()
        if any(table.pays(other, t.rules.readings) is not row for other in drives)
    ]


def _move_markers(t: Table, throw: Throw, field: FieldPosition) -> None:
    """Move the Yard Marker, Game Length Puck and Down Puck (4-6, or 1-3: 1st to 3rd & Goal)."""
    moved = "6(c)(2)" if throw.penalty else "6(c)(1)" if throw.gain else "6(c)(3)"
    if throw.penalty or throw.gain:
        t.mark("yard", field.yards, moved)
    down = field.down + 1
    if field.goal:
        t.mark("down", DOWNS + down, "6(e)(2)", or_at=down)
    else:
        t.mark("down", down, moved)
    t.mark("game_length", field.plays + 1, moved)


def _score(t: Table, drive: Drive, others: Others) -> None:
    """Settle a touchdown or Trips TD: Defense first, Touchdown and Extra Point last (6(f)(1))."""
    decided = _depends(t, TOUCHDOWN, drive, others)
    for seat, wager in list(t.betting("defense")):
        t.collect(seat, wager, "6(f)(1)", readings=decided)
    _settle_single_play(t, drive.last, drive.plays)
    _settle_by_length(t, drive, others, "6(f)(1)")
    extra = None
    if any(t.betting("extra_point")):
        _, dice = t.throw("6(f)(1)", "extra_point")
        extra = Throw(*dice)
    for seat, wager in list(t.betting("touchdown")):
        t.settle(seat, wager, TOUCHDOWN, drive, "6(f)(2)", readings=decided)
    for seat, wager in list(t.betting("extra_point")):
        t.settle(seat, wager, EXTRA_POINT, extra, "6(f)(1)", readings=_when(drive, others))


def _stop(t: Table, drive: Drive, others: Others) -> None:
    """Settle no touchdown: Touchdown and Extra Point first, then Defense is paid (6(f)(2))."""
    decided = _depends(t, DEFENSE, drive, others)
    for seat, wager in list(t.betting("touchdown", "extra_point")):
        t.collect(seat, wager, "6(f)(2)", readings=decided)
    for seat, wager in list(t.betting("defense")):
        t.settle(seat, wager, DEFENSE, drive, "6(f)(1)", readings=decided)
    _settle_single_play(t, drive.last, drive.plays)
    _settle_by_length(t, drive, others, "6(f)(2)")


def _when(drive: Drive, others: Others) -> list[str]:
    """The readings that decide which throw is the extra point's: the one after the last play."""
    ending = (drive.scored, drive.plays)
    return [
        reading
        for reading, drives in others.items()
        if any((other.scored, other.plays) != ending for other in drives)
    ]


def _settle_single_play(t: Table, throw: Throw, plays: int) -> None:
    """Settle single play wagers by the dice, at once, not by yards on the field (5(h), 6(d))."""
    for seat, wager in list(t.betting(*SINGLE_PLAY)):
        t.settle(seat, wager, SINGLE_PLAY[wager], throw, "6(d)", throw=plays)


def _settle_by_length(t: Table, drive: Drive, others: Others, lost: str) -> None:
    """Settle the full game wagers on the length and the ending of the game."""
    for seat, wager in list(t.betting(*BY_LENGTH)):
        table = BY_LENGTH[wager]
        t.settle(seat, wager, table, drive, lost, readings=_depends(t, table, drive, others))


GAME = Game(
    id="three_dice_football",
    title="Three Dice Football",
    editions=(Edition("661a", "proposed", None, None, "43 Pa.B., Doc. No. 13-230"),),
    play=play,
    positions=16,
    deck=frozenset(),
    wagers=(
        Wager("touchdown", "Touchdown Wager", "3(b)(1)"),
        Wager("defense", "Defense Wager", "3(b)(2)"),
        Wager("extra_point", "Extra Point Wager", "3(b)(3)"),
        Wager("quick_strike_td", "Quick Strike TD Wager", "3(b)(4)"),
        Wager("game_changer", "Game Changer Wager", "3(b)(5)"),
        *(
            Wager(f"game_length_{plays}", f"Game Length Wager, {name}", f"3(b)(6)({numeral})")
            for plays, name, numeral in (
                (1, "one play", "i"),
                (2, "two plays", "ii"),
                (3, "three plays", "iii"),
                (4, "four plays", "iv"),
                (5, "five plays", "v"),
                (6, "six plays", "vi"),
            )
        ),
        Wager("trips_td", "Trips TD Wager", "3(d)(1)"),
        Wager("penalty", "Penalty Wager", "3(d)(2)"),
        Wager("turnover", "Turnover Wager", "3(d)(3)"),
        Wager("cover_three", "Cover Three Wager", "3(d)(4)"),
        Wager("no_gain", "No Gain Wager", "3(d)(5)"),
        Wager("big_play", "Big Play Wager", "3(d)(6)"),
        Wager("over_four", "Over Four Yards Wager", "3(d)(7)"),
        Wager("under_four", "Under Four Yards Wager", "3(d)(8)"),
    ),
    paytables=(
        TOUCHDOWN,
        DEFENSE,
        EXTRA_POINT,
        QUICK_STRIKE,
        GAME_CHANGER,
        *GAME_LENGTH,
        *SINGLE_PLAY.values(),
    ),
    readings=READINGS,
    irregularities={"dice_mistotalled": Irregularity("5(e)", void=False, says="the dice rule")},
    rotation=Rotation("dice", (), "7(a)", keeps_dice),
    procedures=DiceProcedures(inspected="603a.13(f)", changed="4(d)", change_hours=24, dice=6),
    not_modelled={
        **dict.fromkeys(("2(b)", "2(c)"), "equipment"),
        **dict.fromkeys((f"5(c)({n})" for n in range(1, 7)), "on camera, not in the feed"),
        **dict.fromkeys(("3(a)", "4(c)", "5(d)", "7(b)"), "on camera, not in the feed"),
    },
    player_model=PlayerModel(
        sometimes={**dict.fromkeys((*FULL_GAME, *SINGLE_PLAY), 60), "touchdown": 600},
        otherwise="touchdown",
        coupon="touchdown",
    ),
)
