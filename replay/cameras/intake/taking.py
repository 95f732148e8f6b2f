"""Adds a recorder's files to the footage index, and records segments not yet on record."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from consumers.cameras.cameras import (
    CAMERA_FACTS,
    CAMERAS,
    HOUR_US,
    TOLD_AFTER_US,
    TOLD_BEFORE_US,
)
from consumers.cameras.segments import segments_recorded
from consumers.runtime.lifecycle import up_to_date
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import ViewStore, reading
from ledger.facts import SegmentRecorded
from ledger.record.tape import Received, TapeRow
from ledger.record.wire import fact_of
from ledger.values import format_time, parse_time
from replay.footage.library.adding import Added, FootageDetails, add, footage_files
from replay.footage.library.index import FootageIndex, IndexedSegment
from replay.footage.library.start_times import Recorded
from replay.recording.house_facts import KEPT, Noted, append_each, build_fact, screen

DEVICE = "library"
"""The device of `segment_recorded` facts that this program makes for added files."""

BATCH = 16
"""Segments recorded in one transaction."""

POLL_S = 1.0
"""Seconds that `watch` waits before it reads the folder again."""

TOLD_OTHERWISE = (
    "the same bytes are on record with another start or name, which stays valid; give the file "
    "that name, or give that start with --start, and add it again"
)
"""Why a renamed file, or one with another time zone, is not recorded again."""

LABEL_MAX = 512


class AddedFile(NamedTuple):
    """The result of adding one file, and the position of its fact."""

    added: Added
    noted: Noted | None

    @property
    def verdict(self) -> str:
        """`appended`, `duplicate`, `on_record` (by the recorder's own fact) or `refused`."""
        if self.added.entry is None:
            return "refused"
        return self.noted.receipt.verdict if self.noted else "on_record"


def take(
    database: Database,
    index: FootageIndex,
    paths: Sequence[Path],
    told: FootageDetails,
    advance: Callable[[], object] = lambda: None,
    read: Callable[[Sequence[IndexedSegment]], object] = lambda _: None,
) -> Iterator[AddedFile]:
    """Add files to the index, and record those that are not on record.

    Facts of recorders about these files are read first. read: is called with the added segments
    after they are on record.
    """
    up_to_date(database, [CAMERAS])
    with reading(database, [CAMERA_FACTS.name]) as store:
        recorded = on_record(store, told.property, told.camera)
        waiting: list[Added] = []
        with PostgresTape(database) as tape:
            for added in add(index, paths, told, recorded):
                advance()
                waiting.append(added)
                if len(waiting) == BATCH:
                    yield from _put(tape, waiting)
                    read([each.entry for each in waiting if each.entry])
                    waiting = []
            yield from _put(tape, waiting)
            read([each.entry for each in waiting if each.entry])


def on_record(store: ViewStore, property_: str, camera: str) -> Recorded:
    """Looks up segments that the recorder itself reported, an hour at a time.

    An hour has the segments that were reported in it or ended in it, however late the report.
    """
    hours: dict[int, dict[str, int]] = {}

    def of_hour(hour: int) -> dict[str, int]:
        if hour not in hours:
            since_us = hour * HOUR_US
            rows = segments_recorded(store, property_, camera, since_us, since_us + HOUR_US)
            hours[hour] = dict(_starts(rows))
        return hours[hour]

    def look(sha256: str, about_us: int) -> int | None:
        first, last = about_us - TOLD_BEFORE_US, about_us + TOLD_AFTER_US
        for hour in range(first // HOUR_US, last // HOUR_US + 1):
            if sha256 in of_hour(hour):
                return of_hour(hour)[sha256]
        return None

    return look


def finished(folder: Path, stable_s: float, stop: Callable[[], bool]) -> Iterator[list[Path]]:
    """Files that have stopped changing, each once, until stopped. Raises `Usage`."""
    seen: dict[Path, tuple[tuple[int, int], float]] = {}
    taken: dict[Path, tuple[int, int]] = {}
    while not stop():
        now, ready = time.monotonic(), []
        for path in footage_files(folder):
            look = _look(path)
            if look is None or taken.get(path) == look:
                continue
            if path not in seen or seen[path][0] != look:
                seen[path] = (look, now)
            elif now - seen[path][1] >= stable_s:
                taken[path] = look
                ready.append(path)
        yield ready
        time.sleep(min(POLL_S, stable_s))


def segment_fact(entry: IndexedSegment) -> Received:
    """The `segment_recorded` fact of a file; the same file always gives the same bytes."""
    body = SegmentRecorded(
        camera=entry.camera,
        path=f"{entry.camera}/{entry.path.name}"[:LABEL_MAX],
        sha256=entry.sha256,
        start=format_time(entry.start_us),
        frames=len(entry.times.pts_us),
        duration_us=entry.duration_us,
    )
    source = screen(entry.property, DEVICE)
    return build_fact(body, source, time_us=entry.end_us, id=f"segment-{entry.sha256}")


def _put(tape: PostgresTape, added: Sequence[Added]) -> Iterator[AddedFile]:
    """Record the segments that no recorder reported."""
    ours = [each.entry for each in added if each.entry and each.entry.start_from != "record"]
    noted = iter(append_each(tape, [segment_fact(entry) for entry in ours]) if ours else ())
    for each in added:
        told = each.entry is not None and each.entry.start_from != "record"
        answer = next(noted) if told else None
        if answer and answer.receipt.verdict not in KEPT:
            yield AddedFile(
                each._replace(verdict="refused", entry=None, problem=TOLD_OTHERWISE), None
            )
        else:
            yield AddedFile(each, answer)


def _starts(rows: Iterable[TapeRow]) -> Iterator[tuple[str, int]]:
    for row in rows:
        fact = fact_of(row)
        if isinstance(fact.body, SegmentRecorded) and not fact.source.endswith(f"/{DEVICE}"):
            yield fact.body.sha256, parse_time(fact.body.start) or 0


def _look(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_size, stat.st_mtime_ns
