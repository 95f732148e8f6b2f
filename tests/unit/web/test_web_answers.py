"""The answers to a browser for a missing thing, and how its cookies are taken back."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from ledger.errors import Lacking, Unavailable
from replay.web import routes
from replay.web.access import authentication
from replay.web.page import code_marked

if TYPE_CHECKING:
    from starlette.requests import Request


def got(app: Starlette, path: str = "/") -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app)
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
