"""What a round says once its facts are corrected: both rulings, before and after, stay visible.

A correction never touches the record. It names a fact by source and id and says what that should
have said, or that it should not have been recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ledger.adjudication.adjudicate import rule
from ledger.facts import FactCorrected

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ledger.adjudication.adjudicate import RoundRecord
    from ledger.adjudication.submissions import FiledSubmission
    from ledger.record.wire import Fact
    from ledger.rules.engine.ruling import Ruling

Corrections = dict[tuple[str, str], FactCorrected]
"""Corrections by source and id of the fact they correct; the latest holds."""


def corrections(facts: Iterable[Fact]) -> Corrections:
    """The corrections among facts."""
    told = [fact for fact in facts if isinstance(fact.body, FactCorrected)]
    found: Corrections = {}
    for fact in sorted(told, key=lambda each: (each.time_us, each.source, each.id)):
        if isinstance(fact.body, FactCorrected):
            found[fact.body.of.source, fact.body.of.id] = fact.body
    return found


def rule_corrected(
    of: RoundRecord,
    submissions: Sequence[FiledSubmission],
    made: Mapping[tuple[str, str], FactCorrected],
) -> Ruling:
    """A round's ruling; with corrections, the one after them, and beside it the one before."""
    before = rule(of, submissions)
    if not any((fact.source, fact.id) in made for fact in (*of.facts, *of.spent)):
        return before
    facts = corrected(of.facts, made)
    as_meant = of._replace(facts=facts, spent=corrected(of.spent, made))
    after = rule(as_meant, submissions) if facts else None
    return msgspec.structs.replace(after, before=before) if after else before


def corrected(facts: Iterable[Fact], made: Mapping[tuple[str, str], FactCorrected]) -> list[Fact]:
    """Facts as they should have been said, without those that should not have been recorded."""
    return [
        as_meant
        for fact in facts
        if (as_meant := _corrected(fact, made.get((fact.source, fact.id)))) is not None
    ]


def _corrected(fact: Fact, correction: FactCorrected | None) -> Fact | None:
    """A fact as it should have been said; None where it should not have been recorded.

    A correction that is no such fact corrects nothing.
    """
    if correction is None:
        return fact
    if correction.data is None:
        return None
    try:
        body = msgspec.convert(correction.data, type(fact.body))
    except msgspec.ValidationError:
        return fact
    return msgspec.structs.replace(fact, body=body)
