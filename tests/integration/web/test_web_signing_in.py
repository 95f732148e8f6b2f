"""Who may see the pages: passwords, sessions, roles, forms, and what happened at the door."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import httpx
import psycopg
import pytest
from psycopg import sql

from infra.access.sessions import IDLE_S_MAX, SESSION_S_MAX
from infra.access.tries import TRIES_MAX
from infra.access.users import ROLES, User
from ledger.errors import NotFound, Refused, Usage
from tests.fixtures.web import ACTOR, PASSWORD

if TYPE_CHECKING:
    from infra.postgres.connection import Role as DatabaseRole
    from tests.fixtures.web import Site

SESSION = "round_ledger_session"
PAGES = (
    "/find", "/review", "/live", "/import", "/log", "/shift", "/statistics", "/drop", "/win",
    "/entry", "/approvals",
)  # fmt: skip


def owner(site: Site, statement: str, *given: object) -> None:
    with site.database.connect("ledger_owner") as connection:
        connection.execute(statement.encode(), given)


def happened(site: Site) -> list[tuple[str, str]]:
    return [(each.what, each.name) for each in reversed(site.ports.access.events())]


def test_without_a_session_a_page_leads_to_signing_in_and_back(staffed: Site) -> None:
    for path in PAGES:
        answer = staffed.browser().get(f"{path}?table=CC-07")
        assert answer.status_code == 303
        assert answer.headers["Location"] == f"/sign-in?next={path}%3Ftable%3DCC-07"


def test_without_a_session_anything_but_a_page_is_401(staffed: Site) -> None:
    with httpx.Client(base_url=staffed.url) as client:
        assert [client.get(path).status_code for path in PAGES] == [401] * len(PAGES)
        assert client.post("/sign-out").status_code == 401


def test_a_session_that_was_made_up_is_none(staffed: Site) -> None:
    browser = staffed.browser()
    browser.cookies.set(SESSION, "A" * 43)
    assert browser.get("/").status_code == 303


OF_ROLE: dict[str, set[str]] = {
    "surveillance": {
        *("/find", "/review", "/live", "/import", "/log", "/shift", "/statistics"),
        "/approvals",
    },
    "finance": {"/find", "/drop", "/win", "/entry", "/approvals"},
    "ops": {"/live", "/approvals"},
    "auditor": {
        "/find",
        "/review",
        "/live",
        "/log",
        "/shift",
        "/statistics",
        "/drop",
        "/win",
        "/entry",
        "/approvals",
    },
    "pit": {"/entry"},
    "cage": {"/entry"},
    "count": {"/entry"},
    "marketing": set(),
}


def test_a_role_sees_its_own_pages_and_no_other(staffed: Site) -> None:
    for role, pages in OF_ROLE.items():
        browser = staffed.browser(role)
        for path in PAGES:
            answer = browser.get(path)
            assert answer.status_code == (200 if path in pages else 403), (role, path)
            tabs = re.search(r"<nav.*?</nav>", answer.text, re.DOTALL)
            assert tabs
            assert {tab for tab in PAGES if f'href="{tab}"' in tabs[0]} == pages
            assert 'action="/sign-out"' in answer.text


@pytest.mark.long
def test_signing_in_leads_to_the_first_page_that_is_theirs(staffed: Site) -> None:
    assert staffed.browser().sign_in("ops").headers["Location"] == "/live"
    assert staffed.browser().sign_in("ops", then="/live?x=1").headers["Location"] == "/live?x=1"
    assert staffed.browser().sign_in("marketing").headers["Location"] == "/account"


ELSEWHERE = (
    "https://elsewhere.example/",
    "//elsewhere.example/",
    "/\\elsewhere.example",
    "\\\\elsewhere.example",
    "/\t/elsewhere.example",
    "javascript:alert(1)",
    "/x\r\nSet-Cookie: a=b",
    "",
)


def test_signing_in_never_leads_elsewhere(staffed: Site) -> None:
    browser = staffed.browser("surveillance")
    for then in ELSEWHERE:
        page = staffed.browser().get("/sign-in", params={"next": then})
        assert 'name="next" value="/"' in page.text
        onwards = browser.get("/sign-in", params={"next": then})
        assert onwards.headers["Location"] == "/review"
        assert "a=b" not in onwards.headers.get("Set-Cookie", "")
    assert staffed.browser().sign_in("ops", then=ELSEWHERE[1]).headers["Location"] == "/live"


def test_the_cookie_is_for_no_script_and_no_other_site(staffed: Site) -> None:
    cookie = staffed.browser().sign_in("ops").headers["Set-Cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/" in cookie
    assert "secure" not in cookie, "over plain HTTP on this machine it would never come back"


def test_a_session_that_was_planted_is_not_the_one_signed_in_with(staffed: Site) -> None:
    browser = staffed.browser()
    browser.cookies.set(SESSION, "planted")
    answer = browser.sign_in("surveillance")
    assert answer.cookies[SESSION] != "planted"
    attacker = staffed.browser()
    attacker.cookies.set(SESSION, "planted")
    assert attacker.get("/").status_code == 303


def test_every_sign_in_is_a_session_of_its_own(staffed: Site) -> None:
    one, two = staffed.browser("surveillance"), staffed.browser("surveillance")
    assert one.cookies[SESSION] != two.cookies[SESSION]
    assert len(one.cookies[SESSION]) >= 43, "256 bits in base64"
    one.post("/sign-out", data={"csrf": one.token("/")})
    assert one.get("/").status_code == 303
    assert two.get("/").status_code == 200


def test_a_token_is_kept_nowhere_but_in_the_cookie(staffed: Site) -> None:
    staffed.ports.users.set_password("ops", PASSWORD, ACTOR)
    token = staffed.browser("surveillance").cookies[SESSION]
    with staffed.database.connect("ledger_owner") as connection:
        rows = connection.execute("SELECT token_hash FROM access.sessions").fetchall()
        users = connection.execute("SELECT password FROM access.users").fetchall()
    assert token.encode() not in [row[0] for row in rows]
    assert [row[0] for row in users if row[0].startswith("$argon2id$v=19$m=65536,t=3,")]
    assert all(row[0].startswith("$argon2id$") for row in users)
    assert not any(PASSWORD in row[0] for row in users)


def test_signing_out_ends_the_session_for_an_auditor_too(staffed: Site) -> None:
    browser = staffed.browser("auditor")
    token = browser.cookies[SESSION]
    assert browser.post("/sign-out", data={"csrf": browser.token("/")}).status_code == 303
    browser.cookies.set(SESSION, token)
    assert browser.get("/").status_code == 303


@pytest.mark.parametrize(
    ("column", "seconds"), [("used_at_us", IDLE_S_MAX), ("began_at_us", SESSION_S_MAX)]
)
def test_a_session_ends_when_idle_and_when_the_shift_is_over(
    staffed: Site, column: str, seconds: int
) -> None:
    browser = staffed.browser("surveillance")
    earlier = f"UPDATE access.sessions SET {column} = {column} - %s"  # noqa: S608 - one of two
    owner(staffed, earlier, (seconds - 60) * 1_000_000)
    assert browser.get("/").status_code == 200
    owner(staffed, earlier, (seconds if column == "used_at_us" else 60) * 1_000_000)
    assert browser.get("/").status_code == 303


@pytest.mark.long
@pytest.mark.usefixtures("quick_hashes")
def test_another_password_other_roles_or_being_disabled_end_every_session(staffed: Site) -> None:
    users = staffed.ports.users
    changes = (
        lambda: users.set_password("surveillance", "another horse, another", ACTOR),
        lambda: users.set_roles("surveillance", ["ops"], ACTOR),
        lambda: users.disable("surveillance", ACTOR),
    )
    password = PASSWORD
    for change in changes:
        browser = staffed.browser("surveillance", password)
        assert browser.get("/live").status_code == 200
        change()
        assert browser.get("/live").status_code == 303
        password = "another horse, another"  # noqa: S105 - of the test
    assert staffed.browser().sign_in("surveillance", password).status_code == 401
    users.disable("surveillance", ACTOR, disabled=False)
    assert staffed.browser("surveillance", password).get("/live").status_code == 200


def test_a_form_without_its_token_or_with_anothers_is_refused(staffed: Site) -> None:
    mine, other = staffed.browser("surveillance"), staffed.browser("auditor")
    assert mine.csrf == mine.token("/") != other.token("/")
    for given in ({}, {"csrf": ""}, {"csrf": other.token("/")}, {"csrf": "A" * 43}):
        assert mine.post("/sign-out", data=given).status_code == 403
    assert mine.get("/").status_code == 200
    stranger = staffed.browser()
    form = {"name": "ops", "password": PASSWORD, "csrf": staffed.browser().token("/sign-in")}
    assert stranger.post("/sign-in", data=form).status_code == 403
    assert SESSION not in stranger.cookies


def test_a_form_that_another_site_sent_is_refused(staffed: Site) -> None:
    browser = staffed.browser("surveillance")
    form = {"csrf": browser.token("/")}
    for headers in (
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert browser.post("/sign-out", data=form, headers=headers).status_code == 403
    assert browser.get("/").status_code == 200
    assert browser.post("/sign-out", data=form, headers={"Origin": staffed.url}).status_code == 303


def tried(site: Site, name: str) -> tuple[float, str]:
    """A wrong password of a name: how long the answer took, and what it says."""
    browser = site.browser()
    form = {"csrf": browser.token("/sign-in"), "name": name, "password": "not the password"}
    began = time.perf_counter()
    answer = browser.post("/sign-in", data=form)
    took = time.perf_counter() - began
    assert answer.status_code == 401
    text = answer.text.replace(f'value="{name}"', "")
    return took, text.replace(form["csrf"], "")


@pytest.mark.long
def test_every_answer_to_a_wrong_try_is_the_same(staffed: Site) -> None:
    assert tried(staffed, "ops")[1] == tried(staffed, "nobody")[1]


@pytest.mark.long
def test_an_answer_to_a_wrong_try_takes_as_long_whether_there_is_the_user_or_not(
    staffed: Site,
) -> None:
    """With passwords as they are kept outside tests, where a hash is most of what it takes."""
    for name in ("ops", "finance", "auditor", "surveillance"):
        staffed.ports.users.set_password(name, PASSWORD, ACTOR)
    tried(staffed, "ops")  # the first one also makes the hash that nobody's name is compared with
    tried(staffed, "nobody0")
    known = [tried(staffed, name) for name in ("finance", "auditor", "surveillance")]
    unknown = [tried(staffed, name) for name in ("nobody1", "nobody2", "nobody3")]
    assert len({text for _, text in known + unknown}) == 1
    fastest_known, fastest_unknown = min(known)[0], min(unknown)[0]
    assert fastest_unknown > fastest_known / 2
    assert fastest_known > fastest_unknown / 2


def test_after_too_many_tries_even_the_right_password_waits(staffed: Site) -> None:
    for _ in range(TRIES_MAX):
        assert staffed.browser().sign_in("ops", "wrong").status_code == 401
    answer = staffed.browser().sign_in("ops")
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0
    assert staffed.browser().sign_in("auditor").status_code == 303, "others are not kept out"
    owner(staffed, "UPDATE access.tries SET tried_at_us = tried_at_us - %s", 16 * 60 * 1_000_000)
    assert staffed.browser().sign_in("ops").status_code == 303


@pytest.mark.long
def test_what_happens_at_the_door_is_written_down_and_cannot_be_changed(staffed: Site) -> None:
    staffed.browser().sign_in("ops", "wrong")
    browser = staffed.browser("ops")
    browser.post("/sign-out", data={"csrf": browser.token("/live")})
    staffed.ports.users.set_roles("ops", ["auditor"], ACTOR)
    assert happened(staffed)[len(ROLES) :] == [
        ("sign_in_failed", "ops"),
        ("signed_in", "ops"),
        ("signed_out", "ops"),
        ("roles_changed", "ops"),
    ]
    roles: tuple[DatabaseRole, ...] = ("ledger_owner", "ledger_doorkeeper")
    for role in roles:
        for statement in ("DELETE FROM access.events", "UPDATE access.events SET what = ''"):
            with (
                staffed.database.connect(role) as connection,
                pytest.raises(psycopg.errors.InsufficientPrivilege),
            ):
                connection.execute(statement.encode())


def test_nobody_but_the_role_at_the_door_reads_who_may_enter(staffed: Site) -> None:
    roles: tuple[DatabaseRole, ...]
    roles = ("ledger_reader", "ledger_writer", "ledger_projector", "ledger_desk")
    for role in roles:
        for table in (
            *("users", "sessions", "tries", "device_keys", "reader_keys", "events"),
            *("second_factors", "recovery_codes", "pending_sign_ins"),
            *("passkeys", "passkey_challenges"),
        ):
            with (
                staffed.database.connect(role) as connection,
                pytest.raises(psycopg.errors.InsufficientPrivilege),
            ):
                connection.execute(sql.SQL("TABLE {}").format(sql.Identifier("access", table)))


def test_the_role_at_the_door_sees_no_fact_and_removes_no_user(staffed: Site) -> None:
    for statement in (
        "SELECT 1 FROM ledger.tape",
        "SELECT 1 FROM views.rounds",
        "DELETE FROM access.users",
        "DELETE FROM access.device_keys",
        "UPDATE access.users SET name = 'x'",
        "UPDATE access.device_keys SET source = '/x'",
        "DELETE FROM access.reader_keys",
        "UPDATE access.reader_keys SET role = 'auditor'",
    ):
        with (
            staffed.database.connect("ledger_doorkeeper") as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(statement.encode())


def test_the_first_user_is_made_by_a_link_that_works_once(site: Site) -> None:
    link = site.link()
    browser = site.browser()
    form = {
        "csrf": browser.token(link),
        "link": link.partition("link=")[2],
        "name": "maria",
        "employee": "S-2001",
        "roles": ["surveillance"],
        "password": "short",
    }
    assert browser.post("/setup", data=form).status_code == 422
    assert not site.ports.users.any()
    answer = browser.post("/setup", data=form | {"password": PASSWORD})
    assert answer.status_code == 303
    assert browser.get("/").status_code == 200
    assert "S-2001" in browser.get("/").text
    assert site.browser().get(link).status_code == 403
    assert browser.post("/setup", data=form | {"name": "eve"}).status_code == 403
    assert [each.name for each in site.ports.users.list()] == ["maria"]


@pytest.mark.long
def test_a_link_that_is_old_or_made_up_or_comes_too_late_makes_nobody(site: Site) -> None:
    old, new = site.link(), site.link()
    assert site.browser().get(old).status_code == 403
    assert site.browser().get("/setup?link=").status_code == 403
    assert site.browser().get("/setup").status_code == 403
    site.add("maria", "ops")
    browser = site.browser()
    form = {
        "csrf": browser.token(new),
        "link": new.partition("link=")[2],
        "name": "eve",
        "employee": "S-6",
        "roles": ["auditor"],
        "password": PASSWORD,
    }
    assert browser.post("/setup", data=form).status_code == 422
    assert [each.name for each in site.ports.users.list()] == ["maria"]


NOT_USERS: tuple[tuple[str, str, list[Any], str | None], ...] = (
    ("Maria", "S-1", ["ops"], PASSWORD),
    ("maria\n", "S-1", ["ops"], PASSWORD),
    ("", "S-1", ["ops"], PASSWORD),
    ("maria", "", ["ops"], PASSWORD),
    ("maria", "S-1", [], PASSWORD),
    ("maria", "S-1", ["admin"], PASSWORD),
    ("maria", "S-1", ["ops"], "eleven char"),
    ("maria", "S-1", ["ops"], "a" * 40),
    ("maria", "S-1", ["ops"], "maria and more of it"),
    ("maria", "S-1", ["ops"], "x" * 257),
    ("maria", "S-1", ["ops"], "password1234"),
    ("maria", "S-1", ["ops"], "Passw0rd2026"),
    ("maria", "S-1", ["ops"], "qwertyuiop12"),
    ("maria", "S-1", ["ops"], "RoundLedger1"),
    ("maria", "S-1", ["ops"], "casino-ledger"),
    ("maria", "S-1", ["ops"], None),
)


def test_what_cannot_be_a_user_is_refused_without_quoting_a_password(site: Site) -> None:
    for name, employee, roles, password in NOT_USERS:
        user = User(name, employee, frozenset(roles))
        with pytest.raises(Usage) as told:
            site.ports.users.add(user, password=password, actor=ACTOR)
        assert password is None or password not in str(told.value)
    assert not site.ports.users.any()


@pytest.mark.long
def test_there_is_one_user_of_a_name_and_none_is_changed_that_is_not_there(site: Site) -> None:
    site.add("maria", "ops")
    with pytest.raises(Refused):
        site.add("maria", "auditor")
    for change in (
        lambda: site.ports.users.disable("eve", ACTOR),
        lambda: site.ports.users.set_roles("eve", ["ops"], ACTOR),
        lambda: site.ports.users.set_password("eve", PASSWORD, ACTOR),
    ):
        with pytest.raises(NotFound):
            change()


@pytest.mark.usefixtures("quick_hashes")
def test_whatever_is_typed_as_a_name_is_a_wrong_name(staffed: Site) -> None:
    for name in ("\0", "ops\0", "x" * 200, "' OR true --", "%", "ÖPS", "\N{BELL}"):
        assert staffed.browser().sign_in(name).status_code == 401
