"""`clips.json`: what clips of several cameras are, how they line up, and what is missing of each.

The command writes it beside the clips, the screen into its zip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ledger.values import format_time
from replay.cameras.clocks import unchecked_us
from replay.cameras.cutting import piece_told, reference_us
from replay.footage.clips.clips import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from replay.cameras.coverage import Camera
    from replay.cameras.cutting import Cut
    from replay.footage.clips.clips import Clip

NAME = "clips.json"


class Made(NamedTuple):
    """A camera's clip; of one whose clock was set in between, a piece of it."""

    cut: Cut
    clip: Clip | None  # None: nothing of it is at hand
    lost: int = 0  # segments that are not at hand


def clip_list(made: Sequence[Made], camera: Callable[[str], Camera]) -> list[dict[str, object]]:
    """What each clip is, and how surely its time is known.

    later_us: how much later than the earliest its first frame is; unchecked_us: how far the nearest
    check of the camera's clock is from what was wanted. camera: what facts say of one, by its name.
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


def _starts_us(of: Made, camera: Camera) -> int | None:
    """When, by the reference, the first frame was taken."""
    if of.clip is None:
        return None
    return reference_us(camera, of.clip.starts_us, of.cut.window.epoch)


def _told(of: Made, camera: Camera, starts_us: int | None, first_us: int) -> dict[str, object]:
    wanted, clip = of.cut.window, of.clip
    doubt = wanted.plus_minus_us
    checked_us = (each.camera_us for each in camera.checks)
    return {
        "camera": of.cut.camera,
        "from": format_time(wanted.from_us),
        "to": format_time(wanted.to_us),
        "plus_minus_ms": None if doubt is None else -(-doubt // 1000),
        "unchecked_us": unchecked_us(checked_us, wanted.from_us, wanted.to_us),
        "piece": piece_told(wanted),
        "clip": clip and describe(clip),
        "first_frame_camera": clip and format_time(clip.starts_us),
        "first_frame_reference": None if starts_us is None else format_time(starts_us),
        "later_us": None if starts_us is None else starts_us - first_us,
        "missing": [[format_time(start), format_time(end)] for start, end in of.cut.missing],
        "segments_not_at_hand": of.lost,
    }
