"""How a file of footage lies beside the record: its camera's tables, their rounds, other footage.

It finds what is probably wrong with a file's start or camera: another year, another zone, footage
that overlaps, a camera on no table. It judges no round and reads no file.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

from consumers.cameras.cameras import CAMERA_FACTS, CAMERAS
from consumers.cameras.rows import tables_of
from consumers.cameras.segments import segments_over, standing_rows
from consumers.rounds.index import ROUND_INDEX, ROUNDS, began_between, rounds_over
from consumers.rounds.search import ROUND_US_MAX
from consumers.runtime.lifecycle import up_to_date
from infra.postgres.view_tables import reading
from ledger.facts import SegmentRecorded
from ledger.record.wire import fact_of
from ledger.values import format_time, quantity
from replay.cameras.clocks import to_reference
from replay.cameras.coverage import coverage
from replay.footage.library.start_times import names_no_zone
from replay.text.times import length, offset, zone_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.values import RoundId
    from replay.cameras.clocks import CameraClock
    from replay.cameras.coverage import Coverage
    from replay.footage.library.index import StartFrom

VIEWS = (CAMERAS, ROUND_INDEX)
"""The views that are read; the caller installs them."""

DAY_US = 24 * 3_600_000_000

OVERLAP_US = 1_000_000
"""A longer overlap is reported; names in whole seconds overlap by less."""

WarningCode = Literal[
    "unmapped", "outside_facts", "future", "zone", "overlap", "holes", "cut", "pictures"
]


class FootageWarning(Struct, frozen=True):
    """What is probably wrong with a file, or lacks in it, as a sentence. Its times are RFC 3339."""

    code: WarningCode
    says: str


class TableBeside(Struct, frozen=True):
    """A table of the camera, and its rounds during the file."""

    table: str
    rounds: int
    first_round: str | None
    last_round: str | None


class FileTimes(NamedTuple):
    """Whose a file is and when it was taken, by the camera's clock, in microseconds."""

    property: str
    camera: str
    sha256: str
    name: str
    start_us: int
    start_from: StartFrom
    duration_us: int
    zone: tzinfo | None = None  # given for names without an offset


class BesideRecord(NamedTuple):
    """The tables that the camera is on during a file, and what is probably wrong."""

    tables: Sequence[TableBeside]
    warnings: Sequence[FootageWarning]


def beside_record(database: Database, file: FileTimes, house: tzinfo, now_us: int) -> BesideRecord:
    """How a file lies beside the record. house: the zone of the property."""
    up_to_date(database, VIEWS)
    with reading(database, [CAMERA_FACTS.name, ROUNDS.name]) as store:
        rows = standing_rows(store, file.property, file.camera)
        seen = coverage(map(fact_of, rows))
        its = seen.cameras.get((file.property, file.camera))
        look = _Look(store, file, seen, its.clock if its else None)
        tables = look.tables_from(file.start_us)
        found = [table_beside(each, look.rounds([each], file.start_us)) for each in tables]
        return BesideRecord(found, tuple(_warnings(look, tables, house, now_us)))


def table_beside(table: str, rounds: Sequence[RoundId]) -> TableBeside:
    """A table and its rounds, by their names alone."""
    ordered = sorted(rounds, key=lambda each: (each.gaming_day, each.number))
    named = [each.subject for each in ordered]
    return TableBeside(table, len(named), named[0] if named else None, named[-1] if named else None)


class _Look(NamedTuple):
    """What the record has of the camera, and how to ask for more."""

    store: ViewStore
    file: FileTimes
    seen: Coverage
    clock: CameraClock | None

    def span(self, start_us: int) -> tuple[int, int]:
        """The file by the reference clock, if it began at this time of the camera's."""
        ends_us = start_us + self.file.duration_us
        if self.clock is None:
            return start_us, ends_us
        epochs = range(len(self.clock.epochs))
        clock = self.clock

        def away(epoch: int) -> int:
            knots = clock.epochs[epoch].knots
            return min(abs(knot.camera_us - start_us) for knot in knots)

        nearest = min(epochs, key=away)
        return to_reference(clock, start_us, nearest), to_reference(clock, ends_us, nearest)

    def tables_from(self, start_us: int) -> list[str]:
        """The tables that the camera is on at some time of the file."""
        from_us, to_us = self.span(start_us)
        found = []
        for (_, table), changes in self.seen.mapped.items():
            on = False
            for at_us, camera, now_on in changes:
                if camera == self.file.camera and at_us <= (from_us if not now_on else to_us):
                    on = now_on
            if on:
                found.append(table)
        return sorted(found)

    def rounds(self, tables: Sequence[str], start_us: int) -> list[RoundId]:
        """The rounds of these tables during the file."""
        if not tables:
            return []
        of, span = self.file.property, self.span(start_us)
        return rounds_over(self.store, of, *span, tables=tables, open_us=ROUND_US_MAX)


def _warnings(
    look: _Look, tables: Sequence[str], house: tzinfo, now_us: int
) -> Iterator[FootageWarning]:
    file = look.file
    ever = tables_of(look.store, file.property, [file.camera]).get(file.camera, [])
    if not tables:
        yield FootageWarning("unmapped", _unmapped(file, ever))
    yield from _outside(look, tables or ever, now_us)
    yield from _zone(look, tables or ever, house)
    yield from _overlap(look)


def _unmapped(file: FileTimes, ever: Sequence[str]) -> str:
    at = format_time(file.start_us)
    if not ever:
        return f"{file.camera} is mapped to no table: no round will show this footage"
    return (
        f"{file.camera} is mapped to no table at {at}, only at another time ({', '.join(ever)}): "
        "no round will show this footage"
    )


def _outside(look: _Look, tables: Sequence[str], now_us: int) -> Iterator[FootageWarning]:
    """Warnings of a start in another year, or far from the facts of the camera's tables."""
    from_us, to_us = look.span(look.file.start_us)
    starts = f"It starts at {format_time(look.file.start_us)}"
    if from_us > now_us + DAY_US:
        yield FootageWarning("future", f"{starts}, which is still to come")
    facts = began_between(look.store, look.file.property, tables or None)
    if facts and (to_us < facts[0] - DAY_US or from_us > facts[1] + DAY_US):
        whose = ", ".join(tables) or look.file.property
        first, last = (format_time(each)[:10] for each in facts)
        of = first if first == last else f"{first} to {last}"
        yield FootageWarning("outside_facts", f"{starts}, but the facts of {whose} are of {of}")


def _zone(look: _Look, tables: Sequence[str], house: tzinfo) -> Iterator[FootageWarning]:
    """A warning of a local time that was taken as UTC, or the other way round."""
    file = look.file
    local = file.start_from == "name" and names_no_zone(file.name)
    if not local and file.start_from != "container":
        return
    taken = (file.zone if local else None) or UTC
    wall_us = _wall_us(file.start_us, taken)
    other = house if offset(file.start_us, taken) == "UTC" else UTC
    other_us = _from_wall(wall_us, other)
    if other_us == file.start_us:
        return
    here = len(look.rounds(tables, file.start_us))
    there = len(look.rounds(tables, other_us))
    if (here and not there) or (not local and not there):
        return
    what = "Its name has no zone and" if local else "Its container's date"
    fits = "; that would fit" if there and not here else ""
    yield FootageWarning(
        "zone",
        f"{what} is read in {zone_name(taken)}, beside {quantity(here, 'round')}. In "
        f"{zone_name(other)} it would start at {format_time(other_us)}, beside "
        f"{quantity(there, 'round')}{fits}",
    )


def _overlap(look: _Look) -> Iterator[FootageWarning]:
    """A warning of footage of the same camera on record for the same time."""
    file = look.file
    ends_us = file.start_us + file.duration_us
    its = segments_over(look.store, file.property, file.camera, [(file.start_us, ends_us)])
    long = {
        (tape, seq): min(to_us, ends_us) - max(from_us, file.start_us)
        for from_us, to_us, tape, seq in its
        if min(to_us, ends_us) - max(from_us, file.start_us) > OVERLAP_US
    }
    rows = look.store.rows_at((tape, seq, seq) for tape, seq in long)
    others: dict[str, int] = {}
    for row in rows:
        body = fact_of(row).body
        if isinstance(body, SegmentRecorded) and body.sha256 != file.sha256:
            others[body.path] = long[row.tape, row.table_seq]
    if others:
        first = next(iter(others))
        more = f" and {quantity(len(others) - 1, 'more file')}" if len(others) > 1 else ""
        yield FootageWarning(
            "overlap",
            f"It overlaps footage of {file.camera} on record by {length(max(others.values()))}: "
            f"{first}{more}",
        )


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def _wall_us(time_us: int, zone: tzinfo) -> int:
    """What a clock of a zone shows at a time, counted as if it were UTC."""
    shown = (_EPOCH + time_us * _MICROSECOND).astimezone(zone)
    return (shown.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND


def _from_wall(wall_us: int, zone: tzinfo) -> int:
    """The time at which a clock of a zone shows this."""
    shown = (_EPOCH + wall_us * _MICROSECOND).replace(tzinfo=zone)
    return (shown - _EPOCH) // _MICROSECOND
