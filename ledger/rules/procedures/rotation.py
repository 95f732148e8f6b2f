"""Rotation from round to round: Poker's button, Asia Poker's button, a player's dice.

Each round is compared with the one before it once it is over. A round is not judged if it does not
follow the one on record, or if its places are not recorded. The players are known by seats and, at
Poker, by counted stacks. No section gives a consequence, so no round is void for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.facts import (
    DiceOffered,
    DiceThrown,
    NoRollCalled,
    RoundCompleted,
    RoundStarted,
    RoundVoided,
    SeatLeft,
    SeatTaken,
    StackCounted,
    StartingPositionDetermined,
    TableOpened,
)
from ledger.rules.engine.first_card import PLACES
from ledger.rules.engine.ruling import FactRef
from ledger.rules.procedures.equipment import Judge, Turn

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ledger.rules.engine.game import Rotation

_MANY = 1_000  # more than any table has positions
_KEPT = 3  # rounds: a skewed clock may put a throw into the next one's time


def _opened(j: Judge, _: TableOpened, __: object) -> None:
    j.state.turns, j.state.commences = {}, True


def _turn(j: Judge) -> Turn:
    """The round of a fact, even if its device sends it late."""
    number = j.fact.round.number if j.fact.round else 0
    day = j.fact.round.gaming_day if j.fact.round else ""
    key = f"{day}/{number}"
    if key not in j.state.turns:
        j.state.turns[key] = Turn()
        j.state.turns = dict(list(j.state.turns.items())[-_KEPT:])
    return j.state.turns[key]


def _before(j: Judge) -> Turn | None:
    """The round before that of a fact, if it is on record to its end."""
    if j.fact.round is None:
        return None
    found = j.state.turns.get(f"{j.fact.round.gaming_day}/{j.fact.round.number - 1}")
    return found if found and found.over else None


def _started(j: Judge, body: RoundStarted, _: object) -> None:
    if j.rules and not j.rules.game.rotation:
        return
    turn = _turn(j)
    turn.at, turn.told = body.button, FactRef(j.fact.source, j.fact.id)
    turn.first, j.state.commences = j.state.commences, False
    turn.seats = list(j.state.seats or ())


def _seat_taken(j: Judge, body: SeatTaken, _: object) -> None:
    j.state.seats = sorted({*(j.state.seats or ()), *body.positions})


def _seat_left(j: Judge, body: SeatLeft, _: object) -> None:
    j.state.seats = [seat for seat in j.state.seats or () if seat not in body.positions]


def _stack(j: Judge, body: StackCounted, _: object) -> None:
    turn = _turn(j)
    turn.stacks = sorted({*turn.stacks, body.position})


def _determined(j: Judge, body: StartingPositionDetermined, _: object) -> None:
    turn = _turn(j)
    if body.method == "card_draw":
        turn.drawn = body.position
    elif body.method == "button":
        turn.at, turn.told = body.position, FactRef(j.fact.source, j.fact.id)


def _offered(j: Judge, body: DiceOffered, _: object) -> None:
    _turn(j).offers.append(body.position)


def _thrown(j: Judge, body: DiceThrown, _: object) -> None:
    turn = _turn(j)
    if turn.at is None and body.position:
        turn.at, turn.told = body.position, FactRef(j.fact.source, j.fact.id)
    if body.purpose == "down" and body.offensive and body.defensive:
        turn.throws[_name(j.fact.source, j.fact.id)] = [*body.offensive, body.defensive]


def _no_roll(j: Judge, body: NoRollCalled, _: object) -> None:
    if body.of:
        _turn(j).throws.pop(_name(body.of.source, body.of.id), None)


def _name(source: str, fact_id: str) -> str:
    return f"{source} {fact_id}"


def _over(j: Judge, body: RoundCompleted | RoundVoided, _: object) -> None:
    """Compare a round that is over with the one before."""
    rotation = j.rules.game.rotation if j.rules else None
    if rotation is None:
        return
    turn = _turn(j)
    turn.over, turn.void = True, isinstance(body, RoundVoided)
    if turn.at is not None:
        _ROUND[rotation.what](j, rotation, turn, _before(j))


def _button(j: Judge, rotation: Rotation, turn: Turn, before: Turn | None) -> None:
    """Judge the button: it skips no player of both rounds, and does not stay with a player."""
    at, playing = turn.at or 0, turn.playing
    if before is None or before.at is None:
        if turn.first and playing:
            right, draw = rotation.begins
            due = max(playing) if turn.drawn is None else turn.drawn
            _found(j, turn, due, right if turn.drawn is None else draw, "begins")
        return
    if at == before.at and (before.void or playing in ([], [at])):
        return
    steps = _clockwise(before.at, at)
    passed = [
        (_clockwise(before.at, seat), seat)
        for seat in playing
        if seat in before.playing and _clockwise(before.at, seat) < steps
    ]
    if passed:
        _found(j, turn, min(passed)[1], rotation.moves, "comes next")


def _clockwise(place: int, other: int) -> int:
    """The steps clockwise to another place: a whole round if it is the same."""
    return (other - place - 1) % _MANY + 1


def _start(j: Judge, rotation: Rotation, turn: Turn, before: Turn | None) -> None:
    """Judge the starting place: first the dealer, place 0, then one place clockwise a round."""
    if before is None or before.at is None:
        if turn.first:
            _found(j, turn, 0, rotation.begins[0], "begins")
    elif not (before.void and turn.at == before.at):
        _found(j, turn, (before.at + 1) % PLACES, rotation.moves, "comes next")


def _dice(j: Judge, rotation: Rotation, turn: Turn, before: Turn | None) -> None:
    """Judge the dice: a player who scored keeps them, else they are offered from his left on."""
    if before is None or before.at is None or before.void or not rotation.keeps or not j.rules:
        return
    thrower, seats = before.at, turn.seats
    kept = rotation.keeps(list(before.throws.values()), j.rules.readings)
    at = turn.offers[0] if turn.offers else turn.at or 0
    if kept and thrower in seats:
        _found(j, turn, thrower, rotation.moves, "keeps the dice", at)
    elif kept is False and turn.offers and seats:
        due = min(seats, key=lambda seat: _clockwise(thrower, seat))
        _found(j, turn, due, rotation.moves, "is offered the dice", at)


def _found(j: Judge, turn: Turn, due: int, section: str, what: str, at: int | None = None) -> None:
    """Find whose turn it was on record, and whose it should have been."""
    at = turn.at or 0 if at is None else at
    if at == due:
        return
    was, next_ = (f"position {place}" if place else "the dealer" for place in (at, due))
    j.find(
        "out_of_turn",
        section,
        f"It was the turn of {was}, but {next_} {what}",
        facts=[turn.told] if turn.told else [],
        position=at or None,
        expected=str(due),
        recorded=str(at),
    )


_ROUND: dict[str, Callable[[Judge, Rotation, Turn, Turn | None], None]] = {
    "button": _button,
    "start": _start,
    "dice": _dice,
}

CARE: dict[type, Callable[[Judge, Any, object], None]] = {
    TableOpened: _opened,
    RoundStarted: _started,
    RoundCompleted: _over,
    RoundVoided: _over,
    SeatTaken: _seat_taken,
    SeatLeft: _seat_left,
    StackCounted: _stack,
    StartingPositionDetermined: _determined,
    DiceOffered: _offered,
    DiceThrown: _thrown,
    NoRollCalled: _no_roll,
}
