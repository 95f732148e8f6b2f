"""The care of dice: inspected before they are thrown, changed in time (603a.13, 661a.4(d)).

Dice of a shaker only say where a deal begins, and are changed in time alone (659a.2(c)(1)(i)).
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
    """Dice stay behind for the next opening only to be replaced (661a.4(d) and its like)."""
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
    """Dice kept under a seal: a broken one calls for another inspection."""
    dice = j.state.dice.get(body.set)
    if dice is not None and not body.seal_intact and dice.alternative in BROKEN_SEAL:
        dice.flaw, dice.judged = BROKEN_SEAL[dice.alternative], False


def _dice_reported(j: Judge, body: DiceDiscrepancyReported, _: object) -> None:
    if body.set in j.state.dice:
        j.state.dice[body.set].reported = True


def _dice_removed(j: Judge, body: DiceRemoved, _: object) -> None:
    j.state.dice.pop(body.set, None)


def _dice_thrown(j: Judge, _: DiceThrown, care: object) -> None:
    """A throw with dice not inspected, kept too long, or left over from before the table closed."""
    if not isinstance(care, DiceProcedures):
        return
    for name, dice in j.state.dice.items():
        if not dice.judged:
            dice.judged = True
            if not dice.inspected:
                says = f"Set {name} was thrown without having been inspected"
                j.find("dice_not_inspected", care.inspected, says, recorded=name)
            elif dice.flaw:
                says = f"Set {name} was thrown, and its inspection was not what it is to be"
                j.find("dice_not_inspected", dice.flaw, says, recorded=name)
        if dice.reported:
            dice.reported = False
            says = f"Set {name} was thrown after a discrepancy of it was reported"
            j.find("step_missing", "603a.13(g)", says, expected="dice_removed", recorded=name)
        _changed(j, name, dice, care)


def _shaken(j: Judge, body: StartingPositionDetermined, _: object) -> None:
    """Dice of a shaker; it may stay over the closing of its table, the dice only for their time."""
    shaker = j.rules.game.shaker if j.rules else None
    if body.method != "shaker" or shaker is None:
        return
    for name, dice in j.state.dice.items():
        dice.stale = False
        _changed(j, name, dice, shaker)


def _changed(j: Judge, name: str, dice: DiceSet, care: DiceProcedures) -> None:
    """A set is used for so many hours, and not after the table closed."""
    if care.changed is None or care.change_hours is None:
        return
    overdue = (j.fact.time_us - dice.received_us) // (care.change_hours * HOUR_US)
    if overdue <= dice.changes_due and not dice.stale:
        return
    why = (
        "since before the table closed"
        if dice.stale
        else f"since more than {care.change_hours * overdue} hours"
    )
    reopened = "" if j.rules and j.rules.game.shaker else " and when the table reopens"
    dice.changes_due, dice.stale = max(overdue, dice.changes_due), False
    j.find(
        "dice_change_overdue",
        care.changed,
        f"Set {name} is in use {why}; a set changes every {care.change_hours} hours{reopened}",
        expected=f"{care.change_hours} h",
        recorded=f"{(j.fact.time_us - dice.received_us) // 60_000_000} min",
    )


ALTERNATIVES = {1: (1, "603a.13(f)(1)(ii)"), 2: (1, "603a.13(f)(2)(i)"), 3: (2, "603a.13(f)(3)(i)")}
"""How many must watch an inspection by each of the three alternatives, and where it says so."""

BROKEN_SEAL = {2: "603a.13(f)(2)(iv)(B)", 3: "603a.13(f)(3)(vi)"}
"""Where dice inspected before they came to the table are inspected again."""

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
