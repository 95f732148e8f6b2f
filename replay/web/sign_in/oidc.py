"""Sign-in at an identity provider: OpenID Connect's code flow with PKCE, state and nonce.

The provider identifies a person. Their roles are those of the user here with the same subject.
Signing in creates no user. Needs the extra `oidc`.
"""

import hashlib
import hmac
import secrets
import threading
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urlsplit

import anyio
import httpx
from fastapi import APIRouter, Request, Response
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse

from ledger.errors import Lacking
from replay.shell.logs import LOG
from replay.web.access import authentication
from replay.web.ports import ports
from replay.web.sign_in.pages import here, welcome

ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA", "Ed25519")
"""The accepted signature algorithms: public-key ones, so that only the provider can sign."""

CALLBACK = "/oidc/callback"
PENDING = "round_ledger_oidc"
"""The cookie that ties the provider's callback to the browser that started it."""

PENDING_S = 600
PENDING_MAX = 1_000
ANSWER_S_MAX = 10.0
KNOWN_S = 3600.0
"""Seconds for which the provider's metadata and keys are cached."""

SKEW_S = 60

router = APIRouter(include_in_schema=False)


class Client(NamedTuple):
    """This server's registration at the identity provider."""

    issuer: str
    client_id: str
    secret: str | None
    claim: str  # the claim that holds a user's subject
    name: str  # the provider's name on the button


class NotBelievedError(Exception):
    """The provider's answer is not trustworthy; its text is the cause, for the log."""


class _Going(NamedTuple):
    """A sign-in in progress at the provider."""

    nonce: str
    verifier: str
    then: str
    until: float


class Provider:
    """One identity provider. Several threads may use it."""

    def __init__(self, client: Client, redirect: str) -> None:
        self.client = client
        self._redirect = redirect
        self._lock = threading.Lock()
        self._going: dict[str, _Going] = {}
        self._known: tuple[float, Mapping[str, Any]] | None = None
        self._keys: tuple[float, KeySet] | None = None

    def start_login(self, then: str) -> tuple[str, str]:
        """The address to redirect to, and the state that the callback must have."""
        going = _Going(
            secrets.token_urlsafe(32), secrets.token_urlsafe(48), then, time.monotonic() + PENDING_S
        )
        state = secrets.token_urlsafe(32)
        with self._lock:
            now = time.monotonic()
            self._going = {key: each for key, each in self._going.items() if each.until > now}
            if len(self._going) >= PENDING_MAX:
                self._going.pop(next(iter(self._going)))
            self._going[state] = going
        challenge = urlsafe_b64encode(hashlib.sha256(going.verifier.encode()).digest())
        asked = {
            "response_type": "code",
            "client_id": self.client.client_id,
            "redirect_uri": self._redirect,
            "scope": "openid profile email",
            "state": state,
            "nonce": going.nonce,
            "code_challenge": challenge.decode().rstrip("="),
            "code_challenge_method": "S256",
        }
        return f"{self._of_itself()['authorization_endpoint']}?{urlencode(asked)}", state

    def login_callback(self, state: str, code: str) -> tuple[str, str]:
        """The subject that the provider identified, and the page they wanted.

        Raises `NotBelievedError`. A state can be used once.
        """
        with self._lock:
            going = self._going.pop(state, None)
        if going is None or going.until < time.monotonic():
            raise NotBelievedError("the state is unknown or has expired")
        claims = self._claims(self._token(code, going.verifier), going.nonce)
        subject = claims.get(self.client.claim)
        if not isinstance(subject, str) or not subject:
            raise NotBelievedError(f"there is no claim {self.client.claim}")
        if self.client.claim == "email" and claims.get("email_verified") is not True:
            raise NotBelievedError("the e-mail address is not verified")
        return subject, going.then

    def _token(self, code: str, verifier: str) -> str:
        """The ID token for an authorization code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._redirect,
            "client_id": self.client.client_id,
            "code_verifier": verifier,
        }
        headers = {}
        if self.client.secret is not None:  # RFC 6749 section 2.3.1
            pair = f"{quote(self.client.client_id, safe='')}:{quote(self.client.secret, safe='')}"
            headers["Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        answer = self._asked("POST", self._of_itself()["token_endpoint"], form, headers)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise NotBelievedError("there is no ID token in the answer")
        return token

    def _claims(self, token: str, nonce: str) -> Mapping[str, Any]:
        """The claims of a token, checked: signed by the provider, for this server and sign-in."""
        try:
            claims = self._decoded(token).claims
            jwt.JWTClaimsRegistry(
                leeway=SKEW_S,
                iss={"essential": True, "value": self.client.issuer},
                aud={"essential": True, "value": self.client.client_id},
                exp={"essential": True},
                iat={"essential": True},
                sub={"essential": True},
            ).validate(claims)
        except (JoseError, ValueError) as error:
            raise NotBelievedError(f"the ID token is not valid: {error}") from error
        audience = claims["aud"]
        several = isinstance(audience, list) and len(audience) > 1
        if several and claims.get("azp") != self.client.client_id:
            raise NotBelievedError("the ID token is for another party")
        given = claims.get("nonce")
        if not isinstance(given, str) or not hmac.compare_digest(given.encode(), nonce.encode()):
            raise NotBelievedError("the nonce is not that of this sign-in")
        return claims

    def _decoded(self, token: str) -> jwt.Token:
        """The token, its signature checked; the keys are fetched again if none matches."""
        if self._keys is not None and self._keys[0] > time.monotonic():
            try:
                return jwt.decode(token, self._keys[1], algorithms=ALGORITHMS)
            except (JoseError, ValueError):
                LOG.info("the identity provider's keys are fetched again")
        given: Any = self._asked("GET", self._of_itself()["jwks_uri"])
        keys = KeySet.import_key_set(given)
        self._keys = (time.monotonic() + KNOWN_S, keys)
        return jwt.decode(token, keys, algorithms=ALGORITHMS)

    def _of_itself(self) -> Mapping[str, Any]:
        """The provider's metadata, whose issuer must be the configured one."""
        if self._known is not None and self._known[0] > time.monotonic():
            return self._known[1]
        issuer = self.client.issuer
        told = self._asked("GET", f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        if told.get("issuer") != issuer:
            raise NotBelievedError(f"the provider names another issuer, {told.get('issuer')!r}")
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            if not isinstance(told.get(name), str) or not is_safe(told[name]):
                raise NotBelievedError(f"the provider's {name} is not a safe https:// address")
        self._known = (time.monotonic() + KNOWN_S, told)
        return told

    def _asked(
        self,
        method: str,
        url: str,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Mapping[str, Any]:
        """The JSON object that the provider answers. Raises `Lacking`, `NotBelievedError`."""
        try:
            answer = anyio.run(_answer, method, url, form, headers or {})
            told = answer.json() if answer.status_code == httpx.codes.OK else None
        except (httpx.HTTPError, TimeoutError) as error:
            raise Lacking(
                f"The identity provider does not answer: {type(error).__name__}",
                where=self.client.issuer,
                hint="Sign in with a password, or try again.",
            ) from error
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise NotBelievedError(f"{urlsplit(url).path} answered {answer.status_code}")
        return told


async def _answer(
    method: str, url: str, form: Mapping[str, str] | None, headers: Mapping[str, str]
) -> httpx.Response:
    """A whole answer. One limit by the wall clock holds, since it may come byte by byte.

    Raises `httpx.HTTPError`, `TimeoutError`.
    """
    with anyio.fail_after(ANSWER_S_MAX):
        async with httpx.AsyncClient(timeout=None) as client:  # noqa: S113 - one for all of it
            every = {"Accept": "application/json", **headers}
            return await client.request(method, url, data=form, headers=every)


def is_safe(url: str) -> bool:
    """Whether nobody else can read what is sent to this address: HTTPS or this machine."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (
        parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    )


@router.get("/oidc")
async def start_login(request: Request, next: str = "/") -> Response:  # noqa: A002 - as in the address
    """Redirect to the identity provider; from another site to the page with the button for it."""
    if authentication.from_elsewhere(request):
        return RedirectResponse(f"/sign-in?{urlencode({'next': here(next)})}", 303)
    provider = _provider(request)
    try:
        url, state = await run_in_threadpool(provider.start_login, here(next))
    except NotBelievedError as error:
        raise _not_let_in(str(error)) from error
    response = RedirectResponse(url, 303)
    authentication.keep(request, response, PENDING, state, PENDING_S)
    return response


@router.get(CALLBACK)
async def login_callback(request: Request, state: str = "", code: str = "") -> Response:
    """The provider's callback: sign in a user who is known here."""
    provider, access = _provider(request), ports(request).sessions
    address = authentication.address(request)
    brought = request.cookies.get(authentication.cookie(request, PENDING), "")
    if not (state and code and hmac.compare_digest(brought.encode(), state.encode())):
        raise _not_let_in("another browser started it, or the provider refused")
    try:
        subject, then = await run_in_threadpool(provider.login_callback, state, code)
    except NotBelievedError as error:
        await run_in_threadpool(access.refused, "", address, str(error)[:200])
        raise _not_let_in(str(error)) from error
    name = await run_in_threadpool(access.of_subject, subject)
    if name is None:
        await run_in_threadpool(access.refused, subject, address, "no user has this subject")
        raise HTTPException(
            403, "No user here is linked to your account. Ask an administrator to add you."
        )
    token = await run_in_threadpool(access.begin, name, address, "identity provider")
    response = await welcome(request, token, then)
    authentication.drop(request, response, PENDING)
    return response


def _provider(request: Request) -> Provider:
    made: Provider = request.app.state.oidc
    return made


def _not_let_in(why: str) -> HTTPException:
    """The refusal; the cause is only in the log."""
    LOG.warning("the identity provider's answer is not valid", extra={"figures": {"why": why}})
    return HTTPException(403, "The identity provider's answer is not valid. Sign in again.")
