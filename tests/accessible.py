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
    """Whether nothing has to be scrolled to from side to side, and no box of a table has shrunk."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth")) and not (
        page.evaluate(SHRUNK)
    )


SHRUNK = """[...document.querySelectorAll(".tablebox")].some(
  each => each.checkVisibility() && each.clientWidth < Math.min(150, each.scrollWidth))"""


TARGET_MIN = 44
"""The least height of what a finger presses, in pixels."""

SMALL = """least => [...document.querySelectorAll(
  "button, .button, .choice, select, textarea, summary, header a, input:not([type=hidden])")]
  .map(each => each.matches("[type=checkbox], [type=radio]") ? each.closest("label") ?? each : each)
  .filter(each => each.checkVisibility({ visibilityProperty: true }))
  .map(each => [each.getBoundingClientRect().height, each.outerHTML.slice(0, 90)])
  .filter(([high]) => high > 1 && high < least)"""


def small_targets(page: Page) -> list[tuple[float, str]]:
    """Buttons, fields and the header's links that are too low for a finger: height, and which."""
    return [(high, which) for high, which in page.evaluate(SMALL, TARGET_MIN)]


def phone_faults(page: Page) -> list[tuple[object, ...]]:
    """What is wrong with the page on a phone: cut off, or too small for a finger."""
    size = page.viewport_size
    page.set_viewport_size({"width": 390, "height": 844})
    cut = [] if fits(page) else [("does not fit",)]
    found = [*faults(page), *cut, *small_targets(page)]
    if size:
        page.set_viewport_size(size)
    return found
