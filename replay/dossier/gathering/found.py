"""Finds the subject of a dossier: one round, or a preserved window with its rounds.

Locks identify a window. Its facts are those of its table in its time, and all facts of each round
in it, because a ruling needs the whole round.
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
"""The most facts in one window; more must be several windows."""

AT_ONCE = 5_000
"""Rows read at a time."""


class Gathered(NamedTuple):
    """One round, or a window: its stories, camera facts and available footage."""

    place: str  # the property
    table: str
    stories: Sequence[Story]
    camera_rows: Sequence[TapeRow]
    footage: FootageFiles | None
    window: EvidenceWindow | None = None
    window_rows: Sequence[TapeRow] = ()  # facts of a window that belong to none of its rounds
    locks: Sequence[TapeRow] = ()  # the locks that preserve a window
    spans: Sequence[CameraSpan] = ()  # the footage they lock

    @property
    def rows(self) -> list[TapeRow]:
        """The facts of the round or window, each once."""
        own = {row for story in self.stories for row in story.rows}
        return sorted(own | set(self.window_rows))


def of_round(told: LoadedRound) -> Gathered:
    """A loaded round."""
    round_ = told.story.round
    return Gathered(round_.property, round_.table, [told.story], told.camera_rows, told.footage)


def cuts_of(found: Gathered, pre_s: int, post_s: int) -> list[Cut]:
    """What to cut: for each camera and piece of its clock, the time with pre_s and post_s around.

    A cut is longer by the uncertainty of the camera's clock and of the devices' clocks. In a
    window, a camera whose clock was never checked has its locked span.
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
    """When each camera saw it, by the reference clock, or by its own clock if that is unchecked.

    A fact whose clock is wrong by days is ignored.
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
    """The frames of a round's facts; for a window only of facts that a finding names.

    They are written to `folder`. Raises OSError.
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
            hint="`round-ledger dispute windows` lists all windows.",
        )
    [(place, rows)] = found.items()
    return place, rows


def found_window(database: Database, name: str, footage: Path | FootageIndex | None) -> Gathered:
    """Everything on record about a preserved window. Raises `NotFound`, `Usage`, `Refused`."""
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
    """A window by its name, with the facts that lock it and the spans they lock."""
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
    """A window's table: the one named, else the one its camera was on. Raises `Refused`."""
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
            f"Camera {held[0].camera} was on {len(tables)} tables then, so the table is unknown",
            where=", ".join(tables) or "view cameras",
            hint="Preserve a window of one table with --table, and name that window.",
        )
    return tables[0]


def _rounds(store: ViewStore, window: EvidenceWindow, rows: Iterable[TapeRow]) -> list[RoundId]:
    """The rounds with a fact in the window, earliest first.

    rows: its facts. The index is searched too, because a round's fact may be on the tape of another
    table. The index alone is not enough: one fact with a clock wrong by days moves a round's begin
    by days. Raises `NotFound` if the view does not have such a round.
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
    """The tapes of other tables: none of their facts belongs to this table."""
    found = store.query(
        f"SELECT DISTINCT table_name FROM {{schema}}.{ROUNDS.name} WHERE property = %(property)s",  # noqa: S608 - our own name
        {"property": window.property},
    )
    return {f"{window.property}/{row[0]}" for row in found if row[0] != window.table}


def _rows(store: ViewStore, tape: PostgresTape, window: EvidenceWindow) -> list[TapeRow]:
    """The facts of the table in the window, on its own tape and on those of pit and cage.

    Camera facts are left out: they are read by camera. Facts that arrive after the index of rounds
    was read are left out too. Raises `Refused` if there are too many.
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
    """The facts of that time on all tapes, in blocks, in the order of the record."""
    after = 0
    while rows := tape.told_between(tapes, times_us, after=after, limit=AT_ONCE):
        yield from rows
        after = rows[-1].position


def _is_of(row: TapeRow, table: str) -> bool:
    """Whether a fact is about a table, as the dossier's checker reads it."""
    return table_of(ReceivedFact("", unframe_attributes(row.attributes), row.data)) == table


def _require_few(window: EvidenceWindow, facts: int) -> None:
    if facts > FACTS_MAX:
        raise Refused(
            f"More than {FACTS_MAX:,} facts of table {window.table} are in the window",
            where=window.name,
            hint="Preserve several shorter windows, and make a dossier of each.",
        )
