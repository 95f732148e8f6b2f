"""What a dossier is of: one round, or a preserved window with its rounds, as they were found."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ledger.tape import TapeRow
from replay.cli.stories import Told
from replay.custody import times_of
from replay.dossier import Window as Preserved
from replay.dossier import named_frames
from replay.dossier import wanted as every_frame
from replay.footage.decoder import Frame
from replay.footage.segments import FootageIndex, frames
from replay.story import Story

US = 1_000_000


class Window(NamedTuple):
    """What of a camera goes out, by the camera's clock, both ends included."""

    camera: str
    from_us: int
    to_us: int


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
    spans: Sequence[Window] = ()  # what they lock

    @property
    def rows(self) -> list[TapeRow]:
        """Its own facts, each once."""
        own = {row for story in self.stories for row in story.rows}
        return sorted(own | set(self.window_rows))


def of_round(told: Told) -> Found:
    """A told round."""
    round_ = told.story.round
    return Found(round_.property, round_.table, [told.story], told.camera_rows, told.footage)


def windows_of(found: Found, pre_s: int, post_s: int) -> list[Window]:
    """From when to when each camera may show it, its clock's doubt and so many seconds around.

    Of a window what was locked, which has the doubt in it. A fact whose clock is wrong by days is
    not gone by.
    """
    spans: dict[str, tuple[int, int]] = {}

    def widen(camera: str, first: int, last: int) -> None:
        known = spans.get(camera, (first, last))
        spans[camera] = (min(first, known[0]), max(last, known[1]))

    for each in found.spans:
        widen(*each)
    for story in () if found.window else found.stories:
        first, last = times_of(seen.time_us for seen in story.seen) or (0, 0)
        near = [seen for seen in story.seen if first <= seen.time_us <= last]
        for sight in (sight for seen in near for sight in seen.sights):
            if sight.camera is not None and sight.camera_time_us is not None:
                doubt_us = sight.plus_minus_us or 0
                at_us = sight.camera_time_us
                widen(sight.camera, at_us - doubt_us, at_us + doubt_us)
    return [
        Window(camera, first - pre_s * US, last + post_s * US)
        for camera, (first, last) in sorted(spans.items())
    ]


def frames_for(found: Found) -> Mapping[tuple[str, int], Frame | str]:
    """The frames that cameras have of a round; of a window's rounds, of what a finding names."""
    if found.footage is None:
        return {}
    chosen = named_frames if found.window else every_frame
    return frames(found.footage, sorted({each for s in found.stories for each in chosen(s)}))
