"""A dossier made on the screen: what goes out and why is asked for, then it comes as one zip.

What goes out is on record, with who had it made, before a byte of it is sent.
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
from replay.web.access.authentication import signed_in
from replay.web.page import page
from replay.web.ports import ports

MAKERS: tuple[Role, ...] = ("surveillance",)
"""Who may have one made: it holds footage."""

PATH = "/dossiers"
NAME_MAX, BECAUSE_MAX = 200, 200
ROLL_S_MAX = 600
"""Footage before and after a round, seconds; more is the command's."""

WAIT_S_MAX = 120
"""How long one waits for another dossier to be finished."""

_ONE = threading.Lock()  # one decodes a round and writes its footage: that is enough at a time

router = APIRouter(include_in_schema=False)
Maker = Annotated[User, Depends(signed_in(*MAKERS))]
Name = Annotated[str, Query(min_length=1, max_length=NAME_MAX)]
Maybe = Annotated[Kind | None, Query()]


@router.get(f"{PATH}/new")
def ask(request: Request, user: Maker, of: Name, kind: Maybe = None) -> Response:
    """What a dossier of this round or dispute will hold, and the form to have it made."""
    from replay.dossier.signing.keys import keys_folder, load_if_there  # noqa: PLC0415 - only where it is asked for

    blind_review.refuse_dossier(request, user, DossierRequest(of, user.employee, kind=kind))
    signer = load_if_there(keys_folder())
    signed = signer.key_id if signer else None
    return page(request, "dossier.html", of=of, kind=kind, signed=signed, roll_s_max=ROLL_S_MAX)


@router.post(PATH)
def make(
    request: Request,
    user: Maker,
    of: Annotated[str, Form(min_length=1, max_length=NAME_MAX)],
    because: Annotated[str, Form(min_length=1, max_length=BECAUSE_MAX)],
    pre_s: Annotated[int, Form(ge=0, le=ROLL_S_MAX)] = PRE_S,
    post_s: Annotated[int, Form(ge=0, le=ROLL_S_MAX)] = POST_S,
    kind: Annotated[Kind | None, Form()] = None,
) -> Response:
    """Make it, and send it; nothing of it stays here."""
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
    """One after the other. Raises 503 where others take too long."""
    if not _ONE.acquire(timeout=WAIT_S_MAX):
        raise HTTPException(503, "Other dossiers are being made. Try again in a minute.")
    try:
        from replay.dossier.service import VIEWS, hand_over  # noqa: PLC0415 - it sets paper

        database = ports(request).database
        up_to_date(database, VIEWS)
        hand_over(database, asked, out, footage_folder(None), zipped=True)
    finally:
        _ONE.release()
