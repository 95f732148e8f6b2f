"""Files that are no footage, or footage that leads elsewhere: what a folder may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from replay.footage.muxing.webm import Packet, write_webm
from tests.footage.video_kinds import KINDS, write

if TYPE_CHECKING:
    from pathlib import Path

FRAMES = 30
_AROUND_DREF = (b"dref", b"dinf", b"minf", b"mdia", b"trak", b"moov")
_ITSELF = b"\0\0\0\x0curl \0\0\0\x01"  # ISO/IEC 14496-12, 8.7.2: the media lies in this file


def refused(folder: Path, whole: bytes, url: str) -> list[str]:
    """Put files into a folder that are to be refused, each named after what is wrong with it."""
    files = {
        "cut.mp4": whole[: len(whole) // 3],
        "empty.mkv": b"",
        "text.mp4": b"no video at all\n" * 50,
        "noise.ts": (b"\x47" + bytes(range(187))) * 4,
        "riff.avi": b"RIFF\xff\xff\xff\xffAVI " + bytes(500),
        "picture.mp4": b"\x89PNG\r\n\x1a\n" + bytes(600),
        "huge-box.mp4": b"\0\0\0\x18ftypisom" + bytes(12) + b"\0\0\0\1moov" + b"\xff" * 600,
        "endless.mkv": b"\x1a\x45\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xff" + b"\xff" * 600,
        "hls.ts": playlist(f"#EXTM3U\n#EXTINF:9,\n{url}\n#EXT-X-ENDLIST\n"),
        "concat.mp4": playlist(f"ffconcat version 1.0\nfile {url}\n"),
        "concat-beside.mkv": playlist("ffconcat version 1.0\nfile 20261120T210000Z.mp4\n"),
        "dash.mp4": playlist(f"<?xml version='1.0'?><MPD><BaseURL>{url}</BaseURL></MPD>\n"),
        "elsewhere.mp4": elsewhere(whole, str(folder / "20261120T210000Z.mp4")),
    }
    for name, octets in files.items():
        (folder / name).write_bytes(octets)
    with (folder / "sparse.mp4").open("wb") as file:
        file.truncate(4 << 30)
    return [*files, "sparse.mp4"]


def playlist(text: str) -> bytes:
    return text.encode() + b"#" * 700


def referring(whole: bytes, url: str) -> bytes:
    """The MP4 with its media said to lie at an address, and there all the same."""
    name = url.encode() + b"\0"
    return _with_reference(whole, (12 + len(name)).to_bytes(4, "big") + b"url \0\0\0\0" + name)


def elsewhere(whole: bytes, path: str) -> bytes:
    """The MP4 with its media in another file, by QuickTime's alias, and none of it here."""
    name = path.replace("/", ":").encode()
    place = b"\0\2" + len(name).to_bytes(2, "big") + name + b"\0" * (len(name) % 2)
    record = bytes(10) + b"\0" + bytes(27 + 12) + b"\0" + bytes(63 + 16 + 4 + 16)
    record += place + b"\xff\xff\0\0"
    alias = (12 + len(record)).to_bytes(4, "big") + b"alis\0\0\0\0" + record
    return _with_reference(_without_media(whole), alias)


def linked(url: str) -> bytes:
    """A WebM that names an address as the segment that follows it."""
    key = b"\x10\x02\0\x9d\x01\x2a\x40\0\x40\0" + bytes(40)
    octets = write_webm([Packet(0, key)], 64, 64, 1000)
    at = octets.index(b"\x4d\x80\x01")  # two elements of one length each, naming its writer
    own = 2 * (2 + 8 + len(b"round-ledger"))
    name = url.encode().ljust(own - 11, b"\0")
    return (
        octets[:at] + b"\x3e\xb9\x23\x01" + len(name).to_bytes(7, "big") + name + octets[at + own :]
    )


def whole_mp4(path: Path) -> bytes:
    write(path, KINDS["gop60"], FRAMES)
    return path.read_bytes()


def _without_media(octets: bytes) -> bytes:
    at = octets.index(b"mdat")
    size = int.from_bytes(octets[at - 4 : at], "big")
    return octets[: at + 4] + bytes(size - 8) + octets[at - 4 + size :]


def _with_reference(octets: bytes, entry: bytes) -> bytes:
    """The MP4, whose index stands behind its media, with another entry for where that lies."""
    changed, where = bytearray(octets), octets.index(_ITSELF)
    changed[where : where + len(_ITSELF)] = entry
    for name in _AROUND_DREF:
        at = octets.rindex(name, 0, where) - 4
        size = int.from_bytes(octets[at : at + 4], "big") + len(entry) - len(_ITSELF)
        changed[at : at + 4] = size.to_bytes(4, "big")
    return bytes(changed)
