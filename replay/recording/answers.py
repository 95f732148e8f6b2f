"""The answer for each received fact: the same object from `ingest --json` and over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from ledger.record.tape import Counters, Quarantined, Verdict

if TYPE_CHECKING:
    from collections import Counter

    from ledger.record.tape import Receipt, Received, TapeRow


class Answer(Struct, frozen=True, kw_only=True):
    """A verdict and its receipt; for what went to quarantine also what, where and what to do.

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


class _Reason(NamedTuple):
    """What is wrong with an input, where, and what to do."""

    what: str | UnsetType = UNSET
    where: str | UnsetType = UNSET
    hint: str | UnsetType = UNSET


_EQUIVOCATION = _Reason(
    "Another event is on record under this source and id",
    "$.id",
    "repeat an event with the same attributes and the same bytes of `data`, white space too; "
    "give another event an id of its own",
)


def answer(judged: Received | Quarantined, receipt: Receipt) -> Answer:
    """The answer to one received fact."""
    reason = _reason(judged, receipt.verdict)
    return Answer(
        verdict=receipt.verdict,
        source=receipt.source,
        id=receipt.id,
        position=receipt.position,
        table_seq=receipt.table_seq,
        hash=receipt.hash.hex() if receipt.hash else None,
        reason=receipt.reason,
        quarantine_id=UNSET if receipt.quarantine_id is None else receipt.quarantine_id,
        what=reason.what,
        where=reason.where,
        hint=reason.hint,
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


def _reason(judged: Received | Quarantined, verdict: Verdict) -> _Reason:
    """Why the input is in quarantine; nothing of one that is on record."""
    if isinstance(judged, Quarantined):
        return _Reason(judged.what, judged.where, judged.hint)
    return _EQUIVOCATION if verdict == "equivocation" else _Reason()


def totals(verdicts: Counter[str]) -> Counters:
    """The number of each verdict; received is their sum, because each input has one."""
    names = Counters._fields[1:]
    return Counters(sum(verdicts.values()), *(verdicts[name] for name in names))
