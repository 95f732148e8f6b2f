"""The footage index: the segments, their files, and the times of their frames.

It has a small JSON file for each segment, named by the SHA-256 of its bytes, under the ledger's
home. Only files in the index are opened, and only while they are unchanged (ADR 0013). Originals
are never written to; copies for browsers are in the index's own folder.
"""

import builtins
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from infra.files import replace_file
from ledger.facts import SegmentRecorded
from ledger.record.wire import Fact
from replay.footage.decoding.containers import Container, Ending
from replay.footage.decoding.decoder import FrameIndex, sha256_of
from replay.footage.library.files import FootageFiles, VerifiedFile

FOLDER = "footage-index"
"""The folder of the index in the ledger's home."""

S = 1_000_000

StartFrom = Literal["record", "told", "name", "picture", "container"]
"""How the start of a segment is known: from a fact on record, the command, the file's name, the
timecode in its pictures, or the container's creation time."""

PlayedAs = Literal["original", "remuxed", "transcoded"]
"""What browsers play: the file itself, the same packets in another container, or re-encoded."""


_encode = msgspec.json.Encoder(enc_hook=str).encode


def _path(kind: type, told: object) -> object:
    """Read a path, which is text in the index."""
    return Path(str(told)) if kind is Path else told


class Stamp(Struct, frozen=True):
    """A file's state when its bytes were last hashed; if it differs, they are hashed again."""

    size: int
    modified_ns: int
    changed_ns: int


class Playable(Struct, frozen=True):
    """What a browser plays of a segment; with sound only on request."""

    path: Path
    sha256: str
    how: PlayedAs
    container: Literal["mp4", "webm"]


class IndexedSegment(Struct, frozen=True, kw_only=True):
    """One segment. Times in microseconds; those of frames from its first frame."""

    sha256: str
    size: int
    path: Path
    stamp: Stamp
    property: str
    camera: str
    start_us: int  # by the camera's clock
    start_from: StartFrom
    duration_us: int  # to the end of its last frame
    container: Container
    codec: str
    width: int
    height: int
    times: FrameIndex
    fps_min: float  # lowest and highest frame rate, over a second or more
    fps_max: float
    audio: bool | None  # in the original; None: not known
    playable: Playable | None
    unplayable: str | None = None  # why a browser cannot play it
    timecode_us: int | None = None  # its start by the timecode in its pictures, if that differs
    rotation: int = 0  # degrees clockwise by which a player turns its pictures
    ending: Ending = "whole"
    codes_read: bool = False  # whether its pictures were searched for a clock's code

    @builtins.property  # `property` is a field here
    def end_us(self) -> int:
        """The end of the segment, by the camera's clock."""
        return self.start_us + self.duration_us


_decode = msgspec.json.Decoder(IndexedSegment, dec_hook=_path).decode


class _Head(Struct, frozen=True):
    """The part of an entry that sorting needs."""

    sha256: str
    property: str
    camera: str
    start_us: int


class Rates(NamedTuple):
    """Frame rates, over a second or more."""

    least: float
    most: float


class FootageIndex:
    """The index of one home. Several processes may use it at the same time."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / FOLDER

    @property
    def exists(self) -> bool:
        """Whether anything was ever added."""
        return self.folder.is_dir()

    def entry(self, sha256: str) -> IndexedSegment | None:
        """The segment with these bytes, or None; `whole` checks its file."""
        try:
            return _decode(self._place(sha256).read_bytes())
        except (FileNotFoundError, NotADirectoryError, msgspec.DecodeError):
            return None

    def entries(
        self, camera: str | None = None, property_: str | None = None
    ) -> list[IndexedSegment]:
        """All segments, or those of a camera: by property, camera and start."""
        heads = [
            head
            for head in map(_head, sorted(self.folder.glob("entries/??/*.json")))
            if head
            and (camera is None or head.camera == camera)
            and (property_ is None or head.property == property_)
        ]
        heads.sort(key=lambda head: (head.property, head.camera, head.start_us, head.sha256))
        found = (self.entry(head.sha256) for head in heads)
        return [entry for entry in found if entry]

    def keep(self, entry: IndexedSegment) -> None:
        """Write an entry, replacing one for the same bytes. Raises OSError."""
        replace_file(self._place(entry.sha256), _encode(entry))

    def whole(self, entry: IndexedSegment) -> bool:
        """Whether the file exists with the bytes it was added with.

        They are hashed again only if the file's size or times changed.
        """
        try:
            stamp = stamp_of(entry.path)
            if stamp == entry.stamp:
                return True
            if stamp.size != entry.size or sha256_of(entry.path) != entry.sha256:
                return False
        except OSError:
            return False
        self.keep(replace(entry, stamp=stamp))
        return True

    def at_hand(self, facts: Iterable[Fact]) -> FootageFiles:
        """The recorded segments of these facts that are in the index and unchanged.

        Each is looked up when it is needed, so that a day of footage costs nothing at first.
        """
        recorded = {fact.body.sha256 for fact in facts if isinstance(fact.body, SegmentRecorded)}
        altered: set[str] = set()
        return FootageFiles(_AtHand(self, recorded, altered), altered)

    def playable_at(self, sha256: str, container: str) -> Path:
        """The path of a segment's copy for browsers, if there is one."""
        return self.folder / "playable" / sha256[:2] / f"{sha256}.{container}"

    def _place(self, sha256: str) -> Path:
        if not (sha256.isascii() and sha256.isalnum()):
            raise ValueError(f"{sha256!r} is not a SHA-256")
        return self.folder / "entries" / sha256[:2] / f"{sha256}.json"


class _AtHand(Mapping[str, VerifiedFile]):
    """Segments by SHA-256, each looked up once, when it is needed."""

    def __init__(self, library: FootageIndex, recorded: set[str], altered: set[str]) -> None:
        self._library, self._recorded, self._altered = library, recorded, altered
        self._seen: dict[str, VerifiedFile | None] = {}

    def __getitem__(self, sha256: str) -> VerifiedFile:
        if sha256 not in self._seen:
            self._seen[sha256] = self._look(sha256) if sha256 in self._recorded else None
        kept = self._seen[sha256]
        if kept is None:
            raise KeyError(sha256)
        return kept

    def __iter__(self) -> Iterator[str]:
        return (sha256 for sha256 in sorted(self._recorded) if sha256 in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _look(self, sha256: str) -> VerifiedFile | None:
        entry = self._library.entry(sha256)
        if entry is None:
            return None
        if not self._library.whole(entry):
            if entry.path.is_file():
                self._altered.add(entry.path.name)
            return None
        return VerifiedFile(entry.path, entry.times, None)


def stamp_of(path: Path) -> Stamp:
    """A file's state. Raises OSError, also for a link or anything but a regular file."""
    if path.is_symlink() or not path.is_file():
        raise FileNotFoundError(2, "There is no such regular file", str(path))
    stat = path.stat()
    return Stamp(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


def rates_of(times: FrameIndex, duration_us: int) -> Rates:
    """The lowest and highest frame rate over a second."""
    pts, found, after = times.pts_us, [], 0
    for number, at_us in enumerate(pts):
        while after < len(pts) and pts[after] - at_us < S:
            after += 1
        if after == len(pts):
            break
        found.append((after - number) * S / (pts[after] - at_us))
    whole = len(pts) * S / max(duration_us, 1)
    return Rates(round(min(found, default=whole), 3), round(max(found, default=whole), 3))


def _head(path: Path) -> _Head | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Head)
    except (OSError, msgspec.DecodeError):
        return None
