"""What axe finds wrong with a page, by WCAG 2.2 AA, and whether a page fits its window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

# The only rule of axe that is of 2.2 and not of 2.1; it is off unless asked for.
OPTIONS = {"resultTypes": ["violations"], "rules": {"target-size": {"enabled": True}}}


def faults(page: Page) -> list[tuple[str, str]]:
    """What axe finds of any grade, best practice too: the rule, and the first place."""
    found = Axe().run(page, options=OPTIONS).response["violations"]
    return [(each["id"], each["nodes"][0]["html"][:200]) for each in found]


def fits(page: Page) -> bool:
    """Whether nothing has to be scrolled to from side to side."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
