"""The documentation under /docs/: the built site's files, and no script but its own."""

from __future__ import annotations

import asyncio
import base64
import hashlib
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from replay.web.documentation import Documentation

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = 'document.title = "read"'


def answer_of(site: Path, path: str) -> httpx.Response:
    app = Starlette(routes=[Mount("/docs", Documentation(site))])

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            return await client.get(f"http://localhost{path}")

    return asyncio.run(ask())


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(f"<p>Start</p><script>{SCRIPT}</script>")
    (folder / "assets" / "style.css").write_text("p {}")
    (tmp_path / "secret").write_text("not of the site")
    return folder


@pytest.mark.parametrize("path", ["/docs/", "/docs/index.html"])
def test_a_page_may_run_its_own_script_and_no_other(site: Path, path: str) -> None:
    answer = answer_of(site, path)
    assert (answer.status_code, "Start" in answer.text) == (200, True)
    own = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = answer.headers["Content-Security-Policy"]
    assert f"script-src 'self' 'sha256-{own}';" in policy
    assert "unsafe" not in policy


def test_other_files_are_answered_as_they_are(site: Path) -> None:
    answer = answer_of(site, "/docs/assets/style.css")
    assert (answer.text, answer.headers["Cache-Control"]) == ("p {}", "no-cache")


@pytest.mark.parametrize("path", ["/docs/nothing.html", "/docs/assets", "/docs/..%2Fsecret"])
def test_what_the_site_has_not_is_not_there(site: Path, path: str) -> None:
    assert answer_of(site, path).status_code == 404


def test_without_a_site_it_says_how_to_build_one(tmp_path: Path) -> None:
    answer = answer_of(tmp_path / "none", "/docs/")
    assert (answer.status_code, "make site" in answer.text) == (404, True)
