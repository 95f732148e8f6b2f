"""Every page in Chromium, for each role: axe finds nothing, and the keyboard is near the main act.

Axe judges by WCAG 2.2 AA and best practice, at every grade: dark and light, on a workstation and
on a phone, with every dialog and every section open. Pages of one case are held with its own test.
Meanwhile the network outside is blocked, and no page asks for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pytest

from infra.access.users import ROLES
from replay.recording.plain_papers import FORMS
from replay.web.routes import ROUTERS
from tests.accessible import faults, fits, small_targets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from playwright.sync_api import Browser, Page, Route

    from tests.fixtures.screen import Screened

SIZES = ({"width": 1280, "height": 900}, {"width": 390, "height": 844})
TABS_MAX = 12
PHONE_MAX = 760  # pixels
READY = ("/review?", "/import", "/rounds/", "/watch/")
"""Pages whose scripts say when they have done."""


class Visited(NamedTuple):
    """A page: its path, `{round}` and `{watch}` filled in; main: what one comes there for.

    The main act `main` is that of a page on which there is nothing to press.
    """

    path: str
    main: str
    also: str = "main"  # a second act


def forms(role: str) -> Sequence[Visited]:
    """The entry forms of a role."""
    return [
        Visited(f"/entry/forms/{form.fact}", "main form :is(input, select)")
        for form in FORMS
        if form.role == role
    ]


ACCOUNT = Visited("/account", "main :is(input, button)")
FIND = Visited("/find", "#ask")
SLIP = "main form :is(input, select)"
PAGES: dict[str, Sequence[Visited]] = {
    "surveillance": (
        Visited("/review?state=open", ".item"),
        Visited("/review?state=closed", "main a"),
        Visited("/review/samples", "main form :is(input, select)"),
        FIND,
        Visited("/find?finding=overpaid", "#ask"),
        Visited("/find?ask=dealer+1022+overpaid+last+week", "#ask"),
        Visited("{round}", "#raise", also="#play"),
        Visited("{watch}", "#play"),
        Visited("/live", "#pause"),
        Visited("/cases", "main a"),
        Visited("/cases/new", "main form :is(input, select)"),
        Visited("/dossiers/new?of={subject}", "main form :is(input, select, textarea)"),
        Visited("/import", "#files"),
        Visited("/log", "main form :is(input, select)"),
        Visited("/shift", "main form :is(input, select, button)"),
        Visited("/statistics", "main :is(select, input)"),
        ACCOUNT,
    ),
    "auditor": (
        Visited("/review?state=open", ".item"),
        FIND,
        Visited("{round}", "#play"),
        Visited("/live", "#pause"),
        Visited("/cases", "main a"),
        Visited("/log", "main :is(input, select)"),
        Visited("/shift", "main"),
        Visited("/statistics?by=wager", "main :is(select, input)"),
        Visited("/drop", "main :is(select, input)"),
        Visited("/win", "main :is(select, input)"),
        Visited("/entry", "main :is(input, select, a)"),
    ),
    "finance": (
        FIND,
        Visited("/drop", "main :is(select, input)"),
        Visited("/win", "main :is(select, input)"),
        Visited("/win/charts", "main :is(select, input)"),
        Visited("/win/coupons", "main a"),
        Visited("/approvals", "main"),
        *forms("finance"),
    ),
    "ops": (Visited("/live", "#pause"), ACCOUNT),
    "pit": (
        Visited("/entry", "main :is(input, select, a)"),
        Visited("/entry/inventories", SLIP),
        Visited("/entry/slips/new?kind=fill", SLIP),
        Visited("/entry/slips/new?kind=credit", SLIP),
        *forms("pit"),
    ),
    "cage": (Visited("/entry", "main :is(input, select, a)"), *forms("cage")),
    "count": (Visited("/entry", "main :is(input, select, a)"), *forms("count")),
}


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("role", PAGES)
def test_axe_finds_nothing_and_the_main_act_is_twelve_tabs_away(
    browser: Browser, screened: Screened, role: str, scheme: Literal["light", "dark"]
) -> None:
    known = {"surveillance": "maria", "finance": "fred", "auditor": "ada"}
    name = known.get(role) or every_role(screened)[role]
    found: list[object] = []
    with screened.page(browser, name, scheme) as page:
        refused = outside_blocked(page, screened)
        for size in SIZES:
            page.set_viewport_size({"width": size["width"], "height": size["height"]})
            for each in PAGES[role]:
                path = at(each.path, screened)
                page.goto(f"{screened.url}{path}")
                if path.startswith(READY):
                    page.wait_for_selector("html[data-ready=yes]")
                found += [(path, size["width"], *fault) for fault in shown_faults(page)]
                found += [(path, size["width"], *fault) for fault in key_faults(page, each)]
                if size["width"] < PHONE_MAX:
                    found += [(path, "too small", *each) for each in small_targets(page)]
    assert found == []
    assert refused == []


@pytest.mark.long
def test_a_request_to_outside_is_refused_and_seen(browser: Browser, screened: Screened) -> None:
    outside = "https://elsewhere.invalid/picture.png"
    with screened.page(browser, "maria") as page:
        refused = outside_blocked(page, screened)
        other = (
            page.context.new_page()
        )  # without a page of ours, whose policy would refuse it first
        with other.expect_event("requestfailed"):
            other.set_content(f'<img src="{outside}" alt="">')
        assert refused == [outside]
        assert page.goto(f"{screened.url}/find") is not None
        assert refused == [outside]


@pytest.mark.long
def test_arrow_keys_move_in_a_list_that_tab_leaves(browser: Browser, screened: Screened) -> None:
    with screened.page(browser, "maria") as page:
        page.goto(f"{screened.url}/find")
        page.wait_for_function("document.querySelectorAll('.rounds tbody tr').length > 3")
        cell = "document.activeElement.closest('tr').rowIndex + ' ' + document.activeElement.href"
        links = page.locator(".rounds tbody tr:first-child a")
        links.first.focus()
        seen = []
        for key in ("ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft", "End", "Home"):
            page.keyboard.press(key)
            seen.append(page.evaluate(cell))
        row, first, second = "1 ", links.nth(0).evaluate("it => it.href"), links.nth(1)
        assert seen[0] == seen[2] == row + second.evaluate("it => it.href")
        assert seen[1].startswith("2 ")
        assert "?dealer=" in seen[1]
        assert seen[3] == seen[5] == row + first
        assert seen[4] not in seen[:4]
        assert lists_of_stops(page) == []
        page.route("**/lists.js*", lambda route: route.fulfill(content_type="text/javascript"))
        page.goto(f"{screened.url}/find")
        assert lists_of_stops(page), "the control: without the module each link is a stop"


def outside_blocked(page: Page, floor: Screened) -> list[str]:
    """Refuse each request of the page's browser to another origin; a list of those refused."""
    refused: list[str] = []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.abort()

    inside = f"{floor.url}/"
    page.context.route(lambda url: not url.startswith(inside), refuse)
    return refused


def at(path: str, floor: Screened) -> str:
    """The path of a page of this floor."""
    round_ = floor.round_path
    filled = {"{round}": round_, "{watch}": round_.replace("/rounds/", "/watch/", 1)}
    filled["{subject}"] = f"hollywood:{floor.subject}"
    return re.sub(r"\{\w+\}", lambda found: filled[found[0]], path)


def every_role(floor: Screened) -> dict[str, str]:
    """A user of each role that the floor's people lack: made once."""
    listed = {each["name"] for each in floor.cli("users", "list", "--json").json}
    made = {role: f"only-{role}" for role in ROLES}
    for role, name in made.items():
        if name not in listed and role in PAGES:
            floor.add_person(name, f"E-{role}", role)
    return made


def shown_faults(page: Page) -> list[tuple[str, ...]]:
    """What axe finds on the page, with every section open, and with each dialog before it."""
    page.evaluate("document.querySelectorAll('main details').forEach(it => { it.open = true })")
    found: list[tuple[str, ...]] = [*faults(page)]
    if not fits(page):
        found.append(("does not fit",))
    for number in range(page.locator("dialog").count()):
        page.evaluate("of => document.querySelectorAll('dialog')[of].showModal()", number)
        found += faults(page)
        page.evaluate("of => document.querySelectorAll('dialog')[of].close()", number)
    page.evaluate("document.querySelectorAll('main details').forEach(it => { it.open = false })")
    return found


def key_faults(page: Page, visited: Visited) -> list[tuple[object, ...]]:
    """What is wrong for who has only the keyboard."""
    found: list[tuple[object, ...]] = [
        ("too many Tabs", act)
        for act in {visited.main, visited.also}
        if tabs_to(page, act) > TABS_MAX
    ]
    if visited.main == "main" and page.evaluate(STOPS):
        found.append(("a page with something to press has a main act",))
    return found + [("several Tab stops", says) for says in lists_of_stops(page)]


def tabs_to(page: Page, main: str) -> int:
    """How often Tab is pressed after the skip link until the main act has the focus."""
    page.locator("#main").focus()
    for tabs in range(TABS_MAX + 1):
        if page.evaluate("main => document.activeElement.matches(main)", main):
            return tabs
        page.keyboard.press("Tab")
    return TABS_MAX + 1


STOPS = """document.querySelectorAll("main :is(a[href], button, input, select)").length"""

LISTS = """() => {
  const kind = "main :is(tbody, ul, ol, nav, [role=toolbar])";
  const lists = [...document.querySelectorAll(kind)].filter(each =>
    !each.parentElement.closest(kind) && !each.querySelector("input, select, textarea"));
  window.lists = lists.map(each => [...each.querySelectorAll("a[href], button, summary")].filter(
    it => it.tabIndex >= 0 && !it.disabled && it.checkVisibility())).filter(its => its.length > 1);
  return window.lists.length;
}"""


def lists_of_stops(page: Page) -> list[str]:
    """The lists, by their first item, that Tab does not leave at once."""
    found = []
    for number in range(page.evaluate(LISTS)):
        page.evaluate("of => window.lists[of][0].focus()", number)
        page.keyboard.press("Tab")
        if page.evaluate("of => window.lists[of].includes(document.activeElement)", number):
            found.append(page.evaluate("of => window.lists[of][0].outerHTML.slice(0, 90)", number))
    return found


ELSEWHERE = {
    "/sign-in": "test_screen_find",
    "/sign-in/code": "test_screen_session",
    "/setup": "test_screen_find",
    "/cases/{property_}/{dispute:path}": "test_screen_cases",
    "/preserved/{property_}/{name}": "test_screen_cases",
    "/shift/{property_}/{name:path}": "test_screen_review",
    "/win/fact": "test_screen_finance",
    "/approvals/{property_}/{name}": "test_screen_finance",
    "/entry/slips/{property_}/{kind}/{slip:path}": "test_screen_finance",
    "/entry/boxes/{property_}/{table}/{day}/{box:path}": "test_screen_finance",
    "/import/{upload}": "test_screen_import",
    "/live/table": "test_live_pictures",
}
"""Pages that need what this floor lacks, each with the test that holds them."""

NO_PAGE = {
    "/", "/session", "/rounds.csv", "/statistics.csv", "/review/footage/{name}",
    "/review/picture/{name}.jpg", "/shift/{property_}/{name:path}.pdf",
    "/rounds/{property_}/{table}/{day}/{number}/tables", "/import/uploads/{upload}",
    "/live/picture", "/live/back",
}  # fmt: skip
"""Addresses that answer with a redirect, a part of a page, data or a picture."""


def test_every_page_is_in_the_table() -> None:
    pattern = {
        route.path: re.compile(re.sub(r"\\?\{\w+(:path)?\\?\}", ".+", route.path))  # type: ignore[attr-defined]
        for router in ROUTERS
        for route in router.routes
        if "GET" in route.methods  # type: ignore[attr-defined]
    }
    pictures = {path for path in pattern if path.startswith("/footage/") or path.endswith(".jpg")}
    sample = {"{round}": "/rounds/p/T/2026-11-20/1", "{watch}": "/watch/p/T/2026-11-20/1"}
    paths = {
        sample.get(each.path, each.path.partition("?")[0]) for its in PAGES.values() for each in its
    }
    missed = {
        path
        for path, of in pattern.items()
        if path not in ELSEWHERE.keys() | NO_PAGE | pictures
        and not any(of.fullmatch(each) for each in paths)
    }
    assert missed == set()
    assert ELSEWHERE.keys() | NO_PAGE <= pattern.keys(), "a page that is no more"
