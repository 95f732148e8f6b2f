"""`erase`: two people, on record, never under a legal hold; the token is nowhere afterwards."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from consumers.registry import install
from infra.access.connections import AccessDatabase
from infra.postgres.server.embedded import binaries
from infra.postgres.tape import PostgresTape
from tests.fixtures.web import PASSWORD, add_user

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.connection import Database
    from tests.fixtures.cli import Cli, Ran

TOKEN = "P-4711-Smith"  # noqa: S105 - a patron's
TWO = ("--by", "S-one", "--second", "S-two")
ERASE = ("erase", "patron", TOKEN, "--because", "A request.", *TWO, "--json")


def line(number: int, name: str, place: str = "CC-07", **data: object) -> dict[str, object]:
    """A fact of its minute after eight."""
    return {
        "specversion": "1.0",
        "type": f"roundledger.{name}.v1",
        "source": f"/p/{place}/terminal",
        "id": f"t-{number}",
        "time": f"2026-11-20T20:{number:02}:00Z",
        "data": data,
    }


ROUND = "CC-07/2026-11-20/1"
FLOOR = (
    line(1, "seat_taken", positions=[2], patron=TOKEN),
    line(2, "seat_taken", positions=[3], patron="P-other"),
    line(3, "round_started", game="criss_cross_poker") | {"subject": ROUND},
    line(4, "wager_placed", position=2, wager="ante_across", amount=500) | {"subject": ROUND},
    line(7, "wager_placed", position=3, wager="ante_across", amount=500) | {"subject": ROUND},
    line(5, "round_completed") | {"subject": ROUND},
    line(6, "seat_left", positions=[2], patron=TOKEN),
)


def ingest(cli: Cli, folder: Path, *facts: dict[str, object]) -> None:
    feed = folder / "feed.jsonl"
    feed.write_text("".join(json.dumps(each) + "\n" for each in facts))
    assert cli("ingest", feed).code == 0


@pytest.fixture
def floor(cli: Cli, database: Database, tmp_path: Path) -> Cli:
    """A patron's stay at a table with one round, and bytes with the token that are no fact."""
    ingest(cli, tmp_path, *FLOOR)
    (tmp_path / "bad").write_text(json.dumps(FLOOR[0] | {"id": "t-bad", "time": "soon"}) + "\n")
    cli("ingest", tmp_path / "bad")
    install(database)
    return cli


def dump(database: Database) -> str:
    """What `pg_dump` writes of all schemas."""
    run = [binaries() / "pg_dump", "--dbname", database.url]
    return subprocess.run(run, capture_output=True, check=True).stdout.decode()


def found(cli: Cli, token: str) -> int:
    return len(cli("rounds", "--patron", token, "--json").json)


def plan(cli: Cli) -> tuple[int, dict[str, object]]:
    ran = cli("erase", "plan", TOKEN, "--json")
    assert ran.json, ran.err
    [told] = ran.json
    return ran.code, told


def test_two_people_erase_a_patron(floor: Cli, database: Database) -> None:
    assert found(floor, TOKEN) == 1
    code, told = plan(floor)
    assert (code, told["holds"]) == (0, [])
    [pseudonym] = told["pseudonyms"]  # type: ignore[misc]
    places = [
        (each["place"], each["kind"], each["named_by"], each["rows"]) for each in told["places"]
    ]  # type: ignore[attr-defined]
    assert places == [
        ("record", "seat_left.v1", "pseudonym", 1),
        ("record", "seat_taken.v1", "pseudonym", 1),
        ("quarantine", "bad_attribute", "pseudonym", 1),
    ]
    assert TOKEN in dump(database), "the control"
    ran = floor(*ERASE)
    assert ran.code == 0, ran.err
    assert ran.json == [{"erased": [pseudonym], "property": "p", "position": 8}]
    assert TOKEN not in dump(database)
    assert floor("verify").code == 0
    assert (found(floor, TOKEN), found(floor, pseudonym)) == (0, 1)
    assert found(floor, "P-other") == 1
    again = floor(*ERASE)
    assert (again.code, "No pseudonym stands for this token" in again.err) == (2, True)
    assert plan(floor) == (0, {"property": "p", "pseudonyms": [], "places": [], "holds": []})


def test_a_rebuilt_view_has_no_token_either(floor: Cli, database: Database) -> None:
    assert floor(*ERASE).code == 0
    assert floor("rebuild", "finds").code == 0
    assert TOKEN not in dump(database)
    assert floor("verify", "--views").code == 0


def test_one_person_erases_nobody(floor: Cli, database: Database) -> None:
    alone = floor(*ERASE[:-4], "--second", "S-one", "--json", "--by", "S-one")
    assert (alone.code, TOKEN in dump(database)) == (2, True), alone.err


def as_(cli: Cli, *command: str | Path) -> Ran:
    return cli(*command, "--password-file", "-", stdin=PASSWORD.encode() + b"\n")


def test_once_there_are_users_another_person_approves_it(floor: Cli, database: Database) -> None:
    with closing(AccessDatabase(database)) as access:
        for name in ("one", "two"):
            add_user(access, name, "surveillance")
        add_user(access, "fin", "finance")
    assert as_(floor, *ERASE[:4], "--by", "S-fin", "--second", "S-two").code == 2, "not of the role"
    asked = as_(floor, *ERASE)
    assert asked.code == 0, asked.err
    [request] = asked.json
    name = request["request"]
    with PostgresTape(database) as tape:
        assert not any(TOKEN.encode() in row.data for row in tape.read(0, 100))
    [shown] = floor("approve", "show", name, "--json").json
    assert shown["says"]["token of the patron"] == TOKEN
    assert as_(floor, "approve", "give", name, "--by", "S-one").code == 2, "their own"
    assert TOKEN in dump(database)
    given = as_(floor, "approve", "give", name, "--by", "S-two")
    assert given.code == 0, given.err
    assert TOKEN not in dump(database)
    assert floor("verify").code == 0


def camera(number: int, name: str, **data: object) -> dict[str, object]:
    """A fact of surveillance about footage of the round."""
    span = {"from": "2026-11-20T20:02:00Z", "to": "2026-11-20T20:04:00Z"}
    return line(number, name, "surveillance", camera="C1", **(data or {**span, **WHO}))


WHO = {"by": "S-1", "because": "A claim.", "window": "w1"}
MAPPED = {"table": "CC-07", "kind": "stationary", "covers": ["table"]}
CLAIM = {"round": ROUND, "position": 2, "claim": "Paid short."}
HELD = {
    "an open dispute": [
        line(10, "dispute_raised", "surveillance", dispute="D-1", by="S-1", **CLAIM)
    ],
    "locked footage": [camera(10, "camera_mapped", **MAPPED), camera(11, "footage_locked")],
}
ENDED = {
    "an open dispute": [
        line(20, "dispute_resolved", "surveillance", dispute="D-1", outcome="No error.", by="S-1")
    ],
    "locked footage": [camera(20, "footage_released")],
}


@pytest.mark.parametrize("hold", HELD)
def test_a_legal_hold_refuses(floor: Cli, database: Database, tmp_path: Path, hold: str) -> None:
    ingest(floor, tmp_path, *HELD[hold])
    refused = floor(*ERASE)
    assert (refused.code, "under a legal hold" in refused.err) == (2, True), refused.err
    code, told = plan(floor)
    assert (code, len(told["holds"])) == (1, 1)  # type: ignore[arg-type]
    assert TOKEN in dump(database)
    ingest(floor, tmp_path, *ENDED[hold])
    assert floor(*ERASE).code == 0
    assert TOKEN not in dump(database)


def test_a_hold_after_the_request_refuses_the_approval(
    floor: Cli, database: Database, tmp_path: Path
) -> None:
    with closing(AccessDatabase(database)) as access:
        for name in ("one", "two"):
            add_user(access, name, "surveillance")
    name = as_(floor, *ERASE).json[0]["request"]
    ingest(floor, tmp_path, *HELD["an open dispute"])
    refused = as_(floor, "approve", "give", name, "--by", "S-two")
    assert (refused.code, TOKEN in dump(database)) == (2, True), refused.out


def test_a_row_that_somebody_changed_is_named_by_verify(floor: Cli, database: Database) -> None:
    with psycopg.connect(database.url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("UPDATE ledger.pseudonyms SET token = 'P-1' WHERE number = 2")
    ran = floor("verify")
    where = "The record is broken at number 2 of the pseudonyms, pseudonym edited"
    assert (ran.code, where in ran.out + ran.err) == (1, True), ran.err
    [told] = [each["broken"] for each in floor("verify", "--json").json if "broken" in each]
    assert (told["pseudonym"], told["position"], told["quarantine_id"]) == (2, None, None)


def test_a_released_fact_leaves_no_token_in_its_request(
    floor: Cli, database: Database, tmp_path: Path
) -> None:
    """The request is on record for good, and has the corrected fact as a text."""
    with closing(AccessDatabase(database)) as access:
        for name in ("fina", "finb"):
            add_user(access, name, "finance")
    (tmp_path / "right.json").write_text(json.dumps(FLOOR[0] | {"id": "t-right"}))
    why = ("--because", "Its clock.", "--by", "S-fina", "--second", "S-finb", "--json")
    asked = as_(floor, "quarantine", "release", "1", "--as", tmp_path / "right.json", *why)
    assert asked.code == 0, asked.err
    assert dump(database).count(TOKEN) == 1
    given = as_(floor, "approve", "give", asked.json[0]["request"], "--by", "S-finb")
    assert given.code == 0, given.err
    assert dump(database).count(TOKEN) == 1
    assert found(floor, TOKEN) == 1


def test_a_plan_names_what_it_does_not_reach(floor: Cli, tmp_path: Path) -> None:
    note = f"{TOKEN} complained, not {TOKEN}2."
    ingest(
        floor,
        tmp_path,
        line(10, "dispute_noted", "surveillance", dispute="D-1", note=note, by="S-1"),
        line(11, "dispute_noted", "surveillance", dispute="D-1", note=f"{TOKEN}2", by="S-1"),
    )
    code, told = plan(floor)
    plain = [each for each in told["places"] if each["named_by"] == "token"]  # type: ignore[attr-defined]
    assert code == 1
    assert [(each["kind"], each["rows"]) for each in plain] == [("dispute_noted.v1", 1)]
