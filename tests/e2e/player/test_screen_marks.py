"""Marks on footage: bookmarks, stills and shapes, from a key to record, case and dossier."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.accessible import faults, fits
from tests.footage.shown_strip import strip_octets

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.fixtures.screen import Screened

pytestmark = pytest.mark.long

CAMERA = "TDF-01-cam1"
SETTLED = f'[data-camera="{CAMERA}"][data-settled="yes"]'
IN_SIGHT = """
(name) => {
  const box = document.querySelector(name).getBoundingClientRect();
  return box.top >= 0 && box.left >= 0 && box.bottom <= innerHeight && box.right <= innerWidth;
}
"""
SIZES = ((1920, 1080), (1366, 768), (390, 844))


@pytest.fixture
def page(screened: Screened, browser: Browser) -> Iterator[Page]:
    with screened.page(browser) as opened:
        opened.set_viewport_size({"width": 1920, "height": 1080})
        open_round(opened, screened)
        yield opened


def open_round(page: Page, screened: Screened) -> None:
    page.goto(screened.url + screened.round_path)
    page.wait_for_selector("html[data-ready=yes]")
    page.wait_for_selector(SETTLED)


def bookmark(page: Page, text: str) -> None:
    page.keyboard.press("b")
    page.keyboard.type(text)
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name=text)).to_be_visible()


def test_a_bookmark_is_a_fact_and_a_click_goes_back_to_it(page: Page, screened: Screened) -> None:
    page.keyboard.press("+")
    zoomed = page.locator(f'[data-camera="{CAMERA}"] .lens-note').inner_text()
    was = page.inner_text("#clock")
    page.keyboard.press("b")
    assert page.evaluate(IN_SIGHT, "#bookmark-form")
    assert faults(page) == []
    page.keyboard.type("He slides chips.")
    page.fill("#bookmark-tags", "cut, past posting")
    page.click("#bookmark-form button:text-is('Save')")
    link = page.get_by_role("link", name="He slides chips.")
    expect(link).to_be_visible()
    told = screened.told("bookmark_added.v1")[-1]
    assert (told["text"], told["tags"], told["by"]) == (
        "He slides chips.", ["cut", "past posting"], "S-2001",
    )  # fmt: skip
    assert told["view"][CAMERA]["zoom"] == 1500
    assert told["round"] == f"hollywood:{screened.subject}"
    assert page.locator("#timeline .mark").count() >= 1
    page.keyboard.press("0")
    page.keyboard.press("End")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    link.click()
    expect(page.locator("#clock")).to_have_text(was)
    assert page.locator(f'[data-camera="{CAMERA}"] .lens-note').inner_text() == zoomed


def test_a_bookmark_is_removed_with_a_reason_and_stays_on_record(
    page: Page, screened: Screened
) -> None:
    bookmark(page, "Of the wrong round.")
    item = page.locator("#marks-box li", has_text="Of the wrong round.")
    item.get_by_text("Remove").first.click()
    item.get_by_label("Reason").fill("It was another table.")
    item.get_by_role("button", name="Remove").click()
    expect(item).to_have_count(0)
    removed = screened.told("bookmark_removed.v1")[-1]
    assert removed["because"] == "It was another table."
    names = {each["bookmark"] for each in screened.told("bookmark_added.v1")}
    assert removed["bookmark"] in names


def test_a_still_is_the_exact_frame_with_its_hash_on_record(page: Page, screened: Screened) -> None:
    page.keyboard.press("c")
    page.keyboard.type("The hand on the chips.")
    page.keyboard.press("Enter")
    item = page.locator("#marks-box li", has_text="The hand on the chips.")
    expect(item).to_be_visible()
    told = screened.told("still_taken.v1")[-1]
    shown = page.locator(SETTLED).evaluate("(it) => [it.dataset.sha, Number(it.dataset.frame)]")
    assert [told["segment"], told["frame"]] == shown
    with page.expect_download() as waiting:
        item.get_by_role("link", name="Download the still").click()
    octets = waiting.value.path().read_bytes()
    assert hashlib.sha256(octets).hexdigest() == told["sha256"]
    assert told["sha256"] in item.inner_text()


def test_shapes_are_drawn_by_keys_and_by_pointer_beside_the_frame(
    page: Page, screened: Screened
) -> None:
    before = strip_octets(page, CAMERA)
    page.keyboard.press("a")
    sketch = page.locator(f'[data-camera="{CAMERA}"] svg.sketch')
    expect(sketch).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.check("#draw-form [value=box]")
    page.fill("#draw-text", "his hand")
    box = sketch.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] * 0.4)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.6)
    page.mouse.up()
    assert faults(page) == []
    page.click("#draw-form button:text-is('Save')")
    overlay = page.locator(f'[data-camera="{CAMERA}"] .overlay svg.shapes:not(.sketch)')
    expect(overlay.locator(".arrow")).to_have_count(1)
    expect(overlay.locator(".box")).to_have_count(1)
    told = screened.told("frame_annotated.v1")[-1]
    arrow, drawn = told["shapes"]
    entry = screened.library.entry(told["segment"])
    assert entry
    half = [entry.width // 2, entry.height // 2]
    assert (arrow["kind"], arrow["points"][0]) == ("arrow", half)
    assert arrow["points"][1][0] > half[0]
    assert (drawn["kind"], drawn["text"]) == ("box", "his hand")
    assert strip_octets(page, CAMERA) == before, "the picture is as it was"
    page.keyboard.press(".")
    expect(overlay).to_have_count(0)
    page.keyboard.press(",")
    expect(overlay.locator(".box")).to_have_count(1)


PLACES = """
(n) => {
  const tick = document.querySelector(`#timeline [data-fact="${n}"]`);
  const box = tick.getBoundingClientRect();
  return {
    tick: Number(/^M([\\d.]+)/.exec(tick.getAttribute("d"))[1]),
    line: Number(document.querySelector("#timeline .playhead").getAttribute("x1")),
    x: box.left + box.width / 2, y: box.top + box.height / 2,
  };
}
"""


def test_playhead_facts_and_pointer_share_one_axis(page: Page) -> None:
    numbers = [1, 4, len(page.query_selector_all(".fact"))]
    for number in numbers:
        page.evaluate("(n) => document.querySelector(`.fact a[data-go='${n}']`).click()", number)
        at = page.evaluate(PLACES, number)
        assert at["line"] == pytest.approx(at["tick"], abs=0.1), "by the list"
    for number in numbers:
        at = page.evaluate(PLACES, number)
        page.mouse.click(at["x"], at["y"])
        at = page.evaluate(PLACES, number)
        assert at["line"] == pytest.approx(at["tick"], abs=6), "by the pointer"


def test_the_timeline_shows_pictures_and_how_far_a_clock_may_be_wrong(page: Page) -> None:
    page.wait_for_selector("#timeline .strip[href]")
    strip = page.locator("#timeline .strip").get_attribute("href") or ""
    assert strip.endswith(f"strip.jpg?camera={CAMERA}")
    answer = page.request.get(page.evaluate("(path) => new URL(path, location).href", strip))
    assert answer.headers["content-type"] == "image/jpeg"
    assert len(answer.body()) < 100_000
    page.keyboard.press("2")
    page.wait_for_selector('#timeline .strip[href$="TDF-01-cam2"]')
    band = page.locator(f'#timeline .within[data-lane="{CAMERA}"]')
    left, width = (float(band.get_attribute(name) or 0) for name in ("x", "width"))
    line = float(page.locator("#timeline .playhead").get_attribute("x1") or 0)
    assert left <= line <= left + width
    assert 3 <= width < 60, "its clock was checked"


def test_an_auditor_sees_the_marks_and_makes_none(
    page: Page, screened: Screened, browser: Browser
) -> None:
    bookmark(page, "For the auditor.")
    with screened.page(browser, "ada") as other:
        open_round(other, screened)
        expect(other.get_by_role("link", name="For the auditor.")).to_be_visible()
        other.keyboard.press("b")
        assert other.locator("#bookmark-form, #mark-bookmark").count() == 0
        assert other.locator("#marks-box form").count() == 0
    with screened.page(browser, "fred") as other:
        other.goto(screened.url + screened.round_path)
        assert "For the auditor." not in other.content(), "marks are of footage"


def test_without_scripts_the_marks_are_listed(
    page: Page, screened: Screened, browser: Browser
) -> None:
    bookmark(page, "To be read without scripts.")
    with screened.page(browser, scripts=False) as other:
        other.goto(screened.url + screened.round_path)
        assert other.get_by_role("link", name="To be read without scripts.").is_visible()


def test_forms_and_marks_fit_every_screen(page: Page, screened: Screened) -> None:
    bookmark(page, "On every screen.")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        open_round(page, screened)
        for key, form in (("b", "#bookmark-form"), ("c", "#still-form"), ("a", "#draw-form")):
            page.keyboard.press(key)
            page.wait_for_selector(f"{form}[open]")
            assert page.evaluate(IN_SIGHT, form), (form, width)
            assert fits(page)
            page.click(f"{form} [data-cancel]")


def test_case_and_dossier_have_the_marks_and_the_dossier_checks_them(
    page: Page, screened: Screened, tmp_path: Path
) -> None:
    bookmark(page, "In case and dossier.")
    page.keyboard.press("c")
    page.keyboard.type("For the dossier.")
    page.keyboard.press("Enter")
    expect(page.locator("#marks-box", has_text="For the dossier.")).to_be_visible()
    subject = screened.subject
    claim = ("--position", "1", "--claim", "Short.", "--json")
    raised = screened.signed("dispute", "raise", subject, *claim)
    assert raised.code == 0, raised.err
    page.goto(f"{screened.url}/cases")
    page.get_by_role("link", name="D-").first.click()
    expect(page.get_by_role("link", name="In case and dossier.")).to_be_visible()
    out = tmp_path / "dossier"
    made = screened.signed("dossier", subject, "--out", out)
    assert made.code == 0, made.err
    marks = (out / "marks.jsonl").read_text()
    assert "In case and dossier." in marks
    assert "still_taken" in marks
    still = next((out / "stills").iterdir())
    checking = [sys.executable, "-I", "-S", out / "verify.py", out]
    told = subprocess.run(checking, capture_output=True, text=True, check=False).stdout
    broken = [line for line in told.splitlines() if line.startswith("BROKEN")]
    assert [line for line in broken if "unsigned" not in line] == []
    assert "Stills with exactly the picture that a fact records" in told
    still.write_bytes(still.read_bytes() + b"\0")
    told = subprocess.run(checking, capture_output=True, text=True, check=False).stdout
    assert "is not the picture of a still that a fact records" in told, "the control"
    assert still.suffix == ".png"
    assert "In case and dossier." in (out / "report.html").read_text()
    case = raised.json[0]["dispute"]  # tests that come after find no open dispute
    resolved = screened.signed("dispute", "resolve", case, "--outcome", "Right.")
    assert resolved.code == 0, resolved.err
