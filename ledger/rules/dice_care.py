"""The care of dice: inspected before they are thrown, changed in time (603a.13, 661a.4(d))."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ledger.facts import DiceInspected, DiceReceived, DiceRemoved, DiceThrown, TableClosed
from ledger.rules.equipment import HOUR_US, DiceSet, Judge
from ledger.rules.game import DiceProcedures

if TYPE_CHECKING:
    from collections.abc import Callable


def _table_closed(j: Judge, _: TableClosed, __: object) -> None:
    """Dice stay behind for the next opening only to be replaced (661a.4(d) and its like)."""
    for dice in j.state.dice.values():
        dice.stale = True


def _dice_received(j: Judge, body: DiceReceived, _: object) -> None:
    j.state.dice[body.set] = DiceSet(j.fact.time_us)


def _dice_inspected(j: Judge, body: DiceInspected, _: object) -> None:
    if body.set in j.state.dice:
        j.state.dice[body.set].inspected = True


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
        if care.changed is None or care.change_hours is None:
            continue
        overdue = (j.fact.time_us - dice.received_us) // (care.change_hours * HOUR_US)
        if overdue > dice.changes_due or dice.stale:
            why = (
                "since before the table closed"
                if dice.stale
                else f"since more than {care.change_hours * overdue} hours"
            )
            dice.changes_due, dice.stale = max(overdue, dice.changes_due), False
            j.find(
                "dice_change_overdue",
                care.changed,
                f"Set {name} is in use {why}; a set changes every {care.change_hours} hours and "
                f"when the table reopens",
                expected=f"{care.change_hours} h",
                recorded=f"{(j.fact.time_us - dice.received_us) // 60_000_000} min",
            )


CARE: dict[type, Callable[[Judge, Any, object], None]] = {
    TableClosed: _table_closed,
    DiceReceived: _dice_received,
    DiceInspected: _dice_inspected,
    DiceRemoved: _dice_removed,
    DiceThrown: _dice_thrown,
}
