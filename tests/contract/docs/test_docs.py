"""The generated pages are what the program says, and every code has its line."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ledger.facts import FACTS
from ledger.games import games
from ledger.regulations import resolves
from ledger.roster.door import REASONS as DOOR
from ledger.rules.engine.finding_codes import CODES
from ledger.rules.engine.steps import POT
from replay.docs import asyncapi
from replay.docs.__main__ import main
from replay.docs.errors import EXITS, REASONS
from replay.docs.pages import PAGES, generate
from replay.games.order_of_play import order_of_play

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.rules.engine.game import Game

ROOT = Path(__file__).parents[3]
LEDGER = ROOT / "ledger"
FOLDER = ROOT / "docs"
BESIDE_THE_PARSER = {"equivocation", *DOOR}  # written by the record itself, or at the door


def calls(name: str, under: Path = LEDGER) -> Iterator[ast.Call]:
    """Every call of a function or method of this name."""
    for path in sorted(under.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                called = node.func
                if (
                    called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
                ) == name:
                    yield node


def words(node: ast.expr | None) -> set[str]:
    """The texts that an expression may be."""
    if node is None:
        return set()
    return {
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Every page of the site: those that are kept, and those that are generated."""
    kept = {
        path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8")
        for path in FOLDER.rglob("*.md")
    }
    return kept | quick()


def quick() -> dict[str, str]:
    """The generated pages but those of games, whose edges are worked out for seconds."""
    return {path: make() for path, make in PAGES.items() if not path.startswith("games/")}


BACKWARDS = """
import pkgutil, sys
from hashlib import sha256
from importlib import import_module
import replay.cli
modules = [each.name for each in pkgutil.walk_packages(replay.cli.__path__, "replay.cli.")]
for name in sorted(modules, reverse=True):
    if not name.endswith("__main__"):
        import_module(name)
from replay.docs.asyncapi import page
from replay.docs.pages import PAGES
made = [make() for path, make in PAGES.items() if not path.startswith("games/")]
print(sha256("".join([page(), *made]).encode()).hexdigest())
"""
"""Makes the pages where the commands' modules were imported in another order than by the help."""


@pytest.mark.long
def test_another_process_generates_the_same_bytes_whatever_it_imported_before() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BACKWARDS],
        cwd=ROOT,
        env={"PATH": os.defpath, "PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=True,
    )
    here = "".join([asyncapi.page(), *quick().values()])
    assert done.stdout.strip() == sha256(here.encode()).hexdigest()


def test_a_changed_and_a_missing_description_are_found_and_put_right(tmp_path: Path) -> None:
    path = tmp_path / "asyncapi.json"
    assert main(["--check"], path) == 1
    assert main([], path) == 0
    assert main(["--check"], path) == 0
    path.write_text("else")
    assert main(["--check"], path) == 1
    assert main([], path) == 0
    assert path.read_text() == (FOLDER / "asyncapi.json").read_text()


def test_an_option_it_does_not_know_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--nonsense"]) == 2
    assert "usage" in capsys.readouterr().err


def test_every_reason_of_quarantine_is_explained_and_no_other() -> None:
    given = set(
        chain.from_iterable(words(call.args[0]) for call in calls("MalformedError") if call.args)
    )
    for node in ast.walk(ast.parse((LEDGER / "record" / "kinds.py").read_text())):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "reason":
            assert isinstance(node.value, ast.IfExp)
            given |= words(node.value.body) | words(node.value.orelse)
    assert given | BESIDE_THE_PARSER == set(REASONS)


@pytest.mark.long
def test_every_code_of_a_finding_that_the_rules_give_is_explained() -> None:
    given: set[str] = set()
    for call in calls("Finding"):
        given |= words(next((each.value for each in call.keywords if each.arg == "code"), None))
    for call in calls("find", LEDGER / "rules"):
        given |= words(call.args[0] if call.args else None)
    assert len(given) > 15
    assert given <= set(CODES)


def test_exit_codes_are_those_of_the_page() -> None:
    assert {0, 1, 2, 3} <= set(EXITS)


def test_every_fact_and_game_has_its_place(pages: dict[str, str]) -> None:
    assert all(f"### {name}\n" in pages["facts.md"] for name in FACTS)
    assert {f"games/{game}.md" for game in games()} <= PAGES.keys()


@pytest.mark.parametrize("path", sorted((FOLDER / "adr").glob("[0-9]*.md")), ids=lambda p: p.stem)
def test_every_decision_has_its_four_parts_and_a_number_of_its_own(path: Path) -> None:
    title, *lines = path.read_text().splitlines()
    parts = ["## Context", "## Decision", "## Consequences", "## Alternatives"]
    assert [line for line in lines if line.startswith("#")] == parts
    assert title.startswith(f"# {path.name[:4]}: ")
    assert list(path.parent.glob(f"{path.name[:4]}*")) == [path]


@pytest.mark.long
def test_no_page_holds_a_path_of_this_machine(pages: dict[str, str]) -> None:
    assert not [name for name, text in (pages | generate()).items() if str(ROOT) in text]


@pytest.mark.long
@pytest.mark.parametrize("game", games().values(), ids=lambda game: game.id)
def test_the_order_of_play_begins_with_a_wager_and_names_every_step_with_its_section(
    game: Game,
) -> None:
    order = order_of_play(game)
    assert order[0].step == "wager_placed"
    assert order[-1].step == "round_completed"
    assert all(step.sections for step in order)
    assert all(resolves(cited) for step in order for cited in step.sections)
    settled = {step.wager for step in order if step.step == "settled"}
    if game.pots:  # pushed, not settled; but for a bet that nobody met
        assert settled <= {"bet"}
        return
    paid = {name for table in game.paytables for name in table.wagers}
    assert settled <= {wager.id for wager in game.wagers} | paid | {POT, *game.fees}
    assert len(settled) * 3 > len(game.wagers)
