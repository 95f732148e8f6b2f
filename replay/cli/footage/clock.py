"""`footage calibrate` and `footage clock`: compare a camera's clock with a reference."""

from collections.abc import Sequence
from datetime import tzinfo
from typing import Annotated

import typer

from consumers.cameras.cameras import CAMERA_FACTS, CAMERAS
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import reading as views_read
from ledger.errors import NotFound, Usage
from ledger.values import format_time, quantity
from replay.cameras.calibration import ClockCheck, ClockReading, checks
from replay.cameras.clock_reading import (
    REFRESH_MS,
    check_fact,
    checks_on_record,
    put_checks,
    readings_of,
    seconds,
    tell_check,
)
from replay.cameras.clocks import Check, camera_clock, rate_ppm
from replay.cameras.picture_checks import looked_over
from replay.cli.footage.group import (
    Camera,
    Property,
    entries_of,
    library,
    property_of,
)
from replay.cli.shell.app import family
from replay.cli.shell.options import PasswordFile, TakenBy, moment
from replay.cli.shell.people import INVESTIGATORS, Signing
from replay.footage.decoding.sampling import CodeKind
from replay.recording.house_facts import append_fact, screen
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_json, progress, show_table
from replay.shell.zones import house_zones
from replay.text.times import stamp

group = family()

S = 1_000_000
EVERY_S = 10.0

Reference = Annotated[
    str, typer.Option("--reference", metavar="NAME", help="Which clock it is: tablet-3, NTP.")
]


@group.command("calibrate")
def calibrate(  # noqa: PLR0913 - one option a choice
    camera: Camera,
    reference: Reference,
    *,
    property_: Property = None,
    code: Annotated[
        list[str] | None,
        typer.Option(
            "--code", metavar="KIND", help="`qr`, `aruco`, `strip`; default: the first two."
        ),
    ] = None,
    refresh_ms: Annotated[
        int,
        typer.Option(
            "--refresh-ms", metavar="MS", min=0, help="Milliseconds until a code changes."
        ),
    ] = REFRESH_MS,
    every: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Seconds between pictures read.")
    ] = EVERY_S,
    by: TakenBy = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Compare a camera's clock with one that it filmed, and record the checks.

    Reads codes from key frames of the footage index. A code is a QR code with a time in it (RFC
    3339, 13 digits of milliseconds, or 17 of date and time). Or it is two ArUco markers (4x4, 1000)
    that count tenths of a second since midnight UTC. `--reference` says which clock they show. The
    strip of a simulated camera shows the camera's own clock: read it only to compare that. Once the
    ledger has users, a person of surveillance signs it.

    Example: round-ledger footage calibrate --camera CC-02-cam1 --reference tablet-3
    """
    kinds = _kinds(code)
    with opened_views([CAMERAS]) as database:
        Signing(by, password_file).of(database, *INVESTIGATORS)
        with views_read(database, [CAMERA_FACTS.name]) as store:
            place = property_of(store, camera, property_)
        entries = entries_of(library(), camera, place)
        readings: list[ClockReading] = []
        with progress("pictures", len(entries)) as advance:
            for entry in entries:
                for _, seen in looked_over([entry], kinds, round(every * S)):
                    for looked in seen:
                        readings += readings_of(entry, looked, refresh_ms * 1000)
                advance()
        found = checks(readings)
        if not found:
            raise NotFound(
                "No checked picture of this camera shows a code with a time",
                where=f"{camera}, {quantity(len(entries), 'segment')}",
                hint="Hold a code before the camera, or enter a reading with `footage clock`.",
            )
        noted = put_checks(database, place, camera, reference, found)
        zone = house_zones(database).of(place)
    for each, verdict in zip(found, noted, strict=True):
        tell_check(camera, reference, each, verdict, zone, json=json)


@group.command("clock")
def clock(  # noqa: PLR0913 - one option a field
    camera: Camera,
    *,
    property_: Property = None,
    camera_time: Annotated[
        str | None, typer.Option("--camera-time", metavar="TIME", help="What the camera showed.")
    ] = None,
    reference_time: Annotated[
        str | None,
        typer.Option("--reference-time", metavar="TIME", help=("What the reference clock showed.")),
    ] = None,
    reference: Annotated[
        str | None, typer.Option("--reference", metavar="NAME", help="Which reference clock.")
    ] = None,
    uncertainty_ms: Annotated[
        int | None,
        typer.Option(
            "--uncertainty-ms",
            metavar="MS",
            min=0,
            help=("How far the reading may be off, milliseconds."),
        ),
    ] = None,
    by: TakenBy = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Enter a reading of a camera's clock, or show what is known of the clock.

    With the four options it puts one reading of both clocks on record. Without them it prints the
    checks on record and what follows: the clock's epochs, its drift and its uncertainty.

    Example: round-ledger footage clock --camera CC-02-cam1 --camera-time 2026-11-20T21:00:03Z
    --reference-time 2026-11-20T21:00:00.5Z --reference NTP --uncertainty-ms 500
    """
    told = (camera_time, reference_time, reference, uncertainty_ms)
    given = [each is not None for each in told]
    if any(given) and not all(given):
        raise Usage(
            "A reading needs both clocks' times and its uncertainty",
            where="--camera-time, --reference-time, --reference, --uncertainty-ms",
            hint="Give all four options, or none to see what is known.",
        )
    with opened_views([CAMERAS]) as database:
        if all(given):
            Signing(by, password_file).of(database, *INVESTIGATORS)
        with views_read(database, [CAMERA_FACTS.name]) as store:
            place = property_of(store, camera, property_)
        if camera_time and reference_time and reference and uncertainty_ms is not None:
            zone = house_zones(database).of(place)
            camera_us = moment(camera_time, "--camera-time", zone)
            reference_us = moment(reference_time, "--reference-time", zone)
            body = check_fact(
                camera, reference, ClockCheck(camera_us, reference_us, uncertainty_ms, 1)
            )
            with PostgresTape(database) as tape:
                noted = append_fact(tape, body, screen(place, "console"))
            tell_check(
                camera,
                reference,
                ClockCheck(camera_us, reference_us, uncertainty_ms, 1),
                noted.receipt.verdict,
                zone,
                json=json,
            )
            return
        known = checks_on_record(database, place, camera)
        zone = house_zones(database).of(place)
    _show(camera, known, zone, json=json)


def _kinds(named: Sequence[str] | None) -> tuple[CodeKind, ...]:
    known: tuple[CodeKind, ...] = ("qr", "aruco", "strip")
    for each in named or ():
        if each not in known:
            hint = f"Name one of {', '.join(known)}."
            raise Usage(f"There is no code `{each}`", where="--code", hint=hint)
    return tuple(kind for kind in known if kind in (named or known[:2]))


def _show(camera: str, known: Sequence[Check], zone: tzinfo, *, json: bool) -> None:
    """Print the clock's epochs, drift and uncertainty by its checks."""
    made = camera_clock(known)
    if made is None:
        raise NotFound(
            "This camera's clock was never checked",
            where=camera,
            hint="Use `footage calibrate`, or enter a reading with this command's options.",
        )
    for number, epoch in enumerate(made.epochs):
        rate = rate_ppm(made, number)
        drift = None if rate is None else round(float(rate), 1)
        told = [
            {
                "epoch": number,
                "drift_ppm": drift,
                "reference_time": format_time(knot.reference_us),
                "camera_time": format_time(knot.camera_us),
                "offset_us": knot.camera_us - knot.reference_us,
                "plus_minus_us": knot.plus_minus_us,
            }
            for knot in epoch.knots
        ]
        if json:
            for each in told:
                print_json(each)
            continue
        runs = "rate unknown" if drift is None else f"gains {drift:g} us per second"
        show_table(
            f"{camera}, epoch {number}: {runs}",
            ("reference", "camera", "ahead by", "+/-"),
            (
                (
                    stamp(knot.reference_us, zone),
                    stamp(knot.camera_us, zone),
                    seconds(knot.camera_us - knot.reference_us),
                    f"{knot.plus_minus_us / 1000:.0f} ms",
                )
                for knot in epoch.knots
            ),
        )
