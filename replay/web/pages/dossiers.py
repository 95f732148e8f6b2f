"""The page that makes a dossier: it asks for a reason, then sends one zip.

The export is recorded, with its user, before a byte is sent.
"""

import shutil
import tempfile
import threading
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse

from consumers.runtime.lifecycle import up_to_date
from infra.access.users import Role, User
from replay.dossier import Kind
from replay.dossier.request import POST_S, PRE_S, DossierRequest
from replay.rounds.reading import footage_folder
from replay.text.file_names import file_name
from replay.text.typed import written
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in, signed_in_lately
from replay.web.page import page
from replay.web.ports import ports

MAKERS: tuple[Role, ...] = ("surveillance",)
"""Roles that may make a dossier, since it holds footage."""

PATH = "/dossiers"
NAME_MAX, BECAUSE_MAX = 200, 200
ROLL_S_MAX = 600
"""The most seconds of footage before and after a round; the command allows more."""

WAIT_S_MAX = 120
"""Seconds to wait for another dossier to be finished."""

_ONE = threading.Lock()  # one at a time: each decodes a round and writes its footage

router = APIRouter(include_in_schema=False)
Maker = Annotated[User, Depends(signed_in(*MAKERS))]
Exporter = Annotated[User, Depends(signed_in_lately(*MAKERS))]
Name = Annotated[str, Query(min_length=1, max_length=NAME_MAX)]
Maybe = Annotated[Kind | None, Query()]


@router.get(f"{PATH}/new")
def ask(request: Request, user: Maker, of: Name, kind: Maybe = None) -> Response:
    """The content of the dossier to be made, and the form to make it."""
    from replay.dossier.signing.keys import keys_folder, load_if_there  # noqa: PLC0415 - needed on this page only

    blind_review.refuse_dossier(request, user, DossierRequest(of, user.employee, kind=kind))
    signer = load_if_there(keys_folder())
    signed = signer.key_id if signer else None
    return page(request, "dossier.html", of=of, kind=kind, signed=signed, roll_s_max=ROLL_S_MAX)


@router.post(PATH)
def make(
    request: Request,
    user: Exporter,
    of: Annotated[str, Form(min_length=1, max_length=NAME_MAX)],
    because: Annotated[str, Form(min_length=1, max_length=BECAUSE_MAX)],
    pre_s: Annotated[int, Form(ge=0, le=ROLL_S_MAX)] = PRE_S,
    post_s: Annotated[int, Form(ge=0, le=ROLL_S_MAX)] = POST_S,
    kind: Annotated[Kind | None, Form()] = None,
) -> Response:
    """Make the dossier and send it; nothing stays on the server."""
    asked = DossierRequest(of, user.employee, written(because, "because"), pre_s, post_s, kind)
    blind_review.refuse_dossier(request, user, asked)
    folder = Path(tempfile.mkdtemp(prefix="round-ledger-dossier-"))
    away = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    name = file_name(f"dossier-{of}.zip", blank="-")
    try:
        _make(request, asked, folder / name)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    path = folder / name
    return FileResponse(path, media_type="application/zip", filename=name, background=away)


def _make(request: Request, asked: DossierRequest, out: Path) -> None:
    """Make one dossier at a time. Raises 503 if others take too long."""
    if not _ONE.acquire(timeout=WAIT_S_MAX):
        raise HTTPException(503, "Other dossiers are being made. Try again in a minute.")
    try:
        from replay.dossier.service import VIEWS, hand_over  # noqa: PLC0415 - imports the PDF library

        database = ports(request).database
        up_to_date(database, VIEWS)
        hand_over(database, asked, out, footage_folder(None), zipped=True)
    finally:
        _ONE.release()
