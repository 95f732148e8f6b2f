"""What pictures of segments were seen to be like, kept beside the index: looking is decoding.

Figures alone, one small file a segment; no picture is kept, which would outlive its footage.
"""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replay.footage.decoding.sampling import Looked
from replay.footage.library.index import FootageIndex, write_whole

K = TypeVar("K")


class Against(NamedTuple):
    """The picture that others of its camera are held against: a frame of a segment."""

    sha256: str
    frame: int


class Usual(Struct, frozen=True):
    """How a camera looks while it is well."""

    against: Against  # its first picture that shows anything
    sharpness: float | None = None  # in the middle of its lit pictures; None: not known


class SegmentLooks(Struct, frozen=True):
    """The key frames of a segment, at least so far apart, as they were looked at."""

    every_us: int
    against: Against | None
    looked: tuple[Looked, ...]


class Looks:
    """What was seen of the segments of one index."""

    def __init__(self, library: FootageIndex) -> None:
        self._folder = library.folder

    def usual(self, property_: str, camera: str) -> Usual | None:
        """How a camera usually looks, if it was ever looked at."""
        return _read(self._of_camera(property_, camera), Usual)

    def keep_usual(self, property_: str, camera: str, usual: Usual) -> None:
        """Write how a camera usually looks, if the disk takes it: it can be found again."""
        with suppress(OSError):
            write_whole(self._of_camera(property_, camera), msgspec.json.encode(usual))

    def seen(self, sha256: str, every_us: int, against: Against | None) -> SegmentLooks | None:
        """What was seen of a segment in just this way."""
        found = _read(self._of_segment(sha256), SegmentLooks)
        return found if found and (found.every_us, found.against) == (every_us, against) else None

    def keep(
        self, sha256: str, every_us: int, against: Against | None, looked: Sequence[Looked]
    ) -> None:
        """Write what was seen of a segment, in place of what was before, if the disk takes it."""
        figures = tuple(replace(each, small=b"") for each in looked)
        octets = msgspec.json.encode(SegmentLooks(every_us, against, figures))
        with suppress(OSError):
            write_whole(self._of_segment(sha256), octets)

    def _of_segment(self, sha256: str) -> Path:
        return self._folder / "pictures" / sha256[:2] / f"{sha256}.json"

    def _of_camera(self, property_: str, camera: str) -> Path:
        name = sha256(f"{property_}\n{camera}".encode()).hexdigest()
        return self._folder / "cameras" / f"{name}.json"


def _read(path: Path, kind: type[K]) -> K | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError):
        return None
