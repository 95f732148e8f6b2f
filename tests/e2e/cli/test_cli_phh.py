"""`import-phh`, run as a user runs it: facts written, kept and ruled on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.unit.recording.test_phh import DRAW, OMAHA

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.cli import Cli

ENDED = "finishing_stacks = [1500, 0, 2000]\nyear = 2023\nmonth = 6\nday = 20\nhand = 7\n"


def written(path: Path, notation: str) -> Path:
    path.write_text(notation)
    return path


def test_the_facts_of_a_hand_are_a_feed_that_adjudicate_reads(
    plain_cli: Cli, tmp_path: Path
) -> None:
    hand = written(tmp_path / "hand.phh", DRAW + ENDED)
    feed = tmp_path / "feed.jsonl"
    at = ("--property", "hollywood", "--table", "T-9")
    ran = plain_cli("import-phh", hand, "--to", feed, *at)
    assert (ran.code, ran.out) == (0, "")
    facts = [json.loads(line) for line in feed.read_text().splitlines()]
    assert {fact.get("subject") for fact in facts} == {"T-9", "T-9/2023-06-20/7"}
    assert {fact["type"] for fact in facts if "fact" in fact["data"]["derived"]} == {
        f"roundledger.{name}.v1"
        for name in ("rules_submission_filed", "card_burned", "pot_awarded", "round_completed")
    }
    assert all("time" in fact["data"]["derived"] for fact in facts)
    ruled = plain_cli("adjudicate", feed, "--json")
    assert ruled.code == 0
    (ruling,) = [each for each in ruled.json if each["round"]]
    assert (ruling["game"], ruling["status"]) == ("triple_draw_2_7", "complete")
    printed = plain_cli(
        "import-phh", hand, "--to", "-", "--property", "hollywood", "--table", "T-9"
    )
    assert printed.out == feed.read_text()


@pytest.mark.long
def test_hands_are_kept_and_ruled_on_and_the_same_hand_again_is_a_duplicate(
    cli: Cli, tmp_path: Path
) -> None:
    hand = written(tmp_path / "hand.phh", DRAW + ENDED)
    first = cli("import-phh", hand)
    assert first.code == 0
    assert "nothing found" in first.err
    again = cli("import-phh", hand, "--json")
    assert [each["status"] for each in again.json if each.get("round")] == ["complete"]
    told = cli("import-phh", hand).out.split()
    assert told.count("0") == 3  # appended, equivocation, quarantined
    wrong = written(tmp_path / "wrong.phh", OMAHA.replace("[202, 198]", "[198, 202]"))
    found = cli("import-phh", wrong)
    assert found.code == 1
    assert "wrong_position_paid" in found.out


def test_what_cannot_be_imported_is_a_usage_error_that_says_why(
    plain_cli: Cli, tmp_path: Path
) -> None:
    holdem = written(tmp_path / "holdem.phh", OMAHA.replace('"PO"', '"NT"'))
    ran = plain_cli("import-phh", holdem, "--to", "-")
    assert ran.code == 2
    assert "NT is not a game here" in ran.err
    missing = plain_cli("import-phh", tmp_path / "none.phh", "--to", "-")
    assert missing.code == 2
    assert "No such file" in missing.err
