"""Rulings under corrections: those before and after both stay visible.

A correction never changes the record. It names a fact by source and id. It gives the fact's right
content, or says that the fact should not have been recorded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from ledger.adjudication.adjudicate import rule_under
from ledger.facts import FactCorrected

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ledger.adjudication.adjudicate import RoundRecord
    from ledger.adjudication.submissions import RulesFor
    from ledger.record.wire import Fact
    from ledger.rules.engine.ruling import Ruling

Corrections = dict[tuple[str, str], FactCorrected]
"""Corrections by source and id of the corrected fact. The latest one holds."""


def corrections(facts: Iterable[Fact]) -> Corrections:
    """The corrections in these facts."""
    told = [fact for fact in facts if isinstance(fact.body, FactCorrected)]
    found: Corrections = {}
    for fact in sorted(told, key=lambda each: (each.time_us, each.source, each.id)):
        if isinstance(fact.body, FactCorrected):
            found[fact.body.of.source, fact.body.of.id] = fact.body
    return found


def rule_corrected(
    of: RoundRecord,
    rules: RulesFor,
    made: Mapping[tuple[str, str], FactCorrected],
) -> Ruling:
    """A round's ruling. With corrections, it holds the ruling before them as well."""
    before = rule_under(of, rules)
    if not made:
        return before
    opened = [of.opened] if of.opened else []
    of_round = any((fact.source, fact.id) in made for fact in (*of.facts, *of.spent))
    if not of_round and not any((fact.source, fact.id) in made for fact in opened):
        return before
    facts = corrected(of.facts, made)
    as_meant = of._replace(
        facts=facts,
        spent=corrected(of.spent, made),
        opened=next(iter(corrected(opened, made)), None),
    )
    after = rule_under(as_meant, rules) if facts else None
    if not of_round and after == before:  # the table's opening changes few of its rounds
        return before
    return msgspec.structs.replace(after, before=before) if after else before


def corrected(facts: Iterable[Fact], made: Mapping[tuple[str, str], FactCorrected]) -> list[Fact]:
    """The corrected facts, without those that should not have been recorded."""
    return [
        as_meant
        for fact in facts
        if (as_meant := _corrected(fact, made.get((fact.source, fact.id)))) is not None
    ]


def _corrected(fact: Fact, correction: FactCorrected | None) -> Fact | None:
    """A corrected fact; None if it should not have been recorded.

    A correction whose content does not fit the fact changes nothing.
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
