"""Exceptions of a day: a coupon in several counts, a device number given twice, a wrong sum.

Each names what an auditor must look at. None has an amount, and none changes a figure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from ledger.adjudication.corrections import without_effect
from ledger.facts import (
    AdjustmentPaid,
    CashBoughtIn,
    ChipsExchanged,
    CounterCheckIssued,
    CounterCheckVoided,
    CouponDropped,
    CreditAccepted,
    DropBoxAttached,
    DropBoxCounted,
    DropBoxVerified,
    FactCorrected,
    FillAccepted,
    InventoryCounted,
    VoucherBoughtIn,
    type_name,
)
from ledger.facts.money import ChipSlip, Voucher
from ledger.finance.boxes import AMOUNTS_DIFFER, BOX_FACTS, HANGS, PaperKind, boxes, papers_in
from ledger.finance.coupons import AGAINST_TERMS
from ledger.finance.placing import OPENS_DAY, Days, PaperUse, by_time, own_day, table_of
from ledger.finance.slips import CHANGED, NOT_DISPATCHED, number_used
from ledger.finance.win import REPORT, REPORT_7, REPORT_8, REPORT_9, REPORT_11, AuditException
from ledger.rules.engine.ruling import FactRef, refs
from ledger.values import dollars, person_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ledger.finance.boxes import DropBox
    from ledger.finance.placing import DisputeId, DisputeUse, FactId, TableId
    from ledger.finance.slips import SlipRecord
    from ledger.record.wire import Fact

DayKey = tuple[str, str, str]
"""Property, gaming day, table: the order of wins."""


EQUIVOCATION = "equivocation"

BY_ONE = "corrected_by_one"
"""The code of a fact whose correction one person alone signed."""

BY_OTHERS = "correction_of_other_property"
"""The code of a fact that another property would correct."""

NO_EFFECT = "correction_without_effect"
"""The code of a fact with a correction that cannot be applied."""


NOT_ATTACHED, ONE_PERSON, USED_AGAIN = "box_not_attached", "one_person", "slip_used_again"
TWO_KINDS = "two_kinds_of_game"
AFTER_CLOSER, ISSUED_TWICE = "money_after_closer", "check_issued_twice"
OPENERS_DIFFER = "open_counts_differ"
ISSUED_BEFORE, NO_RATE = "check_issued_before", "notes_without_rate"
OF_NOTHING = "correction_of_nothing"
SETTLED_ELSEWHERE = "dispute_of_other_table"
BEFORE_OPENER, ELSEWHERE = "closer_before_opener", "coupon_counted_elsewhere"
VOIDED_BOXED, COUNTED_ONCE = "check_voided_boxed", "counted_once"
GAME_CHANGED = "game_changed"
USED_TWICE, NEGATIVE = "slip_number_used_twice", "negative_amount"
ATTACHED_TWICE = "box_attached_twice"
BY_NOBODY = "signed_by_nobody"

SINCE: dict[int, frozenset[str]] = {
    6: frozenset(
        (
            *("check_boxed_twice", "voucher_boxed_twice", "voucher_missing", "voucher_unknown"),
            *(NOT_ATTACHED, ONE_PERSON, USED_AGAIN, TWO_KINDS, NO_EFFECT),
        )
    ),
    7: frozenset((AFTER_CLOSER, ISSUED_TWICE, OPENERS_DIFFER)),
    8: frozenset((ISSUED_BEFORE, NO_RATE, OF_NOTHING)),
    9: frozenset((SETTLED_ELSEWHERE,)),
    10: frozenset((BEFORE_OPENER, ELSEWHERE, VOIDED_BOXED, COUNTED_ONCE)),
    11: frozenset((GAME_CHANGED,)),
    12: frozenset(
        (
            *(CHANGED, NOT_DISPATCHED, USED_TWICE, ATTACHED_TWICE, NEGATIVE, BY_NOBODY),
            *AMOUNTS_DIFFER.values(),
            *(f"coupon_{each}" for each in AGAINST_TERMS),
        )
    ),
}
"""The codes that a version of the report was the first to have."""


class _Counted(NamedTuple):
    """One coupon in the last count of a box."""

    day: DayKey
    fact: Fact


_TWICE: dict[PaperKind, tuple[str, str]] = {
    "coupon": ("coupon_redeemed_twice", "Coupon"),
    "check": ("check_boxed_twice", "Counter Check"),
    "voucher": ("voucher_boxed_twice", "Voucher"),
}
"""Code and name of a paper that was counted more than once."""


def boxed_twice(
    days: Mapping[DayKey, Sequence[Fact]], report: int = REPORT
) -> dict[DayKey, list[AuditException]]:
    """Papers that boxes of a property held more than once, by the day that shows it.

    A day names the counts of its own and of earlier days, so that a later box changes no earlier
    day. `days`: the facts of each table's day in order of time. report: the version of the report.
    """
    seen: dict[tuple[PaperKind, str, str], list[_Counted]] = defaultdict(list)
    for day in sorted(days):
        held = boxes(days[day], by_stay=report >= REPORT_7)
        for kind in _TWICE:
            for number, its in papers_in(held, kind).items():
                seen[kind, day[0], number] += [_Counted(day, fact) for fact in its]
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    for key in sorted(seen, key=lambda key: (key[1], list(_TWICE).index(key[0]), key[2])):
        for day, exception in _of_number(key[0], key[2], seen[key], report):
            found[day].append(exception)
    return found


def _of_number(
    kind: PaperKind, number: str, counts: Sequence[_Counted], report: int
) -> Iterator[tuple[DayKey, AuditException]]:
    code, name = _TWICE[kind]
    for day in sorted({each.day for each in counts}):
        its = [each for each in counts if each.day[1] <= day[1]]
        if len(its) > 1:
            places = dict.fromkeys(f"{table} on {label}" for (_, label, table), _ in its)
            facts = {(each.fact.source, each.fact.id): each.fact for each in its}
            how = f"was counted {len(its)} times"
            if len(facts) == 1 and report > REPORT_11 and isinstance(its[0].fact.body, BOX_FACTS):
                how = f"stands {len(its)} times in one count of box {its[0].fact.body.box}"
            yield (
                day,
                AuditException(
                    code=code,
                    says=f"{name} {number} {how}: {', '.join(places)}.",
                    facts=refs(list(facts.values())),
                ),
            )


PaperId = tuple[str, PaperKind, str]
"""Property, kind and number of a paper."""


def papers_used(facts: Iterable[Fact]) -> dict[PaperId, list[PaperUse]]:
    """The facts that drop each coupon and that void each check, in order of time.

    facts: all of a record, with those that begin gaming days.
    """
    told = sorted(facts, key=by_time)
    starts: dict[TableId, list[Fact]] = defaultdict(list)
    for fact in told:
        if isinstance(fact.body, OPENS_DAY):
            starts[table_of(fact)].append(fact)
    days = {table: Days(its) for table, its in starts.items()}
    found: dict[PaperId, list[PaperUse]] = defaultdict(list)
    for fact in told:
        if paper := _used(fact.body):
            table = table_of(fact)
            day = own_day(fact) or (days[table].at(fact.time_us) if table in days else None)
            found[(table[0], *paper)].append(PaperUse(*by_time(fact), table, day or ""))
    return found


def _used(body: object) -> tuple[PaperKind, str] | None:
    if isinstance(body, CouponDropped):
        return "coupon", body.serial
    return ("check", body.check) if isinstance(body, CounterCheckVoided) else None


def checks_voided(
    used: Mapping[PaperId, Sequence[PaperUse]],
) -> dict[str, dict[str, list[FactRef]]]:
    """The facts that void each counter check, by property and number. used: as `papers_used`."""
    found: dict[str, dict[str, list[FactRef]]] = defaultdict(dict)
    for (property_, kind, number), its in used.items():
        if kind == "check":
            found[property_][number] = [each.ref for each in its]
    return found


def counted_elsewhere(
    days: Mapping[DayKey, Sequence[Fact]], used: Mapping[PaperId, Sequence[PaperUse]]
) -> dict[DayKey, list[AuditException]]:
    """Coupons that were dropped at tables whose boxes lack them, and counted in others' boxes.

    The day of the drop and that of the count name both, each facts of its own and of earlier days.
    days: as in `boxed_twice`; used: as `papers_used`.
    """
    seen: dict[PaperId, list[_Counted]] = defaultdict(list)
    for day in sorted(days):
        for serial, its in papers_in(boxes(days[day]), "coupon").items():
            seen[day[0], "coupon", serial] += [_Counted(day, fact) for fact in its]
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    for paper in sorted(seen.keys() & used.keys()):
        counts, drops = seen[paper], used[paper]
        for day in sorted({*(each.day for each in counts), *(each.day for each in drops)}):
            lost, strange = _strayed(counts, drops, day[1])
            named = {*(each.day for each in lost), *(each.day for each in strange)}
            if lost and strange and day in named:
                at, box = (", ".join(dict.fromkeys(map(_at, its))) for its in (lost, strange))
                found[day].append(
                    AuditException(
                        code=ELSEWHERE,
                        says=f"Coupon {paper[2]} was dropped at {at}, and counted in a box of "
                        f"{box}.",
                        facts=[*(each.ref for each in lost), *refs([c.fact for c in strange])],
                    )
                )
    return found


def _strayed(
    counts: Iterable[_Counted], drops: Iterable[PaperUse], until: str
) -> tuple[list[PaperUse], list[_Counted]]:
    """The drops at tables without a count, and the counts of tables without a drop, up to a day."""
    counted = [each for each in counts if each.day[1] <= until]
    dropped = [each for each in drops if each.gaming_day <= until]
    at_boxes, at_tables = {each.day[2] for each in counted}, {each.day[2] for each in dropped}
    lost = [each for each in dropped if each.day[2] not in at_boxes]
    return lost, [each for each in counted if each.day[2] not in at_tables]


def _at(of: _Counted | PaperUse) -> str:
    _, day, table = of.day
    return f"{table} on {day}" if day else table


Person = Callable[[str], str]
"""What says who a credential is of: those of one person give one text."""


def person_in(report: int) -> Person:
    """Who a credential is of, as a version of the report says it.

    Up to version 11 a credential typed with other dashes or letters of another width was of another
    person.
    """
    return person_of if report > REPORT_11 else lambda each: each.strip().casefold()


def corrected_by_one(
    made: Mapping[FactId, Sequence[Fact]], person: Person
) -> Iterator[tuple[FactId, AuditException]]:
    """The exception of each correction that one person signed, in order of time, by its fact.

    made: corrections by the fact that they are of in the end.
    """
    told = [
        (fact, of)
        for of, its in made.items()
        for fact in its
        if isinstance(fact.body, FactCorrected) and person(fact.body.by) == person(fact.body.second)
    ]
    for fact, of in sorted(told, key=lambda each: by_time(each[0])):
        by = fact.body.by if isinstance(fact.body, FactCorrected) else ""
        yield (
            of,
            AuditException(
                code=BY_ONE,
                says=f"{by} alone corrected fact {of[1]} of {of[0]}; two people sign a correction.",
                facts=[FactRef(*of), *refs([fact])],
            ),
        )


def of_corrections(
    made: Mapping[FactId, Sequence[Fact]], facts: Mapping[FactId, Fact], report: int = REPORT
) -> list[tuple[FactId, AuditException]]:
    """The exceptions of corrections, by their fact: signed by one person, or without effect.

    facts: those that are corrected, as recorded. report: the version of the report.
    """
    vain = [
        (fact, of, why)
        for of, its in made.items()
        if of in facts
        for fact, why in without_effect(facts[of], its, as_error=report <= REPORT_8)
    ]
    return [
        *corrected_by_one(made, person_in(report)),
        *(
            (
                of,
                AuditException(
                    code=NO_EFFECT,
                    says=f"A correction of fact {of[1]} of {of[0]} has no effect, as its content "
                    f"does not fit: {why}.",
                    facts=[FactRef(*of), *refs([fact])],
                ),
            )
            for fact, of, why in sorted(vain, key=lambda each: by_time(each[0]))
        ),
    ]


def corrected_elsewhere(fact: Fact, of: FactId, *, is_recorded: bool) -> AuditException:
    """The exception of a correction of a fact by another property."""
    property_ = fact.source.split("/", 2)[1]
    lacks = "" if is_recorded else ", which is not on record"
    return AuditException(
        code=BY_OTHERS,
        says=f"{property_} corrects fact {of[1]} of {of[0]}{lacks}. That has no effect: a property "
        "corrects its own facts alone.",
        facts=[*([FactRef(*of)] if is_recorded else []), *refs([fact])],
    )


class VainCorrection(NamedTuple):
    """A correction of a fact that is not on record, with the table of that fact's source."""

    fact: Fact
    table: TableId
    gaming_day: str | None  # that its content names; None: the one at its time

    @property
    def exception(self) -> AuditException:
        """The exception of the table's day."""
        of = self.fact.body.of if isinstance(self.fact.body, FactCorrected) else self.fact
        return AuditException(
            code=OF_NOTHING,
            says=f"A correction names fact {of.id} of {of.source}, which is not on record.",
            facts=refs([self.fact]),
        )


def corrections_of_nothing(
    made: Mapping[FactId, Sequence[Fact]], facts: Collection[FactId]
) -> list[VainCorrection]:
    """The corrections of facts that are not on record, in order of time.

    made: corrections by the fact that they are of in the end. facts: those on record among them.
    """
    found = []
    for (source, id_), its in made.items():
        _, *place = source.split("/")
        if (source, id_) not in facts and len(place) == 3:  # noqa: PLR2004 - /property/place/device
            for fact in its:
                data = (isinstance(fact.body, FactCorrected) and fact.body.data) or {}
                day = data.get("gaming_day")
                own = day if isinstance(day, str) else None
                found.append(VainCorrection(fact, (place[0], place[1]), own))
    return sorted(found, key=lambda each: by_time(each.fact))


def of_one_day(
    facts: Sequence[Fact], slips: Sequence[SlipRecord], report: int = REPORT
) -> list[AuditException]:
    """What a table's day shows by itself: boxes not attached there, one person alone, and so on.

    report: the version of the report.
    """
    stays, person = boxes(facts, by_stay=report >= REPORT_7), person_in(report)
    both = partial(_both if report > REPORT_8 else _each_of_both, person)
    return [
        *(_not_attached(stays) if report > REPORT_11 else _not_of_table(stays)),
        *_by_one_person(facts, stays, slips, person, both),
        *(_second_lacks(stays, slips, person) if report > REPORT_9 else ()),
        *_signed_by_nobody(stays, slips, person),
        *_openers_differ(facts, by_opening=report > REPORT_11),
        *_issued_twice(facts),
        *_after_closer(facts),
    ]


def _openers_differ(facts: Iterable[Fact], *, by_opening: bool) -> Iterator[AuditException]:
    """Counts at one opening of a shift that differ. A count at the drop or closing ends an opening.

    by_opening: else all counts of a shift are of one; so did reports up to version 11.
    """
    told: dict[Any, dict[int, list[Fact]]] = defaultdict(lambda: defaultdict(list))
    closings = 0
    for fact in facts:
        if isinstance(fact.body, InventoryCounted) and fact.body.kind == "open":
            told[fact.body.shift, closings][fact.body.total].append(fact)
        elif by_opening and _closes(fact):
            closings += 1
    for totals in told.values():
        if len(totals) > 1:
            yield AuditException(
                code=OPENERS_DIFFER,
                says=f"The tray opened with {' and with '.join(map(dollars, totals))}; the first "
                "count is the opener.",
                facts=refs([fact for its in totals.values() for fact in its]),
            )


def _issued_twice(facts: Iterable[Fact]) -> Iterator[AuditException]:
    """Numbers of counter checks that a table issued more than once."""
    told: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact.body, CounterCheckIssued):
            told[fact.body.check].append(fact)
    for number, its in told.items():
        if len(its) > 1:
            yield AuditException(
                code=ISSUED_TWICE,
                says=f"Counter Check {number} was issued {len(its)} times; chips were sold for "
                "each.",
                facts=refs(its),
            )


def checks_issued(facts: Iterable[Fact]) -> dict[tuple[str, str], list[Fact]]:
    """The facts that issue each counter check, by property and number, in order of time."""
    found: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact.body, CounterCheckIssued):
            found[table_of(fact)[0], fact.body.check].append(fact)
    return {check: sorted(its, key=by_time) for check, its in found.items()}


def issued_before(
    days: Mapping[DayKey, Sequence[Fact]], issued: Mapping[tuple[str, str], Sequence[Fact]]
) -> dict[DayKey, list[AuditException]]:
    """Counter checks whose numbers were issued before, at another table or on another day.

    The later issue alone is named, so that it changes no earlier day. issued: as `checks_issued`.
    """
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    for key, facts in days.items():
        for (_, number), its in checks_issued(facts).items():
            told = issued.get((key[0], number), ())
            before = [each for each in told if by_time(each) < by_time(its[0])]
            if before:
                tables = dict.fromkeys(table_of(each)[1] for each in before)
                found[key].append(
                    AuditException(
                        code=ISSUED_BEFORE,
                        says=f"Counter Check {number} was issued before, at "
                        f"{' and at '.join(tables)}; chips were sold for each.",
                        facts=refs([*before, *its]),
                    )
                )
    return found


def settled_elsewhere(
    days: Mapping[DayKey, Sequence[Fact]], used: Mapping[DisputeId, Sequence[DisputeUse]]
) -> dict[DayKey, list[AuditException]]:
    """Amends for disputes whose numbers were used before at another table.

    The later use alone is named, so that it changes no earlier day. used: as `disputes_used`.
    """
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    for key, facts in days.items():
        for number, paid in _amends(facts).items():
            before = sorted(
                use
                for use in used.get((key[0], number), ())
                if use[:3] < by_time(paid[-1]) and use.table != (key[0], key[2])
            )
            if before:
                cents = sum(f.body.amount for f in paid if isinstance(f.body, AdjustmentPaid))
                tables = dict.fromkeys(use.table[1] for use in before)
                found[key].append(
                    AuditException(
                        code=SETTLED_ELSEWHERE,
                        says=f"{dollars(cents)} was paid for dispute {number}, whose number was "
                        f"used before at {' and at '.join(tables)}.",
                        facts=[*(FactRef(use.source, use.id) for use in before), *refs(paid)],
                    )
                )
    return found


def _amends(facts: Iterable[Fact]) -> dict[str, list[Fact]]:
    """The amends in these facts by the number of their dispute."""
    found: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact.body, AdjustmentPaid):
            found[fact.body.dispute].append(fact)
    return found


SlipNumber = tuple[str, str, str]
"""Property, kind (fill, credit or inventory) and number."""


class SlipUse(NamedTuple):
    """A step of a slip, or a count of a tray under its slip's number. Sorts by gaming day."""

    gaming_day: str  # empty: before its table's first
    table: str
    source: str
    id: str
    step: str  # requested, dispatched, accepted or voided; opener or closer


def uses_of_slips(
    days: Mapping[DayKey, Iterable[Fact]],
) -> dict[SlipNumber, list[SlipUse]]:
    """The uses of each slip's number in the facts of these tables' days, in order."""
    found: dict[SlipNumber, list[SlipUse]] = defaultdict(list)
    for (property_, day, table), facts in days.items():
        for fact in facts:
            if used := number_used(fact.body):
                use = SlipUse(day, table, fact.source, fact.id, used.step)
                found[property_, used.kind, used.number].append(use)
    return {number: sorted(its) for number, its in found.items()}


def numbers_used_twice(
    days: Mapping[DayKey, Iterable[Fact]], uses: Mapping[SlipNumber, Sequence[SlipUse]]
) -> dict[DayKey, list[AuditException]]:
    """The numbers of slips that other tables used too, or the same table on an earlier day.

    Tables of one gaming day name each other. A later day names the last use before, so that it
    changes no earlier day. uses: as `uses_of_slips`, of all days, or of those that matter here.
    """
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    for key, facts in days.items():
        for number, own in uses_of_slips({key: facts}).items():
            if others := _used_beside(own, uses.get(number, ())):
                found[key].append(_number_used_twice(number, sorted([*others, *own])))
    return found


def _used_beside(own: Sequence[SlipUse], uses: Iterable[SlipUse]) -> list[SlipUse]:
    """The uses of a number that are another slip than a table's own; none that are said already.

    A slip goes on from one day to the next, and an opener has the slip of the closer before it. So
    the same table uses a number again by the same step alone.
    """
    day, table, *_ = own[0]
    steps = {each.step for each in own}
    others = [
        each
        for each in uses
        if (each.table != table and each.gaming_day <= day)
        or (each.gaming_day < day and each.step in steps)
    ]
    if "accepted" in steps and any(each.step == "accepted" for each in others):
        return []  # `slip_recorded_twice` or `slip_used_again`
    before = [each for each in others if each.gaming_day < day]
    return [*before[-1:], *others[len(before) :]]


_NAMES = {"fill": "Fill Slip", "credit": "Credit Slip", "inventory": "Table Inventory Slip"}
_ORDER = ("requested", "dispatched", "accepted", "voided", "opener", "closer")
_PLACES_MAX = 6
"""Tables and days that an exception says in words; its facts are of all."""


def _number_used_twice(number: SlipNumber, uses: Sequence[SlipUse]) -> AuditException:
    parts = []
    for (day, table), its in groupby(uses, lambda each: each[:2]):
        *steps, last = sorted({each.step for each in its}, key=_ORDER.index)
        did = f"{', '.join(steps)} and {last}" if steps else last
        parts.append(f"{did} at {table}{f' on {day}' if day else ''}")
    if len(parts) > _PLACES_MAX:
        parts[_PLACES_MAX:] = [f"and at {len(parts) - _PLACES_MAX} more"]
    return AuditException(
        code=USED_TWICE,
        says=f"The number of {_NAMES[number[1]]} {number[2]} was used more than once: "
        f"{', '.join(parts)}.",
        facts=[FactRef(each.source, each.id) for each in uses],
    )


_MOVES_TRAY = (
    AdjustmentPaid,
    CashBoughtIn,
    ChipsExchanged,
    CounterCheckIssued,
    CreditAccepted,
    FillAccepted,
    VoucherBoughtIn,
)


def _after_closer(facts: Sequence[Fact]) -> Iterator[AuditException]:
    """Money of the tray after its last count of the day, which cannot have it."""
    counts = [n for n, fact in enumerate(facts) if _closes(fact)]
    later = [f for f in facts[counts[-1] :] if isinstance(f.body, _MOVES_TRAY)] if counts else []
    late = [f for f in later if getattr(f.body, "paid_from", "table") == "table"]
    if late:
        counted = "1 fact of money comes" if len(late) == 1 else f"{len(late)} facts of money come"
        yield AuditException(
            code=AFTER_CLOSER,
            says=f"{counted} after the closer, and before the next box or opening of the table.",
            facts=refs([facts[counts[-1]], *late]),
        )


def _closes(fact: Fact) -> bool:
    return isinstance(fact.body, InventoryCounted) and fact.body.kind != "open"


def attached_twice(days: Mapping[DayKey, Sequence[Fact]]) -> dict[DayKey, list[AuditException]]:
    """Boxes that were attached while they hung, at that table or another one of the gaming day.

    days: the facts of boxes of each table's day.
    """
    told: dict[tuple[str, str, str], list[tuple[Fact, DayKey]]] = defaultdict(list)
    for key, facts in days.items():
        for fact in facts:
            if isinstance(fact.body, HANGS):
                told[key[0], key[1], fact.body.box].append((fact, key))
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    for (_, _, number), its in sorted(told.items()):
        its.sort(key=lambda each: by_time(each[0]))
        for (before, at), (after, then) in pairwise(its):
            if isinstance(before.body, DropBoxAttached) and isinstance(after.body, DropBoxAttached):
                where = "again" if at == then else f"while it hung at {at[2]}"
                exception = AuditException(
                    code=ATTACHED_TWICE,
                    says=f"Box {number} was attached at {then[2]} {where}: no fact says that it "
                    "was removed or counted in between.",
                    facts=refs([before, after]),
                )
                for key in dict.fromkeys((at, then)):
                    found[key].append(exception)
    return found


def _not_attached(stays: Sequence[DropBox]) -> Iterator[AuditException]:
    """Boxes that were removed from a table, or counted as its, and never attached there.

    A table that has no other fact of a box may record none, and is left alone.
    """
    attached = {
        b.number for b in stays if any(isinstance(f.body, DropBoxAttached) for f in b.moves)
    }
    records = any(box.moves for box in stays)
    for box in stays if records else ():
        did = ["removed from this table"] if box.moves else []
        did += ["counted as this table's"] if box.last else []
        if did and box.number not in attached:
            yield AuditException(
                code=NOT_ATTACHED,
                says=f"Box {box.number} was {' and '.join(did)}, and no fact says that it was "
                "attached here.",
                facts=refs([*box.moves, *box.counts]),
            )


def _not_of_table(stays: Sequence[DropBox]) -> Iterator[AuditException]:
    """As `_not_attached`, of boxes without any move: so did reports up to version 11."""
    attached = {box.number for box in stays if box.moves}
    for box in stays if attached else ():
        if box.last and box.number not in attached:
            yield AuditException(
                code=NOT_ATTACHED,
                says=f"Box {box.number} was counted as this table's, and no fact says that it "
                "was attached here.",
                facts=refs(box.counts),
            )


def _by_one_person(
    facts: Sequence[Fact],
    stays: Iterable[DropBox],
    slips: Sequence[SlipRecord],
    person: Person,
    both: Callable[[str, Iterable[Fact], Iterable[Fact]], Iterator[AuditException]],
) -> Iterator[AuditException]:
    """Papers on which one person did what two must do (603a.20, 465a.25, 465a.38).

    both: the exceptions of those who signed two steps.
    """
    for box in stays:
        people = [each for count in box.counts for each in _people(count)]
        if len(set(map(person, people))) == 1:
            yield _alone(people[0], f"counted box {box.number}", box.counts)
        yield from both(f"counted box {box.number} and verified it", box.counts, box.verified)
    for slip in slips:
        name = f"{slip.kind.capitalize()} Slip {slip.number}"
        yield from both(f"dispatched and accepted {name}", slip.dispatched, slip.accepted)
    for fact in facts:
        body = fact.body
        if isinstance(body, InventoryCounted) and person(body.counted_by) == person(
            body.observed_by
        ):
            yield _alone(body.counted_by, f"counted the tray for slip {body.slip}", [fact])


def _second_lacks(
    stays: Iterable[DropBox], slips: Iterable[SlipRecord], person: Person
) -> Iterator[AuditException]:
    """Boxes counted once or twice by the same people, and steps of slips that one person signed.

    What one person alone did in both steps is said already.
    """
    for box in stays:
        told = {nth: [each for each in box.counts if _nth(each) == nth] for nth in (1, 2, 3)}
        if len([its for its in told.values() if its]) == 1:
            yield AuditException(
                code=COUNTED_ONCE,
                says=f"Box {box.number} was counted once; two counts by other people are due.",
                facts=refs(box.counts),
            )
        if len({person(each) for count in box.counts for each in _people(count)}) > 1:
            yield from _both(person, f"made both counts of box {box.number}", told[1], told[2])
            before, did = [*told[1], *told[2]], f"made count 3 of box {box.number} and one before"
            yield from _both(person, did, before, told[3])
            for count in box.counts:
                did = f"made count {_nth(count)} of box {box.number}"
                yield from _signed_alone(person, did, count)
    for slip in slips:
        signed = {person(p) for each in (*slip.dispatched, *slip.accepted) for p in _people(each)}
        is_said = len(signed) == 1 and slip.dispatched and slip.accepted
        for did in ("dispatched", "accepted") if not is_said else ():
            for fact in getattr(slip, did):
                name = f"{slip.kind.capitalize()} Slip {slip.number}"
                yield from _signed_alone(person, f"{did} {name}", fact)


def _signed_by_nobody(
    stays: Iterable[DropBox], slips: Iterable[SlipRecord], person: Person
) -> Iterator[AuditException]:
    """Counts of boxes, and steps of slips, that name nobody who signed them."""
    steps = [
        *((f"Count {_nth(of)} of box {box.number}", of) for box in stays for of in box.counts),
        *(
            (f"{slip.kind.capitalize()} Slip {slip.number}, {step},", fact)
            for slip in slips
            for step in ("dispatched", "accepted")
            for fact in getattr(slip, step)
        ),
    ]
    for name, fact in steps:
        if not any(map(person, _people(fact))):
            says = f"{name} names nobody who signed it; two people do that."
            yield AuditException(code=BY_NOBODY, says=says, facts=refs([fact]))


def _signed_alone(person: Person, did: str, fact: Fact) -> Iterator[AuditException]:
    people = _people(fact)
    if len(set(map(person, people))) == 1:
        yield _alone(people[0], did, [fact])


def _nth(count: Fact) -> int:
    return count.body.count if isinstance(count.body, DropBoxCounted) else 0


def _both(
    person: Person, did: str, some: Iterable[Fact], others: Iterable[Fact]
) -> Iterator[AuditException]:
    """The exception of the people who signed facts of both kinds, if anybody did."""
    steps = [list(some), list(others)]
    signed: list[dict[str, str]] = [{}, {}]
    for people, its in zip(signed, steps, strict=True):
        for each in (each for of in its for each in _people(of)):
            people.setdefault(person(each), each)
    names = [each for key, each in signed[0].items() if key in signed[1]]
    if len(names) == 1 == len(signed[0] | signed[1]):
        yield _alone(names[0], did, [*steps[0], *steps[1]])
    elif names:
        yield AuditException(
            code=ONE_PERSON,
            says=f"{' and '.join(names)} {did}; other people do the second step.",
            facts=refs(
                [
                    f
                    for its in steps
                    for f in its
                    if any(person(p) in map(person, names) for p in _people(f))
                ]
            ),
        )


def _each_of_both(
    person: Person, did: str, some: Iterable[Fact], others: Iterable[Fact]
) -> Iterator[AuditException]:
    """As `_both`, an exception for each of the people: so did reports up to version 8."""
    first, second = list(some), list(others)
    names = [(each, fact) for fact in first for each in _people(fact)]
    for fact in second:
        for each in _people(fact):
            its = [told for name, told in names if person(name) == person(each)]
            if its:
                yield _alone(each, did, [*its, fact])


def _people(of: Fact) -> Sequence[str]:
    """Who signed a paper."""
    match of.body:
        case DropBoxCounted(counted_by=people) | ChipSlip(by=people):
            return people
        case DropBoxVerified(by=person):
            return (person,)
        case _:
            return ()


def _alone(person: str, did: str, facts: Sequence[Fact]) -> AuditException:
    return AuditException(
        code=ONE_PERSON,
        says=f"{person} alone {did}; two people do that.",
        facts=refs(facts),
    )


def used_again(slip: SlipRecord, acceptance: Fact) -> AuditException:
    """The exception of a slip's number that was accepted on another day before."""
    body = acceptance.body
    amount = body.total if isinstance(body, ChipSlip) else 0
    return AuditException(
        code=USED_AGAIN,
        says=f"{slip.kind.capitalize()} Slip {slip.number} of {dollars(amount)} was accepted here "
        "again; its number counts where it was accepted first, on another day.",
        facts=refs([slip.accepted[0], acceptance]),
    )


def totals_differ(facts: Iterable[Fact]) -> Iterator[AuditException]:
    """Slips whose total is not the sum of their chips. One without chips has no sum to compare."""
    for fact in facts:
        body = fact.body
        if isinstance(body, InventoryCounted | ChipSlip) and body.chips:
            chips = sum(int(denomination) * count for denomination, count in body.chips.items())
            if chips != body.total:
                yield AuditException(
                    code="total_differs",
                    says=f"Slip {body.slip} has a total of {dollars(body.total)}; its chips are "
                    f"{dollars(chips)}. The total counts.",
                    facts=refs([fact]),
                )


def negative_amounts(facts: Iterable[Fact]) -> list[AuditException]:
    """The exception of facts of money below zero, which no figure leaves out."""
    told = {(fact.source, fact.id): fact for fact in facts}
    found = [(fact, cents) for fact in told.values() for cents in _amounts(fact.body) if cents < 0]
    if not found:
        return []
    named = [f"{_name(fact)} of {dollars(cents)}" for fact, cents in found[:_NAMED_MAX]]
    if len(found) > _NAMED_MAX:
        named.append(f"and {len(found) - _NAMED_MAX:,} more")
    return [
        AuditException(
            code=NEGATIVE,
            says=f"Money below zero is on record: {', '.join(named)}. It is in the sums.",
            facts=refs(list({(fact.source, fact.id): fact for fact, _ in found}.values())),
        )
    ]


_NAMED_MAX = 3
"""Amounts that an exception says in words; its facts are of all."""


def _name(fact: Fact) -> str:
    name, _, _ = type_name(type(fact.body)).partition(".")  # type: ignore[arg-type] # a fact's body
    return name.replace("_", " ")


def _amounts(body: object) -> Iterator[int]:
    """The cents of a fact of money, one of a box with those of its papers."""
    for name in ("amount", "total"):
        if isinstance(cents := getattr(body, name, None), int):
            yield cents
    if isinstance(body, DropBoxCounted):
        yield from (check.amount for check in body.counter_checks)
        vouchers = (each for each in body.vouchers if isinstance(each, Voucher))
        yield from (each.amount for each in vouchers if each.amount is not None)


def numbers_given_twice(facts: Iterable[Fact]) -> list[AuditException]:
    """Devices that gave one of their own numbers to several facts: one exception a device's run."""
    told: dict[tuple[str, str, int], dict[str, Fact]] = defaultdict(dict)
    for fact in facts:
        if fact.sequence is not None:
            told[fact.source, fact.boot or "", fact.sequence].setdefault(fact.id, fact)
    devices: dict[tuple[str, str], list[int]] = defaultdict(list)
    for source, boot, number in sorted(key for key, its in told.items() if len(its) > 1):
        devices[source, boot].append(number)
    found = []
    for device, numbers in devices.items():
        its = [told[*device, n][id_] for n in numbers for id_ in sorted(told[*device, n])]
        says = f"{device[0]} gave {_numbers(numbers)} to several facts of money."
        found.append(AuditException(code=EQUIVOCATION, says=says, facts=refs(its)))
    return found


def _numbers(numbers: Sequence[int]) -> str:
    """Some numbers in words: all of a few, else the first and last."""
    if len(numbers) == 1:
        return f"its number {numbers[0]}"
    return f"{len(numbers)} of its numbers from {numbers[0]} to {numbers[-1]}, each"
