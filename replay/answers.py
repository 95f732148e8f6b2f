"""What a sender is told of each fact: the same object from `ingest --json` and over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.tape import Counters, Quarantined

if TYPE_CHECKING:
    from collections import Counter

    from ledger.tape import Receipt, Received

Answer = dict[str, str | int | None]
"""A verdict and its receipt; of a malformed input also what, where and what to do."""


def answer(judged: Received | Quarantined, receipt: Receipt) -> Answer:
    """The answer to one received fact."""
    said: Answer = {
        "verdict": receipt.verdict,
        "source": receipt.source,
        "id": receipt.id,
        "position": receipt.position,
        "table_seq": receipt.table_seq,
        "hash": receipt.hash.hex() if receipt.hash else None,
        "reason": receipt.reason,
    }
    if receipt.quarantine_id is not None:
        said["quarantine_id"] = receipt.quarantine_id
    if isinstance(judged, Quarantined):
        said |= {"what": judged.what, "where": judged.where, "hint": judged.hint}
    return said


def totals(verdicts: Counter[str]) -> Counters:
    """How many of each verdict; received is their sum, because each input has one."""
    names = Counters._fields[1:]
    return Counters(sum(verdicts.values()), *(verdicts[name] for name in names))
