"""Who reads what of people is on record before it is shown, with the page that led there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from infra.access.connections import AccessDatabase, Actor, Event
from infra.access.readings import AGAIN_S, ReadingLog
from replay.web.access.readings import ELSEWHERE, LISTS, PICTURES, READINGS
from tests.fixtures.web import opened_site, people
from tests.integration.web.test_web_routes import MAY
from tests.scenes.view_feeds import day

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.postgres.connection import Database
    from tests.fixtures.cli import Cli
    from tests.fixtures.web import Site

ROUND = "/rounds/hollywood/CC-01/2026-11-20/2"
NO_PERSON = frozenset(
    (
        *(
            "/account",
            "/live",
            "/live/table",
            "/live/back",
            "/drop",
            "/win",
            "/win/charts",
            "/win/coupons",
        ),
        *("/import", "/import/uploads/{upload}", "/import/{upload}"),
        *("/entry", "/entry/inventories", "/entry/slips/new", "/entry/forms/{name}"),
        "/entry/slips/{property_}/{kind}/{slip:path}",
        "/entry/boxes/{property_}/{table}/{day}/{box:path}",
        "/cases/new",
        *("/approvals", "/approvals/{property_}/{name}"),
    )
)
"""Routes that show the house's figures and papers, or an empty form."""


@pytest.fixture
def played(database: Database, tmp_path: Path) -> Iterator[Site]:
    """A site with some rounds and a user of each role."""
    people(database)
    with opened_site(database, tmp_path) as site:
        site.take_in(day(30))
        yield site


def readings(site: Site) -> list[Event]:
    """The readings on record, the oldest first."""
    return site.ports.access.events(read=True)[::-1]


def told(site: Site) -> list[tuple[str, str, str]]:
    return [(each.name, each.actor, each.detail) for each in readings(site)]


def test_each_route_notes_readings_or_shows_nobody() -> None:
    there = {template for method, template in MAY if method == "GET"}
    noted = READINGS.keys() | LISTS.keys() | PICTURES.keys() | ELSEWHERE.keys()
    assert there == noted | NO_PERSON
    assert not noted & NO_PERSON


def test_a_round_is_noted_once_with_the_page_that_led_there(played: Site) -> None:
    who = played.browser("surveillance")
    here = {"Referer": f"{played.url}/review?state=open"}
    assert who.get(ROUND, headers=here).status_code == 200
    for part in ("/tables", "/picture.jpg", ""):
        who.get(ROUND + part, headers={"Referer": played.url + ROUND})
    other = played.browser("auditor")
    for elsewhere in ({}, {"Referer": "https://elsewhere.example/review"}):
        assert other.get(ROUND, headers=elsewhere).status_code == 200
    subject = "round hollywood:CC-01/2026-11-20/2"
    assert told(played) == [
        (subject, "surveillance", "/review?state=open"),
        (subject, "auditor", "an address"),
    ]
    assert {each.address for each in readings(played)} == {"127.0.0.1"}
    assert all(each.what != "read" for each in played.ports.access.events())


@pytest.mark.long
def test_a_search_is_noted_with_its_question_and_without_a_patrons_token(played: Site) -> None:
    who = played.browser("surveillance")
    asked = "dealer=D-1001&patron=P-7d42735e&wager=&ask=patron+7-22+at+CC-07"
    for path in ("/", f"/?{asked}", "/find", "/statistics?by=dealer", "/rounds.csv?table=CC-07"):
        assert who.get(path).status_code == 200, path
    assert who.get(ROUND, headers={"Referer": f"{played.url}/find?{asked}"}).status_code == 200
    cut = "dealer=D-1001&patron=P-*&ask=P-*+at+CC-07"
    assert told(played) == [
        ("first page", "surveillance", "an address"),
        (f"search {cut}", "surveillance", "an address"),
        ("search", "surveillance", "an address"),
        ("errors by=dealer", "surveillance", "an address"),
        ("search table=CC-07", "surveillance", "an address"),
        ("round hollywood:CC-01/2026-11-20/2", "surveillance", f"/find?{cut}"),
    ]


@pytest.mark.long
def test_small_pictures_are_part_of_the_list_that_asks_for_them(played: Site) -> None:
    who, picture = played.browser("surveillance"), f"{ROUND}/picture.jpg"
    for path in ("/?table=CC-01", "/review?state=open"):
        assert who.get(path).status_code == 200
        who.get(picture, headers={"Referer": f"{played.url}{path}"})
    lists = ["search table=CC-01", "findings state=open"]
    assert [name for name, _, _ in told(played)] == lists
    who.get(picture, headers={"Referer": f"{played.url}/find?table=CC-02"})
    subject = "round hollywood:CC-01/2026-11-20/2"
    assert [name for name, _, _ in told(played)] == [*lists, subject], "that list is not being read"


@pytest.mark.long
def test_nothing_is_shown_that_could_not_be_noted(played: Site, database: Database) -> None:
    who = played.browser("auditor")
    with database.connect("ledger_owner") as owner:
        owner.execute("SET ROLE NONE")
        owner.execute("REVOKE INSERT ON access.events FROM ledger_doorkeeper")
    answer = who.get(ROUND)
    assert answer.status_code >= 500
    assert "fact 1" not in answer.text
    assert who.get("/win").status_code == 200, "it shows nobody"
    with database.connect("ledger_owner") as owner:
        owner.execute("SET ROLE NONE")
        owner.execute("GRANT INSERT ON access.events TO ledger_doorkeeper")
    assert who.get(ROUND).status_code == 200


def test_who_may_not_read_leaves_no_reading(played: Site) -> None:
    for browser, status in ((played.browser("ops"), 403), (played.browser(), 303)):
        assert browser.get(ROUND).status_code == status
    assert told(played) == []


def test_a_reading_goes_on_for_ten_minutes(played: Site) -> None:
    now = [0.0]
    log = ReadingLog(played.ports.access, lambda: now[0])
    for at in (0, AGAIN_S - 1, AGAIN_S, AGAIN_S + 1):
        now[0] = at
        log.note("case p/D-1", Actor("maria"), "/cases")
    log.note("case p/D-1", Actor("ada"), "/cases")
    assert [each.actor for each in readings(played)] == ["maria", "maria", "ada"]


def test_the_command_lists_readings_and_finds_those_of_a_round(
    cli: Cli, database: Database
) -> None:
    access = AccessDatabase(database)
    try:
        for subject in ("round p:CC-01/2026-11-20/7", "case p/D-1"):
            ReadingLog(access).note(subject, Actor("maria", "10.0.0.1"), "/review")
    finally:
        access.close()
    told = cli("users", "log", "--readings", "--json").out
    lines = [json.loads(each) for each in told.splitlines()]
    assert [each["name"] for each in lines] == ["case p/D-1", "round p:CC-01/2026-11-20/7"]
    shown = cli("users", "log", "--readings", "--about", "CC-01/2026-11-20/7").out
    assert ("maria" in shown, "case p/D-1" in shown) == (True, False)
    assert "maria" not in cli("users", "log").out
