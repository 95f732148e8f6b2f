"""What `footage add` and `footage list` print of segments."""

from collections.abc import Sequence

from ledger.values import format_time
from replay.footage.library.index import Entry, Library
from replay.shell.output import show_table

HOUR_US = 3_600_000_000

_KNOWN_FROM = {
    "record": "as recorded",
    "told": "as told",
    "name": "from its name",
    "picture": "from the timecode in its pictures",
    "container": "from its container's date, which may be when it was closed",
}


def says(entry: Entry) -> str:
    """A segment in one line."""
    played = entry.playable.how if entry.playable else f"not playable: {entry.unplayable}"
    by_pictures = entry.timecode_us and f", but {format_time(entry.timecode_us)} by its pictures"
    return (
        f"{len(entry.times.pts_us):,} frames from {format_time(entry.start_us)} "
        f"({_KNOWN_FROM[entry.start_from]}{by_pictures or ''}), {played}"
    )


def as_json(entry: Entry) -> dict[str, object]:
    """A segment without its frames' times."""
    played = entry.playable
    return {
        "camera": entry.camera,
        "property": entry.property,
        "sha256": entry.sha256,
        "path": str(entry.path),
        "size": entry.size,
        "start": format_time(entry.start_us),
        "start_from": entry.start_from,
        "timecode_start": entry.timecode_us and format_time(entry.timecode_us),
        "duration_us": entry.duration_us,
        "frames": len(entry.times.pts_us),
        "key_frames": len(entry.times.keys),
        "fps_min": entry.fps_min,
        "fps_max": entry.fps_max,
        "container": entry.container,
        "codec": entry.codec,
        "width": entry.width,
        "height": entry.height,
        "audio": entry.audio,
        "playable": played
        and {"path": str(played.path), "sha256": played.sha256, "how": played.how},
        "unplayable": entry.unplayable,
    }


def list_cameras(entries: Sequence[Entry]) -> None:
    """A line a camera."""
    cameras: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        cameras.setdefault((entry.property, entry.camera), []).append(entry)
    show_table(
        "Footage",
        ("property", "camera", "segments", "first", "last ends", "hours", "GiB"),
        (
            (
                *name,
                f"{len(of):,}",
                format_time(min(each.start_us for each in of)),
                format_time(max(each.end_us for each in of)),
                f"{sum(each.duration_us for each in of) / HOUR_US:,.2f}",
                f"{sum(each.size for each in of) / 2**30:,.2f}",
            )
            for name, of in sorted(cameras.items())
        ),
        right="segments hours GiB",
    )


def list_segments(index: Library, entries: Sequence[Entry]) -> None:
    """A line a segment; whether its file is whole is looked up."""
    show_table(
        "Segments",
        ("start (camera's clock)", "known", "seconds", "frames", "fps", "codec", "plays", "file"),
        (
            (
                format_time(entry.start_us),
                entry.start_from,
                f"{entry.duration_us / 1e6:,.3f}",
                f"{len(entry.times.pts_us):,}",
                f"{entry.fps_min:g} to {entry.fps_max:g}",
                f"{entry.codec} {entry.width}x{entry.height}",
                entry.playable.how if entry.playable else "no",
                entry.path if index.whole(entry) else f"{entry.path} (gone or altered)",
            )
            for entry in entries
        ),
        right="seconds frames",
    )
