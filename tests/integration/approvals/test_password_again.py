"""What hands something out or signs it asks for the password again after a quarter of an hour.

The control of each is the same request in a session that has just shown it.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from infra.access.sessions import FRESH_S
from tests.fixtures.web import PASSWORD

if TYPE_CHECKING:
    from tests.fixtures.web import Browser, Site

pytestmark = pytest.mark.usefixtures("quick_hashes")

ASKED = "Your password again"
ACTS = {
    "clip": ("surveillance", "POST", "/clips"),
    "dossier": ("surveillance", "POST", "/dossiers"),
    "rounds": ("finance", "GET", "/rounds.csv?finding=any"),
    "errors": ("auditor", "GET", "/statistics.csv"),
    "window released": ("surveillance", "POST", "/preserved/hollywood/P-1"),
    "locks released": ("surveillance", "POST", "/cases/hollywood/D-1"),
    "approved": ("finance", "POST", "/approvals/hollywood/06522a1b4c3d80-9f01ab"),
    "second factor set up": ("ops", "POST", "/account/second-factor"),
    "passkey begun": ("ops", "POST", "/account/passkeys/new"),
    "passkey added": ("ops", "POST", "/account/passkeys"),
    "passkey removed": ("ops", "POST", "/account/passkeys/remove"),
    "session ended": ("ops", "POST", "/account/sessions/end"),
}
"""What asks for it: the role, the method and the address."""


def grown_old(site: Site) -> None:
    """A quarter of an hour passes for every session."""
    with site.database.connect("ledger_owner") as connection:
        connection.execute(
            "UPDATE access.sessions SET began_at_us = began_at_us - %s,"
            " proven_at_us = proven_at_us - %s",
            (FRESH_S * 1_000_000, FRESH_S * 1_000_000),
        )


def asked(who: Browser, method: str, path: str, **form: str) -> bool:
    """Whether the password is asked for, before anything else is looked at."""
    data = {"csrf": who.csrf, "step": "release", **form} if method == "POST" else None
    answer = who.request(method, path, data=data)
    assert (answer.status_code == 401) == (ASKED in answer.text), answer.text
    return ASKED in answer.text


@pytest.mark.parametrize("act", ACTS)
def test_it_is_asked_for_after_a_quarter_of_an_hour(staffed: Site, act: str) -> None:
    role, method, path = ACTS[act]
    who = staffed.browser(role)
    assert not asked(who, method, path), "the control: it was given just now"
    grown_old(staffed)
    assert asked(who, method, path)
    assert not asked(who, "GET", "/account"), "reading asks for nothing"


def test_the_password_goes_with_what_was_typed(staffed: Site) -> None:
    who = staffed.browser("surveillance")
    grown_old(staffed)
    path, typed = "/preserved/hollywood/P-1", {"because": 'Settled "at once".'}
    page = who.post(path, data={"csrf": who.csrf, **typed}).text
    assert f'action="{path}"' in page
    fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', page))
    fields = {name: unescape(text) for name, text in fields.items()}
    assert fields == {"csrf": who.csrf, **typed}
    wrong = who.post(path, data={**fields, "password_again": "another horse"})
    assert (wrong.status_code, "The password is wrong." in wrong.text) == (401, True)
    assert "another horse" not in wrong.text
    right = who.post(path, data={**fields, "password_again": PASSWORD})
    assert right.status_code == 404, "it goes on: there is no such window"
    assert not asked(who, "POST", path), "and it is not asked for once more"
    what = [each.what for each in staffed.ports.access.events()]
    assert (what.count("password_shown"), what.count("sign_in_failed")) == (1, 1)


def test_a_file_is_got_after_the_password(staffed: Site) -> None:
    who = staffed.browser("finance")
    grown_old(staffed)
    path = "/rounds.csv?finding=any"
    page = unescape(who.get(path).text)
    assert f'name="next" value="{path}"' in page
    form = {"csrf": who.csrf, "next": path, "password_again": PASSWORD}
    led = who.post("/session/password", data=form)
    assert (led.status_code, led.headers["Location"]) == (303, path)
    assert who.get(path).headers["Content-Type"].startswith("text/csv")
    away = who.post("/session/password", data={**form, "next": "https://elsewhere.example/"})
    assert away.headers["Location"] == "/"


def test_it_is_no_way_to_guess_a_password(staffed: Site) -> None:
    who = staffed.browser("finance")
    grown_old(staffed)
    for nth in range(5):
        assert asked(who, "POST", "/session/password", password_again=f"guess number {nth}")
    tried = who.post("/session/password", data={"csrf": who.csrf, "password_again": PASSWORD})
    assert (tried.status_code, "Too many tries" in tried.text) == (401, True)


def test_the_password_of_one_session_freshens_no_other(staffed: Site) -> None:
    one, other = staffed.browser("finance"), staffed.browser("finance")
    grown_old(staffed)
    form = {"csrf": one.csrf, "next": "/rounds.csv", "password_again": PASSWORD}
    assert one.post("/session/password", data=form).status_code == 303
    assert not asked(one, "GET", "/rounds.csv?finding=any")
    assert asked(other, "GET", "/rounds.csv?finding=any")


def test_a_session_is_ended_by_who_shows_the_password(staffed: Site) -> None:
    who, other = staffed.browser("ops"), staffed.browser("ops")
    grown_old(staffed)
    path = "/account/sessions/end"
    [session] = re.findall(r'name="session" value="(\w+)"', who.get("/account").text)
    assert asked(who, "POST", path, session=session)
    assert other.get("/account").status_code == 200, "it goes on"
    form = {"csrf": who.csrf, "session": session, "password_again": PASSWORD}
    assert who.post(path, data=form).status_code == 303
    assert other.get("/account").status_code == 303, "it has ended"


def test_who_has_no_password_is_told_to_sign_in_again(staffed: Site) -> None:
    with staffed.ports.access.open() as connection:
        connection.execute(
            "UPDATE access.users SET password = NULL, subject = 'x' WHERE name = 'ops'"
        )
    who = staffed.browser("ops")
    grown_old(staffed)
    page = who.post("/account/sessions/end", data={"csrf": who.csrf}).text
    assert ("identity provider" in page, 'type="password"' in page) == (True, False)
