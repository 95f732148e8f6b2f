"""Finance over HTTP: the bytes of the commands, for who shows a reader key, and each use logged."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_args

import httpx
import jsonschema
import pytest

from consumers.finance import journal
from consumers.finance.sealed import sealed_wins
from infra.access.keys import Keys
from infra.access.reader_keys import READER_ROLES, ReaderKeys, ReaderRole
from ledger.errors import NotFound, Usage
from ledger.finance.groups import By, grouped
from replay.recording.sealed_days import DayDecisions, Signers
from replay.text.journal import beancount, hledger
from replay.web.api import finance
from replay.web.api.openapi import JSON_LINES, PROBLEM
from tests.fixtures.cli import lines
from tests.fixtures.http import STRUCTURED, TRUST
from tests.fixtures.web import ACTOR, opened_site
from tests.integration.web.test_web_devices import post
from tests.scenes.table_days import DAY, day_lines, fact
from tests.scenes.view_feeds import received
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.postgres.connection import Database
    from tests.fixtures.cli import Cli
    from tests.fixtures.web import Site

BOTH = ("/v1/win", "/v1/journal")
SOLD = fact("cash_bought_in", 10, position=1, amount=10_000)
LATE = fact("cash_bought_in", 11, position=1, amount=500)
OTHER_HOUSE = [
    each | {"source": each["source"].replace("/p/", "/lucky/")} for each in day_lines(SOLD)
]


@pytest.fixture
def counted(database: Database, tmp_path: Path) -> Iterator[Site]:
    """A site with a table's counted day."""
    with opened_site(database, tmp_path) as site:
        site.take_in([received(json.dumps(each).encode()) for each in day_lines(SOLD)])
        yield site


def ask(site: Site, path: str, key: str | None, **headers: str) -> httpx.Response:
    shown = {} if key is None else {"Authorization": f"Bearer {key}"}
    return httpx.get(f"{site.url}{path}", headers=shown | headers, timeout=120, verify=TRUST)


def reader(site: Site, role: ReaderRole = "finance") -> str:
    return ReaderKeys(site.ports.access).add(role, "general-ledger", ACTOR)


def problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == PROBLEM
    told: dict[str, Any] = answer.json()
    assert told["status"] == status
    described = schemas(answer)[str(status)]["content"][PROBLEM]["schema"]
    jsonschema.validate(told, described)
    return told


def schemas(answer: httpx.Response) -> dict[str, Any]:
    """The described answers of a request's address."""
    url = answer.request.url
    described = httpx.get(url.copy_with(path="/openapi.json", query=None), verify=TRUST).json()
    found: dict[str, Any] = described["paths"][url.path]["get"]["responses"]
    return found


@pytest.mark.parametrize("role", READER_ROLES)
def test_both_roles_read_what_the_commands_print(counted: Site, role: ReaderRole) -> None:
    key = reader(counted, role)
    wins = grouped(sealed_wins.read(counted.database), "table")
    found = ask(counted, f"/v1/win?gaming_day={DAY}&table=CC-07&property=p", key)
    assert found.content == finance._lines(wins)
    assert found.headers["Content-Type"] == JSON_LINES
    assert found.headers["Facts-Behind"] == "0"
    assert found.headers["Cache-Control"] == "no-store"
    entries = journal.read(counted.database)
    found = ask(counted, f"/v1/journal?gaming_day={DAY}", key)
    assert found.content == finance._lines(entries)
    for form, text in (("hledger", hledger), ("beancount", beancount)):
        answer = ask(counted, f"/v1/journal?format={form}", key)
        assert answer.text.splitlines() == list(text(entries))
        assert answer.headers["Content-Type"].startswith("text/plain")


@pytest.mark.parametrize("path", BOTH)
def test_every_line_is_as_openapi_describes_it(counted: Site, path: str) -> None:
    answer = ask(counted, path, reader(counted))
    described = schemas(answer)["200"]["content"][JSON_LINES]["schema"]
    objects = [json.loads(line) for line in answer.content.splitlines()]
    assert objects
    for each in objects:
        jsonschema.validate(each, described)
        assert each.keys() <= described["properties"].keys()
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(objects[0] | {"currency": 7}, described)


def test_openapi_describes_both_addresses_with_their_key_and_parameters(site: Site) -> None:
    described = httpx.get(f"{site.url}/openapi.json", verify=TRUST).json()
    assert described["components"]["securitySchemes"]["reader_key"]["scheme"] == "bearer"
    for path, more in zip(BOTH, (["by", "version"], ["format"]), strict=True):
        get = described["paths"][path]["get"]
        assert [each["name"] for each in get["parameters"]] == [
            "property", "gaming_day", "table", *more,
        ]  # fmt: skip
        assert get["security"] == [{"reader_key": []}]
        assert set(get["responses"]) == {"200", "401", "403", "404", "422", "429", "503"}


@pytest.mark.parametrize("path", BOTH)
def test_nobody_reads_without_a_reader_key(counted: Site, path: str) -> None:
    key = reader(counted)
    device = Keys(counted.ports.access).add("/hollywood", ACTOR)
    wrong = (None, "x", device, key[:-1], f"{key}x", key.upper(), f"rlr_{key[4:16]}")
    for shown in wrong:
        answer = ask(counted, path, shown)
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        assert "CC-07" not in problem(answer, 401)["detail"]
    counted.add("maria", "finance")
    assert counted.browser("maria").get(path).status_code == 401, "a session is no key"
    problem(ask(counted, path, key, Origin="https://elsewhere.example"), 403)
    assert ask(counted, path, key).status_code == 200


def test_a_reader_key_sends_no_fact_and_makes_no_device_show_a_key(site: Site) -> None:
    key = reader(site)
    assert post(site, lines(1)[0], None, STRUCTURED).json()["verdict"] == "appended"
    assert not Keys(site.ports.access).any()
    Keys(site.ports.access).add("/hollywood", ACTOR)
    until(lambda: post(site, lines(1)[0], None, STRUCTURED).status_code == 401)
    assert post(site, lines(1)[0], key, STRUCTURED).status_code == 401


def test_a_revoked_key_reads_nothing_from_the_next_request_on(counted: Site) -> None:
    key, other = reader(counted), reader(counted, "auditor")
    keys = Keys(counted.ports.access)
    assert ask(counted, "/v1/win", key).status_code == 200
    keys.revoke(key.split("_")[1], ACTOR)
    problem(ask(counted, "/v1/win", key), 401)
    assert ask(counted, "/v1/win", other).status_code == 200
    with pytest.raises(NotFound):
        keys.revoke(key.split("_")[1], ACTOR)


def test_a_key_is_revoked_by_the_name_of_its_system_if_it_has_one_key(counted: Site) -> None:
    keys, key, other = Keys(counted.ports.access), reader(counted), reader(counted, "auditor")
    with pytest.raises(Usage, match="2 active keys are of general-ledger"):
        keys.revoke("general-ledger", ACTOR)
    keys.revoke(other.split("_")[1], ACTOR)
    assert keys.revoke("general-ledger", ACTOR) == key.split("_")[1]
    problem(ask(counted, "/v1/win", key), 401)
    with pytest.raises(NotFound):
        keys.revoke("general-ledger", ACTOR)


def test_each_use_is_logged_and_the_secret_is_kept_nowhere(counted: Site) -> None:
    key = reader(counted)
    for path in (f"/v1/win?gaming_day={DAY}", "/v1/journal?table=none", "/v1/win?wrong=1"):
        ask(counted, path, key)
    ask(counted, "/v1/win", f"{key}x")
    made, *used = reversed(counted.ports.access.events())
    assert (made.what, made.detail) == ("key_added", "finance general-ledger")
    assert [(each.what, each.actor, each.address) for each in used] == [
        ("key_used", "general-ledger", "127.0.0.1")
    ] * 3
    assert {each.name for each in used} == {made.name} == {key.split("_")[1]}
    assert [each.detail for each in used] == [
        f"GET /v1/win?gaming_day={DAY}", "GET /v1/journal?table=none", "GET /v1/win?wrong=1",
    ]  # fmt: skip
    with counted.database.connect("ledger_owner") as connection:
        kept = connection.execute("SELECT t::text FROM access.reader_keys t").fetchall()
        kept += connection.execute("SELECT t::text FROM access.events t").fetchall()
    assert key.split("_", 2)[2] not in str(kept)


@pytest.mark.parametrize(
    "query",
    [
        "gamingday=2026-11-20", "gaming_day=yesterday", "gaming_day=2026-13-01", "gaming_day=",
        "table=CC-07&table=CC-08", "table=%0A", "gaming_day=20261120", "table=%00", "%00=1",
        "property=%00p", "gaming_day=2026-11-20%00", "table=%FF", "by=%00", "version=%00",
        "format=%00",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", BOTH)
def test_a_parameter_that_is_wrong_is_refused_not_left_out(
    counted: Site, path: str, query: str
) -> None:
    problem(ask(counted, f"{path}?{query}", reader(counted)), 422)


def test_a_casino_that_no_fact_names_is_no_empty_day(counted: Site) -> None:
    for path in BOTH:
        told = problem(ask(counted, f"{path}?property=lucky", reader(counted)), 404)
        assert told["detail"] == "No fact on record is of casino lucky. Casinos on record are p."


def test_a_table_that_no_fact_of_money_names_is_no_table_without_money(counted: Site) -> None:
    """As the commands say it. The control is a day without money of a table on record."""
    for path in BOTH:
        for query in ("table=no", "property=p&table=no", f"gaming_day={DAY}&table=no"):
            told = problem(ask(counted, f"{path}?{query}", reader(counted)), 404)
            assert told["detail"] == (
                "No fact of money is of table no. Tables on record are CC-07."
            )
        quiet = ask(counted, f"{path}?table=CC-07&gaming_day=2026-01-01", reader(counted))
        assert (quiet.status_code, quiet.content) == (200, b"")


@pytest.mark.parametrize("by", get_args(By))
def test_groups_are_those_of_the_command(counted: Site, by: By) -> None:
    found = ask(counted, f"/v1/win?gaming_day={DAY}&by={by}", reader(counted))
    its = sealed_wins.read(counted.database, by_shift=by == "shift")
    assert found.content == finance._lines(grouped(its, by))
    assert found.content


@pytest.mark.parametrize(
    "query",
    [
        "by=dealer", "by=", "version=1", "version=0&gaming_day=2026-11-20",
        "version=x&gaming_day=2026-11-20", "version=1&by=shift",
        "version=%C2%B2&gaming_day=2026-11-20", f"version={'9' * 20}&gaming_day=2026-11-20",
    ],
)  # fmt: skip
def test_a_group_or_version_that_is_wrong_is_refused(counted: Site, query: str) -> None:
    problem(ask(counted, f"/v1/win?{query}", reader(counted)), 422)
    problem(ask(counted, f"/v1/journal?{query}", reader(counted)), 422)


def test_a_version_is_what_two_people_signed(counted: Site, tmp_path: Path) -> None:
    key, asked = reader(counted), f"/v1/win?gaming_day={DAY}&version=1"
    assert "has no version 1" in problem(ask(counted, asked, key), 404)["detail"]
    with DayDecisions(counted.database) as decisions:
        pinned = sealed_wins.pinned_now(counted.database, "p", DAY)
        decisions.close_day(pinned, Signers(by="F-1", second="F-2", despite="As it is."), "1")
    counted.take_in([received(json.dumps(LATE).encode())])
    signed = sealed_wins.of_version(counted.database, 1, gaming_day=DAY)
    assert signed[0].late == []
    assert ask(counted, asked, key).content == finance._lines(grouped(signed, "table"))
    by_house = ask(counted, f"{asked}&by=house&property=p", key).content
    assert by_house == finance._lines(grouped(signed, "house"))
    assert json.loads(ask(counted, f"/v1/win?gaming_day={DAY}", key).content)["late"]


def test_only_the_journal_has_formats_and_a_text_is_of_one_casino(counted: Site) -> None:
    key = reader(counted)
    problem(ask(counted, "/v1/win?format=json", key), 422)
    problem(ask(counted, "/v1/journal?format=csv", key), 422)
    counted.take_in([received(json.dumps(each).encode()) for each in OTHER_HOUSE])
    said = problem(ask(counted, "/v1/journal?format=hledger", key), 422)["detail"]
    assert ("Give property=lucky." in said, "--" in said) == (True, False), said
    assert ask(counted, "/v1/journal?format=hledger&property=lucky", key).status_code == 200
    assert len(ask(counted, "/v1/win", key).content.splitlines()) == 2


def test_a_day_without_money_has_no_line(counted: Site) -> None:
    for path in BOTH:
        answer = ask(counted, f"{path}?gaming_day=2020-01-01", reader(counted))
        assert (answer.status_code, answer.content) == (200, b"")


def test_facts_that_the_views_have_not_read_are_counted(counted: Site) -> None:
    assert post(counted, lines(1)[0], None, STRUCTURED).status_code == 200
    assert ask(counted, "/v1/win", reader(counted)).headers["Facts-Behind"] == "1"


def test_while_others_are_answered_a_request_is_told_when_to_come_again(counted: Site) -> None:
    key = reader(counted)
    with finance._place(), finance._place():
        answer = ask(counted, "/v1/win", key)
    problem(answer, 429)
    assert answer.headers["Retry-After"] == str(finance.BUSY_RETRY_S)
    assert ask(counted, "/v1/win", key).status_code == 200


@pytest.mark.parametrize("reader_name", ["", "a b", "/hollywood/CC-07", "x" * 65, "a\n"])
def test_what_names_no_system_gets_no_key(site: Site, reader_name: str) -> None:
    with pytest.raises(Usage):
        ReaderKeys(site.ports.access).add("finance", reader_name, ACTOR)


@pytest.mark.long
def test_the_served_bytes_are_those_of_the_commands(cli: Cli, tmp_path: Path) -> None:
    feed = tmp_path / "feed.jsonl"
    feed.write_text("".join(f"{json.dumps(each)}\n" for each in day_lines(SOLD)), encoding="utf-8")
    cli("ingest", feed)
    key = cli("keys", "add", "general-ledger", "--role", "auditor", "--json").json[0]["key"]
    assert cli("keys", "add", "general-ledger", "--role", "ops").code == 2
    (listed,) = cli("keys", "list", "--json").json
    assert (listed["source"], listed["role"]) == ("general-ledger", "auditor")
    printed = {"/v1/win": cli("win", "--json").out, "/v1/journal": cli("journal", "--json").out}
    with cli.start("serve", "--port", "0") as process:
        assert process.stderr
        url = f"http://127.0.0.1:{json.loads(process.stderr.readline())['port']}"
        shown = {"Authorization": f"Bearer {key}"}
        try:
            served = {p: httpx.get(f"{url}{p}", headers=shown, timeout=120).text for p in printed}
            cli("keys", "revoke", listed["key"])
            refused = httpx.get(f"{url}/v1/win", headers=shown, timeout=120).status_code
        finally:
            process.terminate()
            process.communicate(timeout=120)
    assert served == printed
    assert refused == 401
    assert cli("keys", "list", "--json").json[0]["revoked"]
