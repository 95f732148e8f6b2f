"""Forty files as recorders, exports and accidents leave them, and what each of them gives.

A row of the table in `docs/how-to/footage.md` is made from each, and a test checks each.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

import av
import numpy as np

from tests.footage.video_kinds import CUT, INTERLACED, KINDS, Kind, blank, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FRAMES = 45
NO_INDEX = (
    "it is cut off: the index that a recorder writes last is missing. Copy it again once the "
    "recorder has closed it"
)
SOUND_ONLY = "it has sound only, no picture"
_TURNS = {90: (0, 1, -1, 0), 180: (-1, 0, 0, -1), 270: (0, -1, 1, 0)}
_FASTSTART = KINDS["bframes"]._replace(muxing={"movflags": "+faststart"})


class CorpusFile(NamedTuple):
    """A file: how it is written, and what it gives.

    gives: `exact` frames; `exact up to the cut`; `copy only`, since OpenCV cannot convert its
    pictures; else the reason why it is refused. warns: the code of what is odd about it.
    """

    name: str
    about: str
    write: Callable[[Path], object]
    gives: str = "exact"
    warns: str | None = None
    turned: int = 0
    hidden: int = 0  # pictures before the first that is shown


def _kind(name: str, about: str, kind: Kind, **more: object) -> CorpusFile:
    file = f"{name}.{kind.suffix}"
    return CorpusFile(file, about, lambda path: write(path, kind, FRAMES), **more)  # type: ignore[arg-type]


def _cut(name: str, about: str, kind: Kind, gives: str = "exact up to the cut") -> CorpusFile:
    def written(path: Path) -> None:
        write(path, kind, FRAMES)
        octets = path.read_bytes()
        path.write_bytes(octets[: len(octets) * 7 // 10])

    warns = "cut" if gives.startswith("exact") else None
    return CorpusFile(f"{name}.{kind.suffix}", about, written, gives, warns)


def _turned(degrees: int) -> CorpusFile:
    def written(path: Path) -> None:
        write(path, KINDS["gop60"], FRAMES)
        octets = bytearray(path.read_bytes())
        at = octets.index(b"tkhd") + 44  # ISO/IEC 14496-12, 8.3.2: the matrix of a track
        a, b, c, d = (each << 16 for each in _TURNS[degrees])
        octets[at : at + 36] = struct.pack(">9i", a, b, 0, c, d, 0, 0, 0, 1 << 30)
        path.write_bytes(octets)

    about = f"H.264 in MP4, turned by {degrees} degrees"
    return CorpusFile(f"turned_{degrees}.mp4", about, written, turned=degrees)


def _sound_only(path: Path) -> None:
    with av.open(str(path), "w") as file:
        stream = file.add_stream("aac", rate=48_000, layout="mono")
        for number in range(20):
            frame = av.AudioFrame.from_ndarray(
                np.zeros((1, 1024), np.float32), format="fltp", layout="mono"
            )
            frame.sample_rate, frame.pts = 48_000, number * 1024
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))


def _damaged(path: Path) -> None:
    write(path, KINDS["gop60"], FRAMES)
    octets = path.read_bytes()
    at = octets.index(b"moov")
    path.write_bytes(octets[: at + 4] + bytes(len(octets) - at - 4))


def _named(name: str, about: str, warns: str) -> CorpusFile:
    return CorpusFile(name, about, lambda path: write(path, KINDS["gop60"], FRAMES), warns=warns)


ABOUT = {
    "gop60": "H.264 in MP4, a keyframe every 60 frames",
    "bframes": "H.264 in MP4 with B-frames",
    "gop300": "H.264 in MP4, one keyframe",
    "fragmented": "H.264 in fragmented MP4 with B-frames",
    "vfr_mp4": "H.264 in MP4, variable rate, a hole of 2 s",
    "vfr_mkv": "H.264 in Matroska, variable rate, a hole of 2 s",
    "ts": "H.264 in MPEG-TS that starts at 5,000 s",
    "ts_bframes": "H.264 in MPEG-TS with B-frames",
    "vp8": "VP8 in WebM",
    "vp9": "VP9 in WebM",
    "starts_late": "H.264 in MP4 whose first frame is at 5 s",
    "vfr_bframes": "H.264 in MP4, variable rate, B-frames, a hole of 2 s",
    "mkv_bframes": "H.264 in Matroska with B-frames",
    "open_gop": "H.264 in MPEG-TS with open groups of pictures",
    "avi_h264": "H.264 in AVI",
    "avi_bframes": "MPEG-4 in AVI with B-frames",
    "hevc": "HEVC in MPEG-TS",
    "vp9_vfr": "VP9 in Matroska, variable rate, a hole of 2 s",
    "msmpeg4": "MS-MPEG4 in AVI",
    "mjpeg": "Motion JPEG in AVI",
}

CORPUS: tuple[CorpusFile, ...] = (
    *(
        _kind(name, ABOUT[name], kind, warns="holes" if kind.variable else None)
        for name, kind in KINDS.items()
    ),
    _kind("faststart", "H.264 in MP4 with its index first", _FASTSTART),
    _kind(
        "live", "H.264 in Matroska without lengths, as it is streamed",
        KINDS["mkv_bframes"]._replace(muxing={"live": "1"}),
    ),
    _kind("edit_list", "H.264 in MP4 whose edit list hides 30 pictures", CUT, hidden=30),
    _kind("fields", "H.264 in MPEG-TS, interlaced", INTERLACED, gives="copy only"),
    CorpusFile(
        "sound.mp4", "H.264 in MP4 with sound",
        lambda path: write(path, KINDS["gop60"], FRAMES, audio=True),
    ),
    *map(_turned, _TURNS),
    _cut("cut_fragmented", "fragmented MP4, cut off", KINDS["fragmented"]),
    _cut("cut_faststart", "MP4 with its index first, cut off", _FASTSTART),
    _cut("cut_mkv", "Matroska, cut off", KINDS["mkv_bframes"]),
    _cut("cut_webm", "WebM, cut off", KINDS["vp8"]),
    _cut("cut_ts", "MPEG-TS, cut off", KINDS["ts_bframes"]),
    _cut("cut_avi", "AVI, cut off", KINDS["avi_bframes"]),
    _cut("cut_mp4", "MP4 with its index last, cut off", KINDS["gop60"], NO_INDEX),
    CorpusFile("only_sound.mp4", "AAC in MP4 without pictures", _sound_only, SOUND_ONLY),
    CorpusFile("empty.mp4", "no byte", lambda path: path.touch(), "it is empty"),
    CorpusFile(
        "playlist.mp4", "a playlist named as video",
        lambda path: path.write_text("#EXTM3U\nhttp://127.0.0.1:9/x.ts\n"),
        "its content is not WebM, Matroska, MP4, MPEG-TS or AVI",
    ),
    CorpusFile(
        "damaged.mp4", "MP4 whose index is overwritten", _damaged,
        "it is damaged: its content cannot be read",
    ),
    CorpusFile(
        "no_start.mkv", "no time in name, pictures or container",
        lambda path: write(
            path, KINDS["mkv_bframes"], FRAMES, pictures=[blank()]
        ),
        "its start is unknown: its name has no time, its pictures no timecode, its container no "
        "date; give --start",
    ),
    _named("20161120T200130.250Z.mp4", "a name of 2016", "outside_facts"),
    _named("20991120T200130.250Z.mp4", "a name of 2099", "future"),
    _named("2026-11-20_15-01-30.mp4", "a local time that reads as UTC", "zone"),
    _named("20261120T200130.250Z.mp4", "beside footage on record of that time", "overlap"),
)  # fmt: skip
"""Every file, by a name that stands once."""

GIVES = {
    "exact": "exact frames",
    "exact up to the cut": "exact frames up to the cut",
    "copy only": "plays as a copy; single frames are refused, as OpenCV cannot convert them",
}


def table() -> list[str]:
    """The rows of the table in the documentation."""
    return [
        f"| {each.about} | {GIVES.get(each.gives, 'refused: ' + each.gives)} | "
        f"{f'`{each.warns}`' if each.warns else ''} |"
        for each in CORPUS
    ]
