"""`demo` as a user runs it: whole, within its time, again, and never in a real ledger."""

from __future__ import annotations

import json
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from infra.postgres.connection import begin_anew, create_database
from infra.postgres.migrations import migrate
from infra.postgres.server.embedded import embedded
from infra.settings import Settings
from ledger.errors import Refused
from replay.cli.demo.demo import MARK, DemoPaths, _make_room
from replay.text.wins import signed
from tests.fixtures.cli import Cli, environ, feed, lines
from tests.fixtures.postgres import url_of
from tests.suite.spent import cpu_s

if TYPE_CHECKING:
    from infra.postgres.connection import Database

CPU_S_MAX = 90
"""CPU seconds of an hour of play dealt, where 42 were measured: others may use the cores, too."""


@pytest.mark.long
def test_the_demonstration_finds_all_it_planted_and_leaves_a_record_to_try(
    tmp_path: Path,
) -> None:
    cli, folder = Cli(environ(tmp_path / "real")), tmp_path / "demo"
    before = cpu_s()
    first = cli("demo", folder, "--hours", "1")
    took = cpu_s() - before
    assert first.code == 0, first.err
    assert 1 < took < CPU_S_MAX
    assert "All planted mistakes were found, and nothing else." in first.out
    assert "MISSED" not in first.out
    assert not (tmp_path / "real").exists()
    assert max(map(len, first.out.replace(str(folder), "").splitlines())) <= 100

    planted = [json.loads(line) for line in (folder / "truth.jsonl").read_text().splitlines()]
    after = Cli(environ(folder / "home"))
    views = after("consume", "all", "--status", "--json").json
    assert {each["behind_facts"] for each in views} == {0}, "pages catch up no view"
    found = {each["round"] for each in after("rounds", "--finding", "overpaid", "--json").json}
    overpaid = {each["round"] for each in planted if each["mistake"] == "overpay"}
    assert overpaid <= found
    own = after("rounds", "--limit", "1", "--json").json[0]["round"]
    assert after("replay", own).code == 0
    assert after("verify").code == 0
    report = (folder / "dossier" / "report.html").read_text()
    assert "data:image/jpeg;base64," in report
    checking = [sys.executable, folder / "dossier" / "verify.py", "--key", folder / "house.pub"]
    checked = subprocess.run([*checking, folder / "dossier"], capture_output=True, check=False)
    assert checked.returncode == 0, checked.stdout
    keys = [(folder / name).read_text().strip() for name in ("log.pub", "witness.pub")]
    assert after("log", "check", "--witness", keys[1]).code == 0
    checking += ["--log", keys[0], "--witness", keys[1]]
    checked = subprocess.run([*checking, folder / "dossier"], capture_output=True, check=False)
    assert checked.returncode == 0, checked.stdout
    assert b"The witness witness.example vouches" in checked.stdout

    _its_day_is_closed(after, first.out, folder / "day.journal")
    _its_page_is_ready(after, first.out)


def _its_day_is_closed(cli: Cli, told: str, journal: Path) -> None:
    """The day is sealed, its fault named with amount and round, its journal checked."""
    [day] = cli("day", "show", "2026-11-20", "--json").json
    assert (day["sealed"], day["version"], day["missing"]) == (True, 1, [])
    assert f"digest {day['digest'][:12]}" in told
    wins = cli("win", "--json").json
    assert {each["grade"] for each in wins} == {"SEALED"}
    [lost] = [(each, cause) for each in wins for cause in each["causes"]]
    assert lost[1]["code"] == "fact_missing"
    named = " ".join(told.split())
    assert f"{lost[0]['table']}: {signed(lost[1]['amount'])}." in named
    assert f"A device lost a fact of round {lost[1]['round']}." in named
    assert f"income:win:{lost[0]['table']}" in journal.read_text()
    if shutil.which("hledger"):  # tests/integration/finance/test_journal.py is skipped without it
        checking = ["hledger", "-f", journal, "check", "--strict"]
        checked = subprocess.run(checking, capture_output=True, check=False)
        assert checked.returncode == 0, checked.stderr


def _its_page_is_ready(cli: Cli, told: str) -> None:
    """`serve` has the page whose address was printed, for the user that its link makes."""
    page = urlsplit(told.split("a link that creates the first user:")[1].split(maxsplit=1)[0])
    assert page.netloc == "127.0.0.1:8080"
    with cli.start("serve", "--port", "0") as process:
        assert process.stdout
        try:
            lines_ = iter(process.stdout.readline, b"")
            link = next(line for line in lines_ if b"/setup?link=" in line).decode().strip()
            with httpx.Client(headers={"Accept": "text/html"}, timeout=120) as client:
                token = client.get(link).text.split('name="csrf" value="')[1].split('"')[0]
                given = {
                    "csrf": token, "link": link.partition("link=")[2], "name": "maria",
                    "employee": "S-2001", "password": "correct horse battery",
                    "roles": "surveillance",
                }  # fmt: skip
                made = client.post(link.partition("?")[0], data=given)
                assert made.status_code == 303, made.text
                shown = client.get(urlsplit(link)._replace(path=page.path, query="").geturl())
            assert shown.status_code == 200
            assert 'data-camera="' in shown.text
            assert "overpaid" in shown.text
        finally:
            process.terminate()


def test_a_folder_half_cleared_by_a_killed_command_is_cleared_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = DemoPaths(tmp_path / "demo")
    _make_room(place)
    for name in ("a", "b"):
        (place.folder / name).mkdir()
    removed: list[Path] = []

    def kill(path: Path) -> None:
        if removed:
            raise KeyboardInterrupt
        removed.append(path)
        path.rmdir()

    monkeypatch.setattr(shutil, "rmtree", kill)
    with pytest.raises(KeyboardInterrupt):
        _make_room(place)
    monkeypatch.undo()
    assert len(list(place.folder.iterdir())) == 2
    _make_room(place)
    assert [path.name for path in place.folder.iterdir()] == [MARK]


def test_a_database_that_a_killed_command_left_empty_is_used(
    database: Database, postgres_url: str
) -> None:
    settings = Settings(Path("unused"), database_url=database.url)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE round_ledger_demo")
        try:
            begin_anew(settings, "round_ledger_demo", "mark")
            with pytest.raises(Refused, match="did not create it"):
                begin_anew(settings, "round_ledger_demo", "another mark")
        finally:
            connection.execute("DROP DATABASE round_ledger_demo")


def test_a_folder_that_the_demonstration_did_not_make_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    ran = Cli(environ(tmp_path / "real"))("demo", mine)
    assert (ran.code, ran.out) == (2, "")
    assert "Name another folder" in ran.err
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]


@pytest.mark.long
def test_on_a_server_of_ones_own_it_has_a_database_of_its_own_and_touches_no_other(
    tmp_path: Path,
) -> None:
    """A second embedded server stands for one's own; its URL names a database with a record."""
    folder = tmp_path / "demo"
    with embedded(tmp_path / "server") as server:
        create_database(server, "floor")
        migrate(url_of(server, "floor"))
        url = url_of(server, "floor") + " password=hush"
        cli = Cli(environ(tmp_path / "home", ROUND_LEDGER_DATABASE_URL=url))
        assert cli("ingest", feed(tmp_path / "feed", lines(30))).code == 0
        before = cli("verify", "--json").out
        first = cli("demo", folder, "--hours", "0.5")
        assert first.code == 0, first.err
        assert "database round_ledger_demo" in first.err
        assert not (folder / "home" / "postgres").exists()
        assert cli("verify", "--json").out == before
        assert "hush" not in first.out + first.err

        settings = folder / "settings.sh"
        assert stat.S_IMODE(settings.stat().st_mode) == 0o600
        assert f". {settings}" in first.out
        told = dict(
            shlex.split(line)[1].split("=", 1) for line in settings.read_text().splitlines()
        )
        assert set(told) == {f"ROUND_LEDGER_{n}" for n in ("HOME", "DATABASE_URL", "MIGRATION_URL")}
        after = Cli(cli.environ | told)
        assert after("rounds", "--finding", "overpaid", "--json").json

        with psycopg.connect(told["ROUND_LEDGER_DATABASE_URL"]):
            refused = cli("demo", folder, "--hours", "0.5")
        assert refused.code == 2
        assert "A client is connected" in refused.err
        second = cli("demo", folder, "--hours", "0.5")
        assert second.code == 0, second.err
        assert "Started over" in second.err
        assert _findings(second.out) == _findings(first.out)
        assert cli("verify", "--json").out == before


def test_a_database_that_the_demonstration_did_not_make_is_left_alone(
    database: Database, postgres_url: str, tmp_path: Path
) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE round_ledger_demo")
        try:
            with psycopg.connect(url_of(postgres_url, "round_ledger_demo")) as theirs:
                theirs.execute("CREATE TABLE thesis ()")
            cli = Cli(environ(tmp_path / "home", ROUND_LEDGER_DATABASE_URL=database.url))
            ran = cli("demo", tmp_path / "demo")
            assert (ran.code, ran.out) == (2, "")
            assert "did not create it" in ran.err
            url = url_of(postgres_url, "round_ledger_demo")
            with psycopg.connect(url) as theirs:
                found = theirs.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'ledger'")
                assert found.fetchone() is None
        finally:
            connection.execute("DROP DATABASE round_ledger_demo")


def _findings(out: str) -> str:
    """The part that the seed alone decides."""
    return out[out.index("Planted and found") : out.index("Look further")]
