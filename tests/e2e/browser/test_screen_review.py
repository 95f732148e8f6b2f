"""The page Review in a real browser: findings are worked off by keys, and footage plays there."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from consumers.review import queue, shifts
from tests.accessible import faults, fits
from tests.e2e.browser.test_screen_find import opened
from tests.scenes.view_feeds import day

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.e2e.browser.test_screen_find import Scheme
    from tests.fixtures.screen import Screened
    from tests.fixtures.web import Site

PHONE = {"width": 390, "height": 844}


@pytest.fixture
def floor(staffed: Site) -> Site:
    """Ten minutes of a floor with a mistake of every kind."""
    staffed.take_in(day(10, planted=1))
    return staffed


def chosen(page: Page) -> str:
    return str(page.locator('.item[aria-current="true"]').get_attribute("id"))


def settled(page: Page, name: str) -> None:
    """The finding is chosen, and the keyboard is on it."""
    page.wait_for_function("name => document.activeElement?.id === name", arg=name)


@pytest.mark.long
def test_findings_are_worked_off_by_two_keys_each_within_a_minute(
    browser: Browser, floor: Site
) -> None:
    # Eight findings, as the demo's day has; the rest stays open.
    with opened(browser, floor, "surveillance") as page:
        page.wait_for_selector("html[data-ready=yes]")
        assert page.url.endswith("/review")
        assert page.locator("li:not([hidden]) > .item").count() >= 8
        actions, began = 0, time.monotonic()
        for _ in range(8):
            name = chosen(page)
            settled(page, name)
            for key in ("e", "1"):
                page.keyboard.press(key)
                actions += 1
            page.wait_for_function("name => !document.getElementById(name)", arg=name)
        assert actions == 16
        assert time.monotonic() - began < 60
        counts = queue.counts(floor.database, "S-1001")
        assert counts.closed == 8
        expect(page.locator(".top .count")).to_contain_text("open")


@pytest.mark.long
def test_the_list_is_one_tab_stop_and_keys_can_be_changed_and_turned_off(
    browser: Browser, floor: Site
) -> None:
    with opened(browser, floor, "surveillance") as page:
        page.wait_for_selector("html[data-ready=yes]")
        assert page.locator('.item[tabindex="0"]').count() == 1
        first = chosen(page)
        settled(page, first)
        page.keyboard.press("j")
        page.wait_for_function(
            "name => document.documentElement.dataset.chosen !== name", arg=first
        )
        second = chosen(page)
        settled(page, second)
        page.keyboard.press("k")
        settled(page, first)
        page.keyboard.press("?")
        page.get_by_label("Next finding").press("n")
        page.get_by_role("button", name="Close", exact=True).click()
        page.locator(f"#{first}").focus()
        page.keyboard.press("j")
        assert chosen(page) == first, "the key was changed"
        page.keyboard.press("n")
        settled(page, second)
        page.keyboard.press("?")
        page.get_by_label("Keys are on").uncheck()
        page.get_by_role("button", name="Close", exact=True).click()
        page.locator(f"#{second}").focus()
        page.keyboard.press("k")
        assert chosen(page) == second, "keys are off"
        page.keyboard.press("ArrowUp")
        settled(page, first)


@pytest.mark.long
def test_wrong_needs_a_reason_and_a_closed_finding_is_reopened(
    browser: Browser, floor: Site
) -> None:
    with opened(browser, floor, "surveillance") as page:
        page.wait_for_selector("html[data-ready=yes]")
        first = chosen(page)
        settled(page, first)
        page.keyboard.press("e")
        page.keyboard.press("2")
        page.keyboard.type("The payment is on the film.")
        page.keyboard.press("Enter")
        page.wait_for_function("name => !document.getElementById(name)", arg=first)
        page.get_by_role("link", name="Closed 1").click()
        expect(page.locator("#chosen")).to_contain_text("The payment is on the film.")
        page.get_by_label("Why").fill("Another seat.")
        page.get_by_role("button", name="Reopen").click()
        expect(page.locator(".empty")).to_be_visible()
        page.get_by_role("link", name="Open").first.click()
        expect(page.locator(f"#{first}")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_a_workstation_or_a_phone(
    browser: Browser, floor: Site, scheme: Scheme
) -> None:
    with opened(browser, floor, "surveillance", scheme=scheme) as page:
        page.wait_for_selector("html[data-ready=yes]")
        assert faults(page) == []
        page.keyboard.press("?")
        assert faults(page) == []
        page.keyboard.press("Escape")
        page.set_viewport_size(PHONE)  # type: ignore[arg-type] # a width and a height
        assert faults(page) == []
        assert fits(page)
        small = page.evaluate(
            "[...document.querySelectorAll('.review :is(a.item, button, .states a)')]"
            ".filter(each => each.offsetParent && each.getBoundingClientRect().height < 44)"
            ".map(each => each.outerHTML.slice(0, 80))"
        )
        assert small == []
        first = page.locator(".item").first.bounding_box()
        assert first is not None
        assert first["y"] < PHONE["height"] / 2, "the queue comes first"


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_samples_the_log_and_the_shift_are_accessible_on_a_desk_and_a_phone(
    browser: Browser, floor: Site, scheme: Scheme
) -> None:
    who = floor.browser("surveillance")
    draw = {"csrf": who.csrf, "property": "hollywood", "rounds": "3"}
    day_of = queue.page(floor.database, "open", "").groups[0].members[0].gaming_day or ""
    assert who.post("/review/samples", data=draw | {"gaming_day": day_of}).status_code == 303
    entry = {
        "csrf": who.csrf, "property": "hollywood", "from": "2026-11-20 21:05", "place": "Cage",
        "what": "A fall.", "recorded_where": "cam2", "disposition": "none",
    }  # fmt: skip
    assert who.post("/log", data=entry).status_code == 303
    begin = {"csrf": who.csrf, "step": "begin", "property": "hollywood"}
    assert who.post("/shift", data=begin).status_code in (303, 422), "it may be open already"
    shift = shifts.shifts(floor.database)[0].shift
    with opened(browser, floor, "surveillance", scheme=scheme) as page:
        page.wait_for_selector("html[data-ready=yes]")
        page.keyboard.press("/")
        page.wait_for_url("**/find#ask")
        settled(page, "ask")
        for size in ({"width": 1920, "height": 1080}, PHONE):
            page.set_viewport_size({"width": size["width"], "height": size["height"]})
            for path in (
                "/review",
                "/review/samples",
                "/log",
                "/log?of=L-2026-11-20-1",
                "/shift",
                f"/shift/hollywood/{shift}",
            ):
                page.goto(f"{floor.url}{path}")
                assert faults(page) == [], (path, size)
                assert fits(page), (path, size)


@pytest.mark.long
def test_space_plays_the_finding_in_place_and_the_view_is_on_record(
    browser: Browser, screened: Screened
) -> None:
    with screened.page(browser) as page:
        page.goto(f"{screened.url}/review")
        page.wait_for_selector("html[data-ready=yes]")
        page.locator(".item", has_text="was paid").first.click()
        expect(page.locator("#chosen .sentence")).to_contain_text("was paid")
        page.locator('.item[aria-current="true"]').focus()
        page.keyboard.press(" ")
        expect(page.locator("#views figure")).to_have_count(2)
        page.wait_for_function(
            "() => [...document.querySelectorAll('#views video')].some(it => it.currentTime > 0)"
        )
        seen = [each["because"] for each in screened.told("footage_viewed.v1")]
        assert any(each.endswith("reviewed on the screen") for each in seen)
