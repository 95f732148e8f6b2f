"""A user's own page: the password, and the sessions, which may be ended."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from infra.access.connections import Actor
from infra.access.users import PASSWORD_MAX, PASSWORD_MIN, User, check_password
from ledger.errors import LedgerError
from ledger.values import quantity
from replay.web.access import authentication
from replay.web.page import page
from replay.web.ports import Ports, ports

router = APIRouter(include_in_schema=False)

Typed = Annotated[str, Form(max_length=PASSWORD_MAX)]


@router.get("/account")
async def account(request: Request) -> Response:
    """The page, for any role."""
    return await _shown(request, await _user(request))


@router.post("/account/password")
async def change_password(request: Request, new: Typed = "") -> Response:
    """Replace the user's password, by the present one and a code if the user has a second factor.

    A passkey does for both. Every other session of theirs ends. This one is fresh.
    """
    user = await _user(request)
    await authentication.check_csrf(request)
    doors, address = ports(request), authentication.address(request)
    try:
        await run_in_threadpool(check_password, new, user.name)  # first: a code counts once
    except LedgerError as error:
        return await _shown(request, user, 422, f"{error.what}. {error.hint}")
    tried = await authentication.prove(request, user)
    if not tried.fits:
        says = await authentication.refusal(request, user, tried)
        return await _shown(request, user, 429 if tried.wait_s else 401, says)
    actor = Actor(user.name, address)
    kept = await run_in_threadpool(doors.users.set_password, user.name, new, actor)
    token = await run_in_threadpool(doors.sessions.begin, user.name, address, "new password", kept)
    if not token:  # somebody has set another one
        raise authentication.NotSignedInError
    response = RedirectResponse("/account?changed=1", 303)
    authentication.set_session_cookie(request, response, token)
    return response


@router.post("/account/sessions/end")
async def end_session(request: Request, session: Typed = "") -> Response:
    """End one of the user's sessions; without a digest all but this one."""
    user = await _user(request)
    await authentication.check_csrf(request)
    await authentication.require_fresh(request, user)
    sessions, this = ports(request).sessions, authentication.session_digest(request)
    ended = [
        each
        for each in await run_in_threadpool(sessions.running, user.name)
        if (each.digest == session if session else each.digest != this)
    ]
    actor = Actor(user.name, authentication.address(request))
    await run_in_threadpool(sessions.end, ended, actor)
    return RedirectResponse("/account", 303)


async def _user(request: Request) -> User:
    user = await authentication.visitor(request)
    if user is None:
        raise authentication.NotSignedInError
    return user


def _left(doors: Ports, name: str) -> str:
    """How many recovery codes a user still has."""
    left = doors.sessions.factors.recovery_codes_left(name)
    return f"You have {quantity(left, 'recovery code')} left."


async def _shown(request: Request, user: User, status: int = 200, says: str = "") -> Response:
    doors = ports(request)
    factors, passkeys = doors.sessions.factors, doors.sessions.passkeys
    return page(
        request,
        "account.html",
        status,
        user=user,
        has_password=await run_in_threadpool(doors.users.has_password, user.name),
        sessions=await run_in_threadpool(doors.sessions.running, user.name),
        this=authentication.session_digest(request),
        has_app=await run_in_threadpool(factors.has_app, user.name),
        factor_required=factors.required,
        passkeys=await run_in_threadpool(passkeys.of, user.name),
        passkeys_are_on=passkeys.are_on,
        left=await run_in_threadpool(_left, doors, user.name),
        says=says,
        changed="changed" in request.query_params,
        shortest=PASSWORD_MIN,
    )
