"""Renders pages from templates, and adds the headers of every response to a browser.

Nothing is loaded from another host, and nothing is inline: scripts are module files, styles are
classes of a file. Texts from facts are always escaped.
"""

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from consumers.disputes import disputes
from consumers.review import queue
from infra.access.sessions import LAST_S, SESSION_S_MAX, WARN_S
from infra.access.users import Role, User
from ledger.errors import Unavailable
from ledger.games import games
from ledger.rules.engine.finding_codes import CODES
from ledger.values import RoundId, dollars, quantity
from replay.approvals.acts import PEOPLE
from replay.cameras.intake.uploads import PIECE_OCTETS_MAX
from replay.rounds.sentences import card_text, cards_text, wager_namer, wager_of_any_game
from replay.text.amounts import amount_name
from replay.text.times import aloud, as_recorded, hour, localized, stamp, utc, zone_name
from replay.web.access import authentication, blind_review
from replay.web.app import FACTS, HSTS
from replay.web.ports import ports
from replay.web.request_limits import let_pass

HERE = Path(__file__).parent
STATIC = HERE / "static"

CSP = (
    "default-src 'self'; img-src 'self' data: blob:; media-src 'self' blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
"""Headers of every response to a browser, unless the page sets its own."""

FORM_OCTETS_MAX = 256 * 1024
"""The largest form in bytes; a form is read into memory before its sender is known."""

IMPORT_PATH = "/import"
"""The page Import. Pieces of uploads below it are larger than forms: they go to disk."""

STATIC_S = 365 * 24 * 3600
"""Seconds that a browser keeps a static file; the file's address changes with its content."""


class Tab(NamedTuple):
    """An entry of the navigation, and the roles that see it."""

    title: str
    path: str
    roles: Sequence[Role]


TABS = (
    Tab("Review", "/review", ("surveillance",)),
    Tab("Find", "/find", ("surveillance", "finance", "auditor")),
    Tab("Review", "/review", ("auditor",)),
    Tab("Live", "/live", ("surveillance", "ops", "auditor")),
    Tab("Cases", "/cases", ("surveillance", "auditor")),
    Tab("Import", IMPORT_PATH, ("surveillance",)),
    Tab("Log", "/log", ("surveillance", "auditor")),
    Tab("Shift", "/shift", ("surveillance", "auditor")),
    Tab("Statistics", "/statistics", ("surveillance", "auditor")),
    Tab("Drop", "/drop", ("finance", "auditor")),
    Tab("Win", "/win", ("finance", "auditor")),
    Tab("Entry", "/entry", ("pit", "cage", "count", "finance", "auditor")),
    Tab("To approve", "/approvals", (*PEOPLE, "auditor")),
)
"""In the order they are shown; the first one of a user is their first page."""


class Behind(NamedTuple):
    """How far pages are behind the record: the largest consumer lag of all views."""

    facts: int  # on record and not in every view yet
    seconds: int  # since the oldest of them was received


def page(request: Request, template: str, status: int = 200, /, **values: object) -> Response:
    """A template filled in with `values`, `who`, `csrf`, `nav`, `start`, `path` and `behind`.

    `zone` is the house's, unless `values` has that of the property that the page is about;
    `zone_of` gives that of another property.

    Filters: `money` (cents), `clock` and `moment` (microseconds, in a zone), `game` (title of an
    id), `wager` (an id, with its game), `card`, `cards`. `local` puts a sentence's times in a zone.
    `round_path` (of a `RoundId`). `static('x.css')` is a file's address.
    """
    user = authentication.who(request)
    zones = ports(request).zones()
    given: dict[str, object] = {
        "who": user,
        "csrf": authentication.csrf(request),
        "nav": nav(user),
        "start": start_page(user),
        "path": request.url.path,
        "zone": zones.of(None),
        "zone_of": zones.of,
        "behind": lambda: _behind(request),
        "to_review": lambda: _to_review(request, user),
        "overdue": lambda: _overdue(request),
        "to_approve": lambda: _to_approve(request, user),
    }
    response = HTMLResponse(_templates().get_template(template).render(given | values), status)
    authentication.form_token(request, response)
    return response


def _to_review(request: Request, user: User | None) -> queue.Counts | None:
    """How many findings this user may see are open, and theirs; None: the database is down."""
    if user is None:
        return None
    try:
        return blind_review.counts(request, user)
    except Unavailable:
        return None


def _overdue(request: Request) -> int:
    """How many tasks of cases are overdue; 0 if the database is down."""
    try:
        return len(disputes.overdue(ports(request).database, time.time_ns() // 1000))
    except Unavailable:
        return 0


def _to_approve(request: Request, user: User | None) -> int:
    """How many requests wait that this user may approve; 0 if the database is down."""
    try:
        return 0 if user is None else ports(request).approvals.to_answer(user)
    except Unavailable:
        return 0


def nav(user: User | None) -> list[Tab]:
    """The entries of the navigation that a user may see."""
    its = [tab for tab in TABS if user is not None and user.has(*tab.roles)]
    return [*{tab.path: tab for tab in its}.values()]


def start_page(user: User | None) -> str:
    """The address of a user's first page: `/` for those who may open it."""
    its = nav(user)
    if user is None or (its and its[0].path in ("/review", "/find")):
        return "/"
    return its[0].path if its else "/account"


def static_file(name: str) -> str:
    """The address of a static file, which changes with its content."""
    return f"/static/{name}?v={_digest(name)}"


def round_path(round_: RoundId) -> str:
    """The path of a round's page."""
    return f"/rounds/{round_.property}/{round_.subject}"


class BrowserHeaders:
    """Adds `HEADERS` to all responses except those to devices, which have their own.

    It refuses addresses with a NUL; the API below `/v1/` answers those of its parameters itself.
    """

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self._app = app
        self._headers = dict(HEADERS)
        if secure:
            self._headers["Strict-Transport-Security"] = HSTS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] == FACTS:
            await self._app(scope, receive, send)
            return
        if "\0" in scope["path"] or (
            b"%00" in scope["query_string"] and not scope["path"].startswith("/v1/")
        ):
            await HTMLResponse(
                "The address contains a NUL character, which no recorded name has.", 400, HEADERS
            )(scope, receive, send)
            return
        if (refusal := _too_much(scope)) is not None:
            await let_pass(receive)
            await refusal(scope, receive, send)
            return
        static = scope["path"].startswith("/static/") and b"v=" in scope["query_string"]

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers.setdefault(name, value)
                if static and message["status"] == 200:  # noqa: PLR2004 - OK
                    headers["Cache-Control"] = f"public, max-age={STATIC_S}, immutable"
            await send(message)

        await self._app(scope, receive, with_headers)


def _too_much(scope: Scope) -> Response | None:
    """The refusal of a body that is too large for a form, or has no Content-Length."""
    told = dict(scope["headers"]).get(b"content-length")
    if told is None and scope["method"] in ("GET", "HEAD", "OPTIONS"):
        return None
    if told is None:
        return HTMLResponse("Send a Content-Length.", 411, HEADERS | {"Connection": "close"})
    if not told.isdigit() or int(told) > (
        PIECE_OCTETS_MAX if _is_piece(scope) else FORM_OCTETS_MAX
    ):
        return HTMLResponse("The form is too long.", 413, HEADERS | {"Connection": "close"})
    return None


def _is_piece(scope: Scope) -> bool:
    """Whether a body is bytes of an upload, which nothing reads as a form."""
    kind = dict(scope["headers"]).get(b"content-type")
    is_put = scope["method"] == "PUT" and scope["path"].startswith(f"{IMPORT_PATH}/uploads/")
    return is_put and kind == b"application/octet-stream"


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "money": dollars,
        "hour": lambda time_us, zone: aloud(hour(time_us, zone)),
        "stamp": lambda time_us, zone: aloud(stamp(time_us, zone, ms=False)),
        "utc": utc,
        "local": lambda text, zone: aloud(localized(text, zone)),
        "as_recorded": lambda time, zone: aloud(as_recorded(time, zone)),
        "zone_name": zone_name,
        "game": _game,
        "wager": _wager,
        "card": card_text,
        "cards": cards_text,
        "round_path": round_path,
        "says": lambda code: CODES.get(code, code),
        "thousands": lambda number: f"{number:,}",
        "quantity": quantity,
        "amount_name": amount_name,
        "any_wager": wager_of_any_game,
        "code_marked": code_marked,
    }
    environment.filters.update(filters)
    environment.globals["static"] = static_file
    environment.globals["session"] = {
        "warn_s": WARN_S,
        "last_s": LAST_S,
        "shift_s": SESSION_S_MAX,
    }
    return environment


def _behind(request: Request) -> Behind | None:
    """How far pages are behind; None if the database does not answer."""
    try:
        lags = ports(request).tape.view_lags()
    except Unavailable:
        return None
    return Behind(
        max((lag.facts for lag in lags), default=0),
        max((lag.behind_us for lag in lags), default=0) // 1_000_000,
    )


def _game(name: str | None) -> str:
    game = games().get(name or "")
    return game.title if game else name or "game not recorded"


def code_marked(text: str) -> Markup:
    """A message as HTML: what stands between backticks on a terminal is code on a page."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped


def _wager(name: str, game: str | None) -> str:
    return wager_namer(game)(name)


@cache
def _digest(name: str) -> str:
    return hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]
