"""The wins of sealed gaming days: what a version said, and what came after it.

A version is worked out from the record up to the numbers it pins, and its digest is compared. What
was worked out once is kept in a folder by its digest, so it is worked out again only if lost.
"""

from __future__ import annotations

import builtins
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple, Unpack

import msgspec

from consumers.finance import equivocations, journal, meters, sealed_journal, seals, wins
from consumers.finance.pins import late_facts, pinned_facts, pinned_rows
from consumers.finance.wins import WinsAsked, WinsFilter
from infra.files import replace_file
from infra.postgres import tape
from infra.postgres.view_tables import reading
from ledger.errors import NotFound, Unavailable, Usage
from ledger.finance import day_versions
from ledger.finance.meters.journal import merged, meter_entries
from ledger.finance.meters.lines import by_day
from ledger.finance.win import AuditException, TableWin
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.facts import DaySealed
    from ledger.finance.journal import JournalEntry
    from ledger.rules.engine.ruling import FactRef

VIEWS = (*wins.VIEWS, seals.VIEW)
"""The views to catch up before `read`."""

_TABLES = tuple(each.name for view in VIEWS for each in view.tables)


class PinnedDay(NamedTuple):
    """A gaming day as the record up to some heads says it."""

    property: str
    gaming_day: str
    heads: dict[str, int]  # number of the last fact that counts, by place
    wins: list[TableWin]

    @builtins.property  # `property` is a field here
    def missing(self) -> dict[str, list[str]]:
        """What each table lacks; no entry for a table that lacks nothing."""
        return {each.table or "": each.missing for each in self.wins if each.missing}


def pinned_now(database: Database, property_: str | None, gaming_day: str) -> PinnedDay:
    """A gaming day as the record says it at this moment.

    Views that have read the whole record say it at once; else it is worked out from the facts.
    Raises `NotFound` if no fact is of that day, `Usage` if several properties have one.
    """
    with reading(database, _TABLES) as store:
        heads: dict[str, dict[str, int]] = defaultdict(dict)
        told = tape.heads(store.connection)
        for head in told:
            name, _, place = head.tape.partition("/")
            heads[name][place] = head.table_seq
        if _have_read(store, max((head.position for head in told), default=0)):
            found = wins.of_views(store, WinsAsked(property_, gaming_day=gaming_day))
        else:
            found = [
                each
                for name in heads
                if property_ in (None, name)
                for each in _of_record(store, name, heads[name], gaming_day)
            ]
    house = one_house({each.property for each in found}, gaming_day)
    its = [each for each in found if each.property == house]
    return PinnedDay(house, gaming_day, heads[house], its)


def _of_record(
    store: ViewStore, property_: str, heads: Mapping[str, int], gaming_day: str
) -> list[TableWin]:
    """The wins of a gaming day by the record up to some heads."""
    return day_versions.wins_of_day(pinned_facts(store, property_, heads), property_, gaming_day)


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
    database: Database, *, kept: Path | None = None, **filters: Unpack[WinsFilter]
) -> list[TableWin]:
    """As `wins.read`, with the equivocations that wait in quarantine.

    A sealed day has what its version said, with what came after it.

    kept: the folder of versions worked out before.
    """
    asked = WinsAsked(**filters)
    with reading(database, _TABLES) as store:
        records = wins.records_of(store, asked)
        found = {_key(each): each for each in records.wins()}
        for (name, day), its in seals.read(store, asked.property, asked.gaming_day).items():
            if its.sealed:
                live = {key: each for key, each in found.items() if key[:2] == (name, day)}
                papers = records.papers(name, day)
                late = late_facts(store, (name, day), its.sealed.heads, papers, asked.table)
                signed = said(store, name, its.sealed, kept)
                found |= _beside(its.sealed, signed, live, late, asked.table)
        for key, told in equivocations.read(store, asked).items():
            if key in found:
                exceptions = [*found[key].exceptions, *told]
                found[key] = msgspec.structs.replace(found[key], exceptions=exceptions)
    return [found[key] for key in sorted(found)]


def of_version(
    database: Database,
    version: int,
    *,
    gaming_day: str,
    property: str | None = None,  # noqa: A002 - what it is called on the floor
    table: str | None = None,
    kept: Path | None = None,
) -> list[TableWin]:
    """What a version of a gaming day said, whatever came later.

    Raises `NotFound` if there is no such version, `Unavailable` if this program gives other bytes.
    """
    with reading(database, _TABLES) as store:
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
            its = said(store, name, seal, kept)
            if day_versions.digest(its) != seal.digest:
                raise _other_bytes(seal)
            found += its
    return [each for each in found if table in (None, each.table)]


def said(
    store: ViewStore, property_: str, seal: DaySealed, kept: Path | None = None
) -> list[TableWin]:
    """What a version said, worked out from the record up to the numbers that it pins.

    The caller compares the digest: a seal of another system may say other bytes.
    """
    found = _kept(kept, property_, seal) if kept else None
    if found is None:
        its = _of_record(store, property_, seal.heads, seal.gaming_day)
        found = day_versions.sealed(its, seal.version)
        if kept and day_versions.digest(found) == seal.digest:
            keep(kept, seal, found)
    return found


def versions(
    database: Database, property_: str, gaming_day: str, kept: Path | None = None
) -> tuple[day_versions.DaySeals, list[day_versions.Adjustment]]:
    """The versions of a gaming day, and how the last one differs from the one before it."""
    with reading(database, _TABLES) as store:
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
    late = (
        fact
        for row, fact in zip(rows, facts, strict=True)
        if row.table_seq > before.heads.get(row.tape.partition("/")[2], 0)
    )
    return day_versions.adjustments(
        said(store, property_, before, kept),
        said(store, property_, after, kept),
        day_versions.arrived(facts, late, after.gaming_day),
    )


def _key(each: TableWin) -> tuple[str, str, str]:
    return each.property, each.gaming_day, each.table or ""


def _other_bytes(seal: DaySealed) -> Unavailable:
    return Unavailable(
        f"This program gives other bytes for version {seal.version} of {seal.gaming_day} than "
        "were sealed",
        where=f"digest {seal.digest[:12]}",
        hint=f"It was sealed by rules {seal.rules}, report {seal.report}: print it with those.",
    )


def signed_journal(
    database: Database,
    *,
    property: str,  # noqa: A002 - what it is called on the floor
    gaming_day: str,
    version: int | None = None,
) -> list[JournalEntry] | None:
    """The entries of a closed day's version, and those of meters as the record has them now.

    version: None: the one that holds. None if the day has no such version. Raises `Unavailable` if
    this program gives other bytes.
    """
    names = [each.name for view in (*journal.VIEWS, seals.VIEW) for each in view.tables]
    with reading(database, names) as store:
        its = seals.read(store, property, gaming_day)[property, gaming_day]
        of_version = (each for each in its.seals if each.version == version)
        seal = its.sealed if version is None else next(of_version, None)
        if seal is None:
            return None
        found = sealed_journal.of_version(store, property, seal)
        if found is None:
            raise _other_bytes(seal)
        of_meters = by_day(meters.steps(store, property))
    return merged(found, meter_entries(of_meters, gaming_day=gaming_day))


# -- what came after a seal ----------------------------------------------------------------------


def _beside(
    seal: DaySealed,
    signed: Sequence[TableWin],
    live: Mapping[tuple[str, str, str], TableWin],
    late: Mapping[str, list[FactRef]],
    table: str | None,
) -> dict[tuple[str, str, str], TableWin]:
    """A sealed day's wins, each with its late facts and what they would change."""
    same = day_versions.digest(signed) == seal.digest
    found = {_key(each): each for each in signed if table in (None, each.table)}
    told = {}
    for key in {*found, *live}:
        each = found.get(key) or live[key]
        told[key] = msgspec.structs.replace(
            each,
            exceptions=each.exceptions if same else [*each.exceptions, _differs(seal)],
            late=late.get(key[2], []),
            pending=day_versions.changes(found.get(key), live.get(key)) if key in found else {},
        )
    return told


def _differs(seal: DaySealed) -> AuditException:
    return AuditException(
        code="digest_differs",
        says=f"Version {seal.version} was sealed with digest {seal.digest[:12]}, by rules "
        f"{seal.rules} and report {seal.report}; this program works out other bytes.",
    )


# -- versions worked out before ------------------------------------------------------------------


def _kept(folder: Path, property_: str, seal: DaySealed) -> list[TableWin] | None:
    """The wins in a file, if they are of that version and their digest is the sealed one."""
    try:
        lines = (folder / f"{seal.digest}.jsonl").read_bytes().splitlines()
        found = [msgspec.json.decode(line, type=TableWin) for line in lines]
    except (OSError, msgspec.MsgspecError):
        return None
    of = {(each.property, each.gaming_day, each.version) for each in found}
    is_its = of == {(property_, seal.gaming_day, seal.version)}
    return found if is_its and day_versions.digest(found) == seal.digest else None


def keep(folder: Path, seal: DaySealed, found: Sequence[TableWin]) -> None:
    """Keep what a version said; it is no harm if that fails, as it can be worked out again."""
    octets = b"".join(msgspec.json.encode(each) + b"\n" for each in found)
    with suppress(OSError):
        replace_file(folder / f"{seal.digest}.jsonl", octets)
