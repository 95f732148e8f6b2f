"""A gaming day by shift: the part of its facts, slips and rounds that falls in each.

A shift begins at its table with the first `drop_box_attached` or `open` count that names it, and
lasts until the next one does. A fact that names a shift is of that shift. A count of a box is of
the shift that the box was attached in. A round is of the shift in which its last fact happened.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

from ledger.facts import DropBoxAttached, InventoryCounted
from ledger.finance.boxes import boxes
from ledger.finance.table_day import RoundsMoney, win
from ledger.finance.win import REPORT_7

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.finance.placing import FactId
    from ledger.finance.table_day import DayRecord
    from ledger.finance.win import AuditException, TableWin
    from ledger.record.wire import Fact

BEGINNING_US, END_US = -(2**63), 2**63 - 1


class ShiftTime(NamedTuple):
    """A time of a table's day in one shift, from its first microsecond to the next time's first."""

    shift: str | None  # None: the day's facts name none
    since_us: int
    until_us: int


def shift_times(facts: Sequence[Fact]) -> list[ShiftTime]:
    """The times of the shifts of a table's day, whose facts are in order of time.

    They leave nothing out: the first one has all that came before it, the last one all after it.
    """
    began: list[tuple[int, str | None]] = []
    for fact in facts:
        shift = _begins(fact)
        if shift is not None and (not began or began[-1][1] != shift):
            began.append((fact.time_us, shift))
    began = [(BEGINNING_US, began[0][1] if began else None), *began[1:]]
    ends = [*(since for since, _ in began[1:]), END_US]
    return [ShiftTime(shift, since, end) for (since, shift), end in zip(began, ends, strict=True)]


def shift_at(times: Sequence[ShiftTime], time_us: int) -> str | None:
    """The shift at a time of a table's day."""
    return next(each.shift for each in times if each.since_us <= time_us < each.until_us)


def wins_of_shifts(of: DayRecord, rounds: Mapping[str | None, RoundsMoney]) -> list[TableWin]:
    """The wins of a table's day by shift, in order of time; parameters as `by_shift`."""
    return [structs.replace(win(part), shift=shift) for shift, part in by_shift(of, rounds)]


def _begins(fact: Fact) -> str | None:
    """The shift that a fact begins."""
    body = fact.body
    if isinstance(body, InventoryCounted):
        return body.shift if body.kind == "open" else None
    return body.shift if isinstance(body, DropBoxAttached) else None


def by_shift(
    of: DayRecord, rounds: Mapping[str | None, RoundsMoney]
) -> list[tuple[str | None, DayRecord]]:
    """The parts of a table's day by shift, in order of time. `rounds`: the money of each shift's.

    The counts of a shift are the opener of the next one, so that the parts sum to the day.
    """
    times = shift_times(of.facts)
    shifts = list(dict.fromkeys(each.shift for each in times))
    place = _Places(of.facts, times, by_stay=of.report >= REPORT_7)
    facts = {shift: [fact for fact in of.facts if place.of(fact) == shift] for shift in shifts}
    slips = {shift: [s for s in of.slips if place.of(s.decides) == shift] for shift in shifts}
    across = _across(of, {shift: [*facts[shift], *_facts_of(slips[shift])] for shift in shifts})
    none = RoundsMoney(of.rounds.game, of.rounds.poker)
    found: list[tuple[str | None, DayRecord]] = []
    before = of.before
    for shift in shifts:
        its = rounds.get(shift, none)._replace(game=of.rounds.game, poker=of.rounds.poker)
        part = of._replace(
            facts=facts[shift],
            slips=slips[shift],
            before=before,
            played=of.played if shift == shifts[0] else (),
            after=of.after if shift == shifts[-1] else (),
            carried=of.carried if shift == shifts[0] else (),
            rounds=its,
            across=across.get(shift, ()),
            sent=[each for each in of.sent if place.of(each.dispatched[0]) == shift],
        )
        found.append((shift, part))
        before = facts[shift]
    return found


def _facts_of(slips: Sequence[Any]) -> list[Fact]:
    return [fact for slip in slips for fact in slip.facts]


class _Places:
    """The shift of each fact of a table's day."""

    def __init__(self, facts: Sequence[Fact], times: Sequence[ShiftTime], *, by_stay: bool) -> None:
        self._times = times
        self._named = {each.shift for each in times if each.shift is not None}
        self._boxes: dict[FactId, str | None] = {}  # of counts, and what the cage verified
        for box in boxes(facts, by_stay=by_stay):
            attached = [each for each in box.moves if isinstance(each.body, DropBoxAttached)]
            for fact in (*box.counts, *box.verified) if attached else ():
                self._boxes[fact.source, fact.id] = self.of(attached[-1])

    def of(self, fact: Fact) -> str | None:
        """The shift that a fact names, that of its box, or that of its time."""
        if (key := (fact.source, fact.id)) in self._boxes:
            return self._boxes[key]
        named: Any = getattr(fact.body, "shift", None)
        return (
            named
            if named in self._named and named is not None
            else shift_at(self._times, fact.time_us)
        )


def _across(
    of: DayRecord, facts: Mapping[str | None, Sequence[Fact]]
) -> dict[str | None, list[AuditException]]:
    """The exceptions that rest on other days too: each in the shift of a fact that it names."""
    shifts = {(fact.source, fact.id): shift for shift, its in facts.items() for fact in its}
    found: dict[str | None, list[AuditException]] = defaultdict(list)
    for each in of.across:
        named = (shifts[ref.source, ref.id] for ref in each.facts if (ref.source, ref.id) in shifts)
        found[next(named, next(iter(facts)))].append(each)
    return found
