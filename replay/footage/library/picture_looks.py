"""Stored measures of pictures, beside the index, because measuring needs decoding.

There is a small file for each segment, with figures only: a stored picture would outlive its
footage.
"""

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from infra.files import replace_file
from replay.footage.decoding.sampling import Looked
from replay.footage.library.index import FootageIndex

K = TypeVar("K")


class Against(NamedTuple):
    """The picture that a camera's other pictures are compared with: a frame of a segment."""

    sha256: str
    frame: int


class Usual(Struct, frozen=True):
    """A camera's normal look."""

    against: Against  # its first lit picture
    sharpness: float | None = None  # median of its lit pictures; None: not known


class SegmentLooks(Struct, frozen=True):
    """The measured keyframes of a segment, at least a given time apart."""

    every_us: int
    against: Against | None
    looked: tuple[Looked, ...]
    measured: Literal[2]  # counts changes of what the figures mean: older ones are not read


class Looks:
    """The stored measures of one index."""

    def __init__(self, library: FootageIndex) -> None:
        self._folder = library.folder

    def usual(self, property_: str, camera: str) -> Usual | None:
        """A camera's normal look, if it was ever measured."""
        return _read(self._of_camera(property_, camera), Usual)

    def keep_usual(self, property_: str, camera: str, usual: Usual) -> None:
        """Store a camera's normal look, if the disk allows; it can be measured again."""
        with suppress(OSError):
            replace_file(self._of_camera(property_, camera), msgspec.json.encode(usual))

    def seen(self, sha256: str, every_us: int, against: Against | None) -> SegmentLooks | None:
        """The measures of a segment with these parameters."""
        found = _read(self._of_segment(sha256), SegmentLooks)
        return found if found and (found.every_us, found.against) == (every_us, against) else None

    def keep(
        self, sha256: str, every_us: int, against: Against | None, looked: Sequence[Looked]
    ) -> None:
        """Store a segment's measures, replacing earlier ones, if the disk allows."""
        figures = tuple(replace(each, small=b"") for each in looked)
        octets = msgspec.json.encode(SegmentLooks(every_us, against, figures, 2))
        with suppress(OSError):
            replace_file(self._of_segment(sha256), octets)

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
