"""Papers entered in Chromium without scripts, by each department; axe, and a telephone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.accessible import faults, fits
from tests.e2e.browser.test_screen_find import opened
from tests.fixtures.web import PASSWORD
from tests.scenes.table_days import DAY, day_lines
from tests.scenes.view_feeds import received

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.e2e.browser.test_screen_find import Scheme
    from tests.fixtures.web import Site

ISSUED = "/entry/forms/counter_check_issued?property=p"
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def floor(staffed: Site) -> Site:
    """A site with a table's day, a user of each role, and a second counter."""
    staffed.take_in([received(json.dumps(each).encode()) for each in day_lines()])
    staffed.add("second", "count")
    staffed.add("third", "count")
    for name, role in (
        ("n-9", "count"),
        ("n-8", "count"),
        ("n-7", "count"),
        ("g-1", "cage"),
        ("d-1", "pit"),
    ):
        staffed.add(name, role, employee=name.upper())  # type: ignore[arg-type] # roles
    return staffed


def signed(page: Page, by: str) -> None:
    """The second person reads the paper, and signs it on the same page."""
    expect(page.get_by_role("heading", name=f"{by.upper()} signs here")).to_be_visible()
    page.get_by_label(f"Password of {by}").fill(PASSWORD)
    page.get_by_role("button", name="Sign", exact=True).click()


def counted(page: Page, site: Site, notes: str, other: str) -> None:
    page.goto(f"{site.url}/entry?gaming_day={DAY}")
    page.get_by_role("link", name="B1").click()
    page.get_by_label("$100.00", exact=True).first.fill(notes)
    page.get_by_label("Second person (credential)").fill(other)
    page.get_by_role("button", name="Put on record").click()
    signed(page, other.lower())


@pytest.mark.long
def test_a_box_is_counted_twice_and_verified_without_scripts(browser: Browser, floor: Site) -> None:
    with opened(browser, floor, "count", scripts=False) as page:
        counted(page, floor, "3", "N-9")
        expect(page.get_by_text("waits for its second count")).to_be_visible()
    with opened(browser, floor, "second", scripts=False) as page:
        page.goto(f"{floor.url}/entry?gaming_day={DAY}")
        assert "300" not in page.content()
        counted(page, floor, "4", "N-8")
        expect(page.get_by_text("the counts before disagree")).to_be_visible()
        assert "400" not in page.content()
    with opened(browser, floor, "third", scripts=False) as page:
        counted(page, floor, "4", "N-7")
        expect(page.get_by_role("cell", name="$300.00")).to_be_visible()
        expect(page.get_by_role("cell", name="$400.00")).to_have_count(2)
        expect(page.get_by_text("differs")).to_be_visible()
    with opened(browser, floor, "cage", scripts=False) as page:
        page.goto(f"{floor.url}/entry?gaming_day={DAY}")
        page.get_by_role("link", name="B1").click()
        assert "$400" not in page.content()
        page.get_by_label("Total, dollars").fill("400")
        page.get_by_role("button", name="Verify").click()
        expect(page.get_by_text("The cage verified $400.00.")).to_be_visible()


@pytest.mark.long
def test_a_fill_is_requested_dispatched_accepted_and_printed(browser: Browser, floor: Site) -> None:
    with opened(browser, floor, "pit") as page:
        page.get_by_role("link", name="Request a fill").click()
        page.get_by_label("Number of the slip").fill("F-1")
        page.get_by_label("Table", exact=True).fill("CC-07")
        page.get_by_label("$25.00", exact=True).fill("20")
        page.get_by_role("button", name="Request").click()
        slip = page.url
    with opened(browser, floor, "cage") as page:
        page.goto(slip)
        expect(page.get_by_label("$25.00", exact=True)).to_have_value("20")
        page.get_by_label("Second person (credential)").first.fill("G-1")
        page.get_by_role("button", name="Dispatch").click()
        assert faults(page) == []
        signed(page, "g-1")
        expect(page.get_by_role("rowheader", name="dispatched")).to_be_visible()
    with opened(browser, floor, "pit") as page:
        page.goto(slip)
        page.get_by_label("Second person (credential)").first.fill("D-1")
        page.get_by_role("button", name="Accept").click()
        signed(page, "d-1")
        expect(page.get_by_role("rowheader", name="accepted")).to_be_visible()
        page.get_by_role("button", name="Show for printing").click()
        expect(page.get_by_role("row", name="Total $500.00")).to_be_visible()
        assert faults(page) == []
        page.emulate_media(media="print")
        expect(page.get_by_role("button", name="Sign out")).to_be_hidden()
        pages = page.pdf(format="A4").count(b"/Type /Page\n")
        assert pages == 1


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_fault_and_a_telephone_shows_all(
    browser: Browser, floor: Site, scheme: Scheme
) -> None:
    paths = {
        "pit": ("/entry", "/entry/inventories", "/entry/slips/new?kind=credit", ISSUED),
        "finance": (
            *("/entry", "/entry/forms/coupons_issued", "/entry/forms/variance_explained"),
            *("/win", "/win/charts", "/win/coupons"),
        ),
        "count": (f"/entry?gaming_day={DAY}", f"/entry/boxes/p/CC-07/{DAY}/B1"),
        "cage": ("/entry", f"/entry/boxes/p/CC-07/{DAY}/B1"),
    }
    for name, its in paths.items():
        with opened(browser, floor, name, scheme=scheme) as page:
            for path in its:
                page.goto(f"{floor.url}{path}")
                assert faults(page) == [], path
                page.set_viewport_size(PHONE)  # type: ignore[arg-type] # its two fields
                assert fits(page), path
                page.set_viewport_size({"width": 1280, "height": 800})
