"""The page of one fact that a figure rests on: its content, and each correction of it.

A correction is shown on the page of the fact that it corrects, before and after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
from fastapi import APIRouter, Depends, Request, Response
from starlette.exceptions import HTTPException

from consumers.finance import corrections
from infra.access.users import User
from ledger.adjudication.corrections import (
    corrected,
    correction_of,
    held_corrections,
    without_effect,
)
from ledger.errors import NotFound
from ledger.facts import Body, DisputeRaised, FactCorrected, VarianceExplained
from ledger.finance.checks import CHECK_FACTS
from ledger.finance.coupons import COUPON_FACTS
from ledger.finance.day_versions import DAY_FACTS
from ledger.finance.feed import MONEY_FACTS
from ledger.finance.meters.lines import METER_FACTS
from ledger.finance.placing import own_day, table_of
from ledger.record.wire import fact_of
from ledger.values import dollars, parse_round
from replay.web.access import blind_review
from replay.web.access.authentication import signed_in
from replay.web.page import page
from replay.web.ports import ports

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

PATH = "/win/fact"

SHOWN: tuple[type[Body], ...] = (
    *MONEY_FACTS,
    *CHECK_FACTS,
    *COUPON_FACTS,
    *DAY_FACTS,
    DisputeRaised,
    FactCorrected,
    VarianceExplained,
    *METER_FACTS,
)
"""Facts outside rounds that a figure of finance rests on."""

_OF_CASES = frozenset(("patron", "claim"))
"""Fields that finance does not see."""

_OF_NOTHING = frozenset(("data",))
"""Fields of a correction of a fact that is not on record: who may see them, that fact would say."""

_CENTS = frozenset(("amount", "unexplained", "total", "face", "min_wager", "max_wager"))

router = APIRouter(include_in_schema=False)
Analyst = Annotated[User, Depends(signed_in("finance", "auditor"))]


class FieldChange(NamedTuple):
    """A field of a fact as it was recorded, and as a correction gives it."""

    name: str
    recorded: str
    corrected: str


class ShownCorrection(NamedTuple):
    """A correction of the fact. changes: None if the fact should not have been recorded."""

    row: TapeRow
    body: FactCorrected
    changes: Sequence[FieldChange] | None
    misfit: str | None  # why its content cannot be that of the fact; None: it can
    holds: bool  # whether no later one takes its place, or takes it back
    corrects: str | None  # id of the correction that it corrects; None: it corrects the fact
    by_other: str | None = None  # the property that made it, if it is another: it has no effect


@router.get(PATH)
def fact(request: Request, who: Analyst, source: str = "", id: str = "") -> Response:  # noqa: A002 - as in the fact
    """A fact and its corrections. A correction leads to the fact that it corrects."""
    (row, made), others = corrections.history(ports(request).database, source, id)
    its = fact_of(row)
    if not (its.round or isinstance(its.body, SHOWN)):
        raise NotFound(
            f"No figure of finance rests on {source} {id}",
            where="address",
            hint="Open a fact from the page Win.",
        )
    property_, table = table_of(its)
    about = (
        parse_round(its.body.round, property_) if isinstance(its.body, DisputeRaised) else its.round
    )
    if about and about in blind_review.hidden(request, who):
        raise HTTPException(403, blind_review.BLIND)
    recorded = _fields(its, who)
    return page(
        request,
        "fact.html",
        row=row,
        round=its.round,
        property=property_,
        table=table,
        gaming_day=own_day(its),
        title=_title(row.type),
        fields=recorded,
        asked=id,
        corrections=list(_corrections(its, recorded, made, others, who)),
    )


def _title(type_: str) -> str:
    return type_.partition(".")[0].replace("_", " ").capitalize()


def _corrections(
    its: Fact,
    recorded: Mapping[str, str],
    made: Sequence[TapeRow],
    others: Sequence[TapeRow],
    who: User,
) -> Iterator[ShownCorrection]:
    """Each correction, in the order in which they count; then those by other properties."""
    key = (its.source, its.id)
    told = list(map(fact_of, made))
    held = held_corrections(told).get(key)
    vain = {(fact.source, fact.id): why for fact, why in without_effect(its, told)}
    for row in (*made, *others):
        body = fact_of(row).body
        if not isinstance(body, FactCorrected):
            continue
        said = correction_of(its, body)
        meant = corrected([its], {key: said} if said else {})
        after = _fields(meant[0], who) if meant else {}
        names = [name for name in {**recorded, **after} if recorded.get(name) != after.get(name)]
        changes = [FieldChange(n, recorded.get(n, ""), after.get(n, "")) for n in names]
        holds = held is not None and (held.fact.source, held.fact.id) == (row.source, row.id)
        corrects = None if (body.of.source, body.of.id) == key else body.of.id
        why = vain.get((row.source, row.id))
        by_other = row.source.split("/")[1] if row in others else None
        shown = changes if meant else None
        yield ShownCorrection(row, body, shown, why, holds, corrects, by_other)


def _fields(its: Fact, who: User) -> dict[str, str]:
    """The content of a fact in words, by the name of its field."""
    told: Mapping[str, Any] = msgspec.to_builtins(its.body)
    hidden = _OF_NOTHING if isinstance(its.body, FactCorrected) else frozenset[str]()
    hidden |= frozenset() if who.has("auditor", "surveillance") else _OF_CASES
    return {
        name.replace("_", " "): _text(name, value)
        for name, value in told.items()
        if value is not None and name not in hidden
    }


def _text(name: str, value: Any) -> str:  # noqa: ANN401 - any content
    """A field's content: cents as dollars, pieces as `3 x $100.00`."""
    match value:
        case bool():
            return "yes" if value else "no"
        case int() if name in _CENTS:
            return dollars(value)
        case dict() if value and all(key.isdigit() for key in value):
            return ", ".join(f"{count} x {dollars(int(key))}" for key, count in value.items())
        case dict():
            return ", ".join(
                f"{key.replace('_', ' ')} {_text(key, of)}" for key, of in value.items()
            )
        case list() | tuple():
            return "; ".join(_text(name, each) for each in value) or "none"
        case _:
            return str(value)
