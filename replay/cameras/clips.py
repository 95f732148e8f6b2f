"""Clips of cameras: the request, the clips, and the list `clips.json` that describes them.

The command and the page both use it. `clips.json` describes each clip, how clips line up in time,
and what is missing. The command writes it beside the clips, the page into its zip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ledger.values import format_time
from replay.cameras.clocks import unchecked_us
from replay.cameras.coverage import Camera
from replay.cameras.cutting import CutWindow, cut, cut_camera, piece_told, reference_us
from replay.footage.clips.clips import clip, describe
from replay.recording.exports import ExportedFootage
from replay.text import times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from replay.cameras.coverage import Coverage
    from replay.cameras.cutting import Cut
    from replay.footage.clips.clips import Clip, Way
    from replay.footage.library.files import FootageFiles
    from replay.footage.library.index import FootageIndex

NAME = "clips.json"


class ClipRequest(NamedTuple):
    """A request for clips: cameras, time, and how they are made."""

    property: str
    cameras: tuple[str, ...]
    from_us: int
    to_us: int
    way: Way = "copy"
    by_camera: bool = False  # the times are each camera's own, not the reference's


class CameraClip(NamedTuple):
    """A camera's clip; if its clock was set in between, one piece of it."""

    cut: Cut
    clip: Clip | None  # None: no footage is available
    lost: int = 0  # recorded segments that are not available


def clips_of(
    asked: ClipRequest,
    coverage: Coverage,
    library: FootageIndex,
    at_hand: FootageFiles | None = None,
) -> Iterator[CameraClip]:
    """Make the requested clips, one for each piece of each camera's clock.

    The caller records `exported` before handing them out. at_hand: other segments are left out and
    counted; None: an unavailable segment raises `NotFound`, as `clip` does.
    """
    for name in asked.cameras:
        for found in _cuts(asked, coverage, name):
            there = [
                one for one in found.stretches if at_hand is None or one.sha256 in at_hand.kept
            ]
            made = clip(library, there, way=asked.way) if there else None
            yield CameraClip(found, made, len(found.stretches) - len(there))


def _cuts(asked: ClipRequest, coverage: Coverage, name: str) -> list[Cut]:
    if not asked.by_camera:
        return cut(coverage, asked.property, name, asked.from_us, asked.to_us)
    camera = coverage.cameras.get((asked.property, name), Camera())
    return [cut_camera(name, camera, CutWindow(asked.from_us, asked.to_us, 0, None))]


def exported(made: Iterable[CameraClip]) -> list[ExportedFootage]:
    """The footage of each camera in the clips, by its own clock, to be recorded as exported."""
    return [
        ExportedFootage(
            each.clip.camera, each.clip.starts_us, each.clip.starts_us + each.clip.out_us
        )
        for each in made
        if each.clip
    ]


def clip_list(
    made: Sequence[CameraClip], camera: Callable[[str], Camera]
) -> list[dict[str, object]]:
    """The description of each clip and the uncertainty of its time.

    later_us: its first frame after the earliest clip's first frame. unchecked_us: the distance from
    the requested time to the nearest check of the camera's clock. camera: a camera by its name.
    """
    starts = [_starts_us(each, camera(each.cut.camera)) for each in made]
    first = min((start for start in starts if start is not None), default=0)
    return [
        _told(each, camera(each.cut.camera), start, first)
        for each, start in zip(made, starts, strict=True)
    ]


def in_json(told: Sequence[dict[str, object]]) -> bytes:
    """The file."""
    return msgspec.json.format(msgspec.json.encode({"clips": told}), indent=2) + b"\n"


def _starts_us(of: CameraClip, camera: Camera) -> int | None:
    """When the first frame was taken, by the reference clock."""
    if of.clip is None:
        return None
    return reference_us(camera, of.clip.starts_us, of.cut.window.epoch)


def _told(
    of: CameraClip, camera: Camera, starts_us: int | None, first_us: int
) -> dict[str, object]:
    wanted, clip = of.cut.window, of.clip
    doubt = wanted.plus_minus_us
    checked_us = (each.camera_us for each in camera.checks)
    return {
        "camera": of.cut.camera,
        "from": format_time(wanted.from_us),
        "to": format_time(wanted.to_us),
        "plus_minus_ms": None if doubt is None else times.whole_ms(doubt),
        "unchecked_us": unchecked_us(checked_us, wanted.from_us, wanted.to_us),
        "piece": piece_told(wanted),
        "clip": clip and describe(clip),
        "first_frame_camera": clip and format_time(clip.starts_us),
        "first_frame_reference": None if starts_us is None else format_time(starts_us),
        "later_us": None if starts_us is None else starts_us - first_us,
        "missing": [[format_time(start), format_time(end)] for start, end in of.cut.missing],
        "segments_not_at_hand": of.lost,
    }
