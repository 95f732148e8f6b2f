"""The pages under docs/adding, followed to the letter in a copy of the program: it works.

Files, changes and commands are read from the pages, so that a page cannot go stale.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

import psycopg
import pytest

from consumers.alerts.kinds import BY_NAME
from consumers.registry import VIEWS
from replay.cli.shell.app import COMMANDS
from replay.web.page import TABS
from tests.contract.citations import ROOT
from tests.scenes.view_feeds import day, record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.postgres.connection import Database

pytestmark = pytest.mark.long

ADDED = ("view", "alert", "page", "command")
COPIED = ("ledger", "infra", "consumers", "replay", "tests", "docs")
BLOCK = re.compile(
    r"(?P<before>[^\n]+)\n\n```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
NAMED = re.compile(r"`([\w./]+)`")


class Block(NamedTuple):
    """A block of code of a page, and the file that the line before it names."""

    path: str
    language: str
    text: str


def blocks(page: str) -> Iterator[Block]:
    text = (ROOT / f"docs/adding/{page}.md").read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        named = NAMED.search(found["before"])
        yield Block(named[1] if named else "", found["language"], found["text"])


def commands(page: str) -> list[list[str]]:
    """The commands of a page, each in words; those that serve until they are stopped left out."""
    lines = [
        line for block in blocks(page) if block.language == "sh" for line in block.text.split("\n")
    ]
    return [line.split() for line in lines if line and not line.startswith("round-ledger serve")]


def follow(root: Path, page: str) -> list[Path]:
    """Write and change the files that a page says; those of the program."""
    changed = []
    for block in blocks(page):
        path = root / block.path
        if block.language == "sh":
            continue
        if block.language == "diff":
            for hunk in block.text.strip("\n").split("\n\n"):
                change(path, hunk.split("\n"))
        else:
            assert not path.exists(), f"{block.path} is there already"
            path.write_text(block.text, encoding="utf-8")
        changed.append(path)
    return changed


def change(path: Path, lines: list[str]) -> None:
    before = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
    after = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
    text = path.read_text(encoding="utf-8")
    assert text.count(f"\n{before}") == 1, f"{path.name} has no one place of\n{before}"
    path.write_text(text.replace(f"\n{before}", f"\n{after}"), encoding="utf-8")


class Copy(NamedTuple):
    """A copy of the program to which the pages were followed."""

    root: Path
    changed: list[Path]
    server: str

    def run(self, *words: str, url: str = "", home: Path | None = None) -> str:
        """What a command of a page prints, run with the copy's code. Its exit code must be 0."""
        program = {"round-ledger": ["-m", "replay"], "pytest": ["-m", "pytest", "-q"]}
        given = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "TESTS_DATABASE_URL": self.server,
            "ROUND_LEDGER_HOME": str(home or self.root / "home"),
            "ROUND_LEDGER_POSTGRES_STAYS_S": "0",
            "ROUND_LEDGER_DATABASE_URL": url,
        }
        done = subprocess.run(
            [sys.executable, *program.get(words[0], words[:1]), *words[1:]],
            cwd=self.root,
            env=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout

    def test(self, page: str, chosen: str) -> int:
        """How many tests pass of those that a page runs and that are chosen."""
        (words,) = [each for each in commands(page) if each[0] == "pytest"]
        out = self.run(*words, "-p", "no:cacheprovider", "-k", chosen)
        (passed,) = re.findall(r"^(\d+) passed", out, re.MULTILINE)
        assert "skipped" not in out, out
        return int(passed)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory, postgres_url: str) -> Copy:
    root = tmp_path_factory.mktemp("copy")
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("site"))
    for path in (*ROOT.glob("*.md"), *ROOT.glob("*.toml"), *ROOT.glob("*.yml")):
        shutil.copy2(path, root)
    changed = [path for page in ADDED for path in follow(root, page)]
    return Copy(root, changed, postgres_url)


def test_the_program_has_none_of_them_before() -> None:
    """The control: what the pages add is not there already."""
    assert "buy_ins" not in {view.name for view in VIEWS}
    assert "buy_in" not in BY_NAME
    assert "/tables" not in {tab.path for tab in TABS}
    assert "tables" not in {command.name for command in COMMANDS}


def test_what_the_pages_write_passes_the_linter_as_it_stands(copy: Copy) -> None:
    paths = [str(path) for path in copy.changed if path.suffix == ".py"]
    assert len(paths) > 8
    for check in (("check",), ("format", "--check")):
        subprocess.run([sys.executable, "-m", "ruff", *check, *paths], cwd=copy.root, check=True)


def test_a_view_is_consumed_and_rebuilt_to_the_same_rows(
    copy: Copy, database: Database, tmp_path: Path
) -> None:
    kept = {}
    for words in commands("view"):
        if words[0] == "round-ledger":
            copy.run(*words, url=database.url, home=tmp_path)
            kept[words[1]] = buy_ins(database) if words[1] in ("consume", "rebuild") else b""
    assert kept["consume"].count(b"\n") >= 1
    assert kept["consume"] == kept["rebuild"]
    assert copy.test("view", "buy_ins") >= 5


def buy_ins(database: Database) -> bytes:
    """Every row of the view, as PostgreSQL writes it out."""
    with (
        psycopg.connect(database.url) as connection,
        connection.cursor().copy(
            "COPY (SELECT * FROM views.buy_ins ORDER BY 1, 2) TO STDOUT"
        ) as out,
    ):
        return b"".join(map(bytes, out))


def test_an_alert_is_a_setting_and_raised_exactly_at_its_threshold_with_its_action(
    copy: Copy, tmp_path: Path
) -> None:
    assert copy.test("alert", "buy_in or every_threshold or names_of_their_own") == 4
    out = copy.run("round-ledger", "settings", "--json", home=tmp_path)
    (row,) = [
        each for each in map(json.loads, out.splitlines()) if "ALERT_BUY_IN" in each["setting"]
    ]
    assert (row["setting"], row["value"]) == ("ROUND_LEDGER_ALERT_BUY_IN_CENTS", "1000000")
    assert row["purpose"] == "Cash buy-in from which an alert is raised, cents."


PAGE = """
from tests.e2e.browser.test_screen_alerts import opening
from ledger.record import wire
from tests.scenes.view_feeds import received

def test_it(staffed: object) -> None:
    fact = wire.encode(opening(), "/hollywood/CC-07/pit", "a1", 1_795_100_000_000_000, None)
    staffed.take_in([received(fact)])
    for role in ("surveillance", "finance", "auditor"):
        answer = staffed.browser(role).get("/tables")
        assert answer.status_code == 200
        assert "CC-07</th><td>Criss-Cross Poker</td><td>open" in answer.text
        assert '<a href="/tables"' in answer.text
    refused = staffed.browser("ops").get("/tables")
    assert (refused.status_code, "CC-07" in refused.text) == (403, False)
    assert "/tables" not in staffed.browser("ops").get("/live").text
    assert staffed.browser().get("/tables").status_code in (303, 401)
"""


def test_a_page_is_served_to_its_roles_and_refused_to_others(copy: Copy) -> None:
    chosen = "somebody_decided_on or without_a_session or each_role or every_page or no_page_tells"
    assert copy.test("page", chosen) == 5
    path = copy.root / "tests/integration/web/test_page_added.py"
    path.write_text(PAGE, encoding="utf-8")
    assert "1 passed" in copy.run("pytest", str(path), "-p", "no:cacheprovider")


def test_a_command_runs_has_help_and_prints_json(
    copy: Copy, database: Database, tmp_path: Path
) -> None:
    record(database, day(2))
    help_, listed = (
        copy.run(*words, url=database.url, home=tmp_path)
        for words in commands("command")
        if words[0] == "round-ledger"
    )
    assert "Show each table and its game." in help_
    assert "round-ledger tables --property hollywood" in help_
    rows = [json.loads(line) for line in listed.splitlines()]
    assert len(rows) == 4
    assert all(row.keys() == {"table", "game", "open"} for row in rows)
    shown = copy.run("round-ledger", "tables", url=database.url, home=tmp_path)
    assert all(row["table"] in shown for row in rows)
    assert "Show each table and its game." in copy.run("round-ledger", "--help", home=tmp_path)
    assert copy.test("command", "tables or list_of_commands") >= 5


GENERATED = """
import json, sys
from replay.docs.pages import PAGES, with_parts
MADE = ("cli/rounds.md", "settings.md")
KEPT = ("how-to/alerts.md", "reference/views.md")
pages = {path: PAGES[path]() for path in MADE}
pages |= {path: with_parts(open(f"docs/{path}").read()) for path in KEPT}
json.dump(pages, sys.stdout)
"""


def test_the_documentation_has_all_of_them(copy: Copy) -> None:
    pages = json.loads(copy.run("-c", GENERATED))
    assert "round-ledger tables" in pages["cli/rounds.md"]
    assert "`ROUND_LEDGER_ALERT_BUY_IN_CENTS` | 1000000 |" in pages["settings.md"]
    assert "### View buy_ins" in pages["reference/views.md"]
    assert "`ALERT_BUY_IN_CENTS` (1000000)" in pages["how-to/alerts.md"]
