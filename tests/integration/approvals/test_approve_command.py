"""`approve` at a terminal: each person by a password of their own; without users as before."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from consumers.registry import install
from infra.access.connections import AccessDatabase
from tests.fixtures.web import PASSWORD, add_user
from tests.scenes.table_days import DAY, count, day_lines

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.connection import Database
    from tests.fixtures.cli import Cli, Ran

CLOSE = ("day", "close", DAY, "--password-file", "-", "--json")
TWO = ("--by", "S-fina", "--second", "S-finb")


@pytest.fixture
def ledger(cli: Cli, database: Database, tmp_path: Path) -> Cli:
    """A counted day, and three people of finance and one of the pit."""
    feed = tmp_path / "feed.jsonl"
    feed.write_text("".join(json.dumps(each) + "\n" for each in day_lines(count(59))))
    assert cli("ingest", feed).code == 0
    install(database)
    with closing(AccessDatabase(database)) as access:
        for name in ("fina", "finb", "finc"):
            add_user(access, name, "finance")
        add_user(access, "pit", "pit")
    return cli


def as_(cli: Cli, *command: str, password: str = PASSWORD) -> Ran:
    return cli(*command, stdin=password.encode() + b"\n")


def give(cli: Cli, name: str, by: str, password: str = PASSWORD) -> Ran:
    ran = ("approve", "give", name, "--by", by, "--password-file", "-", "--json")
    return as_(cli, *ran, password=password)


@pytest.mark.long
def test_two_people_close_a_day_each_by_a_password(ledger: Cli) -> None:
    asked = as_(ledger, *CLOSE, *TWO)
    assert asked.code == 0, asked.err
    [request] = asked.json
    assert (request["state"], request["by"], request["asked"]) == ("waiting", "S-fina", "S-finb")
    name = request["request"]
    [listed] = ledger("approve", "list", "--json").json
    assert listed == request
    [shown] = ledger("approve", "show", name, "--json").json
    assert shown["says"]["gaming day"] == DAY
    assert shown["says"]["CC-07"].startswith("drop $")
    assert shown["why_not"] is None
    for by, password in (
        ("S-finb", "another horse"),  # a wrong password
        ("S-fina", PASSWORD),  # nobody approves their own
        ("S-finc", PASSWORD),  # not who is asked
        ("S-pit", PASSWORD),  # not of the role
        ("S-nobody", PASSWORD),
    ):
        refused = give(ledger, name, by, password)
        assert refused.code == 2, (by, refused.out)
    assert ledger("day", "show", DAY, "--json").json[0]["sealed"] is False
    given = give(ledger, name, "S-finb")
    assert (given.code, given.json[0]["state"]) == (0, "approved"), given.err
    [day] = ledger("day", "show", DAY, "--json").json
    assert (day["sealed"], day["by"], day["second"]) == (True, "S-fina", "S-finb")
    assert give(ledger, name, "S-finb").code == 2, "it is answered"
    assert ledger("approve", "list", "--json").json == []
    [kept] = ledger("approve", "list", "--all", "--json").json
    assert (kept["state"], kept["answered_by"]) == ("approved", "S-finb")


@pytest.mark.long
def test_a_request_is_refused_with_a_reason_or_withdrawn(ledger: Cli) -> None:
    first, second = (as_(ledger, *CLOSE, *TWO).json[0]["request"] for _ in range(2))
    by = ("--password-file", "-", "--json", "--by")
    refused = as_(ledger, "approve", "refuse", first, "--because", "Box B2.", *by, "S-finb")
    assert (refused.json[0]["state"], refused.json[0]["because"]) == ("refused", "Box B2.")
    assert as_(ledger, "approve", "withdraw", second, *by, "S-finb").code == 2, "not theirs"
    withdrawn = as_(ledger, "approve", "withdraw", second, *by, "S-fina")
    assert withdrawn.json[0]["state"] == "withdrawn"
    for name in (first, second):
        assert give(ledger, name, "S-finb").code == 2


def test_a_variance_is_explained_by_two_people(ledger: Cli) -> None:
    why = ("--amount", "-2550", "--because", "One patron won.", "--property", "p", "--json")
    asked = as_(ledger, "variance", "explain", "CC-07", DAY, *why, *TWO, "--password-file", "-")
    assert asked.json[0]["act"] == "variance_explain", asked.err
    name = asked.json[0]["request"]
    [shown] = ledger("approve", "show", name, "--json").json
    assert (shown["says"]["table"], shown["says"]["amount explained"]) == ("CC-07", "-$25.50")
    assert give(ledger, name, "S-fina").code == 2
    assert give(ledger, name, "S-finb").code == 0


def test_a_break_is_acknowledged_by_two_people(ledger: Cli, database: Database) -> None:
    with closing(AccessDatabase(database)) as access:
        add_user(access, "keeper", "ops")
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("UPDATE ledger.tape SET state = '{}' WHERE notification_id = 2")
    why = ("--position", "2", "--because", "Incident 12", "--password-file", "-", "--json")
    asked = as_(ledger, "acknowledge", *why, "--by", "S-fina", "--second", "S-keeper")
    assert asked.code == 0, asked.err
    [request] = asked.json
    assert (request["act"], request["about"]) == ("break_acknowledge", "edited payload at 2")
    assert ledger("verify").code == 1, "one person is not enough"
    assert give(ledger, request["request"], "S-fina").code == 2
    given = give(ledger, request["request"], "S-keeper")
    assert given.code == 0, given.err
    seen = ledger("verify")
    assert (seen.code, "Acknowledged by S-fina and S-keeper: Incident 12" in seen.err) == (0, True)


def test_a_command_asks_for_nothing_in_somebody_elses_name(ledger: Cli) -> None:
    wrong = as_(ledger, *CLOSE, *TWO, password="somebody else's")  # noqa: S106 - wrong on purpose
    assert (wrong.code, "password or code of fina" in wrong.err) == (2, True)
    nobody = as_(ledger, *CLOSE, "--by", "S-fina", "--second", "S-pit")
    assert (nobody.code, "may approve it" in nobody.err) == (2, True)
    untyped = ledger("day", "close", DAY, *TWO)
    assert (untyped.code, "no terminal" in untyped.err) == (2, True)
    assert ledger("approve", "list", "--json").json == []
    assert as_(ledger, *CLOSE, *TWO).code == 0, "the control"


def test_without_users_nothing_changes(cli: Cli, tmp_path: Path) -> None:
    """The control of the others: the same command closes the day at once."""
    feed = tmp_path / "feed.jsonl"
    feed.write_text("".join(json.dumps(each) + "\n" for each in day_lines(count(59))))
    cli("ingest", feed)
    closed = cli("day", "close", DAY, *TWO, "--json")
    assert (closed.code, closed.json[0]["sealed"]) == (0, True), closed.err


def test_approving_needs_users(cli: Cli) -> None:
    none = give(cli, "06522a1b4c3d80-9f01ab", "S-finb")
    assert (none.code, "no request" in none.err) == (2, True)
