"""Draws a simulated camera's segments, with its name and clock in the picture.

For demonstrations, tests and load tests. Frames are drawn at the camera's captures, with jitter and
drops; each keeps its own millisecond (ADR 0012). They are H.264 where the extra `video` is
installed, else VP8, at half the size. Code that replays a round must not import this.
"""

from __future__ import annotations

import hashlib
import random
import tempfile
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import cv2

from infra.files import replace_file
from ledger.errors import Unavailable
from ledger.facts import SegmentRecorded
from ledger.simulate.cameras.shot_list import CameraPlan, ShotList, camera_clock_us
from ledger.values import format_time
from replay.footage.muxing.webm import Packet, read_ivf, write_webm
from replay.footage.simulated.painter import SIZE, STRIP_SIZE, Painter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import NDArray

_MS = 1000  # microseconds
_SECOND = 1_000_000  # microseconds
_CAPTURES = 1 << 16  # the strip counts captures modulo this


class DrawnSegment(NamedTuple):
    """One drawn segment: the data of its fact, and when its file was closed."""

    fact: SegmentRecorded
    closed_us: int  # true time: the time of the recorder's `segment_recorded`


class _Capture(NamedTuple):
    number: int  # counts dropped captures too
    true_us: int
    clock_ms: int  # the camera's


def draw(
    shot_list: ShotList, folder: Path, progress: Callable[[int, int], None] | None = None
) -> list[DrawnSegment]:
    """Draw all segments of a shot list under a folder; the same list gives the same bytes.

    Files are `<camera>/<start by the camera's clock>.webm`, or `.mp4`; so is their label. progress:
    called with frames done and total, once a segment. Raises OSError if the folder cannot be
    written, Unavailable if this OpenCV cannot write VP8.
    """
    groups = list(_segments(shot_list.plan))
    painter = painter_of(shot_list)
    total, done, segments = sum(map(len, groups)), 0, []
    for captures in groups:
        segments.append(_segment(painter, captures, folder))
        done += len(captures)
        if progress:
            progress(done, total)
    return segments


def labels(plan: CameraPlan) -> list[str]:
    """The names of all segments of a plan under their folder, in order; none is drawn."""
    return [_label(plan, captures) for captures in _segments(plan)]


def draw_one(painter: Painter, number: int, folder: Path) -> DrawnSegment:
    """Draw one segment of a shot list, by its place among `labels`; the same bytes as by `draw`."""
    return _segment(painter, next(islice(_segments(painter.plan), number, None)), folder)


def painter_of(shot_list: ShotList) -> Painter:
    """What paints the pictures of a shot list."""
    return Painter(shot_list, _size(shot_list.plan, h264=_is_h264(shot_list.plan)))


def _is_h264(plan: CameraPlan) -> bool:
    return not plan.strip and find_spec("av") is not None


def _size(plan: CameraPlan, *, h264: bool) -> tuple[int, int]:
    """The size of a picture. OpenCV's VP8 takes twenty times as long as H.264."""
    if plan.strip:
        return STRIP_SIZE
    return SIZE if h264 else (SIZE[0] // 2, SIZE[1] // 2)


def _captures(plan: CameraPlan) -> Iterator[_Capture]:
    """The captures of the camera: at its nominal rate with jitter, without dropped ones."""
    chance = random.Random(plan.seed)  # noqa: S311 - repeatable, not for security
    interval_us = _SECOND // plan.frames_per_second
    jitter_us = min(plan.jitter_us, interval_us // 2 - _MS)
    last_ms = -1
    for number in range((plan.to_us - plan.from_us) // interval_us):
        jitter, dropped = chance.randint(-jitter_us, jitter_us), chance.randrange(1000)
        true_us = max(plan.from_us + number * interval_us + jitter, plan.from_us)
        in_gap = plan.gap is not None and plan.gap[0] <= true_us < plan.gap[1]
        clock_ms = max(camera_clock_us(plan, true_us) // _MS, last_ms + 1)
        if not in_gap and (number == 0 or dropped >= plan.dropped_permille):
            last_ms = clock_ms
            yield _Capture(number, true_us, clock_ms)


def _segments(plan: CameraPlan) -> Iterator[list[_Capture]]:
    """Captures by file: a new one after each `segment_us`, and after the gap."""
    current: list[_Capture] = []
    for capture in _captures(plan):
        if current:
            long = (capture.clock_ms - current[0].clock_ms) * _MS >= plan.segment_us
            before = current[-1].true_us
            resumed = plan.gap is not None and before < plan.gap[0] <= capture.true_us
            if long or resumed:
                yield current
                current = []
        current.append(capture)
    if current:
        yield current


def _label(plan: CameraPlan, captures: list[_Capture]) -> str:
    start = format_time(captures[0].clock_ms * _MS)
    kind = "mp4" if _is_h264(plan) else "webm"
    return f"{plan.camera}/{start.replace(':', '').replace('-', '')}.{kind}"


def _segment(painter: Painter, captures: list[_Capture], folder: Path) -> DrawnSegment:
    plan = painter.plan
    start_ms = captures[0].clock_ms
    ends_ms = captures[-1].clock_ms + 1000 // plan.frames_per_second
    times = [capture.clock_ms - start_ms for capture in captures]
    pictures = _pictures(painter, captures)
    if _is_h264(plan):
        from replay.footage.simulated.h264 import write_mp4  # noqa: PLC0415 - an optional extra

        octets = write_mp4(zip(times, pictures, strict=True), painter.size)
    else:
        packets = map(Packet, times, _encode(pictures, painter.size, plan.frames_per_second))
        octets = write_webm(list(packets), *painter.size, ends_ms - start_ms)
    label = _label(plan, captures)
    replace_file(folder / label, octets)
    fact = SegmentRecorded(
        camera=plan.camera,
        path=label,
        sha256=hashlib.sha256(octets).hexdigest(),
        start=format_time(start_ms * _MS),
        frames=len(captures),
        duration_us=(ends_ms - start_ms) * _MS,
    )
    return DrawnSegment(fact, captures[-1].true_us + _SECOND // plan.frames_per_second)


def _encode(
    pictures: Iterator[NDArray[np.uint8]], size: tuple[int, int], frames_per_second: int
) -> list[bytes]:
    """The frames as VP8 packets. OpenCV spaces them evenly; their times are set later."""
    with tempfile.TemporaryDirectory(prefix="round-ledger-") as folder:
        path = Path(folder, "frames.ivf")
        rate = float(frames_per_second)
        fourcc = cv2.VideoWriter.fourcc(*"VP80")
        writer = cv2.VideoWriter(str(path), cv2.CAP_FFMPEG, fourcc, rate, size)
        if not writer.isOpened():
            raise Unavailable(
                "This build of OpenCV cannot write VP8",
                where=cv2.__file__,
                hint="Install the opencv-python wheel; packages of distributions lack its codecs.",
            )
        for picture in pictures:
            writer.write(picture)
        writer.release()
        return read_ivf(path.read_bytes())


def _pictures(painter: Painter, captures: list[_Capture]) -> Iterator[NDArray[np.uint8]]:
    """A picture for each capture. A frozen camera goes on sending the last one before its fault."""
    frozen = [each for each in painter.plan.faults if each.kind == "frozen"]
    for capture in captures:
        shown = capture
        for fault in frozen:
            if fault.from_us <= capture.true_us < fault.to_us:
                clock_ms = camera_clock_us(painter.plan, fault.from_us) // _MS
                shown = _Capture(0, fault.from_us, clock_ms)
        yield painter.picture(shown.true_us, shown.clock_ms, shown.number % _CAPTURES)
