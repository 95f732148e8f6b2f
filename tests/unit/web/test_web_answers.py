"""The answers to a browser for a missing thing, and how its cookies are taken back."""

from __future__ import annotations

import asyncio
import json
import re
from types import SimpleNamespace
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from infra.access.users import User
from ledger.errors import Lacking, Unavailable
from replay.web import routes
from replay.web.access import authentication
from replay.web.page import HERE, STATIC, code_marked

if TYPE_CHECKING:
    from starlette.requests import Request


def got(app: Starlette, path: str = "/", *, raises: bool = True) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=raises)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.get(path)

    return asyncio.run(ask())


SAYS = "no route to db.example"


@pytest.mark.parametrize(("kind", "told"), [(Lacking, True), (Unavailable, False)])
def test_what_lacks_beside_the_record_is_told_and_what_a_database_says_is_not(
    kind: type[Unavailable], *, told: bool
) -> None:
    def fails(_: Request) -> Response:
        raise kind(SAYS, where="somewhere", hint="Install it.")

    app = Starlette(routes=[Route("/", fails)])
    app.add_exception_handler(Unavailable, routes._told)
    answer = got(app)
    assert answer.status_code == 503
    assert (SAYS in answer.text, "Install it." in answer.text) == (told, told)
    assert json.loads(answer.text)["hint"]


def test_a_page_that_fails_is_logged_with_its_cause_and_shows_none_of_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fails(_: Request) -> Response:
        raise ValueError(SAYS)

    app = Starlette(routes=[Route("/", fails)])
    app.add_exception_handler(Exception, routes._failed)
    with caplog.at_level("ERROR", "round_ledger"):
        answer = got(app, raises=False)
    assert (answer.status_code, SAYS in answer.text, "Traceback" in answer.text) == (
        500, False, False,
    )  # fmt: skip
    (logged,) = [each for each in caplog.records if each.name == "round_ledger"]
    assert logged.getMessage() == "a page failed"
    assert logged.exc_info
    assert str(logged.exc_info[1]) == SAYS


def test_who_is_refused_is_logged_with_the_page_and_the_reason_and_no_query(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def refuses(request: Request) -> Response:
        request.state.who = User("kim", "S-7", frozenset(("finance",)))
        raise HTTPException(int(request.query_params["status"]), "Your role may not open this.")

    app = Starlette(routes=[Route("/cases/{case}", refuses)])
    app.add_exception_handler(HTTPException, routes._refused)
    with caplog.at_level("WARNING", "round_ledger"):
        assert got(app, "/cases/D-1?status=403&patron=PT-1").status_code == 403
        assert got(app, "/cases/D-1?status=404&patron=PT-1").status_code == 404
    (logged,) = [each for each in caplog.records if each.name == "round_ledger"]
    assert logged.getMessage() == "a request was refused"
    assert vars(logged)["figures"] == {
        "user": "kim",
        "address": "127.0.0.1",
        "request": "GET /cases/D-1",
        "why": "Your role may not open this.",
    }


PASSWORD_FIELDS = ("password", "password_again", "new")


def test_a_password_is_typed_masked_and_may_be_pasted_or_filled_in() -> None:
    fields = {
        (path.name, tag)
        for path in (HERE / "templates").glob("*.html")
        for tag in re.findall(r"<input [^>]*>", path.read_text(encoding="utf-8"))
        if re.search(rf'name="(?:{"|".join(PASSWORD_FIELDS)})"', tag)
    }
    assert {name for name, _ in fields} >= {"sign_in.html", "account.html", "setup.html"}
    for name, tag in fields:
        assert 'type="password"' in tag, name
        assert re.search(r'autocomplete="(?:current|new)-password"', tag), name
    scripts = [path.read_text(encoding="utf-8") for path in STATIC.glob("*.js")]
    assert not [each for each in scripts if re.search(r"\bpaste\b", each)]


@pytest.mark.parametrize("secure", [True, False])
def test_a_cookie_is_taken_back_by_the_words_it_was_given_with(*, secure: bool) -> None:
    def given(request: Request) -> Response:
        response = Response()
        authentication.keep(request, response, authentication.SESSION, "a-token", 60)
        return response

    def taken(request: Request) -> Response:
        response = Response()
        authentication.let_out(request, response)
        return response

    app = Starlette(routes=[Route("/in", given), Route("/out", taken)])
    app.state.ports = SimpleNamespace(address=SimpleNamespace(secure=secure))
    kept, gone = (got(app, path).headers["Set-Cookie"] for path in ("/in", "/out"))
    words = [{part.strip() for part in each.split(";")[1:]} for each in (kept, gone)]
    marks = {"HttpOnly", "Path=/", "SameSite=lax", *(["Secure"] if secure else [])}
    assert marks <= words[0]
    assert marks <= words[1]
    assert kept.startswith("__Host-") == gone.startswith("__Host-") == secure
    assert "Max-Age=0" in words[1]


def test_what_a_message_marks_with_backticks_is_code_and_text_stays_text() -> None:
    shown = code_marked("`<b>` is not a round; see `round-ledger dlq list` & 5 `.")
    assert shown == (
        "<code>&lt;b&gt;</code> is not a round; see <code>round-ledger dlq list</code> &amp; 5 `."
    )
