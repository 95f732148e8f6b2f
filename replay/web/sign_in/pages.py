"""Sign-in, sign-out, and the first user of a new ledger by a link that works once.

Every answer to a wrong name or password is the same and takes the same time. After sign-in the
browser only goes to paths of this server.
"""

import hashlib
import hmac
import secrets
import time
from typing import Annotated, cast
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Form, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse

from infra.access.connections import Actor
from infra.access.sessions import FRESH_S, PENDING_S, SignIn, TimeLeft
from infra.access.users import PASSWORD_MAX, PASSWORD_MIN, ROLES, Role, User
from ledger.errors import LedgerError
from replay.web.access import authentication
from replay.web.page import nav, page
from replay.web.ports import ports

LINK_S = 15 * 60
"""Seconds for which the first user's link works."""

_UNSEEN = authentication.OWN_FIELDS | {"step", "version"}
"""Hidden fields of forms."""

_SECRET = frozenset(("password", "new", "code", "passkey", "link"))
"""Fields of forms that no page shows again."""

ACCOUNT = "/account"
"""The first page of a user who reads nothing."""

WRONG = "The name or the password is wrong."

router = APIRouter(include_in_schema=False)

Typed = Annotated[str, Form(max_length=PASSWORD_MAX)]


class SetUp:
    """The first user's link: its secret is shown once and kept only as a hash."""

    def __init__(self) -> None:
        self._digest = b""
        self._until = 0.0

    def link(self) -> str:
        """The secret of a new link; earlier links stop working."""
        secret = secrets.token_urlsafe(32)
        self._digest = _digest(secret)
        self._until = time.monotonic() + LINK_S
        return secret

    def opens(self, secret: str) -> bool:
        """Whether this is the link's secret and the link has not expired."""
        known = bool(self._digest) and hmac.compare_digest(_digest(secret), self._digest)
        return known and time.monotonic() < self._until

    def close(self) -> None:
        """Mark the link as used."""
        self._digest = b""


@router.get("/sign-in")
async def ask(request: Request, next: str = "/") -> Response:  # noqa: A002 - as in the address
    """The form; a signed-in user is redirected."""
    user = await authentication.visitor(request)
    if user is not None:
        return _go_on(user, next)
    return ask_form(request, next=next)


@router.post("/sign-in")
async def sign_in(
    request: Request,
    name: Typed = "",
    password: Typed = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002 - as above
) -> Response:
    """Sign in with a new session, even if the browser has one."""
    authentication.begin_form(request)
    await authentication.check_csrf(request)
    name = name.strip().lower()
    access = ports(request).sessions
    entry = await run_in_threadpool(access.sign_in, name, password, authentication.address(request))
    if entry.wait_s:
        says = authentication.too_many_tries(entry.wait_s)
        refused = ask_form(request, 429, next=next, name=name, says=says)
        refused.headers["Retry-After"] = str(entry.wait_s)
        return refused
    if not entry.token:
        return ask_form(request, 401, next=next, name=name, says=WRONG)
    return await _entered(request, entry, next)


@router.post("/sign-out")
async def sign_out(request: Request) -> Response:
    """End the session, for any role."""
    if await authentication.visitor(request) is None:
        raise authentication.NotSignedInError
    await authentication.check_csrf(request)
    token = request.cookies[authentication.cookie(request, authentication.SESSION)]
    await run_in_threadpool(
        ports(request).sessions.sign_out, token, authentication.address(request)
    )
    response = RedirectResponse("/sign-in", 303)
    authentication.let_out(request, response)
    return response


@router.get("/session")
async def left(request: Request) -> Response:
    """The seconds left of the session, without extending it; 0 if there is none."""
    return await _left(request)


@router.post("/session")
async def stay(request: Request) -> Response:
    """Extend the session: its user works on a page, or chose to stay."""
    if await authentication.visitor(request) is None:
        raise authentication.NotSignedInError
    await authentication.check_csrf(request)
    return await _left(request)


async def _left(request: Request) -> Response:
    token = request.cookies.get(authentication.cookie(request, authentication.SESSION), "")
    found = await run_in_threadpool(ports(request).sessions.left, token)
    told = found or TimeLeft("", 0, 0)
    return JSONResponse({**told._asdict(), "csrf": authentication.csrf_of(token) if found else ""})


@router.post("/session/password")
async def prove(request: Request, next: Annotated[str, Form()] = "/") -> Response:  # noqa: A002 - as above
    """Take the password or a passkey once more, then lead to the address that asked for it."""
    user = await authentication.visitor(request)
    if user is None:
        raise authentication.NotSignedInError
    await authentication.check_csrf(request)
    await authentication.require_fresh(request, user)
    return RedirectResponse(here(next), 303)


async def ask_again(request: Request, says: str) -> Response:
    """The page that asks for password or passkey, and goes on with what was sent or opened."""
    user = authentication.who(request)
    is_read = request.method in authentication.SAFE
    path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    fields = [] if is_read else (await request.form()).multi_items()
    typed = [
        (name, text)
        for name, text in fields
        if isinstance(text, str) and name not in authentication.OWN_FIELDS
    ]
    doors, name = ports(request), user.name if user else ""
    factors, passkeys = doors.sessions.factors, doors.sessions.passkeys
    has_code = await run_in_threadpool(factors.is_on, name)
    its = await run_in_threadpool(passkeys.of, name) if passkeys.are_on else []
    return page(
        request,
        "password_again.html",
        401,
        user=user,
        has_password=await run_in_threadpool(doors.users.has_password, name),
        action="/session/password" if is_read else path,
        fields=[("next", here(path))] if is_read else typed,
        password=authentication.PASSWORD_AGAIN,
        code=authentication.CODE_AGAIN if has_code else "",
        has_app=await run_in_threadpool(factors.has_app, name),
        passkey=authentication.PASSKEY_AGAIN if its else "",
        minutes=FRESH_S // 60,
        says=says,
    )


@router.get("/setup")
async def ask_first(request: Request, link: str = "") -> Response:
    """The form for the first user."""
    _refuse_other_links(request, link)
    authentication.begin_form(request)
    return _first(request, link)


@router.post("/setup")
async def first(
    request: Request,
    link: Typed = "",
    name: Typed = "",
    employee: Typed = "",
    password: Typed = "",
    roles: Annotated[list[str] | None, Form()] = None,
) -> Response:
    """Create the first user, once, and sign them in."""
    _refuse_other_links(request, link)
    authentication.begin_form(request)
    await authentication.check_csrf(request)
    chosen = cast("list[Role]", roles or [])
    user = User(name.strip().lower(), employee.strip(), frozenset(chosen))
    doors, address = ports(request), authentication.address(request)
    try:
        await run_in_threadpool(
            lambda: doors.users.add(
                user, password=password, actor=Actor("first user", address), first=True
            )
        )
    except LedgerError as error:
        return _first(request, link, 422, user, f"{error.what}. {error.hint}")
    _set_up(request).close()
    entry = await run_in_threadpool(doors.sessions.enter, user.name, address, "first user")
    return await _entered(request, entry, "/")


def here(path: str) -> str:
    """The path if it is one of this server, else `/`."""
    parts = urlsplit(path)
    plain = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if plain and not parts.scheme and not parts.netloc and "\\" not in path else "/"


async def to_sign_in(request: Request) -> Response:
    """The response without a session: redirect to sign-in, or return the typed fields."""
    if request.method not in ("GET", "HEAD"):
        return page(request, "signed_out.html", 401, typed=await _typed(request))
    wanted = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    return RedirectResponse(f"/sign-in?next={quote(here(wanted))}", 303)


async def _typed(request: Request) -> list[tuple[str, str]]:
    """The typed fields of a form of this server."""
    if authentication.from_elsewhere(request):
        return []
    try:
        fields = (await request.form()).multi_items()
    except HTTPException:  # not a form
        return []
    return [
        (name, value)
        for name, value in fields
        if name not in _UNSEEN | _SECRET and isinstance(value, str) and value.strip()
    ]


async def welcome(request: Request, token: str, then: str) -> Response:
    """Redirect to the wanted page, with the session of a token."""
    user = await run_in_threadpool(ports(request).sessions.user_of, token)
    if user is None:
        raise HTTPException(
            403, "Your account has just changed, so you were signed out. Sign in again."
        )
    response = _go_on(user, then)
    authentication.set_session_cookie(request, response, token)
    return response


async def _entered(request: Request, entry: SignIn, then: str) -> Response:
    """After a right password: the wanted page, or the one that asks for the code."""
    if not entry.is_pending:
        return await welcome(request, entry.token, then)
    response = RedirectResponse(f"/sign-in/code?next={quote(here(then))}", 303)
    authentication.keep(request, response, authentication.PENDING, entry.token, PENDING_S)
    return response


def _go_on(user: User, then: str) -> Response:
    """Redirect to the wanted page, else to the first page of the user's roles."""
    wanted = here(then)
    first = next((tab.path for tab in nav(user)), ACCOUNT)
    return RedirectResponse(first if wanted == "/" else wanted, 303)


def ask_form(
    request: Request,
    status: int = 200,
    *,
    next: str,  # noqa: A002 - as above
    name: str = "",
    says: str = "",
) -> Response:
    """The page that asks for name and password, or a passkey."""
    authentication.begin_form(request)
    oidc = getattr(request.app.state, "oidc_name", "")
    return page(
        request,
        "sign_in.html",
        status,
        next=here(next),
        name=name,
        says=says,
        oidc=oidc,
        passkeys_are_on=ports(request).sessions.passkeys.are_on,
    )


def _first(
    request: Request, link: str, status: int = 200, user: User | None = None, says: str = ""
) -> Response:
    return page(
        request,
        "setup.html",
        status,
        link=link,
        says=says,
        name=user.name if user else "",
        employee=user.employee if user else "",
        chosen=user.roles if user else {"surveillance"},
        roles=ROLES,
        shortest=PASSWORD_MIN,
    )


def _refuse_other_links(request: Request, link: str) -> None:
    if not _set_up(request).opens(link):
        raise HTTPException(
            403, "This link is invalid or has expired. Start `round-ledger serve` for a new one."
        )


def _set_up(request: Request) -> SetUp:
    made: SetUp = request.app.state.set_up
    return made


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
