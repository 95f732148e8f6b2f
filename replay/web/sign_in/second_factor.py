"""The second factor: its code at sign-in, and setting it up there or on *Your account*.

Between password and code a browser has a pending sign-in, which opens no page.
"""

from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from infra.access.connections import Actor
from infra.access.second_factor import SecondFactors
from infra.access.tries import Try
from infra.access.users import User
from replay.text import qr_code
from replay.web.access import authentication
from replay.web.page import page
from replay.web.ports import ports
from replay.web.sign_in.pages import here, welcome

router = APIRouter(include_in_schema=False)

Code = Annotated[str, Form(max_length=64)]
Next = Annotated[str, Form()]

WRONG = "The code is wrong, or was used already. Wait for the next one."


@router.get("/sign-in/code")
async def ask(request: Request, next: str = "/") -> Response:  # noqa: A002 - as in the address
    """The form for the code, or for setting up the second factor that this ledger requires."""
    name = await _pending(request)
    return _from_start(next) if name is None else await _form(request, name, next)


@router.post("/sign-in/code")
async def give(request: Request, code: Code = "", next: Next = "/") -> Response:  # noqa: A002 - as above
    """Take the code of a pending sign-in; only then a session begins."""
    name = await _begun(request)
    if name is None:
        return _from_start(next)
    entry = await run_in_threadpool(
        ports(request).sessions.finish,
        _cookie(request),
        code,
        authentication.address(request),
    )
    if entry.is_pending:
        tried = Try(fits=False, wait_s=entry.wait_s)
        return _told(await _form(request, name, next, tried), tried)
    if not entry.token:
        return _from_start(next)
    response = await welcome(request, entry.token, next)
    authentication.drop(request, response, authentication.PENDING)
    return response


@router.post("/sign-in/enrol")
async def enrol(request: Request, next: Next = "/") -> Response:  # noqa: A002 - as above
    """Make the secret of a user who has none, where the ledger requires a second factor."""
    name = await _begun(request)
    if name is None:
        return _from_start(next)
    return await _enrolment(request, name, "/sign-in/enrol", here(next))


@router.post("/sign-in/enrol/confirm")
async def confirm_first(request: Request, code: Code = "", next: Next = "/") -> Response:  # noqa: A002 - as above
    """Turn it on by one code, begin the session, and show the recovery codes."""
    name = await _begun(request)
    if name is None:
        return _from_start(next)
    tried, codes, token = await run_in_threadpool(
        ports(request).sessions.enrol, _cookie(request), code, authentication.address(request)
    )
    if not tried.fits:
        return _unconfirmed(request, "/sign-in/enrol", here(next), tried)
    response = page(request, "recovery_codes.html", codes=codes, then=here(next), passkey=False)
    authentication.set_session_cookie(request, response, token)
    authentication.drop(request, response, authentication.PENDING)
    return response


@router.post("/account/second-factor")
async def begin(request: Request) -> Response:
    """Make the secret, and show it once."""
    user = await fresh_user(request)
    return await _enrolment(request, user.name, "/account/second-factor", "/account")


@router.post("/account/second-factor/confirm")
async def confirm(request: Request, code: Code = "") -> Response:
    """Turn it on by one code, and show the recovery codes."""
    user = await fresh_user(request)
    actor = Actor(user.name, authentication.address(request))
    tried, codes = await run_in_threadpool(
        _factors(request).confirm, user.name, code, actor, authentication.session_digest(request)
    )
    if not tried.fits:
        return _unconfirmed(request, "/account/second-factor", "/account", tried)
    return page(request, "recovery_codes.html", codes=codes, then="/account", passkey=False)


@router.post("/account/second-factor/off")
async def turn_off(request: Request) -> Response:
    """Turn the app off, by the password and one more code, or by a passkey."""
    user = await _user(request)
    factors, passkeys = _factors(request), ports(request).sessions.passkeys
    if factors.required and not await run_in_threadpool(passkeys.of, user.name):
        raise HTTPException(403, "This ledger requires a second factor.")
    tried = await authentication.prove(request, user)
    if not tried.fits:
        says = await authentication.refusal(request, user, tried)
        response = page(
            request, "problem.html", 401, title="Still on", says=says, hint="", open_=None
        )
        return _told(response, tried)
    actor = Actor(user.name, authentication.address(request))
    await run_in_threadpool(
        factors.remove,
        user.name,
        actor,
        "second_factor_off",
        authentication.session_digest(request),
    )
    return RedirectResponse("/account", 303)


async def _user(request: Request) -> User:
    """The signed-in user, with a form of this session."""
    user = await authentication.visitor(request)
    if user is None:
        raise authentication.NotSignedInError
    await authentication.check_csrf(request)
    return user


async def fresh_user(request: Request) -> User:
    """The signed-in user, who has shown the password lately and signs in with it."""
    user = await _user(request)
    await authentication.require_fresh(request, user)
    if not await run_in_threadpool(ports(request).users.has_password, user.name):
        raise HTTPException(403, "You sign in at the identity provider. It asks for a code there.")
    return user


def _cookie(request: Request) -> str:
    """The token of the pending sign-in."""
    return request.cookies.get(authentication.cookie(request, authentication.PENDING), "")


async def _pending(request: Request) -> str | None:
    """The name of the pending sign-in, if there is one."""
    authentication.begin_form(request)
    return await run_in_threadpool(ports(request).sessions.pending, _cookie(request))


async def _begun(request: Request) -> str | None:
    """As `_pending`, for a form of this server."""
    name = await _pending(request)
    await authentication.check_csrf(request)
    return name


def _factors(request: Request) -> SecondFactors:
    return ports(request).sessions.factors


async def _form(request: Request, name: str, then: str, tried: Try | None = None) -> Response:
    factors, passkeys = _factors(request), ports(request).sessions.passkeys
    return page(
        request,
        "sign_in_code.html",
        401 if tried else 200,
        is_on=await run_in_threadpool(factors.is_on, name),
        has_app=await run_in_threadpool(factors.has_app, name),
        passkeys_are_on=passkeys.are_on,
        next=here(then),
        says=_says(tried) if tried else "",
    )


async def _enrolment(request: Request, name: str, action: str, then: str) -> Response:
    """The page with the secret, this one time."""
    made = await run_in_threadpool(_factors(request).begin, name)
    return page(
        request,
        "second_factor.html",
        action=action,
        next=then,
        secret=made.secret,
        address=made.address,
        picture=qr_code.svg(made.address, "QR code of the secret"),
        says="",
    )


def _unconfirmed(request: Request, action: str, then: str, tried: Try) -> Response:
    """The page that asks for the code again, without the secret."""
    response = page(
        request, "second_factor.html", 401, action=action, next=then, secret="", says=_says(tried)
    )
    return _told(response, tried)


def _says(tried: Try) -> str:
    if tried.wait_s:
        return authentication.too_many_tries(tried.wait_s)
    return WRONG


def _told(response: Response, tried: Try) -> Response:
    if tried.wait_s:
        response.status_code = 429
        response.headers["Retry-After"] = str(tried.wait_s)
    return response


def _from_start(then: str) -> Response:
    """The pending sign-in is over: begin with the password."""
    return RedirectResponse(f"/sign-in?next={quote(here(then))}", 303)
