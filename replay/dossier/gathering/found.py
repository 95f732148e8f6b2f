"""What a dossier is of, as it is found: one round, or a preserved window with its rounds.

A window is known by its locks. Its facts are those of its table told in it, and all facts of each
round that falls in it: a ruling needs its whole round.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from consumers.cameras.cameras import rows_about
from consumers.cameras.rows import properties_with_cameras, rows_of_cameras
from consumers.rounds.index import ROUND_INDEX, ROUNDS, facts_of, find
from consumers.runtime.source import round_of_row
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import ViewStore, reading
from ledger.errors import NotFound, Refused, Usage
from ledger.facts import FootageLocked
from ledger.record.tape import TapeRow, unframe_attributes
from ledger.record.wire import fact_of
from ledger.values import RoundId, parse_time
from replay.cameras.clocks import DEVICE_PLUS_MINUS_US
from replay.cameras.coverage import Camera, Coverage, coverage
from replay.cameras.custody import ROUND_US_MAX, UNCHECKED_US, CameraSpan, times_of, to_keep
from replay.cameras.cutting import Cut, cut_camera, windows
from replay.checker.reading import ReceivedFact
from replay.checker.window import span_of, table_of
from replay.disputes.service import LOCKS
from replay.dossier import EvidenceWindow, named_frames
from replay.dossier import wanted as every_frame
from replay.footage.library.files import FootageFiles, FrameFile, spilled
from replay.footage.library.index import FootageIndex
from replay.recording.house_facts import SURVEILLANCE, screen
from replay.rounds.reading import STORY_TABLES, LoadedRound, at_hand, load_round_in
from replay.rounds.story import Story

US = 1_000_000

FACTS_MAX = 20_000
"""Facts of one window; more are several windows."""

AT_ONCE = 5_000
"""Rows that are read at a time."""


class Gathered(NamedTuple):
    """One round, or a window: its stories, the facts of its cameras, the footage at hand."""

    place: str  # the property
    table: str
    stories: Sequence[Story]
    camera_rows: Sequence[TapeRow]
    footage: FootageFiles | None
    window: EvidenceWindow | None = None
    window_rows: Sequence[TapeRow] = ()  # facts of a window that are of none of its rounds
    locks: Sequence[TapeRow] = ()  # that preserve a window
    spans: Sequence[CameraSpan] = ()  # what they lock

    @property
    def rows(self) -> list[TapeRow]:
        """Its own facts, each once."""
        own = {row for story in self.stories for row in story.rows}
        return sorted(own | set(self.window_rows))


def of_round(told: LoadedRound) -> Gathered:
    """A told round."""
    round_ = told.story.round
    return Gathered(round_.property, round_.table, [told.story], told.camera_rows, told.footage)


def cuts_of(found: Gathered, pre_s: int, post_s: int) -> list[Cut]:
    """What each camera has of it and of so many seconds around, for each piece of its clock.

    A piece is as much longer as its clock and the devices' may be off. Of a window, a camera whose
    clock was never checked has what was locked.
    """
    covered = coverage(fact_of(row) for row in found.camera_rows)
    cuts = []
    for name, (first, last) in sorted(_times(found, covered).items()):
        camera = covered.cameras.get((found.place, name), Camera())
        from_us = first - pre_s * US - DEVICE_PLUS_MINUS_US
        to_us = last + post_s * US + DEVICE_PLUS_MINUS_US
        for piece in windows(camera, from_us, to_us):
            doubt_us = piece.plus_minus_us or 0
            whole = piece._replace(from_us=piece.from_us - doubt_us, to_us=piece.to_us + doubt_us)
            cuts.append(cut_camera(name, camera, whole))
    return cuts


def _times(found: Gathered, coverage: Coverage) -> dict[str, tuple[int, int]]:
    """From when to when each camera saw it, by the reference; by an unchecked one's own word.

    A fact whose clock is wrong by days is not gone by.
    """
    times: dict[str, tuple[int, int]] = {}

    def widen(camera: str, first: int, last: int) -> None:
        so_far = times.get(camera, (first, last))
        times[camera] = (min(first, so_far[0]), max(last, so_far[1]))

    if found.window:
        for locked in found.spans:
            checked = coverage.cameras.get((found.place, locked.camera), Camera()).clock
            span = (found.window.from_us, found.window.to_us) if checked else locked[1:]
            widen(locked.camera, *span)
        return times
    for story in found.stories:
        first, last = times_of(seen.time_us for seen in story.seen) or (0, 0)
        for seen in (each for each in story.seen if first <= each.time_us <= last):
            for sight in seen.sights:
                if sight.camera is not None:
                    widen(sight.camera, seen.time_us, seen.time_us)
    return times


def frames_for(found: Gathered, folder: Path) -> Mapping[tuple[str, int], FrameFile | str]:
    """The frames that cameras have of a round; of a window's rounds, of what a finding names.

    They lie in `folder`. Raises OSError.
    """
    if found.footage is None:
        return {}
    chosen = named_frames if found.window else every_frame
    wanted = {each for story in found.stories for each in chosen(story)}
    return spilled(found.footage, wanted, folder)


def locks_of(store: ViewStore, tape: PostgresTape, name: str) -> tuple[str, list[TapeRow]]:
    """The property of a window and the locks that preserve it. Raises `NotFound`, `Usage`."""
    named, _, window = name.rpartition(":")
    places = [named] if named else properties_with_cameras(store)
    found = {}
    for place in places:
        rows = tape.told_by("/" + "/".join(screen(place, LOCKS)), f"{window}.")
        if rows and span_of(window):
            found[place] = sorted(rows)
    if len(found) > 1:
        names = ", ".join(f"{place}:{window}" for place in found)
        raise Usage(f"{len(found)} properties have it", where=name, hint=f"Name one: {names}.")
    if not found:
        raise NotFound(
            f"No window {window} was preserved",
            where=f"locks of {', '.join(places) or 'no property'}",
            hint="`round-ledger dispute windows` lists those there are.",
        )
    [(place, rows)] = found.items()
    return place, rows


def found_window(database: Database, name: str, footage: Path | FootageIndex | None) -> Gathered:
    """All that is on record of a preserved window. Raises `NotFound`, `Usage`, `Refused`."""
    with PostgresTape(database) as tape, reading(database, STORY_TABLES) as store:
        locks, held, window = _window_of(store, tape, name)
        place, table = window.property, window.table
        rows = _rows(store, tape, window)
        stories = [load_round_in(store, each, footage) for each in _rounds(store, window, rows)]
        since_us, until_us = window.from_us - UNCHECKED_US, window.to_us + UNCHECKED_US
        around = rows_about(store, place, table, since_us, until_us)
    own = {row for each in stories for row in each.story.rows}
    camera_rows = sorted({*around, *(row for each in stories for row in each.camera_rows)})
    _require_few(window, len(own | set(rows)))
    return Gathered(
        place,
        table,
        [each.story for each in stories],
        camera_rows,
        at_hand(footage, [fact_of(row) for row in camera_rows]),
        window,
        [row for row in rows if row not in own],
        locks,
        [CameraSpan(each.camera, *_span(each)) for each in held],
    )


def _window_of(
    store: ViewStore, tape: PostgresTape, name: str
) -> tuple[list[TapeRow], list[FootageLocked], EvidenceWindow]:
    """A window by its name, with the locks that preserve it, as facts and as what they say."""
    place, locks = locks_of(store, tape, name)
    window_id = name.rpartition(":")[2]
    from_us, to_us = span_of(window_id) or (0, 0)
    held = [body for row in locks if isinstance(body := fact_of(row).body, FootageLocked)]
    table = _table_of(store, place, held, (from_us, to_us))
    return locks, held, EvidenceWindow(window_id, place, table, from_us, to_us)


def _span(lock: FootageLocked) -> tuple[int, int]:
    return parse_time(lock.from_) or 0, parse_time(lock.to) or 0


def _table_of(
    store: ViewStore, place: str, held: Sequence[FootageLocked], window: tuple[int, int]
) -> str:
    """The table a window is of: the one named, or the one its camera was on. Raises `Refused`."""
    named = {each.table for each in held}
    if named != {None}:
        return next(str(each) for each in named if each)
    rows = rows_of_cameras(store, place, *window, held[0].camera)
    covered = coverage(fact_of(row) for row in rows)
    tables = [
        table
        for (property_, table) in sorted(covered.mapped)
        if property_ == place
        and {each.camera for each in to_keep(covered, place, table, *window)} & {held[0].camera}
    ]
    if len(tables) != 1:
        raise Refused(
            f"Camera {held[0].camera} was on {len(tables)} tables then, so no facts go with it",
            where=", ".join(tables) or "view cameras",
            hint="Preserve the window of a table, with --table, and name that one.",
        )
    return tables[0]


def _rounds(store: ViewStore, window: EvidenceWindow, rows: Iterable[TapeRow]) -> list[RoundId]:
    """The rounds that have a fact told in the window, the first begun first.

    `rows`: its facts. Rounds are looked for in the index too, since a fact of a round may stand on
    the tape of another table; but not there alone: one fact with a clock that is wrong by days
    makes a round begin days away. Raises `NotFound` where the view withholds such a round.
    """
    found = store.query(
        f"SELECT gaming_day, number FROM {{schema}}.{ROUNDS.name}"  # noqa: S608 - our own name
        " WHERE property = %(property)s AND table_name = %(table)s"
        " AND began_us BETWEEN %(since)s AND %(until)s",
        {
            "property": window.property,
            "table": window.table,
            "since": window.from_us - ROUND_US_MAX,
            "until": window.to_us,
        },
    )
    near = [RoundId(window.property, window.table, day, number) for day, number in found]
    rounds = {
        each
        for each in near
        if any(window.from_us <= row.time_us <= window.to_us for row in facts_of(store, each))
    } | {each for row in rows if (each := round_of_row(row))}
    began = sorted((find(store, each).began_us, each.number, each) for each in rounds)
    return [each for *_, each in began]


def _other_tables(store: ViewStore, window: EvidenceWindow) -> set[str]:
    """The tapes of other tables: nothing on them is of this one."""
    found = store.query(
        f"SELECT DISTINCT table_name FROM {{schema}}.{ROUNDS.name} WHERE property = %(property)s",  # noqa: S608 - our own name
        {"property": window.property},
    )
    return {f"{window.property}/{row[0]}" for row in found if row[0] != window.table}


def _rows(store: ViewStore, tape: PostgresTape, window: EvidenceWindow) -> list[TapeRow]:
    """The facts of the table told in the window, on its own tape and on those of pit and cage.

    Cameras' facts are not among them: they are read by camera. Nor is what came after the moment
    at which the index of rounds is read. Raises `Refused` for too many.
    """
    index = store.tracking(ROUND_INDEX.name)
    until = index.position if index else 0
    others = _other_tables(store, window)
    surveillance = f"{window.property}/{SURVEILLANCE}"
    tapes = [
        head.tape
        for head in tape.heads()
        if head.tape.partition("/")[0] == window.property
        and head.tape != surveillance
        and head.tape not in others
    ]
    found: list[TapeRow] = []
    for row in _told_in(tape, tapes, (window.from_us, window.to_us)):
        if row.position <= until and _is_of(row, window.table):
            found.append(row)
            _require_few(window, len(found))
    return sorted(found, key=lambda row: (row.tape, row.table_seq))


def _told_in(
    tape: PostgresTape, tapes: Sequence[str], times_us: tuple[int, int]
) -> Iterator[TapeRow]:
    """What was told then on any of the tapes, a block at a time, in the order of the record."""
    after = 0
    while rows := tape.told_between(tapes, times_us, after=after, limit=AT_ONCE):
        yield from rows
        after = rows[-1].position


def _is_of(row: TapeRow, table: str) -> bool:
    """Whether a fact speaks of a table, as the checker of dossiers reads it."""
    return table_of(ReceivedFact("", unframe_attributes(row.attributes), row.data)) == table


def _require_few(window: EvidenceWindow, facts: int) -> None:
    if facts > FACTS_MAX:
        raise Refused(
            f"More than {FACTS_MAX:,} facts of table {window.table} are in the window",
            where=window.name,
            hint="Preserve it as several windows, and make a dossier of each.",
        )
