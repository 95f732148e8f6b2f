"""A patron is erased among many facts: the token is in no dump, on no topic and in no dossier."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

import psycopg
import pytest

from infra.kafka.clients import administrator
from infra.kafka.reader import reader
from infra.postgres.server.embedded import binaries
from tests.fixtures.cli import Cli
from tests.fixtures.kafka import relays

if TYPE_CHECKING:
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database

pytestmark = pytest.mark.long

TOKEN = "PATRON-4711-SMITH"  # noqa: S105 - a patron's
ERASE = ("erase", "patron", TOKEN, "--because", "A request.", "--by", "S-1", "--second", "S-2")
SIZES = {"3,000 facts": ("2", "0.6"), "100,000 facts": ("5", "8")}
"""Tables, and hours of play."""


def dealt(cli: Cli, folder: Path, tables: str, hours: str) -> Path:
    """A floor's feed in which one patron holds every twentieth seat."""
    cli("simulate", "--tables", tables, "--hours", hours, "--seats", "6", "--out", folder)
    feed = folder / "feed.jsonl"
    names = sorted(set(re.findall(r'"patron":"([^"]+)"', feed.read_text())))[::20]
    one = re.compile('"patron":"(' + "|".join(map(re.escape, names)) + ')"')
    feed.write_text(one.sub(f'"patron":"{TOKEN}"', feed.read_text()))
    return feed


def dumped(database: Database) -> bytes:
    run = [binaries() / "pg_dump", "--dbname", database.url]
    return subprocess.run(run, capture_output=True, check=True).stdout


def on_topics(kafka: Connection) -> dict[str, bytes]:
    """Keys, values and headers of every record of every topic, by topic."""
    with administrator(kafka) as admin:
        names = [name for name in admin.list_topics() if name.startswith(kafka.topic_prefix)]
    found = {}
    for name in names:
        with reader(kafka, name.removeprefix(kafka.topic_prefix), required=True) as source:
            records = [each for batch in source.read(source.bounds()) for each in batch]
        parts = [
            part or b""
            for each in records
            for part in (each.key, each.value, *(octets for _, octets in each.headers))
        ]
        found[name] = b"\n".join(parts)
    return found


def dossier(cli: Cli, name: str, folder: Path) -> bytes:
    """All files of a new dossier of a round, each after the other."""
    ran = cli("dossier", name, "--out", folder)
    assert ran.code == 0, ran.err
    return b"\n".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())


@pytest.mark.parametrize("size", SIZES)
def test_a_patron_is_erased_everywhere(
    database: Database, kafka: Connection, tmp_path: Path, size: str
) -> None:
    cli = Cli(relays(database, kafka, tmp_path / "home").environ)
    feed = dealt(cli, tmp_path / "floor", *SIZES[size])
    plain = feed.read_text().count(f'"patron":"{TOKEN}"')
    assert plain > 1
    assert cli("ingest", feed).code == 0
    assert cli("consume", "all").code == 0
    [plan] = cli("erase", "plan", TOKEN, "--json").json
    [pseudonym] = plan["pseudonyms"]
    assert sum(each["rows"] for each in plan["places"]) == plain
    rounds = cli("rounds", "--patron", TOKEN, "--json").json
    name = rounds[0]["round"]

    before = dumped(database)
    assert before.count(TOKEN.encode()) == 1, "in the one table"
    assert cli("relay", "--once").code == 0

    assert cli(*ERASE).code == 0
    assert cli("verify").code == 0
    assert cli("verify", "--views").code == 0
    assert cli("relay", "--once").code == 0
    assert cli("relay", "verify").code == 0
    assert cli("ingest", feed, "--json").json[-1]["equivocation"] == 0, "all duplicates"

    held = {
        "dump": dumped(database),
        **on_topics(kafka),
        "dossier": dossier(cli, name, tmp_path / "d"),
    }
    assert [place for place, octets in held.items() if TOKEN.encode() in octets] == []
    named = [place for place, octets in held.items() if pseudonym.encode() in octets]
    assert "dump" in named, "the search finds what is there"
    assert name.encode() in held["dossier"]
    assert any("table-events" in place for place in named)
    assert json.dumps(cli("rounds", "--patron", pseudonym, "--json").json) == json.dumps(rounds)

    with psycopg.connect(database.url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute(
            "UPDATE ledger.pseudonyms SET token = %s, salt = '\\x00', erased_position = NULL"
            " WHERE pseudonym = %s",
            (TOKEN, pseudonym),
        )
    assert TOKEN.encode() in dumped(database), "the control: one place left behind is found"
    assert cli("verify").code == 1
