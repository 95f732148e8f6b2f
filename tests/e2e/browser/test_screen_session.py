"""A session begins with a code where one is asked for; its end is announced beforehand.

Text being written is not lost with it.
"""

from __future__ import annotations

import time
from base64 import b32decode
from typing import TYPE_CHECKING, Literal
from urllib.parse import parse_qs, urlsplit

import pytest
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor.totp import TOTP
from playwright.sync_api import expect

from infra.access.second_factor import DIGITS, RECOVERY_CODES, STEP_S
from infra.access.sessions import FRESH_S, IDLE_S_MAX, LAST_S, SESSION_S_MAX, WARN_S
from tests.accessible import faults, fits, phone_faults
from tests.e2e.browser.test_screen_cases import CLAIM, raised, round_path
from tests.e2e.browser.test_screen_find import PASSWORD, opened
from tests.until import until

if TYPE_CHECKING:
    from playwright.sync_api import APIResponse, Browser, Page, Route, ViewportSize

    from tests.fixtures.web import Site

__all__ = ["round_path"]
NOTE = "At the second shuffle the cut card is seen to fall."


def age(site: Site, *, unused_s: int = 0, old_s: int = 0) -> None:
    """Make every session one that was not used for so long, and that began so long ago."""
    with site.database.connect("ledger_owner") as connection:
        connection.execute(
            "UPDATE access.sessions"
            " SET used_at_us = used_at_us - %s, began_at_us = began_at_us - %s",
            (unused_s * 1_000_000, old_s * 1_000_000),
        )


def look(page: Page) -> None:
    """Come back to a tab, which then asks how long its session goes on."""
    with page.expect_response("**/session"):
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def works(page: Page) -> None:
    page.get_by_role("textbox", name="Note").fill(NOTE)


@pytest.fixture
def case(browser: Browser, staffed: Site, round_path: str) -> str:
    with opened(browser, staffed, "surveillance") as page:
        return raised(page, staffed, round_path)


@pytest.mark.long
def test_the_end_is_told_and_one_press_stays(browser: Browser, staffed: Site, case: str) -> None:
    with opened(browser, staffed, "surveillance") as page:
        page.goto(case)
        look(page)
        told = page.get_by_role("alert")
        expect(told).to_be_hidden()
        age(staffed, unused_s=IDLE_S_MAX - WARN_S + 5)
        look(page)
        expect(told).to_contain_text("will be signed out within 2 minutes")
        assert faults(page) == []
        assert fits(page)
        page.get_by_role("button", name="Stay signed in").focus()
        page.keyboard.press("Enter")
        expect(told).to_be_hidden()
        age(staffed, unused_s=IDLE_S_MAX - 10)
        assert page.goto(case), "the control: it was used anew, so it is not over yet"
        expect(page.get_by_text(CLAIM)).to_be_visible()


@pytest.mark.long
def test_an_answer_that_comes_late_takes_no_newer_warning_away(
    browser: Browser, staffed: Site, case: str
) -> None:
    """Coming back to a tab asks twice, and the first to be asked may be the last to answer."""
    with opened(browser, staffed, "surveillance") as page:
        page.goto(case)
        held: list[tuple[Route, APIResponse]] = []
        page.route("**/session", lambda route: held.append((route, route.fetch())), times=1)
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        until(lambda: page.evaluate("1") and held)
        age(staffed, unused_s=IDLE_S_MAX - WARN_S + 5)
        look(page)
        told = page.get_by_role("alert")
        expect(told).to_contain_text("will be signed out within 2 minutes")
        [(route, answer)] = held
        with page.expect_response("**/session"):
            route.fulfill(response=answer)
        page.wait_for_timeout(200)
        assert told.is_visible()


@pytest.mark.long
def test_who_works_on_a_page_stays_signed_in_and_who_does_not_is_not(
    browser: Browser, staffed: Site, case: str
) -> None:
    with opened(browser, staffed, "surveillance") as page:
        page.goto(case)
        age(staffed, unused_s=IDLE_S_MAX // 2)
        look(page)
        left = left_s(page)
        assert left < IDLE_S_MAX * 0.6, "asking is not working"
        works(page)
        look(page)
        page.wait_for_function(
            f"fetch('/session').then(a => a.json()).then(t => t.left_s > {IDLE_S_MAX - 60})"
        )


def left_s(page: Page) -> float:
    left: float = page.evaluate("fetch('/session').then(a => a.json()).then(t => t.left_s)")
    return left


@pytest.mark.long
def test_the_end_of_a_shift_is_told_and_nothing_puts_it_off(
    browser: Browser, staffed: Site, case: str
) -> None:
    with opened(browser, staffed, "surveillance") as page:
        page.goto(case)
        age(staffed, old_s=SESSION_S_MAX - LAST_S + 5)
        works(page)
        look(page)
        expect(page.get_by_role("alert")).to_contain_text("Yours ends within 10 minutes")
        assert page.get_by_role("button", name="Stay signed in").is_hidden()


@pytest.mark.long
def test_a_note_half_written_is_sent_after_signing_in_again_in_another_tab(
    browser: Browser, staffed: Site, case: str
) -> None:
    with opened(browser, staffed, "surveillance") as page:
        page.goto(case)
        works(page)
        age(staffed, unused_s=IDLE_S_MAX + 1)
        look(page)
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("What you typed is still here")
        with page.context.expect_page() as found:
            alert.get_by_role("link").click()
        sign_in(found.value, "second")
        look(page)
        expect(alert).to_contain_text("Someone else has signed in")
        found.value.get_by_role("button", name="Sign out").click()
        sign_in(found.value, "surveillance")
        look(page)
        expect(alert).to_be_hidden()
        page.get_by_role("button", name="Add").click()
        expect(page.get_by_text(NOTE)).to_be_visible()


def sign_in(page: Page, name: str) -> None:
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


@pytest.mark.long
def test_what_is_sent_too_late_is_given_back(staffed: Site, case: str) -> None:
    browser = staffed.browser("surveillance")
    path = case.removeprefix(staffed.url)
    form = {"csrf": browser.token(path), "note": f"<b>{NOTE}", "step": "add_a_note"}
    age(staffed, unused_s=IDLE_S_MAX + 1)
    answer = browser.post(path, data=form)
    assert (answer.status_code, f"&lt;b&gt;{NOTE}" in answer.text) == (401, True)
    assert form["csrf"] not in answer.text
    assert form["step"] not in answer.text
    elsewhere = browser.post(path, data=form, headers={"Sec-Fetch-Site": "cross-site"})
    assert (elsewhere.status_code, NOTE in elsewhere.text) == (401, False)
    long = browser.post(path, content=b"x" * 1000, headers={"Content-Type": "multipart/form-data"})
    assert long.status_code == 401, "what is no form has nothing to give back"


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_second_factor_is_set_up_and_signed_in_with(
    browser: Browser, staffed: Site, scheme: Literal["light", "dark"]
) -> None:
    wide: ViewportSize = {"width": 1920, "height": 1080}

    def looks_right(page: Page) -> None:
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.set_viewport_size({"width": 390, "height": 844})
        assert [*faults(page), *phone_faults(page)] == [], page.url
        page.set_viewport_size(wide)
        assert (faults(page), fits(page)) == ([], True), page.url

    def sign_in(page: Page) -> None:
        page.goto(f"{staffed.url}/sign-in")
        page.get_by_label("Name").fill("finance")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()

    with browser.new_context(color_scheme=scheme, viewport=wide) as context:
        page = context.new_page()
        sign_in(page)
        page.goto(f"{staffed.url}/account")
        looks_right(page)
        page.get_by_role("button", name="Turn on the second factor").click()
        expect(page.get_by_role("img", name="QR code")).to_be_visible()
        looks_right(page)
        secret = parse_qs(
            urlsplit(page.get_by_role("link", name="open the app").get_attribute("href")).query
        )["secret"][0]
        page.get_by_label("Code that the app shows now").fill(code_now(secret))
        page.get_by_role("button", name="Confirm").click()
        codes = page.get_by_role("listitem").get_by_role("code").all_inner_texts()
        assert len(codes) == RECOVERY_CODES
        looks_right(page)
        page.get_by_role("link", name="Go on").click()
        expect(page.get_by_text("You have 10 recovery codes left")).to_be_visible()
        looks_right(page)
        page.get_by_role("button", name="Sign out").click()
        sign_in(page)
        code = page.get_by_label("Code of the app")
        expect(code).to_be_focused()
        expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
        looks_right(page)
        code.fill(codes[0])
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        age(staffed, old_s=FRESH_S)
        page.goto(f"{staffed.url}/rounds.csv?finding=any")
        looks_right(page)
        page.get_by_label("Password of finance").fill(PASSWORD)
        page.get_by_label("Code of the app").fill(codes[1])
        with page.expect_download() as file:
            page.get_by_role("button", name="Go on").click()
        assert file.value.suggested_filename.endswith(".csv")


def code_now(secret: str) -> str:
    """What an app shows now. It counts for half a minute more, so no step's end is in the way."""
    return TOTP(b32decode(secret), DIGITS, SHA1(), STEP_S).generate(time.time()).decode()  # noqa: S303 - as RFC 6238 has it
