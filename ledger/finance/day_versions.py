"""Sealed gaming days: their versions, what a version said, and how the next one differs.

A version is worked out from the facts up to the numbers that it pins, so nothing later changes it.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import Struct

from ledger.adjudication.corrections import corrected, corrections, corrections_of
from ledger.adjudication.feed import adjudicate
from ledger.adjudication.submissions import filed
from ledger.facts import (
    AdjustmentPaid,
    Body,
    CashBoughtIn,
    ChipsExchanged,
    CounterCheckIssued,
    CounterCheckVoided,
    CouponDropped,
    CouponsIssued,
    CouponsVoided,
    DayReopened,
    DaySealed,
    DisputeRaised,
    FactCorrected,
    InventoryCounted,
    RulesSubmissionFiled,
    TableOpened,
    VoucherBoughtIn,
)
from ledger.facts.accounting import CouponRange, TournamentMoney
from ledger.facts.money import ChipSlip
from ledger.finance.boxes import BOX_FACTS
from ledger.finance.exceptions import GAME_CHANGED, TWO_KINDS, person_in
from ledger.finance.feed import placing, tables_of, wins, wins_by_shift
from ledger.finance.placing import (
    OPENS_DAY,
    by_time,
    day_before,
    disputed_tables,
    own_day,
    table_of,
    tables_with_day,
)
from ledger.finance.table_day import closer_of
from ledger.finance.win import OF_BANKED, OF_POKER, REPORT, REPORT_5, TableWin, win_parts
from ledger.rules.engine.ruling import FactRef
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Self

    from ledger.finance.placing import FactId, TableId
    from ledger.record.wire import Fact

DAY_FACTS: tuple[type[Body], ...] = (DaySealed, DayReopened)
"""The facts that close a gaming day and open it again."""


class DaySeals(NamedTuple):
    """The versions of a gaming day. A fact counts if it follows; any other changes nothing."""

    seals: tuple[DaySealed, ...] = ()
    reopened: DayReopened | None = None  # what opened the last version again
    reopenings: tuple[DayReopened, ...] = ()  # all that opened a version again

    @property
    def sealed(self) -> DaySealed | None:
        """The version that holds; None: the day is open."""
        return self.seals[-1] if self.seals and not self.reopened else None

    def after(self, body: object) -> Self:
        """The versions after one more fact of the day. One person alone signs nothing."""
        if isinstance(body, DaySealed | DayReopened) and self._is_alone(body):
            return self
        if isinstance(body, DaySealed):
            follows = not self.sealed and body.version == len(self.seals) + 1
            return self._replace(seals=(*self.seals, body), reopened=None) if follows else self
        if isinstance(body, DayReopened) and self.sealed and body.version == self.sealed.version:
            return self._replace(reopened=body, reopenings=(*self.reopenings, body))
        return self

    def _is_alone(self, body: DaySealed | DayReopened) -> bool:
        """Whether one person signed it, by the rule of the report that the version is of."""
        of = body if isinstance(body, DaySealed) else self.sealed
        person = person_in(of.report if of else REPORT)
        return person(body.by) == person(body.second)


class Adjustment(Struct, frozen=True, kw_only=True):
    """A figure, item, cause or number of exceptions that differs from the version before.

    None: an input was missing; before and after also: that version lacks the table.
    """

    table: str
    figure: str
    amount: int | None
    before: int | None
    after: int | None
    facts: list[FactRef]


class DayWins(NamedTuple):
    """The wins of a gaming day by table, and by table and shift: what two people sign."""

    tables: list[TableWin]
    shifts: list[TableWin]

    def of(self, property_: str) -> DayWins:
        """Those of one property."""
        return DayWins(*([each for each in its if each.property == property_] for its in self))

    def as_version(self, version: int) -> DayWins:
        """The wins as a version of the day says them."""
        return DayWins(sealed(self.tables, version), sealed(self.shifts, version))


def of_day(facts: Iterable[Fact], property_: str, gaming_day: str, report: int = REPORT) -> DayWins:
    """The wins of one gaming day, in order of table, from all facts of a property.

    report: the version of the report that says them.
    """
    told = facts_of_report(facts, report)
    rulings = list(adjudicate(told, gaming_day))
    finds = (wins, wins_by_shift)
    by_table, by_shift = (find(told, rulings, gaming_day, report) for find in finds)
    return DayWins(by_table, by_shift).of(property_)


def facts_of_report(facts: Iterable[Fact], report: int) -> list[Fact]:
    """The facts that a version of the report reads: before 5, no correction of a correction."""
    told = list(facts)
    if report >= REPORT_5:
        return told
    made = {(each.source, each.id) for each in told if isinstance(each.body, FactCorrected)}
    return [each for each in told if _corrected_by(each) not in made]


def _corrected_by(fact: Fact) -> tuple[str, str] | None:
    body = fact.body
    return (body.of.source, body.of.id) if isinstance(body, FactCorrected) else None


def sealed(found: Iterable[TableWin], version: int) -> list[TableWin]:
    """The wins as a version of the day says them."""
    return [msgspec.structs.replace(each, grade="SEALED", version=version) for each in found]


def printed(found: Iterable[TableWin]) -> bytes:
    """The wins as `win --version` prints them: a line of JSON each."""
    lines = (msgspec.structs.replace(each, pit=msgspec.UNSET) for each in found)
    return b"".join(msgspec.json.encode(each) + b"\n" for each in lines)


def digest(found: Iterable[TableWin]) -> str:
    """SHA-256 of the wins as printed."""
    return sha256(printed(found)).hexdigest()


def changes(before: TableWin | None, after: TableWin | None) -> dict[str, int | None]:
    """What each part that differs changes by; None if it is missing afterwards.

    What was missing changes by all that came, as does a table that one of both lacks (None).
    """
    found: dict[str, int | None] = {}
    for each in _changes(before, after):
        was_missing = before is not None and each.before is None
        amount = each.after if was_missing else each.amount
        if was_missing or amount != 0:
            found[each.name] = amount
    return found


def adjustments(
    before: Iterable[TableWin],
    after: Iterable[TableWin],
    arrived: Mapping[str, Sequence[FactRef]],
    edge: Mapping[str | None, Sequence[FactRef]],
    late: Sequence[FactRef],
    may_change: Callable[[FactRef, str], bool],
) -> list[Adjustment]:
    """How a version differs from the one before, by table and part, each with what can change it.

    `arrived`: the facts that came in between, by table; `edge`: those at the day's edge; `late`:
    all of the property. may_change: as `changers`.
    """
    olds = {each.table or "": each for each in before}
    news = {each.table or "": each for each in after}
    return [
        Adjustment(
            table=table,
            figure=each.name,
            amount=each.amount,
            before=each.before,
            after=each.after,
            facts=_changing(each.name, came, late, may_change),
        )
        for table in sorted({*olds, *news})
        for came in [list(dict.fromkeys((*arrived.get(table, ()), *beside(edge, table))))]
        for each in _changes(olds.get(table), news.get(table))
        if each.before != each.after
    ]


def _changing(
    figure: str,
    came: list[FactRef],
    late: Sequence[FactRef],
    may_change: Callable[[FactRef, str], bool],
) -> list[FactRef]:
    """Those of a table's late facts that can change a figure, or make it due or n/a.

    If none can, those elsewhere in the house that can; else all of the table.
    """
    for facts, name in ((came, figure), (came, f"due.{figure}"), (late, figure)):
        if found := [ref for ref in facts if may_change(ref, name)]:
            return found
    return came


_ROUNDS = (RoundId,)  # the class of a round's name: any fact that has one
_RULED = (*_ROUNDS, TableOpened, RulesSubmissionFiled, CouponsIssued)
_AMENDS = (AdjustmentPaid, DisputeRaised, *OPENS_DAY)
_SLIPS = (ChipSlip, *OPENS_DAY)
_SOLD = (CashBoughtIn, CounterCheckIssued, VoucherBoughtIn, *OPENS_DAY)
_MOVED = (*_ROUNDS, *_AMENDS)
_COUNTED = (InventoryCounted, VoucherBoughtIn, *BOX_FACTS, *_SLIPS)
_TRAY = (InventoryCounted, ChipsExchanged, *_SLIPS, *_SOLD, *_MOVED)
_BANK = (*BOX_FACTS, *_TRAY)
_CHECKS = (CounterCheckIssued, CounterCheckVoided, *BOX_FACTS, *OPENS_DAY)
_COUPONS = (*_ROUNDS, CouponDropped, CouponRange, CouponsIssued, CouponsVoided, *BOX_FACTS)
_ON_ITS_WAY = (InventoryCounted, *_SLIPS)
_BOXES = (*BOX_FACTS, *OPENS_DAY)

_MAY_CHANGE: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("opener", "closer", "seconds"), (InventoryCounted,)),
    **dict.fromkeys(("fills", "credits"), _SLIPS),
    "drop": BOX_FACTS,
    **dict.fromkeys(("drop.vouchers", "drop.total"), (VoucherBoughtIn, *BOX_FACTS)),
    "due.drop": (*_ROUNDS, *_SOLD),
    "coupons.counted": BOX_FACTS,
    "due.coupons.counted": (*_ROUNDS, *_SOLD),
    "counted": _COUNTED,
    "due.counted": _BANK,
    "handle": _ROUNDS,
    **dict.fromkeys(("owed", "expected", "coupons.funded"), _RULED),
    "moved": _MOVED,
    "cage_paid": _MOVED,
    "count_gap": (*_COUNTED, *_MOVED),
    "due.count_gap": _BANK,
    "pay_gap": (*_MOVED, *_RULED),
    "bank_variance": _BANK,
    "tournaments": (TournamentMoney,),
    **{f"items.{gap}.exchange": (ChipsExchanged, *OPENS_DAY) for gap in ("count", "bank")},
    **{
        f"items.{gap}.box_{kind}": (*sales, *_BOXES)
        for gap in ("count", "bank")
        for kind, sales in (
            ("cash", (CashBoughtIn,)),
            ("foreign", (CashBoughtIn,)),
            ("counter_checks", (CounterCheckIssued,)),
            ("vouchers", (VoucherBoughtIn,)),
            ("chips", _ROUNDS),
        )
    },
    **{f"items.{gap}.tray": _TRAY for gap in ("count", "bank")},
    **{f"items.{gap}.adjustment": _AMENDS for gap in ("pay", "bank")},
    "items.bank.play": _RULED,
    "items.pay": _RULED,
    **{
        f"causes.{slip}_{code}": _ON_ITS_WAY
        for slip in ("fill", "credit")
        for code in ("not_accepted", "sent_before")
    },
    **dict.fromkeys(
        ("causes.check_missing", "causes.check_voided", "causes.check_unknown"), _CHECKS
    ),
    **dict.fromkeys(("causes.voucher_missing", "causes.voucher_unknown"), (*_SOLD, *_BOXES)),
    **dict.fromkeys(
        ("causes.round_after_closer", "causes.round_of_day_before"), (*_ROUNDS, InventoryCounted)
    ),
    **{
        f"causes.{code}": _RULED
        for code in ("over_returned", "not_returned", "overpaid", "underpaid", "wrongly_collected")
    },
    **{
        f"exceptions.{code}": _ON_ITS_WAY
        for code in (
            *("slip_recorded_twice", "slip_accepted_and_voided", "slip_amounts_differ"),
            *("slip_changed", "slip_missing", "slip_number_used_twice", "slip_used_again"),
            *("slip_not_dispatched", "total_differs"),
        )
    },
    **{
        f"exceptions.{code}": _BOXES
        for code in (
            *("counts_disagree", "verification_disagrees", "counted_once", "notes_without_rate"),
            *("box_attached_twice", "box_not_attached"),
        )
    },
    **{
        f"exceptions.{code}": (InventoryCounted, *OPENS_DAY)
        for code in ("opener_differs", "open_counts_differ", "closer_before_opener")
    },
    **{
        f"exceptions.{code}": _CHECKS
        for code in ("check_voided_boxed", "check_issued_twice", "check_issued_before")
    },
    **{
        f"exceptions.coupon_{code}": (*_COUPONS, *OPENS_DAY)
        for code in ("redeemed_twice", "counted_elsewhere")
    },
    **{f"exceptions.{code}": (*_ROUNDS, *OPENS_DAY) for code in (TWO_KINDS, GAME_CHANGED)},
    "exceptions.signed_by_nobody": (*_SLIPS, *BOX_FACTS),
    "exceptions.dispute_of_other_table": _AMENDS,
}
"""The kinds of facts that can change a figure; any fact can change one that is not here.

A name stands for all that begin with it; the longest one counts. `due`: those that make a figure
due or n/a: the drop of a table without a box is 0 until it plays or sells.
"""


@lru_cache(4096)
def _kinds_for(figure: str) -> tuple[type, ...] | None:
    """The kinds of facts that can change a figure; None: any."""
    parts = figure.split(".")
    names = (".".join(parts[:count]) for count in range(len(parts), 0, -1))
    return next((_MAY_CHANGE[name] for name in names if name in _MAY_CHANGE), None)


def changers(facts: Iterable[Fact], gaming_day: str) -> Callable[[FactRef, str], bool]:
    """Whether a fact can change a figure of a day by its kind; a correction by its fact's kind.

    A start of another day can if it is the first after this one. facts: all of a property.
    """
    told = {(fact.source, fact.id): fact for fact in facts}
    ends = {
        (each.source, each.id): of
        for of, its in corrections_of(told.values()).items()
        for each in its
    }
    far = _far_starts(list(told.values()), gaming_day)

    def may_change(ref: FactRef, figure: str) -> bool:
        end = ends.get((ref.source, ref.id), (ref.source, ref.id))
        kinds, of = _kinds_for(figure), told.get(end)
        if kinds is None or of is None:
            return kinds is None and not figure.startswith("due.")
        return end not in far and any(isinstance(each, kinds) for each in (of.body, of.round))

    return may_change


def _far_starts(facts: Sequence[Fact], gaming_day: str) -> set[FactId]:
    """Starts of other days that do not end a gaming day, as recorded or as corrected."""
    far: set[FactId] = set()
    near: set[FactId] = set()
    for told in (facts, corrected(facts, corrections(facts))):
        starts: dict[TableId, list[Fact]] = defaultdict(list)
        for fact in sorted(
            (each for each in told if isinstance(each.body, OPENS_DAY)), key=by_time
        ):
            starts[table_of(fact)].append(fact)
        for its in starts.values():
            days = ("", *(own_day(fact) for fact in its))
            for fact, of_it_or_before in zip(its, pairwise(days), strict=True):
                (near if gaming_day in of_it_or_before else far).add((fact.source, fact.id))
    return far - near


def arrived(
    facts: Sequence[Fact], late: Iterable[Fact], gaming_day: str
) -> dict[str, list[FactRef]]:
    """Those of the `late` facts that belong to a gaming day, by table.

    A correction belongs where the corrected fact does. `facts`: all of a property, the late too.
    """
    at = _tables(facts, gaming_day)
    made = corrections_of(facts)
    ends = {(each.source, each.id): of for of, its in made.items() for each in its}
    found: dict[str, list[FactRef]] = defaultdict(list)
    for fact in late:
        key = (fact.source, fact.id)
        for table in at.get(ends.get(key, key), ()):
            found[table].append(FactRef(fact.source, fact.id))
    return found


class LateCorrections(NamedTuple):
    """A fact with its corrections: those of a version, and those that came later."""

    of: Fact
    signed: Sequence[Fact]
    late: Sequence[Fact]


def corrected_late(facts: Sequence[Fact], late: Iterable[Fact]) -> Iterator[LateCorrections]:
    """The facts that late ones correct. `facts`: all of a property, the late too."""
    told = {(fact.source, fact.id): fact for fact in facts}
    new = {(fact.source, fact.id) for fact in late}
    for of, its in corrections_of(facts).items():
        came = [each for each in its if (each.source, each.id) in new]
        if came and of in told:
            yield LateCorrections(told[of], [each for each in its if each not in came], came)


def at_edge(
    late: Iterable[Fact], gaming_day: str, corrected_: Iterable[LateCorrections]
) -> dict[str | None, list[FactRef]]:
    """Facts that may change a gaming day without being of it, by table; None: of every table.

    Another day's start ends it, and so does a correction of one; Rules Submissions decide its
    rounds. A correction may take a fact away from a table. corrected_: as `corrected_late`.
    """
    found: list[tuple[Fact, str | None]] = []
    for fact in late:
        body = fact.body
        if isinstance(body, OPENS_DAY) and own_day(fact) != gaming_day:
            found.append((fact, table_of(fact)[1]))
        elif isinstance(body, RulesSubmissionFiled) and body.effective_from <= gaming_day:
            [submission] = filed([fact])
            found.append((fact, submission.table))
    for each in corrected_:
        found += ((fact, table) for table in _left(each, gaming_day) for fact in each.late)
    refs: dict[str | None, list[FactRef]] = defaultdict(list)
    for fact, of_table in sorted(found, key=lambda each: by_time(each[0])):
        refs[of_table].append(FactRef(fact.source, fact.id))
    return refs


def _left(of: LateCorrections, gaming_day: str) -> set[str]:
    """The tables whose day a fact leaves by its late corrections, or ends otherwise than before."""
    if isinstance(of.of.body, OPENS_DAY) and own_day(of.of) != gaming_day:
        return {table_of(of.of)[1]}
    before, now = (
        {table_of(fact)[1] for fact in corrected([of.of], corrections(made))
         if own_day(fact) in (None, gaming_day)}
        for made in (of.signed, [*of.signed, *of.late])
    )  # fmt: skip
    return before - now


def beside(edge: Mapping[str | None, Sequence[FactRef]], table: str) -> list[FactRef]:
    """The facts at a day's edge that may change one table."""
    return [*edge.get(None, ()), *edge.get(table, ())]


def _tables(facts: Sequence[Fact], gaming_day: str) -> dict[tuple[str, str], dict[str, None]]:
    """The tables of each fact of a gaming day, by source and id: as recorded, and as corrected."""
    of_rounds = (fact for fact in facts if fact.round and fact.round.gaming_day == gaming_day)
    found = {(f.source, f.id): {f.round.table: None} for f in of_rounds if f.round}
    disputed, tables = disputed_tables(facts), tables_with_day(facts)
    for told in (facts, corrected(facts, corrections(facts))):
        for (_, table), money in tables_of(told, placing(told, disputed, tables)).items():
            slips = (fact for slip in money.slips.get(gaming_day, ()) for fact in slip.facts)
            days = (day_before(gaming_day), money.last_open.get(gaming_day, ""))
            before = [closer for day in days if (closer := closer_of(money.days.get(day, ())))]
            openers = before[:1]
            for fact in (*money.days.get(gaming_day, ()), *slips, *openers):
                found.setdefault((fact.source, fact.id), {})[table] = None
    return found


class _Change(NamedTuple):
    """A part before and after, and what it changes by."""

    name: str
    before: int | None
    after: int | None
    amount: int | None


def _changes(before: TableWin | None, after: TableWin | None) -> Iterator[_Change]:
    """The parts that differ; of a table that one of both lacks, those that it has."""
    old, new = (win_parts(each) if each else {} for each in (before, after))
    for name in {**old, **new}:
        was, now = (_part(name, of, parts) for of, parts in ((before, old), (after, new)))
        only = before or after if not (before and after) else None
        if not _has(name, only, was if before else now) if only else was == now:
            continue
        is_missing = (before and was is None) or (after and now is None)
        yield _Change(name, was, now, None if is_missing else (now or 0) - (was or 0))


def _part(name: str, of: TableWin | None, parts: Mapping[str, int | None]) -> int | None:
    """A part of a win; 0 for an item, cause or exception that a table does not have."""
    return parts.get(name, 0) if of else None


def _has(name: str, of: TableWin, amount: int | None) -> bool:
    """Whether a table has a figure: neither 0, nor one of the other kind of game."""
    if of.owed is None:
        return amount != 0 and name not in OF_BANKED and not name.startswith("expected.")
    return amount != 0 and name not in OF_POKER
