"""The answer for each received fact: the same object from `ingest --json` and over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType

from ledger.record.tape import Counters, Quarantined, Verdict

if TYPE_CHECKING:
    from collections import Counter

    from ledger.record.tape import Receipt, Received, TapeRow


class Answer(Struct, frozen=True, kw_only=True):
    """A verdict and its receipt; for malformed input also what, where and what to do.

    `position` and `table_seq` are gapless from 1, over all tapes and on the fact's own; `hash` is
    the row's link in the chain, 64 hexadecimal digits. A duplicate has the original's receipt.
    """

    verdict: Verdict
    source: str | None
    id: str | None
    position: int | None
    table_seq: int | None
    hash: str | None
    reason: str | None
    quarantine_id: int | UnsetType = UNSET
    what: str | UnsetType = UNSET
    where: str | UnsetType = UNSET
    hint: str | UnsetType = UNSET


def answer(judged: Received | Quarantined, receipt: Receipt) -> Answer:
    """The answer to one received fact."""
    malformed = judged if isinstance(judged, Quarantined) else None
    return Answer(
        verdict=receipt.verdict,
        source=receipt.source,
        id=receipt.id,
        position=receipt.position,
        table_seq=receipt.table_seq,
        hash=receipt.hash.hex() if receipt.hash else None,
        reason=receipt.reason,
        quarantine_id=UNSET if receipt.quarantine_id is None else receipt.quarantine_id,
        what=malformed.what if malformed else UNSET,
        where=malformed.where if malformed else UNSET,
        hint=malformed.hint if malformed else UNSET,
    )


def appended(row: TapeRow) -> Answer:
    """The answer for a fact that was just appended."""
    return Answer(
        verdict="appended",
        source=row.source,
        id=row.id,
        position=row.position,
        table_seq=row.table_seq,
        hash=row.hash.hex(),
        reason=None,
    )


def totals(verdicts: Counter[str]) -> Counters:
    """The number of each verdict; received is their sum, because each input has one."""
    names = Counters._fields[1:]
    return Counters(sum(verdicts.values()), *(verdicts[name] for name in names))
