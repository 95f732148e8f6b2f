"""The data for a camera's player: the pieces of its clock, its segments, and causes of gaps.

From these the player (static/camera_time.js) finds the frame of a time as `replay.cameras.timeline`
does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from replay.cameras.clock_pieces import clock_pieces, epochs_of, steps
from replay.cameras.clocks import to_camera
from replay.cameras.coverage import Camera
from replay.text.times import aloud, localized
from replay.web.pages.lanes import lane_of, segments_of
from replay.web.pages.timeline_svg import STATES

if TYPE_CHECKING:
    from datetime import tzinfo

    from replay.cameras.clock_pieces import ClockPiece
    from replay.footage.library.index import FootageIndex
    from replay.web.pages.lanes import TableSpan
    from replay.web.round_reader import KeptRound


def player(
    told: KeptRound, library: FootageIndex, span: TableSpan, name: str, zone: tzinfo
) -> dict[str, Any]:
    """One camera in a span: its clock against the reference, and its segments."""
    camera = told.coverage.cameras.get((span.property, name), Camera())
    segments = []
    for each in segments_of(told.coverage, span, name):
        entry = library.entry(each.body.sha256)
        segments.append({
            "sha": each.body.sha256,
            "start": each.start_us,
            "end": each.end_us,
            "told": each.told_us,
            "epochs": epochs_of(camera.clock, each),
            "plays": bool(entry and entry.playable),
            "says": entry.unplayable if entry else "No available file has these bytes.",
        })  # fmt: skip
    return {
        "name": name,
        "clock": [
            {
                "from": each.from_us,
                "to": each.to_us,
                "epoch": each.epoch,
                "line": each.line,
                "within": _within_us(camera, each),
            }
            for each in clock_pieces(camera.clock, span.from_us, span.to_us)
        ],
        "steps": [
            [each.from_us, each.to_us, aloud(localized(each.says, zone))]
            for each in steps(camera.clock)
        ],
        "segments": segments,
        "nothing": [
            [
                each.from_us,
                each.to_us,
                f"{STATES[each.state].capitalize()}: {aloud(localized(each.says, zone))}",
            ]
            for each in lane_of(told.coverage, told.footage, span, name)
            if each.says
        ],
    }


def _within_us(camera: Camera, piece: ClockPiece) -> int | None:
    """The most by which the reference time of a picture in a piece may be wrong.

    None if the clock was never checked.
    """
    clock = camera.clock
    if clock is None:
        return None
    times = (piece.from_us, *(time for time, _ in piece.line), piece.to_us - 1)
    return max(to_camera(clock, time).plus_minus_us for time in times if time < piece.to_us)
