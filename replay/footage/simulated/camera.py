"""Draws a simulated camera's segments, with its clock in the picture.

For demonstrations, tests and load tests. Frames are drawn at the camera's captures, with jitter and
drops; each keeps its own millisecond (ADR 0012). Code that replays a round must not import this.
"""

from __future__ import annotations

import hashlib
import random
import tempfile
from bisect import bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import cv2
import numpy as np

from ledger.errors import Unavailable
from ledger.facts import SegmentRecorded
from ledger.simulate.cameras.shot_list import CameraPlan, ShotList, camera_clock_us
from ledger.values import format_time
from replay.footage.decoding.timecode import Timecode, draw_strip
from replay.footage.muxing.webm import Packet, read_ivf, write_webm
from replay.footage.simulated.picture import HEIGHT, WIDTH, draw_clock, draw_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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

    Files are `<camera>/<start by the camera's clock>.webm`, which is also their label. progress:
    called with frames done and total, once a segment. Raises OSError if the folder cannot be
    written, Unavailable if this OpenCV cannot write VP8.
    """
    plan = shot_list.plan
    (folder / plan.camera).mkdir(parents=True, exist_ok=True)
    groups = list(_segments(plan))
    total, done, segments = sum(map(len, groups)), 0, []
    for captures in groups:
        segments.append(_segment(shot_list, captures, folder))
        done += len(captures)
        if progress:
            progress(done, total)
    return segments


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


def _segment(shot_list: ShotList, captures: list[_Capture], folder: Path) -> DrawnSegment:
    plan = shot_list.plan
    start_ms = captures[0].clock_ms
    ends_ms = captures[-1].clock_ms + 1000 // plan.frames_per_second
    packets = [
        Packet(capture.clock_ms - start_ms, octets)
        for capture, octets in zip(captures, _encode(shot_list, captures), strict=True)
    ]
    octets = write_webm(packets, WIDTH, HEIGHT, ends_ms - start_ms)
    start = format_time(start_ms * _MS)
    label = f"{plan.camera}/{start.replace(':', '').replace('-', '')}.webm"
    (folder / label).write_bytes(octets)
    fact = SegmentRecorded(
        camera=plan.camera,
        path=label,
        sha256=hashlib.sha256(octets).hexdigest(),
        start=start,
        frames=len(captures),
        duration_us=(ends_ms - start_ms) * _MS,
    )
    return DrawnSegment(fact, captures[-1].true_us + _SECOND // plan.frames_per_second)


def _encode(shot_list: ShotList, captures: list[_Capture]) -> list[bytes]:
    """The frames as VP8 packets. OpenCV spaces them evenly; their times are set later."""
    with tempfile.TemporaryDirectory(prefix="round-ledger-") as folder:
        path = Path(folder, "frames.ivf")
        rate = float(shot_list.plan.frames_per_second)
        fourcc = cv2.VideoWriter.fourcc(*"VP80")
        writer = cv2.VideoWriter(str(path), cv2.CAP_FFMPEG, fourcc, rate, (WIDTH, HEIGHT))
        if not writer.isOpened():
            raise Unavailable(
                "This build of OpenCV cannot write VP8",
                where=cv2.__file__,
                hint="Install the opencv-python wheel; packages of distributions lack its codecs.",
            )
        for picture in _pictures(shot_list, captures):
            writer.write(picture)
        writer.release()
        return read_ivf(path.read_bytes())


def _pictures(shot_list: ShotList, captures: list[_Capture]) -> Iterator[NDArray[np.uint8]]:
    """A picture for each capture; the table is only redrawn when it changes."""
    plan, shots = shot_list.plan, shot_list.shots
    starts = [shot.at_us for shot in shots]
    drawn, table = -2, np.empty(0, dtype=np.uint8)
    for capture in captures:
        current = bisect_right(starts, capture.true_us) - 1
        if current != drawn:
            drawn = current
            table = draw_table(plan.table, plan.camera, shots[current] if current >= 0 else None)
        picture = table.copy()
        draw_clock(picture, capture.clock_ms)
        draw_strip(picture, Timecode(capture.clock_ms, capture.number % _CAPTURES))
        yield picture
