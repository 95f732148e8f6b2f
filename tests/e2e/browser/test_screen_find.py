"""The pages Find, Live and Drop in Chromium: found as one types, and usable by everybody."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import pytest
from playwright.sync_api import expect

from consumers.rounds.search import Filters, search
from infra.postgres.connection import Database
from ledger.facts import DealerAssigned, RoundStarted, TableOpened
from ledger.record import wire
from tests.accessible import faults, fits, phone_faults, small_targets
from tests.fixtures.postgres import copy_database, new_name, url_of
from tests.fixtures.web import PASSWORD, opened_site
from tests.scenes.view_feeds import day, received

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Route

    from ledger.facts import Body
    from ledger.record.tape import Received
    from tests.fixtures.web import Site

Scheme = Literal["dark", "light"]
T0_US = 1_795_100_000_000_000
ROWS = 50
"""What a page shows of rounds, at most."""


@contextmanager
def opened(
    browser: Browser, site: Site, name: str, *, scheme: Scheme = "light", scripts: bool = True
) -> Iterator[Page]:
    """A page of somebody who has signed in by the form; nothing it runs may go wrong."""
    size: Any = {"width": 1280, "height": 800}
    context = browser.new_context(viewport=size, color_scheme=scheme, java_script_enabled=scripts)
    page = context.new_page()
    wrong: list[str] = []
    page.on("console", lambda told: wrong.append(told.text) if told.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(f"{site.url}/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    try:
        yield page
        assert wrong == []
    finally:
        context.close()


@pytest.fixture(scope="module")
def dealt(postgres_url: str, web_template: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A ledger with an hour of four tables and their mistakes in every view, to be copied."""
    name = f"{web_template}_dealt"
    copy_database(postgres_url, name, template=web_template)
    url = url_of(postgres_url, name)
    with opened_site(Database(url, url), tmp_path_factory.mktemp("dealt")) as site:
        site.take_in(day(60, planted=1))
    return name


@pytest.fixture
def floor(postgres_url: str, dealt: str, tmp_path: Path) -> Iterator[Site]:
    """The pages of that ledger."""
    name = new_name()
    copy_database(postgres_url, name, template=dealt)
    url = url_of(postgres_url, name)
    with opened_site(Database(url, url), tmp_path) as site:
        yield site


def overpaid(site: Site) -> int:
    """In how many rounds more was paid than owed."""
    found = len(search(site.database, Filters(finding="overpaid")))
    assert 0 < found < ROWS
    return found


def cents_of(text: str) -> int:
    """An amount as the page writes it."""
    return int(text.removeprefix("$").replace(",", "").replace(".", ""))


@pytest.mark.long
def test_rounds_are_found_as_one_types(browser: Browser, floor: Site) -> None:
    with opened(browser, floor, "surveillance") as page:
        page.goto(f"{floor.url}/find")
        loads = []
        page.on("load", lambda _: loads.append(1))
        rows = page.locator("table.rounds tbody tr")
        expect(rows).to_have_count(ROWS)
        page.get_by_label("Finding").select_option("overpaid")
        expect(rows).to_have_count(overpaid(floor))
        expect(page.get_by_role("status")).to_contain_text(f"{overpaid(floor)} round")
        name = rows.first.get_by_role("link").first.inner_text()
        assert "finding=overpaid" in page.url
        page.get_by_role("link", name="Clear").click()
        expect(rows).to_have_count(ROWS)
        loads.clear()
        for typed in name:
            page.get_by_label("Round", exact=True).press_sequentially(typed)
        expect(rows).to_have_count(1)
        assert rows.first.get_by_role("link").first.inner_text() == name
        assert loads == [], "the page was not loaded anew"
        page.reload()
        expect(rows).to_have_count(1)
        assert page.get_by_label("Round", exact=True).input_value() == name


@pytest.mark.long
def test_what_cannot_be_read_is_said_beside_the_results(browser: Browser, floor: Site) -> None:
    with opened(browser, floor, "surveillance") as page:
        page.goto(f"{floor.url}/find")
        page.get_by_label("Amount $").fill("lots")
        expect(page.get_by_text("is not an amount")).to_be_visible()
        page.get_by_label("Amount $").fill("")
        expect(page.locator("table.rounds tbody tr")).to_have_count(ROWS)


@pytest.mark.long
def test_what_was_chosen_before_the_script_came_is_searched_for(
    browser: Browser, floor: Site
) -> None:
    with opened(browser, floor, "surveillance") as page:
        held: list[Route] = []
        page.route("**/find.js*", lambda route: held.append(route))  # noqa: PLW0108 - it takes no built-in
        page.goto(f"{floor.url}/find", wait_until="commit")
        page.get_by_label("Finding").select_option("overpaid")
        page.wait_for_timeout(100)
        assert held
        assert page.locator("table.rounds tbody tr").count() == ROWS
        held[0].continue_()
        expect(page.locator("table.rounds tbody tr")).to_have_count(overpaid(floor))


@pytest.mark.long
def test_a_dealers_errors_and_their_cost_are_one_click_away(browser: Browser, floor: Site) -> None:
    with opened(browser, floor, "surveillance") as page:
        page.goto(f"{floor.url}/find")
        page.get_by_label("Finding").select_option("overpaid")
        row = page.locator("table.rounds tbody tr")
        expect(row).to_have_count(overpaid(floor))
        row.locator('a[href^="/?dealer="]').first.click()
        expect(page.get_by_role("heading", name="errors found in")).to_be_visible()
        lines = page.locator(".habits tbody tr").filter(has_text="overpaid")
        costs = [line.locator("td").last.inner_text() for line in lines.all()]
        assert costs
        assert all(cost.startswith("$") and cost != "$0.00" for cost in costs)
        every = page.locator(".habits tbody tr")
        sums = [
            sum(cents_of(line.locator("td").nth(column).inner_text()) for line in every.all())
            for column in (-2, -1)
        ]
        totals = page.locator(".habits tfoot b").all_inner_texts()
        assert [cents_of(each) for each in totals] == sums


@pytest.mark.long
def test_it_is_searched_without_scripts_too(browser: Browser, floor: Site) -> None:
    with opened(browser, floor, "surveillance", scripts=False) as page:
        page.goto(f"{floor.url}/find")
        page.get_by_label("Finding").select_option("overpaid")
        page.get_by_role("button", name="Search").click()
        assert page.locator("table.rounds tbody tr").count() == overpaid(floor)
        page.goto(f"{floor.url}/live")
        assert page.get_by_role("heading", name="Live floor").is_visible()
        assert not page.get_by_role("button", name="Pause").is_visible()


@pytest.mark.long
def test_the_keyboard_reaches_everything(browser: Browser, floor: Site) -> None:
    with opened(browser, floor, "surveillance") as page:
        page.goto(f"{floor.url}/find")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to content"
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        page.keyboard.press("/")
        assert page.evaluate("document.activeElement.name") == "ask"
        page.keyboard.type("/")
        assert page.locator("#ask").input_value() == "/"


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_axe_finds_no_fault(browser: Browser, floor: Site, scheme: Scheme) -> None:
    with opened(browser, floor, "auditor", scheme=scheme) as page:
        dealer = page.locator('a[href^="/?dealer="]').first.inner_text()
        for path in (
            "/",
            f"/?dealer={dealer}",
            "/?amount=x",
            "/?table=nowhere",
            "/live",
            "/drop",
            "/statistics",
            "/statistics?by=wager",
            "/win",
        ):
            page.goto(f"{floor.url}{path}")
            assert faults(page) == [], path
    with opened(browser, floor, "ops", scheme=scheme) as page:
        assert faults(page) == []
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    for path in ("/sign-in", floor.link(), "/nowhere"):
        page.goto(f"{floor.url}{path}")
        assert [*faults(page), *phone_faults(page)] == [], path
    page.get_by_role("link", name="start page").click()
    page.get_by_label("Name").fill("ops")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert faults(page) == []
    context.close()


@pytest.mark.long
def test_axe_would_find_what_is_wrong(browser: Browser, floor: Site) -> None:
    """The control: a button without a name, and grey on grey."""
    with opened(browser, floor, "auditor") as page:
        page.evaluate("document.querySelector('.submit button').textContent = ''")
        assert [rule for rule, _ in faults(page)] == ["button-name"]
        page.set_viewport_size({"width": 390, "height": 844})
        assert small_targets(page) == []
        page.evaluate("document.querySelector('.submit button').style.minHeight = '20px'")
        assert len(small_targets(page)) == 1


@pytest.mark.long
def test_the_floor_is_made_anew_until_it_is_paused(browser: Browser, floor: Site) -> None:
    def dealer(number: int) -> None:
        body = DealerAssigned(employee=f"D-90{number}", role="dealer")
        source, at_us = "/hollywood/NEW-01/terminal", T0_US + number * 1_000_000
        floor.take_in([received(wire.encode(body, source, f"n{number}", at_us, None))])

    with opened(browser, floor, "ops") as page:
        assert page.url.endswith("/live")
        assert page.get_by_role("link", name="Find", exact=True).count() == 0
        dealer(1)
        expect(page.get_by_text("D-901")).to_be_visible()
        page.get_by_role("button", name="Pause").click()
        dealer(2)
        page.wait_for_timeout(3_000)
        assert page.get_by_text("D-902").count() == 0
        page.get_by_role("button", name="Resume").click()
        expect(page.get_by_text("D-902")).to_be_visible()


@pytest.mark.long
def test_a_tab_that_nobody_sees_asks_for_nothing(browser: Browser, floor: Site) -> None:
    with opened(browser, floor, "ops") as page:
        asked: list[str] = []
        page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })")
        page.wait_for_timeout(500)
        page.on("request", lambda request: asked.append(request.url))
        page.wait_for_timeout(5_000)
        assert asked == []


@pytest.mark.long
def test_focus_stays_where_it_was_when_the_floor_is_made_anew(
    browser: Browser, staffed: Site
) -> None:
    def told(number: int, body: Body, subject: str | None = None) -> Received:
        source = "/hollywood/CC-07/terminal"
        return received(wire.encode(body, source, f"f{number}", T0_US + number, subject))

    table = TableOpened(
        game="criss_cross_poker", gaming_day="2026-11-20", min_wager=500, max_wager=1000
    )
    begun = RoundStarted(game="criss_cross_poker")
    staffed.take_in([told(1, table), told(2, begun, "CC-07/2026-11-20/1")])
    with opened(browser, staffed, "surveillance") as page:
        page.goto(f"{staffed.url}/live")
        page.get_by_role("link", name="Round 1").focus()
        staffed.take_in([told(3, DealerAssigned(employee="D-901", role="dealer"))])
        expect(page.get_by_text("D-901")).to_be_visible()
        assert page.evaluate("document.activeElement.textContent") == "Round 1"


@pytest.mark.long
def test_finance_sees_boxes_beside_counts(browser: Browser, floor: Site) -> None:
    with opened(browser, floor, "finance") as page:
        page.get_by_role("link", name="Drop", exact=True).click()
        first = page.locator("table.days tbody tr").first
        assert first.locator("td").count() == 11
        first.get_by_role("link").click()
        assert page.url.endswith("#day-1")
        assert page.get_by_text("Drop box").first.is_visible()


@pytest.mark.long
def test_nothing_is_wider_than_an_old_workstations_screen(browser: Browser, floor: Site) -> None:
    with opened(browser, floor, "auditor") as page:
        for path in ("/", "/live", "/statistics", "/drop", "/win"):
            page.goto(f"{floor.url}{path}")
            assert fits(page), path


@pytest.mark.long
def test_no_column_of_the_rounds_is_cut_beside_the_filters(browser: Browser, floor: Site) -> None:
    with opened(browser, floor, "surveillance") as page:
        for width in (1600, 1440, 1366, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            page.goto(f"{floor.url}/find?finding=any")
            beyond = page.locator("#results .tablebox").last.evaluate(
                "box => box.scrollWidth - box.clientWidth"
            )
            assert beyond == 0, width
