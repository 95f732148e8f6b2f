"""`backup`, `restore`, `consume` and `rebuild`, run as a user runs them."""

from __future__ import annotations

import json
import shutil
import signal
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import conninfo

from consumers.registry import VIEWS
from infra.postgres.view_tables import LIVE, ViewStore
from tests.fixtures.cli import Cli, feed, lines
from tests.until import until

if TYPE_CHECKING:
    from infra.postgres.connection import Database

NAMES = [view.name for view in VIEWS]


@pytest.fixture
def filled(cli: Cli, tmp_path: Path) -> Cli:
    cli("ingest", feed(tmp_path / "feed", lines(200)))
    return cli


@pytest.mark.long
def test_a_backup_is_restored_into_a_new_database_with_the_same_heads(
    filled: Cli, database: Database, tmp_path: Path
) -> None:
    heads = filled("verify", "--json").out
    picture = b"a still"
    stills = Path(filled.environ["ROUND_LEDGER_HOME"]) / "stills"
    stills.mkdir(parents=True)
    still = stills / f"{sha256(picture).hexdigest()}.png"
    for path in (still, stills / f"{'0' * 64}.png"):
        path.write_bytes(picture)
    backup = filled("backup", tmp_path / "backup", "--json")
    assert (backup.code, backup.json[0]["stills"]) == (0, 1), "the other one does not fit its name"
    shutil.rmtree(stills)
    kept = tmp_path / "kept.jsonl"
    shutil.copy(backup.json[0]["heads"], kept)
    name = f"{conninfo.conninfo_to_dict(database.url)['dbname']}_again"
    restored = filled("restore", tmp_path / "backup", "--into", name, "--head", kept, "--json")
    assert (restored.code, restored.out) == (0, heads)
    assert [path.read_bytes() for path in stills.iterdir()] == [picture]
    again = conninfo.make_conninfo(database.url, dbname=name)
    there = filled._replace(environ=filled.environ | {"ROUND_LEDGER_DATABASE_URL": again})
    assert there("verify", "--head", kept).code == 0
    ingested = there("ingest", tmp_path / "feed", "--json").json[-1]
    assert (ingested["appended"], ingested["duplicate"]) == (0, 200)


@pytest.mark.long
def test_a_restore_against_newer_heads_is_told_to_be_short(filled: Cli, tmp_path: Path) -> None:
    filled("backup", tmp_path / "backup")
    filled("ingest", feed(tmp_path / "more", lines(210)))
    newer = tmp_path / "newer.jsonl"
    newer.write_text(filled("verify", "--json").out)
    short = filled(
        "restore", tmp_path / "backup", "--into", f"{tmp_path.name}_x", "--head", newer, "--json"
    )
    assert short.code == 1
    assert json.loads(short.out.splitlines()[-1])["broken"]["kind"] == "truncated"


@pytest.mark.long
def test_verify_compares_views_with_the_record(filled: Cli, database: Database) -> None:
    assert filled("consume", "rounds").code == 0
    seen = filled("verify", "--views")
    assert (seen.code, "View rounds is what the record gives: 25 rows." in seen.err) == (0, True)
    with psycopg.connect(database.url, autocommit=True) as superuser:
        superuser.execute("UPDATE views.rounds SET number = 999 WHERE number = 1")
    assert filled("verify").code == 0, "the record is whole"
    seen = filled("verify", "--views", "--json")
    assert seen.code == 1
    told = [each for each in seen.json if each.get("view") == "rounds"]
    assert [each["broken"]["what"] for each in told[:-1]] == ["deleted", "inserted"]
    assert told[-1]["breaks"] == 2


def test_verify_prints_every_break(filled: Cli, database: Database) -> None:
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        for position in (5, 50):
            connection.execute(
                "UPDATE ledger.tape SET state = '{}' WHERE notification_id = %s", (position,)
            )
    told = filled("verify", "--json")
    breaks = [each["broken"]["position"] for each in told.json if "broken" in each]
    assert (told.code, breaks) == (1, [5, 50])
    ran = filled("verify")
    told_lines = [line for line in ran.err.splitlines() if line.startswith("The record is broken")]
    assert ran.code == 1
    assert [line.split(" on ")[0].split()[-1] for line in told_lines] == ["5", "50"]
    assert "Whole before the first: 4 facts." in ran.err


def test_a_break_is_acknowledged_by_two_people_and_then_named_with_both(
    filled: Cli, database: Database
) -> None:
    def tamper(text: str) -> None:
        with psycopg.connect(database.url, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            connection.execute(
                "UPDATE ledger.tape SET state = %s WHERE notification_id = 5", (text.encode(),)
            )

    tamper("{}")
    asked = ("acknowledge", "--position", "5", "--because", "Incident 12", "--by", "A-1")
    alone = filled(*asked, "--second", "a-1")
    assert alone.code == 2
    assert "A-1 cannot be both people" in alone.err
    nowhere = filled("acknowledge", "--position", "6", *asked[3:], "--second", "A-2")
    assert nowhere.code == 2
    assert "There is no break there" in nowhere.err
    both = filled(*asked, "--second", "A-2", "--json")
    assert both.code == 0, both.err
    known = both.json[0]["broken"]["acknowledged"]
    assert known == {"position": 201, "because": "Incident 12", "by": "A-1", "second": "A-2"}
    seen = filled("verify")
    assert (seen.code, "Acknowledged by A-1 and A-2: Incident 12" in seen.err) == (0, True)
    again = filled("verify", "--json").json[-1]["broken"]
    assert (again["position"], again["acknowledged"]) == (5, known)
    tamper("[]")
    changed = filled("verify", "--json")
    assert (changed.code, changed.json[-1]["broken"]["acknowledged"]) == (1, None)


def test_nothing_is_written_over(filled: Cli, database: Database, tmp_path: Path) -> None:
    filled("backup", tmp_path / "backup")
    twice = filled("backup", tmp_path / "backup")
    assert twice.code == 2
    assert "a backup already" in twice.err
    name = conninfo.conninfo_to_dict(database.url)["dbname"]
    over = filled("restore", tmp_path / "backup", "--into", str(name))
    assert over.code == 2
    assert "holds a record already" in over.err
    unnamed = filled("restore", tmp_path / "backup")
    assert unnamed.code == 2
    assert "--into" in unnamed.err


@pytest.mark.long
def test_views_are_brought_to_the_end_of_the_record_and_rebuilt(filled: Cli) -> None:
    made = filled("consume", "all", "--json")
    assert made.code == 0
    assert [(each["view"], each["position"]) for each in made.json] == [
        (name, 200) for name in NAMES
    ]
    rebuilt = filled("rebuild", "rounds", "drop", "--json")
    assert rebuilt.code == 0
    assert [each["view"] for each in rebuilt.json] == ["rounds", "drop"]


@pytest.mark.long
def test_a_view_that_is_none_is_a_mistake_of_the_user(filled: Cli) -> None:
    for command in ("consume", "rebuild"):
        ran = filled(command, "nonsense")
        assert ran.code == 2
        assert "Name one of: all, " in ran.err
        assert " rounds, " in ran.err


@pytest.mark.long
def test_a_follower_ends_with_0_when_it_is_told_to_stop(filled: Cli, database: Database) -> None:
    with filled.start("consume", "rounds", "--follow", "--json") as process:
        assert process.stdout
        assert process.stderr
        try:
            _wait_until_read(database, 200)
            process.send_signal(signal.SIGTERM)
            assert process.wait(120) == 0
            assert json.loads(process.stdout.read())["position"] == 200
            assert process.stderr.read() == b""
        finally:
            process.kill()


def _wait_until_read(database: Database, position: int) -> None:
    with database.connect("ledger_owner") as connection:

        def read() -> bool:
            with suppress(psycopg.errors.UndefinedTable):
                seen = ViewStore(connection, LIVE).tracking("rounds")
                return seen is not None and seen.position == position
            return False

        until(read)
