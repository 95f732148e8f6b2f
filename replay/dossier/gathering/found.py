"""What a dossier is of: one round, or a preserved window with its rounds, as they were found."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ledger.record.tape import TapeRow
from ledger.record.wire import fact_of
from replay.cameras.clocks import DEVICE_PLUS_MINUS_US
from replay.cameras.coverage import Camera, Coverage, coverage
from replay.cameras.custody import Span, times_of
from replay.cameras.cutting import Cut, cut_camera, windows
from replay.dossier import Window as Preserved
from replay.dossier import named_frames
from replay.dossier import wanted as every_frame
from replay.footage.library.files import FootageIndex, FrameFile, spilled
from replay.rounds.reading import LoadedRound
from replay.rounds.story import Story

US = 1_000_000


class Found(NamedTuple):
    """One round, or a window: its stories, the facts of its cameras, the footage at hand."""

    place: str  # the property
    table: str
    stories: Sequence[Story]
    camera_rows: Sequence[TapeRow]
    footage: FootageIndex | None
    window: Preserved | None = None
    window_rows: Sequence[TapeRow] = ()  # facts of a window that are of none of its rounds
    locks: Sequence[TapeRow] = ()  # that preserve a window
    spans: Sequence[Span] = ()  # what they lock

    @property
    def rows(self) -> list[TapeRow]:
        """Its own facts, each once."""
        own = {row for story in self.stories for row in story.rows}
        return sorted(own | set(self.window_rows))


def of_round(told: LoadedRound) -> Found:
    """A told round."""
    round_ = told.story.round
    return Found(round_.property, round_.table, [told.story], told.camera_rows, told.footage)


def cuts_of(found: Found, pre_s: int, post_s: int) -> list[Cut]:
    """What each camera has of it and of so many seconds around, for each piece of its clock.

    A piece is as much longer as its clock and the devices' may be off. Of a window, a camera whose
    clock was never checked has what was locked.
    """
    known = coverage(fact_of(row) for row in found.camera_rows)
    cuts = []
    for name, (first, last) in sorted(_times(found, known).items()):
        camera = known.cameras.get((found.place, name), Camera())
        from_us = first - pre_s * US - DEVICE_PLUS_MINUS_US
        to_us = last + post_s * US + DEVICE_PLUS_MINUS_US
        for piece in windows(camera, from_us, to_us):
            doubt_us = piece.plus_minus_us or 0
            whole = piece._replace(from_us=piece.from_us - doubt_us, to_us=piece.to_us + doubt_us)
            cuts.append(cut_camera(name, camera, whole))
    return cuts


def _times(found: Found, known: Coverage) -> dict[str, tuple[int, int]]:
    """From when to when each camera saw it, by the reference; by an unchecked one's own word.

    A fact whose clock is wrong by days is not gone by.
    """
    times: dict[str, tuple[int, int]] = {}

    def widen(camera: str, first: int, last: int) -> None:
        so_far = times.get(camera, (first, last))
        times[camera] = (min(first, so_far[0]), max(last, so_far[1]))

    if found.window:
        for locked in found.spans:
            checked = known.cameras.get((found.place, locked.camera), Camera()).clock
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


def frames_for(found: Found, folder: Path) -> Mapping[tuple[str, int], FrameFile | str]:
    """The frames that cameras have of a round; of a window's rounds, of what a finding names.

    They lie in `folder`. Raises OSError.
    """
    if found.footage is None:
        return {}
    chosen = named_frames if found.window else every_frame
    wanted = {each for story in found.stories for each in chosen(story)}
    return spilled(found.footage, wanted, folder)
