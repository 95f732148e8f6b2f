"""A second factor at sign-in: a code after the password, once each, and no session before it.

The codes are made by the text of RFC 6238 and not by the library that checks them. The clock is
the test's.
"""

from __future__ import annotations

import errno
import hmac
import re
import struct
from base64 import b32decode
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from infra.access import second_factor, sessions
from infra.access.connections import Actor
from infra.access.second_factor import KEY_FILE, RECOVERY_CODES, STEP_S
from infra.access.sessions import FRESH_S, digest_of
from infra.access.tries import TRIES_MAX, TRIES_S
from ledger.errors import Lacking, Refused
from replay.web.access.authentication import PENDING, SESSION
from tests.fixtures.cli import Cli, environ
from tests.fixtures.postgres import copied, waits_for_a_lock
from tests.fixtures.web import ACTOR, PASSWORD, opened_site
from tests.footage.qr_codes import read_svg
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx

    from infra.access.connections import Event
    from infra.access.tries import Try
    from infra.postgres.connection import AnyConnection
    from tests.fixtures.web import Browser, Site

pytestmark = pytest.mark.usefixtures("quick_hashes")

WRONG, NAME = "no code", "surveillance"
_US = 1_000_000


class Clock:
    """The database's clock, as second factors read it."""

    s = 1_800_000_000

    def later(self, steps: int = 1) -> None:
        self.s += steps * STEP_S


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(second_factor, "now_s", lambda _connection: made.s)
    return made


def code_of(secret: str, at_s: int) -> str:
    """What an app shows at a time."""
    digest = hmac.digest(b32decode(secret), struct.pack(">Q", at_s // 30), "sha1")
    start = digest[-1] & 15
    [number] = struct.unpack(">I", digest[start : start + 4])
    return f"{(number & 0x7FFFFFFF) % 10**6:06}"


def secret_in(page: str) -> str:
    """The secret of the address on the page that sets an app up."""
    found = re.search(r'otpauth://totp/[^"]+', unescape(page))
    assert found, page
    return parse_qs(urlsplit(found[0]).query)["secret"][0]


def codes_in(page: str) -> list[str]:
    """The recovery codes of a page."""
    return re.findall(r"<li><code>([A-Z2-7 ]+)</code>", page)


def turned_on(site: Site, clock: Clock, name: str = NAME) -> tuple[str, list[str]]:
    """Turn it on as the user does; the secret and the recovery codes."""
    who = site.browser(name)
    secret = secret_in(who.post("/account/second-factor", data={"csrf": who.csrf}).text)
    form = {"csrf": who.csrf, "code": code_of(secret, clock.s)}
    answer = who.post("/account/second-factor/confirm", data=form)
    assert answer.status_code == 200, answer.text
    clock.later()
    return secret, codes_in(answer.text)


def after_password(site: Site, name: str = NAME, then: str = "/account") -> Browser:
    """A browser that has given the password alone."""
    browser = site.browser()
    answer = browser.sign_in(name, then=then)
    assert answer.headers["Location"].startswith("/sign-in/code?next="), answer.text
    return browser


def give(browser: Browser, code: str, then: str = "/account") -> httpx.Response:
    form = {"csrf": browser.token("/sign-in/code"), "code": code, "next": then}
    return browser.post("/sign-in/code", data=form)


def status(site: Site, code: str) -> int:
    """What a new browser is answered to the password and this code; no try before it counts."""
    owner(site, "DELETE FROM access.tries")
    return give(after_password(site), code).status_code


def owner(site: Site, statement: str, *given: object) -> None:
    with site.database.connect("ledger_owner") as connection:
        connection.execute(statement.encode(), given)


def events(site: Site, what: str) -> list[Event]:
    return [each for each in site.ports.access.events() if each.what == what]


def test_the_password_alone_makes_no_session(staffed: Site, clock: Clock) -> None:
    secret, _ = turned_on(staffed, clock)
    owner(staffed, "DELETE FROM access.sessions")
    browser = after_password(staffed)
    assert SESSION not in browser.cookies
    assert staffed.ports.sessions.running(NAME) == []
    assert browser.get("/account").status_code == 303, "it leads to sign-in"
    assert browser.get("/review").headers["Location"] == "/sign-in?next=/review"
    pending = browser.cookies[PENDING]
    browser.cookies.set(SESSION, pending, domain="127.0.0.1", path="/")
    assert browser.get("/account").status_code == 303, "what is pending is no session"
    browser.cookies.delete(SESSION)
    answer = give(browser, code_of(secret, clock.s))
    assert (answer.status_code, answer.headers["Location"]) == (303, "/account")
    assert browser.get("/account").status_code == 200
    assert len(staffed.ports.sessions.running(NAME)) == 1
    assert events(staffed, "signed_in")[0].detail == "password and code"


def test_a_user_without_it_signs_in_as_before(staffed: Site, clock: Clock) -> None:
    turned_on(staffed, clock)
    browser = staffed.browser()
    answer = browser.sign_in("ops", then="/live?x=1")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/live?x=1")
    assert SESSION in answer.cookies
    assert PENDING not in answer.cookies
    assert browser.get("/account").status_code == 200


def test_a_wrong_code_lets_nobody_in(staffed: Site, clock: Clock) -> None:
    secret, _ = turned_on(staffed, clock)
    right = code_of(secret, clock.s)
    browser = after_password(staffed)
    near = f"{(int(right) + 1) % 10**6:06}"
    for wrong in (near, right[:-1], ""):
        answer = give(browser, wrong)
        assert (answer.status_code, "The code is wrong" in answer.text) == (401, True)
        assert SESSION not in browser.cookies
    assert {each.detail for each in events(staffed, "sign_in_failed")} == {"code"}
    spaced = give(browser, f" {right[:3]} {right[3:]} ")
    assert (spaced.status_code, SESSION in browser.cookies) == (303, True), "the control"


def test_a_code_counts_once_and_no_older_one_after_it(staffed: Site, clock: Clock) -> None:
    secret, _ = turned_on(staffed, clock)
    older, code = code_of(secret, clock.s - STEP_S), code_of(secret, clock.s)
    assert status(staffed, code) == 303
    assert status(staffed, code) == 401, "used"
    assert status(staffed, older) == 401, "older than what was used"
    clock.later()
    assert status(staffed, code) == 401, "still within the drift, and used"
    assert status(staffed, code_of(secret, clock.s)) == 303, "the control: the next one"


def test_the_code_that_turned_it_on_signs_nobody_in(staffed: Site, clock: Clock) -> None:
    secret, _ = turned_on(staffed, clock)
    assert status(staffed, code_of(secret, clock.s - STEP_S)) == 401
    assert status(staffed, code_of(secret, clock.s)) == 303, "the control: the next one"


@pytest.mark.parametrize(("steps", "wanted"), [(-2, 401), (-1, 303), (0, 303), (1, 303), (2, 401)])
def test_the_apps_clock_may_differ_by_one_step(
    staffed: Site, clock: Clock, steps: int, wanted: int
) -> None:
    secret, _ = turned_on(staffed, clock)
    clock.later(10)
    assert status(staffed, code_of(secret, clock.s + steps * STEP_S)) == wanted


def test_after_too_many_tries_even_the_right_code_waits(staffed: Site, clock: Clock) -> None:
    secret, (recovery, *_) = turned_on(staffed, clock)
    browser = after_password(staffed)
    for _ in range(TRIES_MAX - 1):
        assert give(browser, WRONG).status_code == 401
    for code in (code_of(secret, clock.s), recovery):
        answer = give(browser, code)
        assert (answer.status_code, SESSION in browser.cookies) == (429, False)
        assert int(answer.headers["Retry-After"]) > 0
    assert staffed.browser().sign_in("ops").status_code == 303, "others are not kept out"
    owner(staffed, "UPDATE access.tries SET tried_at_us = tried_at_us - %s", TRIES_S * _US)
    assert give(browser, code_of(secret, clock.s)).status_code == 303


def test_the_right_password_gives_no_new_tries(staffed: Site, clock: Clock) -> None:
    turned_on(staffed, clock)
    answers = []
    for _ in range(TRIES_MAX):
        browser = staffed.browser()
        if browser.sign_in(NAME).status_code == 303:
            answers.append(give(browser, WRONG).status_code)
    assert answers == [401, 401, 429]


def test_tries_of_codes_count_over_all_addresses(staffed: Site, clock: Clock) -> None:
    """Who knows the password could ask from a thousand addresses."""
    secret, _ = turned_on(staffed, clock)
    turned_on(staffed, clock, "ops")
    factors = staffed.ports.sessions.factors
    for nth in range(TRIES_MAX):
        assert factors.tried(NAME, WRONG, f"192.0.2.{nth}") == (False, 0)
    waits = factors.tried(NAME, code_of(secret, clock.s), "192.0.2.99")
    assert waits == (False, TRIES_S)
    assert factors.tried("ops", WRONG, "192.0.2.99") == (False, 0), "of this user alone"


def test_a_recovery_code_signs_in_once(staffed: Site, clock: Clock) -> None:
    secret, codes = turned_on(staffed, clock)
    assert len(set(codes)) == RECOVERY_CODES
    assert {len(each.replace(" ", "")) for each in codes} == {24}
    first, second, *_ = codes
    assert status(staffed, first) == 303
    assert status(staffed, first) == 401, "it is used"
    assert status(staffed, second.replace(" ", "").lower()) == 303, "however it is typed"
    assert status(staffed, code_of(secret, clock.s)) == 303, "the app's codes count as before"
    assert [each.name for each in events(staffed, "recovery_code_used")] == [NAME] * 2
    turned_on(staffed, clock, "ops")
    other = give(after_password(staffed, "ops"), codes[2])
    assert other.status_code == 401, "another user's"


def test_a_session_or_sign_in_that_was_planted_is_not_the_one_signed_in_with(
    staffed: Site, clock: Clock
) -> None:
    secret, _ = turned_on(staffed, clock)
    attacker = after_password(staffed)
    planted = attacker.cookies[PENDING]
    victim = staffed.browser()
    for name, value in ((PENDING, planted), (SESSION, "planted")):
        victim.cookies.set(name, value, domain="127.0.0.1", path="/")
    assert victim.sign_in(NAME).status_code == 303
    assert victim.cookies[PENDING] != planted
    finished = victim.cookies[PENDING]
    assert give(victim, code_of(secret, clock.s)).status_code == 303
    assert victim.cookies[SESSION] not in ("planted", planted, finished)
    assert PENDING not in victim.cookies
    assert victim.get("/account").status_code == 200
    assert attacker.get("/account").status_code == 303, "the victim's code opened nothing here"
    attacker.cookies.set(SESSION, "planted", domain="127.0.0.1", path="/")
    assert attacker.get("/account").status_code == 303
    again = staffed.browser()
    again.cookies.set(PENDING, finished, domain="127.0.0.1", path="/")
    assert again.get("/sign-in/code").headers["Location"] == "/sign-in?next=/", "it is over"


def test_a_pending_sign_in_is_over_with_time_and_with_the_password(
    staffed: Site, clock: Clock
) -> None:
    secret, _ = turned_on(staffed, clock)
    started_over = "/sign-in?next=/account"
    form = {"code": code_of(secret, clock.s), "next": "/account"}
    for statement in (
        "UPDATE access.pending_sign_ins SET began_at_us = 0",
        "",
        "UPDATE access.users SET disabled_at_us = 1 WHERE name = 'surveillance'",
    ):
        browser = after_password(staffed)
        token = browser.token("/sign-in/code")
        if statement:
            owner(staffed, statement)
        else:
            staffed.ports.users.set_password(NAME, PASSWORD, ACTOR)
        answer = browser.post("/sign-in/code", data={"csrf": token, **form})
        assert (answer.headers["Location"], SESSION in browser.cookies) == (started_over, False)
    owner(staffed, "UPDATE access.users SET disabled_at_us = NULL WHERE name = 'surveillance'")
    assert status(staffed, form["code"]) == 303, "the control"


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_password_that_changes_while_a_code_is_tried_lets_nobody_in(
    staffed: Site, clock: Clock, monkeypatch: pytest.MonkeyPatch, *, meanwhile: bool
) -> None:
    secret, _ = turned_on(staffed, clock)
    owner(staffed, "DELETE FROM access.sessions")
    browser, factors = after_password(staffed), staffed.ports.sessions.factors
    fits = factors.tried

    def tried(name: str, code: str, address: str) -> Try:
        done = fits(name, code, address)
        if meanwhile:
            staffed.ports.users.set_password(NAME, PASSWORD, ACTOR)
        return done

    monkeypatch.setattr(factors, "tried", tried)
    answer = give(browser, code_of(secret, clock.s))
    led_to = "/sign-in?next=/account" if meanwhile else "/account"
    assert (answer.status_code, answer.headers.get("Location")) == (303, led_to)
    assert len(staffed.ports.sessions.running(NAME)) == (not meanwhile)


@contextmanager
def changed_at(
    site: Site, event: str, noted: Callable[..., None], pool: ThreadPoolExecutor
) -> Iterator[Callable[..., None]]:
    """What notes events; before it notes this one, another password is set, or waits for that."""
    changes: list[Future[str]] = []

    def note(connection: AnyConnection, what: str, *rest: object) -> None:
        if what == event:
            change = pool.submit(site.ports.users.set_password, NAME, PASSWORD, ACTOR)
            changes.append(change)
            until(lambda: change.done() or waits_for_a_lock(site.database))
        noted(connection, what, *rest)

    yield note
    [change] = changes
    change.result()


@pytest.mark.parametrize("has_factor", [True, False])
def test_a_password_that_changes_while_a_session_begins_ends_it(
    staffed: Site, clock: Clock, monkeypatch: pytest.MonkeyPatch, *, has_factor: bool
) -> None:
    """The change waits for the sign-in, and then finds its session."""
    secret = turned_on(staffed, clock)[0] if has_factor else ""
    owner(staffed, "DELETE FROM access.sessions")
    browser = after_password(staffed) if has_factor else staffed.browser()
    noted = sessions.note
    with ThreadPoolExecutor(1) as pool, changed_at(staffed, "signed_in", noted, pool) as note:
        monkeypatch.setattr(sessions, "note", note)
        if has_factor:
            give(browser, code_of(secret, clock.s))
        else:
            browser.sign_in(NAME)
    assert staffed.ports.sessions.running(NAME) == []
    assert browser.get("/account").status_code == 303


@pytest.mark.parametrize("has_factor", [True, False])
def test_a_password_that_changes_once_it_was_compared_begins_nothing(
    staffed: Site, clock: Clock, monkeypatch: pytest.MonkeyPatch, *, has_factor: bool
) -> None:
    if has_factor:
        turned_on(staffed, clock)
    owner(staffed, "DELETE FROM access.sessions")
    compared = sessions.fits

    def fits(kept: str | None, password: str) -> bool:
        done = compared(kept, password)
        staffed.ports.users.set_password(NAME, "seven quiet harbours", ACTOR)
        return done

    monkeypatch.setattr(sessions, "fits", fits)
    assert staffed.browser().sign_in(NAME).status_code == 401
    with staffed.ports.access.open() as connection:
        assert connection.execute("TABLE access.pending_sign_ins").rowcount == 0
    assert staffed.ports.sessions.running(NAME) == []
    monkeypatch.setattr(sessions, "fits", compared)
    assert staffed.browser().sign_in(NAME, "seven quiet harbours").status_code == 303, "control"


def test_a_second_factor_turned_on_while_a_session_begins_ends_it(
    staffed: Site, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A colleague who knows the password is not left in a session that the password began."""
    who = staffed.browser(NAME)
    secret = secret_in(who.post("/account/second-factor", data={"csrf": who.csrf}).text)
    factors, digest = staffed.ports.sessions.factors, digest_of(who.cookies[SESSION])
    turned: list[Future[tuple[Try, list[str]]]] = []
    noted = sessions.note
    with ThreadPoolExecutor(1) as pool:

        def note(connection: AnyConnection, what: str, *rest: object) -> None:
            if what == "signed_in":
                actor = Actor(NAME, "192.0.2.1")
                code = code_of(secret, clock.s)
                turned.append(pool.submit(factors.confirm, NAME, code, actor, digest))
                until(lambda: turned[0].done() or waits_for_a_lock(staffed.database))
            noted(connection, what, *rest)

        monkeypatch.setattr(sessions, "note", note)
        thief = staffed.browser()
        assert thief.sign_in(NAME).status_code == 303
    assert turned[0].result()[0].fits
    assert [each.get("/account").status_code for each in (who, thief)] == [200, 303]


def test_no_form_of_it_is_taken_from_another_site(staffed: Site, clock: Clock) -> None:
    secret, _ = turned_on(staffed, clock)
    browser = after_password(staffed)
    form = {"csrf": browser.token("/sign-in/code"), "code": code_of(secret, clock.s)}
    there = {"Origin": "https://elsewhere.example"}
    assert browser.post("/sign-in/code", data=form, headers=there).status_code == 403
    assert browser.post("/sign-in/code", data={**form, "csrf": "x"}).status_code == 403
    assert browser.post("/sign-in/code", data=form).status_code == 303, "the control"


def test_it_is_set_up_by_a_picture_that_is_shown_once(staffed: Site, clock: Clock) -> None:
    who, other = staffed.browser(NAME), staffed.browser(NAME)
    page = who.post("/account/second-factor", data={"csrf": who.csrf}).text
    secret = secret_in(page)
    assert " ".join(re.findall("....", secret)) in page
    assert f"secret={secret}" in read_svg(page)
    confirm = "/account/second-factor/confirm"
    wrong = who.post(confirm, data={"csrf": who.csrf, "code": WRONG})
    assert (wrong.status_code, secret in wrong.text) == (401, False)
    assert staffed.browser().sign_in(NAME).headers["Location"] == "/review", "not on yet"
    right = {"csrf": who.csrf, "code": code_of(secret, clock.s)}
    codes = codes_in(who.post(confirm, data=right).text)
    assert len(codes) == RECOVERY_CODES
    later = who.get("/account")
    assert later.status_code == 200, "this session goes on"
    assert [text for text in (secret, *codes) if text in later.text] == []
    assert other.get("/account").status_code == 303, "every other one has ended"
    again = who.post("/account/second-factor", data={"csrf": who.csrf})
    assert (again.status_code, "otpauth" in again.text) == (422, False)
    assert [each.actor for each in events(staffed, "second_factor_on")] == [NAME]


def test_it_is_turned_off_by_one_more_code(staffed: Site, clock: Clock) -> None:
    secret, _ = turned_on(staffed, clock)
    who = staffed.browser(NAME)
    off = "/account/second-factor/off"
    right = {"csrf": who.csrf, "password_again": PASSWORD, "code_again": code_of(secret, clock.s)}
    for wrong in ({"code_again": WRONG}, {"code_again": ""}, {"password_again": ""}):
        owner(staffed, "DELETE FROM access.tries")
        assert who.post(off, data={**right, **wrong}).status_code == 401
    after_password(staffed)
    owner(staffed, "DELETE FROM access.tries")
    assert who.post(off, data=right).status_code == 303
    assert staffed.browser().sign_in(NAME).headers["Location"] == "/review"
    assert [each.actor for each in events(staffed, "second_factor_off")] == [NAME]


def test_where_the_password_is_asked_for_again_so_is_a_code(staffed: Site, clock: Clock) -> None:
    """A colleague at an open screen who saw the password typed approves nothing."""
    secret, (recovery, *_) = turned_on(staffed, clock, "finance")
    owner(staffed, "UPDATE access.sessions SET began_at_us = began_at_us - %s", FRESH_S * _US)
    who = staffed.browser()
    sign_in = after_password(staffed, "finance")
    used = code_of(secret, clock.s)
    give(sign_in, used)
    who.cookies.set(SESSION, sign_in.cookies[SESSION], domain="127.0.0.1", path="/")
    owner(staffed, "UPDATE access.sessions SET began_at_us = began_at_us - %s", FRESH_S * _US)
    path = "/approvals/hollywood/06522a1b4c3d80-9f01ab"
    form = {"csrf": who.csrf, "step": "approve"}
    asked = who.post(path, data=form)
    assert (asked.status_code, 'name="code_again"' in asked.text) == (401, True)
    for code in ("", WRONG, used):
        owner(staffed, "DELETE FROM access.tries")
        told = who.post(path, data={**form, "password_again": PASSWORD, "code_again": code})
        assert (told.status_code, "the code is wrong" in told.text) == (401, True)
    owner(staffed, "DELETE FROM access.tries")
    shown = {**form, "password_again": PASSWORD, "code_again": recovery}
    assert who.post(path, data={**shown, "password_again": "another horse"}).status_code == 401
    assert who.post(path, data=shown).status_code == 404, "it goes on: there is no such request"
    assert "You have 9 recovery codes left" in who.get("/account").text
    other = staffed.browser("ops")
    owner(staffed, "UPDATE access.sessions SET began_at_us = began_at_us - %s", FRESH_S * _US)
    page = other.post("/account/sessions/end", data={"csrf": other.csrf}).text
    assert ('name="password_again"' in page, "code_again" in page) == (True, False), "has none"


def test_a_new_password_is_set_by_password_and_code(staffed: Site, clock: Clock) -> None:
    """The session that begins then may approve, so a password that was seen begins none."""
    secret, (recovery, *_) = turned_on(staffed, clock, "finance")
    who = staffed.browser("finance")
    owner(staffed, "UPDATE access.sessions SET began_at_us = began_at_us - %s", FRESH_S * _US)
    path, new = "/account/password", "seven quiet harbours"
    assert f'action="{path}"' in who.get("/account").text
    form = {"csrf": who.csrf, "password_again": PASSWORD, "new": new}
    for code in ({}, {"code_again": WRONG}):
        owner(staffed, "DELETE FROM access.tries")
        told = who.post(path, data={**form, **code})
        assert (told.status_code, "the code is wrong" in told.text) == (401, True)
    approval = "/approvals/hollywood/06522a1b4c3d80-9f01ab"
    step = {"csrf": who.csrf, "step": "approve"}
    assert who.post(approval, data=step).status_code == 401, "not by the password alone"
    right = {**form, "code_again": code_of(secret, clock.s)}
    owner(staffed, "DELETE FROM access.tries")
    assert who.post(path, data={**right, "new": "short"}).status_code == 422, "and takes no code"
    assert who.post(path, data=right).status_code == 303
    assert who.post(approval, data={**step, "csrf": who.csrf}).status_code == 404, "it is fresh"
    clock.later()
    again = {**form, "csrf": who.csrf, "password_again": new, "new": f"{new} at dusk"}
    assert who.post(path, data={**again, "code_again": recovery}).status_code == 303


def test_it_is_for_who_signs_in_with_a_password(staffed: Site, clock: Clock) -> None:
    """The identity provider asks for its own: its sign-in begins a session as before."""
    turned_on(staffed, clock)
    owner(staffed, "UPDATE access.users SET password = NULL, subject = 'x' WHERE name = 'ops'")
    who = staffed.browser("ops")
    assert "Second factor" not in who.get("/account").text
    assert who.post("/account/second-factor", data={"csrf": who.csrf}).status_code == 403
    assert "Second factor" in staffed.browser("finance").get("/account").text, "the control"


def test_the_secret_is_kept_encrypted_by_a_key_outside_the_database(
    staffed: Site, clock: Clock, tmp_path: Path
) -> None:
    secret, codes = turned_on(staffed, clock)
    key = tmp_path / KEY_FILE
    assert (key.stat().st_mode & 0o777, len(key.read_bytes())) == (0o600, 32)
    with staffed.ports.access.open() as connection:
        [(kept,)] = connection.execute("SELECT secret FROM access.second_factors").fetchall()
        hashes = connection.execute("SELECT code_hash FROM access.recovery_codes").fetchall()
    assert b32decode(secret) not in kept
    assert len(hashes) == RECOVERY_CODES
    assert all(each.replace(" ", "").encode() not in row[0] for row in hashes for each in codes)
    factors, code = staffed.ports.sessions.factors, code_of(secret, clock.s)
    key.chmod(0o644)
    with pytest.raises(Refused, match="Other users"):
        factors.tried(NAME, code, "192.0.2.1")
    key.chmod(0o600)
    octets = key.read_bytes()
    key.write_bytes(bytes(32))
    with pytest.raises(Refused, match="cannot be read"):
        factors.tried(NAME, code, "192.0.2.1")
    key.unlink()
    with pytest.raises(Refused, match="missing"):
        factors.tried(NAME, code, "192.0.2.1")
    with pytest.raises(Refused, match="missing"):
        factors.begin("ops")
    assert not key.exists(), "none is made in place of one that is lost"
    key.write_bytes(octets)
    key.chmod(0o600)
    owner(staffed, "DELETE FROM access.tries")
    assert factors.tried(NAME, code, "192.0.2.1").fits, "the control"


@pytest.mark.parametrize("part", ["stat", "read_bytes"])
def test_a_key_that_this_login_may_not_read_is_named(
    staffed: Site, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """A command that another login runs gets no further, and says why."""
    secret, _ = turned_on(staffed, clock)
    factors, code = staffed.ports.sessions.factors, code_of(secret, clock.s)
    key, real = tmp_path / KEY_FILE, getattr(Path, part)

    def denied(path: Path, **given: bool) -> object:
        if path == key:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return real(path, **given)

    with monkeypatch.context() as other:
        other.setattr(Path, part, denied)
        for act in (lambda: factors.tried(NAME, code, "192.0.2.1"), lambda: factors.begin("ops")):
            with pytest.raises(Lacking, match="Permission denied") as told:
                act()
            assert told.value.where == str(key)
        answer = give(after_password(staffed), code)
        assert (answer.status_code, "Permission denied" in answer.text) == (503, True)
        assert str(tmp_path) not in answer.text
    owner(staffed, "DELETE FROM access.tries")
    assert factors.tried(NAME, code, "192.0.2.1").fits, "the control: it took no code"


def test_a_key_that_cannot_be_written_is_named(
    staffed: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, _octets: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(second_factor, "replace_file", full)
    with pytest.raises(Lacking, match="No space left") as told:
        staffed.ports.sessions.factors.begin(NAME)
    assert told.value.where == str(tmp_path / KEY_FILE)


def test_a_secret_copied_to_another_user_makes_no_code(staffed: Site, clock: Clock) -> None:
    secret, _ = turned_on(staffed, clock)
    turned_on(staffed, clock, "ops")
    owner(
        staffed,
        "UPDATE access.second_factors SET secret = (SELECT secret FROM access.second_factors"
        " WHERE name = 'surveillance') WHERE name = 'ops'",
    )
    assert give(after_password(staffed, "ops"), code_of(secret, clock.s)).status_code == 422
    assert status(staffed, code_of(secret, clock.s)) == 303, "the control"


@pytest.fixture
def strict(postgres_url: str, web_template: str, tmp_path: Path) -> Iterator[Site]:
    """The pages of a ledger that requires it of everybody."""
    database = copied(postgres_url, web_template)
    with opened_site(database, tmp_path, SECOND_FACTOR="required") as opened:
        yield opened


def test_where_it_is_required_the_next_sign_in_sets_it_up(strict: Site, clock: Clock) -> None:
    browser = after_password(strict)
    assert "This ledger requires" in browser.get("/sign-in/code").text
    assert give(browser, WRONG).status_code == 401
    form = {"csrf": browser.token("/sign-in/code"), "next": "/account"}
    secret = secret_in(browser.post("/sign-in/enrol", data=form).text)
    assert browser.get("/account").status_code == 303, "no session yet"
    confirm = "/sign-in/enrol/confirm"
    assert browser.post(confirm, data={**form, "code": WRONG}).status_code == 401
    right = {**form, "code": code_of(secret, clock.s)}
    codes = codes_in(browser.post(confirm, data=right).text)
    assert len(codes) == RECOVERY_CODES
    page = browser.get("/account").text
    assert ("This ledger requires it" in page, "Turn off" in page) == (True, False)
    off = {"csrf": browser.csrf, "password_again": PASSWORD, "code_again": codes[0]}
    assert browser.post("/account/second-factor/off", data=off).status_code == 403
    clock.later()
    assert status(strict, code_of(secret, clock.s)) == 303


def being_set_up(site: Site) -> tuple[Browser, dict[str, str], str]:
    """A browser that is shown the secret at sign-in, its form, and the secret."""
    browser = after_password(site)
    form = {"csrf": browser.token("/sign-in/code"), "next": "/account"}
    return browser, form, secret_in(browser.post("/sign-in/enrol", data=form).text)


def test_a_password_that_changes_while_it_is_set_up_leaves_it_off(
    strict: Site, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would be on, and nobody would have seen the recovery codes."""
    browser, form, secret = being_set_up(strict)
    counted = second_factor.too_many

    def too_many(*given: object) -> bool:
        strict.ports.users.set_password(NAME, PASSWORD, ACTOR)
        return counted(*given)

    monkeypatch.setattr(second_factor, "too_many", too_many)
    right = {**form, "code": code_of(secret, clock.s)}
    assert browser.post("/sign-in/enrol/confirm", data=right).status_code == 401
    assert strict.ports.sessions.running(NAME) == []
    assert not strict.ports.sessions.factors.is_on(NAME)
    monkeypatch.undo()
    monkeypatch.setattr(second_factor, "now_s", lambda _connection: clock.s)
    browser, form, secret = being_set_up(strict)
    right = {**form, "code": code_of(secret, clock.s)}
    page = browser.post("/sign-in/enrol/confirm", data=right).text
    assert len(codes_in(page)) == RECOVERY_CODES, "the control"


def test_a_password_that_changes_while_it_is_turned_on_ends_the_session(
    strict: Site, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change waits until the codes are kept and the session is there."""
    browser, form, secret = being_set_up(strict)
    noted = second_factor.note
    with ThreadPoolExecutor(1) as pool, changed_at(strict, "second_factor_on", noted, pool) as note:
        monkeypatch.setattr(second_factor, "note", note)
        right = {**form, "code": code_of(secret, clock.s)}
        answer = browser.post("/sign-in/enrol/confirm", data=right)
    assert len(codes_in(answer.text)) == RECOVERY_CODES
    assert strict.ports.sessions.running(NAME) == []


def test_who_has_it_sets_up_no_other_app_by_the_password(strict: Site, clock: Clock) -> None:
    secret, _ = turned_on(strict, clock)
    thief = after_password(strict)
    form = {"csrf": thief.token("/sign-in/code"), "next": "/account"}
    answer = thief.post("/sign-in/enrol", data=form)
    assert (answer.status_code, "otpauth" in answer.text) == (422, False)
    again = {**form, "code": code_of(secret, clock.s)}
    assert thief.post("/sign-in/enrol/confirm", data=again).status_code == 401
    assert status(strict, code_of(secret, clock.s)) == 303, "the control: it is as it was"


def test_an_administrator_resets_one_users(staffed: Site, clock: Clock, tmp_path: Path) -> None:
    turned_on(staffed, clock)
    turned_on(staffed, clock, "ops")
    cli = Cli(environ(tmp_path, ROUND_LEDGER_DATABASE_URL=staffed.database.url))
    who, other = staffed.browser(NAME), staffed.browser("ops")
    assert "has a second factor" in cli("users", "second-factor", NAME).err
    assert who.get("/account").status_code == 200, "asking changes nothing"
    done = cli("users", "second-factor", NAME, "--reset")
    assert (done.code, "is removed" in done.err) == (0, True)
    assert "has no second factor" in cli("users", "second-factor", NAME, "--reset").err
    assert [each.get("/account").status_code for each in (who, other)] == [303, 200]
    assert staffed.browser().sign_in(NAME).headers["Location"] == "/review"
    after_password(staffed, "ops")
    [event] = events(staffed, "second_factor_reset")
    assert (event.name, event.actor.startswith("os:")) == (NAME, True)
    assert cli("users", "second-factor", "nobody").code == 2
