"""The documentation in a browser: searched and read, with nothing from another host."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from replay.web import routes
from tests.accessible import fits, serious
from tests.fixtures.cli import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.fixtures.web import Site

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "site"
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)},
        check=True,
        timeout=300,
    )
    return folder


@pytest.mark.parametrize("width", [1280, 390])
def test_the_site_is_searched_and_read_without_a_word_to_another_host(
    browser: Browser, built: Path, request: pytest.FixtureRequest, width: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routes, "SITE", built)
        site: Site = request.getfixturevalue("site")
    context = browser.new_context(viewport={"width": width, "height": 800})
    page = context.new_page()
    wrong: list[str] = []
    asked: set[str] = set()
    page.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: asked.add(request.url))
    page.goto(f"{site.url}/docs/")
    expect(page.get_by_role("heading", name="Round Ledger", level=1)).to_be_visible()
    assert fits(page)
    assert serious(page) == []
    page.keyboard.press("/")
    page.keyboard.type("exit code 3")
    page.locator(".md-search-result__link", has_text="Exit codes").first.click()
    expect(page.get_by_role("heading", name="Exit codes")).to_be_visible()
    assert page.url.startswith(f"{site.url}/docs/errors.html")
    assert [url for url in asked if not url.startswith((site.url, "data:"))] == []
    assert wrong == []
    context.close()
