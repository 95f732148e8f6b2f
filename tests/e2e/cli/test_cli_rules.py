"""`adjudicate`, `games` and `verify`, run as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import psycopg
import pytest

from ledger.simulate import Plan, TablePlan, deal, line
from tests.fixtures.cli import ROOT, Cli, environ, feed, lines

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.connection import Database

NAMES = ["round", "property", "game", "edition", "edition_note", "status", "settlements"]


def floor(**mistakes: int) -> list[bytes]:
    """Half an hour at one table, with mistakes."""
    plan = Plan(tables=(TablePlan(table="CC-07"),), minutes=30, mistakes=mistakes)
    return [line(plan, fact) for fact in deal(plan)[0]]


@pytest.fixture(scope="module")
def clean() -> list[bytes]:
    return floor()


def test_a_clean_feed_has_no_finding_and_exit_code_0(
    plain_cli: Cli, tmp_path: Path, clean: list[bytes]
) -> None:
    ran = plain_cli("adjudicate", feed(tmp_path / "feed", clean))
    assert ran.code == 0
    assert ran.out == ""
    assert "nothing found" in ran.err


def test_findings_are_exit_code_1_and_a_table_with_sections(plain_cli: Cli, tmp_path: Path) -> None:
    path = feed(tmp_path / "feed", floor(overpay=1))
    ran = plain_cli("adjudicate", path)
    assert ran.code == 1
    assert "overpaid" in ran.out
    assert "592." in ran.out
    told = plain_cli("adjudicate", path, "--json")
    assert told.code == 1
    rounds = [each for each in told.json if each["round"]]
    assert list(rounds[0])[: len(NAMES)] == NAMES
    assert [f["code"] for each in told.json for f in each["findings"]] == ["overpaid"]


@pytest.mark.long
def test_a_feed_in_two_files_and_on_standard_input_is_one_feed(
    plain_cli: Cli, tmp_path: Path, clean: list[bytes]
) -> None:
    whole = plain_cli("adjudicate", feed(tmp_path / "whole", clean), "--json")
    half = len(clean) // 2
    first, second = feed(tmp_path / "a", clean[:half]), feed(tmp_path / "b", clean[half:])
    assert plain_cli("adjudicate", second, first, "--json").out == whole.out
    piped = plain_cli("adjudicate", "-", "--json", stdin=b"\n\n".join(clean))
    assert piped.out == whole.out


def test_malformed_lines_are_told_and_left_out(
    plain_cli: Cli, tmp_path: Path, clean: list[bytes]
) -> None:
    path = feed(tmp_path / "feed", [b"no fact", *clean, b"{}"])
    ran = plain_cli("adjudicate", path, "--json")
    assert ran.code == 0
    assert f"{path}, line 1: Not JSON" in ran.err
    assert f"line {len(clean) + 2}:" in ran.err
    many = plain_cli("adjudicate", feed(tmp_path / "many", [*clean, *[b"x"] * 50]))
    assert "30 more malformed lines" in many.err


def test_a_feed_of_which_no_line_is_a_fact_is_unreadable_input(
    plain_cli: Cli, tmp_path: Path
) -> None:
    ran = plain_cli("adjudicate", feed(tmp_path / "feed", [b"x", b"y"]))
    assert ran.code == 2
    assert "No line is a fact" in ran.err
    assert plain_cli("adjudicate", feed(tmp_path / "empty", [])).code == 0


def test_head_closes_the_pipe_without_a_traceback(tmp_path: Path, clean: list[bytes]) -> None:
    path = feed(tmp_path / "feed", clean * 3)
    start = f'{sys.executable} -c "from replay.cli import main; main()"'
    done = subprocess.run(
        ["bash", "-c", f"{start} adjudicate {path} --json | head -c 10"],
        capture_output=True,
        env=environ(tmp_path),
        cwd=ROOT,
        check=True,
    )
    assert done.stderr == b""


@pytest.mark.long
def test_games_lists_and_shows_each_game(plain_cli: Cli) -> None:
    listed = plain_cli("games")
    assert "criss_cross_poker" in listed.out
    cards = plain_cli("games", "--json").json
    assert [each["game"] for each in cards] == sorted(each["game"] for each in cards)
    shown = plain_cli("games", "criss_cross_poker")
    for expected in ("592.12(b)", "500 to 1", "pair_of_tens", "Order of play", "Not modelled"):
        assert expected in shown.out
    near = plain_cli("games", "criss_cross_pokr")
    assert near.code == 2
    assert "Did you mean criss_cross_poker?" in near.err


@pytest.mark.long
def test_readings_and_options_are_told_as_a_rules_submission_names_them(plain_cli: Cli) -> None:
    """Booleans and numbers are those of JSON; a table prints them as JSON does."""
    card = plain_cli("games", "blackjack", "--json").json[0]
    values = {each["name"]: each["values"] for each in card["readings"] + card["options"]}
    assert values["ace_king_is_straight"] == [True, False]
    assert values["repeated_rank"] == ["breaks", "ignored"]
    assert values["decks"] == [6, 1, 2, 4, 5, 7, 8]
    assert all(each["default"] == each["values"][0] for each in card["readings"] + card["options"])
    shown = plain_cli("games", "blackjack").out
    assert "true" in shown
    assert "True" not in shown


@pytest.mark.long
def test_edges_are_exact_and_worked_out_only_where_asked_for(plain_cli: Cli) -> None:
    assert "edges" not in plain_cli("games", "criss_cross_poker", "--json").json[0]
    card = plain_cli("games", "criss_cross_poker", "--edge", "--json").json[0]
    bonus = next(each for each in card["edges"] if each["wager"] == "five_card_bonus")
    assert (bonus["edge"], bonus["percent"]) == ("7653/216580", "3.534%")
    assert "7653/216580" in plain_cli("games", "--edge").out


def test_verify_prints_heads_and_checks_them_against_those_kept(cli: Cli, tmp_path: Path) -> None:
    cli("ingest", feed(tmp_path / "feed", [*lines(30), *lines(3, place="CC-08")]))
    heads = cli("verify", "--json")
    assert heads.code == 0
    assert [list(each) for each in heads.json] == [["place", "sequence", "position", "hash"]] * 2
    kept = tmp_path / "heads"
    kept.write_text(heads.out)
    against = cli("verify", "--head", kept)
    assert against.code == 0
    assert "the record is whole" in against.err
    first, second = heads.out.splitlines()
    kept.write_text(first.replace('"hash": "', '"hash": "0')[:-3] + '"}\n' + second)
    assert cli("verify", "--head", kept).code == 1
    kept.write_text("no head")
    assert cli("verify", "--head", kept).code == 2


def test_verify_names_what_was_edited_behind_the_triggers(
    cli: Cli, database: Database, tmp_path: Path
) -> None:
    cli("ingest", feed(tmp_path / "feed", lines(30)))
    with psycopg.connect(database.url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("UPDATE ledger.tape SET state = '{}' WHERE notification_id = 7")
    ran = cli("verify", "--json")
    assert ran.code == 1
    broken = json.loads(ran.out.splitlines()[-1])["broken"]
    assert (broken["kind"], broken["position"]) == ("edited payload", 7)
    assert "position 7 on hollywood/CC-07, edited payload" in cli("verify").err


def submission(path: Path, **fields: object) -> Path:
    """A Rules Submission in a file."""
    told = {"game": "criss_cross_poker", "effective_from": "2015-01-01", **fields}
    path.write_text(json.dumps(told))
    return path


@pytest.mark.long
def test_a_submission_is_checked_and_warns_of_a_wager_the_player_gains_on(
    plain_cli: Cli, tmp_path: Path
) -> None:
    path = submission(tmp_path / "s.json", readings={"pair_of_tens": "one_to_one"})
    ran = plain_cli("submissions", "check", path)
    assert ran.code == 0
    assert "the player gains 4.833%" in ran.err
    edges = plain_cli("games", "criss_cross_poker", "--edge", "--submission", path, "--json").json
    assert [each["percent"] for each in edges[0]["edges"]] == ["3.534%", "-4.833%", "5.992%"]
    sound = submission(tmp_path / "t.json", readings={"pair_of_tens": "push"})
    assert "gains" not in plain_cli("submissions", "check", sound).err


def test_a_submission_that_cannot_hold_is_told_with_what_may_be_named(
    plain_cli: Cli, tmp_path: Path
) -> None:
    path = submission(tmp_path / "s.json", readings={"pair_of_tens": "lose"}, offers=["tie"])
    ran = plain_cli("submissions", "check", path)
    assert ran.code == 2
    assert "push, one_to_one" in ran.err
    assert "five_card_bonus" in ran.err
    terms = {"straight_jack": {"rate": 2, "seed": 1}}
    path = submission(
        tmp_path / "t.json", game="blackjack", progressives=terms, limits={"payout": -5}
    )
    assert plain_cli("submissions", "check", path).code == 2
    path = submission(
        tmp_path / "t.json", game="blackjack", progressives=terms, limits={"payout": 5}
    )
    ran = plain_cli("submissions", "check", path)
    assert ran.code == 2
    assert "Blackjack has no limit payout" in ran.err
    assert "Give a part above 0 and up to 1" in ran.err
    assert "Name one of meter, rate, reset, initial" in ran.err


def test_a_submission_that_is_filed_judges_the_rounds_of_its_property(
    cli: Cli, tmp_path: Path
) -> None:
    path = submission(tmp_path / "s.json", readings={"pair_of_tens": "one_to_one"})
    ran = cli("submissions", "file", path, "--json")
    assert ran.code == 0
    assert ran.json[0]["verdict"] == "appended"
    unknown = submission(tmp_path / "t.json", readings={"tens": "push"})
    assert cli("submissions", "file", unknown).code == 2
    assert cli("verify", "--json").code == 0
