"""Checks keyframes for codes and picture faults.

Decoding is costly, so results are stored beside the index and a picture is checked only once.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from consumers.cameras.segments import standing_rows
from consumers.rounds.index import facts_of, rounds_over
from infra.postgres.view_tables import ViewStore
from ledger.facts import Body, CameraMapped, type_name
from ledger.record.wire import Fact, fact_of
from replay.cameras.clocks import to_camera
from replay.cameras.coverage import Camera, coverage
from replay.cameras.health import (
    HAPPENINGS_MIN,
    MOVING,
    SPREAD_MIN,
    Ailing,
    Pictured,
    TimedPicture,
    picture_faults,
    usual_sharpness,
)
from replay.cameras.statement import Filmed
from replay.footage.decoding.sampling import CodeKind, Look, Looked, look
from replay.footage.library.index import FootageIndex, IndexedSegment
from replay.footage.library.picture_looks import Against, Looks, Usual
from replay.footage.muxing.muxing import END_US
from replay.shell.output import say

S = 1_000_000
BATCH = 8

EVERY_US = 2 * S
"""The default time between two checked pictures."""

LOOK_MAX = 48
"""The most unchecked segments that a statement of coverage checks: some seconds of work."""

AROUND_US = 60 * S
"""Rounds this long before or after the footage are read, too, because clocks differ."""

OPEN_US = 3600 * S
"""The assumed longest duration of a round without an end, in microseconds."""

Happened = Callable[[IndexedSegment, Sequence[Ailing]], list[int]]
"""Gives the times of movement on the tables of a segment's camera, by its clock."""


class PictureSample(NamedTuple):
    """Checked pictures of a camera, the number of their segments, and its usual look."""

    shown: Sequence[TimedPicture]
    usual: Usual | None
    segments: int
    anew: int  # segments checked just now


def looked_over(
    entries: Sequence[IndexedSegment],
    kinds: tuple[CodeKind, ...],
    every_us: int,
    against: bytes | None = None,
) -> Iterator[tuple[IndexedSegment, tuple[Looked, ...]]]:
    """Measures of keyframes of each segment, at least a given time apart."""
    return looked_at([(each, sampled(each, every_us)) for each in entries], kinds, against)


def looked_at(
    wanted: Sequence[tuple[IndexedSegment, tuple[int, ...]]],
    kinds: tuple[CodeKind, ...],
    against: bytes | None = None,
) -> Iterator[tuple[IndexedSegment, tuple[Looked, ...]]]:
    """Measures of frames of each segment, by number; unreadable segments are reported."""
    for at in range(0, len(wanted), BATCH):
        batch = wanted[at : at + BATCH]
        jobs = [Look(str(each.path), each.sha256, frames, kinds, against) for each, frames in batch]
        for (entry, _), seen in zip(batch, look(jobs), strict=True):
            if seen.problem:
                say(f"{entry.path}: {seen.problem}")
            yield entry, seen.looked


def seen_of(
    index: FootageIndex,
    entries: Sequence[IndexedSegment],
    every_us: int = EVERY_US,
    most: int | None = None,
) -> PictureSample:
    """Pictures of one camera's segments, in order: stored ones, else checked now and stored.

    most: the most unchecked segments to check; None: all.
    """
    if not entries:
        return PictureSample((), None, 0, 0)
    looks, first = Looks(index), entries[0]
    usual = _usual(index, looks, first, most)
    against = usual.against if usual else None
    figures = {
        each.sha256: kept.looked
        for each in entries
        if (kept := looks.seen(each.sha256, every_us, against))
    }
    anew = [each for each in entries if each.sha256 not in figures][:most]
    small = _picture(index, against) if anew and against else None
    for entry, looked in looked_over(anew, (), every_us, small):
        figures[entry.sha256] = looked
        if looked:
            looks.keep(entry.sha256, every_us, against, looked)
    shown = [
        TimedPicture(entry.start_us + each.pts_us, each)
        for entry in entries
        for each in figures.get(entry.sha256, ())
    ]
    return PictureSample(shown, usual, sum(bool(each) for each in figures.values()), len(anew))


def ailing(seen: PictureSample, of: IndexedSegment | None, happened: Happened) -> list[Ailing]:
    """The faults of one camera. Facts are only read if a picture stands still."""
    usual = seen.usual.sharpness if seen.usual else None
    always = [each.at_us for each in seen.shown for _ in range(HAPPENINGS_MIN)]
    still = [each for each in picture_faults(seen.shown, always, usual) if each.fault == "frozen"]
    return picture_faults(seen.shown, happened(of, still) if of and still else (), usual)


def keep_usual(index: FootageIndex, of: IndexedSegment, seen: PictureSample) -> None:
    """Store a camera's usual sharpness, after all its pictures were checked."""
    if seen.usual:
        usual = Usual(seen.usual.against, usual_sharpness(seen.shown))
        Looks(index).keep_usual(of.property, of.camera, usual)


def pictured(index: FootageIndex, happened: Happened) -> Callable[[Sequence[str]], Pictured]:
    """Gives a function: the picture faults of one camera's segments, by their hashes."""
    left = LOOK_MAX

    def ask(sha256s: Sequence[str]) -> Pictured:
        nonlocal left
        found = (index.entry(sha256) for sha256 in sha256s)
        entries = [each for each in found if each and index.whole(each)]
        seen = seen_of(index, entries, most=left)
        left -= seen.anew
        return Pictured(seen.segments, ailing(seen, entries[0] if entries else None, happened))

    return ask


def filmed(index: FootageIndex, sha256: str) -> Filmed | None:
    """Size and frame rate of an indexed segment; None if it is not in the index."""
    entry = index.entry(sha256)
    if entry is None:
        return None
    return Filmed(entry.width, entry.height, entry.fps_min, entry.fps_max)


def happened_on_record(store: ViewStore) -> Happened:
    """Gives activity from the facts of rounds at a camera's tables, by the views."""

    def happened(of: IndexedSegment, still: Sequence[Ailing]) -> list[int]:
        facts = [fact_of(row) for row in standing_rows(store, of.property, of.camera)]
        tables = {fact.body.table for fact in facts if isinstance(fact.body, CameraMapped)}
        rounds = {
            round_
            for stretch in still
            for round_ in rounds_over(
                store,
                of.property,
                stretch.from_us - AROUND_US,
                stretch.to_us + AROUND_US,
                tables=sorted(tables),
                open_us=OPEN_US,
            )
        }
        told = [fact_of(row) for round_ in sorted(rounds) for row in facts_of(store, round_)]
        return happened_of(facts, told)(of, still)

    return happened


def happened_of(camera_facts: Iterable[Fact], facts: Iterable[Fact]) -> Happened:
    """Gives activity from the given facts, on the clock of the segment's camera."""
    covered, told = coverage(camera_facts), list(facts)

    def happened(of: IndexedSegment, still: Sequence[Ailing]) -> list[int]:
        del still
        clock = covered.cameras.get((of.property, of.camera), Camera()).clock
        return sorted(
            to_camera(clock, fact.time_us).time_us if clock else fact.time_us
            for fact in told
            if isinstance(fact.body, Body)
            and type_name(type(fact.body)).partition(".")[0] in MOVING
        )

    return happened


def _usual(index: FootageIndex, looks: Looks, of: IndexedSegment, most: int | None) -> Usual | None:
    """A camera's usual look: as stored if that picture is available, else found again.

    most: the most segments to search for a lit picture; None: all.
    """
    kept = looks.usual(of.property, of.camera)
    entry = index.entry(kept.against.sha256) if kept else None
    if kept and entry and index.whole(entry):
        return kept
    entries = [each for each in index.entries(of.camera, of.property)[:most] if index.whole(each)]
    for entry, looked in looked_over(entries, (), END_US):
        for one in looked:
            if one.spread >= SPREAD_MIN:
                found = Usual(Against(entry.sha256, one.number))
                looks.keep_usual(of.property, of.camera, found)
                return found
    return None


def _picture(index: FootageIndex, against: Against) -> bytes | None:
    """The small grey picture that others are compared with."""
    entry = index.entry(against.sha256)
    if entry is None:
        return None
    (seen,) = look([Look(str(entry.path), entry.sha256, (against.frame,))])
    return seen.looked[0].small if seen.looked else None


def sampled(entry: IndexedSegment, every_us: int) -> tuple[int, ...]:
    """Numbers of keyframes at least `every_us` apart, with the first."""
    taken: list[int] = []
    for number in entry.times.keys:
        before = entry.times.pts_us[taken[-1]] if taken else None
        if before is None or entry.times.pts_us[number] - before >= every_us:
            taken.append(number)
    return tuple(taken)
