"""A dossier's proofs of the witnessed log, checked by `verify.py` with keys that the reader has."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest

from infra.tile_folder import TileFolder
from ledger.witnessed_log.checkpoints import Checkpoint, checkpoint_text, proof_text
from ledger.witnessed_log.entries import of_fact
from ledger.witnessed_log.signed_notes import COSIGNATURE, SIGNATURE, new_key, sign
from replay.checker import main
from replay.dossier.gathering.sealed import sealed_facts
from replay.dossier.writing.making import proof_file, write_dossier
from tests.fixtures.dossier import KEY
from tests.scenes.dossiers import HOUSE, evidence, record, redone
from tests.suite.memory import short_lived

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LOG = new_key("ledger.example/record", SIGNATURE)
WITNESS = new_key("witness.example", COSIGNATURE)
STRANGER = new_key("stranger.example", COSIGNATURE)
COSIGNED_S = 1_795_000_000


class SealedDossier(NamedTuple):
    folder: Path
    log: TileFolder

    def says(
        self, capsys: pytest.CaptureFixture[str], *keys: str, folder: Path | None = None
    ) -> tuple[int, str]:
        code = main.main([str(folder or self.folder), "--key", KEY, *keys])
        return code, capsys.readouterr().out


def sealed(log: TileFolder, count: int) -> None:
    """Seal the first facts of the record; a witness cosigns."""
    rows = record()[0].rows[:count]
    grown = log.append(log.grown(), [of_fact(row) for row in rows])
    text = checkpoint_text(Checkpoint(LOG.verifier.name, grown.size, log.root(grown.size)))
    log.publish(f"{text}\n{sign(text, LOG)}{sign(text, WITNESS, COSIGNED_S)}")


@pytest.fixture
def made(tmp_path: Path) -> Iterator[SealedDossier]:
    with short_lived("log") as place:
        yield dossier(tmp_path, TileFolder(place / "log"))


def dossier(tmp_path: Path, log: TileFolder) -> SealedDossier:
    log.begin()
    sealed(log, len(record()[0].rows))
    parts = tmp_path / "parts"
    parts.mkdir()
    found = evidence(parts)
    rows = [*found.stories[0].rows, *found.between]
    found = found._replace(sealed=sealed_facts(log, rows))
    write_dossier(found, tmp_path / "dossier", signer=HOUSE)
    return SealedDossier(tmp_path / "dossier", log)


def keys(*, log: object = LOG.verifier, witnesses: Sequence[object] = ()) -> list[str]:
    return ["--log", str(log), *(part for each in witnesses for part in ("--witness", str(each)))]


def test_the_log_and_its_witness_are_told_with_the_time(
    made: SealedDossier, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = made.says(capsys, *keys(witnesses=[WITNESS.verifier]))
    assert code == 0, said
    assert "newest sealed fact of each of 1 tapes is in the log ledger.example/record" in said
    assert "The log's checkpoint is signed by ledger.example/record." in said
    assert "The witness witness.example vouches: at 2026-11-18T" in said


def test_without_the_logs_key_it_is_said_that_nobody_vouches(
    made: SealedDossier, capsys: pytest.CaptureFixture[str]
) -> None:
    code, said = made.says(capsys)
    assert code == 0
    assert "Who signed the log's checkpoint is not checked" in said


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (keys(witnesses=[STRANGER.verifier]), "stranger.example has not signed"),
        (keys(log=new_key("other.example", SIGNATURE).verifier), "other.example has not signed"),
        (keys(log=new_key(LOG.verifier.name, SIGNATURE).verifier), "has not signed"),
    ],
)
def test_a_key_that_signed_nothing_breaks_it(
    made: SealedDossier, capsys: pytest.CaptureFixture[str], given: list[str], says: str
) -> None:
    code, said = made.says(capsys, *given)
    assert (code, says in said) == (1, True), said


def test_what_is_no_key_is_refused(made: SealedDossier, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = made.says(capsys, "--log", str(LOG.verifier)[:-4])
    assert (code, "is not the public key" in said) == (2, True)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("\nindex 1", "\nindex 2", "does not lead to the root"),
        ("extra Z", "extra Y", "is about another fact"),
        ("— ledger.example/record ", "— ledger.example/record A", "has not signed"),
        ("tlog-proof@v1", "tlog-proof@v2", "is not a proof"),
    ],
)
def test_a_changed_proof_breaks_it_though_the_house_signed_it_again(
    made: SealedDossier,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    says: str,
) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(made.folder, folder)
    (path,) = (folder / "log").iterdir()
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    redone(folder, HOUSE)
    code, said = made.says(capsys, *keys(witnesses=[WITNESS.verifier]), folder=folder)
    assert (code, says in said) == (1, True), said


def test_a_dossier_of_a_rewritten_record_does_not_fit_a_log_that_was_witnessed(
    made: SealedDossier, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The house rewrites a fact and its chain, and signs. The old proof is of another fact."""
    found = evidence(tmp_path / "parts")
    rows = list(found.stories[0].rows)
    true = sealed_facts(made.log, rows)
    (one,) = true
    forged = one._replace(proof=one.proof._replace(extra=of_fact(rows[0]).octets))
    out = tmp_path / "forged"
    write_dossier(found._replace(sealed=[forged]), out, signer=HOUSE)
    assert (out / proof_file(forged)).read_text() == proof_text(forged.proof)
    code, said = made.says(capsys, *keys(witnesses=[WITNESS.verifier]), folder=out)
    assert (code, "is about another fact" in said) == (1, True), said


def test_facts_that_are_not_sealed_yet_have_no_proof(tmp_path: Path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    rows = list(evidence(parts).stories[0].rows)
    log = TileFolder(tmp_path / "log")
    assert sealed_facts(log, rows) == [], "there is no log"
    log.begin()
    assert sealed_facts(log, rows) == [], "there is no checkpoint"
    sealed(log, rows[3].position)
    (newest,) = sealed_facts(log, rows)
    assert newest.table_seq == rows[3].table_seq
