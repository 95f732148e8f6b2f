"""The page Import in a real browser: files are sent in pieces, resumed, reported and recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.accessible import faults, fits
from tests.e2e.browser.test_screen_find import opened
from tests.footage.video_kinds import KINDS, write

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.e2e.browser.test_screen_find import Scheme
    from tests.fixtures.web import Site

PHONE = {"width": 390, "height": 844}
NAME = "2016-11-20_18-40-00.mp4"


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / NAME
    write(path, KINDS["vfr_mp4"], 60)
    return path


def sent(page: Page, site: Site, path: Path) -> None:
    page.goto(f"{site.url}/import")
    page.wait_for_selector("html[data-ready=yes]")
    page.set_input_files("#files", path)
    expect(page.get_by_role("link", name=f"Report of {path.name}")).to_be_visible()


@pytest.mark.long
def test_a_file_is_sent_reported_mapped_and_put_on_record(
    browser: Browser, staffed: Site, export: Path
) -> None:
    with opened(browser, staffed, "surveillance") as page:
        sent(page, staffed, export)
        page.get_by_role("link", name=f"Report of {NAME}").click()
        expect(page.get_by_text("h264 480x272")).to_be_visible()
        expect(page.get_by_text("It has 1 hole without a frame")).to_be_visible()
        assert page.get_by_alt_text("The first picture of the file").is_visible()
        page.get_by_label("Casino").fill("hollywood")
        page.get_by_label("Camera", exact=True).fill("CC-07-A")
        page.get_by_role("button", name="Compare with the record").click()
        expect(page.get_by_text("CC-07-A is mapped to no table")).to_be_visible()
        page.get_by_label("Table").fill("CC-07")
        page.get_by_role("button", name="Map the camera").click()
        expect(page.get_by_text("CC-07-A is mapped.")).to_be_visible()
        page.get_by_role("button", name="Put on record as CC-07-A").click()
        expect(page.get_by_text("is on record as footage of CC-07-A")).to_be_visible()
    [entry] = staffed.ports.library.entries("CC-07-A")
    assert entry.path.read_bytes() == export.read_bytes()


@pytest.mark.long
def test_a_file_goes_on_after_a_reload_at_the_byte_where_it_stopped(
    browser: Browser, staffed: Site, export: Path
) -> None:
    octets, token = export.read_bytes(), staffed.browser("surveillance")
    form = {"csrf": token.csrf, "name": NAME, "size": str(len(octets))}
    upload = token.post("/import/uploads", data=form).json()["upload"]
    headers = {"Content-Type": "application/octet-stream", "X-CSRF-Token": token.csrf}
    token.put(f"/import/uploads/{upload}?offset=0", content=octets[:1_000], headers=headers)
    with opened(browser, staffed, "surveillance") as page:
        page.goto(f"{staffed.url}/import")
        expect(page.get_by_text("1,000 of ")).to_be_visible()
        offsets = []
        page.on("request", lambda each: offsets.append(each.url.partition("offset=")[2]))
        sent(page, staffed, export)
        assert [each for each in offsets if each] == ["1000"]
        assert page.locator("#uploads > li").count() == 1
        page.get_by_role("button", name=f"Cancel {NAME}").click()
        expect(page.get_by_text("No file waits.")).to_be_visible()


@pytest.mark.long
def test_a_file_that_is_dropped_is_sent(browser: Browser, staffed: Site) -> None:
    with opened(browser, staffed, "surveillance") as page:
        page.goto(f"{staffed.url}/import")
        page.wait_for_selector("html[data-ready=yes]")
        given = page.evaluate_handle(
            "() => { const data = new DataTransfer();"
            " data.items.add(new File(['no footage'], 'a.mp4')); return data; }"
        )
        page.dispatch_event("#dropzone", "drop", {"dataTransfer": given})
        page.get_by_role("link", name="Report of a.mp4").click()
        expect(page.get_by_role("alert").filter(has_text="Cannot be put on record")).to_be_visible()


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_and_a_phone_shows_all(
    browser: Browser, staffed: Site, export: Path, scheme: Scheme
) -> None:
    with opened(browser, staffed, "surveillance", scheme=scheme) as page:
        sent(page, staffed, export)
        report = page.get_by_role("link", name=f"Report of {NAME}").get_attribute("href")
        for size in ({"width": 1280, "height": 800}, PHONE):
            page.set_viewport_size(size)
            for path in ("/import", f"{report}?property=hollywood&camera=CC-07-A"):
                page.goto(f"{staffed.url}{path}")
                assert faults(page) == [], (path, size)
                assert fits(page), (path, size)


@pytest.mark.long
def test_the_keyboard_alone_reaches_the_files_within_twelve_tabs(
    browser: Browser, staffed: Site
) -> None:
    with opened(browser, staffed, "surveillance") as page:
        page.goto(f"{staffed.url}/import")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")  # Skip to content
        tabs = 0
        while tabs < 12:
            tabs += 1
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == "files":
                break
        assert tabs <= 3
