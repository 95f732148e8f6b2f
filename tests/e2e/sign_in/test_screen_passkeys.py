"""Passkeys in Chromium, with the virtual authenticator of its developer tools (CDP `WebAuthn`)."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pytest
from playwright.sync_api import expect

from infra.access.sessions import FRESH_S
from replay.web.access.authentication import SESSION
from tests.accessible import faults, fits, phone_faults
from tests.fixtures.postgres import copied
from tests.fixtures.web import PASSWORD, opened_site
from tests.scenes.table_days import day_lines
from tests.scenes.view_feeds import received

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, CDPSession, Page, Request

    from tests.fixtures.web import Site

pytestmark = pytest.mark.long

NAME = "finance"
_US = 1_000_000


class Device(NamedTuple):
    """A virtual authenticator of a browser's page: it has a screen lock and keeps passkeys."""

    cdp: CDPSession
    id: str

    def unlocks(self, *, verified: bool) -> None:
        """Whether the device's user is the right one from now on."""
        self.cdp.send(
            "WebAuthn.setUserVerified", {"authenticatorId": self.id, "isUserVerified": verified}
        )

    def passkeys(self) -> list[dict[str, Any]]:
        told = self.cdp.send("WebAuthn.getCredentials", {"authenticatorId": self.id})
        found: list[dict[str, Any]] = told["credentials"]
        return found

    def put(self, passkey: dict[str, Any]) -> None:
        """Keep this passkey in the place of the one with its id."""
        for what, given in (
            ("removeCredential", {"credentialId": passkey["credentialId"]}),
            ("addCredential", {"credential": passkey}),
        ):
            self.cdp.send(f"WebAuthn.{what}", {"authenticatorId": self.id, **given})


def device_of(page: Page) -> Device:
    cdp = page.context.new_cdp_session(page)
    cdp.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    made = cdp.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    return Device(cdp, made["authenticatorId"])


@pytest.fixture
def house(postgres_url: str, web_template: str, tmp_path: Path) -> Iterator[Site]:
    """The pages of a house under `localhost`, where a browser allows passkeys without TLS."""
    url = "http://localhost:{port}"
    with opened_site(copied(postgres_url, web_template), tmp_path, PUBLIC_URL=url) as opened:
        yield opened._replace(url=opened.url.replace("127.0.0.1", "localhost"))


@contextmanager
def opened(
    browser: Browser, site: Site, scheme: Literal["light", "dark"] = "light"
) -> Iterator[Page]:
    """A page of a browser of its own; what its scripts complain of is an error."""
    size = {"width": 1280, "height": 900}
    with browser.new_context(color_scheme=scheme, viewport=size) as context:  # type: ignore[arg-type] # as Playwright takes it
        page = context.new_page()
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        yield page
        assert not complaints


def signed_in(page: Page, site: Site, name: str = NAME) -> None:
    page.goto(f"{site.url}/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def add(page: Page, site: Site, label: str = "phone") -> None:
    page.goto(f"{site.url}/account")
    page.get_by_role("button", name="Add a passkey").click()
    page.get_by_label("Name of the passkey").fill(label)
    page.keyboard.press("Enter")


def enrolled(page: Page, site: Site, name: str = NAME) -> Device:
    """Sign in with the password, add a passkey and sign out."""
    device = device_of(page)
    signed_in(page, site, name)
    add(page, site)
    page.get_by_role("link", name="Go on").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    return device


def use_passkey(page: Page, site: Site) -> None:
    page.goto(f"{site.url}/sign-in?next=/account")
    page.get_by_role("button", name="Use a passkey").click()


def owner(site: Site, statement: str, *given: object) -> None:
    with site.database.connect("ledger_owner") as connection:
        connection.execute(statement.encode(), given)


def details(site: Site) -> list[str]:
    return [e.detail for e in site.ports.access.events() if e.what == "sign_in_failed"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_passkey_is_added_used_and_removed(
    browser: Browser, house: Site, scheme: Literal["light", "dark"]
) -> None:
    def looks_right(page: Page) -> None:
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.set_viewport_size({"width": 390, "height": 844})
        assert [*faults(page), *phone_faults(page)] == [], page.url
        page.set_viewport_size({"width": 1280, "height": 900})
        assert (faults(page), fits(page)) == ([], True), page.url

    with opened(browser, house, scheme) as page:
        device = device_of(page)
        signed_in(page, house)
        page.goto(f"{house.url}/account")
        page.get_by_role("button", name="Add a passkey").click()
        looks_right(page)
        add(page, house)
        expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
        looks_right(page)
        [kept] = device.passkeys()
        assert (kept["rpId"], kept["isResidentCredential"]) == ("localhost", True)
        page.get_by_role("link", name="Go on").click()
        expect(page.get_by_role("cell", name="phone", exact=True)).to_be_visible()
        expect(page.get_by_role("cell", name="never")).to_be_visible()
        looks_right(page)
        page.get_by_role("button", name="Sign out").click()
        looks_right(page)
        use_passkey(page, house)
        expect(page.get_by_role("heading", name="Your account")).to_be_visible()
        expect(page.get_by_role("cell", name="never")).to_have_count(0)
        page.get_by_role("button", name="Remove the passkey phone").click()
        expect(page.get_by_role("cell", name="phone", exact=True)).to_have_count(0)
        page.get_by_role("button", name="Sign out").click()
        use_passkey(page, house)
        expect(page.get_by_text("The passkey was refused")).to_be_visible()
        expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
        assert details(house) == ["passkey"]


def test_a_second_passkey_of_one_device_is_not_made(browser: Browser, house: Site) -> None:
    with opened(browser, house) as page:
        device = enrolled(page, house)
        use_passkey(page, house)
        expect(page.get_by_role("heading", name="Your account")).to_be_visible()
        add(page, house, "again")
        expect(page.get_by_text("This device has a passkey of yours already")).to_be_visible()
        assert len(device.passkeys()) == 1


def test_an_approval_and_an_export_take_a_passkey(browser: Browser, house: Site) -> None:
    with opened(browser, house) as page:
        enrolled(page, house)
        use_passkey(page, house)
        expect(page.get_by_role("heading", name="Your account")).to_be_visible()
        with page.expect_download() as fresh:
            page.evaluate("location = '/rounds.csv?finding=any'")
        assert fresh.value.suggested_filename.endswith(".csv"), "the control: it asks for nothing"
        owner(house, "UPDATE access.sessions SET began_at_us = began_at_us - %s", FRESH_S * _US)
        page.goto(f"{house.url}/rounds.csv?finding=any")
        expect(page.get_by_label("Password of finance")).to_be_focused()
        assert (faults(page), fits(page)) == ([], True)
        with page.expect_download() as file:
            page.get_by_role("button", name="Use a passkey").click()
        assert file.value.suggested_filename.endswith(".csv")
        owner(
            house,
            "UPDATE access.sessions SET began_at_us = began_at_us - %s, proven_at_us = NULL",
            FRESH_S * _US,
        )
        page.goto(f"{house.url}/account")
        page.evaluate(APPROVE)
        expect(page.get_by_role("heading", name="Your password again")).to_be_visible()
        page.get_by_role("button", name="Use a passkey").click()
        expect(page.get_by_text("There is no")).to_be_visible()


APPROVE = """() => {
  const form = document.querySelector("form.me");
  form.action = "/approvals/hollywood/06522a1b4c3d80-9f01ab";
  form.insertAdjacentHTML("beforeend", '<input type="hidden" name="step" value="approve">');
  form.submit();
}"""
"""Send the approval of a request that is not there, as its page does."""


def test_a_new_password_takes_a_passkey_and_what_is_typed(browser: Browser, house: Site) -> None:
    with opened(browser, house) as page:
        enrolled(page, house)
        use_passkey(page, house)
        form = page.locator("form[action='/account/password']")
        form.get_by_role("button", name="Use a passkey").click()
        expect(form.get_by_label("New password")).to_be_focused()
        form.get_by_label("New password").fill("seven quiet harbours")
        form.get_by_role("button", name="Use a passkey").click()
        expect(page.get_by_text("The password is changed")).to_be_visible()


def test_a_device_that_does_not_know_its_user_signs_nothing(browser: Browser, house: Site) -> None:
    with opened(browser, house) as page:
        device = enrolled(page, house)
        device.unlocks(verified=False)
        use_passkey(page, house)
        expect(page.get_by_text("The device gave no passkey")).to_be_visible()
        device.unlocks(verified=True)
        page.get_by_role("button", name="Use a passkey").click()
        expect(page.get_by_role("heading", name="Your account")).to_be_visible()


def test_an_answer_sent_again_signs_nobody_in(browser: Browser, house: Site) -> None:
    with opened(browser, house) as page:
        enrolled(page, house)
        with page.expect_request("**/sign-in/passkey") as found:
            use_passkey(page, house)
        expect(page.get_by_role("heading", name="Your account")).to_be_visible()
        answer = passkey_of(found.value)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Use a passkey")).to_be_visible()
        page.evaluate(SEND, answer)
        expect(page.get_by_text("The passkey was refused")).to_be_visible()
        assert SESSION not in {each["name"] for each in page.context.cookies()}


SEND = """(answer) => {
  const form = document.querySelector("form[action='/sign-in/passkey']");
  form.elements.passkey.value = answer;
  form.submit();
}"""


def passkey_of(request: Request) -> str:
    """What a form of a page sent as the passkey's answer."""
    answer: str = json.loads(json.dumps(request.post_data_json))["passkey"]
    return answer


def test_a_copied_passkey_is_found_out_by_its_count(browser: Browser, house: Site) -> None:
    with opened(browser, house) as page:
        device = enrolled(page, house)
        [copy] = device.passkeys()
        for _ in range(2):
            use_passkey(page, house)
            expect(page.get_by_role("heading", name="Your account")).to_be_visible()
            page.get_by_role("button", name="Sign out").click()
        assert device.passkeys()[0]["signCount"] > copy["signCount"] + 1, "this device counts"
        device.put(copy)
        use_passkey(page, house)
        expect(page.get_by_text("The passkey was refused")).to_be_visible()
        assert details(house) == ["passkey counter"]


def test_under_another_address_no_passkey_signs_in(browser: Browser, house: Site) -> None:
    """The browser gives none of `localhost` to a page of an address."""
    with opened(browser, house) as page:
        enrolled(page, house)
        use_passkey(page, house._replace(url=house.url.replace("localhost", "127.0.0.1")))
        expect(page.get_by_text("Passkeys do not work under this address")).to_be_visible()
        use_passkey(page, house)
        expect(page.get_by_role("heading", name="Your account")).to_be_visible()


def test_an_answer_for_another_port_adds_nothing(
    browser: Browser, postgres_url: str, web_template: str, tmp_path: Path
) -> None:
    """Its host is the same, so the browser makes one; the server finds another origin."""
    database, url = copied(postgres_url, web_template), "http://localhost:1"
    with opened_site(database, tmp_path, PUBLIC_URL=url) as site, opened(browser, site) as page:
        site = site._replace(url=site.url.replace("127.0.0.1", "localhost"))  # noqa: PLW2901 - as browsers reach it
        device = device_of(page)
        signed_in(page, site)
        add(page, site)
        expect(page.get_by_text("makes no passkey here")).to_be_visible()
        assert (len(device.passkeys()), site.ports.sessions.passkeys.of(NAME)) == (1, [])


def test_another_users_passkey_approves_nothing(browser: Browser, house: Site) -> None:
    with opened(browser, house) as page:
        device = enrolled(page, house, "ops")
        signed_in(page, house)
        add(page, house, "mine")
        page.get_by_role("link", name="Go on").click()
        mine, theirs = sorted(device.passkeys(), key=lambda each: each["userName"])
        assert (mine["userName"], theirs["userName"]) == ("finance", "ops")
        device.cdp.send(
            "WebAuthn.removeCredential",
            {"authenticatorId": device.id, "credentialId": mine["credentialId"]},
        )
        owner(house, "UPDATE access.sessions SET began_at_us = began_at_us - %s", FRESH_S * _US)
        page.goto(f"{house.url}/rounds.csv?finding=any")
        page.get_by_role("button", name="Use a passkey").click()
        expect(page.get_by_text("The device gave no passkey")).to_be_visible()
        device.cdp.send(
            "WebAuthn.addCredential", {"authenticatorId": device.id, "credential": mine}
        )
        with page.expect_download():
            page.get_by_role("button", name="Use a passkey").click()


def test_a_second_person_signs_a_paper_by_a_passkey(browser: Browser, house: Site) -> None:
    """The first one stays signed in. The page fits a telephone."""
    house.take_in([received(json.dumps(each).encode()) for each in day_lines()])
    with opened(browser, house) as page:
        enrolled(page, house, "ops")
        signed_in(page, house)
        page.goto(f"{house.url}/entry/forms/check_book_signed_out?property=p")
        for label, text in (
            ("Number of the book", "1"), ("First blank check", "K-1"), ("Last blank check", "K-9"),
            ("Received by (credential)", "S-ops"),
        ):  # fmt: skip
            page.get_by_label(label).fill(text)
        page.get_by_role("button", name="Put on record").click()
        expect(page.get_by_role("heading", name="S-ops signs here")).to_be_visible()
        expect(page.get_by_text("K-9")).to_be_visible()
        assert (faults(page), fits(page)) == ([], True)
        page.get_by_role("button", name="Use a passkey").click()
        expect(page.get_by_text("It is on record.")).to_be_visible()
        expect(page.get_by_role("link", name="finance").first).to_be_visible()
    events = house.ports.access.events()
    assert [(e.name, e.actor) for e in events if e.what == "paper_signed"] == [("ops", NAME)]


def test_without_scripts_the_password_signs_in(browser: Browser, house: Site) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        signed_in(page, house)
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("button", name="Use a passkey")).to_have_count(0)
