"""Passkeys: signing in with one, showing one again, and adding and removing them.

The script `passkey.js` asks the browser, and sends what the device signed with an ordinary form.
"""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse

from infra.access.connections import Actor
from infra.access.passkeys import ANSWER_MAX, LABEL_MAX, Passkeys
from replay.web.access import authentication
from replay.web.page import page
from replay.web.ports import ports
from replay.web.sign_in.pages import ask_form, welcome
from replay.web.sign_in.second_factor import fresh_user

router = APIRouter(include_in_schema=False)

Answer = Annotated[str, Form(max_length=ANSWER_MAX)]
Typed = Annotated[str, Form(max_length=256)]


@router.post("/sign-in/passkey/challenge")
async def challenge_before(request: Request) -> Response:
    """What the browser asks a device to sign, for the form of this browser."""
    authentication.begin_form(request)
    await authentication.check_csrf(request)
    return _json(await run_in_threadpool(_passkeys(request).begin, _form_token(request)))


@router.post("/sign-in/passkey")
async def sign_in(
    request: Request,
    passkey: Answer = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002 - as in the address
) -> Response:
    """Sign in by what a device signed: a new session, and no code."""
    authentication.begin_form(request)
    await authentication.check_csrf(request)
    sessions, address = ports(request).sessions, authentication.address(request)
    entry = await run_in_threadpool(
        sessions.sign_in_by_passkey, passkey, _form_token(request), address
    )
    if entry.wait_s:
        says = authentication.too_many_tries(entry.wait_s)
        refused = ask_form(request, 429, next=next, says=says)
        refused.headers["Retry-After"] = str(entry.wait_s)
        return refused
    if not entry.token:
        return ask_form(request, 401, next=next, says=authentication.PASSKEY_REFUSED)
    response = await welcome(request, entry.token, next)
    authentication.drop(request, response, authentication.PENDING)
    return response


@router.post("/session/passkey/challenge")
async def challenge(request: Request) -> Response:
    """What the browser asks one of the user's devices to sign, for this session."""
    user = await authentication.visitor(request)
    if user is None:
        raise authentication.NotSignedInError
    await authentication.check_csrf(request)
    token = authentication.session_token(request)
    return _json(await run_in_threadpool(_passkeys(request).begin, token, user.name))


@router.post("/account/passkeys/new")
async def begin(request: Request) -> Response:
    """The page that asks a device for a passkey, once."""
    user = await fresh_user(request)
    token = authentication.session_token(request)
    options = await run_in_threadpool(_passkeys(request).begin_adding, user.name, token)
    return page(request, "passkey.html", options=options, longest=LABEL_MAX)


@router.post("/account/passkeys")
async def add(request: Request, passkey: Answer = "", label: Typed = "") -> Response:
    """Keep the passkey that a device made; a user's first factor comes with recovery codes."""
    user = await fresh_user(request)
    token = authentication.session_token(request)
    actor = Actor(user.name, authentication.address(request))
    codes = await run_in_threadpool(_passkeys(request).add, user.name, token, passkey, label, actor)
    if codes:
        return page(request, "recovery_codes.html", codes=codes, then="/account", passkey=True)
    return RedirectResponse("/account", 303)


@router.post("/account/passkeys/remove")
async def remove(request: Request, passkey: Typed = "") -> Response:
    """Remove one of the user's passkeys; the user's other sessions end."""
    user = await fresh_user(request)
    actor = Actor(user.name, authentication.address(request))
    session, sessions = authentication.session_digest(request), ports(request).sessions
    await run_in_threadpool(
        lambda: sessions.passkeys.remove(
            user.name, passkey, actor, session, required=sessions.factors.required
        )
    )
    return RedirectResponse("/account", 303)


def _passkeys(request: Request) -> Passkeys:
    return ports(request).sessions.passkeys


def _form_token(request: Request) -> str:
    """The token of the form before sign-in, which `begin_form` has read."""
    token: str = request.state.form
    return token


def _json(options: str) -> Response:
    return Response(options, media_type="application/json")
