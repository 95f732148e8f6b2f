"""`footage frame` and `footage clip`: the exact frame of a time, and clips.

Every export is recorded before its file is written: who, which camera, what and why. If it cannot
be recorded, no file is written.
"""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
import typer

from consumers.cameras.cameras import CAMERA_FACTS, CAMERAS
from consumers.cameras.rows import rows_of_cameras
from infra.postgres.connection import Database
from infra.postgres.view_tables import reading
from ledger.errors import NotFound, Refused, Usage
from ledger.record.wire import fact_of
from ledger.values import quantity
from replay.cameras.clips import (
    NAME,
    CameraClip,
    ClipRequest,
    clip_list,
    clips_of,
    exported,
    in_json,
)
from replay.cameras.coverage import Camera, Coverage, coverage, mapped_cameras
from replay.cameras.custody import times_of
from replay.cameras.cutting import name_of
from replay.cameras.timeline import FrameLookup, sight, sight_of_camera_time
from replay.cli.footage.group import library, property_of
from replay.cli.shell.app import family
from replay.cli.shell.options import PasswordFile, TakenBecause, TakenBy, moment
from replay.cli.shell.people import INVESTIGATORS, Signing
from replay.footage.clips.clips import Way
from replay.footage.decoding.decoder import Frame
from replay.footage.library.files import FootageFiles, frames
from replay.recording.exports import ExportedFootage, tell_of_command
from replay.rounds.reading import ROUND_VIEWS, STORY_TABLES, load_round, resolve_round
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_json, progress, say
from replay.shell.zones import house_zones
from replay.text.file_names import file_name
from replay.text.times import in_file_name, localized, stamp

group = family()

S = 1_000_000
PRE_S, POST_S = 8.0, 12.0
"""Default seconds before and after a clip: as long as a decision takes."""

Round = Annotated[
    str | None,
    typer.Argument(
        metavar="ROUND", help="[property:]table/gaming day/number, such as CC-07/2026-11-20/231."
    ),
]
OneCamera = Annotated[
    str | None, typer.Option("--camera", metavar="NAME", help="Only this camera.")
]
Property = Annotated[
    str | None, typer.Option("--property", metavar="NAME", help="The casino of --camera.")
]
CameraClock = Annotated[
    bool,
    typer.Option("--camera-clock", help=("Times are the camera's own, not the reference clock's.")),
]
Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder to write to.")]


class Asked(NamedTuple):
    """The requested cameras, their facts, and the times of the round, if one is named."""

    property: str
    names: tuple[str, ...]
    coverage: Coverage
    footage: FootageFiles
    times: tuple[int, ...]  # of the round's facts, microseconds, in order

    def camera(self, name: str) -> Camera:
        """One camera with its facts."""
        return self.coverage.cameras.get((self.property, name), Camera())


@group.command("frame")
def frame(  # noqa: PLR0913 - one option a choice
    round_: Round = None,
    *,
    at: Annotated[str, typer.Option(metavar="TIME|N", help="A time, or fact N of the round.")],
    camera: OneCamera = None,
    property_: Property = None,
    camera_clock: CameraClock = False,
    out: Out = Path(),
    by: TakenBy = None,
    because: TakenBecause = "footage frame",
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Write the exact frame of a time, as PNG with its hash.

    Writes one frame for every camera on the round's table, or for one camera. It is the first frame
    at or after that time, by the index of presentation times. If there is none, it prints the
    reason.

    Example: round-ledger footage frame CC-02/2026-11-20/61 --at 53 --out frames
    """
    with opened_views(ROUND_VIEWS if round_ else [CAMERAS]) as database:
        by = Signing(by, password_file).of(database, *INVESTIGATORS)
        zone = _zone(database, round_, camera, property_)
        near_us = None if at.isdecimal() else moment(at, "--at", zone)
        asked = _asked(database, round_, camera, property_, [] if near_us is None else [near_us])
        at_us = _fact_time(asked, at) if near_us is None else near_us
        sights = [
            sight_of_camera_time(name, asked.camera(name), at_us, asked.footage)
            if camera_clock
            else sight(name, asked.camera(name), at_us, asked.footage)
            for name in asked.names
        ]
        wanted = [(each.segment, each.frame) for each in sights]
        found = frames(asked.footage, [(sha, n) for sha, n in wanted if sha and n is not None])
        gots = [found.get((sha or "", -1 if n is None else n)) for sha, n in wanted]
        taken = [
            ExportedFootage(each.camera or "", each.camera_time_us or 0, each.camera_time_us or 0)
            for each, got in zip(sights, gots, strict=True)
            if isinstance(got, Frame)
        ]
        tell_of_command(database, asked.property, taken, by, because)
        for each, got in zip(sights, gots, strict=True):
            path = _save(out, each, got) if isinstance(got, Frame) else None
            _tell_frame(each, got, path, zone, json=json)
    if not taken:
        raise NotFound(
            "No camera has a frame of that time", where=at, hint="The reasons are printed above."
        )


@group.command("clip")
def clip_(  # noqa: PLR0913 - one option a choice
    round_: Round = None,
    *,
    out: Out,
    camera: OneCamera = None,
    property_: Property = None,
    from_: Annotated[
        str | None, typer.Option("--from", metavar="TIME|N", help="A time, or fact N of the round.")
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="TIME|N", help="A time, or fact N of the round.")
    ] = None,
    pre: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Additional seconds before.")
    ] = PRE_S,
    post: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Additional seconds after.")
    ] = POST_S,
    camera_clock: CameraClock = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="Re-encode to begin and end exactly; listed as derived.")
    ] = False,
    overlay: Annotated[
        bool,
        typer.Option(
            "--overlay",
            help=("Re-encode with the camera's clock in the picture; listed as derived."),
        ),
    ] = False,
    by: TakenBy = None,
    because: TakenBecause = "footage clip",
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Write clips of a round or a camera, one file per camera.

    If a camera's clock was set meanwhile, there is one file before and one after it.

    Packets are copied from the last key frame before the wanted part, across segments; nothing is
    re-encoded. For each file `clips.json` says where the wanted part begins and ends, which
    originals it came from, and what is missing. Without `--from` and `--to` it is the whole round.

    Example: round-ledger footage clip CC-02/2026-11-20/61 --out clips
    """
    way: Way = "overlay" if overlay else "exact" if exact else "copy"
    with opened_views(ROUND_VIEWS if round_ else [CAMERAS]) as database:
        by = Signing(by, password_file).of(database, *INVESTIGATORS)
        zone = _zone(database, round_, camera, property_)
        near = _times(from_, to, zone)
        asked = _asked(database, round_, camera, property_, [each for each in near if each])
        since, until = _span_of(asked, (from_, to), near)
        since, until = since - round(pre * S), until + round(post * S)
        if until <= since:
            raise Usage("The clip ends before it begins", where="--to", hint="Swap the two times.")
        cuts: list[CameraClip] = []
        with progress("clips", len(asked.names)) as advance:
            for name in asked.names:
                wanted = ClipRequest(asked.property, (name,), since, until, way, camera_clock)
                cuts += clips_of(wanted, asked.coverage, library(), asked.footage)
                advance()
        taken = exported(cuts)
        tell_of_command(database, asked.property, taken, by, because)
    told_of = clip_list([_handed(out, each, way) for each in cuts], asked.camera)
    with _writing(out / NAME) as path:
        path.write_bytes(in_json(told_of))
    for each in told_of:
        _tell_clip(each, zone, json=json)
    if not taken:
        raise NotFound(
            "No camera has footage of that time",
            where=f"{stamp(since, zone)} to {stamp(until, zone)}",
            hint="What is missing is printed above.",
        )


def _asked(
    database: Database,
    round_: str | None,
    camera: str | None,
    property_: str | None,
    near: Sequence[int],
) -> Asked:
    """The requested cameras and their facts near these times. Raises `Usage`, `NotFound`."""
    if round_ is not None:
        found = load_round(database, round_, library())
        facts = [fact_of(row) for row in found.camera_rows]
        covered, of = coverage(facts), found.story.round
        times = tuple(row.time_us for row in found.story.rows)
        mapped = {
            name
            for time_us in times_of(times) or ()
            for name in mapped_cameras(covered, of.property, of.table, time_us)
        }
        names = tuple(sorted(mapped)) if camera is None else (camera,)
        return Asked(of.property, names, covered, library().at_hand(facts), tuple(sorted(times)))
    if camera is None:
        raise Usage("No round or camera is named", where="ROUND", hint="Name a round or --camera.")
    if not near:
        raise Usage("No time is named", where="--from", hint="Give it as 2026-11-20 21:00.")
    with reading(database, [CAMERA_FACTS.name]) as store:
        place = property_of(store, camera, property_)
        rows = rows_of_cameras(store, place, min(near), max(near), camera)
    facts = [fact_of(row) for row in rows]
    return Asked(place, (camera,), coverage(facts), library().at_hand(facts), ())


def _fact_time(asked: Asked, number: str) -> int:
    """The time of the round's fact N. Raises `Usage`."""
    if not 1 <= int(number) <= len(asked.times):
        raise Usage(
            f"There is no fact {number}",
            where="--at, --from, --to",
            hint=f"Give a number from 1 to {len(asked.times)} with a ROUND, or a time.",
        )
    return asked.times[int(number) - 1]


def _zone(
    database: Database, round_: str | None, camera: str | None, property_: str | None
) -> tzinfo:
    """The house's zone at the property of the round or camera. Raises `Usage`, `NotFound`."""
    zones = house_zones(database)
    if round_ is not None:
        with reading(database, STORY_TABLES) as store:
            return zones.of(resolve_round(store, round_).property)
    if camera is None:
        return zones.of(property_)
    with reading(database, [CAMERA_FACTS.name]) as store:
        return zones.of(property_of(store, camera, property_))


def _times(from_: str | None, to: str | None, zone: tzinfo) -> tuple[int | None, int | None]:
    """The times of --from and --to; None for one that is missing or the number of a fact."""

    def time_of(text: str | None, where: str, after_us: int | None = None) -> int | None:
        if text is None or text.isdecimal():
            return None
        return moment(text, where, zone, after_us=after_us)

    since = time_of(from_, "--from")
    return since, time_of(to, "--to", since)


def _span_of(
    asked: Asked, typed: tuple[str | None, str | None], near: tuple[int | None, int | None]
) -> tuple[int, int]:
    """The requested span, without the seconds added before and after. near: as `_times`."""
    if not asked.times and None in typed:
        raise Usage("One of the times is missing", where="--from, --to", hint="Give both.")
    since, until = (
        time_us if time_us is not None else default if text is None else _fact_time(asked, text)
        for text, time_us, default in zip(typed, near, times_of(asked.times) or (0, 0), strict=True)
    )
    return since, until


def _handed(out: Path, made: CameraClip, way: Way) -> CameraClip:
    """The clip, copied to the output folder. Raises `Refused`.

    Its name sorts by camera and time, and marks derived clips.
    """
    if made.clip is None:
        return made
    wanted = made.cut.window
    start = in_file_name(wanted.from_us, ms=False)
    derived = "" if way == "copy" else f".derived-{way}"
    name = f"{file_name(name_of(made.cut))}_{start}{derived}.{made.clip.container}"
    with _writing(out / name) as path:
        shutil.copyfile(made.clip.path, path)
    return made._replace(clip=msgspec.structs.replace(made.clip, path=str(path)))


def _save(out: Path, of: FrameLookup, got: Frame) -> Path:
    stamp = in_file_name(of.camera_time_us or 0)
    with _writing(out / f"{file_name(of.camera or '')}_{stamp}_frame{got.number}.png") as path:
        path.write_bytes(got.png)
    return path


@contextmanager
def _writing(path: Path) -> Iterator[Path]:
    """A path to write to; its folder is created. Raises `Refused`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield path
    except OSError as error:
        raise Refused(
            f"The file cannot be written: {error.strerror}",
            where=str(path),
            hint="Name a folder that you may write to.",
        ) from error


def _tell_frame(
    of: FrameLookup, got: Frame | str | None, path: Path | None, zone: tzinfo, *, json: bool
) -> None:
    if json:
        told_of = msgspec.to_builtins(of)
        if isinstance(got, Frame):
            code = got.timecode
            told_of |= {
                "file": str(path),
                "sha256": got.sha256,
                "timecode": code and code._asdict(),
            }
        print_json(told_of)
    elif isinstance(got, Frame):
        doubt = "unknown" if of.plus_minus_us is None else f"{of.plus_minus_us / 1000:.0f} ms"
        say(f"{path}: frame {got.number} at {got.pts_us} us of {of.path}, +/- {doubt}")
        say(f"  SHA-256 {got.sha256}")
    else:
        say(f"{of.camera}: {got or localized(of.says, zone)}")


def _tell_clip(of: dict[str, object], zone: tzinfo, *, json: bool) -> None:
    if json:
        print_json(of)
        return
    made = of["clip"]
    if isinstance(made, dict):
        say(f"{of['camera']}: {made['path']}, {quantity(made['frames'], 'frame')}. "
            f"{localized(made['says'], zone)}")  # fmt: skip
    else:
        say(f"{of['camera']}: no footage of that time is available")
    if isinstance(of["piece"], dict):
        say(f"{of['camera']}: piece {of['piece']['number']} of {of['piece']['of']}. "
            f"{localized(of['piece']['says'], zone)}")  # fmt: skip
    for gap in of["missing"] if isinstance(of["missing"], list) else ():
        when = localized(f"{gap[0]} to {gap[1]}", zone)
        say(f"{of['camera']}: nothing was recorded from {when} (camera's clock)")
