"""Signing in at an identity provider: a small real one, and every answer not to be believed."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from infra.access.users import User
from ledger.errors import Lacking, Unavailable
from replay.web.sign_in import oidc
from replay.web.sign_in.oidc import Client, NotBelievedError, Provider, is_safe
from tests.fixtures.web import ACTOR, opened_site
from tests.processes.dripping import dripping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from infra.postgres.connection import Database
    from tests.fixtures.web import Browser, Site

CLIENT_ID, SECRET = "round-ledger", "a client's secret"


@dataclass
class Issuer:
    """An identity provider that signs in every user, and can be set to misbehave."""

    key: ECKey | RSAKey = field(default_factory=lambda: ECKey.generate_key("P-256", {"kid": "1"}))
    subject: str = "maria@idp"
    url: str = ""
    changed: dict[str, Any] = field(default_factory=dict)  # claims said otherwise; None: not said
    sign: Callable[[dict[str, Any]], str] | None = None
    asked: dict[str, dict[str, str]] = field(default_factory=dict)  # by code
    keys_asked: int = 0
    tell: dict[str, Any] = field(default_factory=dict)

    def about(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            **self.tell,
        }

    def code(self, asked: dict[str, str]) -> str:
        code = f"code-{len(self.asked)}"
        self.asked[code] = asked
        return code

    def token(self, form: dict[str, str], authorization: str) -> dict[str, Any] | None:
        """The claims of a code; None if it was given to another client."""
        asked = self.asked.pop(form["code"], None)
        if asked is None:
            return None
        challenge = encoded(hashlib.sha256(form["code_verifier"].encode()).digest())
        basic = base64.b64encode(f"{CLIENT_ID}:a%20client%27s%20secret".encode()).decode()
        if (
            challenge != asked["code_challenge"]
            or asked["code_challenge_method"] != "S256"
            or form["redirect_uri"] != asked["redirect_uri"]
            or authorization != f"Basic {basic}"
        ):
            return None
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT_ID,
            "sub": self.subject,
            "iat": now,
            "exp": now + 300,
            "nonce": asked["nonce"],
        } | self.changed
        claims = {name: value for name, value in claims.items() if value is not None}
        sign = self.sign or (lambda said: jwt.encode(self._header(), said, self.key))
        return {"access_token": "x", "token_type": "Bearer", "id_token": sign(claims)}

    def _header(self) -> dict[str, str]:
        return {"alg": "RS256" if isinstance(self.key, RSAKey) else "ES256", "kid": self.key.kid}


@contextmanager
def running(issuer: Issuer) -> Iterator[Issuer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/.well-known/openid-configuration":
                self.answer(issuer.about())
            elif parts.path == "/keys":
                issuer.keys_asked += 1
                self.answer({"keys": [issuer.key.as_dict(private=False)]})
            elif parts.path == "/authorize":
                asked = {name: each[0] for name, each in parse_qs(parts.query).items()}
                back = urlencode({"code": issuer.code(asked), "state": asked["state"]})
                self.send_response(303)
                self.send_header("Location", f"{asked['redirect_uri']}?{back}")
                self.end_headers()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: each[0] for name, each in parse_qs(body).items()}
            self.answer(issuer.token(form, self.headers.get("Authorization", "")))

        def answer(self, told: dict[str, Any] | None) -> None:
            octets = json.dumps(told or {"error": "invalid_grant"}).encode()
            self.send_response(200 if told else 400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(octets)))
            self.end_headers()
            self.wfile.write(octets)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as the base
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield issuer
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with running(Issuer()) as made:
        yield made


@pytest.fixture
def here(database: Database, tmp_path: Path, issuer: Issuer) -> Iterator[Site]:
    """Pages whose users sign in at the issuer; maria is one."""
    client = Client(issuer.url, CLIENT_ID, SECRET, "sub", "the office")
    with opened_site(database, tmp_path, client=client) as site:
        maria = User("maria", "S-2001", frozenset(("surveillance",)))
        site.ports.users.add(maria, password=None, subject="maria@idp", actor=ACTOR)
        yield site


def there(site: Site, then: str = "/") -> tuple[Browser, str]:
    """A browser that went to the provider, and where that sent it back to."""
    browser = site.browser()
    away = browser.get("/oidc", params={"next": then})
    assert away.status_code == 303, away.text
    back = httpx.get(away.headers["Location"]).headers["Location"]
    assert back.startswith(site.url)
    return browser, back.removeprefix(site.url)


def signed_in(browser: Browser) -> bool:
    return browser.get("/").status_code == 200


def test_who_the_provider_knows_and_we_know_is_signed_in_with_our_roles(here: Site) -> None:
    browser, back = there(here, "/?table=CC-07")
    answer = browser.get(back)
    assert answer.status_code == 303
    assert answer.headers["Location"] == "/?table=CC-07"
    assert signed_in(browser)
    assert browser.get("/drop").status_code == 403
    assert "the office" in here.browser().get("/sign-in").text
    newest = here.ports.access.events(1)[0]
    assert (newest.what, newest.name, newest.detail) == ("signed_in", "maria", "identity provider")


def test_another_site_cannot_begin_a_sign_in(here: Site) -> None:
    """It leads to the page where the user presses the button."""
    browser = here.browser()
    query = {"next": "/cases?state=open"}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        answer = browser.get("/oidc", params=query, headers=headers)
        assert answer.status_code == 303
        assert answer.headers["Location"] == "/sign-in?next=%2Fcases%3Fstate%3Dopen"
        assert not browser.cookies
    for own in ("none", "same-origin"):
        answer = browser.get("/oidc", params=query, headers={"Sec-Fetch-Site": own})
        assert "/authorize?" in answer.headers["Location"]


@pytest.mark.long
def test_next_leads_nowhere_else_after_the_provider_either(here: Site) -> None:
    browser, back = there(here, "https://elsewhere.example/")
    assert browser.get(back).headers["Location"] == "/review"


@pytest.mark.long
def test_without_a_password_nobody_signs_in_as_her_here(here: Site) -> None:
    for word in ("", "None", "null"):
        assert here.browser().sign_in("maria", word).status_code == 401


def test_who_is_not_known_here_or_disabled_is_not_let_in(here: Site, issuer: Issuer) -> None:
    issuer.subject = "eve@idp"
    browser, back = there(here)
    assert browser.get(back).status_code == 403
    assert not signed_in(browser)
    newest = here.ports.access.events(1)[0]
    assert (newest.what, newest.name) == ("sign_in_failed", "eve@idp")
    issuer.subject = "maria@idp"
    here.ports.users.disable("maria", ACTOR)
    browser, back = there(here)
    assert browser.get(back).status_code == 403


def test_what_comes_back_serves_once_and_only_the_browser_that_went(here: Site) -> None:
    browser, back = there(here)
    other = here.browser()
    assert other.get(back).status_code == 403
    assert not signed_in(other)
    assert browser.get(back).status_code == 303
    again = here.browser()
    again.cookies.update(browser.cookies)
    assert browser.get(back).status_code == 403
    for wrong in ("/oidc/callback", "/oidc/callback?code=x&state=", "/oidc/callback?state=x"):
        assert here.browser().get(wrong).status_code == 403


HOUR_S = 3_600
NOT_BELIEVED: dict[str, dict[str, Any]] = {
    "another nonce": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "another audience": {"aud": "another"},
    "another audience too, and no party": {"aud": [CLIENT_ID, "another"]},
    "another party": {"aud": [CLIENT_ID, "another"], "azp": "another"},
    "no audience": {"aud": None},
    "another issuer": {"iss": "https://elsewhere.example"},
    "no issuer": {"iss": None},
    "expired": {"exp": -HOUR_S},
    "for ever": {"exp": None},
    "not yet": {"nbf": HOUR_S},
    "no subject": {"sub": None},
    "a subject that is no text": {"sub": 7},
}


@pytest.mark.long
def test_a_token_that_is_not_for_this_sign_in_is_not_believed(here: Site, issuer: Issuer) -> None:
    for why, changed in NOT_BELIEVED.items():
        now = int(time.time())
        issuer.changed = {
            name: now + said if name in ("exp", "nbf") and said else said
            for name, said in changed.items()
        }
        browser, back = there(here)
        assert browser.get(back).status_code == 403, why
        assert not signed_in(browser), why
    issuer.changed = {"aud": [CLIENT_ID, "another"], "azp": CLIENT_ID}
    browser, back = there(here)
    assert browser.get(back).status_code == 303, "the control: what is changed is what matters"


def encoded(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")


def made_by_hand(algorithm: str, claims: dict[str, Any], key: bytes) -> str:
    """A token as no library would make it: unsigned, or with a public key taken for a secret."""
    head = encoded(json.dumps({"alg": algorithm, "typ": "JWT", "kid": "1"}).encode())
    text = f"{head}.{encoded(json.dumps(claims).encode())}"
    signature = b"" if algorithm == "none" else hmac.digest(key, text.encode(), "sha256")
    return f"{text}.{encoded(signature)}"


@pytest.mark.long
def test_a_token_that_the_provider_did_not_sign_is_not_believed(here: Site, issuer: Issuer) -> None:
    stranger = ECKey.generate_key("P-256", {"kid": "1"})
    public = issuer.key.as_pem(private=False)
    forged: tuple[Callable[[dict[str, Any]], str], ...] = (
        lambda said: jwt.encode({"alg": "ES256", "kid": "1"}, said, stranger),
        lambda said: made_by_hand("HS256", said, public),
        lambda said: made_by_hand("none", said, b""),
        lambda _: "not a token",
    )
    for sign in forged:
        issuer.sign = sign
        browser, back = there(here)
        assert browser.get(back).status_code == 403
        assert not signed_in(browser)


@pytest.mark.long
def test_a_new_key_of_the_provider_is_asked_for(here: Site, issuer: Issuer) -> None:
    browser, back = there(here)
    assert browser.get(back).status_code == 303
    assert issuer.keys_asked == 1
    issuer.key = RSAKey.generate_key(2048, {"kid": "2"})
    browser, back = there(here)
    assert browser.get(back).status_code == 303
    assert issuer.keys_asked == 2


@pytest.mark.parametrize(
    "tell",
    [
        {"issuer": "https://elsewhere.example"},
        {"token_endpoint": "http://elsewhere.example/token"},
        {"jwks_uri": None},
        {"authorization_endpoint": "javascript:alert(1)"},
    ],
)
def test_a_provider_that_is_not_the_one_named_is_not_asked(
    issuer: Issuer, tell: dict[str, Any]
) -> None:
    issuer.tell = tell
    provider = Provider(Client(issuer.url, CLIENT_ID, SECRET, "sub", "x"), "http://127.0.0.1/x")
    with pytest.raises(NotBelievedError):
        provider.start_login("/")


@pytest.mark.long
def test_an_address_counts_only_where_the_provider_has_verified_it(issuer: Issuer) -> None:
    provider = Provider(Client(issuer.url, CLIENT_ID, SECRET, "email", "x"), "http://127.0.0.1/x")

    def arrived() -> str:
        url, state = provider.start_login("/")
        back = httpx.get(url).headers["Location"]
        return provider.login_callback(state, parse_qs(urlsplit(back).query)["code"][0])[0]

    issuer.changed = {"email": "maria@example", "email_verified": True}
    assert arrived() == "maria@example"
    for verified in (False, None, "true"):
        issuer.changed = {"email": "maria@example", "email_verified": verified}
        with pytest.raises(NotBelievedError):
            arrived()


def test_a_provider_that_does_not_answer_is_said_to_be_away() -> None:
    provider = Provider(Client("http://127.0.0.1:9", CLIENT_ID, None, "sub", "x"), "http://x/")
    with pytest.raises(Unavailable):
        provider.start_login("/")


def test_a_provider_that_never_ends_its_answer_is_said_to_be_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else each try to sign in would hold a thread of the server."""
    monkeypatch.setattr(oidc, "ANSWER_S_MAX", 0.2)
    with dripping(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 50_000) as url:
        away = Provider(Client(url, CLIENT_ID, SECRET, "sub", "the office"), "http://127.0.0.1/")
        with pytest.raises(Lacking, match="does not answer: TimeoutError"):
            away.start_login("/")


def test_secrets_go_over_tls_or_stay_on_this_machine() -> None:
    assert is_safe("https://idp.example/x")
    assert is_safe("http://127.0.0.1:8080/x")
    assert not is_safe("http://idp.example/x")
    assert not is_safe("http://127.0.0.1.example/x")
    assert not is_safe("file:///etc/passwd")
