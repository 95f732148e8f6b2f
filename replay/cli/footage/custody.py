"""`footage retention`, `lock`, `release`, `expire`: how long footage is kept, and by whom.

Only `expire --delete` deletes files. A file must be in the footage index, have its recorded bytes,
be expired, and have no lock.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from consumers.cameras.cameras import CAMERAS
from consumers.cameras.segments import segments_over
from infra.postgres.tape import PostgresTape
from ledger.errors import Refused, Usage
from ledger.facts import FootageExpired, FootageLocked, FootageReleased, SegmentRecorded
from ledger.facts.cameras import FootageHandled
from ledger.record.wire import fact_of
from ledger.values import format_time, parse_time, quantity
from replay.cameras.custody import LockedSpan, held, without
from replay.cameras.custody_service import (
    PropertyFootage,
    ReleaseScope,
    due_by,
    property_footage,
    put_handled,
    stretch,
    to_release,
)
from replay.cameras.retention import (
    BUILT_IN,
    DAY_US,
    RetentionRun,
    expired,
    policy_from,
)
from replay.cli.footage.group import Property, library
from replay.cli.shell.app import family
from replay.cli.shell.options import By, PasswordFile, between
from replay.cli.shell.people import INVESTIGATORS, signer
from replay.disputes.service import lock_pending, opened_disputes
from replay.footage.clips.clip_cache import forget
from replay.footage.library import thumbnails
from replay.footage.library.index import FootageIndex, IndexedSegment
from replay.recording.house_facts import Noted, now_us
from replay.rounds.views import opened_views
from replay.shell.connections import opened_database
from replay.shell.output import Json, print_json, print_lines, print_list, print_text, say
from replay.shell.settings import in_force
from replay.shell.zones import zones
from replay.text.times import localized, stamp
from replay.text.typed import written

group = family()

OneCamera = Annotated[
    str | None, typer.Option("--camera", metavar="NAME", help=("Only this camera."))
]
Because = Annotated[
    str, typer.Option(help="Reason.", callback=lambda text: written(text, "--because"))
]
From = Annotated[
    str, typer.Option("--from", metavar="TIME", help="By the camera's clock: 2026-11-20 19:00.")
]
To = Annotated[str, typer.Option("--to", metavar="TIME", help="By the camera's clock.")]


class Handled(NamedTuple):
    """A span of a camera, by its clock, and who locked or released it."""

    camera: str
    from_us: int
    to_us: int
    body: FootageHandled


@group.command("retention")
def retention(
    *,
    within: Annotated[
        int, typer.Option(metavar="DAYS", min=0, max=36_500, help="Days from now.")
    ] = 7,
    camera: OneCamera = None,
    policy: Annotated[
        bool, typer.Option("--policy", help="Only print the built-in retention table, as TOML.")
    ] = False,
    property_: Property = None,
    json: Json = False,
) -> None:
    """Show what expires soon, what is locked, and what was released.

    A table by area and reason says how long footage is kept. ROUND_LEDGER_RETENTION_FILE names it.
    Without one the built-in table holds; its figures are not a regulation's.

    Example: round-ledger footage retention --within 3
    """
    if policy:
        print_text(BUILT_IN.rstrip("\n"))
        return
    with _opened(property_, camera) as (house, zone):
        until_us = now_us() + within * DAY_US
        soon = [each for name in house.cameras for each in due_by(house, name, until_us)]
        locked = [
            Handled(name, span.from_us, span.to_us, lock)
            for name, one in house.cameras.items()
            for span in held(one)
            for lock in span.locks
        ]
        released = [
            Handled(name, each.from_us, each.to_us, each.body)
            for name, one in house.cameras.items()
            for each in one.handled
            if isinstance(each.body, FootageReleased)
        ]
    print_list(
        f"Expires within {quantity(within, 'day')}",
        soon,
        {
            "camera": lambda run: run.camera,
            "from": lambda run: stamp(run.from_us, zone),
            "to": lambda run: stamp(run.to_us, zone),
            "segments": lambda run: run.segments,
            "kept for": lambda run: f"{quantity(run.days, 'day')} ({run.area}: {run.reason})",
            "expires": lambda run: stamp(run.expires_us, zone, ms=False),
        },
        json=json,
        as_json=_due_json,
        right="segments",
        none=f"No footage expires within {quantity(within, 'day')}. Look further with --within.",
    )
    _tell_handled("locked", locked, zone, json=json)
    if released:
        _tell_handled("released", released, zone, json=json)
    if not (json or soon or locked):
        say("Nothing expires by then, and nothing is locked.")


@group.command("lock")
def lock(  # noqa: PLR0913 - one option a field
    *,
    camera: Annotated[str, typer.Option("--camera", metavar="NAME", help="The camera.")],
    since: From,
    until: To,
    because: Because,
    by: By,
    dispute: Annotated[str | None, typer.Option(help="The dispute that it is kept for.")] = None,
    property_: Property = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Keep a camera's footage from expiring; times are the camera's own.

    To lock by the reference clock, or all cameras of a table, use `round-ledger dispute preserve`.

    Example: round-ledger footage lock --camera CC-02-cam1 --from 2026-11-20T16:40:00Z
    --to 2026-11-20T16:50:00Z --because "A fall" --by S-2001
    """
    by = _signer(by, password_file)
    with _opened(property_, camera) as (house, zone):
        from_us, to_us = _span(since, until, zone)
        body = FootageLocked(
            camera=camera, **stretch(from_us, to_us), by=by, because=because, dispute=dispute
        )
        _tell(house, [body], "locked", zone, json=json)


@group.command("release")
def release(  # noqa: PLR0913 - one option a field
    *,
    because: Because,
    by: By,
    dispute: Annotated[str | None, typer.Option(help="Every lock for this dispute.")] = None,
    window: Annotated[
        str | None, typer.Option(metavar="P-…", help="Every lock of this window.")
    ] = None,
    camera: OneCamera = None,
    since: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="By the camera's clock.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="By the camera's clock.")
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Every lock on that footage, for any reason.")
    ] = False,
    property_: Property = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Let locked footage expire again: of a dispute, a preserved window or a camera.

    A lock of another dispute or window on the same footage stays, unless --all is given. The
    retention table says who may release.

    Example: round-ledger footage release --dispute D-2026-11-20-1 --because "Settled" --by S-2001
    """
    named = [each for each in (dispute, window) if each]
    if not named and not (camera and since and until and all_):
        raise Usage(
            "No lock to release was named",
            where="footage release",
            hint="Name --dispute or --window, or --camera with --from, --to and --all.",
        )
    if len(named) + all_ > 1:
        hint = "Give one of --dispute, --window and --all."
        raise Usage("The locks to release are named twice", where="footage release", hint=hint)
    by = _signer(by, password_file)
    place, _, window = (window or "").rpartition(":")
    with _opened(property_ or place or None, camera) as (house, zone):
        within = _span(since, until, zone) if since and until else None
        what = ReleaseScope(dispute, window or None, within)
        _tell(house, to_release(house, what, because, by), "released", zone, json=json)


@group.command("expire")
def expire(
    *,
    by: By,
    because: Because = "retention time over",
    camera: OneCamera = None,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete the files of expired footage, too.")
    ] = False,
    property_: Property = None,
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Put on record which footage has expired; locked footage never does.

    It first locks what open disputes need. It deletes nothing without --delete. With it, it deletes
    expired files of the footage index, and the copies and clips made of them. A file is deleted
    only if its bytes are those recorded and no lock holds any instant of it.

    Example: round-ledger footage expire --by S-2001
    """
    by = _signer(by, password_file)
    with _after_locks(property_, camera) as (house, zone):
        found = [each for name in house.cameras for each in due_by(house, name, now_us())]
        bodies = [
            FootageExpired(
                camera=each.camera,
                **stretch(each.from_us, each.to_us - 1),
                by=by,
                because=f"{because}: {each.reason}, {quantity(each.days, 'day')} ({each.area})",
            )
            for each in found
        ]
        _tell(house, bodies, "expired", zone, json=json)
    if delete:
        with _after_locks(property_, camera) as (house, _):  # with the facts just recorded
            gone = list(_deletable(house, library()))
            _forget_copies({each.sha256 for each in gone})
            deleted = [each for each in gone if _delete(each)]
        _tell_deleted(deleted, json=json)


def _signer(by: str, password_file: Path | None) -> str:
    with opened_database() as database:
        return signer(database, by, password_file, *INVESTIGATORS)


def _due_json(run: RetentionRun) -> dict[str, object]:
    """Expiring footage as JSON: what, when and why."""
    return {
        "what": "expires",
        "camera": run.camera,
        "from": format_time(run.from_us),
        "to": format_time(run.to_us),
        "segments": run.segments,
        "area": run.area,
        "reason": run.reason,
        "days": run.days,
        "expires": format_time(run.expires_us),
        "expires_last": format_time(run.expires_last_us),
    }


def _handled_json(what: str, each: Handled) -> dict[str, object]:
    """A lock or release as JSON: by whom and why."""
    return {
        "what": what,
        "camera": each.camera,
        "from": format_time(each.from_us),
        "to": format_time(each.to_us),
        "by": each.body.by,
        "because": each.body.because,
        "dispute": each.body.dispute,
        "window": _window_of(each.body),
    }


def _window_of(body: FootageHandled) -> str | None:
    """The window that a lock or release is for."""
    return body.window if isinstance(body, FootageLocked | FootageReleased) else None


def _tell_handled(what: str, found: Sequence[Handled], zone: tzinfo, *, json: bool) -> None:
    print_list(
        what.capitalize(),
        found,
        {
            "camera": lambda each: each.camera,
            "from": lambda each: stamp(each.from_us, zone),
            "to": lambda each: stamp(each.to_us, zone),
            "by": lambda each: each.body.by,
            "because": lambda each: each.body.because,
            "for": lambda each: each.body.dispute or _window_of(each.body) or "",
        },
        json=json,
        as_json=lambda each: _handled_json(what, each),
        none=f"No footage is {what}.",
    )


def _deletable(house: PropertyFootage, index: FootageIndex) -> Iterator[IndexedSegment]:
    """Available segments whose footage has expired completely and has no lock."""
    for name, camera in house.cameras.items():
        locked = held(camera)
        for entry in index.entries(name, house.property):
            told = _told_of(house, entry)
            expired_ = told and all(not without(start, end, expired(camera)) for start, end in told)
            if not expired_ or any(_touches(locked, start, end) for start, end in told):
                continue
            if index.whole(entry):
                yield entry


def _told_of(house: PropertyFootage, entry: IndexedSegment) -> list[tuple[int, int]]:
    """The spans in which facts record these bytes; ends included."""
    span = (entry.start_us, entry.end_us - 1)
    places = segments_over(house.store, house.property, entry.camera, [span])
    rows = house.store.rows_at((tape, seq, seq) for _, _, tape, seq in places)
    bodies = [body for row in rows if isinstance(body := fact_of(row).body, SegmentRecorded)]
    return [
        (start, start + body.duration_us - 1)
        for body in bodies
        if body.sha256 == entry.sha256 and (start := parse_time(body.start)) is not None
    ]


def _touches(locked: Sequence[LockedSpan], first: int, last: int) -> bool:
    return any(span.from_us <= last and span.to_us >= first for span in locked)


def _forget_copies(segments: Collection[str]) -> None:
    """Delete clips and small pictures of these segments, by hash.

    If that raises `Refused`, no original is deleted.
    """
    try:
        forget(library().home, segments)
        thumbnails.forget(library(), segments)
    except OSError as error:
        raise Refused(
            f"A copy of expired footage cannot be deleted: {error.strerror}",
            where=str(error.filename),
            hint="Delete it with the login that created it, then run the command again.",
        ) from error


def _delete(entry: IndexedSegment) -> bool:
    """Delete a segment's copy for browsers, then its file; failures are printed.

    The file is last: while it exists, the next `expire --delete` tries again.
    """
    try:
        if entry.playable and entry.playable.path != entry.path:
            entry.playable.path.unlink(missing_ok=True)
        entry.path.unlink()
    except OSError as error:
        say(f"{entry.path} cannot be deleted: {error.strerror}.")
        return False
    return True


@contextmanager
def _after_locks(
    property_: str | None, camera: str | None
) -> Iterator[tuple[PropertyFootage, tzinfo]]:
    """As `_opened`, after locking the footage of open disputes without a lock.

    A dispute from another system's feed may not have been locked yet.
    """
    with opened_disputes() as context:
        while lock_pending(context.lock_context, wait=True):
            pass
    with _opened(property_, camera) as opened:
        yield opened


@contextmanager
def _opened(property_: str | None, camera: str | None) -> Iterator[tuple[PropertyFootage, tzinfo]]:
    """The cameras of a property with the record open, and the house's zone there."""
    policy = policy_from(in_force().retention_file)
    with (
        opened_views([CAMERAS]) as database,
        PostgresTape(database) as tape,
        property_footage(database, tape, policy, property_, camera) as house,
    ):
        yield house, zones(in_force().time_zone, tape.newest).of(house.property)


def _span(since: str, until: str, zone: tzinfo) -> tuple[int, int]:
    from_us, to_us = between(since, until, zone)
    if to_us < from_us:
        raise Usage("--to is before --from", where="--to", hint="Give the later time there.")
    return from_us, to_us


def _tell(
    house: PropertyFootage,
    bodies: Sequence[FootageHandled],
    what: str,
    zone: tzinfo,
    *,
    json: bool,
) -> None:
    """Record the facts, all or none, and print them."""
    for each, body in zip(put_handled(house.record, house.property, bodies), bodies, strict=True):
        _say(each, body, what, zone, json=json)
    if not bodies and not json:
        say(f"No footage is to be {what}.")


def _say(noted: Noted, body: FootageHandled, what: str, zone: tzinfo, *, json: bool) -> None:
    if json:
        told = {"camera": body.camera, "from": body.from_, "to": body.to, "dispute": body.dispute}
        why = {"window": _window_of(body), "because": body.because, "position": noted.position}
        print_json({"fact": f"footage_{what}", **told, **why})
    else:
        when = localized(f"{body.from_} to {body.to}", zone)
        say(f"{what.capitalize()}: {body.camera}, {when} by its own clock.")


def _tell_deleted(deleted: Sequence[IndexedSegment], *, json: bool) -> None:
    if json:
        print_lines(
            {"deleted": str(each.path), "sha256": each.sha256, "camera": each.camera}
            for each in deleted
        )
    else:
        octets = sum(each.size for each in deleted)
        say(f"Deleted {quantity(len(deleted), 'file')}, {quantity(octets, 'byte')}.")
