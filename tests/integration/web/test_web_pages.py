"""Rules for every page: headers, hostile facts and searches, files, problems reported."""

from __future__ import annotations

import csv
import io
import re
import socket
import time
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ledger.facts import (
    CameraMapped,
    DealerAssigned,
    DisputeNoted,
    DisputeRaised,
    FactCorrected,
    RoundStarted,
    SeatTaken,
    SegmentRecorded,
    TableOpened,
    WagerPlaced,
)
from ledger.facts.vocabulary import FactRef
from ledger.record import wire
from ledger.values import format_time
from replay.ask import sheet
from tests.fixtures.web import opened_site, people, taken_in
from tests.scenes.view_feeds import day, received

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.postgres.connection import Database
    from ledger.facts import Body
    from ledger.record.tape import Received
    from tests.fixtures.postgres import Scenes
    from tests.fixtures.web import Browser, Site

T0_US = 1_795_000_000_000_000
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7 * 7 }}"
HEADERS = ("Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options")
HEADERS += ("Referrer-Policy", "Cross-Origin-Opener-Policy", "Permissions-Policy")
HTML = "text/html; charset=utf-8"
PAGES = (
    "/sign-in",
    "/",
    "/live",
    "/statistics",
    "/drop",
    "/win",
    "/nowhere",
    "/rounds/a/b/c/d",
    "/setup",
)


def told(number: int, body: Body, subject: str | None = None, place: str = "CC-07") -> Received:
    source = f"/hollywood/{place}/terminal"
    return received(wire.encode(body, source, f"x{number}", T0_US + number * 1_000_000, subject))


def shown(browser: Browser, path: str) -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


@pytest.fixture
def auditor(staffed: Site) -> Browser:
    """Sees every page."""
    return staffed.browser("auditor")


def played(base: Database) -> None:
    """A scene: some minutes of a floor, and the people who look at it."""
    people(base)
    taken_in(base, day(10, planted=1))


@pytest.fixture
def floor(scenes: Scenes, tmp_path: Path) -> Iterator[Browser]:
    """An auditor before the pages of it."""
    with opened_site(scenes.copy(played)[0], tmp_path) as site:
        yield site.browser("auditor")


@pytest.mark.long
def test_pages_show_and_read_times_as_the_propertys_devices_do_or_in_the_zone_set(
    scenes: Scenes, tmp_path: Path
) -> None:
    """One clock on lists, on a round and in the form. A later hour finds fewer rounds."""
    copied = scenes.copy(played)[0]
    for setting, zone, offset, from_ in (
        ("", "UTC-05:00", "05:00", "10:04 am"),
        ("hollywood=America/Denver", "America/Denver", "07:00", "11/20/2026 8:04"),
    ):
        with opened_site(copied, tmp_path / zone, TIME_ZONE=setting) as site:
            auditor = site.browser("auditor")
            every = shown(auditor, "/")
            assert f"\N{MINUS SIGN}{offset}<" in every
            (path, *_) = re.findall(r'href="(/rounds/hollywood/[^"]+)"', every)
            page = shown(auditor, path)
            assert f'data-zone="{zone}"' in page
            assert f"\N{MINUS SIGN}{offset}<" in page
            assert f"clocks, in {zone}</span>" in page
            wanted = {"gaming_day": "2026-11-20", "from": from_, "limit": "200"}
            found = auditor.get("/", params=wanted).text
            assert found.count("/rounds/hollywood/") < every.count("/rounds/hollywood/")
            assert "Not searched" not in found


def test_every_answer_to_a_browser_carries_the_headers(staffed: Site, auditor: Browser) -> None:
    for browser in (auditor, staffed.browser()):
        for path in PAGES:
            answer = browser.get(path)
            assert all(name in answer.headers for name in HEADERS), path
            policy = answer.headers["Content-Security-Policy"]
            assert "default-src 'self'" in policy
            for barred in ("object-src", "base-uri", "frame-ancestors"):
                assert f"{barred} 'none'" in policy
            assert "unsafe" not in policy
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert answer.headers["Referrer-Policy"] == "same-origin"
            kind = answer.headers.get("Content-Type", "" if answer.content else HTML)
            assert kind == HTML, path
            assert not [name for name in answer.headers if name.startswith("access-control")]


def test_no_address_answers_trace(auditor: Browser) -> None:
    for path in ("/", "/sign-in", "/v1/facts", "/static/base.css"):
        answer = auditor.request("TRACE", path)
        assert answer.status_code in (405, 411), path
        assert "round_ledger_session" not in answer.text


def test_no_page_has_script_or_style_in_line_or_anything_of_another_host(
    floor: Browser, site: Site
) -> None:
    for path in ("/sign-in", "/", "/live", "/statistics", "/drop", "/win"):
        text = (site.browser() if path == "/sign-in" else floor).get(path).text
        assert not re.search(r"\son[a-z]+\s*=", text)
        assert not re.search(r"\sstyle\s*=|<style", text)
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))
        assert not re.search(r'(?:src|href|action)="(?:https?:)?//', text)


@pytest.mark.long
def test_what_facts_say_is_text_whatever_is_in_it(staffed: Site, auditor: Browser) -> None:
    subject = "CC-07/2026-11-20/1"
    opened = TableOpened(
        game="criss_cross_poker", gaming_day="2026-11-20", min_wager=500, max_wager=10_000
    )
    employee = HOSTILE[:64]
    camera = CameraMapped(camera=HOSTILE, table="CC-07", kind="stationary", covers=("table",))
    staffed.take_in(
        [
            told(0, camera),
            told(1, opened),
            told(2, DealerAssigned(employee=employee, role="dealer")),
            told(3, SeatTaken(positions=(3,), patron=HOSTILE)),
            told(4, RoundStarted(game="criss_cross_poker"), subject),
            told(5, WagerPlaced(position=3, wager="ante_across", amount=500), subject),
            told(
                6,
                DisputeRaised(dispute=HOSTILE, round=subject, position=3, claim=HOSTILE, by="S-1"),
                place="surveillance",
            ),
            told(
                7,
                FactCorrected(
                    of=FactRef(source="/hollywood/CC-07/terminal", id="x5"),
                    because=HOSTILE,
                    by="S-1",
                    second="S-2",
                ),
            ),
            told(
                8,
                DisputeNoted(dispute=HOSTILE, note=HOSTILE, by="S-1", moments=()),
                place="surveillance",
            ),
            told(9, SegmentRecorded(
                camera=HOSTILE, path=HOSTILE, sha256="0" * 64, start=format_time(T0_US),
                frames=100, duration_us=10_000_000,
            )),
        ]
    )  # fmt: skip
    paths = (
        "/", "/live", "/drop", "/win", "/cases", f"/?table={HOSTILE}&card={HOSTILE}&dealer=x",
        "/statistics", f"/statistics?table={HOSTILE}&game={HOSTILE}&name={HOSTILE}",
        f"/rounds/hollywood/{subject}", f"/watch/hollywood/{subject}",
        f"/cases/hollywood/{quote(HOSTILE, safe='')}",
    )  # fmt: skip
    for path in paths:
        text = shown(auditor, path)
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "49}" not in text
        assert ">49<" not in text
    assert "&lt;script&gt;" in shown(auditor, "/")
    assert "&lt;script&gt;" in shown(auditor, "/live")
    assert "&lt;script&gt;" in shown(auditor, f"/rounds/hollywood/{subject}"), "no camera is named"
    assert shown(auditor, paths[-1]).count("&lt;script&gt;") > 2, "claim and note are not shown"


@pytest.mark.long
def test_no_search_does_more_than_search(floor: Browser) -> None:
    everything = shown(floor, "/").count('<th scope="row"')
    assert everything
    hostile = ("%", "_", "\\", "' OR '1'='1", "x'; DROP TABLE views.rounds; --", "%(limit)s")
    assert floor.get("/?table=%00").status_code == 400
    assert floor.get("/rounds/a/b/2026-11-20%00/1").status_code == 400
    for field in ("table", "game", "dealer", "patron", "wager", "row", "dispute", "gaming_day"):
        for text in hostile:
            answer = floor.get("/", params={field: text})
            assert answer.status_code == 200, (field, text)
            assert '<th scope="row"' not in answer.text, (field, text)
    for field in ("from", "to", "amount", "position", "round", "card", "finding", "limit"):
        for text in (*hostile, "9" * 300, "-1", "1e9", "٣"):
            answer = floor.get("/", params={field: text})
            assert answer.status_code == 200, (field, text)
            assert "Not searched" in answer.text, (field, text)
    assert shown(floor, "/").count('<th scope="row"') == everything


def test_a_search_is_the_same_with_and_without_its_page(floor: Browser) -> None:
    part = floor.get("/?finding=overpaid", headers={"X-Fragment": "results"}).text
    assert "<html" not in part
    assert part.strip() in shown(floor, "/?finding=overpaid")
    assert '<span class="tag bad"' in part


def test_a_hit_says_at_which_position_what_was_paid_and_what_was_owed(floor: Browser) -> None:
    part = floor.get("/?finding=overpaid", headers={"X-Fragment": "results"}).text
    said = re.findall(r"<li>(Position \d+ was paid \$[\d.,]+ on [^<]+: \$[\d.,]+)", part)
    rows = part.split('<th scope="row" class="nowrap">')[1:]
    assert said
    assert all("<li>Position " in row for row in rows)


def test_a_sentence_is_read_as_chips_and_what_is_not_understood_is_said(floor: Browser) -> None:
    page = shown(floor, "/?ask=CC-01 overpiad 3 am zebra&sort=oldest")
    for part in ("<b>CC-01</b> table CC-01", "read as “overpaid”", "Not used: zebra", "03:00"):
        assert part in page, part
    assert "<b>overpaid</b> more was" in shown(floor, "/?ask=overpaid")
    without = shown(floor, "/?ask=overpaid")
    assert 'href="/?ask=" data-ask="" aria-label="Remove overpaid"' in without
    assert "The form says otherwise, and holds: table." in shown(floor, "/?ask=CC-01&table=CC-02")


def test_the_pages_of_a_search_have_every_round_once_in_its_order(floor: Browser) -> None:
    for order in ("newest", "oldest", "amount", "difference"):
        seen: list[str] = []
        path: str | None = f"/?sort={order}&limit=7"
        while path:
            part = floor.get(path, headers={"X-Fragment": "results"}).text
            seen += re.findall(r'<th scope="row" class="nowrap"><a href="/rounds/([^"]+)"', part)
            following = re.search(r'href="([^"]+)" rel="next"', part)
            path = following[1].replace("&amp;", "&") if following else None
        every = shown(floor, f"/?sort={order}&limit=200")
        whole = re.findall(r'<th scope="row" class="nowrap"><a href="/rounds/([^"]+)"', every)
        assert seen == whole, order
        assert len(set(seen)) == len(seen) > 14
    assert "Not searched" in shown(floor, "/?after=x~1~2")
    assert "Not searched" in shown(floor, "/?sort=random")


def test_the_file_of_a_search_has_its_rounds_with_their_money(floor: Browser) -> None:
    answer = floor.get("/rounds.csv?ask=overpaid")
    assert answer.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert list(rows[0]) == list(sheet.COLUMNS)
    named = set(re.findall(r'href="/rounds/hollywood/([^"]+)"', shown(floor, "/?ask=overpaid")))
    assert {row["round"] for row in rows} == named
    for row in rows:
        assert "overpaid" in row["findings"]
    wrong = [row for row in rows if row["findings"] == "overpaid" and row["difference"] != "0.00"]
    assert wrong
    for row in wrong:
        paid = Decimal(row["paid"] or 0)
        assert Decimal(row["difference"]) == paid - Decimal(row["owed"]) > 0


def test_a_search_is_saved_by_name_for_its_user_alone(staffed: Site) -> None:
    mine, other = staffed.browser("surveillance"), staffed.browser("finance")
    form = {"csrf": mine.csrf, "name": " My  CC-01 ", "query": "ask=CC-01&after=x&nonsense=1"}
    assert mine.post("/searches", data=form).headers["Location"] == "/?ask=CC-01"
    assert mine.post("/searches", data=form | {"query": "table=CC-02"}).status_code == 303
    assert '<a href="/?table=CC-02">My CC-01</a>' in shown(mine, "/find")
    assert "My CC-01" not in shown(other, "/")
    gone = {"csrf": other.csrf, "name": "My CC-01"}
    assert other.post("/searches/delete", data=gone).status_code == 303
    assert "My CC-01" in shown(mine, "/find")
    assert mine.post("/searches/delete", data=gone | {"csrf": mine.csrf}).status_code == 303
    assert "My CC-01" not in shown(mine, "/find")
    assert 'id="keep"' not in shown(staffed.browser("auditor"), "/")


def test_rounds_are_found_by_what_a_person_knows(floor: Browser) -> None:
    newest = re.findall(r'href="/rounds/hollywood/([^"]+)"', shown(floor, "/"))
    assert newest
    of_one = shown(floor, f"/?round={newest[0]}")
    assert re.findall(r'href="/rounds/hollywood/([^"]+)"', of_one) == [newest[0]]
    table = newest[0].partition("/")[0]
    for path in re.findall(r'href="/rounds/hollywood/([^"]+)"', shown(floor, f"/?table={table}")):
        assert path.startswith(f"{table}/")
    dealers = re.findall(r'href="/\?dealer=([^"&]+)"', shown(floor, "/"))
    assert "errors found in" in shown(floor, f"/?dealer={dealers[0]}")


def test_finance_sees_no_patrons_token_and_cannot_search_by_one(staffed: Site) -> None:
    subject = "CC-07/2026-11-20/1"
    staffed.take_in(
        [
            told(1, SeatTaken(positions=(3,), patron="tok-4711")),
            told(2, RoundStarted(game="criss_cross_poker"), subject),
            told(3, WagerPlaced(position=3, wager="ante_across", amount=500), subject),
        ]
    )
    finance, surveillance = staffed.browser("finance"), staffed.browser("surveillance")
    assert "tok-4711" in shown(surveillance, "/find")
    assert "tok-4711" not in shown(finance, "/")
    assert 'name="patron"' not in shown(finance, "/")
    assert finance.get("/?patron=tok-4711").status_code == 403
    assert subject in shown(finance, "/")
    form = {"csrf": surveillance.csrf, "name": "his", "query": "patron=tok-4711"}
    kept = surveillance.post("/searches", data=form).headers["Location"]
    assert kept.startswith("/?patron=pseudonym%3A"), "a search is kept, a token may be erased"
    assert subject in shown(surveillance, kept)
    for query in ("patron=nobody", "ask=patron+P-7d42735e"):
        assert surveillance.post("/searches", data=form | {"query": query}).status_code == 422


@pytest.mark.long
def test_the_floor_and_the_drop_show_what_is_on_record(staffed: Site, auditor: Browser) -> None:
    assert "No table is on record yet." in shown(auditor, "/live")
    assert "No money is on record" in shown(auditor, "/drop")
    facts = day(10, planted=1)
    staffed.take_in(facts)
    buy_in = next(each for each in facts if each.type == "cash_bought_in.v1")
    staffed.take_in([buy_in._replace(data=re.sub(rb'"amount":\d+', b'"amount":4200', buy_in.data))])
    floor = auditor.get("/live", headers={"X-Fragment": "floor"}).text
    assert "<html" not in floor
    assert "Criss-Cross Poker" in floor
    assert "Latest findings" in floor
    money = shown(auditor, "/drop")
    assert "Drop box" in money
    assert "Payouts from the cage" in money
    assert '<th scope="row">Ante Across</th>' in money
    assert "No money is on record" in shown(auditor, "/drop?gaming_day=1999-01-01")
    [told] = re.findall(r">equivocation</span> ([^<]+)</li>", money)
    assert "$42.00" in told


@pytest.mark.long
def test_findings_about_a_tables_day_are_beside_its_money_and_under_the_rounds(
    staffed: Site, auditor: Browser
) -> None:
    """They belong to no round, so no list of rounds has them."""
    facts = day(10)
    filed = [each for each in facts if "rules_submission_filed" in each.type]
    assert filed
    staffed.take_in([each for each in facts if each not in filed])
    missing = "No Rules Submission for Criss-Cross Poker is on record"
    for path in ("/", "/?finding=rules_submission_missing", "/?table=CC-01", "/drop"):
        page = shown(auditor, path)
        assert re.search("about (a|this) table's day", page), path
        assert missing in page, path
    for path in ("/?finding=overpaid", "/?table=CC-99", "/?position=3", "/?from=nonsense"):
        assert missing not in shown(auditor, path), path


def test_the_fields_of_times_say_which_clock_they_mean(auditor: Browser) -> None:
    form = shown(auditor, "/")
    assert form.count('aria-describedby="times"') == 2
    assert "Times in America/New_York. 9 pm and" in form


def test_static_files_are_kept_by_their_content_and_lead_nowhere_else(site: Site) -> None:
    browser = site.browser()
    sheet = re.search(r'href="(/static/base\.css\?v=[0-9a-f]+)"', browser.get("/sign-in").text)
    assert sheet
    answer = browser.get(sheet[1])
    assert answer.status_code == 200
    assert "immutable" in answer.headers["Cache-Control"]
    for path in (
        "/static/../pages.py",
        "/static/%2e%2e/pages.py",
        "/static/..%2fpages.py",
        "/static/%2e%2e%2f%2e%2e%2fpyproject.toml",
        "/static//etc/passwd",
        "/static/%5c..%5cpages.py",
        "/static/base.css%00.py",
        "/static/",
    ):
        assert browser.get(path).status_code in (400, 404), path


def test_a_page_that_is_not_there_says_so_and_shows_no_inside(auditor: Browser) -> None:
    answer = auditor.get("/nowhere")
    assert answer.status_code == 404
    assert "Nothing here" in answer.text
    assert "There is no page at this address." in answer.text
    assert "Traceback" not in answer.text
    refused = auditor.get("/nowhere", headers={"Accept": "application/json"}).json()
    assert refused["error"] == "There is no page at this address."
    assert refused["hint"]


def test_pages_say_how_far_behind_the_record_they_are(staffed: Site, auditor: Browser) -> None:
    staffed.take_in(day(5))
    assert "Every fact on record is on these pages" in shown(auditor, "/")
    with staffed.database.connect("ledger_owner") as connection:
        connection.execute("UPDATE views.tracking SET position = position - 7 WHERE view = 'drop'")
    assert "7 facts on record are not on these pages yet" in shown(auditor, "/")


def test_no_stranger_fills_the_memory_with_a_form(staffed: Site) -> None:
    browser = staffed.browser()
    form = {"csrf": browser.token("/sign-in"), "name": "ops"}
    assert browser.post("/sign-in", data=form | {"password": "x" * 300_000}).status_code == 413
    assert browser.post("/sign-in", data=form | {"password": "x" * 300}).status_code == 422
    told_by_parts = browser.post("/sign-in", content=iter([b"name=", b"ops"]))
    assert told_by_parts.status_code == 411
    assert browser.post("/sign-out", content=b"x" * 300_000).status_code == 413
    assert "default-src" in told_by_parts.headers["Content-Security-Policy"]
    assert browser.sign_in("ops").status_code == 303


def test_who_sends_a_form_too_long_reads_why_however_slowly_it_goes(staffed: Site) -> None:
    host, _, port = staffed.url.removeprefix("http://").partition(":")
    head = f"POST /sign-in HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 300000\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=120) as connection:
        connection.sendall(head.encode())
        for _ in range(3):
            connection.sendall(b"x" * 100_000)
            time.sleep(0.2)
        assert connection.recv(64).startswith(b"HTTP/1.1 413 ")


def test_another_host_name_is_refused(site: Site) -> None:
    assert site.browser().get("/sign-in", headers={"Host": "elsewhere"}).status_code == 400
