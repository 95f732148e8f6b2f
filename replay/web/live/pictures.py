"""A camera's live picture for browsers: fragments of a film, asked for again and again.

Each answer is short, so that a page of many cameras needs few connections, and that the end of a
session or of a role ends the picture at once. A name is looked up; no address comes from a browser.
"""

import time
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from infra.access.users import User
from ledger.errors import NotFound
from replay.footage.live.ring import KEPT_S, FilmPart
from replay.web.live.table_cameras import table_cameras
from replay.web.pages import footage
from replay.web.pages.footage import Viewer
from replay.web.ports import ports

NAME_MAX = 200
"""Characters of a name that is looked up."""

router = APIRouter(include_in_schema=False)

Name = Annotated[str, Query(max_length=NAME_MAX)]
_NO_CONTENT = 204


@router.get("/live/picture")
def picture(
    request: Request,
    user: Viewer,
    property: Name,  # noqa: A002 - what it is called on the floor
    camera: Name,
    film: Name = "",
    after: Annotated[int, Query(ge=0, le=1 << 53)] = 0,
    back: Annotated[float | None, Query(ge=0, le=KEPT_S)] = None,
) -> Response:
    """What comes after a fragment of a film; nothing (204) if there is nothing new.

    `X-Live-Says` has why no picture comes, empty if one does.
    """
    of = next((of for of, names in table_cameras(request).items()
               if of.property == property and camera in names.shown), None)  # fmt: skip
    state = ports(request).live.watch(property, camera) if of else None
    if state is None:
        raise NotFound(
            "No camera of a table has this name and a live picture",
            where=f"camera {camera}"[:NAME_MAX],
            hint="Open Live, and see which tables have pictures.",
        )
    _record(request, user, property, camera)
    found = state.ring.read(film, after, back)
    says = state.says.encode("ascii", "replace").decode()
    if found is None:
        return Response(status_code=_NO_CONTENT, headers={"X-Live-Says": says})
    return Response(
        found.begin + found.octets,
        media_type="video/mp4",
        headers={"X-Live-Says": says, **_headers(found)},
    )


def _record(request: Request, user: User, property_: str, camera: str) -> None:
    """Record the view before anything is sent: of what is kept, which is the last minutes."""
    now_us = time.time_ns() // 1_000
    span = (now_us - round(KEPT_S * 1_000_000), now_us)
    footage.viewed_live(request, user, property_, camera, span)


def _headers(found: FilmPart) -> dict[str, str]:
    return {
        "X-Live-Film": found.film,
        "X-Live-Number": str(found.number),
        "X-Live-Codec": found.codec,
        "X-Live-Begins": "yes" if found.begin else "no",
        "X-Live-Newest-US": str(found.newest_us),
        "X-Live-Age-MS": str(round(found.age_s * 1_000)),
    }
