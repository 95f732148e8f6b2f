"""An investigator's path in Chromium: from signing in to a dossier that a stranger checks offline.

Two people who do not share what they know: one raises the dispute, the other looks first.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Request, Response

    from tests.fixtures.screen import Screened

CLAIM = "My neighbour was paid less than I was for the same hand."
SAW = "Chips were pushed to the patron; more than lay on the wager."


@pytest.fixture
def second(screened: Screened) -> str:
    """Another investigator, who has seen nothing of the round."""
    screened.add_person("sam", "S-2002", "surveillance")
    return "sam"


WATCHED = """
() => Object.keys(localStorage).some((key) => key.startsWith("watched ") && key.includes("TDF-01"))
"""


@contextmanager
def kept(page: Page) -> Iterator[list[str]]:
    """All that a page is sent meanwhile that is text, as it was sent."""
    sent: list[str] = []

    def keep(request: Request) -> None:
        response = request.response()
        assert response
        kind = response.headers.get("content-type", "")
        if kind.startswith(("text/", "application/json")) and "/static/" not in response.url:
            sent.append(_text(response))

    page.on("requestfinished", keep)
    yield sent


def _text(response: Response) -> str:
    """The text of a response. If its page was left meanwhile, it is asked for once more."""
    try:
        return response.text()
    except PlaywrightError:
        return response.frame.page.request.get(response.url).text()


@pytest.mark.long
def test_an_investigator_goes_from_a_complaint_to_a_dossier_that_holds(
    screened: Screened, second: str, browser: Browser, tmp_path: Path
) -> None:
    screened.cli("keys", "signing", "make")
    key = screened.cli("keys", "signing", "show", "--json").json[0]["public"]
    with screened.page(browser) as page:
        found(page, screened)
        remark = f"Paid too much, before {second} looked."
        position = mispaid(page, remark)
        case = raised(page, position, remark)
    with screened.page(browser, second) as page:
        reviewed_blind(page, screened, case)
        settled(page, case)
        page.get_by_role("link", name="dossier", exact=True).click()
        page.get_by_label("Reason").fill("The patron's lawyer asked.")
        with page.expect_download() as download:
            page.get_by_role("button", name="Make and download").click()
        download.value.save_as(tmp_path / "one.zip")
    holds, told = checked(tmp_path, tmp_path / "one.zip", key)
    assert holds == 0, told
    holds, told = checked(tmp_path, edited(tmp_path), key)
    assert holds == 1, told
    assert "facts.jsonl" in told
    kinds = (
        "dispute_raised", "footage_locked", "observation_recorded", "dispute_noted",
        "adjustment_paid", "dispute_resolved", "footage_viewed", "footage_exported",
    )  # fmt: skip
    assert [kind for kind in kinds if not screened.told(f"{kind}.v1")] == []


def found(page: Page, screened: Screened) -> None:
    """The round is looked for as one types, and opened."""
    page.goto(f"{screened.url}/find")
    page.get_by_label("Table", exact=True).press_sequentially(screened.subject.split("/")[0])
    page.get_by_label("Finding").select_option("overpaid")
    link = page.get_by_role("link", name=screened.subject, exact=True)
    expect(page.locator("table.rounds tbody tr")).to_have_count(1)
    link.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-ready=yes]")
    assert page.url.startswith(screened.url + screened.round_path)


def mispaid(page: Page, remark: str) -> str:
    """Step by keyboard to the payment, over it, and remark on it: owed and paid; the position."""
    at = page.locator("#at-number")
    flagged = int(at.inner_text())  # a round opens where its finding points
    page.keyboard.press("ArrowLeft")
    expect(at).to_have_text(str(flagged - 1))
    page.keyboard.press("ArrowRight")
    expect(at).to_have_text(str(flagged))
    expect(page.locator(".fact[aria-current=step]")).to_contain_text("overpaid")
    page.keyboard.press("b")
    page.keyboard.type(remark)
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name=remark)).to_be_visible()
    row = page.locator("tr.differs")
    expect(row).to_have_count(1)
    cells = row.locator("td").all_inner_texts()
    assert "paid" in cells[5]
    assert cells[6].startswith("+$")
    return cells[0].split()[0]


def raised(page: Page, position: str, remark: str) -> str:
    """Raise the dispute, and attach to it the moment that was marked; the case's address."""
    round_url = page.url
    page.get_by_role("link", name="Raise a dispute").click()
    page.get_by_label("Betting position").fill(position)
    page.get_by_label("The claim").fill(CLAIM)
    page.get_by_role("button", name="Raise").click()
    expect(page.get_by_role("heading", name="Claimed")).to_be_visible()
    case = page.url
    page.goto(round_url)
    page.wait_for_selector("html[data-ready=yes]")
    marked = page.locator("#at-number").inner_text()
    marks = page.get_by_role("listitem").filter(has_text=remark)
    name = case.rpartition("/")[2]
    marks.get_by_role("link", name=f"attach to {name}", exact=True).click()
    expect(page.get_by_label("Fact of the round")).to_have_value(marked)
    page.get_by_role("textbox", name="Note").fill("Here.")
    page.get_by_role("button", name="Add").click()
    note = page.get_by_role("article").filter(has_text="Here.")
    expect(note.get_by_role("link", name=f"fact {marked}", exact=True)).to_be_visible()
    assert page.url == case
    return case


def reviewed_blind(page: Page, screened: Screened, case: str) -> None:
    """Nothing of claim or record is sent until what was seen is on record."""
    with kept(page) as sent:
        page.goto(case)
        page.get_by_role("link", name="the footage alone").click()
        page.wait_for_selector("html[data-ready=yes]")
        page.goto(screened.url + screened.round_path)  # who goes round about is led to the same
        page.wait_for_selector("html[data-ready=yes]")
        expect(page.get_by_text("Blind review.")).to_be_visible()
        page.keyboard.press(" ")
        page.wait_for_function(WATCHED)
        page.keyboard.press(" ")
        page.get_by_role("link", name="go to the case").click()
        page.wait_for_load_state("networkidle")
        for secret in (CLAIM, "Owed by the ruling", "overpaid", "is paid", 'class="fact'):
            assert not [text for text in sent if secret in text], secret
        assert sum("Blind review." in text for text in sent) == 3, "nothing was looked at"
    expect(page.locator("#watched-says")).to_contain_text("s on TDF-01-cam1")
    page.get_by_label("What you saw, before you know the claim").fill(SAW)
    page.get_by_role("button", name="Record").click()
    expect(page.get_by_text(CLAIM)).to_be_visible()
    expect(page.get_by_text("blind", exact=True)).to_be_visible()
    expect(page.get_by_text("claim unknown, watched")).to_be_visible()
    page.get_by_role("link", name="see the round").click()
    expect(page.locator("#facts")).to_be_visible()


def settled(page: Page, case: str) -> None:
    """An adjustment is paid, and the dispute resolved."""
    page.goto(case)
    page.get_by_label("Dollars").fill("5")
    page.get_by_role("button", name="Put on record").click()
    expect(page.get_by_text("$5.00 to position")).to_be_visible()
    page.get_by_label("Decision").fill("The dealer erred; the patron keeps it.")
    page.get_by_role("button", name="Resolve").click()
    expect(page.locator("#outcome")).to_contain_text("The dealer erred")


def checked(folder: Path, dossier: Path, key: str) -> tuple[int, str]:
    """What the checker says, run alone with no path to anything of ours."""
    with zipfile.ZipFile(folder / "one.zip") as archive:
        (folder / "verify.py").write_bytes(archive.read("verify.py"))
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "verify.py", "--key", key, dossier.name],
        cwd=folder, env={}, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return ran.returncode, ran.stdout


def edited(folder: Path) -> Path:
    """A copy in which one amount is another."""
    other = folder / "edited.zip"
    with zipfile.ZipFile(folder / "one.zip") as whole, zipfile.ZipFile(other, "w") as copy:
        for name in whole.namelist():
            octets = whole.read(name)
            if name == "facts.jsonl":
                changed = re.sub(
                    rb"(amount\D{1,6})(\d)", lambda m: m[1] + b"9" + m[2], octets, count=1
                )
                assert changed != octets
                octets = changed
            copy.writestr(name, octets)
    return other
