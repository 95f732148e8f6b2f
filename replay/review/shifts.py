"""Shifts of surveillance: a person begins one, hands it over with a report, the next countersigns.

Views decide what counts. What is refused here is refused for the person who types it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.cameras import cameras
from consumers.disputes import disputes
from consumers.review import desk, shifts
from consumers.rounds import index
from consumers.rulings import rulings
from ledger.errors import NotFound, Refused, Usage
from ledger.facts import ShiftBegun, ShiftCountersigned, ShiftHandedOver
from replay.recording.house_facts import append_fact, append_first_free, now_us, screen
from replay.review.log import TRIES
from replay.text.times import day

if TYPE_CHECKING:
    from datetime import tzinfo

    from consumers.review.shifts import Shift
    from infra.postgres.connection import Database
    from replay.recording.house_facts import FactWriter
    from replay.review.shift_report import ShiftReport

VIEWS = (desk.VIEW, rulings.VIEW, disputes.VIEW, cameras.CAMERAS, index.ROUND_INDEX)
"""What a report is read from."""

LEFT_OUT_MAX = 1000
"""The most withheld rounds that a fact names; for any other the report is withheld too."""


def find(database: Database, property_: str | None, name: str) -> Shift:
    """The shift of this name. Raises `NotFound`, and `Usage` if two casinos have one."""
    found = shifts.shifts(database, property=property_, shift=name)
    if not found:
        hint = "`round-ledger shift list` lists them."
        raise NotFound(f"There is no shift {name}", where="SHIFT", hint=hint)
    if len(found) > 1:
        names = ", ".join(each.property for each in found)
        raise Usage(f"Several casinos have {name}", where="SHIFT", hint=f"Give one of {names}.")
    return found[0]


def begin(database: Database, record: FactWriter, property_: str, by: str, zone: tzinfo) -> str:
    """Begin a shift; its name. Raises `Refused` if this person has one that is open."""
    mine = open_of(database, by, property_)
    if mine:
        raise Refused(
            f"You have begun {mine.shift} and not handed it over",
            where="shift",
            hint="Hand it over first.",
        )
    prefix = f"SH-{day(now_us(), zone)}-"
    taken = shifts.names_like(database, property_, prefix)
    names = (f"{prefix}{len(taken) + more}" for more in range(1, TRIES))
    made = {name: ShiftBegun(shift=name, by=by) for name in names if name not in taken}
    return append_first_free(record, screen(property_, "shift"), made, "shift")


def hand_over(record: FactWriter, shift: Shift, told: ShiftReport, to: str, by: str) -> int:
    """Hand a shift over with its report; the position of the fact.

    Raises `Usage` if nobody else is named, `Refused` if it is not this person's to hand over.
    """
    receiver = to.strip()
    if not receiver or receiver == by:
        hint = "Give the credential of the person who comes next."
        raise Usage("Nobody else is named", where="to", hint=hint)
    if shift.begun_by != by:
        raise Refused(
            f"Shift {shift.shift} was begun by {shift.begun_by or 'nobody'}",
            where="shift",
            hint="Only the person who began a shift hands it over.",
        )
    if shift.signed_us is not None:
        raise _signed(shift)
    body = ShiftHandedOver(
        shift=shift.shift,
        to=receiver,
        report=told.sha256,
        by=by,
        text=told.text,
        left_out=tuple(map(str, told.left_out[:LEFT_OUT_MAX])),
    )
    return append_fact(record, body, screen(shift.property, "shift")).position


def countersign(record: FactWriter, shift: Shift, by: str) -> int:
    """Countersign a shift; the position of the fact. Raises `Refused` if it is not theirs."""
    if shift.handed_us is None:
        hint = "Wait until it is handed over."
        raise Refused(f"Shift {shift.shift} is still open", where="shift", hint=hint)
    if shift.signed_us is not None:
        raise _signed(shift)
    if by == shift.handed_by or by != shift.to:
        raise Refused(
            f"Shift {shift.shift} is handed over to {shift.to}",
            where="shift",
            hint="Only that person countersigns it, and never the one who handed it over.",
        )
    body = ShiftCountersigned(shift=shift.shift, by=by)
    return append_fact(record, body, screen(shift.property, "shift")).position


def open_of(database: Database, by: str, property_: str | None = None) -> Shift | None:
    """The shift that a person has begun and not handed over."""
    found = shifts.shifts(database, property=property_)
    return next((each for each in found if each.begun_by == by and each.state == "open"), None)


def waiting_for(database: Database, by: str) -> Shift | None:
    """The shift that waits for a person's countersignature; the oldest of several."""
    found = shifts.shifts(database)
    waits = [each for each in found if each.to == by and each.state == "handed over"]
    return waits[-1] if waits else None


def _signed(shift: Shift) -> Refused:
    return Refused(
        f"Shift {shift.shift} was countersigned by {shift.signed_by}",
        where="shift",
        hint="Begin another one.",
    )
