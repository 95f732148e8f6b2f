"""Proofs that a fact is in the witnessed log: made from the log, checked without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from infra.postgres import tape
from infra.postgres.connection import translated
from ledger.errors import NotFound, Refused
from ledger.witnessed_log.checkpoints import (
    Checkpoint,
    LeafProof,
    checkpoint_from_text,
    proof_from_text,
)
from ledger.witnessed_log.entries import LogEntry, entry_from, of_fact
from ledger.witnessed_log.signed_notes import split, verified
from ledger.witnessed_log.tree import inclusion_proof, leaf_hash, root_by_inclusion

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import Database
    from infra.tile_folder import TileFolder
    from ledger.record.tape import TapeRow
    from ledger.witnessed_log.signed_notes import Signed, VerifierKey


class VerifiedLeaf(NamedTuple):
    """An entry that a proof shows to be in a log."""

    entry: LogEntry
    leaf: int  # its number, from 0
    checkpoint: Checkpoint
    signed: Sequence[Signed]


def prove(database: Database, folder: TileFolder, source: str, fact_id: str) -> LeafProof:
    """The proof that a fact is in the log's newest checkpoint.

    Raises `NotFound` for a fact that is not on record or not sealed yet, and `Refused` for one that
    is not what was sealed.
    """
    proof = proof_of(folder, _fact(database, source, fact_id))
    if proof is None:
        raise NotFound(
            "The fact is not sealed yet",
            where=f"{source} {fact_id}",
            hint="The sealer seals it within a minute: `round-ledger log seal`.",
        )
    return proof


def proof_of(folder: TileFolder, row: TapeRow) -> LeafProof | None:
    """The proof that a fact is in the log's newest checkpoint; None if it is not sealed yet.

    Raises `Refused` for a fact that is not what was sealed.
    """
    note = folder.checkpoint()
    if note is None:
        return None
    size = checkpoint_from_text(split(note, "")[0], "").size
    index = _index_of(folder, row.position, size)
    if index is None:
        return None
    entry = folder.entry(index, size)
    if entry != of_fact(row):
        raise Refused(
            "The fact is not what was sealed",
            where=f"position {row.position:,}",
            hint="Run `round-ledger log check`, and keep the database as evidence.",
        )
    return LeafProof(index, inclusion_proof(index, size, folder.hashes(size)), note, entry.octets)


def verified_leaf(text: str, keys: Sequence[VerifierKey], where: str) -> VerifiedLeaf:
    """What a proof shows, by the keys of a log (the first) and of witnesses. Raises `Refused`."""
    proof = proof_from_text(text, where)
    body, signed = verified(proof.note, list(keys), where)
    checkpoint = checkpoint_from_text(body, where)
    if keys[0] not in [each.key for each in signed]:
        raise Refused(
            f"The proof's checkpoint is not signed by {keys[0].name}",
            where=where,
            hint="Give the public key of the log, which was handed over when it began.",
        )
    entry = entry_from(proof.extra, where)
    leaf = leaf_hash(proof.extra)
    if root_by_inclusion(leaf, proof.leaf, checkpoint.size, proof.hashes) != checkpoint.root:
        raise Refused(
            "The proof does not lead to the root that was signed",
            where=where,
            hint="The entry or the proof was changed.",
        )
    return VerifiedLeaf(entry, proof.leaf, checkpoint, signed)


def _fact(database: Database, source: str, fact_id: str) -> TapeRow:
    with database.connect("ledger_sealer") as connection, translated(database):
        rows = tape.with_id_prefix(connection, source, fact_id) if fact_id else []
    for row in rows:
        if row.id == fact_id:
            return row
    raise NotFound(
        "There is no such fact",
        where=f"{source} {fact_id}",
        hint="Give the source and the id as the device sent them.",
    )


def _index_of(folder: TileFolder, position: int, size: int) -> int | None:
    """The leaf of the fact at a position; None if it is not among the first `size` leaves.

    Facts are in order and few entries are of other kinds: each look skips all facts still ahead.
    """
    index = position - 1
    while index < size:
        entry = folder.entry(index, size)
        if entry.kind != "fact":
            index += 1
        elif entry.number == position:
            return index
        elif entry.number > position:
            return None
        else:
            index += position - entry.number
    return None
