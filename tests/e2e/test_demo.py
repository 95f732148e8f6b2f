"""`demo` as a user runs it: whole, within its time, twice, and never in a real ledger."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from tests.fix_cli import Cli, environ

if TYPE_CHECKING:
    from pathlib import Path

SECONDS_MAX = 60
"""What is promised on two cores; here an hour of play is dealt, and others may use the cores."""


@pytest.mark.long
def test_the_demonstration_finds_all_it_planted_twice_and_leaves_a_record_to_try(
    tmp_path: Path,
) -> None:
    cli, folder = Cli(environ(tmp_path / "real")), tmp_path / "demo"
    began = time.monotonic()
    first = cli("demo", folder, "--hours", "1")
    took = time.monotonic() - began
    assert first.code == 0, first.err
    assert took < SECONDS_MAX
    assert "All of them were found, and nothing else." in first.out
    assert "MISSED" not in first.out
    assert not (tmp_path / "real").exists()
    assert max(map(len, first.out.splitlines())) <= 100 + len(str(folder))

    planted = [json.loads(line) for line in (folder / "truth.jsonl").read_text().splitlines()]
    after = Cli(environ(folder / "home"))
    found = {each["round"] for each in after("rounds", "--finding", "overpaid", "--json").json}
    overpaid = {each["round"] for each in planted if each["mistake"] == "overpay"}
    assert overpaid <= found
    own = after("rounds", "--limit", "1", "--json").json[0]["round"]
    assert after("replay", own).code == 0
    assert after("verify").code == 0
    report = (folder / "dossier" / "report.html").read_text()
    assert "data:image/png;base64," in report

    second = cli("demo", folder, "--hours", "1")
    assert second.code == 0, second.err
    assert "Began anew" in second.err
    assert _findings(second.out) == _findings(first.out)


def test_a_folder_that_the_demonstration_did_not_make_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    ran = Cli(environ(tmp_path / "real"))("demo", mine)
    assert (ran.code, ran.out) == (2, "")
    assert "Name another folder" in ran.err
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]


def _findings(out: str) -> str:
    """The part that the seed alone decides."""
    return out[out.index("Planted beside found") : out.index("Look further")]
