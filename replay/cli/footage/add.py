"""`footage add`, `watch` and `list`: put recorders' segments into the index and on record."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import Annotated
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from consumers.cameras.cameras import CAMERA_FACTS, HOUR_US
from consumers.runtime.stopping import until_signalled
from infra.postgres.connection import Database
from infra.postgres.view_tables import reading
from ledger.errors import Usage
from ledger.values import format_time, quantity
from replay.cameras.clock_reading import REFERENCE, ClockReader
from replay.cameras.intake.beside import VIEWS
from replay.cameras.intake.report import FileReport, report, warnings_of
from replay.cameras.intake.taking import AddedFile, finished, take
from replay.cli.footage.group import (
    Camera,
    Property,
    library,
    property_of,
    told_errors,
)
from replay.cli.shell.app import family
from replay.cli.shell.options import PasswordFile, TakenBy, moment
from replay.cli.shell.people import INVESTIGATORS, Signing
from replay.footage.library.adding import FootageDetails, footage_files
from replay.footage.library.index import FootageIndex, IndexedSegment
from replay.footage.muxing.muxing import available
from replay.recording.house_facts import now_us
from replay.rounds.views import opened_views
from replay.shell.connections import opened_database
from replay.shell.output import Json, print_json, progress, say, show_table
from replay.shell.zones import Zones, house_zones
from replay.text.extras import install
from replay.text.times import localized, stamp

group = family()

STABLE_S = 3.0
"""Seconds without change after which a file is finished."""

Zone = Annotated[
    str | None,
    typer.Option(
        "--zone", metavar="NAME", help="Zone of times in names without an offset; default UTC."
    ),
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start", metavar="TIME", help="When the one file begins, by the camera's clock."
    ),
]
KeepAudio = Annotated[
    bool,
    typer.Option(
        "--keep-audio",
        help=(
            "Let browsers play originals with their sound, if they can play the file; copies and "
            "clips never have sound."
        ),
    ),
]


Calibrate = Annotated[
    bool,
    typer.Option("--calibrate/--no-calibrate", help="Read clocks in the pictures."),
]
Reference = Annotated[
    str, typer.Option("--reference", metavar="NAME", help="Which clock such a code shows.")
]


@group.command("add")
def add_(  # noqa: PLR0913 - one option a choice
    folder: Annotated[Path, typer.Argument(help="A folder of segments, or one file.")],
    camera: Camera,
    *,
    property_: Property = None,
    start: Start = None,
    zone: Zone = None,
    keep_audio: KeepAudio = False,
    calibrate: Calibrate = True,
    reference: Reference = REFERENCE,
    by: TakenBy = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Add a camera's segments to the footage index and put them on record.

    MP4, Matroska, WebM, MPEG-TS and AVI are hashed and indexed without decoding. The files stay
    where they are and are never written to. A format that browsers cannot play gets a copy without
    sound. Adding a folder again is safe. A bad file is reported (exit code 2), and the others are
    added.

    The start of a segment is the one on record, else `--start`, else the time in the file's name.
    Without these it is the timecode in the pictures, else the container's creation time. The output
    says which. A running timecode makes a name in whole seconds exact.

    If pictures show a running clock as a QR code or ArUco markers, the camera's clock is compared
    with it. The check is put on record with its uncertainty, as `footage calibrate` does.
    `--no-calibrate` turns this off.

    Once the ledger has users, a person of surveillance signs it.

    Example: round-ledger footage add demo/home/footage/CC-02-cam1 --camera CC-02-cam1
    """
    paths = _paths(folder, start)
    with (
        told_errors(),
        opened_views(VIEWS) as database,
        progress("footage", len(paths)) as advance,
    ):
        Signing(by, password_file).of(database, *INVESTIGATORS)
        told = _told(database, camera, property_, start, zone, keep_audio=keep_audio)
        shown_in = house_zones(database).of(told.property)
        read = _reader(database, told, reference if calibrate else None, json=json)
        taken = take(database, library(), paths, told, advance, read)
        counted = _tell(database, taken, shown_in, told, json=json)
    _sum_up(counted, json=json)


@group.command("look")
def look(
    folder: Annotated[Path, typer.Argument(help="A folder of segments, or one file.")],
    camera: Camera,
    *,
    property_: Property = None,
    start: Start = None,
    zone: Zone = None,
    json: Json = False,
) -> None:
    """Say what files hold and how they lie beside the record, before they are put on it.

    For each file: codec, frame rates, holes, rotation, sound, whether it is cut off, its start and
    how that is known, the camera's tables and their rounds of that time. Warnings name another year
    than the table's facts, a time zone that fits better, an overlap, and a camera on no table.

    Nothing is recorded, and nothing added to the index. Exit code 2: a file would be refused.

    Example: round-ledger footage look demo/home/footage/CC-02-cam1 --camera CC-02-cam1
    """
    paths = _paths(folder, start)
    refused = False
    with opened_views(VIEWS) as database, progress("footage", len(paths)) as advance:
        told = _told(database, camera, property_, start, zone, keep_audio=False)
        house = house_zones(database).of(told.property)
        for path in paths:
            found = report(database, library(), path, told, house, now_us()).report
            advance()
            refused = refused or found.problem is not None
            if json:
                print_json(found)
            else:
                for line in report_lines(found, house):
                    say(line)
    if refused:
        raise typer.Exit(Usage.exit_code)


def _paths(folder: Path, start: str | None) -> list[Path]:
    """The files to read. Raises `Usage` if a start is given for several."""
    paths = [folder] if folder.is_file() else footage_files(folder)
    if start is not None and len(paths) != 1:
        raise Usage(
            f"`--start` needs one file, and the folder has {len(paths)}",
            where=str(folder),
            hint="Name the file itself.",
        )
    return paths


@group.command("watch")
def watch(  # noqa: PLR0913 - one option a choice
    folder: Annotated[Path, typer.Argument(help="The folder that a recorder writes to.")],
    camera: Camera,
    *,
    property_: Property = None,
    zone: Zone = None,
    keep_audio: KeepAudio = False,
    calibrate: Calibrate = True,
    reference: Reference = REFERENCE,
    stable_s: Annotated[
        float,
        typer.Option(
            "--stable",
            metavar="SECONDS",
            min=0.1,
            help=("A file is finished after this many seconds unchanged."),
        ),
    ] = STABLE_S,
    by: TakenBy = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Add the segments that a recorder finishes, until stopped.

    A file is added once it has stopped changing. Clocks in its pictures are read as `footage add`
    does, and it is signed likewise, once, as it starts. SIGTERM and SIGINT stop it after the
    current file.

    Example: round-ledger footage watch demo/home/footage/CC-02-cam1 --camera CC-02-cam1
    """
    counted: Counter[str] = Counter()
    with until_signalled(insist=False) as stop, told_errors(), opened_views(VIEWS) as database:
        Signing(by, password_file).of(database, *INVESTIGATORS)
        told = _told(database, camera, property_, None, zone, keep_audio=keep_audio)
        shown_in = house_zones(database).of(told.property)
        read = _reader(database, told, reference if calibrate else None, json=json)
        say(f"Watching {folder} for segments of {camera}.")
        for paths in finished(folder, stable_s, stop):
            for path in paths:
                if not stop():
                    taken = take(database, library(), [path], told, read=read)
                    counted += _tell(database, taken, shown_in, told, json=json)
    _sum_up(counted, json=json, ends=False)


@group.command("list")
def list_(
    camera: Annotated[
        str | None, typer.Option("--camera", metavar="NAME", help="List this camera's segments.")
    ] = None,
    *,
    json: Json = False,
) -> None:
    """List the footage index: one line per camera, or a camera's segments.

    Example: round-ledger footage list --camera CC-02-cam1
    """
    index = library()
    entries = index.entries(camera)
    if json:
        for entry in entries:
            print_json(as_json(entry))
        return
    if not entries:
        say(f"The footage index has no segment{f' of camera {camera}' if camera else ''}.")
        return
    with opened_database() as database:
        zones = house_zones(database)
    if camera is None:
        list_cameras(entries, zones)
    else:
        list_segments(index, entries, zones)


def _reader(
    database: Database, told: FootageDetails, reference: str | None, *, json: bool
) -> Callable[[Sequence[IndexedSegment]], object]:
    """The reader of camera clocks in added segments; None if it is turned off."""
    if reference is None:
        return lambda _: None
    clock = ClockReader(database, library(), told.property, told.camera, reference)
    return lambda entries: clock.read(entries, json=json)


def _told(
    database: Database,
    camera: str,
    named: str | None,
    start: str | None,
    zone: str | None,
    *,
    keep_audio: bool,
) -> FootageDetails:
    with reading(database, [CAMERA_FACTS.name]) as store:
        property_ = property_of(store, camera, named)
    try:
        known = None if zone is None else ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError) as error:
        hint = "Give a name like America/New_York."
        raise Usage(f"There is no time zone {zone}", where="--zone", hint=hint) from error
    here = house_zones(database).of(property_)
    start_us = None if start is None else moment(start, "--start", here)
    return FootageDetails(property_, camera, start_us, known, keep_audio)


def _tell(
    database: Database,
    results: Iterator[AddedFile],
    zone: tzinfo,
    told: FootageDetails,
    *,
    json: bool,
) -> Counter[str]:
    """Print each file's verdict and what is odd about it; the number of each verdict."""
    counted: Counter[str] = Counter()
    for taken in results:
        counted[taken.verdict] += 1
        entry = taken.added.entry
        warnings = warnings_of(database, entry, zone, told.zone, now_us()) if entry else []
        if json:
            what: dict[str, object] = {"problem": taken.added.problem}
            if entry is not None:
                what = as_json(entry) | {"warnings": warnings}
            print_json(what, {"file": str(taken.added.path), "verdict": taken.verdict})
        elif entry is None:
            say(f"{taken.added.path}: {taken.added.problem}")
        elif taken.verdict == "appended":
            say(f"{taken.added.path}: {localized(says(entry), zone)}")
        if not json:
            for each in warnings:
                say(f"  Warning: {localized(each.says, zone)}.")
    return counted


def _sum_up(counted: Counter[str], *, json: bool, ends: bool = True) -> None:
    if json:
        print_json(dict(sorted(counted.items())) | {"files": counted.total()})
    else:
        say(", ".join(f"{count:,} {what}" for what, count in sorted(counted.items())) or "No file.")
    if not available():
        say(f"PyAV is not installed: no copies for browsers, no clips. Run: {install('video')}")
    if ends and counted["refused"]:
        raise typer.Exit(Usage.exit_code)


_KNOWN_FROM = {
    "record": "as recorded",
    "told": "as given",
    "name": "from its name",
    "picture": "from the timecode in its pictures",
    "container": "from its container's date, which may be that of closing the file",
}


_ENDS = {
    "whole": "",
    "cut": ", cut off",
    "open": ", of a container that does not say where it ends",
}


def report_lines(found: FileReport, zone: tzinfo) -> Iterator[str]:
    """A report as lines for people."""
    yield found.file
    if found.codec is not None:
        sound = {True: "with sound", False: "no sound", None: "sound unknown"}[found.audio]
        turned = f", turned by {found.rotation}°" if found.rotation else ""
        yield f"  {found.codec} {found.width}x{found.height}{turned} in {found.container}, {sound}"
        rate = "variable" if found.variable else "constant"
        yield (
            f"  {quantity(found.frames or 0, 'frame')} in {(found.duration_us or 0) / 1e6:.3f} s"
            f"{_ENDS[found.ending or 'whole']}; {rate} rate: most {found.fps_nominal:g} a second, "
            f"mean {found.fps_mean:g}, in any second {found.fps_min:g} to {found.fps_max:g}"
        )
    for hole in found.holes:
        yield f"  no frame from {hole.from_us / 1e6:.3f} s to {hole.to_us / 1e6:.3f} s"
    if found.start is not None and found.start_from is not None:
        yield f"  starts {localized(found.start, zone)} {_KNOWN_FROM[found.start_from]}"
    for table in found.beside:
        which = f", {table.first_round} to {table.last_round}" if table.rounds else ""
        yield f"  {table.table}: {quantity(table.rounds, 'round')}{which}"
    if found.added:
        yield "  It is in the index already."
    if found.problem is not None:
        yield f"  Cannot be put on record: {found.problem}"
    for each in found.warnings:
        yield f"  Warning: {localized(each.says, zone)}."


def says(entry: IndexedSegment) -> str:
    """A segment in one line."""
    played = entry.playable.how if entry.playable else f"not playable: {entry.unplayable}"
    by_pictures = (
        entry.timecode_us
        and f", but {format_time(entry.timecode_us)} by the timecode in its pictures"
    )
    return (
        f"{quantity(len(entry.times.pts_us), 'frame')} from {format_time(entry.start_us)} "
        f"({_KNOWN_FROM[entry.start_from]}{by_pictures or ''}), {played}"
    )


def as_json(entry: IndexedSegment) -> dict[str, object]:
    """A segment as JSON, without its frames' times."""
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
        "rotation": entry.rotation,
        "ending": entry.ending,
        "playable": played
        and {"path": str(played.path), "sha256": played.sha256, "how": played.how},
        "unplayable": entry.unplayable,
    }


def list_cameras(entries: Sequence[IndexedSegment], zones: Zones) -> None:
    """Print a line for each camera."""
    cameras: dict[tuple[str, str], list[IndexedSegment]] = {}
    for entry in entries:
        cameras.setdefault((entry.property, entry.camera), []).append(entry)
    show_table(
        "Footage",
        ("property", "camera", "segments", "first", "last ends", "hours", "GiB"),
        (
            (
                *name,
                f"{len(of):,}",
                stamp(min(each.start_us for each in of), zones.of(name[0])),
                stamp(max(each.end_us for each in of), zones.of(name[0])),
                f"{sum(each.duration_us for each in of) / HOUR_US:,.2f}",
                f"{sum(each.size for each in of) / 2**30:,.2f}",
            )
            for name, of in sorted(cameras.items())
        ),
        right="segments hours GiB",
    )


def list_segments(index: FootageIndex, entries: Sequence[IndexedSegment], zones: Zones) -> None:
    """Print a line for each segment; its file is checked."""
    show_table(
        "Segments",
        ("start (camera's clock)", "known", "seconds", "frames", "fps", "codec", "plays", "file"),
        (
            (
                stamp(entry.start_us, zones.of(entry.property)),
                entry.start_from,
                f"{entry.duration_us / 1e6:,.3f}",
                f"{len(entry.times.pts_us):,}",
                f"{entry.fps_min:g} to {entry.fps_max:g}",
                f"{entry.codec} {entry.width}x{entry.height}",
                entry.playable.how if entry.playable else "no",
                entry.path if index.whole(entry) else f"{entry.path} (missing or altered)",
            )
            for entry in entries
        ),
        right="seconds frames",
    )
