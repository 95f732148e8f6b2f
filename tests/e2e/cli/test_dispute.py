"""`dispute`, run as a surveillance desk runs it, over a simulated floor."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from infra.postgres.server.embedded import embedded
from ledger.facts import CameraMapped, DisputeRaised
from ledger.record.wire import encode
from tests.fixtures.cli import ROOT, Cli, environ

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KILLED = """
import os, signal
from replay.cli import main
from replay.disputes import service
service.put_handled = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
main()
"""
SECRET = "I was paid short on the middle box"  # noqa: S105 - a claim, not a password


class Desk(NamedTuple):
    """A floor taken in, the round with a planted underpayment, and the command over it."""

    cli: Cli
    folder: Path
    round: str
    position: int

    def ok(self, *args: str) -> list[Any]:
        ran = self.cli("dispute", *args, "--json")
        assert ran.code == 0, ran.err
        return ran.json

    def raised(self, *more: str) -> dict[str, Any]:
        claim = ("--position", str(self.position), "--claim", SECRET, "--by", "F-330")
        told: dict[str, Any] = self.ok("raise", self.round, *claim, *more)[0]
        return told


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("desk")
    home, out = folder / "home", folder / "dealt"
    cli = Cli(environ(home))
    with embedded(home):
        made = cli(
            "simulate", "--tables", "1", "--game", "criss_cross_poker", "--hours", "0.4",
            "--seed", "3", "--mistake", "underpay", "--out", out,
        )  # fmt: skip
        assert made.code == 0, made.err
        assert cli("ingest", out / "feed.jsonl", "--json").code == 0
        truth = json.loads((out / "truth.jsonl").read_text().splitlines()[0])
        yield Desk(cli, folder, truth["round"], truth["position"])


@pytest.mark.long
def test_raising_a_dispute_locks_every_camera_on_the_table_around_the_round(desk: Desk) -> None:
    raised = desk.raised("--claim", "A claim that no other test raises.")
    began = desk.cli("rounds", "--dispute", raised["dispute"], "--json").json[0]["began"]
    assert raised["locks"], "no camera of the simulated table was locked"
    for lock in raised["locks"]:
        assert lock["from"] < began < lock["to"]
        assert lock["because"] == f"dispute {raised['dispute']} about {desk.round}"
    row = next(each for each in desk.ok("list") if each["dispute"] == raised["dispute"])
    assert (row["status"], row["locks"]) == ("raised", len(raised["locks"]))
    assert desk.ok("lock", raised["dispute"])[0]["locks"] == []


@pytest.mark.long
def test_a_reviewer_sees_neither_the_claim_nor_the_record_before_writing_down_what_they_saw(
    desk: Desk,
) -> None:
    name = desk.raised()["dispute"]
    blind = ("show", name, "--blind", "--by", "S-2001")
    for args in (("dispute", *blind), ("dispute", *blind, "--json"), ("dispute", "list")):
        ran = desk.cli(*args)
        assert ran.code == 0
        for hidden in (SECRET, '"owed":-', '"owed":5', "Owed and paid", "is paid", "Ante"):
            assert hidden not in ran.out + ran.err, hidden
    assert SECRET in desk.cli("dispute", "show", name).out
    seen_us = "2026-11-20T21:14:00Z/2026-11-20T21:15:00Z"
    saw = ("--saw", "Three of a kind.", "--by", "S-2001")
    told = desk.ok("observe", name, *saw, "--watched", f"CC-01-cam1@{seen_us}")
    assert told[0]["warning"] is None
    [seen] = desk.ok(*blind[0:1], *blind[1:])
    assert (seen["hidden"], seen["claims"][0]["claim"]) == (False, SECRET)
    assert [(each["saw"], each["blind"]) for each in seen["saw"]] == [("Three of a kind.", True)]


@pytest.mark.long
def test_claimed_shown_owed_and_paid_stand_beside_one_another_and_the_adjustment_closes_the_gap(
    desk: Desk,
) -> None:
    name = desk.raised()["dispute"]
    [seen] = desk.ok("show", name)
    short = -seen["difference"]
    assert short > 0
    assert all(line["position"] == desk.position for line in seen["lines"])
    assert all(line["section"] for line in seen["lines"])
    assert any("is paid" in each["says"] for each in seen["shown"])
    amount = f"{short // 100}.{short % 100:02d}"
    desk.ok("adjust", name, amount, "--from", "table", "--by", "S-1")
    desk.ok("resolve", name, "--outcome", "Upheld.", "--by", "S-1")
    [seen] = desk.ok("show", name)
    assert (seen["adjusted"], seen["left"], seen["status"]) == (short, 0, "resolved")
    row = next(each for each in desk.ok("list") if each["dispute"] == name)
    assert row["releases"] == 0, "resolving released footage"


@pytest.mark.long
def test_a_note_points_at_the_very_fact_whatever_number_it_gets_later(desk: Desk) -> None:
    name = desk.raised()["dispute"]
    [seen] = desk.ok("show", name)
    fact = seen["shown"][-1]
    desk.ok(
        "note", name, "--note", "Here.", "--by", "S-1", "--moment", str(fact["number"]),
        "--moment", f"{desk.round}#1", "--moment", "CC-01-cam1@2026-11-20T10:00:00-05:00",
    )  # fmt: skip
    [seen] = desk.ok("show", name)
    first, second, camera = seen["notes"][0]["moments"]
    assert first["fact"] == {"source": fact["source"], "id": fact["id"]}
    assert second["round"].endswith(desk.round)
    assert camera == {"camera": "CC-01-cam1", "camera_time": "2026-11-20T15:00:00.000000Z"}
    for moment, says in (
        ("999", "facts"),
        ("noon", "is not a moment"),
        ("x@noon", "is not a moment"),
    ):
        ran = desk.cli("dispute", "note", name, "--note", "x", "--by", "S", "--moment", moment)
        assert (ran.code, says in ran.err) == (2, True), ran.err


@pytest.mark.long
def test_a_position_that_nobody_played_is_told_beside_the_dispute(desk: Desk) -> None:
    claim = ("--claim", "They would not take my wager", "--by", "F-330")
    ran = desk.cli("dispute", "raise", desk.round, "--position", "77", *claim, "--json")
    assert (ran.code, ran.json[0]["position"]) == (0, 77)
    assert "Position 77 was not played in this round; played positions: " in ran.err
    assert "was not played" not in desk.cli(
        "dispute", "raise", desk.round, "--position", str(desk.position), *claim
    ).err  # fmt: skip


@pytest.mark.long
def test_what_cannot_follow_is_refused_and_nothing_is_put_on_record(desk: Desk) -> None:
    name = desk.raised("--name", "D-closed")["dispute"]
    desk.ok("resolve", name, "--outcome", "Dismissed.", "--by", "S-1")
    for args, says in (
        (("resolve", name, "--outcome", "x", "--by", "S-1"), "resolved by S-1"),
        (("observe", name, "--saw", "x", "--by", "S-1"), "resolved by S-1"),
        (("reveal", "D-none", "--by", "S-1"), "No fact of dispute D-none"),
        (("adjust", name, "a lot", "--by", "S-1"), "not an amount"),
        (("show", name, "--blind"), "--blind needs a reviewer"),
    ):
        ran = desk.cli("dispute", *args)
        assert (ran.code, says in ran.err) == (2, True), ran.err
        assert "Traceback" not in ran.err
    claim = ("--position", "1", "--claim", "x", "--by", "F-1")
    again = desk.cli("dispute", "raise", desk.round, *claim, "--name", "D-closed")
    assert (again.code, "already" in again.err) == (2, True)
    nowhere = desk.cli("dispute", "raise", "CC-99/2026-11-20/1", *claim)
    assert (nowhere.code, "No fact of round" in nowhere.err) == (2, True)


@pytest.mark.long
def test_a_dispute_that_was_raised_elsewhere_is_found_without_a_lock_and_locked(
    desk: Desk,
) -> None:
    """As it also is where the command died between raising a dispute and locking its footage."""
    body = DisputeRaised(dispute="T/1", round=desk.round, position=1, claim="x", by="F-9")
    line = encode(body, "/hollywood/pit-2/tablet", "t-1", "2026-11-20T18:00:00-05:00")
    assert desk.cli("ingest", "-", "--json", stdin=line + b"\n").code == 0
    assert [each["dispute"] for each in desk.ok("list", "--unlocked")] == ["T/1"]
    [done] = desk.ok("lock")
    assert done["dispute"] == "T/1"
    assert {lock["by"] for lock in done["locks"]} == {"F-9"}
    assert desk.ok("list", "--unlocked") == []
    assert desk.ok("lock") == []


@pytest.mark.long
def test_a_dispute_whose_name_has_a_slash_has_its_dossier_and_a_round_its_own(
    desk: Desk, tmp_path: Path
) -> None:
    for number, dispute in enumerate(("T/7 a", desk.round)):
        body = DisputeRaised(
            dispute=dispute,
            round=desk.round,
            position=1,
            claim=f"Claim {number} of a tablet",
            by="F-9",
        )
        line = encode(body, "/hollywood/pit-2/tablet", f"s-{number}", "2026-11-20T18:00:00-05:00")
        assert desk.cli("ingest", "-", "--json", stdin=line + b"\n").code == 0
    assert len(desk.ok("lock")) == 2
    asked = (["T/7 a"], ["hollywood:T/7 a"], [desk.round, "--of", "round"])
    for number, of in enumerate(asked):
        done = desk.cli("dossier", *of, "--by", "S-1", "--zip", cwd=tmp_path)
        assert done.code == 0, done.err
        [made] = tmp_path.glob("*.zip")
        named = desk.round.replace("/", "-") if number == 2 else "T-7-a"
        assert made.name == f"dossier-{named}.zip"
        with zipfile.ZipFile(made) as archive:
            report = archive.read("report.html").decode()
        assert ("Claim 0 of a tablet" in report) == (number < 2), of
        assert "Claim 1 of a tablet" not in report, "a round's name is the round's"
        made.unlink()
    nowhere = desk.cli("dossier", "T/8", "--by", "S-1", "--out", tmp_path / "none")
    assert (nowhere.code, "There is no dispute T/8" in nowhere.err) == (2, True), nowhere.err


@pytest.mark.long
def test_a_command_that_is_killed_before_it_locked_leaves_a_dispute_that_is_locked_later(
    desk: Desk,
) -> None:
    claim = ("--position", "1", "--claim", "x", "--by", "F-9", "--name", "D-killed")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, "dispute", "raise", desk.round, *claim],
        env=desk.cli.environ,
        cwd=ROOT,
        check=False,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL
    assert [each["dispute"] for each in desk.ok("list", "--unlocked")] == ["D-killed"]
    assert [each["dispute"] for each in desk.ok("lock")] == ["D-killed"]
    assert desk.ok("list", "--unlocked") == []


@pytest.mark.long
def test_a_camera_that_is_known_only_later_is_locked_when_asked(desk: Desk) -> None:
    name = desk.raised()["dispute"]
    mapped = CameraMapped(camera="CC-01-late", table="CC-01", kind="ptz", covers=("tray",))
    line = encode(mapped, "/hollywood/CC-01/x", "m-1", "2026-11-20T00:00:01-05:00")
    assert desk.cli("ingest", "-", "--json", stdin=line + b"\n").code == 0
    assert "CC-01-late" in desk.cli("dispute", "show", name).err
    [done] = desk.ok("lock", name)
    assert [lock["camera"] for lock in done["locks"]] == ["CC-01-late"]


@pytest.mark.long
def test_a_stretch_is_preserved_without_a_dispute_by_table_or_camera(desk: Desk) -> None:
    stretch = ("--from", "2026-11-20T10:00:00-05:00", "--to", "2026-11-20T10:10:00-05:00")
    why = ("--because", "A fall at the table.", "--by", "S-1")
    locks = desk.ok("preserve", "--table", "CC-01", *stretch, *why)
    assert {lock["because"] for lock in locks} == {"A fall at the table."}
    camera = locks[0]["camera"]
    [one] = desk.ok("preserve", "--camera", camera, *stretch, *why)
    assert (one["from"], one["to"]) == (locks[0]["from"], locks[0]["to"])
    for args, says in (
        ((*stretch, *why), "Name one table or one camera"),
        (("--table", "CC-99", *stretch, *why), "The record has no fact about"),
        (("--table", "CC-01", "--from", stretch[3], "--to", stretch[1], *why), "ends before"),
    ):
        ran = desk.cli("dispute", "preserve", *args)
        assert (ran.code, says in ran.err) == (2, True), ran.err
