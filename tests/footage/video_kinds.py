"""Video files of the kinds that recorders write, every frame of which names itself by its strip."""

from __future__ import annotations

import random
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

import av
import numpy as np

from replay.footage.decoding.timecode import (
    STRIP_HEIGHT,
    STRIP_WIDTH,
    Timecode,
    draw_strip,
    read_timecode,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WIDTH, HEIGHT = STRIP_WIDTH, 272
TICK = Fraction(1, 90_000)


class Kind(NamedTuple):
    """How a file is written. `options` go to the encoder, `muxing` to the container."""

    suffix: str
    codec: str
    options: dict[str, str]
    variable: bool = False
    start_s: int = 0
    muxing: dict[str, str] | None = None
    format: str | None = None


X264 = {"preset": "ultrafast", "crf": "23", "bf": "0", "sc_threshold": "0"}
OPEN_GOP = "open-gop=1:b-pyramid=2:keyint=30:bframes=3"
X265 = "log-level=none:keyint=60"
VPX = {"deadline": "realtime", "cpu-used": "8", "g": "60", "threads": "1"}
"""More threads of VP8 wait for one another by turning in circles: ten times the CPU."""
KINDS = {
    "gop60": Kind("mp4", "libx264", {**X264, "g": "60"}),
    "bframes": Kind("mp4", "libx264", {**X264, "g": "60", "bf": "2"}),
    "gop300": Kind("mp4", "libx264", {**X264, "g": "300"}),
    "fragmented": Kind(
        "mp4",
        "libx264",
        {**X264, "g": "60", "bf": "2"},
        muxing={"movflags": "frag_keyframe+empty_moov+default_base_moof"},
    ),
    "vfr_mp4": Kind("mp4", "libx264", {**X264, "g": "60"}, variable=True),
    "vfr_mkv": Kind("mkv", "libx264", {**X264, "g": "60"}, variable=True, format="matroska"),
    "ts": Kind("ts", "libx264", {**X264, "g": "60"}, start_s=5000, format="mpegts"),
    "ts_bframes": Kind(
        "ts", "libx264", {**X264, "g": "60", "bf": "2"}, start_s=5000, format="mpegts"
    ),
    "vp8": Kind("webm", "libvpx", VPX),
    "vp9": Kind("webm", "libvpx-vp9", VPX),
    "starts_late": Kind("mp4", "libx264", {**X264, "g": "60", "bf": "2"}, start_s=5),
    "vfr_bframes": Kind("mp4", "libx264", {**X264, "g": "60", "bf": "2"}, variable=True),
    "mkv_bframes": Kind("mkv", "libx264", {**X264, "g": "60", "bf": "2"}, format="matroska"),
    "open_gop": Kind(
        "ts", "libx264", {**X264, "bf": "3", "x264-params": OPEN_GOP}, start_s=1, format="mpegts"
    ),
    "avi_h264": Kind("avi", "libx264", {**X264, "g": "60"}),
    "avi_bframes": Kind("avi", "mpeg4", {"g": "30", "bf": "2"}),
    "hevc": Kind("ts", "libx265", {"preset": "ultrafast", "x265-params": X265}, format="mpegts"),
    "vp9_vfr": Kind("mkv", "libvpx-vp9", VPX, variable=True, format="matroska"),
    "msmpeg4": Kind("avi", "msmpeg4", {"g": "12", "qmin": "8", "qmax": "8"}),
    "mjpeg": Kind("avi", "mjpeg", {}),
}
"""Every kind of file that footage is taken from, by a short name."""

CUT = KINDS["bframes"]._replace(start_s=-1)
"""As a recorder cuts an MP4 without encoding again: an edit list hides its first 30 pictures."""

INTERLACED = KINDS["ts"]._replace(options={**X264, "g": "60", "x264-params": "tff=1"})
"""Pictures in two fields."""


def times_of(kind: Kind, frames: int, seed: int = 1) -> list[int]:
    """Presentation times in ticks of 1/90,000 s: 30 a second, or with drops and a gap of 2 s."""
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    ticks = []
    for number in range(frames * 2 if kind.variable else frames):
        dropped = kind.variable and (
            chance.random() < 0.1 or frames // 3 <= number < frames // 3 + 60
        )
        if number == 0 or not dropped:
            ticks.append(number * 3000)
        if len(ticks) == frames:
            break
    return ticks


def picture(
    number: int, clock_ms: int, seed: int = 0
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """A moving picture with enough in it to be worth compressing, and its name below."""
    across = (np.arange(WIDTH) * 2 + number * 3 + seed) % 256
    down = (np.arange(HEIGHT) * 3 + number) % 256
    grey = ((across[None, :] + down[:, None]) // 2).astype(np.uint8)
    drawn = np.ascontiguousarray(np.repeat(grey[:, :, None], 3, axis=2))
    draw_strip(drawn, Timecode(clock_ms, number % 65_536))
    return drawn


def blank() -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """A picture that says nothing of itself."""
    return picture(0, 0)[: HEIGHT - STRIP_HEIGHT * 2].copy()


class _Content(NamedTuple):
    """The content of a file of any kind, as it is given to `write`."""

    frames: int
    start_ms: int
    audio: bool
    first: int
    pictures: Sequence[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]] | None
    metadata: dict[str, str]


KEPT_OCTETS_MAX = 4 << 20
_written: dict[str | None, bytes] = {}


def write(
    path: Path,
    kind: Kind,
    frames: int = 240,
    *,
    start_ms: int = 0,
    audio: bool = False,
    first: int = 0,
    pictures: Sequence[np.ndarray[tuple[int, ...], np.dtype[np.uint8]]] | None = None,
    metadata: dict[str, str] | None = None,
) -> list[int]:
    """Write a file; the times of its frames in microseconds from the first on.

    One that was written before in this process is copied: to encode is most of the work.
    """
    content = _Content(frames, start_ms, audio, first, pictures, metadata or {})
    told = None if pictures else repr((path.suffix, kind, content))
    if told in _written:
        path.write_bytes(_written[told])
    else:
        _encode(path, kind, content)
        if told and path.stat().st_size <= KEPT_OCTETS_MAX:
            _written[told] = path.read_bytes()
    return [tick * 100 // 9 for tick in times_of(kind, frames)]


def _encode(path: Path, kind: Kind, content: _Content) -> None:
    frames, start_ms, audio, first, pictures, metadata = content
    ticks = times_of(kind, frames)
    with av.open(str(path), "w", format=kind.format, container_options=kind.muxing or {}) as out:
        out.metadata.update(metadata)
        video = out.add_stream(kind.codec, rate=30, options=dict(kind.options))
        shape = pictures[0].shape if pictures else (HEIGHT, WIDTH)
        video.width, video.height = shape[1], shape[0]
        video.pix_fmt = "yuvj420p" if kind.codec == "mjpeg" else "yuv420p"
        by_rate = kind.suffix == "avi"
        tick_of = Fraction(1, 30) if by_rate else TICK
        video.time_base = video.codec_context.time_base = tick_of
        video.bit_rate = 4_000_000
        sound = out.add_stream("aac", rate=48_000) if audio else None
        for number, tick in enumerate(ticks):
            shown = (
                pictures[number % len(pictures)]
                if pictures
                else picture(first + number, start_ms + tick // 90)
            )
            frame = av.VideoFrame.from_ndarray(shown, format="bgr24")
            frame.pts = number if by_rate else tick + kind.start_s * 90_000
            frame.time_base = tick_of
            out.mux(video.encode(frame))
        out.mux(video.encode(None))
        if sound is not None:
            _silence(out, sound, len(ticks) / 30)


def decoded(path: Path) -> list[tuple[int, Timecode | None]]:
    """Every frame as a decoder gives it from the start on: its time, and what it says of itself."""
    found = []
    with av.open(str(path)) as file:
        first = None
        for frame in file.decode(video=0):
            ticks = frame.dts if frame.pts is None else frame.pts
            first = ticks if first is None else first
            shown = frame.to_ndarray(format="bgr24")
            us = round((ticks - first) * file.streams.video[0].time_base * 1_000_000)
            found.append((us, read_timecode(shown)))
    return found


def hashes_of(path: Path) -> dict[int, str]:
    """The hash of every picture as a decoder gives it, in order of showing, numbered from 0."""
    with av.open(str(path)) as file:
        file.streams.video[0].thread_count = 1
        pictures = (frame.to_ndarray(format="bgr24") for frame in file.decode(video=0))
        return dict(enumerate(sha256(each.tobytes()).hexdigest() for each in pictures))


def _silence(out: av.container.OutputContainer, sound: av.AudioStream, seconds: float) -> None:
    for at in range(0, int(seconds * 48_000), 1024):
        frame = av.AudioFrame.from_ndarray(
            np.zeros((2, 1024), np.float32), format="fltp", layout="stereo"
        )
        frame.sample_rate, frame.pts = 48_000, at
        out.mux(sound.encode(frame))
    out.mux(sound.encode(None))
