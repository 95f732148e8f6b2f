"""Reads footage: an index of presentation times, and exact frames.

Seeking to a time may give a neighbouring frame, so frames are found by index only (ADR 0011). Run
as a program it answers jobs under hard limits: footage is hostile input and must not be decoded
anywhere else (ADR 0013).
"""

from __future__ import annotations

import hashlib
import os
from bisect import bisect_left, bisect_right
from contextlib import contextmanager, suppress
from fcntl import F_SETFL, fcntl
from pathlib import Path
from typing import TYPE_CHECKING

import cv2

from replay.footage.decoding.containers import (
    begins_plainly,
    container_of,
    created_us,
    has_sound,
    hidden_us,
)
from replay.footage.decoding.decoder import (
    FRAMES_MAX,
    DecodedFrames,
    Frame,
    FrameIndex,
    Job,
    Nature,
    sha256_of,
)
from replay.footage.decoding.faults import ending_of, fault_of
from replay.footage.decoding.files import opened
from replay.footage.decoding.limits import PIXELS_MAX
from replay.footage.decoding.sandbox import serve
from replay.footage.decoding.timecode import (
    RUN_US_MIN,
    Timecode,
    read_timecode,
    running_us,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from replay.footage.decoding.limits import Confined

# Without the lists a "video" may be a playlist that names any file or address.
_OPEN_ONLY = "protocol_whitelist;file|format_whitelist;matroska,webm,mov,mp4,avi,mpegts"
_TURNED = ("mp4", "matroska")
"""Containers that may ask for pictures to be turned."""

_SIDES = (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT)
_NO_VIDEO = "its content is not WebM, Matroska, MP4, MPEG-TS or AVI"
_CODECS = {
    **dict.fromkeys(("avc1", "avc3", "h264", "x264", "\x1b"), "h264"),
    **dict.fromkeys(("hvc1", "hev1", "hevc", "h265", "$"), "hevc"),
    **dict.fromkeys(("vp80", "vp08"), "vp8"),
    **dict.fromkeys(("vp90", "vp09"), "vp9"),
    "av01": "av1",
    **dict.fromkeys(("fmp4", "mp4v", "xvid", "divx", "dx50", "\x10"), "mpeg4"),
    **dict.fromkeys(("mp42", "mp43", "div3", "mpg4"), "msmpeg4"),
    **dict.fromkeys(("mjpg", "jpeg", "mjpa"), "mjpeg"),
    **dict.fromkeys(("mpg1", "mpg2", "mpeg", "\x01", "\x02"), "mpeg2video"),
}
_ROUNDED_US = 1_000  # for a container that counts milliseconds
_REORDERED_MAX = 16  # frames that may wait for a later one
_BACK_US = 100_000  # seek this far before the target, then four times as far, and so on

_QUALITY = 78  # of a small JPEG

_STDERR, _SAID_MAX = 2, 1 << 16  # where FFmpeg reports; bytes of it that are read


class UnreadableVideoError(Exception):
    """The file is not readable video; its text says why."""


class UndecodedFrameError(UnreadableVideoError):
    """The decoder gives no picture for a frame."""


def nature(path: Path) -> Nature:
    """The kind of the file, and the size of its pictures as shown. Raises UnreadableVideoError."""
    container = container_of(path)
    if container is None:
        raise UnreadableVideoError(_NO_VIDEO)
    with _opened(path, raw=True) as capture:
        width, height = (int(capture.get(side)) for side in _SIDES)
        fourcc = int(capture.get(cv2.CAP_PROP_FOURCC)).to_bytes(4, "little", signed=True)
    rotation = _rotation(path) if container in _TURNED else 0
    ending = ending_of(path, container)
    if rotation % 180:
        width, height = height, width
    return Nature(
        container=container,
        codec=_codec(fourcc),
        width=width,
        height=height,
        audio=has_sound(path, container),
        created_us=created_us(path, container),
        plain=ending != "cut" and begins_plainly(path, container),
        rotation=rotation,
        ending=ending,
    )


def _rotation(path: Path) -> int:
    """The degrees clockwise by which pictures are turned to be shown; decoded ones are turned."""
    with suppress(UnreadableVideoError), _opened(path, raw=False) as capture:
        return int(capture.get(cv2.CAP_PROP_ORIENTATION_META)) % 360
    return 0


def _codec(fourcc: bytes) -> str:
    """FFmpeg's name of a codec, from its four-letter code in the container."""
    told = fourcc.rstrip(b"\0 ").decode("latin-1").lower()
    return _CODECS.get(told, told if told.isalnum() else "unknown")


def index(path: Path) -> FrameIndex:
    """The presentation times of every frame, without decoding. Raises UnreadableVideoError.

    In a file that is cut off, the last packet may be half written: the frames from its time on do
    not count. The last of the others is decoded, as it may need a frame that is cut off.
    """
    last_us = not_whole = 0
    with _opened(path, raw=True) as capture:
        times: dict[int, bool] = {}
        while capture.grab():
            last_us = _position_us(capture)
            times[last_us] = bool(capture.get(cv2.CAP_PROP_LRF_HAS_KEY_FRAME))
            if len(times) > FRAMES_MAX:
                raise UnreadableVideoError(
                    f"it has more than {FRAMES_MAX:,} frames; cut it shorter"
                )
    container = container_of(path) or "mp4"
    ending = ending_of(path, container)
    if times and ending == "cut":
        last_us -= _delay_us(path) + _ROUNDED_US
        not_whole = sum(pts_us >= last_us for pts_us in times)
        times = {pts_us: key for pts_us, key in times.items() if pts_us < last_us}
    if not times:
        raise UnreadableVideoError(_fault(path))
    order = sorted(times)
    keys = [n for n, pts_us in enumerate(order) if times[pts_us]]
    hidden_until_us = order[0] + hidden_us(path, container) - _ROUNDED_US
    hidden = bisect_left(order, hidden_until_us)
    found = _without(order, keys, hidden) if 0 < hidden < len(order) else _as_it_is(order, keys)
    if ending != "cut":
        return found
    decoded = _decoded_part(path, found)
    not_whole += len(found.pts_us) - len(decoded.pts_us)
    return FrameIndex(decoded.pts_us, decoded.keys, not_whole)


def _decoded_part(path: Path, times: FrameIndex) -> FrameIndex:
    """The index without last frames that do not decode, since others that they need are cut off."""
    for _ in range(_REORDERED_MAX):
        last = len(times.pts_us) - 1
        try:
            picture_at(path, times, last)
        except UndecodedFrameError:
            if not last:
                break
            times = FrameIndex(times.pts_us[:last], tuple(n for n in times.keys if n < last))
        except UnreadableVideoError:  # it decodes, but cannot be converted
            break
        else:
            break
    return times


def _as_it_is(order: list[int], keys: list[int]) -> FrameIndex:
    return FrameIndex(tuple(order), tuple(keys))


def _without(order: list[int], keys: list[int], hidden: int) -> FrameIndex:
    """The index without hidden first frames; the shown ones are numbered from 0.

    The first shown frame counts as a keyframe: the frames it needs are decoded on the way to it.
    """
    shown = tuple(pts_us - order[hidden] for pts_us in order[hidden:])
    return FrameIndex(shown, (0, *(key - hidden for key in keys if key > hidden)))


def frame_at(path: Path, times: FrameIndex, pts_us: int, width: int = 0) -> Frame:
    """The frame with exactly this presentation time, as PNG with its SHA-256.

    width: above 0 it is a JPEG of this width.
    Raises UnreadableVideoError if it cannot be decoded, ValueError if no frame has that time.
    """
    number = bisect_left(times.pts_us, pts_us)
    if times.pts_us[number : number + 1] != (pts_us,):
        raise ValueError(f"no frame has the time {pts_us} us: use a time of the index")
    picture = picture_at(path, times, number)
    code = read_timecode(picture)
    kept, png = cv2.imencode(".png", picture) if not width else _small(picture, width)
    if not kept:
        raise UnreadableVideoError(f"frame {number} decodes, but cannot be written as a picture")
    octets = png.tobytes()
    return Frame(number, pts_us, octets, hashlib.sha256(octets).hexdigest(), code)


def _small(picture: NDArray[np.uint8], width: int) -> tuple[bool, NDArray[np.uint8]]:
    """A picture reduced to a width, as JPEG."""
    height = max(1, picture.shape[0] * width // picture.shape[1])
    small = cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])


def timecode_us(path: Path, times: FrameIndex) -> int | None:
    """When the first frame was taken, by the strip in the picture; None without a running clock.

    If the first picture has no strip, no other is decoded.
    """
    seen: list[tuple[int, Timecode]] = []
    for after_us in (0, RUN_US_MIN // 2, RUN_US_MIN):
        number = bisect_left(times.pts_us, times.pts_us[0] + after_us)
        try:
            code = read_timecode(picture_at(path, times, number))
        except (UnreadableVideoError, IndexError, cv2.error):
            return None
        if code is None:
            return None
        seen.append((times.pts_us[number], code))
    return running_us(seen)


def picture_at(path: Path, times: FrameIndex, number: int) -> NDArray[np.uint8]:
    """The picture of a frame, by number: seek to well before it, then step to its time.

    In some containers a seek does not land on a keyframe, and the decoded pictures may be broken.
    So a picture is only used if a keyframe was decoded before it; the last try is from the start.
    Raises UnreadableVideoError if it does not decode.
    """
    back_us, delay_us = _BACK_US, _delay_us(path)
    with _opened(path, raw=False) as capture:
        while back_us < times.pts_us[number]:
            capture.set(cv2.CAP_PROP_POS_MSEC, (times.pts_us[number] - back_us) / 1000)
            picture = _step_to(capture, times, number, delay_us)
            if picture is not None:
                return picture
            back_us *= 4
    with _opened(path, raw=False) as capture:
        picture = _step_to(capture, times, number, delay_us)
        if picture is None:
            raise UndecodedFrameError(f"frame {number} is in the index but does not decode")
        return picture


def _delay_us(path: Path) -> int:
    """The delay of AVI's reported times, since its frames only have an index.

    If frames are decoded out of order, each is reported at the index of a later one.
    """
    if container_of(path) != "avi":
        return 0
    with _opened(path, raw=False) as capture:
        return _position_us(capture) if capture.grab() else 0


def _step_to(
    capture: cv2.VideoCapture, times: FrameIndex, number: int, delay_us: int
) -> NDArray[np.uint8] | None:
    """Decode up to a frame; None if that passes the frame or meets no keyframe."""
    first = reached = _step(capture, times, delay_us, -1)
    while reached is not None and reached < number:
        reached = _step(capture, times, delay_us, reached)
    if first is None or reached != number:
        return None
    if bisect_left(times.keys, first) == bisect_right(times.keys, number):
        return None
    return _picture(capture, number)


def _step(capture: cv2.VideoCapture, times: FrameIndex, delay_us: int, before: int) -> int | None:
    """Decode one frame; its number by its own time, None at the end."""
    if not capture.grab():
        return None
    pts_us = _position_us(capture) - delay_us
    if delay_us and pts_us < 0:
        return before + 1  # delayed to the end, where no index is left to report
    after = bisect_left(times.pts_us, pts_us)
    near = times.pts_us[max(after - 1, 0) : after + 1]
    best = min(near, key=lambda known_us: abs(known_us - pts_us))
    return bisect_left(times.pts_us, best)


def _picture(capture: cv2.VideoCapture, number: int) -> NDArray[np.uint8]:
    """The picture of the last decoded frame. Raises UnreadableVideoError if there is none.

    If FFmpeg fails to convert a picture, as with interlaced ones, OpenCV still returns success and
    stale memory. Only FFmpeg's message on stderr shows the failure.
    """
    said, say = os.pipe()  # no file may be written here
    for end in (said, say):
        fcntl(end, F_SETFL, os.O_NONBLOCK)
    kept = os.dup(_STDERR)
    os.dup2(say, _STDERR)
    try:
        decoded, picture = capture.retrieve()
        with suppress(BlockingIOError):
            decoded = decoded and b"swscaler" not in os.read(said, _SAID_MAX)
    finally:
        os.dup2(kept, _STDERR)
        for each in (kept, said, say):
            os.close(each)
    if not decoded:
        problem = "its picture cannot be converted; it may be interlaced"
        raise UnreadableVideoError(f"frame {number} decodes, but {problem}")
    return picture.astype("uint8", copy=False)


def _position_us(capture: cv2.VideoCapture) -> int:
    return round(capture.get(cv2.CAP_PROP_POS_MSEC) * 1000)


@contextmanager
def _opened(path: Path, *, raw: bool) -> Iterator[cv2.VideoCapture]:
    """The file opened as one of the known containers: as packets, or to be decoded."""
    os.environ["OPENCV_FFMPEG_CAPTURE_OPTIONS"] = _OPEN_ONLY
    how = [cv2.CAP_PROP_FORMAT, -1] if raw else [cv2.CAP_PROP_N_THREADS, 1]
    with opened(path) as file:
        # its stub names a class of its own for what reads; any buffered file is one
        capture = cv2.VideoCapture(file, cv2.CAP_FFMPEG, how)  # type: ignore[call-overload]
        try:
            width, height = (capture.get(side) for side in _SIDES)
            if not capture.isOpened() or not width * height:
                raise UnreadableVideoError(_fault(path))
            if width * height > PIXELS_MAX:
                raise UnreadableVideoError(
                    f"its picture of {width:.0f} x {height:.0f} is not acceptable"
                )
            yield capture
        finally:
            capture.release()


def _fault(path: Path) -> str:
    container = container_of(path)
    return _NO_VIDEO if container is None else fault_of(path, container)


def answer(job: Job) -> DecodedFrames:
    """The content of one file, or why it cannot be read."""
    path, frames = Path(job.path), []
    told, times, clock_us, problem = None, None, None, None
    try:
        if sha256_of(path) != job.sha256:
            return DecodedFrames(problem="it was altered after the folder was read")
        told = nature(path)
        times = index(path)
        for number in job.frames:
            frames.append(frame_at(path, times, times.pts_us[number], job.width))  # noqa: PERF401 - keeps those before a bad one
        clock_us = timecode_us(path, times) if job.timecode else None
    except (UnreadableVideoError, OSError, ValueError, IndexError, MemoryError, cv2.error) as error:
        problem = str(error) or type(error).__name__
    return DecodedFrames(times, told, tuple(frames), clock_us, problem)


def main(confined: Confined) -> None:
    """Answer jobs until the input ends."""
    cv2.setNumThreads(1)
    serve(Job, answer, confined)
