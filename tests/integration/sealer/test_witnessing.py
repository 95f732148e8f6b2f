"""Witnesses of a sealed record: who set it back, rewrote or forked it, gets no cosignature."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from consumers.sealer.check import signed_checkpoint
from consumers.sealer.proofs import prove, verified_leaf
from consumers.sealer.sealer import SealedLog, seal
from consumers.sealer.witnesses import Witness
from infra.tile_folder import TileFolder
from ledger.errors import Refused
from ledger.witnessed_log.checkpoints import Checkpoint, hash_text, proof_text
from ledger.witnessed_log.signed_notes import COSIGNATURE, SIGNATURE, new_key
from ledger.witnessed_log.tree import consistency_proof
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.witnessed_log.signed_notes import VerifierKey
    from tests.integration.sealer.conftest import RunningWitness

    RunWitness = Callable[[str, VerifierKey], AbstractContextManager[RunningWitness]]

KEY = new_key("ledger.example/record", SIGNATURE)
GO_PACKAGES = Path("/usr/share/gocode")


class Counted:
    """Keeps how many witnesses cosigned each checkpoint."""

    def __init__(self) -> None:
        self.cosigned: list[tuple[int, int]] = []

    def looked(self) -> None:
        pass

    def sealed(self, checkpoint: Checkpoint, witnesses: int) -> None:
        self.cosigned.append((checkpoint.size, witnesses))


def sealed(
    database: Database, folder: TileFolder, witnesses: Sequence[Witness]
) -> list[tuple[int, int]]:
    counted = Counted()
    log = SealedLog(folder, KEY, witnesses)
    seal(database, log, stop=lambda: True, listener=counted, follow=False)
    return counted.cosigned


def test_each_checkpoint_carries_the_cosignatures_of_two_witnesses(
    database: Database, tape: PostgresTape, folder: TileFolder, witness: RunWitness
) -> None:
    with witness("one.example", KEY.verifier) as one, witness("two.example", KEY.verifier) as two:
        both = [one.asked, two.asked]
        tape.append([fact(n) for n in range(300)])
        assert sealed(database, folder, both) == [(301, 2)]
        tape.append([fact(n) for n in range(300, 310)])
        assert sealed(database, folder, both) == [(312, 2)]
        keys = [KEY.verifier, one.asked.key, two.asked.key]
        checkpoint, signed = signed_checkpoint(folder, keys)
        assert [(each.key.name, each.time_s) for each in signed] == [
            ("ledger.example/record", None),
            ("one.example", 1_700_000_000),
            ("two.example", 1_700_000_000),
        ]
        assert one.asked.newest(KEY.verifier.name) == checkpoint
        row = tape.read(4, 1)[0]
        text = proof_text(prove(database, folder, row.source, row.id))
        assert len(verified_leaf(text, keys, "here").signed) == 3


def test_a_witness_that_is_down_stops_nothing_and_cosigns_later(
    database: Database, tape: PostgresTape, folder: TileFolder, witness: RunWitness
) -> None:
    with witness("one.example", KEY.verifier) as one:
        pass  # it has ended
    tape.append([fact(1)])
    assert sealed(database, folder, [one.asked]) == [(2, 0)]
    with witness("two.example", KEY.verifier) as two:
        tape.append([fact(2)])
        assert sealed(database, folder, [one.asked, two.asked]) == [(4, 1)]


def test_a_witness_of_other_logs_and_one_with_another_key_count_for_nothing(
    database: Database, tape: PostgresTape, folder: TileFolder, witness: RunWitness
) -> None:
    tape.append([fact(1)])
    other = new_key("another.example", SIGNATURE).verifier
    with witness("one.example", other) as one, witness("two.example", KEY.verifier) as two:
        false = Witness(two.asked.address, new_key("two.example", COSIGNATURE).verifier)
        assert sealed(database, folder, [one.asked, false]) == [(2, 0)]


def test_a_log_that_was_set_back_is_refused_before_it_seals_anything(
    database: Database, tape: PostgresTape, folder: TileFolder, witness: RunWitness
) -> None:
    """An old copy of the folder is restored: the record would go on from an old state."""
    with witness("one.example", KEY.verifier) as one:
        tape.append([fact(n) for n in range(10)])
        sealed(database, folder, [one.asked])
        copy = folder.folder.with_name("copy")
        shutil.copytree(folder.folder, copy)
        tape.append([fact(n) for n in range(10, 20)])
        sealed(database, folder, [one.asked])
        with pytest.raises(Refused, match="was set back"):
            sealed(database, TileFolder(copy), [one.asked])
        assert sealed(database, TileFolder(copy), []) != [], "without a witness nobody can tell"


@pytest.mark.parametrize("more", [0, 5], ids=["same-size", "longer"])
def test_a_rewritten_log_is_refused(
    database: Database,
    tape: PostgresTape,
    folder: TileFolder,
    witness: RunWitness,
    tmp_path: Path,
    more: int,
) -> None:
    """The whole log is made again from another record, with the log's own key."""
    with witness("one.example", KEY.verifier) as one:
        tape.append([fact(n) for n in range(10)])
        sealed(database, folder, [one.asked])
        with database.connect("ledger_owner") as connection:
            connection.execute("ALTER TABLE ledger.tape DISABLE TRIGGER ALL")
            connection.execute("UPDATE ledger.tape SET received_at_us = received_at_us + 1")
            connection.execute("ALTER TABLE ledger.tape ENABLE TRIGGER ALL")
        tape.append([fact(n) for n in range(10, 10 + more)])
        forged = TileFolder(folder.folder.with_name("forged"))
        forged.begin()
        assert sealed(database, forged, []), "alone it is a log like any other"
        with pytest.raises(Refused, match="not those that"):
            sealed(database, forged, [one.asked])


def test_a_forked_log_is_refused_by_the_witness_even_if_nobody_compares_first(
    database: Database, tape: PostgresTape, folder: TileFolder, witness: RunWitness, tmp_path: Path
) -> None:
    """A second log of the same key, which its witness has not seen, asks for a cosignature."""
    with witness("one.example", KEY.verifier) as one:
        tape.append([fact(n) for n in range(10)])
        forged = TileFolder(folder.folder.with_name("forged"))
        forged.begin()
        asked = Witness(one.asked.address, one.asked.key)
        with database.connect("ledger_owner") as connection:
            connection.execute("ALTER TABLE ledger.tape DISABLE TRIGGER ALL")
            sealed(database, folder, [one.asked])
            connection.execute("UPDATE ledger.tape SET received_at_us = received_at_us + 1")
        sealed(database, forged, [])
        size = forged.grown().size
        note = forged.checkpoint() or ""
        with pytest.raises(Refused, match="not those that"):
            asked.cosigned(forged, Checkpoint(KEY.verifier.name, size, forged.root(size)), note)


@pytest.mark.long
def test_go_verifies_the_checkpoint_a_fact_and_the_growth(
    database: Database, tape: PostgresTape, folder: TileFolder, tmp_path: Path
) -> None:
    """Another implementation reads what this one wrote, and refuses it when it is changed."""
    go = shutil.which("go")
    if go is None or not (GO_PACKAGES / "src/golang.org/x/mod/sumdb/tlog").is_dir():
        pytest.skip("Go with the package golang.org/x/mod is not installed")
    tape.append([fact(n) for n in range(700)])
    sealed(database, folder, [])
    old_size = folder.grown().size
    old_root = hash_text(folder.root(old_size))
    tape.append([fact(n) for n in range(700, 1_000)])
    sealed(database, folder, [])
    size = folder.grown().size
    row = tape.read(620, 1)[0]
    proof = prove(database, folder, row.source, row.id)
    growth = consistency_proof(old_size, size, folder.hashes(size))
    given = {
        "note": proof.note,
        "key": str(KEY.verifier),
        "entry": proof.extra.decode(),
        "leaf": proof.leaf,
        "proof": [hash_text(each) for each in proof.hashes],
        "old_size": old_size,
        "old_root": old_root,
        "growth": [hash_text(each) for each in growth],
    }

    source = Path(__file__).parents[2] / "data" / "check_log.go"
    program = tmp_path / "check_log"
    environ = {"GO111MODULE": "off", "GOPATH": str(GO_PACKAGES), "HOME": str(tmp_path)}
    subprocess.run([go, "build", "-o", str(program), str(source)], env=environ, check=True)

    def says(**changed: object) -> str:
        octets = json.dumps({**given, **changed})
        run = subprocess.run([program], input=octets, capture_output=True, text=True, check=False)
        return run.stdout or run.stderr

    assert says() == "holds\n"
    assert "refused" in says(entry=f"fact 1 {'0' * 64}")
    assert "refused" in says(old_root=base64.b64encode(bytes(32)).decode())
    assert "refused" in says(note=proof.note.replace(f"\n{size}\n", f"\n{size + 1}\n"))
