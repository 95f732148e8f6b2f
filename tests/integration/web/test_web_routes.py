"""Every route there is: nobody without a session, each role what it may, and hostile requests.

The table is closed: a route that is not in it fails here until somebody decides who may.
"""

from __future__ import annotations

import http.client
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx
import pytest

from infra.access.users import ROLES
from replay.web.routes import ROUTERS

if TYPE_CHECKING:
    from tests.fixtures.web import Site

READ = frozenset(("surveillance", "finance", "auditor"))
SEE = frozenset(("surveillance", "auditor"))
DO = frozenset(("surveillance",))
PIT = frozenset(("pit",))
PAPERS = frozenset(("pit", "cage", "finance", "auditor"))
PUBLIC = frozenset(
    (
        *(("GET", "/sign-in"), ("POST", "/sign-in"), ("GET", "/setup"), ("POST", "/setup")),
        *(("GET", "/sign-in/code"), ("POST", "/sign-in/code")),
        *(("POST", "/sign-in/enrol"), ("POST", "/sign-in/enrol/confirm")),
        *(("POST", "/sign-in/passkey"), ("POST", "/sign-in/passkey/challenge")),
        ("GET", "/session"),  # does not say that a session goes on for 0 seconds
    )
)
ROUND, CASE = "{property_}/{table}/{day}/{number}", "{property_}/{dispute:path}"
WINDOW = "{property_}/{name}"
SLIP, BOX = "{property_}/{kind}/{slip:path}", "{property_}/{table}/{day}/{box:path}"
MAY: dict[tuple[str, str], frozenset[str]] = {
    ("POST", "/sign-out"): frozenset(ROLES),
    ("POST", "/session"): frozenset(ROLES),
    ("POST", "/session/password"): frozenset(ROLES),
    ("GET", "/account"): frozenset(ROLES),
    ("POST", "/account/password"): frozenset(ROLES),
    ("POST", "/account/sessions/end"): frozenset(ROLES),
    ("POST", "/account/second-factor"): frozenset(ROLES),
    ("POST", "/account/second-factor/confirm"): frozenset(ROLES),
    ("POST", "/account/second-factor/off"): frozenset(ROLES),
    ("POST", "/account/passkeys"): frozenset(ROLES),
    ("POST", "/account/passkeys/new"): frozenset(ROLES),
    ("POST", "/account/passkeys/remove"): frozenset(ROLES),
    ("POST", "/session/passkey/challenge"): frozenset(ROLES),
    ("GET", "/"): READ,
    ("GET", "/rounds.csv"): READ,
    ("POST", "/searches"): frozenset(("surveillance", "finance")),
    ("POST", "/searches/delete"): frozenset(("surveillance", "finance")),
    ("GET", "/find"): READ,
    ("GET", "/review"): SEE,
    ("POST", "/review"): DO,
    ("GET", "/review/footage/{name}"): SEE,
    ("GET", "/review/samples"): SEE,
    ("POST", "/review/samples"): DO,
    ("GET", "/import"): DO,
    ("POST", "/import/uploads"): DO,
    ("GET", "/import/uploads/{upload}"): DO,
    ("PUT", "/import/uploads/{upload}"): DO,
    ("GET", "/import/{upload}"): DO,
    ("POST", "/import/{upload}"): DO,
    ("GET", "/log"): SEE,
    ("POST", "/log"): DO,
    ("GET", "/shift"): SEE,
    ("POST", "/shift"): DO,
    ("GET", "/shift/{property_}/{name:path}"): SEE,
    ("GET", "/shift/{property_}/{name:path}.pdf"): SEE,
    ("GET", "/live"): frozenset(("surveillance", "ops", "auditor")),
    ("GET", "/live/table"): SEE,
    ("GET", "/live/back"): SEE,
    ("GET", "/live/picture"): SEE,
    ("GET", "/statistics"): SEE,
    ("GET", "/statistics.csv"): SEE,
    ("GET", "/drop"): frozenset(("finance", "auditor")),
    ("GET", "/win"): frozenset(("finance", "auditor")),
    ("POST", "/win"): frozenset(("finance",)),
    ("GET", "/win/charts"): frozenset(("finance", "auditor")),
    ("GET", "/win/coupons"): frozenset(("finance", "auditor")),
    ("GET", "/win/fact"): frozenset(("finance", "auditor")),
    ("GET", "/approvals"): frozenset(("finance", "ops", "surveillance", "auditor")),
    ("GET", "/approvals/{property_}/{name}"): frozenset(
        ("finance", "ops", "surveillance", "auditor")
    ),
    ("POST", "/approvals/{property_}/{name}"): frozenset(("finance", "ops", "surveillance")),
    ("GET", "/entry"): PAPERS | frozenset(("count",)),
    ("GET", "/entry/inventories"): PIT,
    ("POST", "/entry/inventories"): PIT,
    ("GET", "/entry/slips/new"): PIT,
    ("POST", "/entry/slips"): PIT,
    ("GET", f"/entry/slips/{SLIP}"): PAPERS,
    ("POST", f"/entry/slips/{SLIP}"): frozenset(("pit", "cage")),
    ("POST", "/entry/prints"): PAPERS - {"auditor"},
    ("GET", f"/entry/boxes/{BOX}"): frozenset(("count", "cage")),
    ("POST", f"/entry/boxes/{BOX}"): frozenset(("count", "cage")),
    ("GET", "/entry/forms/{name}"): frozenset(("pit", "cage", "finance")),
    ("POST", "/entry/forms/{name}"): frozenset(("pit", "cage", "finance")),
    ("POST", "/entry/second/challenge"): frozenset(("pit", "cage", "count", "finance")),
    ("GET", f"/rounds/{ROUND}"): READ,
    ("GET", f"/rounds/{ROUND}/tables"): READ,
    ("GET", f"/watch/{ROUND}"): SEE,
    ("GET", "/footage/{sha256}"): SEE,
    ("GET", "/footage/{sha256}/index"): SEE,
    ("GET", "/footage/{sha256}/preview"): SEE,
    ("GET", "/footage/{sha256}/preview.mp4"): SEE,
    ("GET", "/footage/{sha256}/frames/{number}.png"): SEE,
    ("GET", "/footage/{sha256}/stills/{picture}.png"): SEE,
    ("POST", "/footage/{sha256}/stills"): DO,
    ("POST", "/footage/{sha256}/shapes"): DO,
    ("POST", "/bookmarks"): DO,
    ("POST", "/bookmarks/removed"): DO,
    ("GET", "/footage/{sha256}/thumbs/{number}.jpg"): SEE,
    ("GET", f"/rounds/{ROUND}/picture.jpg"): SEE,
    ("GET", f"/watch/{ROUND}/strip.jpg"): SEE,
    ("GET", "/review/picture/{name}.jpg"): SEE,
    ("POST", "/clips"): DO,
    ("GET", "/dossiers/new"): DO,
    ("POST", "/dossiers"): DO,
    ("GET", "/cases"): SEE,
    ("GET", "/cases/new"): DO,
    ("POST", "/cases"): DO,
    ("POST", "/cases/preserve"): DO,
    ("GET", f"/preserved/{WINDOW}"): SEE,
    ("POST", f"/preserved/{WINDOW}"): DO,
    ("GET", f"/cases/{CASE}"): SEE,
    ("POST", f"/cases/{CASE}"): DO,
}
SIGN_OUT = ("POST", "/sign-out")
GIVEN = {
    "property_": "hollywood", "table": "CC-07", "day": "2026-11-20", "number": "1",
    "kind": "fill", "slip:path": "F-1", "box:path": "B1",
    "sha256": "0" * 64, "picture": "0" * 64, "dispute:path": "D-1", "name:path": "NIGHT/1",
    "upload": "a" * 24,
    "name": "P-20261120T190000Z-20261120T192000Z-3f9a2c",
}  # fmt: skip


def path_of(template: str) -> str:
    return re.sub(r"\{([^}]+)\}", lambda found: GIVEN[found[1]], template)


def test_every_route_is_one_that_somebody_decided_on() -> None:
    there = {
        (method, str(route.path))  # type: ignore[attr-defined] # all of ours are of a path
        for router in ROUTERS
        for route in router.routes
        for method in route.methods  # type: ignore[attr-defined] # as above
    }
    assert there == MAY.keys() | PUBLIC


FORGED = ("", "A" * 43, "x" * 4_000, "%00", "../../etc/passwd", "' OR 1=1 --")


@pytest.mark.long
def test_no_route_answers_without_a_session_of_ours(staffed: Site) -> None:
    for cookie in FORGED:
        answers = answered(staffed, cookie)
        assert answers == dict.fromkeys(MAY, 401), cookie


def answered(site: Site, cookie: str) -> dict[tuple[str, str], int]:
    """What every route answers to a session cookie of this text."""
    sent = {"round_ledger_session": cookie} if cookie else {}
    with httpx.Client(base_url=site.url, cookies=sent) as nobody:
        return {
            (method, template): nobody.request(
                method, path_of(template), data={"csrf": "x"} if method != "GET" else None
            ).status_code
            for method, template in MAY
        }


@pytest.mark.long
def test_each_role_may_what_it_may_and_no_more(staffed: Site) -> None:
    for role in ROLES:
        browser = staffed.browser(role)
        token = browser.csrf
        for (method, template), roles in MAY.items():
            if (method, template) == SIGN_OUT:
                continue
            data = {"csrf": token} if method != "GET" else None
            status = browser.request(method, path_of(template), data=data).status_code
            assert (status != 403) == (role in roles), (role, method, template, status)
            assert status < 500, (role, method, template)


@pytest.mark.long
def test_no_form_is_taken_from_another_site_or_without_the_sessions_token(staffed: Site) -> None:
    browser, other = staffed.browser("surveillance"), staffed.browser("auditor")
    right, wrong = browser.token("/"), other.token("/")
    from_elsewhere: list[dict[str, str]] = [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ]
    for method, template in MAY:
        if method == "GET":
            continue
        path = path_of(template)
        for headers in from_elsewhere:
            sent = browser.request(method, path, data={"csrf": right}, headers=headers)
            assert sent.status_code == 403
        for data in ({}, {"csrf": ""}, {"csrf": wrong}, {"csrf": "\N{SNOWMAN}"}):
            sent = browser.request(method, path, data=data)
            assert sent.status_code == 403, (path, data)
    assert browser.get("/").status_code == 200, "somebody was signed out"


HOSTILE = (
    "9" * 5_000, "-" + "9" * 5_000, "1e9", "0x10", "\N{ARABIC-INDIC DIGIT ONE}", "1\n2", "'--",
    "\N{SNOWMAN}" * 600, "\udcff",
)  # fmt: skip
"""More digits than Python turns into a number, numbers of other kinds, and what is no text."""


def paths(text: str) -> list[str]:
    quoted = quote(text, safe="", errors="surrogateescape")
    return [
        f"/rounds/hollywood/CC-07/2026-11-20/{quoted}",
        f"/rounds/hollywood/CC-07/{quoted}/1",
        f"/rounds/{quoted}/CC-07/2026-11-20/1?at={quoted}",
        f"/watch/hollywood/{quoted}/2026-11-20/1",
        f"/footage/{quoted}",
        f"/live/picture?property={quoted}&camera={quoted}&film={quoted}&after={quoted}",
        f"/live/table?property={quoted}&table={quoted}&back={quoted}",
        f"/live/back?property={quoted}&table={quoted}",
        f"/import/{quoted}?camera={quoted}&start={quoted}&zone={quoted}",
        f"/import/uploads/{quoted}",
        f"/footage/{'0' * 64}/frames/{quoted}.png",
        f"/cases/{quoted}/D-1",
        f"/cases/hollywood/{quoted}?fact={quoted}",
        f"/cases/new?round={quoted}&position={quoted}",
        f"/dossiers/new?of={quoted}",
        f"/drop?gaming_day={quoted}&table={quoted}",
        f"/win/charts?property={quoted}&gaming_day={quoted}&table={quoted}",
        f"/?round={quoted}&position={quoted}&amount={quoted}&card={quoted}&from={quoted}&limit={quoted}",
    ]  # fmt: skip


@pytest.mark.long
def test_whatever_stands_in_an_address_is_told_to_be_wrong_and_breaks_nothing(
    staffed: Site,
) -> None:
    for role in ("surveillance", "finance"):
        browser = staffed.browser(role)
        for path in (path for text in HOSTILE for path in paths(text)):
            answer = browser.get(path)
            assert answer.status_code in (200, 400, 403, 404, 422), (path[:60], answer.text[:400])
            assert "Traceback" not in answer.text
        assert browser.get("/").status_code == 200


TRICKS = (
    "../../../etc/passwd", "..%2f..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd",
    "....//....//etc/passwd", "/etc/passwd", "%2fetc%2fpasswd", "..%5c..%5cetc%5cpasswd",
    "../pages.py", "%00", "base.css%00.png", "file:%2f%2f%2fetc%2fpasswd",
)  # fmt: skip


@pytest.mark.long
def test_no_path_leads_out_of_what_is_served(staffed: Site) -> None:
    """Sent as written: a client of manners would tidy them up first."""
    browser = staffed.browser("surveillance")
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    line = http.client.HTTPConnection(staffed.url.removeprefix("http://"), timeout=120)
    for below in ("static", "footage", "import", "dossiers", "cases/hollywood", "rounds/hollywood"):
        for trick in TRICKS:
            line.request("GET", f"/{below}/{trick}", headers={"Cookie": cookies})
            answer = line.getresponse()
            said = answer.read()
            assert answer.status in (400, 404, 405, 422), (below, trick)
            assert b"root:" not in said
            assert b"import" not in said
    line.close()


NUL, LONG = "a\0b", "9" * 4_000
FORMS: tuple[tuple[str, dict[str, str]], ...] = (
    ("/cases", {"round": NUL, "position": "1", "claim": "x"}),
    ("/cases", {"round": "CC-07/2026-11-20/1", "position": LONG, "claim": NUL}),
    ("/cases/preserve", {"from": "2026-11-20 10:00", "to": "2026-11-20 11:00", "table": NUL}),
    ("/cases/preserve", {"from": "0001-01-01 00:00", "to": "9999-12-31 23:59", "table": "CC-07"}),
    ("/cases/preserve", {"from": "0001-01-01T00:00:00Z", "to": "9999-12-31T23:59:59Z"}),
    ("/preserved/hollywood/P-1", {"because": NUL}),
    ("/import/uploads", {"name": NUL, "size": "1"}),
    ("/import/uploads", {"name": "a.mp4", "size": LONG}),
    ("/dossiers", {"of": NUL}),
    ("/dossiers", {"of": "CC-07/2026-11-20/1", "pre_s": LONG}),
    ("/clips", {"round": "hollywood:CC-07/2026-11-20/1", "from_us": "9" * 25, "to_us": "9" * 26}),
    ("/clips", {"round": "hollywood:CC-07/2026-11-20/1", "from_us": LONG, "to_us": "-1"}),
)


@pytest.mark.long
def test_whatever_is_sent_in_a_form_is_told_to_be_wrong_and_breaks_nothing(staffed: Site) -> None:
    browser = staffed.browser("surveillance")
    usual = {"csrf": browser.token("/"), "because": "x"}
    for path, form in FORMS:
        answer = browser.post(path, data=usual | form)
        assert answer.status_code in (400, 422), (path, form, answer.text)
    for typed in ("0001-01-01 00:00", "9999-12-31 23:59", "9999-12-31T23:59:59Z"):
        assert "is not a time" in browser.get("/", params={"from": typed}).text


XSS = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'"


@pytest.mark.long
def test_nothing_that_is_typed_becomes_markup(staffed: Site) -> None:
    browser = staffed.browser("surveillance")
    token = browser.token("/")
    asked = [
        browser.get("/", params=dict.fromkeys(("table", "dealer", "patron", "card", "wager"), XSS)),
        browser.get("/", params={"dealer": XSS}),
        browser.get("/cases/new", params={"round": XSS}),
        browser.get("/dossiers/new", params={"of": XSS}),
        browser.get(f"/cases/hollywood/{XSS.replace('/', '%2F')}"),
        browser.get("/sign-in", params={"next": XSS}),
        browser.post("/cases", data={"csrf": token, "round": XSS, "position": "1", "claim": XSS}),
        browser.post("/dossiers", data={"csrf": token, "of": XSS, "because": XSS}),
        browser.post("/clips", data={
            "csrf": token, "round": XSS, "from_us": "1", "to_us": "2", "because": XSS,
        }),
        staffed.browser().sign_in(XSS, XSS),
    ]  # fmt: skip
    for answer in asked:
        assert answer.status_code < 500
        assert "<img" not in answer.text
        assert "<script>" not in answer.text
