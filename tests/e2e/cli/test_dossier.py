"""`dossier` as a user runs it: made from a record, handed over, checked by a stranger."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING, NamedTuple

import pytest

from infra.postgres.server.embedded import embedded
from tests.fixtures.cli import Cli, environ

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Floor(NamedTuple):
    """A small floor with footage taken in, a signing key, and a disputed round."""

    cli: Cli
    folder: Path
    round: str  # the round whose overpayment was filmed, with its property
    key: str  # the house's public key

    def checked(self, where: Path, *more: str | Path, alone: Path) -> tuple[int, str]:
        """What a stranger's Python says of it, in an empty folder."""
        alone.mkdir(exist_ok=True)
        verify = alone / "verify.py"
        if where.is_dir():
            shutil.copy(where / "verify.py", verify)
        else:
            with zipfile.ZipFile(where) as archive:
                verify.write_bytes(archive.read("verify.py"))
        ran = subprocess.run(
            [sys.executable, "-I", "-S", verify, "--key", self.key, *more, where],
            cwd=alone, env={}, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        return ran.returncode, ran.stdout + ran.stderr


@pytest.fixture(scope="module")
def floor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Floor]:
    folder = tmp_path_factory.mktemp("floor")
    home, out = folder / "home", folder / "dealt"
    cli = Cli(environ(home))
    with embedded(home):  # held, so that each command need not start it
        made = cli(
            "simulate", "--tables", "1", "--hours", "0.3", "--seed", "11", "--mistake",
            "overpay", "--strip", "--footage", "mistakes", "--out", out,
        )  # fmt: skip
        assert made.code == 0, made.err
        assert cli("ingest", out / "feed.jsonl", out / "footage.jsonl", "--json").code == 0
        for camera in (out / "footage").iterdir():
            added = cli("footage", "add", camera, "--camera", camera.name)
            assert added.code == 0, added.err
        key = cli("keys", "signing", "make", "--json").json[0]["public"]
        planted = json.loads((out / "truth.jsonl").read_text().splitlines()[0])
        yield Floor(cli, out, f"hollywood:{planted['round']}", key)


def custody(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader((folder / "custody.csv").read_text().splitlines()))


@pytest.mark.long
def test_a_dossier_proves_itself_to_a_stranger_as_a_folder_and_as_a_zip(
    floor: Floor, tmp_path: Path
) -> None:
    for out, more in ((tmp_path / "folder", ()), (tmp_path / "one.zip", ("--zip",))):
        ran = floor.cli("dossier", floor.round, "--by", "S-2001", "--out", out, *more)
        assert ran.code == 0, ran.err
        assert "UNSIGNED" not in ran.err
        code, said = floor.checked(out, alone=tmp_path / "empty")
        assert code == 0, said
        assert said.rstrip().endswith("HOLDS: all checks passed.")


@pytest.mark.long
def test_segments_go_out_byte_for_byte_as_recorded_and_clips_beside_them(
    floor: Floor, tmp_path: Path
) -> None:
    out = tmp_path / "dossier"
    assert floor.cli("dossier", floor.round, "--by", "S-2001", "--out", out).code == 0
    filmed = {
        hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (floor.folder / "footage").rglob("*")
        if path.is_file()
    }
    originals = [path.read_bytes() for path in (out / "footage").iterdir()]
    assert originals
    assert {hashlib.sha256(each).hexdigest() for each in originals} <= filmed
    assert list((out / "clips").iterdir())
    assert list((out / "frames").iterdir())
    told = json.loads((out / "manifest.json").read_bytes())
    kinds = {each["kind"] for each in told["footage"]}
    assert kinds == {"original", "clip", "frame"}
    before, after = told["making"]["pre_s"], told["making"]["post_s"]
    assert (before, after) == (8, 12)


@pytest.mark.long
def test_more_footage_around_the_round_goes_out_where_it_is_asked_for(
    floor: Floor, tmp_path: Path
) -> None:
    counts = []
    for name, seconds in (("none", "0"), ("much", "3600")):
        args = ("--pre", seconds, "--post", seconds, "--by", "S-2001")
        assert floor.cli("dossier", floor.round, *args, "--out", tmp_path / name).code == 0
        counts.append(sum(path.stat().st_size for path in (tmp_path / name / "footage").iterdir()))
    assert counts[0] < counts[1]


@pytest.mark.long
def test_every_export_is_on_record_with_who_and_why_and_a_refused_one_is_not(
    floor: Floor, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    args = ("--by", "S-2099", "--because", "The patron's lawyer asked.")
    assert floor.cli("dossier", floor.round, *args, "--out", first).code == 0
    mine = [each for each in custody(first) if each["by"] == "S-2099"]
    assert [(each["what"], each["because"]) for each in mine] == [
        ("exported", "The patron's lawyer asked.")
    ]
    assert floor.cli("dossier", floor.round, *args, "--out", first).code == 2
    assert floor.cli("dossier", floor.round, "--by", "S-2001", "--out", second).code == 0
    again = [each for each in custody(second) if each["by"] == "S-2099"]
    assert again == mine


@pytest.mark.long
def test_without_a_name_the_login_is_on_record(floor: Floor, tmp_path: Path) -> None:
    assert floor.cli("dossier", floor.round, "--out", tmp_path / "d").code == 0
    assert any(each["by"].startswith("login:") for each in custody(tmp_path / "d"))


@pytest.mark.long
def test_a_dossier_of_a_dispute_has_its_facts_its_locks_and_what_was_paid(
    floor: Floor, tmp_path: Path
) -> None:
    subject = floor.round.partition(":")[2]
    raised = floor.cli(
        "dispute", "raise", subject, "--position", "3", "--claim", "I was paid short.",
        "--by", "F-3001", "--json",
    )  # fmt: skip
    assert raised.code == 0, raised.err
    name = raised.json[0]["dispute"]
    floor.cli("dispute", "observe", name, "--saw", "Paid too much", "--by", "S-2001")
    floor.cli("dispute", "resolve", name, "--outcome", "Claim refused.", "--by", "S-2002")
    out = tmp_path / "dossier"
    ran = floor.cli("dossier", name, "--by", "S-2001", "--out", out)
    assert ran.code == 0, ran.err
    kinds = {json.loads(each)["type"] for each in (out / "case.jsonl").read_bytes().splitlines()}
    assert {
        "roundledger.dispute_raised.v1",
        "roundledger.observation_recorded.v1",
        "roundledger.dispute_resolved.v1",
        "roundledger.footage_locked.v1",
    } <= kinds
    assert "locked" in {each["what"] for each in custody(out)}
    report = (out / "report.html").read_text()
    assert "I was paid short." in report
    assert "Claim refused." in report
    code, said = floor.checked(out, alone=tmp_path / "empty")
    assert code == 0, said
    assert json.loads((out / "manifest.json").read_bytes())["dispute"] == name


@pytest.mark.long
def test_whoever_makes_the_dossier_of_an_open_dispute_is_on_record_as_shown_the_claim(
    floor: Floor, tmp_path: Path
) -> None:
    raised = floor.cli(
        "dispute", "raise", floor.round.partition(":")[2], "--position", "2",
        "--claim", "Mine too.", "--by", "F-3001", "--json",
    )  # fmt: skip
    name = raised.json[0]["dispute"]
    for out in (tmp_path / "one", tmp_path / "two", tmp_path / "one"):
        floor.cli("dossier", name, "--by", "S-2077", "--out", out)
    floor.cli("dossier", name, "--by", "F-3001", "--out", tmp_path / "three")
    facts = (tmp_path / "three" / "case.jsonl").read_bytes().splitlines()
    case = [json.loads(each) for each in facts]
    shown = [each["data"]["by"] for each in case if "claim_revealed" in each["type"]]
    assert shown == ["S-2077"]


@pytest.mark.long
def test_a_name_that_is_neither_a_round_nor_a_dispute_is_told(floor: Floor) -> None:
    for name in ("D-nowhere", "CC-99/2026-11-20/1"):
        ran = floor.cli("dossier", name, "--out", floor.folder / "none")
        assert (ran.code, ran.out) == (2, "")
        assert "Traceback" not in ran.err
    assert not (floor.folder / "none").exists()


@pytest.mark.long
def test_heads_kept_elsewhere_hold_against_the_record_and_against_the_dossier(
    floor: Floor, tmp_path: Path
) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_text(floor.cli("verify", "--json").out)
    out = tmp_path / "dossier"
    assert floor.cli("dossier", floor.round, "--by", "S-2001", "--out", out).code == 0
    assert floor.cli("verify", "--head", out / "heads.jsonl").code == 0
    code, said = floor.checked(out, "--head", kept, alone=tmp_path / "empty")
    assert code == 0, said
    assert "is in this dossier with the same hash" in said


@pytest.mark.long
def test_the_same_record_gives_the_same_files_but_for_what_tells_of_the_making(
    floor: Floor, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        made = floor.cli("dossier", floor.round, "--by", "S-2001", "--out", tmp_path / name)
        assert made.code == 0
    one, two = (
        {
            path.relative_to(tmp_path / name).as_posix(): path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        for name in ("one", "two")
    )
    assert one.keys() == two.keys()
    differing = {name for name in one if one[name] != two[name]}
    signed = {name for name in one if name.startswith("clips/")}  # a signature is made by chance
    assert signed
    assert differing - signed <= {
        "custody.csv", "custody.jsonl", "heads.jsonl", "manifest.json", "manifest.sig",
        "proof.jsonl", "report.html", "report.pdf", "ruling.pdf", "SHA256SUMS",
    }  # fmt: skip
