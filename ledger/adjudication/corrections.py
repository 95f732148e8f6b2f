"""Rulings under corrections: those before and after both stay visible.

A correction never changes the record. It names a fact by source and id. It gives the fact's right
content, or says that the fact should not have been recorded. A later correction may name a
correction in turn: to take it back, or to give it another content. A property corrects its own
facts alone: a correction of another property's fact counts for nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ledger.adjudication.adjudicate import rule_under
from ledger.facts import FactCorrected, type_name
from ledger.record.kinds import in_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ledger.adjudication.adjudicate import RoundRecord
    from ledger.adjudication.submissions import RulesFor
    from ledger.record.wire import Fact
    from ledger.rules.engine.ruling import Ruling

Corrections = dict[tuple[str, str], FactCorrected]
"""Corrections by source and id of the corrected fact. The latest one holds."""


class HeldCorrection(NamedTuple):
    """The correction of a fact that holds. fact: the one that gives its content its last form."""

    fact: Fact
    body: FactCorrected  # with corrections of the correction itself


def is_of_another_property(source: str, of_source: str) -> bool:
    """Whether a correction from a source names a fact of another property."""
    return source.split("/", 2)[1:2] != of_source.split("/", 2)[1:2]


def _made(facts: Iterable[Fact]) -> list[Fact]:
    """The corrections among these facts that properties made of their own facts."""
    return [
        fact
        for fact in facts
        if isinstance(fact.body, FactCorrected)
        and not is_of_another_property(fact.source, fact.body.of.source)
    ]


def corrections(facts: Iterable[Fact]) -> Corrections:
    """The corrections in these facts, as later corrections of them leave them."""
    return {of: each.body for of, each in held_corrections(facts).items()}


def held_corrections(facts: Iterable[Fact]) -> dict[tuple[str, str], HeldCorrection]:
    """The correction that holds of each corrected fact, by source and id of that fact.

    The latest holds. A later correction of a correction takes it back, or changes what it says; one
    that would have it correct another fact changes nothing.
    """
    found: dict[tuple[str, str], HeldCorrection] = {}
    for fact in sorted(_made(facts), key=_by_time, reverse=True):
        if isinstance(fact.body, FactCorrected):
            its = HeldCorrection(fact, fact.body)
            if later := found.get((fact.source, fact.id)):
                if later.body.data is None:
                    continue
                its = _changed(its, later)
            found.setdefault((its.body.of.source, its.body.of.id), its)
    return found


def _changed(its: HeldCorrection, later: HeldCorrection) -> HeldCorrection:
    """A correction as a later correction of it gives it."""
    body = _inner(later.body)
    return its._replace(fact=later.fact, body=body) if body and body.of == its.body.of else its


def _inner(of: FactCorrected) -> FactCorrected | None:
    """The content that a correction gives a correction; None if it is none."""
    try:
        return msgspec.convert(of.data, FactCorrected)
    except msgspec.ValidationError:
        return None


def correction_of(fact: Fact, why: FactCorrected) -> FactCorrected | None:
    """What a correction says of a fact, which it names itself or by the corrections it corrects."""
    body: FactCorrected | None = why
    while body and (body.of.source, body.of.id) != (fact.source, fact.id):
        body = _inner(body)
    return body


def corrections_of(facts: Iterable[Fact]) -> dict[tuple[str, str], list[Fact]]:
    """Every correction by the fact that it is of in the end, in the order in which they count.

    A correction of a correction is of the fact that the first one names.
    """
    told = {(fact.source, fact.id): fact for fact in _made(facts)}
    found: dict[tuple[str, str], list[Fact]] = {}
    for fact in sorted(told.values(), key=_by_time):
        found.setdefault(_end(fact, told), []).append(fact)
    return found


def _end(fact: Fact, told: Mapping[tuple[str, str], Fact]) -> tuple[str, str]:
    """The fact that a correction is of in the end. One of a later correction is of that one."""
    body = fact.body
    of = (body.of.source, body.of.id) if isinstance(body, FactCorrected) else (fact.source, fact.id)
    target = told.get(of)
    return of if target is None or _by_time(target) >= _by_time(fact) else _end(target, told)


def without_effect(
    of: Fact, made: Iterable[Fact], *, as_error: bool = False
) -> Iterator[tuple[Fact, str]]:
    """The corrections of a fact that cannot be applied and change nothing, each with why.

    as_error: as in `misfit`.
    """
    told = [fact for fact in made if isinstance(fact.body, FactCorrected)]
    targets = {(fact.source, fact.id): fact for fact in (*told, of)}
    for fact in told:
        if isinstance(fact.body, FactCorrected) and (
            why := misfit(fact.body, targets, as_error=as_error)
        ):
            yield fact, why


def misfit(
    body: FactCorrected, targets: Mapping[tuple[str, str], Fact], *, as_error: bool = False
) -> str | None:
    """Why the content of a correction cannot be that of the fact it names; None: it can be.

    targets: facts by source and id. A correction of a correction must fit the fact of that one.
    as_error: in the decoder's words, as reports up to version 8 have it.
    """
    target = targets.get((body.of.source, body.of.id))
    if body.data is None or target is None:
        return None
    try:
        meant = msgspec.convert(body.data, type(target.body))
    except msgspec.ValidationError as error:
        return str(error) if as_error else _in_words(target, str(error))
    if not (isinstance(meant, FactCorrected) and isinstance(target.body, FactCorrected)):
        return None
    if meant.of != target.body.of:
        return "it names another fact"
    return misfit(meant, targets, as_error=as_error)


def _in_words(target: Fact, error: str) -> str:
    """The decoder's error as people read it, with the field."""
    said = in_words(type_name(type(target.body)), error)  # type: ignore[arg-type] # a Body
    named = said.what.startswith("`")
    return said.what if named else f"{said.what}, in {said.where.removeprefix('$.data.')}"


def _by_time(fact: Fact) -> tuple[int, str, str]:
    return fact.time_us, fact.source, fact.id


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
