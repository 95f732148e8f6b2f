"""Reads footage: an index of presentation times, and exactly the frame asked for.

A player asked for a time shows a neighbour of the frame there, so frames are found by index only
(ADR 0011). Run as a program it answers jobs under hard limits: footage is hostile input and must
not be decoded anywhere else (ADR 0013).
"""

from __future__ import annotations

import hashlib
import os
import resource
import signal
import sys
from bisect import bisect_left, bisect_right
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import msgspec

from replay.footage.decoder import (
    FRAMES_MAX,
    PIXELS_MAX,
    Answer,
    Frame,
    FrameIndex,
    Job,
    Limits,
    sha256_of,
)
from replay.footage.timecode import read_timecode

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

# Without the lists a "video" may be a playlist that names any file or address.
_OPEN_ONLY = "protocol_whitelist;file|format_whitelist;matroska,webm,mov,mp4,avi,mpegts"
_SIDES = (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)
_BACK_US = 100_000  # sought to this much before the target, then four times as much, and so on


class UnreadableError(Exception):
    """The file is not video that can be read; says why."""


def index(path: Path) -> FrameIndex:
    """The presentation times of every frame, without decoding one. Raises UnreadableError."""
    with _opened(path, raw=True) as capture:
        times: dict[int, bool] = {}
        while capture.grab():
            times[_position_us(capture)] = bool(capture.get(cv2.CAP_PROP_LRF_HAS_KEY_FRAME))
            if len(times) > FRAMES_MAX:
                raise UnreadableError(f"it holds more than {FRAMES_MAX:,} frames; cut it shorter")
    if not times:
        raise UnreadableError("it holds no frame")
    order = tuple(sorted(times))
    return FrameIndex(order, tuple(n for n, pts_us in enumerate(order) if times[pts_us]))


def frame_at(path: Path, times: FrameIndex, pts_us: int) -> Frame:
    """The frame shown from exactly this presentation time on, as PNG with its SHA-256.

    Raises UnreadableError where it cannot be decoded, ValueError where no frame has that time.
    """
    number = bisect_left(times.pts_us, pts_us)
    if times.pts_us[number : number + 1] != (pts_us,):
        raise ValueError(f"no frame is shown from {pts_us} us on: take a time of the index")
    picture = _picture(path, times, number)
    code = read_timecode(picture)
    kept, png = cv2.imencode(".png", picture)
    if not kept:
        raise UnreadableError(f"frame {number} decodes, but cannot be written as PNG")
    octets = png.tobytes()
    return Frame(number, pts_us, octets, hashlib.sha256(octets).hexdigest(), code)


def _picture(path: Path, times: FrameIndex, number: int) -> NDArray[np.uint8]:
    """Seek to well before the frame, then step until its own time comes up.

    Some containers land where no key frame is: what decodes from there may be pieces of other
    pictures. Only a picture with a key frame on the way to it is taken; the last try is the start.
    """
    back_us = _BACK_US
    with _opened(path, raw=False) as capture:
        while back_us < times.pts_us[number]:
            capture.set(cv2.CAP_PROP_POS_MSEC, (times.pts_us[number] - back_us) / 1000)
            picture = _step_to(capture, times, number)
            if picture is not None:
                return picture
            back_us *= 4
    with _opened(path, raw=False) as capture:
        picture = _step_to(capture, times, number)
        if picture is None:
            raise UnreadableError(f"frame {number} stands in the index, but does not decode")
        return picture


def _step_to(capture: cv2.VideoCapture, times: FrameIndex, number: int) -> NDArray[np.uint8] | None:
    """Decode up to a frame; None where that passes it, or passes no key frame."""
    first = reached = _step(capture, times)
    while reached is not None and reached < number:
        reached = _step(capture, times)
    if first is None or reached != number:
        return None
    if bisect_left(times.keys, first) == bisect_right(times.keys, number):
        return None
    decoded, picture = capture.retrieve()
    return picture.astype("uint8", copy=False) if decoded else None


def _step(capture: cv2.VideoCapture, times: FrameIndex) -> int | None:
    """Decode one frame; its number by its own time, None where there is none left."""
    if not capture.grab():
        return None
    pts_us = _position_us(capture)
    after = bisect_left(times.pts_us, pts_us)
    near = times.pts_us[max(after - 1, 0) : after + 1]
    best = min(near, key=lambda known_us: abs(known_us - pts_us))
    return bisect_left(times.pts_us, best)


def _position_us(capture: cv2.VideoCapture) -> int:
    return round(capture.get(cv2.CAP_PROP_POS_MSEC) * 1000)


@contextmanager
def _opened(path: Path, *, raw: bool) -> Iterator[cv2.VideoCapture]:
    """The file opened as one of the known containers: as packets, or to be decoded."""
    os.environ["OPENCV_FFMPEG_CAPTURE_OPTIONS"] = _OPEN_ONLY
    how = [cv2.CAP_PROP_FORMAT, -1] if raw else [cv2.CAP_PROP_N_THREADS, 1]
    capture = cv2.VideoCapture(str(path.absolute()), cv2.CAP_FFMPEG, how)
    try:
        if not capture.isOpened():
            raise UnreadableError("it is not WebM, Matroska, MP4, MPEG-TS or AVI, or is damaged")
        width, height = (capture.get(side) for side in _SIDES)
        if not 0 < width * height <= PIXELS_MAX:
            raise UnreadableError(f"its picture of {width:.0f} x {height:.0f} is not acceptable")
        yield capture
    finally:
        capture.release()


def answer(job: Job) -> Answer:
    """What one file holds, or why it cannot be read."""
    path, frames = Path(job.path), []
    try:
        if sha256_of(path) != job.sha256:
            return Answer(problem="it was altered after the folder was read")
        times = index(path)
        for number in job.frames:
            frames.append(frame_at(path, times, times.pts_us[number]))  # noqa: PERF401 - keeps those before a bad one
    except (UnreadableError, OSError, ValueError, IndexError, MemoryError, cv2.error) as error:
        return Answer(frames=tuple(frames), problem=str(error) or type(error).__name__)
    return Answer(index=times, frames=tuple(frames))


def main() -> None:
    """Answer jobs, one JSON line each, until the input ends; the last argument is the limits.

    The alarm is left to its default, which ends the process even deep inside a decoder.
    """
    limits = msgspec.json.decode(sys.argv[-1], type=Limits)
    most_of = ((resource.RLIMIT_AS, limits.memory_bytes), (resource.RLIMIT_CPU, limits.cpu_s))
    for limit, most in (*most_of, (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0)):
        with suppress(ValueError, OSError):  # macOS refuses some; the wall clock still holds
            resource.setrlimit(limit, (most, most))
    cv2.setNumThreads(1)
    for line in sys.stdin.buffer:
        signal.alarm(limits.job_s)
        sys.stdout.buffer.write(msgspec.json.encode(answer(msgspec.json.decode(line, type=Job))))
        sys.stdout.buffer.write(b"\n")
        sys.stdout.buffer.flush()
