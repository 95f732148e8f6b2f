"""The documentation in a browser: searched and read, with nothing from another host."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from replay.web import routes
from tests.accessible import faults, fits
from tests.contract.docs.test_thirty_tasks import START, links_of, tasks
from tests.fixtures.cli import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.fixtures.web import Site

FIRST = 5
"""How many results of a search a reader looks at."""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "site"
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
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
    assert faults(page) == []
    page.keyboard.press("/")
    page.keyboard.type("exit code 3")
    page.locator(".md-search-result__link", has_text="Exit codes").first.click()
    expect(page.get_by_role("heading", name="Exit codes")).to_be_visible()
    assert page.url.startswith(f"{site.url}/docs/errors.html")
    assert [url for url in asked if not url.startswith((site.url, "data:"))] == []
    assert wrong == []
    context.close()


def test_a_newcomers_words_find_the_page_that_answers_them(browser: Browser, built: Path) -> None:
    """Each of the thirty tasks, typed as it stands on the start page: among the first five.

    The site is opened from a disk, where a page starts no worker.
    """
    address = built.as_uri()
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}/index.html")
    page.keyboard.press("/")
    lost = {}
    for task, pages in tasks():
        shown = found(page, task.replace("`", ""))[:FIRST]
        answers = {to.replace(".md", ".html") for to, _ in links_of(START, pages)}
        if not answers & {each.removeprefix(f"{address}/") for each in shown}:
            lost[task] = shown
    context.close()
    assert lost == {}


def found(page: Page, words: str) -> list[str]:
    """The addresses of the pages that a search finds, in order."""
    asked, answer = page.locator(".md-search__input"), page.locator(".md-search-result__meta")
    for typed, says in (("", "Type to start"), (words, " matching ")):
        asked.fill(typed)
        asked.dispatch_event("keyup")
        expect(answer).to_contain_text(says)
    items = page.locator(".md-search-result__item")
    links = items.evaluate_all("all => all.map(item => item.querySelector('a').href)")
    return [link.partition("?")[0].partition("#")[0] for link in links]
