"""A device is enrolled, sends, is refused, is rotated and revoked, all as people do it."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from replay.roster.key_files import load, sign_line
from tests.fixtures.cli import Cli, feed, lines

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.tape import PostgresTape


@pytest.mark.long
def test_a_device_is_enrolled_rotated_and_revoked(
    cli: Cli, tmp_path: Path, tape: PostgresTape
) -> None:
    source = json.loads(lines(1)[0])["source"]
    first, second, third, fourth = lines(4)
    key, new = tmp_path / "shoe.key", tmp_path / "shoe-2.key"
    enrol = ("keys", "enrol", "--as", "table_terminal", "--source", source, "--by", "IT-7")
    assert cli("ingest", feed(tmp_path / "1", [first]), "--json").json[0]["verdict"] == "appended"
    [made] = cli(*enrol, "--private-key", key, "--json").json
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert cli(*enrol, "--private-key", key).code == 2, "no file is written over"

    def verdicts(*sent: bytes) -> list[tuple[str, str | None]]:
        told = cli("ingest", feed(tmp_path / "again", list(sent)), "--json").json[:-1]
        return [(each["verdict"], each["reason"]) for each in told]

    shoe = load(key)
    assert shoe.key == made["key"]
    assert verdicts(second, sign_line(second, shoe)) == [
        ("quarantined", "unsigned"),
        ("appended", None),
    ]
    assert tape.sender_of(2 + 1).startswith(f"key:{shoe.key} os:")  # type: ignore[union-attr]

    [turned] = cli("keys", "rotate", "--old", key, "--private-key", new, "--by", "I", "--json").json
    assert (turned["replaces"], turned["source"]) == (shoe.key, source)
    assert verdicts(sign_line(third, shoe), sign_line(second, load(new))) == [
        ("quarantined", "key_revoked"),
        ("duplicate", None),
    ]
    assert cli("keys", "revoke", turned["key"]).code == 2, "by whom and why is on record"
    assert cli("keys", "revoke", turned["key"], "--by", "I", "--because", "Sold").code == 0
    assert verdicts(sign_line(fourth, load(new))) == [("quarantined", "key_revoked")]
    listed = {each["key"]: each for each in cli("keys", "list", "--json").json}
    assert listed[shoe.key]["replaced_by"] == turned["key"]
    assert listed[turned["key"]]["revoked"]

    aside = cli("quarantine", "list", "--json").json
    assert [each["reason"] for each in aside] == ["unsigned", "key_revoked", "key_revoked"]
    assert cli("quarantine", "release", "3").code == 0
    newest = tape.heads()
    assert tape.sender_of(max(head.position for head in newest)).startswith("os:")  # type: ignore[union-attr]
    assert cli("verify").code == 0


@pytest.mark.long
def test_a_simulated_floor_signs_and_is_accepted(cli: Cli, tmp_path: Path) -> None:
    floor = tmp_path / "floor"
    dealt = ("simulate", "--sign", "--hours", "0.1", "--tables", "2", "--out", floor, "--json")
    [counted] = cli(*dealt).json
    roster = floor / "keys" / "roster.jsonl"
    assert counted["keys"] == len(roster.read_bytes().splitlines()) > 5
    load = ("keys", "load", roster, "--by", "IT-7", "--json")
    assert cli(*load).json == [{"keys": counted["keys"], "loaded": counted["keys"]}]
    assert cli(*load).json == [{"keys": counted["keys"], "loaded": 0}]
    told = cli("ingest", floor / "feed.jsonl", "--json").json[-1]
    assert told == {
        "received": counted["facts"], "appended": counted["facts"], "duplicate": 0,
        "equivocation": 0, "quarantined": 0,
    }  # fmt: skip

    key = floor / "keys" / "hollywood.CC-01.shoe.key"
    of_one = [
        line for line in (floor / "feed.jsonl").read_bytes().splitlines() if b"CC-01/shoe" in line
    ]
    again = cli("ingest", feed(tmp_path / "again", of_one), "--sign", key, "--json").json[-1]
    assert again["duplicate"] == len(of_one)


@pytest.mark.long
def test_grants_are_listed_and_set(cli: Cli, tmp_path: Path) -> None:
    roles = {each["role"] for each in cli("grants", "list", "--json").json}
    assert {
        "shoe",
        "table_terminal",
        "layout",
        "eye",
        "cage_terminal",
        "count_scale",
        "camera",
    } <= roles
    path = tmp_path / "grants.json"
    path.write_text('[{"facts": ["cards_dealt"], "tables": ["CC-01"]}]')
    setting = ("grants", "set", "spare_shoe", path, "--by", "IT-7", "--because", "A spare")
    assert cli(*setting).code == 0
    [spare] = [
        each for each in cli("grants", "list", "--json").json if each["role"] == "spare_shoe"
    ]
    assert spare == {
        "role": "spare_shoe", "facts": ["cards_dealt"], "tables": ["CC-01"], "cameras": "own",
    }  # fmt: skip
    path.write_text('[{"facts": ["key_enrolled"]}]')
    assert cli(*setting).code == 2
