"""Clips: parts of segments put into one file that a browser plays.

A clip is copied packet by packet from the keyframe before the requested part, without re-encoding.
The clip and its record say where the requested part begins and ends. An exact clip, or one with the
time in the picture, is re-encoded and marked as derived. The same request for the same bytes is
answered from the cache.
"""

from __future__ import annotations

import hashlib
import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec import Struct

from infra.files import replace_file
from ledger.errors import NotFound, Refused
from replay.footage.clips.clip_cache import FOLDER, trim, used
from replay.footage.decoding.decoder import sha256_of
from replay.footage.muxing.muxing import How, Made, Part, Writing, require_video, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from replay.footage.library.index import FootageIndex, IndexedSegment

VERSION = 3
"""Version of the output: raised when the same request gives other bytes."""

CONTAINER: Made = "mp4"
"""The container of every clip: it can be signed as an ONVIF export."""

Way = Literal["copy", "exact", "overlay", "preview"]
"""How a clip is made: copied; re-encoded with exact ends; the same with the time in the picture. A
preview is re-encoded smaller, with fewer frames."""


class SegmentCut(NamedTuple):
    """The requested part of one segment, in microseconds from its first frame."""

    sha256: str
    from_us: int
    to_us: int  # exclusive


class ClipSource(Struct, frozen=True):
    """A segment that a clip was made from."""

    sha256: str  # of the original
    from_us: int
    to_us: int
    at_us: int  # its first frame by the camera's clock
    moved_us: int  # shift to later than recorded, if its start overlaps the segment before
    copied_from: str  # SHA-256 of the file whose packets were copied


class Clip(Struct, frozen=True, kw_only=True):
    """A finished clip. Times in microseconds; those in the clip count from its first frame."""

    path: str
    sha256: str
    size: int
    container: Made
    way: Way
    derived: bool  # re-encoded, here or for the copy for browsers
    property: str
    camera: str
    starts_us: int  # the first frame, by the camera's clock; the requested part may begin later
    in_us: int  # start of the requested part in the clip
    out_us: int  # end of the requested part in the clip
    frames: int
    sources: tuple[ClipSource, ...]


def clip(
    library: FootageIndex, wanted: Sequence[tuple[str, int, int]], *, way: Way = "copy"
) -> Clip:
    """Make a clip of parts of one camera's segments, by time, or take it from the cache.

    The file is in the cache; record the export before handing it out. Raises NotFound if a segment
    is not available, Refused if it cannot be cut, Unavailable without the extra `video`.
    """
    stretches = [SegmentCut(*each) for each in wanted]
    entries = [_entry(library, stretch) for stretch in stretches]
    if not entries:
        raise NotFound(
            "There is nothing to cut",
            where="the requested parts",
            hint="Give a time with footage.",
        )
    return _cached(library, entries, *_parts(stretches, entries, way), way)


def cached(
    library: FootageIndex, wanted: Sequence[tuple[str, int, int]], *, way: Way = "copy"
) -> Clip | None:
    """The clip of this request if it is in the cache; none is made. Raises as `clip`."""
    stretches = [SegmentCut(*each) for each in wanted]
    entries = [_entry(library, stretch) for stretch in stretches]
    _, sources = _parts(stretches, entries, way)
    place = _place(library, entries[0], sources, way)
    found = _found(place.with_suffix(".json"), place)
    if found is not None:
        used(place)
    return found


def describe(made: Clip) -> dict[str, object]:
    """The description of a clip as JSON."""
    told = msgspec.to_builtins(made)
    told["path"] = Path(made.path).name
    told["says"] = _SAYS[made.way] + (" Its source was re-encoded." if _recoded(made) else "")
    return dict(told)


_SAYS = {
    "copy": "A stream copy without re-encoding. It begins at the keyframe before the requested "
    "part; in_us and out_us are the start and end of that part.",
    "exact": "Derived: re-encoded to begin and end exactly. The originals are named by hash.",
    "overlay": "Derived: re-encoded with the camera's clock in the picture. The originals are "
    "named by hash.",
    "preview": "Derived: re-encoded smaller, with at most 15 of its frames a second. The originals "
    "are named by hash.",
}


def _recoded(made: Clip) -> bool:
    return made.derived and made.way == "copy"


def _entry(library: FootageIndex, stretch: SegmentCut) -> IndexedSegment:
    entry = library.entry(stretch.sha256)
    if entry is None or not library.whole(entry):
        state = "is not in the footage index" if entry is None else "is missing or was altered"
        raise NotFound(
            f"The segment {state}",
            where=f"SHA-256 {stretch.sha256}",
            hint="Add it with `round-ledger footage add`.",
        )
    return entry


def _parts(
    wanted: Sequence[SegmentCut], entries: Sequence[IndexedSegment], way: Way
) -> tuple[tuple[Part, ...], tuple[ClipSource, ...]]:
    """The source file of each part and its place on the camera's clock."""
    for before, after in pairwise(entries):
        if (before.property, before.camera) != (after.property, after.camera):
            raise Refused(
                "A clip can only have one camera",
                where=f"{before.camera}, {after.camera}",
                hint="Make one clip for each camera.",
            )
    parts, sources, free_us = [], [], -(1 << 62)
    for stretch, entry in zip(wanted, entries, strict=True):
        path, sha256 = _file(entry, way)
        at_us = max(entry.start_us, free_us)
        free_us = at_us + entry.duration_us
        cut = entry.ending == "cut" and sha256 == entry.sha256  # a copy of it has no half picture
        parts.append(Part(str(path), sha256, stretch.from_us, stretch.to_us, at_us, cut=cut))
        moved_us = at_us - entry.start_us
        sources.append(
            ClipSource(entry.sha256, stretch.from_us, stretch.to_us, at_us, moved_us, sha256)
        )
    return tuple(parts), tuple(sources)


def _file(entry: IndexedSegment, way: Way) -> tuple[Path, str]:
    """The file to read: the original for re-encoding, else the file that browsers play."""
    if way != "copy":
        return entry.path, entry.sha256
    if entry.playable is None:
        require_video("A clip")
        raise Refused(
            f"A browser cannot play this segment: {entry.unplayable}",
            where=str(entry.path),
            hint="Add it again with `round-ledger footage add`, or make an exact clip (--exact).",
        )
    return entry.playable.path, entry.playable.sha256


def _cached(
    library: FootageIndex,
    entries: Sequence[IndexedSegment],
    parts: tuple[Part, ...],
    sources: tuple[ClipSource, ...],
    way: Way,
) -> Clip:
    """The clip of this request: from the cache if unchanged, else made."""
    place = _place(library, entries[0], sources, way)
    record = place.with_suffix(".json")
    found = _found(record, place)
    if found is not None:
        used(place)
        return found
    require_video("A clip")
    place.parent.mkdir(parents=True, exist_ok=True)
    new = place.with_name(f".new-{os.getpid()}-{place.name}")
    began = parts[0].at_us + parts[0].from_us
    ended = parts[-1].at_us + min(parts[-1].to_us, entries[-1].duration_us)
    label = f"{entries[0].camera}, camera's clock" if way == "overlay" else None
    how: How = way if way in ("copy", "preview") else "encode"
    note = _note(way, entries[0], began, ended, sources)
    written = write([Writing(parts, str(new), CONTAINER, how, label, note)])[0]
    if written.problem is not None:
        new.unlink(missing_ok=True)
        raise Refused(
            f"The clip cannot be made: {written.problem}",
            where=", ".join(entry.path.name for entry in entries),
            hint="Make a clip of each segment alone, or an exact clip (--exact).",
        )
    recoded = any(entry.playable and entry.playable.how == "transcoded" for entry in entries)
    made = Clip(
        path=str(place),
        sha256=sha256_of(new),
        size=new.stat().st_size,
        container=CONTAINER,
        way=way,
        derived=way != "copy" or recoded,
        property=entries[0].property,
        camera=entries[0].camera,
        starts_us=written.began_us,
        in_us=began - written.began_us,
        out_us=ended - written.began_us,
        frames=written.frames,
        sources=sources,
    )
    new.replace(place)
    replace_file(record, msgspec.json.encode(made))
    trim(library.home)
    return made


def _place(
    library: FootageIndex, first: IndexedSegment, sources: tuple[ClipSource, ...], way: Way
) -> Path:
    """The file of a request in the cache, named by all that the clip is made of."""
    asked = (VERSION, way, CONTAINER, first.property, first.camera, sources)
    key = hashlib.sha256(msgspec.json.encode(asked)).hexdigest()
    return library.home / FOLDER / key[:2] / f"{key}.{CONTAINER}"


def _found(record: Path, place: Path) -> Clip | None:
    try:
        made = msgspec.json.decode(record.read_bytes(), type=Clip)
        whole = sha256_of(place) == made.sha256
    except (OSError, msgspec.DecodeError):
        return None
    return msgspec.structs.replace(made, path=str(place)) if whole else None


def _note(
    way: Way, first: IndexedSegment, in_us: int, out_us: int, sources: Sequence[ClipSource]
) -> str:
    """The comment in the clip's own metadata, which describes it without its record."""
    told = {
        "made_by": "round-ledger",
        "way": way,
        "derived": way != "copy",
        "camera": first.camera,
        "wanted_from_us": in_us,
        "wanted_to_us": out_us,
        "originals": [source.sha256 for source in sources],
    }
    return msgspec.json.encode(told).decode()
