"""The upload behind the page Import: a file in pieces, each written to disk as it arrives.

A script begins an upload, sends pieces from the byte that the server names, and may go on after a
reload. No piece is held whole in memory.
"""

import os
import time
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse

from infra.access.users import User
from ledger.errors import Refused
from replay.cameras.intake.uploads import NAME_MAX, PIECE_OCTETS_MAX, Upload, UploadStore
from replay.footage.library.adding import BYTES_MAX
from replay.web.access.authentication import signed_in
from replay.web.page import IMPORT_PATH
from replay.web.ports import ports

router = APIRouter(include_in_schema=False)
Sender = Annotated[User, Depends(signed_in("surveillance"))]


def store(request: Request) -> UploadStore:
    """The uploads of this server."""
    return UploadStore(ports(request).library.home)


def state(uploads: UploadStore, upload: Upload) -> dict[str, object]:
    """What the script has to know of an upload."""
    return {
        "upload": upload.id,
        "name": upload.name,
        "size": upload.size,
        "offset": uploads.received(upload),
        "piece": PIECE_OCTETS_MAX,
        "page": f"{IMPORT_PATH}/{upload.id}",
    }


@router.post(f"{IMPORT_PATH}/uploads")
def begin(
    request: Request,
    user: Sender,
    name: Annotated[str, Form(min_length=1, max_length=NAME_MAX)],
    size: Annotated[int, Form(ge=1, le=BYTES_MAX)],
) -> Response:
    """Begin an upload."""
    uploads = store(request)
    return JSONResponse(state(uploads, uploads.begin(user.name, name, size, time.time())), 201)


@router.get(f"{IMPORT_PATH}/uploads/{{upload}}")
def look(request: Request, user: Sender, upload: str) -> Response:
    """How much of an upload is here."""
    uploads = store(request)
    return JSONResponse(state(uploads, uploads.find(upload, user.name)))


@router.put(f"{IMPORT_PATH}/uploads/{{upload}}")
async def put(
    request: Request,
    user: Sender,
    upload: str,
    offset: Annotated[int, Query(ge=0, le=BYTES_MAX)],
) -> Response:
    """Append a piece at the offset, which must be the end of what is here."""
    uploads = store(request)
    found = await run_in_threadpool(uploads.find, upload, user.name)
    octets = int(request.headers.get("Content-Length", "0"))
    try:
        with uploads.appending(found, offset, octets) as descriptor:
            async for part in request.stream():
                await run_in_threadpool(_write, descriptor, part)
    except Refused as error:
        told = state(uploads, found) | {"error": error.what, "hint": error.hint}
        return JSONResponse(told, 409)
    except ClientDisconnect:
        return Response(status_code=400)
    except OSError as error:
        told = {"error": f"The footage disk cannot be written: {error.strerror}", "hint": ""}
        return JSONResponse(state(uploads, found) | told, 507)
    return JSONResponse(state(uploads, found))


def _write(descriptor: int, octets: bytes) -> None:
    rest = memoryview(octets)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
