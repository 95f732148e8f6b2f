"""One box on Find: from a guest's sentence to the round, by keyboard, on a wall and on a phone."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal

import pytest
from playwright.sync_api import expect

from consumers.rounds.search import Filters, search
from infra.postgres.connection import Database
from replay.text.times import wall
from tests.accessible import faults, fits
from tests.fixtures.postgres import copy_database, new_name, url_of
from tests.fixtures.web import PASSWORD, opened_site
from tests.scenes.view_feeds import day

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.fixtures.web import Site

ACTIONS_MAX = 3
SECONDS_MAX = 10


@pytest.fixture(scope="module")
def floor(
    postgres_url: str, web_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """The pages of an hour of four tables and their mistakes."""
    name = new_name()
    copy_database(postgres_url, name, template=web_template)
    url = url_of(postgres_url, name)
    with opened_site(Database(url, url), tmp_path_factory.mktemp("asked")) as site:
        site.take_in(day(60, planted=1))
        yield site


def opened(
    browser: Browser, site: Site, size: tuple[int, int], scheme: Literal["light", "dark"] = "light"
) -> Page:
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    page = context.new_page()
    page.goto(f"{site.url}/sign-in")
    page.get_by_label("Name").fill("surveillance")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()
    return page


def guests_sentence(site: Site) -> tuple[str, str]:
    """What a guest who was paid short says, and the address of the round."""
    (round_,) = search(site.database, Filters(finding="underpaid", limit=1))
    when = wall(round_.began_us, site.ports.zones().of("hollywood"))
    says = f"I was paid short on the touchdown at {round_.table} around {when:%I:%M %p}"
    return says, f"/rounds/hollywood/{round_.id.subject}"


@pytest.mark.long
@pytest.mark.parametrize("size", [(1920, 1080), (390, 844)], ids=["wall", "phone"])
def test_a_guests_sentence_leads_to_the_round_in_three_actions(
    browser: Browser, floor: Site, size: tuple[int, int]
) -> None:
    says, path = guests_sentence(floor)
    page = opened(browser, floor, size)
    page.goto(f"{floor.url}/find")
    page.keyboard.press("/")  # the cursor stands in the box; where it does already, none is needed
    began, actions = time.monotonic(), 0
    page.keyboard.insert_text(says)
    actions += 1
    page.keyboard.press("Enter")
    actions += 1
    expect(page.locator("table.rounds tbody a").first).to_be_focused()
    page.keyboard.press("Enter")
    actions += 1
    page.wait_for_url(f"**{path}")
    assert actions <= ACTIONS_MAX
    assert time.monotonic() - began < SECONDS_MAX


@pytest.mark.long
def test_chips_are_removed_by_keyboard_and_the_box_follows(browser: Browser, floor: Site) -> None:
    page = opened(browser, floor, (1280, 800))
    page.goto(f"{floor.url}/?ask=CC-01 overpaid")
    chips = page.locator(".chip")
    expect(chips).to_have_count(2)
    page.get_by_role("link", name="Remove overpaid").focus()
    page.keyboard.press("Delete")
    expect(chips).to_have_count(1)
    expect(page.locator("#ask")).to_have_value("CC-01")
    page.get_by_role("link", name="Remove CC-01").focus()
    page.keyboard.press("Enter")
    expect(chips).to_have_count(0)
    assert page.evaluate("document.activeElement.id") == "ask"
    page.keyboard.insert_text("CC-09")
    page.get_by_role("link", name="table CC-01").click()
    expect(page.locator("#ask")).to_have_value("table CC-01")
    expect(chips).to_have_count(1)


@pytest.mark.long
def test_a_search_is_saved_as_it_stands(browser: Browser, floor: Site) -> None:
    page = opened(browser, floor, (1280, 800))
    page.goto(f"{floor.url}/find")
    page.locator("#ask").fill("overpaid")
    expect(page.locator(".chip")).to_have_count(1)
    page.get_by_text("Saved searches").click()
    page.get_by_label("Name of this search").fill("Overpaid")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved searches: 1").click()
    page.get_by_role("link", name="Overpaid", exact=True).click()
    expect(page.locator("#ask")).to_have_value("overpaid")


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1920, 1080), (390, 844)], ids=["wall", "phone"])
def test_axe_finds_no_fault_and_nothing_is_cut_off(
    browser: Browser, floor: Site, size: tuple[int, int], scheme: Literal["light", "dark"]
) -> None:
    page = opened(browser, floor, size, scheme)
    for ask in ("", "any finding", "CC-01 around 9 two pair zebra CC-09", "seat 9 overpaid 3 am"):
        page.goto(f"{floor.url}/?ask={ask}")
        assert faults(page) == [], ask
        assert fits(page), ask
