"""The page Import: files that are being sent, and the report of each before it is on record."""

import re
import time
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Annotated, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from fastapi import APIRouter, Depends, Query, Request, Response
from msgspec.structs import replace
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from consumers.cameras.cameras import CAMERA_FACTS, CAMERAS
from consumers.cameras.rows import properties_with_cameras
from consumers.cameras.segments import cameras_of
from consumers.rounds import search
from consumers.runtime.lifecycle import up_to_date
from infra.access.users import User
from infra.postgres.view_tables import reading
from ledger.errors import LedgerError, Refused, Usage
from ledger.facts import CameraMapped
from ledger.values import NAME
from replay.cameras.clock_reading import REFERENCE, ClockReader
from replay.cameras.intake.report import FileReport, Reported, report
from replay.cameras.intake.taking import take
from replay.cameras.intake.uploads import KEPT_S, Upload
from replay.footage.library.adding import FootageDetails
from replay.recording.house_facts import append_fact, now_us, screen
from replay.text.times import read
from replay.web.access.authentication import signed_in
from replay.web.imports.pieces import state, store
from replay.web.page import IMPORT_PATH, page
from replay.web.ports import ports

TEXT_MAX = 128

router = APIRouter(include_in_schema=False)
Sender = Annotated[User, Depends(signed_in("surveillance"))]

_NAME = re.compile(NAME)


class Typed(NamedTuple):
    """What the user says of a file."""

    property: str = ""
    camera: str = ""
    start: str = ""
    zone: str = ""


class KnownCamera(NamedTuple):
    """A camera on record."""

    property: str
    camera: str


def _typed(
    property: Annotated[str, Query(max_length=TEXT_MAX)] = "",  # noqa: A002 - the form's field
    camera: Annotated[str, Query(max_length=TEXT_MAX)] = "",
    start: Annotated[str, Query(max_length=TEXT_MAX)] = "",
    zone: Annotated[str, Query(max_length=TEXT_MAX)] = "",
) -> Typed:
    return Typed(property.strip(), camera.strip(), start.strip(), zone.strip())


@router.get(IMPORT_PATH)
def files(request: Request, user: Sender) -> Response:
    """The files that this user is sending, and where to drop others."""
    uploads = store(request)
    uploads.remove_old(time.time())
    waiting = [(each, state(uploads, each)) for each in uploads.of(user.name)]
    return page(request, "import.html", waiting=waiting, kept_h=KEPT_S // 3600)


@router.get(f"{IMPORT_PATH}/{{upload}}")
def one(
    request: Request, user: Sender, upload: str, typed: Annotated[Typed, Depends(_typed)]
) -> Response:
    """The report of a file, as footage of the camera that is named; nothing is recorded."""
    uploads = store(request)
    return _page(request, uploads.find(upload, user.name), typed)


@router.post(f"{IMPORT_PATH}/{{upload}}")
async def act(request: Request, user: Sender, upload: str) -> Response:
    """Put a file on record, map its camera, or cancel it."""
    form = {name: str(value) for name, value in (await request.form()).items()}
    return await run_in_threadpool(_act, request, user, upload, form)


def _act(request: Request, user: User, name: str, form: Mapping[str, str]) -> Response:
    uploads = store(request)
    upload = uploads.find(name, user.name)
    typed = Typed(*(form.get(field, "")[:TEXT_MAX].strip() for field in Typed._fields))
    step = form.get("step", "")
    try:
        if step == "cancel":
            uploads.cancel(upload)
            return RedirectResponse(IMPORT_PATH, 303)
        if step == "map":
            _map(request, typed, form)
            return _page(request, upload, typed, said=f"{typed.camera} is mapped.")
        if step != "record":
            raise Usage("There is no such step", where="step", hint="Open the page again.")
        return _record(request, upload, typed)
    except LedgerError as error:
        return _page(request, upload, typed, wrong=f"{error.what}. {error.hint}", status=422)


def _record(request: Request, upload: Upload, typed: Typed) -> Response:
    """Put a file on record by the function that the command `footage add` uses."""
    uploads = store(request)
    if not uploads.is_whole(upload):
        hint = "Send the rest first."
        raise Refused("The file is not here whole", where=upload.name, hint=hint)
    told = _details(request, typed)
    taking = uploads.set_state(upload, "taking")
    database, library = ports(request).database, ports(request).library
    clock = ClockReader(database, library, told.property, told.camera, REFERENCE)
    [taken] = take(
        database, library, [uploads.path(upload)], told,
        read=lambda entries: clock.read(entries, json=False),
    )  # fmt: skip
    entry = taken.added.entry
    if entry is None:
        uploads.set_state(taking, "waiting")
        what = f"It was not put on record: {taken.added.problem}"
        raise Refused(what, where=upload.name, hint="Correct the camera or the start.")
    if entry.path == uploads.path(upload):
        uploads.set_state(taking, "added")
    else:  # the same bytes are in the index from elsewhere
        uploads.cancel(uploads.set_state(taking, "waiting"))
    return page(request, "imported.html", upload=upload, entry=entry, verdict=taken.verdict)


def _map(request: Request, typed: Typed, form: Mapping[str, str]) -> None:
    """Record which table a camera shows, and since when. Raises `Usage`."""
    told = _details(request, typed)
    table, kind = form.get("table", "").strip(), form.get("kind", "")
    if not _NAME.fullmatch(table):
        raise Usage(f"`{table}` is not a table", where="table", hint="Give it as CC-07.")
    zone = ports(request).zones().of(told.property)
    since_us = read(form.get("since", ""), zone, "since")
    body = CameraMapped(
        camera=told.camera,
        table=table,
        kind="ptz" if kind == "ptz" else "stationary",
        covers=("table",),
    )
    append_fact(ports(request).tape, body, screen(told.property), time_us=since_us)


def _details(request: Request, typed: Typed) -> FootageDetails:
    """What the user says of a file, understood. Raises `Usage`."""
    if not _NAME.fullmatch(typed.property):
        hint = "Give it as hollywood."
        raise Usage(f"`{typed.property}` is not a casino", where="property", hint=hint)
    if not typed.camera:
        raise Usage("No camera is named", where="camera", hint="Choose one, or name a new one.")
    zone = None
    if typed.zone:
        try:
            zone = ZoneInfo(typed.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError) as error:
            hint = "Give a name like America/New_York."
            what = f"There is no time zone {typed.zone}"
            raise Usage(what, where="zone", hint=hint) from error
    house = zone or ports(request).zones().of(typed.property)
    start_us = read(typed.start, house, "start") if typed.start else None
    return FootageDetails(typed.property, typed.camera, start_us, zone)


def _page(
    request: Request,
    upload: Upload,
    typed: Typed,
    *,
    said: str = "",
    wrong: str = "",
    status: int = 200,
) -> Response:
    uploads = store(request)
    database = ports(request).database
    cameras = known_cameras(request)
    if not typed.property:
        newest = search.search(database, search.Filters(limit=1))
        usual = cameras[0].property if cameras else newest[0].id.property if newest else ""
        typed = typed._replace(property=usual)
    zone = ports(request).zones().of(typed.property or None)
    found: Reported | None = None
    if uploads.is_whole(upload) and not wrong:
        try:
            asked = typed._replace(property=typed.property or "unknown", camera=typed.camera or "?")
            told = _details(request, asked)
        except Usage as error:
            wrong, status = f"{error.what}. {error.hint}", 422
        else:
            library, path = ports(request).library, uploads.path(upload)
            found = report(database, library, path, told, zone, now_us())
    return page(
        request,
        "import_file.html",
        status,
        upload=upload,
        state=state(uploads, upload),
        typed=typed,
        cameras=cameras,
        report=_of_camera(found.report, typed) if found else None,
        picture=_picture(found),
        zone=zone,
        said=said,
        wrong=wrong,
    )


def _of_camera(found: FileReport, typed: Typed) -> FileReport:
    """The report; until a camera is named, without what depends on it."""
    if typed.camera:
        return found
    kept = ("holes", "cut", "pictures")
    warnings = tuple(each for each in found.warnings if each.code in kept)
    return replace(found, beside=(), warnings=warnings)


def _picture(found: Reported | None) -> str | None:
    """The first picture, as the address of an image."""
    if found is None or found.picture is None:
        return None
    return "data:image/jpeg;base64," + b64encode(found.picture).decode()


def known_cameras(request: Request) -> Sequence[KnownCamera]:
    """Every camera that a fact names, by casino."""
    database = ports(request).database
    up_to_date(database, [CAMERAS])
    with reading(database, [CAMERA_FACTS.name]) as opened:
        return [
            KnownCamera(property_, camera)
            for property_ in properties_with_cameras(opened)
            for camera in cameras_of(opened, property_)
        ]
