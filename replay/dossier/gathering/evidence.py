"""Reads the evidence of a dossier from the record, and records the export of footage.

The export is recorded before anything is read, so a dossier's custody record includes the dossier.
The other rows between the round's facts are read too, to show that no fact was left out. Callers
ask first which rounds it would disclose, for readers under blind review (ADR 0132).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import NamedTuple

from consumers.cameras.cameras import CAMERA_FACTS, CAMERAS, OFF_US, handled
from consumers.disputes import disputes
from consumers.review import footage_marks
from consumers.rounds.index import ROUND_INDEX, rounds_over
from consumers.rulings.tables import CORRECTIONS, SUBMISSIONS, submission_rows
from consumers.runtime.lifecycle import up_to_date
from consumers.runtime.source import round_of_row
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import ViewStore, reading
from infra.tile_folder import TileFolder
from ledger.adjudication.submissions import filed, in_force
from ledger.facts import (
    FactCorrected,
    FootageLocked,
    FootageReleased,
    RulesSubmissionFiled,
    type_name,
)
from ledger.games import games
from ledger.record.tape import GENESIS, TapeRow
from ledger.record.wire import fact_of
from ledger.values import RoundId, format_time, parse_round, parse_time
from replay.cameras.coverage import Camera, coverage
from replay.cameras.custody import CameraSpan, times_of
from replay.cameras.cutting import Cut, CutWindow, may_show
from replay.cameras.health import Pictured
from replay.cameras.picture_checks import filmed, happened_of, pictured
from replay.cameras.statement import Filmed, coverage_statement, statement_json
from replay.cameras.statement import StatedTime as Stretched
from replay.checker.window import span_of
from replay.disputes.preserved_windows import named_by
from replay.dossier import Evidence, EvidenceStill, Making, Original, TapeRange
from replay.dossier import EvidenceText as Said
from replay.dossier.gathering.found import US, Gathered, cuts_of
from replay.dossier.gathering.sealed import house_log, sealed_facts
from replay.dossier.writing.covering import in_sentences
from replay.footage.library.files import FrameFile
from replay.footage.library.index import FootageIndex
from replay.recording.exports import ExportedFootage, tell_exports
from replay.recording.house_facts import now_us, screen
from replay.review.footage_marks import (
    MarkedTime,
    PlacedMarks,
    kept_still,
    mark_rows,
    still_path,
)
from replay.rounds.story import Story
from replay.shell.zones import house_zones
from replay.text.times import stamp

BETWEEN_MAX = 2_000
"""The most rows between a round's facts that are shown whole; if there are more, only hashes."""

GAP_MAX = 5_000
"""The most rows between two facts of a round on a tape that still form one range."""


LOCKS = frozenset(map(type_name, (FootageLocked, FootageReleased)))

_ROUND_TABLES = [
    footage_marks.FOOTAGE_MARKS.name,
    *(CAMERA_FACTS.name, disputes.DISPUTES.name, CORRECTIONS.name),
    *(table.name for table in ROUND_INDEX.tables),
]


class Wanted(NamedTuple):
    """A request: by whom, why, seconds of footage around the round, and for which dispute."""

    by: str
    because: str
    pre_s: int
    post_s: int
    dispute: str | None = None
    case_rows: Sequence[TapeRow] = ()


def gathered(
    database: Database,
    found: Gathered,
    frames: Mapping[tuple[str, int], FrameFile | str],
    wanted: Wanted,
    library: FootageIndex | None = None,
    log: TileFolder | None = None,
) -> Evidence:
    """All evidence for a dossier. The export of each camera's footage is recorded first."""
    whole, copied = going_out(found, wanted.pre_s, wanted.post_s)
    originals: dict[str, Original] = {}
    for _, each in copied:
        originals.setdefault(each.sha256, each)
    at_us = now_us()
    with PostgresTape(database) as tape:
        _tell_of_export(tape, found.place, _footage_of(whole, copied, frames), wanted, at_us)
        up_to_date(database, [CAMERAS, footage_marks.VIEW])
        tables = [CAMERA_FACTS, SUBMISSIONS, CORRECTIONS, footage_marks.FOOTAGE_MARKS]
        with reading(database, [each.name for each in tables]) as store:
            submissions = [_submission(store, story) for story in found.stories]
            corrections = _corrections(store, found)
            handled_then = custody(store, found.place, whole)
            marked, marks = marks_about(store, found, wanted)
        stretches = stretches_of(found.rows)
        between, previous = around(tape, found.rows, stretches)
        shown = len(between) <= BETWEEN_MAX
        case_rows = [*wanted.case_rows, *found.locks]
        camera_rows = _without_other_locks(found.camera_rows, handled_then)
        others = [*camera_rows, *handled_then, *corrections, *case_rows, *marked]
        others += [row for row in submissions if row]
        return Evidence(
            stories=found.stories,
            frames=frames,
            camera_rows=camera_rows,
            previous=previous | before(tape, others),
            heads=tape.heads(),
            between=between if shown else (),
            hidden=() if shown else between,
            stretches=stretches,
            submissions=submissions,
            corrections=corrections,
            dispute=wanted.dispute,
            case_rows=case_rows,
            sealed=sealed_facts(log or house_log(), [*found.rows, *between, *others]),
            custody_rows=handled_then,
            mark_rows=marked,
            stills=_stills(marks, library, house_zones(database).of(found.place)),
            originals=list(originals.values()),
            coverage=covered(found, library),
            making=Making(wanted.by, format_time(at_us), wanted.pre_s, wanted.post_s),
            window=found.window,
            window_rows=found.window_rows,
            cameras=[each.camera for each in found.spans],
            zone=house_zones(database).of(found.place),
        )


def rounds_told(database: Database, found: Gathered, wanted: Wanted) -> list[RoundId]:
    """The rounds that a dossier discloses: those of its facts and of the disputes they name."""
    whole, _ = going_out(found, wanted.pre_s, wanted.post_s)
    with (
        PostgresTape(database) as tape,
        reading(database, _ROUND_TABLES) as store,
    ):
        between, _ = around(tape, found.rows, stretches_of(found.rows))
        others = [*wanted.case_rows, *found.locks, *custody(store, found.place, whole)]
        rows = {*found.rows, *between, *others}
        return sorted(
            {story.round for story in found.stories}
            | {each for row in rows if (each := round_of_row(row))}
            | set(_disputed_rounds(store, found.place, rows))
            | set(_kept_rounds(store, found.place, rows))
            | set(_corrected_rounds(store, rows))
            | set(_marked_rounds(store, found.place, marks_about(store, found, wanted)[1]))
        )


def _disputed_rounds(store: ViewStore, place: str, rows: Iterable[TapeRow]) -> Iterator[RoundId]:
    """Rounds of disputes that a row names. The reason of a lock may disclose the claim."""
    names = {getattr(fact_of(row).body, "dispute", None) for row in rows}
    for name in sorted(each for each in names if each):
        yield from (each.round for each in disputes.named(store, name, place) if each.round)


def _kept_rounds(store: ViewStore, place: str, rows: Iterable[TapeRow]) -> Iterator[RoundId]:
    """Rounds whose time a lock or release without a dispute covers. Its reason may disclose."""
    for row in rows:
        body = fact_of(row).body if row.type in LOCKS else None
        if not isinstance(body, FootageLocked | FootageReleased) or body.dispute:
            continue
        times = [parse_time(each) or 0 for each in (body.from_, body.to)]
        span = span_of(named_by(row.id) or body.window or "")
        yield from rounds_over(store, place, *(span or (times[0] - OFF_US, times[1] + OFF_US)))


def _marked_rounds(store: ViewStore, place: str, marks: PlacedMarks) -> Iterator[RoundId]:
    """Rounds that the texts of marks may be about: those they name, and those of their time."""
    for each in marks.bookmarks:
        if each.round:
            yield each.round
        yield from rounds_over(store, place, each.from_us, each.to_us)
    for frame in marks.frames:
        at_us, within_us = frame.time_us or 0, frame.within_us
        yield from rounds_over(store, place, at_us - within_us, at_us + within_us)


def marks_about(
    store: ViewStore, found: Gathered, wanted: Wanted
) -> tuple[list[TapeRow], PlacedMarks]:
    """The bookmarks, stills and shapes about the dossier's rounds and its time."""
    rounds = [story.round for story in found.stories]
    times = [times_of(row.time_us for row in story.rows) for story in found.stories]
    spans = [each for each in times if each]
    if found.window:
        spans.append((found.window.from_us, found.window.to_us))
    if not spans:
        return [], PlacedMarks()
    from_us = min(first for first, _ in spans) - wanted.pre_s * US
    to_us = max(last for _, last in spans) + wanted.post_s * US
    covered = coverage(fact_of(row) for row in found.camera_rows)
    of = MarkedTime(found.place, rounds, from_us, to_us, others=False)
    return mark_rows(store, of, covered, found.footage)


def _stills(marks: PlacedMarks, library: FootageIndex | None, zone: tzinfo) -> list[EvidenceStill]:
    """The stills whose pictures are kept, as they were saved."""
    if library is None:
        return []
    return [
        EvidenceStill(
            still.body,
            still_path(library.home, still.body.sha256),
            frame.shapes,
            f"{stamp(frame.time_us or 0, zone)}: {still.body.because}",
        )
        for frame in marks.frames
        for still in frame.stills
        if kept_still(library.home, still.body.sha256) is not None
    ]


def _corrected_rounds(store: ViewStore, rows: Iterable[TapeRow]) -> Iterator[RoundId]:
    """Rounds whose facts a row corrects."""
    found = store.query(
        f"SELECT c.round, c.tape FROM {{schema}}.{CORRECTIONS.name} c"  # noqa: S608 - our own name
        " JOIN unnest(%(tapes)s::text[], %(numbers)s::bigint[]) AS u (tape, table_seq)"
        " USING (tape, table_seq) WHERE c.round IS NOT NULL",
        {"tapes": [row.tape for row in rows], "numbers": [row.table_seq for row in rows]},
    )
    for name, tape in found:
        round_ = parse_round(name, tape.partition("/")[0])
        if round_:
            yield round_


def covered(found: Gathered, library: FootageIndex | None) -> Said:
    """The coverage of the dossier's time and of each round: by camera, with causes of gaps."""
    stretches = list(_stretches(found))
    if not stretches:
        return Said(())

    def film(sha256: str) -> Filmed | None:
        return filmed(library, sha256) if library else None

    facts = [fact_of(row) for row in found.camera_rows]
    happened = happened_of(facts, map(fact_of, found.rows))
    stated = coverage_statement(
        facts,
        found.place,
        found.table,
        stretches,
        found.footage,
        film,
        pictured(library, happened) if library else lambda _: Pictured(0, ()),
    )
    return Said(in_sentences(stated), [statement_json(stated)])


def _stretches(found: Gathered) -> Iterator[Stretched]:
    """The times of the statement of coverage: a window, and each round."""
    games = [story.game for story in found.stories if story.game]
    if found.window:
        game = games[0] if games else ""
        yield Stretched("window", game, found.window.from_us, found.window.to_us)
    for story in found.stories:
        times = times_of(row.time_us for row in story.rows)
        if times:
            yield Stretched(story.round.subject, story.game or "", *times)


def stretches_of(rows: Iterable[TapeRow]) -> list[TapeRange]:
    """The ranges of each tape that hold these rows; a distant row begins a new range."""
    found: list[TapeRange] = []
    for row in sorted(rows, key=lambda row: (row.tape, row.table_seq)):
        last = found[-1] if found else None
        if last and last.tape == row.tape and row.table_seq - last.last <= GAP_MAX:
            found[-1] = last._replace(last=row.table_seq)
        else:
            found.append(TapeRange(row.tape, row.table_seq, row.table_seq))
    return found


def before(tape: PostgresTape, rows: Iterable[TapeRow]) -> dict[tuple[str, int], bytes]:
    """The hash before each row on its tape."""
    wanted: dict[str, set[int]] = {}
    for row in rows:
        wanted.setdefault(row.tape, set()).add(row.table_seq)
    found: dict[tuple[str, int], bytes] = {}
    for name, numbers in wanted.items():
        hashes = {
            row.table_seq: row.hash
            for row in tape.rows_of(name, [(number - 1, number - 1) for number in sorted(numbers)])
        }
        found |= {(name, number): hashes.get(number - 1, GENESIS) for number in numbers}
    return found


def around(
    tape: PostgresTape, rows_of_it: Iterable[TapeRow], stretches: Iterable[TapeRange]
) -> tuple[list[TapeRow], dict[tuple[str, int], bytes]]:
    """The other rows in the ranges, and the hash before each row."""
    own = {(row.tape, row.table_seq) for row in rows_of_it}
    others: list[TapeRow] = []
    previous: dict[tuple[str, int], bytes] = {}
    for stretch in stretches:
        rows = tape.rows_of(stretch.tape, [(stretch.first - 1, stretch.last)])
        hashes = {row.table_seq: row.hash for row in rows}
        for row in rows:
            if row.table_seq >= stretch.first:
                previous[row.tape, row.table_seq] = hashes.get(row.table_seq - 1, GENESIS)
                others += [row] if (row.tape, row.table_seq) not in own else []
    return others, previous


def going_out(
    found: Gathered, pre_s: int, post_s: int
) -> tuple[list[CameraSpan], list[tuple[CameraSpan, Original]]]:
    """For each camera the span of exported footage, and the segments copied whole.

    A segment is copied if it may show any of the requested time, whatever its clock showed then, or
    any of the locked time.
    """
    around = [
        CameraSpan(each.camera, each.from_us - pre_s * US, each.to_us + post_s * US)
        for each in found.spans
    ]
    cuts = [*cuts_of(found, pre_s, post_s), *(_locked(each) for each in around)]
    copied = list(_copied(found, cuts))
    spans = [CameraSpan(each.camera, each.window.from_us, each.window.to_us) for each in cuts]
    spans += [span for span, _ in copied]
    whole: dict[str, CameraSpan] = {}
    for each in spans:
        known = whole.get(each.camera, each)
        from_us, to_us = min(known.from_us, each.from_us), max(known.to_us, each.to_us)
        whole[each.camera] = CameraSpan(each.camera, from_us, to_us)
    return [whole[name] for name in sorted(whole)], copied


def _locked(span: CameraSpan) -> Cut:
    """The locked span by the camera's clock, even if parts of it show another time."""
    return Cut(span.camera, CutWindow(span.from_us, span.to_us, None, None), (), ())


def _copied(found: Gathered, cuts: Sequence[Cut]) -> Iterator[tuple[CameraSpan, Original]]:
    """The available segments that may show part of any cut, each in full length."""
    if found.footage is None:
        return
    covered = coverage(fact_of(row) for row in found.camera_rows)
    for name in sorted({each.camera for each in cuts}):
        camera = covered.cameras.get((found.place, name), Camera())
        wanted = [each.window for each in cuts if each.camera == name]
        for segment in camera.segments:
            body = segment.body
            kept = found.footage.kept.get(body.sha256)
            if kept and any(may_show(camera, segment, each) for each in wanted):
                whole = CameraSpan(name, segment.start_us, segment.end_us)
                yield whole, Original(name, body.sha256, kept.path, body.path)


def _footage_of(
    windows: Iterable[CameraSpan],
    copied: Iterable[tuple[CameraSpan, Original]],
    frames: Mapping[tuple[str, int], FrameFile | str],
) -> list[CameraSpan]:
    """The camera spans whose footage is exported."""
    cameras = {each.camera for each, _ in copied}
    pictured = any(isinstance(frame, FrameFile) for frame in frames.values())
    return [each for each in windows if each.camera in cameras or pictured]


def _tell_of_export(
    tape: PostgresTape, place: str, windows: Iterable[CameraSpan], wanted: Wanted, at_us: int
) -> None:
    """Record one `footage_exported` for each camera, all or none."""
    taken = [ExportedFootage(each.camera, each.from_us, each.to_us) for each in windows]
    tell_exports(tape, screen(place, "dossier"), taken, wanted.by, wanted.because, at_us)


def custody(store: ViewStore, place: str, windows: Iterable[CameraSpan]) -> list[TapeRow]:
    """Rows of who viewed, copied, locked or released footage of the spans, and what expired."""
    return sorted(
        {
            row
            for each in windows
            for row in handled(store, place, each.camera, each.from_us, each.to_us)
        }
    )


def _without_other_locks(rows: Iterable[TapeRow], custody: Sequence[TapeRow]) -> list[TapeRow]:
    """The camera facts, without locks of other times: those would disclose other disputes."""
    of_it = set(custody)
    return [row for row in rows if row.type not in LOCKS or row in of_it]


def _submission(store: ViewStore, story: Story) -> TapeRow | None:
    """The row of the Rules Submission in force for a round, if one was on file."""
    game = games().get(story.game or "")
    if game is None:
        return None
    round_ = story.round
    facts = [(row, fact_of(row)) for row in submission_rows(store, round_.property)]
    known = [(row, fact) for row, fact in facts if isinstance(fact.body, RulesSubmissionFiled)]
    chosen = in_force(
        game,
        round_.property,
        round_.table,
        round_.gaming_day,
        filed(fact for _, fact in known),
    ).chosen
    return next((row for row, fact in known if fact.body is chosen), None)


def _corrections(store: ViewStore, found: Gathered) -> list[TapeRow]:
    """The rows that correct facts of the dossier."""
    own = {(row.source, row.id) for row in found.rows}
    rows = store.rows_named(
        f"SELECT tape, table_seq, table_seq FROM {{schema}}.{CORRECTIONS.name}"  # noqa: S608 - our own name
        " WHERE round = ANY(%(rounds)s) OR round IS NULL",
        {"rounds": [str(story.round) for story in found.stories]},
    )
    return [row for row in rows if _of(row) in own]


def _of(row: TapeRow) -> tuple[str, str] | None:
    body = fact_of(row).body
    return (body.of.source, body.of.id) if isinstance(body, FactCorrected) else None
