"""The wins of sealed gaming days, by table or by shift: what a version said, and what came later.

A version is worked out from the record up to the numbers it pins, and its digest is compared. Two
shorter ways give the same bytes, as the digest shows: a copy that was kept in a folder, and the
views of a day that nothing changed since.
"""

from __future__ import annotations

import builtins
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Unpack

import msgspec
from msgspec import UNSET, UnsetType

from consumers.finance import shifts, wins
from consumers.finance.corrections import by_other_properties, rows_of_others
from consumers.finance.day_facts import WinsAsked, WinsFilter
from consumers.finance.sealed import seals
from consumers.finance.sealed.pins import (
    facts_at_edge,
    is_beyond,
    late_facts,
    papers_of_days,
    pinned_facts,
    pinned_rows,
)
from consumers.finance.sealed.two_days import in_two_days
from consumers.finance.undecided import (
    Undecided,
    as_undecided,
    boxes_twice,
    corrected_papers,
    equivocations,
)
from infra.files import replace_file
from infra.postgres import tape
from infra.postgres.view_tables import reading
from ledger.errors import NotFound, Unavailable, Usage
from ledger.finance import day_versions
from ledger.finance.day_versions import DayWins
from ledger.finance.placing import by_time
from ledger.finance.shifts import shift_at, shift_times
from ledger.finance.win import REPORT, REPORT_11, AuditException, TableWin
from ledger.record.wire import fact_of
from ledger.rules.engine.ruling import FactRef

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from consumers.finance.sealed.pins import LateFact
    from consumers.finance.wins import DayRecords
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.facts import DaySealed
    from ledger.finance.exceptions import DayKey
    from ledger.record.wire import Fact

VIEWS = (*wins.VIEWS, seals.VIEW)
"""The views to catch up before `read`."""

TABLES = tuple(each.name for view in VIEWS for each in view.tables)
"""The tables of these views."""


class PinnedDay(NamedTuple):
    """A gaming day as the record up to some heads says it."""

    property: str
    gaming_day: str
    heads: dict[str, int]  # number of the last fact that counts, by place
    wins: DayWins
    undecided: Mapping[str, Sequence[Undecided]] = {}  # by table

    @builtins.property  # `property` is a field here
    def missing(self) -> dict[str, list[str]]:
        """What each table lacks; no entry for a table that lacks nothing.

        A fact that was recorded twice is lacking, too, though the wins rest on what came first.
        """
        tables = [as_undecided(w, self.undecided.get(w.table or "", ())) for w in self.wins.tables]
        return {each.table or "": each.missing for each in tables if each.missing}


def pinned_now(database: Database, property_: str | None, gaming_day: str) -> PinnedDay:
    """A gaming day as the record says it at this moment.

    Views that have read the whole record say it at once; else it is worked out from the facts.
    Raises `NotFound` if no fact is of that day, `Usage` if several properties have one.
    """
    with reading(database, TABLES) as store:
        heads: dict[str, dict[str, int]] = defaultdict(dict)
        told = tape.heads(store.connection)
        for head in told:
            name, _, place = head.tape.partition("/")
            heads[name][place] = head.table_seq
        if _have_read(store, max((head.position for head in told), default=0)):
            found = _of_views(store, property_, gaming_day)
        else:
            found = DayWins([], [])
            for name in heads if property_ is None else {property_} & heads.keys():
                its = _of_record(store, name, heads[name], gaming_day)
                found.tables.extend(its.tables)
                found.shifts.extend(its.shifts)
        house = one_house({each.property for each in found.tables}, gaming_day)
        waiting = _waiting(store, house, gaming_day)
    undecided = {table: its for (_, day, table), its in waiting.items() if day == gaming_day}
    return PinnedDay(house, gaming_day, heads[house], found.of(house), undecided)


def _of_views(
    store: ViewStore, property_: str | None, gaming_day: str, report: int = REPORT
) -> DayWins:
    """The wins of a gaming day as the views have it, as a version of the report says them."""
    records = wins.records_of(store, WinsAsked(property_, gaming_day=gaming_day), report=report)
    return DayWins(records.wins(), shifts.of_records(store, records.corrected))


def _of_record(
    store: ViewStore,
    property_: str,
    heads: Mapping[str, int],
    gaming_day: str,
    report: int = REPORT,
) -> DayWins:
    """The wins of a gaming day by the record up to some heads; `report` as in `_of_views`."""
    facts = pinned_facts(store, property_, heads)
    return day_versions.of_day(facts, property_, gaming_day, report)


def _have_read(store: ViewStore, position: int) -> bool:
    """Whether the views of wins have read the record to a position, and withhold no tape."""
    seen = (store.tracking(view.name) for view in wins.VIEWS)
    is_read = all(each is not None and each.position == position for each in seen)
    return is_read and not any(store.parked(view.name) for view in wins.VIEWS)


def one_house(houses: Collection[str], gaming_day: str) -> str:
    """The property that has a gaming day. Raises `NotFound` for none, `Usage` for several."""
    if not houses:
        raise NotFound(
            f"No money is on record for gaming day {gaming_day}",
            where="record",
            hint="List days with `round-ledger win`.",
        )
    if len(houses) > 1:
        raise Usage(
            f"{' and '.join(sorted(houses))} have this gaming day",
            where="--property",
            hint=f"Give --property {min(houses)}.",
        )
    return min(houses)


def read(
    database: Database,
    *,
    kept: Path | None = None,
    by_shift: bool = False,
    as_signed: bool = False,
    **filters: Unpack[WinsFilter],
) -> list[TableWin]:
    """As `wins.read`, or the wins of shifts; with the equivocations that wait in quarantine.

    A sealed day has what its version said, with what came after it. as_signed: a sealed day has
    its tables, and nothing that came after it. kept: the folder of versions worked out before.
    """
    asked = WinsAsked(**filters)
    with reading(database, TABLES) as store:
        records = wins.records_of(store, asked)
        by = shifts.of_records(store, records.corrected) if by_shift else records.wins()
        found = {_key(each): each for each in by}
        for (name, day), its in seals.read(store, asked.property, asked.gaming_day).items():
            if its.sealed and as_signed:
                signed = said(store, name, its.sealed, kept, by_shift=by_shift)
                found = {key: each for key, each in found.items() if key[:2] != (name, day)}
                found |= _alone(its.sealed, signed, asked.table)
            elif its.sealed:
                live = {key: each for key, each in found.items() if key[:2] == (name, day)}
                late = _late(store, records, (name, day), its.sealed, asked.table)
                signed = said(store, name, its.sealed, kept, by_shift=by_shift)
                found |= _beside(store, its.sealed, signed, live, late, asked.table)
        waiting = _waiting(store, asked.property, asked.gaming_day)
    open_ = {key: each for key, each in found.items() if not (as_signed and each.version)}
    found |= dict(_undecided(open_, records, waiting))
    return [found[key] for key in sorted(found, key=lambda key: key[:3])]


def _waiting(
    store: ViewStore, property_: str | None, gaming_day: str | None
) -> dict[DayKey, list[Undecided]]:
    """What waits for people, by table and gaming day: equivocations, and papers of two days.

    Boxes that the drop has twice, too. gaming_day: of which boxes are compared; None: of all.
    """
    found = equivocations(store, property_)
    if papers := corrected_papers(store, property_):
        days = seals.read(store, property_)
        closed = {day: its.sealed for day, its in days.items() if its.sealed}
        moved = papers_of_days(store, papers, closed)
        for day, of in in_two_days(moved, closed).items():
            found[day] += of
    for day, of in boxes_twice(store, property_, gaming_day, papers).items():
        found[day] += of
    for day, by_others in by_other_properties(store, property_):
        found[day].append(by_others)
    return found


def _undecided(
    found: Mapping[_Key, TableWin],
    records: DayRecords,
    waiting: Mapping[DayKey, Sequence[Undecided]],
) -> Iterator[tuple[_Key, TableWin]]:
    """The wins of the days that have equivocations; of shifts those in which they happened."""
    for key in (each for each in found if each[:3] in waiting):
        its, of = waiting[key[:3]], records.corrected.get(key[:3])
        if isinstance(found[key].shift, UnsetType):
            yield key, as_undecided(found[key], its)
            continue
        times = shift_times(of.facts if of else ())
        here = [e for e in its if key[3] in {shift_at(times, each) for each in e.times_us}]
        if here:
            yield key, as_undecided(found[key], here)


def of_version(
    database: Database,
    version: int,
    *,
    gaming_day: str,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    table: str | None = None,
    kept: Path | None = None,
    by_shift: bool = False,
) -> list[TableWin]:
    """What a version of a gaming day said by table or by shift, whatever came later.

    Raises `NotFound` if there is no such version, `Unavailable` if this program gives other bytes.
    """
    with reading(database, TABLES) as store:
        days = seals.read(store, property, gaming_day)
        chosen = [(day, s) for day, its in days.items() for s in its.seals if s.version == version]
        if not chosen:
            raise NotFound(
                f"Gaming day {gaming_day} has no version {version}",
                where="--version",
                hint=f"Read its versions with `round-ledger day show {gaming_day}`.",
            )
        found: list[TableWin] = []
        for (name, _), seal in sorted(chosen, key=lambda each: each[0]):
            its = said(store, name, seal, kept, by_shift=by_shift)
            if not its.is_signed:
                raise other_bytes(seal)
            found += its.wins
    return [each for each in found if table in (None, each.table)]


class SaidWins(NamedTuple):
    """The wins of a version. is_signed: their digest is the sealed one."""

    wins: list[TableWin]
    is_signed: bool


def said(
    store: ViewStore,
    property_: str,
    seal: DaySealed,
    kept: Path | None = None,
    *,
    by_shift: bool = False,
) -> SaidWins:
    """What a version said, by table or by shift.

    A seal of another system may say other bytes. One of an earlier program has no digest of shifts:
    then those of the record whose days have the digest are the signed ones.
    """
    signed = seal.shifts if by_shift else seal.digest
    if signed and kept and (copy := _kept(kept, property_, seal, signed)):
        return SaidWins(copy, is_signed=True)
    day, report = seal.gaming_day, seal.report
    found = _of_views(store, property_, day, report).as_version(seal.version)
    if day_versions.digest(found[by_shift]) != signed:
        its = _of_record(store, property_, seal.heads, day, report)
        found = its.as_version(seal.version)
    is_signed = _is_signed(found, seal, by_shift=by_shift)
    if not is_signed and report <= REPORT_11 and (others := _of_others(store, property_, seal)):
        facts = [*pinned_facts(store, property_, seal.heads), *others]
        its = day_versions.of_day(facts, property_, day, report).as_version(seal.version)
        if _is_signed(its, seal, by_shift=by_shift):
            found, is_signed = its, True
    if is_signed and signed and kept:
        keep(kept, signed, found[by_shift])
    return SaidWins(found[by_shift], is_signed)


def _is_signed(found: DayWins, seal: DaySealed, *, by_shift: bool) -> bool:
    """Whether these wins have the digest of a seal; without one of shifts, the days have it."""
    signed = seal.shifts if by_shift else seal.digest
    return day_versions.digest(found[by_shift if signed else 0]) == (signed or seal.digest)


def _of_others(store: ViewStore, property_: str, seal: DaySealed) -> list[Fact]:
    """What other properties had corrected when a day was closed, as corrections of its own.

    Reports up to version 11 followed them.
    """
    rows = seals.rows_about(store, property_, seal.gaming_day)
    at = max((row.position for row in rows if fact_of(row).body == seal), default=0)
    return [
        msgspec.structs.replace(fact_of(row), source=f"/{property_}/office/others")
        for row in rows_of_others(store, property_)
        if row.position < at
    ]


def seals_of(database: Database, gaming_day: str) -> dict[str, day_versions.DaySeals]:
    """The versions of a gaming day, by property; none of a property that never closed it."""
    with reading(database, [each.name for each in seals.VIEW.tables]) as store:
        return {name: its for (name, _), its in seals.read(store, None, gaming_day).items()}


def versions(
    database: Database, property_: str, gaming_day: str, kept: Path | None = None
) -> tuple[day_versions.DaySeals, list[day_versions.Adjustment]]:
    """The versions of a gaming day, and how the last one differs from the one before it."""
    with reading(database, TABLES) as store:
        its = seals.read(store, property_, gaming_day)[property_, gaming_day]
        if len(its.seals) < 2:  # noqa: PLR2004 - the first version differs from nothing
            return its, []
        before, after = its.seals[-2:]
        return its, _adjusted(store, property_, before, after, kept)


def _adjusted(
    store: ViewStore, property_: str, before: DaySealed, after: DaySealed, kept: Path | None
) -> list[day_versions.Adjustment]:
    rows = pinned_rows(store, property_, after.heads)
    facts = [fact_of(row) for row in rows]
    late = [fact for row, fact in zip(rows, facts, strict=True) if is_beyond(before.heads, row)]
    late.sort(key=by_time)
    return day_versions.adjustments(
        said(store, property_, before, kept).wins,
        said(store, property_, after, kept).wins,
        day_versions.arrived(facts, late, after.gaming_day),
        day_versions.at_edge(late, after.gaming_day, day_versions.corrected_late(facts, late)),
        [FactRef(fact.source, fact.id) for fact in late],
        day_versions.changers(facts, after.gaming_day),
    )


_Key = tuple[str, str, str, str | None]
"""Property, gaming day and table of a win; its shift, if it is of one."""


def _key(each: TableWin) -> _Key:
    return each.property, each.gaming_day, each.table or "", each.shift or None


def other_bytes(seal: DaySealed) -> Unavailable:
    """The error of a version that this program works out otherwise than it was signed."""
    return Unavailable(
        f"This program gives other bytes for version {seal.version} of {seal.gaming_day} than "
        "were sealed",
        where=f"digest {seal.digest[:12]}",
        hint=f"It was sealed by rules {seal.rules}, report {seal.report}: print it with those.",
    )


# -- what came after a seal ----------------------------------------------------------------------


def _late(
    store: ViewStore,
    records: DayRecords,
    day: tuple[str, str],
    seal: DaySealed,
    table: str | None,
) -> dict[str, list[tuple[str | None, LateFact]]]:
    """The late facts of a day by table, each with the shift that it happened in."""
    found = late_facts(store, day, seal.heads, records.papers(*day), table)
    of_tables = {name: records.corrected.get((*day, name)) for name in found}
    times = {name: shift_times(of.facts if of else ()) for name, of in of_tables.items()}
    return {
        name: [(shift_at(times[name], each.time_us), each) for each in its]
        for name, its in found.items()
    }


def _alone(seal: DaySealed, signed: SaidWins, table: str | None) -> dict[_Key, TableWin]:
    """A sealed day's wins without anything that came later."""
    more = [] if signed.is_signed else [_differs(seal)]
    return {
        _key(each): msgspec.structs.replace(each, exceptions=[*each.exceptions, *more])
        for each in signed.wins
        if table in (None, each.table)
    }


def _beside(
    store: ViewStore,
    seal: DaySealed,
    signed: SaidWins,
    live: Mapping[_Key, TableWin],
    late: Mapping[str, Sequence[tuple[str | None, LateFact]]],
    table: str | None,
) -> dict[_Key, TableWin]:
    """A sealed day's wins, each with its late facts and what they would change.

    If something would change and no late fact is of the table, those at the day's edge are named.
    """
    found = {_key(each): each for each in signed.wins if table in (None, each.table)}
    both = {**live, **found}
    pending = {key: day_versions.changes(found.get(key), live.get(key)) for key in both}
    refs = {
        key: [of.ref for shift, of in late.get(key[2], ()) if each.shift in (UNSET, shift)]
        for key, each in both.items()
    }
    at_edge = {key for key in both if pending[key] and not refs[key]}
    if at_edge:
        edge = facts_at_edge(
            store, next(iter(at_edge))[:2], seal.heads, {key[2] for key in at_edge}
        )
        refs |= {key: day_versions.beside(edge, key[2]) for key in at_edge}
    more = [] if signed.is_signed else [_differs(seal)]
    told = {}
    for key, each in both.items():
        lacking = [] if key in found else [_not_signed(seal, each, refs[key])]
        told[key] = msgspec.structs.replace(
            each,
            exceptions=[*each.exceptions, *more, *lacking],
            late=refs[key],
            pending=pending[key],
        )
    return told


def _not_signed(seal: DaySealed, of: TableWin, late: list[FactRef]) -> AuditException:
    shift = f", shift {of.shift}" if of.shift else ""
    return AuditException(
        code="not_signed",
        says=f"Version {seal.version} of the day lacks {of.table}{shift}: no sum of the day has "
        "it.",
        facts=late,
    )


def _differs(seal: DaySealed) -> AuditException:
    return AuditException(
        code="digest_differs",
        says=f"Version {seal.version} was sealed with digest {seal.digest[:12]}, by rules "
        f"{seal.rules} and report {seal.report}; this program works out other bytes.",
    )


# -- versions worked out before ------------------------------------------------------------------


def _kept(folder: Path, property_: str, seal: DaySealed, digest: str) -> list[TableWin] | None:
    """The wins in a file, if they are of that version and their digest is the sealed one."""
    try:
        lines = (folder / f"{digest}.jsonl").read_bytes().splitlines()
        found = [msgspec.json.decode(line, type=TableWin) for line in lines]
    except (OSError, msgspec.MsgspecError):
        return None
    of = {(each.property, each.gaming_day, each.version) for each in found}
    is_its = of == {(property_, seal.gaming_day, seal.version)}
    return found if is_its and day_versions.digest(found) == digest else None


def keep(folder: Path, digest: str, found: Sequence[TableWin]) -> None:
    """Keep what a version said; it is no harm if that fails, as it can be worked out again."""
    octets = b"".join(msgspec.json.encode(each) + b"\n" for each in found)
    with suppress(OSError):
        replace_file(folder / f"{digest}.jsonl", octets)
