"""Handling of dice: inspected before a throw, changed in time (603a.13, 661a.4(d)).

Dice of a shaker only decide where a deal begins, and are only changed in time (659a.2(c)(1)(i)).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledger.facts import (
    DiceDiscrepancyReported,
    DiceInspected,
    DiceOpened,
    DiceReceived,
    DiceRemoved,
    DiceThrown,
    StartingPositionDetermined,
    TableClosed,
)
from ledger.rules.engine.game import DiceProcedures
from ledger.rules.procedures.equipment import HOUR_US, DiceSet, Judge

if TYPE_CHECKING:
    from collections.abc import Callable


def _table_closed(j: Judge, _: TableClosed, __: object) -> None:
    """Note a closing: dice stay for the next opening only to be replaced (661a.4(d), its like)."""
    for dice in j.state.dice.values():
        dice.stale = True


def _dice_received(j: Judge, body: DiceReceived, _: object) -> None:
    j.state.dice[body.set] = DiceSet(j.fact.time_us)


def _dice_inspected(j: Judge, body: DiceInspected, _: object) -> None:
    dice = j.state.dice.get(body.set)
    if dice is None:
        return
    watching = set(body.observed_by) - set(body.by)
    least, paragraph = ALTERNATIVES[body.alternative]
    dice.inspected, dice.alternative, dice.judged = True, body.alternative, False
    dice.flaw = None if body.by and len(watching) >= least else paragraph


def _dice_opened(j: Judge, body: DiceOpened, _: object) -> None:
    """Note dice from a sealed envelope. A broken seal requires another inspection."""
    dice = j.state.dice.get(body.set)
    if dice is not None and not body.seal_intact and dice.alternative in BROKEN_SEAL:
        dice.flaw, dice.judged = BROKEN_SEAL[dice.alternative], False


def _dice_reported(j: Judge, body: DiceDiscrepancyReported, _: object) -> None:
    if body.set in j.state.dice:
        j.state.dice[body.set].reported = True


def _dice_removed(j: Judge, body: DiceRemoved, _: object) -> None:
    j.state.dice.pop(body.set, None)


def _dice_thrown(j: Judge, _: DiceThrown, care: object) -> None:
    """Judge the dice of a throw: inspected, not overdue, not left over from before a closing."""
    if not isinstance(care, DiceProcedures):
        return
    for name, dice in j.state.dice.items():
        if not dice.judged:
            dice.judged = True
            if not dice.inspected:
                says = f"Set {name} was thrown without having been inspected"
                j.find("dice_not_inspected", care.inspected, says, recorded=name)
            elif dice.flaw:
                says = f"Set {name} was thrown, but its inspection was not the required one"
                j.find("dice_not_inspected", dice.flaw, says, recorded=name)
        if dice.reported:
            dice.reported = False
            says = f"Set {name} was thrown after a discrepancy in it was reported"
            j.find("step_missing", "603a.13(g)", says, expected="dice_removed", recorded=name)
        _changed(j, name, dice, care)


def _shaken(j: Judge, body: StartingPositionDetermined, _: object) -> None:
    """Judge a shaker's dice. It may stay over a closing, its dice only for their hours."""
    shaker = j.rules.game.shaker if j.rules else None
    if body.method != "shaker" or shaker is None:
        return
    for name, dice in j.state.dice.items():
        dice.stale = False
        _changed(j, name, dice, shaker)


def _changed(j: Judge, name: str, dice: DiceSet, care: DiceProcedures) -> None:
    """Judge the hours of a set, and that it was changed after the table closed."""
    if care.changed is None or care.change_hours is None:
        return
    overdue = (j.fact.time_us - dice.received_us) // (care.change_hours * HOUR_US)
    if overdue <= dice.changes_due and not dice.stale:
        return
    why = (
        "since before the table closed"
        if dice.stale
        else f"for over {care.change_hours * overdue} hours"
    )
    reopened = "" if j.rules and j.rules.game.shaker else " and when the table reopens"
    dice.changes_due, dice.stale = max(overdue, dice.changes_due), False
    j.find(
        "dice_change_overdue",
        care.changed,
        f"Set {name} has been used {why}; change it every {care.change_hours} hours{reopened}",
        expected=f"{care.change_hours} h",
        recorded=f"{(j.fact.time_us - dice.received_us) // 60_000_000} min",
    )


ALTERNATIVES = {1: (1, "603a.13(f)(1)(ii)"), 2: (1, "603a.13(f)(2)(i)"), 3: (2, "603a.13(f)(3)(i)")}
"""Observers of an inspection by each of the three alternatives, and their paragraphs."""

BROKEN_SEAL = {2: "603a.13(f)(2)(iv)(B)", 3: "603a.13(f)(3)(vi)"}
"""Paragraphs for another inspection of dice that were inspected before they came to the table."""

CARE: dict[type, Callable[[Judge, Any, object], None]] = {
    TableClosed: _table_closed,
    DiceReceived: _dice_received,
    DiceInspected: _dice_inspected,
    DiceOpened: _dice_opened,
    DiceDiscrepancyReported: _dice_reported,
    DiceRemoved: _dice_removed,
    DiceThrown: _dice_thrown,
    StartingPositionDetermined: _shaken,
}
