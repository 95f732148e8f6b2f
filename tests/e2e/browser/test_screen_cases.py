"""A dispute in Chromium, from the round's page to its outcome: by keyboard, and blind first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from ledger.facts import CameraMapped
from ledger.values import Source
from replay.recording.house_facts import build_fact
from tests.accessible import faults, fits, phone_faults
from tests.e2e.browser.test_screen_find import opened
from tests.scenes.view_feeds import day

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.e2e.browser.test_screen_find import Scheme
    from tests.fixtures.web import Site

CLAIM = "I had a straight and was paid as for a pair."


@pytest.fixture
def round_path(staffed: Site) -> str:
    """The page of a round that is on record, with a camera over its table."""
    feed = [fact for fact in day(8, tables=1) if not fact.tape.endswith("/surveillance")]
    subject = next(fact.subject for fact in feed if fact.type == "round_completed.v1")
    assert subject is not None
    table = subject.split("/", maxsplit=1)[0]
    camera = CameraMapped(camera="X-1", table=table, kind="stationary", covers=("table",))
    staffed.take_in([build_fact(camera, Source("hollywood", table, "pit"), time_us=0), *feed])
    staffed.add("second", "surveillance")
    return f"/rounds/hollywood/{subject}"


def raised(page: Page, site: Site, round_path: str, position: str = "1") -> str:
    """Raise a dispute from the round's page, by the keyboard alone; the case's address."""
    page.goto(f"{site.url}{round_path}")
    page.get_by_role("link", name="Raise a dispute").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("Round")).to_have_value(f"hollywood:{round_path[18:]}")
    page.get_by_label("Betting position").focus()
    page.keyboard.press("Control+A")
    page.keyboard.type(position)
    page.keyboard.press("Tab")
    page.keyboard.type(CLAIM)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Claimed")).to_be_visible()
    return page.url


@pytest.mark.long
def test_a_dispute_goes_from_the_round_to_its_outcome_blind_first(
    browser: Browser, staffed: Site, round_path: str
) -> None:
    with opened(browser, staffed, "surveillance") as page:
        case = raised(page, staffed, round_path)
    with opened(browser, staffed, "second") as page:
        page.goto(case)
        expect(page.get_by_text("Blind review.")).to_be_visible()
        assert CLAIM not in page.content()
        assert "Owed and paid" not in page.content()
        page.get_by_label("What you saw, before you know the claim").fill("A pair of queens.")
        page.get_by_role("button", name="Record").click()
        expect(page.get_by_text(CLAIM)).to_be_visible()
        expect(page.get_by_text("A pair of queens.")).to_be_visible()
        expect(page.get_by_text("watched nothing", exact=True)).to_be_visible()
        page.get_by_role("textbox", name="Note").fill("See the turn.")
        page.get_by_label("Fact of the round").fill("2")
        page.get_by_role("button", name="Add").click()
        page.get_by_role("link", name="fact 2", exact=True).click()
        expect(page).to_have_url(f"{staffed.url}{round_path}?at=2#fact=2")
        page.goto(case)
        page.get_by_label("Dollars").fill("5")
        page.get_by_role("button", name="Put on record").click()
        page.get_by_label("Decision").fill("Dismissed, with courtesy.")
        page.get_by_role("button", name="Resolve").click()
        expect(page.locator("#outcome")).to_contain_text("Dismissed, with courtesy.")
        assert page.get_by_label("Decision").count() == 0
        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Cases").click()
        expect(page.get_by_role("cell", name="resolved")).to_be_visible()


@pytest.mark.long
def test_several_cases_of_a_round_are_one_tab_stop(
    browser: Browser, staffed: Site, round_path: str
) -> None:
    with opened(browser, staffed, "surveillance") as page:
        for position in "123":
            raised(page, staffed, round_path, position)
        page.goto(f"{staffed.url}{round_path}")
        cases = page.get_by_role("list", name="Disputed:").get_by_role("link")
        expect(cases).to_have_count(3)
        cases.first.focus()
        page.keyboard.press("ArrowDown")
        expect(cases.nth(1)).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.locator("#view-known")).to_be_focused()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault(
    browser: Browser, staffed: Site, round_path: str, scheme: Scheme
) -> None:
    with opened(browser, staffed, "surveillance") as page:
        case = raised(page, staffed, round_path)
    with opened(browser, staffed, "second", scheme=scheme) as page:
        for path in ("/cases", "/cases?status=resolved", "/cases/new"):
            page.goto(f"{staffed.url}{path}")
            assert [*faults(page), *phone_faults(page)] == [], path
        page.goto(case)
        assert [*faults(page), *phone_faults(page)] == []
        page.get_by_role("button", name="Reveal").click()
        expect(page.get_by_text(CLAIM)).to_be_visible()
        assert difference_comes_first(page)
        page.locator("summary").click()
        assert [*faults(page), *phone_faults(page)] == []
        assert fits(page)
        page.goto(f"{staffed.url}/cases")
        page.get_by_label("Table", exact=True).fill(round_path.split("/")[3])
        page.get_by_label("From (").fill("2026-11-20 10:00")
        page.get_by_label("To", exact=True).fill("2026-11-20 10:05")
        page.get_by_role("textbox", name="Why").fill("A fall.")
        page.get_by_role("button", name="Preserve").click()
        expect(page.get_by_role("heading", name="Preserved window")).to_be_visible()
        assert [*faults(page), *phone_faults(page)] == []
        page.get_by_role("textbox", name="Why").fill("Nobody was hurt.")
        page.get_by_role("button", name="Release").click()
        expect(page.get_by_role("heading", name="Released")).to_be_visible()
        assert [*faults(page), *phone_faults(page)] == []
        page.get_by_role("link", name="Back to the cases").click()
        expect(page.get_by_text("Nobody was hurt.")).to_be_visible()
        assert [*faults(page), *phone_faults(page)] == []


def difference_comes_first(page: Page) -> bool:
    """Whether a phone shows the position's difference above the claim, and no wager's cut off."""
    page.set_viewport_size({"width": 390, "height": 844})
    claim, money = (page.locator(of).bounding_box() for of in ("#claimed", "dl.money dd >> nth=0"))
    wager = page.locator(".tablebox thead").get_by_text("Difference").bounding_box()
    page.set_viewport_size({"width": 1280, "height": 800})
    assert claim
    assert money
    assert wager
    return money["y"] < claim["y"] and wager["x"] + wager["width"] < 390


WIDE = """() => [...document.querySelectorAll("main *")]
  .filter(each => each.getBoundingClientRect().right > innerWidth + 1)
  .map(each => each.outerHTML.slice(0, 120)).slice(0, 4)"""
"""Elements that stick out of the window, for the failure message."""


@pytest.mark.long
def test_at_four_hundred_per_cent_no_page_is_scrolled_from_side_to_side(
    browser: Browser, staffed: Site, round_path: str
) -> None:
    """1280 pixels at 400 % are 320 (WCAG 2.2, 1.4.10)."""
    with opened(browser, staffed, "surveillance") as page:
        case = raised(page, staffed, round_path)
        page.set_viewport_size({"width": 320, "height": 256})
        rounds = round_path.replace("/rounds/", "/watch/", 1)
        paths = ("/", "/live", "/cases", "/cases/new", f"{round_path}?at=9", rounds)
        for address in (case, *(staffed.url + path for path in paths)):
            page.goto(address)
            assert fits(page), (address, page.evaluate(WIDE))
    with opened(browser, staffed, "auditor") as page:
        page.set_viewport_size({"width": 320, "height": 256})
        page.goto(f"{staffed.url}/drop")
        assert fits(page), page.evaluate(WIDE)
