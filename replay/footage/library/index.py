"""The footage index: which segments there are, where they lie, when each frame of them is shown.

One small JSON file a segment, named by the SHA-256 of its bytes, below the ledger's home. Nothing
but paths in it is ever opened, and only while the file is what it was (ADR 0013). Originals are
never written to; copies for browsers lie in the index's own folder.
"""

import builtins
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ledger.facts import SegmentRecorded
from ledger.record.wire import Fact
from replay.footage.decoding.containers import Container
from replay.footage.decoding.decoder import FrameIndex, sha256_of
from replay.footage.library.files import FootageFiles, VerifiedFile

FOLDER = "footage-index"
"""Where the index lies in the ledger's home."""

S = 1_000_000

StartFrom = Literal["record", "told", "name", "picture", "container"]
"""How the start of a segment is known: from a fact on record, told with the command, from the
file's name, from the timecode in its pictures, or from when the container says it was made."""

PlayedAs = Literal["original", "remuxed", "transcoded"]
"""The file itself; the same packets in another container; or encoded anew, and so derived."""


_encode = msgspec.json.Encoder(enc_hook=str).encode


def _path(kind: type, told: object) -> object:
    """A path stands as text in the index."""
    return Path(str(told)) if kind is Path else told


class Stamp(Struct, frozen=True):
    """How a file looked when its bytes were last hashed; another look means hashing them again."""

    size: int
    modified_ns: int
    changed_ns: int


class Playable(Struct, frozen=True):
    """What a browser plays of a segment; never with sound unless that was asked for."""

    path: Path
    sha256: str
    how: PlayedAs
    container: Literal["mp4", "webm"]


class IndexedSegment(Struct, frozen=True, kw_only=True):
    """One segment. Times in microseconds; its frames' from its first frame on."""

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
    fps_min: float  # the fewest and the most frames a second, over a second or more
    fps_max: float
    audio: bool | None  # in the original; None: not known
    playable: Playable | None
    unplayable: str | None = None  # why there is nothing for a browser
    timecode_us: int | None = None  # when it begins by its pictures, where these say otherwise
    codes_read: bool = False  # whether its pictures were looked into for the time of a clock

    @builtins.property  # `property` is a field here
    def end_us(self) -> int:
        """By the camera's clock."""
        return self.start_us + self.duration_us


_decode = msgspec.json.Decoder(IndexedSegment, dec_hook=_path).decode


class _Head(Struct, frozen=True):
    """As much of an entry as sorting them takes."""

    sha256: str
    property: str
    camera: str
    start_us: int


class Rates(NamedTuple):
    """Frames a second, over stretches of a second or more."""

    least: float
    most: float


class FootageIndex:
    """The index of one home. Several processes may read and write it at the same time."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.folder = home / FOLDER

    @property
    def exists(self) -> bool:
        """Whether anything was ever added."""
        return self.folder.is_dir()

    def entry(self, sha256: str) -> IndexedSegment | None:
        """The segment with these bytes, or None; whether they are still so is `whole`'s to say."""
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
        """Write an entry, in place of one for the same bytes. Raises OSError."""
        write_whole(self._place(entry.sha256), _encode(entry))

    def whole(self, entry: IndexedSegment) -> bool:
        """Whether the file is there with the very bytes it was added with.

        They are hashed again only where the file looks another than it did.
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
        """Of the segments that these facts recorded, those in the index with their bytes whole.

        Looked up as they are asked for: a day of footage costs nothing until one looks at it.
        """
        recorded = {fact.body.sha256 for fact in facts if isinstance(fact.body, SegmentRecorded)}
        altered: set[str] = set()
        return FootageFiles(_AtHand(self, recorded, altered), altered)

    def playable_at(self, sha256: str, container: str) -> Path:
        """Where the copy of a segment for browsers lies, if there is one."""
        return self.folder / "playable" / sha256[:2] / f"{sha256}.{container}"

    def _place(self, sha256: str) -> Path:
        if not (sha256.isascii() and sha256.isalnum()):
            raise ValueError(f"{sha256!r} is no SHA-256")
        return self.folder / "entries" / sha256[:2] / f"{sha256}.json"


class _AtHand(Mapping[str, VerifiedFile]):
    """Segments by SHA-256, each looked up once, when it is asked for."""

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
    """How a file looks. Raises OSError, also for a link and for what is no regular file."""
    if path.is_symlink() or not path.is_file():
        raise FileNotFoundError(2, "There is no such regular file", str(path))
    stat = path.stat()
    return Stamp(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


def rates_of(times: FrameIndex, duration_us: int) -> Rates:
    """How many frames a second there are at least and at most, over stretches of a second."""
    pts, found, after = times.pts_us, [], 0
    for number, at_us in enumerate(pts):
        while after < len(pts) and pts[after] - at_us < S:
            after += 1
        if after == len(pts):
            break
        found.append((after - number) * S / (pts[after] - at_us))
    whole = len(pts) * S / max(duration_us, 1)
    return Rates(round(min(found, default=whole), 3), round(max(found, default=whole), 3))


def write_whole(path: Path, octets: bytes) -> None:
    """Write a file so that nobody ever sees half of it. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(octets)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _head(path: Path) -> _Head | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Head)
    except (OSError, msgspec.DecodeError):
        return None
