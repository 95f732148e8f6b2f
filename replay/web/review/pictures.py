"""The small picture of a finding in the queue: the frame of its moment."""

from fastapi import APIRouter, Request, Response

from ledger.errors import NotFound
from replay.review import desk
from replay.web.access import blind_review
from replay.web.pages.thumbnails import picture_of
from replay.web.ports import ports
from replay.web.review.pages import Reader, moment_of

router = APIRouter(include_in_schema=False)


@router.get("/review/picture/{name}.jpg")
def picture(request: Request, who: Reader, name: str) -> Response:
    """The frame at a finding's fact; viewing it is recorded first."""
    [found] = desk.find(ports(request).database, [name], tuple(blind_review.hidden(request, who)))
    if found.round is None:
        raise NotFound("This is of no round", where=name, hint="Open Live, or the table's day.")
    told = ports(request).rounds.told(found.round)
    return picture_of(request, who, told, moment_of(told.story, found))
