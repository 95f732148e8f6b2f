"""A game is added by one file: the guide's own example, dropped in, is picked up everywhere.

Each test runs in a process of its own, in which the file lies beside the other games.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.contract.citations import ROOT
from tests.contract.test_adding import blocks, change, commands

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.long

EXAMPLE = ROOT / "tests/data/new_game/high_card.py"
GUIDE = (ROOT / "docs/adding/game.md").read_text(encoding="utf-8")
BESIDE = """
import sys
import ledger.games
ledger.games.__path__.append(sys.argv.pop(1))
"""


def run(script: str, *arguments: str, beside: Path = EXAMPLE.parent, found_in: str = BESIDE) -> str:
    """What a script prints, in a process whose games have the example among them."""
    done = subprocess.run(
        [sys.executable, "-c", found_in + script, str(beside), *arguments],
        cwd=ROOT,
        env={"PATH": os.defpath, "PYTHONPATH": str(ROOT), "HOME": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


COMMAND = "from replay.cli import main; main()"


def test_the_command_knows_it_with_its_wagers_paytable_and_order_of_play() -> None:
    card = json.loads(run(COMMAND, "games", "high_card", "--json"))
    assert [wager["id"] for wager in card["wagers"]] == ["bet"]
    assert [row["odds"] for row in card["paytables"][0]["rows"]] == ["1 to 1", "Push"]
    steps = [step["step"] for step in card["order_of_play"]]
    assert steps[:3] == ["wager_placed", "no_more_bets_called", "cards_dealt"]
    assert steps[-1] == "round_completed"


def test_it_has_a_page() -> None:
    page = run("from replay.docs.games import pages; print(pages()['games/high_card.md']())")
    assert page.startswith("# High Card")
    assert "592.12(a)" in page


def test_a_submission_for_it_is_checked(tmp_path: Path) -> None:
    filing = {"game": "high_card", "effective_from": "2015-01-01", "readings": {"tie": "lose"}}
    path = tmp_path / "s.json"
    path.write_text(json.dumps(filing))
    assert json.loads(run(COMMAND, "submissions", "check", str(path), "--json")) == {
        "game": "high_card",
        "edges": [],
    }


def test_it_is_dealt_and_ruled_on_and_what_is_planted_is_found(tmp_path: Path) -> None:
    floor = tmp_path / "floor"
    simulate = ("simulate", "--game", "high_card", "--tables", "1", "--hours", "1")
    run(COMMAND, *simulate, "--mistake", "overpay=2", "--out", str(floor))
    told = run(COMMAND, "adjudicate", str(floor / "feed.jsonl"), "--json")
    rulings = [json.loads(line) for line in told.splitlines()]
    codes = [finding["code"] for ruling in rulings for finding in ruling["findings"]]
    assert codes == ["overpaid", "overpaid"]
    outcomes = {each["outcome"] for ruling in rulings for each in ruling["settlements"]}
    assert outcomes >= {"win", "lose", "push"}


@pytest.mark.parametrize(
    "of_every_game",
    [
        "tests/property/rules/test_simulate.py -k of_every_game_adjudicates_to_no_finding",
        "tests/property/rules/test_rulings.py -k of_every_game_cut_anywhere",
        "tests/unit/rules/procedures/test_filing.py -k may_be_named",
    ],
)
def test_what_is_asked_of_every_game_is_asked_of_it(of_every_game: str) -> None:
    path, *chosen = of_every_game.split()
    told = run(
        "import pytest; raise SystemExit(pytest.main(sys.argv[1:]))",
        path,
        "-q",
        "-p",
        "no:cacheprovider",
        *chosen[:1],
        f"{chosen[1]} and high_card",
    )
    # What is tried a little every day and whole in the long run are two.
    assert re.search(r"^[12] passed", told, re.MULTILINE), told


def test_without_its_file_nothing_knows_it(tmp_path: Path) -> None:
    """The negative control: it is the file that makes it a game."""
    assert "high_card" not in run(COMMAND, "games", "--json", beside=tmp_path)


COPIED = """
import sys
import ledger.edges, ledger.games
folder = sys.argv.pop(1)
ledger.games.__path__.append(f"{folder}/ledger/games")
ledger.edges.__path__.append(f"{folder}/ledger/edges")
"""


def test_a_copy_of_a_game_changed_as_the_guide_says_has_its_own_row_and_edge(
    tmp_path: Path,
) -> None:
    for words in commands("game"):
        if words[0] == "cp":
            (tmp_path / words[2]).parent.mkdir(parents=True)
            shutil.copy(ROOT / words[1], tmp_path / words[2])
    for block in blocks("game"):
        if block.language == "diff":
            for hunk in block.text.strip("\n").split("\n\n"):
                change(tmp_path / block.path, hunk.split("\n"))
    asked = ("games", "river_three_card", "--edge", "--json")
    card = json.loads(run(COMMAND, *asked, beside=tmp_path, found_in=COPIED))
    (pair_plus,) = [each for each in card["paytables"] if each["wagers"] == ["pair_plus"]]
    assert "5 to 1" in {row["odds"] for row in pair_plus["rows"] if row["label"] == "Straight"}
    edges = {each["wager"]: each["percent"] for each in card["edges"]}
    assert f"{edges['pair_plus']} in place of 2.317%" in GUIDE


def test_the_guide_shows_the_example_as_it_is() -> None:
    source = EXAMPLE.read_text(encoding="utf-8")
    shown = source[source.index("def play(") : source.index("GAME = Game(")].strip()
    assert f"```python\n{shown}\n```" in GUIDE
