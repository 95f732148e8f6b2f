"""Commands that record what a person says: by that person's password, once there are users."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from consumers.registry import install
from infra.access.connections import AccessDatabase
from ledger.record.tape import Quarantined
from replay.roster import key_files
from replay.roster.door import Door
from tests.e2e.cli.test_cli_phh import ENDED
from tests.fixtures.postgres import fact
from tests.fixtures.web import PASSWORD, add_user
from tests.unit.recording.test_phh import DRAW

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.record.tape import TapeRow
    from tests.fixtures.cli import Cli, Ran

ROUND = "CC-02/2026-11-20/61"
WHY = ("--because", "x")
SPAN = ("--from", "2026-11-20T16:40:00Z", "--to", "2026-11-20T16:50:00Z")
ENTRY = (
    *("--property", "hollywood", "--from", "2026-11-20T16:40:00Z", "--place", "CC-02"),
    *("--what", "A drink was spilled", "--recorded", "cam1", "--done", "Layout changed"),
)
READING = (
    *("--camera", "CC-02-cam1", "--camera-time", "2026-11-20T21:00:03Z", "--reference", "NTP"),
    *("--reference-time", "2026-11-20T21:00:00Z", "--uncertainty-ms", "500"),
)
CAMERA = ("--camera", "CC-02-cam1", "--property", "hollywood")
DAY = ("--property", "hollywood", "--gaming-day", "2026-11-20")
INVESTIGATORS: tuple[tuple[str, ...], ...] = (
    ("dispute", "raise", ROUND, "--position", "5", "--claim", "Short"),
    ("dispute", "note", "D-1", "--note", "x"),
    ("dispute", "task", "D-1", "--what", "x", "--to", "S-2", "--due", "2026-11-21T18:00:00Z"),
    ("dispute", "task-done", "D-1", "T-1"),
    ("dispute", "observe", "D-1", "--saw", "x"),
    ("dispute", "reveal", "D-1"),
    ("dispute", "resolve", "D-1", "--outcome", "x"),
    ("dispute", "adjust", "D-1", "25.00"),
    ("dispute", "preserve", "--table", "CC-02", *SPAN, *WHY),
    ("review", "take", ROUND),
    ("review", "give", ROUND, "--to", "S-2"),
    ("review", "close", ROUND, "--outcome", "right"),
    ("review", "reopen", ROUND, *WHY),
    ("review", "sample", *DAY),
    ("logbook", "add", *ENTRY),
    ("logbook", "correct", "L-1", *ENTRY, *WHY),
    ("shift", "begin", "--property", "hollywood"),
    ("shift", "hand-over", "SH-1", "--to", "S-2"),
    ("shift", "countersign", "SH-1"),
    ("footage", "lock", "--camera", "CC-02-cam1", *SPAN, *WHY),
    ("footage", "release", "--dispute", "D-1", *WHY),
    ("footage", "expire"),
    ("footage", "frame", ROUND, "--at", "3"),
    ("footage", "clip", ROUND, "--out", "clips"),
    ("footage", "clock", *READING),
    ("footage", "add", "recordings", *CAMERA),
    ("footage", "calibrate", *CAMERA, "--reference", "tablet-3"),
    ("dossier", ROUND),
)
KEEPERS: tuple[tuple[str, ...], ...] = (
    ("keys", "enrol", "--as", "shoe", "--source", "/hollywood/CC-01/shoe", "--private-key", "new"),
    ("keys", "load", "roster.jsonl"),
    ("keys", "rotate", "--old", "old", "--private-key", "new"),
    ("keys", "revoke", "56475aa75463474c", *WHY),
    ("grants", "set", "shoe", "grants.json", *WHY),
    ("submissions", "file", "submission.json"),
    ("dlq", "replay"),
    ("import-phh", "hand.phh"),
)


@pytest.fixture
def ledger(cli: Cli, database: Database, tmp_path: Path) -> Cli:
    """A ledger whose users are an investigator, a keeper of the record and one of the pit."""
    install(database)
    (tmp_path / "roster.jsonl").write_text("")
    key_files.make(tmp_path / "old")
    (tmp_path / "grants.json").write_text("[]")
    (tmp_path / "recordings").mkdir()
    (tmp_path / "hand.phh").write_text(DRAW + ENDED)
    filed = {"game": "criss_cross_poker", "effective_from": "2026-11-21"}
    (tmp_path / "submission.json").write_text(json.dumps(filed))
    return cli


@pytest.fixture
def users(ledger: Cli, database: Database) -> Cli:
    with closing(AccessDatabase(database)) as access:
        add_user(access, "inv", "surveillance")
        add_user(access, "keeper", "ops")
        add_user(access, "pit", "pit")
    return ledger


def signed(cli: Cli, folder: Path, command: tuple[str, ...], by: str, secret: str) -> Ran:
    typed = ("--by", by, "--password-file", "-")
    return cli(*command, *typed, stdin=f"{secret}\n".encode(), cwd=folder)


def recorded(tape: PostgresTape) -> list[TapeRow]:
    return list(tape.read(0, 100))


def gate(users: Cli, folder: Path, command: tuple[str, ...], other: str) -> None:
    """Nothing is done for a wrong password, nor for somebody with another role."""
    for by, secret, says in (
        ("S-pit", PASSWORD, "has no role for this"),
        (other, PASSWORD, "has no role for this"),
        ("S-inv", "another horse", "is wrong"),
        ("S-nobody", PASSWORD, "No user has the credential"),
    ):
        ran = signed(users, folder, command, by, secret)
        assert (ran.code, says in ran.err) == (2, True), (command, by, ran.err)


@pytest.mark.long
@pytest.mark.parametrize("command", INVESTIGATORS, ids=lambda of: "-".join(of[:2]))
def test_an_investigators_act_is_by_an_investigator(
    users: Cli, tape: PostgresTape, tmp_path: Path, command: tuple[str, ...]
) -> None:
    gate(users, tmp_path, command, "S-keeper")
    assert recorded(tape) == []
    let_in = signed(users, tmp_path, command, "S-inv", PASSWORD)
    assert not any(each in let_in.err for each in ("no role", "is wrong", "No user")), "the control"


@pytest.mark.long
@pytest.mark.parametrize("command", KEEPERS, ids=lambda of: "-".join(of[:2]))
def test_keys_grants_and_rules_are_by_who_keeps_the_record(
    users: Cli, tape: PostgresTape, tmp_path: Path, command: tuple[str, ...]
) -> None:
    gate(users, tmp_path, command, "S-inv")
    assert recorded(tape) == []
    let_in = signed(users, tmp_path, command, "S-keeper", PASSWORD)
    assert not any(each in let_in.err for each in ("no role", "is wrong", "No user")), "the control"


def test_an_entry_of_the_log_names_who_signed_it(
    users: Cli, tape: PostgresTape, tmp_path: Path
) -> None:
    """By their credential, though the sign-in name was typed. Nobody is named without a sign-in."""
    add = ("logbook", "add", *ENTRY)
    assert users(*add, "--by", "S-inv").code == 2, "no password"
    assert signed(users, tmp_path, add, "S-pit", PASSWORD).code == 2, "another role"
    assert signed(users, tmp_path, add, "S-inv", "another horse").code == 2
    assert recorded(tape) == []
    written = signed(users, tmp_path, add, "inv", PASSWORD)
    assert written.code == 0, written.err
    [row] = recorded(tape)
    assert (json.loads(row.data)["by"], tape.sender_of(1)) == ("S-inv", "user:inv")


@pytest.mark.long
def test_hands_are_recorded_by_who_signed_and_need_nobody_without_users(
    ledger: Cli, database: Database, tape: PostgresTape, tmp_path: Path
) -> None:
    of_nobody = ("import-phh", "hand.phh", "--table", "T-1")
    assert ledger(*of_nobody, cwd=tmp_path).code == 0
    count = len(recorded(tape))
    assert (tape.sender_of(count) or "").startswith("os:")
    with closing(AccessDatabase(database)) as access:
        add_user(access, "keeper", "ops")
    again = ("import-phh", "hand.phh", "--table", "T-2")
    nobody = ledger(*again, cwd=tmp_path)
    assert (nobody.code, "nobody is named" in nobody.err) == (2, True)
    assert len(recorded(tape)) == count
    assert signed(ledger, tmp_path, again, "S-keeper", PASSWORD).code == 0
    assert len(recorded(tape)) == 2 * count
    assert tape.sender_of(count + 1) == "user:keeper"


def test_without_users_a_command_records_who_is_typed(ledger: Cli, tape: PostgresTape) -> None:
    """The control of the test before."""
    assert ledger("logbook", "add", *ENTRY, "--by", "S-9").code == 0
    [row] = recorded(tape)
    assert json.loads(row.data)["by"] == "S-9"
    assert (tape.sender_of(1) or "").startswith("os:")


def test_a_submission_names_who_filed_it(
    ledger: Cli, database: Database, tape: PostgresTape, tmp_path: Path
) -> None:
    """Without users nobody has to be named; the same submission is not filed again."""
    file = ("submissions", "file", str(tmp_path / "submission.json"))
    assert ledger(*file).code == 0
    with closing(AccessDatabase(database)) as access:
        add_user(access, "keeper", "ops")
    nobody = ledger(*file, "--table", "CC-02")
    assert (nobody.code, "nobody is named" in nobody.err) == (2, True)
    again = signed(ledger, tmp_path, file, "S-keeper", PASSWORD)
    assert (again.code, "same submission is in force" in again.err) == (2, True)
    filed = signed(ledger, tmp_path, (*file, "--table", "CC-02"), "S-keeper", PASSWORD)
    assert filed.code == 0, filed.err
    first, second = (json.loads(row.data) for row in recorded(tape))
    assert ("by" in first, second["by"]) == (False, "S-keeper")


def test_a_dossier_of_a_ledger_with_users_is_not_written_for_nobody(
    users: Cli, tmp_path: Path
) -> None:
    nobody = users("dossier", ROUND, cwd=tmp_path)
    assert (nobody.code, "nobody is named" in nobody.err) == (2, True)
    named = signed(users, tmp_path, ("dossier", ROUND), "S-inv", PASSWORD)
    assert "nobody is named" not in named.err, "the control"


@pytest.mark.parametrize(
    ("sender", "is_quarantined"), [("os:anna", True), ("user:keeper", True), ("a-device", False)]
)
def test_a_person_who_signed_in_brings_nothing_alone_that_waits_in_quarantine(
    users: Cli, tape: PostgresTape, sender: str, *, is_quarantined: bool
) -> None:
    del users
    brought = fact(1)
    why = ("invalid_field", "It is not valid.", "$.data", "Send it again.")
    tape.append([Quarantined(b"{}", *why, brought.source, brought.id)])
    [judged] = Door(tape).judged([brought], sender)
    assert isinstance(judged, Quarantined) == is_quarantined
