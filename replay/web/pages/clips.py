"""Clips of a round for download: copied packets of each camera, with a description.

The export is recorded, with user and reason, before a byte is sent.
"""

import tempfile
import zipfile
from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import Annotated

import msgspec
from fastapi import APIRouter, Depends, Form, Request, Response
from starlette.background import BackgroundTask
from starlette.responses import FileResponse, StreamingResponse

from infra.access.users import Role, User
from ledger.errors import NotFound, Usage
from ledger.values import RoundId, parse_round
from replay.cameras.clips import (
    NAME,
    CameraClip,
    ClipRequest,
    clip_list,
    clips_of,
    exported,
    in_json,
)
from replay.cameras.coverage import Camera
from replay.cameras.cutting import name_of
from replay.footage.clips.clips import Clip
from replay.recording.exports import tell_exports
from replay.recording.house_facts import screen
from replay.text.file_names import file_name
from replay.text.times import stamp
from replay.text.typed import written
from replay.web.access.authentication import signed_in_lately
from replay.web.pages.lanes import TableSpan
from replay.web.pages.round_page import span_of
from replay.web.ports import ports
from replay.web.round_reader import KeptRound

EXPORTERS: tuple[Role, ...] = ("surveillance",)
"""Roles that may export footage."""

CLIP_US_MAX = 2 * 3_600_000_000
"""The longest clip of this page: two hours. The command makes longer ones."""

TIME_US_MAX = 32_503_680_000_000_000
"""The year 3000 in microseconds; later times are refused."""

_BECAUSE_MAX = 200
_CHUNK = 1 << 20  # bytes read at once

router = APIRouter(include_in_schema=False)

Exporter = Annotated[User, Depends(signed_in_lately(*EXPORTERS))]


@router.post("/clips")
def export(
    request: Request,
    user: Exporter,
    round: Annotated[str, Form()],  # noqa: A002 - the form's field
    from_us: Annotated[int, Form(ge=0, le=TIME_US_MAX)],
    to_us: Annotated[int, Form(ge=0, le=TIME_US_MAX)],
    because: Annotated[str, Form(min_length=1, max_length=_BECAUSE_MAX)],
    camera: Annotated[tuple[str, ...], Form()] = (),
) -> Response:
    """One camera's clip; or a zip with several, their description, and what is missing.

    A camera whose clock was set in between has a clip for each piece of its clock.
    """
    why = written(because, "because")
    asked = _round(round)
    told = ports(request).rounds.told(asked)
    zone = ports(request).zones().of(asked.property)
    wanted = _within(told, (from_us, to_us), zone)
    if not camera:
        raise Usage("No camera is chosen", where="cameras", hint="Tick one or several.")
    names = tuple(dict.fromkeys(camera))
    of = ClipRequest(asked.property, names, wanted.from_us, wanted.to_us)
    made = list(clips_of(of, told.coverage, ports(request).library))
    clips = [each.clip for each in made if each.clip]
    if not clips:
        raise NotFound(
            "None of the chosen cameras has footage of this time",
            where=f"{stamp(of.from_us, zone)} to {stamp(of.to_us, zone)}",
            hint="Tick another camera or choose another time.",
        )
    because = f"{why} (clip of round {asked.subject})"
    source = screen(clips[0].property)
    tell_exports(ports(request).tape, source, exported(made), user.employee, because)
    name = f"{asked.table}-{asked.gaming_day}-{asked.number}"
    if len(made) == 1 and made[0].cut.window.piece is None:
        return _sent(clips[0], name)
    cameras = told.coverage.cameras
    return _bundled(made, lambda each: cameras.get((asked.property, each), Camera()), name)


def _round(name: str) -> RoundId:
    asked = parse_round(name)
    if asked is None:
        raise Usage(
            f"`{name}` is not the name of a round", where="round", hint="Open the round again."
        )
    return asked


def _within(told: KeptRound, asked: tuple[int, int], zone: tzinfo) -> TableSpan:
    """The requested span. Raises `Usage` unless it is within the round's page."""
    whole, (from_us, to_us) = span_of(told.story), asked
    if not whole.from_us <= from_us < to_us <= whole.to_us or to_us - from_us > CLIP_US_MAX:
        raise Usage(
            "The clip is not within the round",
            where=f"{stamp(from_us, zone)} to {stamp(to_us, zone)}",
            hint="Set its start and end on the timeline.",
        )
    return whole._replace(from_us=from_us, to_us=to_us)


def _sent(only: Clip, name: str) -> Response:
    """The one clip, as it is."""
    return FileResponse(
        only.path,
        media_type=f"video/{only.container}",
        filename=f"{name}-{file_name(only.camera, empty='camera')}.{only.container}",
        headers={"X-Clip-SHA256": only.sha256},
    )


def _bundled(made: Sequence[CameraClip], camera: Callable[[str], Camera], name: str) -> Response:
    """Clips and their description in a zip; its temporary file leaves nothing behind."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed when it has been sent
    named: list[CameraClip] = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as bundle:
        for number, each in enumerate(made, 1):
            if each.clip is None:
                named.append(each)
                continue
            path = f"{file_name(name_of(each.cut), empty='camera')}.{each.clip.container}"
            if path in bundle.namelist():  # two camera names can give one file name
                path = f"{number}-{path}"
            bundle.write(each.clip.path, path)
            named.append(each._replace(clip=msgspec.structs.replace(each.clip, path=path)))
        bundle.writestr(NAME, in_json(clip_list(named, camera)))
    size = file.tell()
    file.seek(0)
    return StreamingResponse(
        iter(lambda: file.read(_CHUNK), b""),
        media_type="application/zip",
        headers={
            "Content-Length": str(size),
            "Content-Disposition": f'attachment; filename="{name}.zip"',
        },
        background=BackgroundTask(file.close),
    )
