"""A user's own page: the password is changed by who knows it, and sessions are ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from infra.access.sessions import digest_of
from infra.access.tries import TRIES_MAX
from infra.access.users import PASSWORD_MAX
from replay.web.access.authentication import SESSION
from tests.fixtures.cli import Cli, environ
from tests.fixtures.web import ACTOR, PASSWORD

if TYPE_CHECKING:
    from pathlib import Path

    from infra.access.connections import Actor
    from tests.fixtures.web import Browser, Site

NEW = "seven quiet harbours"

pytestmark = pytest.mark.usefixtures("quick_hashes")


def changed(browser: Browser, present: str, new: str) -> tuple[int, str]:
    form = {"csrf": browser.csrf, "password_again": present, "new": new}
    answer = browser.post("/account/password", data=form)
    return answer.status_code, answer.text


def sessions(browser: Browser) -> list[str]:
    """The digests of the sessions that may be ended."""
    return re.findall(r'name="session" value="([0-9a-f]{64})"', browser.get("/account").text)


@pytest.mark.parametrize("name", ["surveillance", "auditor"])
def test_a_user_changes_the_password_and_stays_signed_in_here_only(
    staffed: Site, name: str
) -> None:
    here, there = staffed.browser(name), staffed.browser(name)
    assert changed(here, PASSWORD, NEW)[0] == 303
    assert "is changed" in here.get("/account?changed=1").text
    assert there.get("/account").status_code == 303
    assert staffed.browser().sign_in(name, PASSWORD).status_code == 401
    assert staffed.browser(name, NEW).get("/account").status_code == 200
    events = [each for each in staffed.ports.access.events() if each.what == "password_changed"]
    assert (events[0].name, events[0].actor) == (name, name)


def test_a_password_is_compared_exactly_as_it_was_typed(staffed: Site) -> None:
    """All of its characters count, up to the longest that is allowed."""
    exact = f" Ünder 7 quiet Harbours {'lie many boats; ' * 16}"[: PASSWORD_MAX - 1] + "!"
    assert len(exact) == PASSWORD_MAX
    assert changed(staffed.browser("surveillance"), PASSWORD, exact)[0] == 303
    for other in (exact[:-1], exact.lower(), exact.strip(), exact.replace("Ü", "U")):
        assert other != exact
        assert staffed.browser().sign_in("surveillance", other).status_code == 401
    assert staffed.browser().sign_in("surveillance", exact).status_code == 303


@pytest.mark.parametrize(
    ("present", "new", "status", "says"),
    [
        ("not the password", NEW, 401, "The password is wrong"),
        (PASSWORD, "short", 422, "5 characters"),
        (PASSWORD, "password1234", 422, "easy to guess"),
        (PASSWORD, "surveillance and more", 422, "easy to guess"),
    ],
)
def test_a_wrong_or_weak_password_changes_nothing(
    staffed: Site, present: str, new: str, status: int, says: str
) -> None:
    browser = staffed.browser("surveillance")
    code, text = changed(browser, present, new)
    assert (code, says in text) == (status, True)
    assert new not in text
    assert staffed.browser("surveillance", PASSWORD).get("/account").status_code == 200


def test_guessing_the_present_password_is_limited_as_a_sign_in_is(staffed: Site) -> None:
    browser = staffed.browser("surveillance")
    for _ in range(TRIES_MAX):
        assert changed(browser, "not the password", NEW)[0] == 401
    assert changed(browser, PASSWORD, NEW)[0] == 429


def test_a_session_is_ended_by_its_own_user_alone(staffed: Site) -> None:
    here, there = staffed.browser("surveillance"), staffed.browser("surveillance")
    auditor = staffed.browser("auditor")
    assert sessions(here) == [digest_of(there.cookies[SESSION])]
    other = {"csrf": auditor.csrf, "session": digest_of(there.cookies[SESSION])}
    assert auditor.post("/account/sessions/end", data=other).status_code == 303
    assert there.get("/account").status_code == 200
    own = {"csrf": here.csrf, "session": digest_of(there.cookies[SESSION])}
    assert here.post("/account/sessions/end", data=own).status_code == 303
    assert there.get("/account").status_code == 303
    assert sessions(here) == []
    assert staffed.ports.access.events()[0].what == "session_ended"


def test_who_signs_in_elsewhere_is_told_where_the_password_is(site: Site) -> None:
    site.add("maria", "ops")
    with site.ports.access.open() as connection:
        connection.execute(
            "UPDATE access.users SET password = NULL, subject = 'maria@idp' WHERE name = 'maria'"
        )
    text = site.browser("maria").get("/account").text
    assert "changed there" in text
    assert 'name="new"' not in text


def test_all_other_sessions_are_ended_at_one_press(staffed: Site) -> None:
    here = staffed.browser("surveillance")
    assert "End all others" not in here.get("/account").text, "there is no other"
    others = [staffed.browser("surveillance") for _ in range(2)]
    stranger = staffed.browser("auditor")
    assert "End all others" in here.get("/account").text
    assert here.post("/account/sessions/end", data={"csrf": here.csrf}).status_code == 303
    assert [each.get("/account").status_code for each in (here, *others, stranger)] == [
        200, 303, 303, 200,
    ]  # fmt: skip
    ended = [each for each in staffed.ports.access.events() if each.what == "session_ended"]
    assert [(each.name, each.actor) for each in ended] == [("surveillance", "surveillance")] * 2


def test_who_is_signed_in_is_listed_and_ended_by_command(staffed: Site, tmp_path: Path) -> None:
    """What is shown of a session does not open it; only what is named is ended."""
    url = staffed.database.url
    cli = Cli(environ(tmp_path / "home", ROUND_LEDGER_DATABASE_URL=url))
    first, second = staffed.browser("surveillance"), staffed.browser("surveillance")
    auditor = staffed.browser("auditor")
    listed = cli("users", "sessions", "--json").json
    assert [each["name"] for each in listed] == ["auditor", "surveillance", "surveillance"]
    digest = digest_of(first.cookies[SESSION])
    assert listed[2]["session"] == digest[:12]
    assert first.cookies[SESSION] not in cli("users", "sessions", "surveillance").out
    for wrong in (digest[:3], digest_of(auditor.cookies[SESSION])[:12]):
        refused = cli("users", "end", "surveillance", "--session", wrong)
        assert (refused.code, "no session" in refused.err) == (2, True)
    done = cli("users", "end", "surveillance", "--session", digest[:12])
    assert (done.code, done.err) == (0, "1 session of surveillance ended.\n")
    assert [each.get("/account").status_code for each in (first, second)] == [303, 200]
    assert "1 session of surveillance ended" in cli("users", "end", "surveillance").err
    assert [each.get("/account").status_code for each in (second, auditor)] == [303, 200]
    assert cli("users", "end", "surveillance").err == "surveillance is not signed in.\n"
    assert cli("users", "end", "nobody").code == 2
    assert staffed.browser("surveillance").get("/account").status_code == 200, "may sign in again"
    ended = [each for each in staffed.ports.access.events() if each.what == "session_ended"]
    assert len(ended) == 2
    assert "surveillance" not in {each.actor for each in ended}


def test_what_is_secret_is_not_given_back_to_who_was_signed_out(staffed: Site) -> None:
    """A page that is given back lies open on the screen."""
    browser = staffed.browser("surveillance")
    form = {"csrf": browser.csrf, "password_again": PASSWORD, "new": NEW, "code_again": "123456"}
    browser.cookies.clear()
    answer = browser.post("/account/password", data=form)
    assert answer.status_code == 401
    assert [each for each in (PASSWORD, NEW, "123456") if each in answer.text] == []
    code = browser.post("/account/second-factor/confirm", data={"code": "654321"})
    assert (code.status_code, "654321" in code.text) == (401, False)
    kept = browser.post("/cases", data={"claim": "The cut card fell."})
    assert "The cut card fell." in kept.text, "the control"


def test_a_password_that_another_replaces_at_once_begins_no_session(
    staffed: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An administrator who shuts somebody out by a new password is not outrun."""
    browser, users = staffed.browser("surveillance"), staffed.ports.users
    replaced = users.set_password

    def set_password(name: str, password: str, actor: Actor) -> str:
        kept = replaced(name, password, actor)
        replaced(name, "a lamp beneath nine rivers", ACTOR)
        return kept

    monkeypatch.setattr(users, "set_password", set_password)
    assert changed(browser, PASSWORD, NEW)[0] == 401
    assert staffed.ports.sessions.running("surveillance") == []
