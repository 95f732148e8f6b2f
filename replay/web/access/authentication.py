"""Authentication: the session behind a cookie, the roles of a page, the token in every form.

A page names its roles with `Depends(signed_in(...))`; nothing is shown or done without it. A
request that changes something needs the session's CSRF token and a role other than auditor.
"""

import hashlib
import hmac
import ipaddress
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from infra.access.sessions import SESSION_S_MAX, digest_of
from infra.access.tries import Try
from infra.access.users import Role, User
from infra.sender import SENDER
from replay.web.access import readings
from replay.web.ports import Ports, ports

SESSION, FORM = "round_ledger_session", "round_ledger_form"
"""Names of cookies: of a session, and of a form that is sent before sign-in."""

PENDING = "round_ledger_pending"
"""The cookie of a sign-in whose password was right and whose code is not given yet."""

SAFE = frozenset(("GET", "HEAD", "OPTIONS"))
CSRF_FIELD, CSRF_HEADER = "csrf", "X-CSRF-Token"

PASSWORD_AGAIN = "password_again"  # noqa: S105 - the name of a field
"""The field for the password, on the page that asks for it again."""

CODE_AGAIN = "code_again"
"""The field for the code of a second factor, on the same page."""

PASSKEY_AGAIN = "passkey_again"  # the same
"""The field for what a passkey signed, in the place of both."""

SECOND_PASSWORD, SECOND_CODE, SECOND_PASSKEY = "second_password", "second_code", "second_passkey"
"""Fields for what a second person signs with, on the page of the first."""

OWN_FIELDS = frozenset(
    (
        *(CSRF_FIELD, PASSWORD_AGAIN, CODE_AGAIN, PASSKEY_AGAIN),
        *(SECOND_PASSWORD, SECOND_CODE, SECOND_PASSKEY),
    )
)
"""Fields of forms that no page takes for its own."""

PASSKEY_REFUSED = "The passkey was refused. Try it again, or give the password."

FORBIDDEN_HINT = "Go back, reload the page and send the form again."


class NotSignedInError(Exception):
    """Nobody is signed in: a page redirects to sign-in, anything else answers 401."""


class PasswordNeededError(Exception):
    """The session is not fresh: the password is asked for before anything is done."""


class OpenedElsewhereError(Exception):
    """Another site's page made the browser ask for something that is recorded in a user's name."""


def signed_in(*roles: Role) -> Callable[[Request], Awaitable[User]]:
    """A dependency: the signed-in user with one of `roles` (none named: any role).

    A request that changes something needs such a role other than auditor, and the session's token
    in its form.
    """

    async def dependency(request: Request) -> User:
        user = await visitor(request)
        if user is None:
            raise NotSignedInError
        if roles and not user.has(*roles):
            raise HTTPException(403, "Your role may not open this page.")
        if request.method not in SAFE:
            if not (user.roles & (set(roles) or user.roles)) - {"auditor"}:
                raise HTTPException(403, "An auditor reads everything and changes nothing.")
            await check_csrf(request)
            await _refuse_nul(request)
        else:
            await run_in_threadpool(readings.note, request, user, address(request))
        return user

    return dependency


def signed_in_lately(*roles: Role) -> Callable[[Request], Awaitable[User]]:
    """As `signed_in`, for who has shown password or passkey within the last 15 minutes.

    For exports, releases and approvals. Raises `PasswordNeededError`.
    """
    who_is = signed_in(*roles)

    async def dependency(request: Request) -> User:
        user = await who_is(request)
        await require_fresh(request, user)
        return user

    return dependency


async def require_fresh(request: Request, user: User) -> None:
    """Raise `PasswordNeededError` unless the password was shown lately, or is in the form.

    So is a passkey.
    """
    sessions = ports(request).sessions
    if await run_in_threadpool(sessions.is_fresh, session_token(request)):
        return
    if request.method in SAFE:
        raise PasswordNeededError
    form = await request.form()
    if not (form.get(PASSWORD_AGAIN) or form.get(PASSKEY_AGAIN)):
        raise PasswordNeededError
    tried = await prove(request, user)
    if not tried.fits:
        raise PasswordNeededError(await refusal(request, user, tried))


async def prove(request: Request, user: User) -> Try:
    """Try what a form gives once more: a passkey, or the password with a code if there is one."""
    form, sessions = await request.form(), ports(request).sessions
    given = (session_token(request), user.name)
    if passkey := form.get(PASSKEY_AGAIN):
        return await run_in_threadpool(
            sessions.prove_by_passkey, *given, str(passkey), address(request)
        )
    password, code = (str(form.get(field, "")) for field in (PASSWORD_AGAIN, CODE_AGAIN))
    return await run_in_threadpool(sessions.prove, *given, password, code, address(request))


async def refusal(request: Request, user: User, tried: Try) -> str:
    """What a page says when `prove` did not fit."""
    if tried.wait_s:
        return too_many_tries(tried.wait_s)
    if (await request.form()).get(PASSKEY_AGAIN):
        return PASSKEY_REFUSED
    if await run_in_threadpool(ports(request).sessions.factors.is_on, user.name):
        return "The password or the code is wrong, or the code was used already."
    return "The password is wrong."


def too_many_tries(wait_s: int) -> str:
    """What a page says after a lockout."""
    return f"Too many tries. Try again in {wait_s // 60} minutes."


def session_digest(request: Request) -> str:
    """The digest of the session of a request."""
    return digest_of(session_token(request))


def session_token(request: Request) -> str:
    """The token of the session of a request; empty without one."""
    return request.cookies.get(cookie(request, SESSION), "")


async def visitor(request: Request) -> User | None:
    """The signed-in user, if any; also remembered for `page.page`."""
    token = session_token(request)
    if not token:
        return None
    user = await run_in_threadpool(ports(request).sessions.user_of, token)
    if user is not None:
        request.state.who = user
        SENDER.set(f"user:{user.name}")
        request.state.csrf = csrf_of(token)
    return user


def who(request: Request) -> User | None:
    """The user of a request; None on pages before sign-in."""
    found: User | None = getattr(request.state, "who", None)
    return found


def csrf(request: Request) -> str:
    """The token for this page's forms."""
    token: str = getattr(request.state, "csrf", "")
    return token


def csrf_of(token: str) -> str:
    """The token for forms, derived from the cookie's token."""
    digest = hmac.digest(token.encode(), b"csrf", hashlib.sha256)
    return urlsafe_b64encode(digest).decode().rstrip("=")


async def check_csrf(request: Request) -> None:
    """Raise 403 unless this server made the form for the holder of the cookie."""
    refuse_other_sites(request)
    given = request.headers.get(CSRF_HEADER) or (await request.form()).get(CSRF_FIELD)
    if not isinstance(given, str) or not hmac.compare_digest(
        given.encode(), csrf(request).encode() or secrets.token_bytes()
    ):
        raise HTTPException(403, f"This form has expired. {FORBIDDEN_HINT}")


async def _refuse_nul(request: Request) -> None:
    """Raise 400 for a NUL character: no recorded text has one, and PostgreSQL refuses it."""
    pairs = (await request.form()).multi_items()
    if any("\0" in text for pair in pairs for text in pair if isinstance(text, str)):
        raise HTTPException(
            400, "The form contains a NUL character, which cannot be recorded. Remove it."
        )


def refuse_other_sites(request: Request) -> None:
    """Raise 403 if the browser reports that another site sent the request."""
    if from_elsewhere(request):
        raise HTTPException(403, f"Another site sent this form. {FORBIDDEN_HINT}")


def require_own_will(request: Request) -> None:
    """Raise `OpenedElsewhereError` before a GET is recorded as the act of its user.

    Another site can open an address, and the browser sends the user's cookie with it.
    """
    if from_elsewhere(request):
        raise OpenedElsewhereError


def from_elsewhere(request: Request) -> bool:
    """Whether the browser reports that another site sent the request."""
    site = request.headers.get("Sec-Fetch-Site", "same-origin")
    origin = request.headers.get("Origin")
    host = request.headers.get("Host", "")
    return site not in ("same-origin", "none") or bool(origin and urlsplit(origin).netloc != host)


def form_token(request: Request, response: Response) -> None:
    """Set the cookie from which the form token of a browser without a session is made."""
    token = getattr(request.state, "form", None)
    if token is not None:
        keep(request, response, FORM, token, SESSION_S_MAX)


def begin_form(request: Request) -> None:
    """Prepare a form token for a page before sign-in; it stays the same over several tries."""
    token = request.cookies.get(cookie(request, FORM)) or secrets.token_urlsafe(32)
    request.state.form = token
    request.state.csrf = csrf_of(token)


def set_session_cookie(request: Request, response: Response, token: str) -> None:
    """Give the browser its session, always a new one."""
    keep(request, response, SESSION, token, SESSION_S_MAX)
    drop(request, response, FORM)


def let_out(request: Request, response: Response) -> None:
    """Delete the session cookie."""
    drop(request, response, SESSION)
    response.headers["Clear-Site-Data"] = '"cache"'


def cookie(request: Request, name: str) -> str:
    """A cookie's name; over TLS with the `__Host-` prefix, which only this host can set."""
    return f"__Host-{name}" if _served(request).address.secure else name


def address(request: Request) -> str:
    """The browser's address: the connection's, or the one that a trusted proxy reports.

    `unknown` if a proxy reports something that is not an address.
    """
    peer = request.client.host if request.client else ""
    try:
        return str(ipaddress.ip_address(peer))
    except ValueError:
        return "unknown"


def keep(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    """Set a cookie that scripts and other sites cannot use."""
    response.set_cookie(
        cookie(request, name),
        value,
        max_age=seconds,
        path="/",
        secure=_served(request).address.secure,
        httponly=True,
        samesite="lax",
    )


def drop(request: Request, response: Response, name: str) -> None:
    """Delete a cookie. One with the prefix needs the same attributes as when it was set."""
    response.delete_cookie(
        cookie(request, name),
        path="/",
        secure=_served(request).address.secure,
        httponly=True,
        samesite="lax",
    )


def _served(request: Request) -> Ports:
    return ports(request)
