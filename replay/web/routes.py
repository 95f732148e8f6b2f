"""Adds every page to the application, and finance for other systems. Shows errors as pages.

To add a page, write a module with a `router`, add it to `ROUTERS`, and a tab to `page.TABS`.
"""

from http import HTTPStatus
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from ledger.errors import Lacking, LedgerError, NotFound, Unavailable
from replay.shell.logs import LOG
from replay.web.access import authentication
from replay.web.access.authentication import (
    NotSignedInError,
    OpenedElsewhereError,
    PasswordNeededError,
)
from replay.web.api import finance
from replay.web.approvals import pages as approvals
from replay.web.documentation import SITE, Documentation
from replay.web.entry import boxes, forms, inventories, papers, second_person, slips
from replay.web.entry.second_person import SecondPersonNeededError
from replay.web.finance import charts, coupons, drop, fact, win
from replay.web.imports import pages as imports
from replay.web.imports import pieces
from replay.web.live import floor
from replay.web.live import pictures as live_pictures
from replay.web.live import table as live_table
from replay.web.page import STATIC, BrowserHeaders, page
from replay.web.pages import cases, clips, dossiers, find, footage, marks, thumbnails
from replay.web.pages import round as round_
from replay.web.ports import Ports
from replay.web.review import log_page, pictures, shift_page
from replay.web.review import pages as review
from replay.web.sign_in import account, passkeys, second_factor
from replay.web.sign_in import pages as sign_in
from replay.web.statistics import pages as statistics

if TYPE_CHECKING:
    from replay.web.app import Application
    from replay.web.sign_in.oidc import Client

ROUTERS: tuple[APIRouter, ...] = (
    sign_in.router,
    second_factor.router,
    passkeys.router,
    account.router,
    find.router,
    review.router,
    pictures.router,
    log_page.router,
    shift_page.router,
    floor.router,
    live_table.router,
    live_pictures.router,
    drop.router,
    win.router,
    approvals.router,
    charts.router,
    coupons.router,
    fact.router,
    statistics.router,
    round_.router,
    footage.router,
    clips.router,
    marks.router,
    thumbnails.router,
    dossiers.router,
    cases.router,
    papers.router,
    inventories.router,
    slips.router,
    boxes.router,
    forms.router,
    second_person.router,
    pieces.router,
    imports.router,
)

_SAYS = {
    404: ("There is no page at this address.", "Check the address, or begin at the start page."),
    405: ("This address does not answer this method.", "/openapi.json lists the methods."),
}
_TITLES = {403: "Not allowed", 404: "Nothing here", 405: "Nothing here"}


def add_oidc(app: FastAPI, client: "Client") -> None:
    """Add sign-in at an identity provider; call it after `add_pages`."""
    from replay.web.sign_in import oidc  # noqa: PLC0415 - only with the extra `oidc`

    url: str = app.state.ports.address.url
    app.state.oidc = oidc.Provider(client, f"{url}{oidc.CALLBACK}")
    app.state.oidc_name = client.name
    app.include_router(oidc.router)


def add_pages(app: "Application", ports: Ports) -> sign_in.SetUp:
    """Add the pages to the application; returns the maker of the first user's link."""
    app.state.ports = ports
    app.metrics.watch_live(ports.live.figures)
    app.state.set_up = sign_in.SetUp()
    app.mount("/static", StaticFiles(directory=STATIC))
    app.mount("/docs", Documentation(SITE))
    for router in (*ROUTERS, finance.router):
        app.include_router(router)
    app.add_middleware(BrowserHeaders, secure=ports.address.secure)
    if ports.address.proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=[*ports.address.proxies])
    app.add_exception_handler(NotSignedInError, _not_signed_in)
    app.add_exception_handler(PasswordNeededError, _password_needed)
    app.add_exception_handler(SecondPersonNeededError, _second_person_needed)
    app.add_exception_handler(OpenedElsewhereError, _opened_elsewhere)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _not_understood)
    app.add_exception_handler(LedgerError, _told)
    app.add_exception_handler(Exception, _failed)
    made: sign_in.SetUp = app.state.set_up
    return made


def wants_page(request: Request) -> bool:
    """Whether a person loads a page, and not a script a part or a player a picture."""
    return "text/html" in request.headers.get("Accept", "")


async def _not_signed_in(request: Request, error: Exception) -> Response:
    del error
    if wants_page(request):
        return await sign_in.to_sign_in(request)
    return JSONResponse({"error": "Nobody is signed in", "hint": "Sign in at /sign-in."}, 401)


async def _password_needed(request: Request, error: Exception) -> Response:
    if wants_page(request):
        return await sign_in.ask_again(request, str(error))
    hint = "Open any page that exports or approves, and give the password."
    return JSONResponse({"error": "The password is asked for again", "hint": hint}, 401)


async def _second_person_needed(request: Request, error: Exception) -> Response:
    if wants_page(request):
        return await second_person.ask(request, error)
    hint = "The second person gives a password on the page."
    return JSONResponse({"error": "The second person has not signed", "hint": hint}, 401)


async def _opened_elsewhere(request: Request, error: Exception) -> Response:
    """Nothing was recorded; a person can go on from a page of this server."""
    del error
    says = "Another site opened this address. Viewing it is recorded in your name."
    _log_refused(request, says)
    hint = "Nothing was recorded. Open it yourself if you want to view it."
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return _problem(request, 403, says, hint, wanted)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for these alone
    status = error.status_code
    if status == HTTPStatus.FORBIDDEN:
        _log_refused(request, error.detail)
    unsaid = error.detail == HTTPStatus(status).phrase  # the framework's own words
    says, hint = _SAYS.get(status, (error.detail, "")) if unsaid else (error.detail, "")
    return _problem(request, status, says, hint)


def _log_refused(request: Request, why: str) -> None:
    """Log who was refused what; the query is left out, as it may hold a patron's token."""
    user = authentication.who(request)
    figures = {
        "user": user.name if user else None,
        "address": authentication.address(request),
        "request": f"{request.method} {request.url.path}",
        "why": why,
    }
    LOG.warning("a request was refused", extra={"figures": figures})


async def _not_understood(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101 - as above
    fields = dict.fromkeys(str(each["loc"][-1]) for each in error.errors())  # names of ours
    hint = f"Go back and check: {', '.join(fields)}."  # the error quotes what was sent
    return _problem(request, 422, "A field of the request is not valid.", hint)


async def _told(request: Request, error: Exception) -> Response:
    assert isinstance(error, LedgerError)  # noqa: S101 - as above
    if isinstance(error, Lacking):
        return _problem(request, 503, f"{error.what}.", error.hint)
    if isinstance(error, Unavailable):  # the database's address is not shown
        LOG.error("a page could not be shown", extra={"figures": {"what": error.what}})
        return _problem(request, 503, "The database does not answer.", "Try again in a minute.")
    status = 404 if isinstance(error, NotFound) else 422
    return _problem(request, status, f"{error.what}.", error.hint)


async def _failed(request: Request, error: Exception) -> Response:
    LOG.error("a page failed", exc_info=error)
    return _problem(request, 500, "The page could not be made.", "The server's log has the cause.")


def _problem(
    request: Request, status: int, says: str, hint: str, open_: str | None = None
) -> Response:
    if not wants_page(request):
        return JSONResponse({"error": says, "hint": hint}, status)
    title = _TITLES.get(status, "That did not work")
    return page(request, "problem.html", status, title=title, says=says, hint=hint, open_=open_)
