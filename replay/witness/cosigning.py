"""What a witness answers to a log that asks for a cosignature (C2SP tlog-witness)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ledger.errors import LedgerError, Refused
from ledger.witnessed_log.checkpoints import checkpoint_from_text, hashes_from_lines
from ledger.witnessed_log.signed_notes import sign, split, verified
from ledger.witnessed_log.tree import EMPTY_ROOT, is_consistent
from replay.witness.store import SeenTree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.witnessed_log.checkpoints import Checkpoint
    from ledger.witnessed_log.signed_notes import SignerKey, VerifierKey
    from replay.witness.store import SeenTrees

SIZE_TYPE = "text/x.tlog.size"
_OLD = re.compile(r"old (0|[1-9][0-9]{0,18})")
_WHERE = "the request"


class WitnessAnswer(NamedTuple):
    """Status, text and type of an answer."""

    status: int
    text: str
    type: str = "text/plain"


class CosignRequest(NamedTuple):
    """A checkpoint, and the proof that it continues the tree of `old_size` leaves."""

    old_size: int
    proof: list[bytes]
    note: str
    text: str  # the note without its signatures
    checkpoint: Checkpoint


def cosign(
    body: str,
    logs: Mapping[str, VerifierKey],
    key: SignerKey,
    seen: SeenTrees,
    now_s: int,
) -> WitnessAnswer:
    """The answer to `add-checkpoint`: a cosignature only if nothing was taken back.

    logs: the keys of known logs, by name.
    """
    try:
        request = _request(body)
    except LedgerError as error:
        return WitnessAnswer(400, f"{error.what}\n")
    log = logs.get(request.checkpoint.origin)
    if log is None:
        return WitnessAnswer(404, "The log is not known here.\n")
    try:
        _, held = verified(request.note, [log], _WHERE)
    except LedgerError:
        held = []
    if not held:
        return WitnessAnswer(403, "The log's signature does not hold.\n")
    if request.old_size > request.checkpoint.size:
        return WitnessAnswer(400, "The old size is larger than the new one.\n")
    with seen.changing(log.name) as (newest, new):
        refused = _refused(request, newest)
        if refused is None:
            line = sign(request.text, key, now_s)
            note = f"{request.text}\n{_line_of(request.note, log)}{line}"
            new.append(SeenTree(request.checkpoint.size, request.checkpoint.root, note))
    return refused or WitnessAnswer(200, line)


def _refused(request: CosignRequest, newest: SeenTree) -> WitnessAnswer | None:
    """Why there is no cosignature, beside the newest tree that was cosigned; or None."""
    if request.old_size != newest.size:
        return WitnessAnswer(409, f"{newest.size}\n", SIZE_TYPE)
    _, size, root = request.checkpoint
    if newest.size == 0:
        continues = not request.proof and (size > 0 or root == EMPTY_ROOT)
    else:
        continues = is_consistent(newest.size, size, newest.root, root, request.proof)
    if not continues:
        return WitnessAnswer(422, "The log does not continue what was cosigned before.\n")
    return None


def _request(body: str) -> CosignRequest:
    head, gap, note = body.partition("\n\n")
    old, *lines = head.split("\n")
    found = _OLD.fullmatch(old)
    if not found or not gap:
        raise Refused("This is not a request to cosign.", where=_WHERE, hint="See tlog-witness.")
    text, _ = split(note, _WHERE)
    proof = hashes_from_lines(lines, _WHERE)
    return CosignRequest(int(found[1]), proof, note, text, checkpoint_from_text(text, _WHERE))


def _line_of(note: str, key: VerifierKey) -> str:
    """The line of a key's signature, which holds, in a note."""
    for line in split(note, _WHERE)[1]:
        alone = note.rpartition("\n\n")[0] + "\n\n" + line
        try:
            if verified(alone, [key], _WHERE)[1]:
                return line
        except LedgerError:
            continue
    return ""
