"""Clips: stretches of segments put into one file that a browser plays, beside the untouched ones.

A clip is copied packet by packet from the key frame before what is wanted; where the wanted part
begins and ends stands in it and in its record, and nothing of it is encoded anew. An exact clip, or
one with the time burned in, is encoded and labelled derived. Made once: the same stretches of the
same bytes are answered from the cache.
"""

from __future__ import annotations

import hashlib
import os
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec import Struct

from ledger.errors import NotFound, Refused
from replay.footage.clips.clip_cache import FOLDER, trim, used
from replay.footage.decoding.decoder import sha256_of
from replay.footage.library.index import write_whole
from replay.footage.muxing.muxing import How, Made, Part, Writing, require_video, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from replay.footage.library.index import FootageIndex, IndexedSegment

VERSION = 2
"""Counts up whenever the same request is to give other bytes."""

CONTAINER: Made = "mp4"
"""What every clip is, whatever its footage is in: it can be signed as an ONVIF export."""

Way = Literal["copy", "exact", "overlay"]
"""Packets copied; encoded anew so that it begins and ends exactly; the same with its time in it."""


class SegmentCut(NamedTuple):
    """What is wanted of one segment, in microseconds from its first frame on."""

    sha256: str
    from_us: int
    to_us: int  # the first instant that is not wanted


class ClipSource(Struct, frozen=True):
    """A segment that a clip was made from."""

    sha256: str  # of the original
    from_us: int
    to_us: int
    at_us: int  # where its first frame stands on the camera's clock
    moved_us: int  # how much later than recorded, since its start overlaps the one before
    copied_from: str  # SHA-256 of the file whose packets were taken


class Clip(Struct, frozen=True, kw_only=True):
    """A clip that was made. Times in microseconds; those of the clip from its first frame on."""

    path: str
    sha256: str
    size: int
    container: Made
    way: Way
    derived: bool  # encoded anew, here or when a copy for browsers was made
    property: str
    camera: str
    starts_us: int  # of the first frame, by the camera's clock; what is wanted may begin later
    in_us: int  # where what is wanted begins in the clip
    out_us: int  # and where it ends
    frames: int
    sources: tuple[ClipSource, ...]


def clip(
    library: FootageIndex, wanted: Sequence[tuple[str, int, int]], *, way: Way = "copy"
) -> Clip:
    """Make a clip of stretches of one camera's segments, in order of time, or find it made.

    wanted: as `SegmentCut` has it. It lies in the cache; to hand it out, put that on record first.
    Raises NotFound where a segment is not at hand, Refused where it cannot be cut, Unavailable
    without the extra `video`.
    """
    stretches = [SegmentCut(*each) for each in wanted]
    entries = [_entry(library, stretch) for stretch in stretches]
    if not entries:
        raise NotFound(
            "There is nothing to cut",
            where="the stretches wanted",
            hint="Ask for a time that footage covers.",
        )
    return _cached(library, entries, *_parts(stretches, entries, way), way)


def describe(made: Clip) -> dict[str, object]:
    """A clip as it is told in JSON: what it is, and what it is not."""
    told = msgspec.to_builtins(made)
    told["path"] = Path(made.path).name
    told["says"] = _SAYS[made.way] + (" Its source was encoded anew." if _recoded(made) else "")
    return dict(told)


_SAYS = {
    "copy": "A stream copy: no picture was encoded anew. It begins at the key frame before "
    "what is wanted; in_us and out_us say where that begins and ends.",
    "exact": "Derived: encoded anew to begin and end exactly. The originals are named by hash.",
    "overlay": "Derived: encoded anew with the camera's clock written into the picture. The "
    "originals are named by hash.",
}


def _recoded(made: Clip) -> bool:
    return made.derived and made.way == "copy"


def _entry(library: FootageIndex, stretch: SegmentCut) -> IndexedSegment:
    entry = library.entry(stretch.sha256)
    if entry is None or not library.whole(entry):
        state = "is not in the footage index" if entry is None else "is gone or was altered"
        raise NotFound(
            f"The segment {state}",
            where=f"SHA-256 {stretch.sha256}",
            hint="Take it in with `round-ledger footage add`.",
        )
    return entry


def _parts(
    wanted: Sequence[SegmentCut], entries: Sequence[IndexedSegment], way: Way
) -> tuple[tuple[Part, ...], tuple[ClipSource, ...]]:
    """Where each stretch is read from and where it goes on the camera's clock."""
    for before, after in pairwise(entries):
        if (before.property, before.camera) != (after.property, after.camera):
            raise Refused(
                "A clip is of one camera",
                where=f"{before.camera}, {after.camera}",
                hint="Ask for a clip a camera.",
            )
    parts, sources, free_us = [], [], -(1 << 62)
    for stretch, entry in zip(wanted, entries, strict=True):
        path, sha256 = _file(entry, way)
        at_us = max(entry.start_us, free_us)
        free_us = at_us + entry.duration_us
        parts.append(Part(str(path), sha256, stretch.from_us, stretch.to_us, at_us))
        moved_us = at_us - entry.start_us
        sources.append(
            ClipSource(entry.sha256, stretch.from_us, stretch.to_us, at_us, moved_us, sha256)
        )
    return tuple(parts), tuple(sources)


def _file(entry: IndexedSegment, way: Way) -> tuple[Path, str]:
    """The file to read: the original where it is encoded anew, else what browsers play of it."""
    if way != "copy":
        return entry.path, entry.sha256
    if entry.playable is None:
        require_video("A clip")
        raise Refused(
            f"There is nothing that a browser plays of this segment: {entry.unplayable}",
            where=str(entry.path),
            hint="Take it in again with `round-ledger footage add`, or ask for an exact clip.",
        )
    return entry.playable.path, entry.playable.sha256


def _cached(
    library: FootageIndex,
    entries: Sequence[IndexedSegment],
    parts: tuple[Part, ...],
    sources: tuple[ClipSource, ...],
    way: Way,
) -> Clip:
    """The clip of this request: found, if its bytes are still those, else made."""
    asked = (VERSION, way, CONTAINER, entries[0].property, entries[0].camera, sources)
    key = hashlib.sha256(msgspec.json.encode(asked)).hexdigest()
    place = library.home / FOLDER / key[:2] / f"{key}.{CONTAINER}"
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
    how: How = "copy" if way == "copy" else "encode"
    note = _note(way, entries[0], began, ended, sources)
    written = write([Writing(parts, str(new), CONTAINER, how, label, note)])[0]
    if written.problem is not None:
        new.unlink(missing_ok=True)
        raise Refused(
            f"The clip cannot be made: {written.problem}",
            where=", ".join(entry.path.name for entry in entries),
            hint="Ask for each segment alone, or for an exact clip, which is encoded anew.",
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
    write_whole(record, msgspec.json.encode(made))
    trim(library.home)
    return made


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
    """What stands in the clip's own metadata, so that it can be told without its record."""
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
