"""Proofs that the facts of a dossier are in the witnessed log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.sealer.proofs import proof_of
from infra.tile_folder import TileFolder
from ledger.errors import LedgerError
from replay.dossier.writing.evidence import SealedFact
from replay.shell.settings import in_force

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledger.record.tape import TapeRow


def house_log() -> TileFolder:
    """The witnessed log of this home."""
    return TileFolder(in_force().log_folder)


def sealed_facts(folder: TileFolder, rows: Iterable[TapeRow]) -> list[SealedFact]:
    """The proof of the newest of these facts on each tape that is sealed, by tape.

    None if there is no log, or if its files cannot be read here.
    """
    proofs: dict[str, SealedFact] = {}
    try:
        if folder.has_begun:
            for row in sorted(rows, key=lambda each: each.table_seq, reverse=True):
                if row.tape not in proofs and (proof := proof_of(folder, row)):
                    proofs[row.tape] = SealedFact(row.tape, row.table_seq, proof)
    except (LedgerError, OSError):
        return []
    return [proofs[tape] for tape in sorted(proofs)]
