"""Thirty tasks of a newcomer, or more: each is answered at most two clicks from the start page."""

from __future__ import annotations

import re
from functools import cache
from os.path import normpath
from pathlib import Path

import pytest

from replay.docs.pages import PAGES, with_parts

DOCS = Path(__file__).parents[3] / "docs"
START = "index.md"
LIST = "## Tasks and their pages"

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]+)?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


@cache
def text_of(page: str) -> str:
    """A page's text: kept, or generated; of games nothing is asked here."""
    kept = DOCS / page
    if kept.is_file():
        return with_parts(kept.read_text(encoding="utf-8"))
    return "" if page.startswith("games/") else PAGES[page]()


def links_of(page: str, text: str) -> list[tuple[str, str]]:
    """The pages that a page links to, each with its anchor."""
    return [
        (normpath(f"{page}/../{to}") if to else page, anchor.removeprefix("#"))
        for to, anchor in LINK.findall(text)
        if to.endswith(".md") or not to
    ]


def tasks() -> list[tuple[str, str]]:
    """Each task with the cell that names its pages."""
    _, _, rows = text_of(START).partition(LIST)
    cells = [line.strip("| ").split(" | ") for line in rows.splitlines() if line.startswith("| ")]
    return [(task, pages) for task, pages in cells[1:]]


def test_there_are_thirty() -> None:
    assert len(tasks()) >= 30
    assert len({task for task, _ in tasks()}) == len(tasks())


@pytest.fixture(scope="module")
def clicks() -> dict[str, int]:
    """How many clicks a page is away from the start page, its list of tasks left out.

    The tasks' pages are made here, so that no task pays for a page that others ask for too.
    """
    for page in {page for _, pages in tasks() for page, _ in links_of(START, pages)}:
        text_of(page)
    start, _, _ = text_of(START).partition(LIST)
    once = {page for page, _ in links_of(START, start)}
    twice = {to for page in once if page.endswith(".md") for to, _ in links_of(page, text_of(page))}
    return {**dict.fromkeys(twice, 2), **dict.fromkeys(once, 1), START: 0}


@pytest.mark.parametrize(("task", "pages"), tasks(), ids=lambda each: each[:40])
def test_a_task_is_answered_in_two_clicks(task: str, pages: str, clicks: dict[str, int]) -> None:
    found = links_of(START, pages)
    assert found, task
    for page, anchor in found:
        assert clicks.get(page, 9) <= 2, page
        headings = {slug(each) for each in HEADING.findall(text_of(page))}
        assert not anchor or anchor in headings, f"{page}#{anchor}"


def slug(heading: str) -> str:
    """The anchor of a heading, as the site makes it."""
    return re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


ROLES = ("investigator", "finance", "operations", "engineer", "recipient")


@pytest.mark.parametrize("role", ROLES)
def test_each_role_has_a_page_that_the_start_page_links(role: str, clicks: dict[str, int]) -> None:
    page = f"roles/{role}.md"
    assert clicks[page] == 1
    elsewhere = {to for to, _ in links_of(page, text_of(page))} - {page}
    assert len(elsewhere) >= 3
    for to, anchor in links_of(page, text_of(page)):
        assert not anchor or anchor in {slug(each) for each in HEADING.findall(text_of(to))}, anchor


def test_the_navigation_is_read_at_a_glance() -> None:
    """Pages of games, decisions, commands and additions are sub-pages of one list each."""
    _, _, nav = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")
    assert 30 <= nav.count(".md\n") <= 41  # the start page and forty
