"""Match Play Coupons from printer to box (603a.20-21): a line for each batch, by its serials.

A batch is what was received in one delivery; what was issued without a receipt is one, too. The
figures count pieces. An equation compares sets of serials, so that it names what does not fit.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from ledger.facts import (
    CouponDropped,
    CouponRefused,
    CouponsCancelled,
    CouponsDistributed,
    CouponsInventoried,
    CouponsIssued,
    CouponsReceived,
    CouponsRequisitioned,
    CouponsReturned,
    CouponsVoided,
    DropBoxCounted,
    TableOpened,
)
from ledger.facts.accounting import CouponRange
from ledger.finance.boxes import BOX_FACTS, boxes, boxes_of_days, coupons_in, papers_in
from ledger.finance.placing import OPENS_DAY, Days, by_time, own_day, table_of
from ledger.finance.serials import (
    Serials,
    each_of,
    is_range,
    numbered,
    range_text,
    serials,
    union,
)
from ledger.finance.win import AuditException
from ledger.rules.engine.ruling import FactRef, refs
from ledger.values import quantity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ledger.finance.boxes import PaperKind
    from ledger.finance.placing import PaperUse, TableId
    from ledger.finance.serials import SerialRange
    from ledger.record.wire import Fact

COUPON_FACTS = (
    CouponDropped,
    CouponRefused,
    CouponsCancelled,
    CouponsInventoried,
    CouponsIssued,
    CouponsVoided,
    CouponRange,
    TableOpened,
    *BOX_FACTS,
)
"""Facts that the lines rest on."""


class CouponException(Struct, frozen=True, kw_only=True):
    """Serials that somebody must look at. serials: ranges, first and last of each."""

    code: str
    says: str
    serials: list[tuple[str, str]]
    facts: list[FactRef] = []


class BatchLine(Struct, frozen=True, kw_only=True):
    """One batch of coupons, in pieces. face: cents.

    equations: E1 issued ⊆ received, E2 distributed when held, E3 redeemed ⊆ distributed, E4 dropped
    = counted by table, E5 distributed, returned and voided apart, E6 inventory = what is held,
    E7 redeemed once. None: no fact says it.
    """

    serial_from: str
    serial_to: str
    face: int
    received: int
    issued: int
    distributed: int
    returned: int
    voided: int
    dropped: int
    redeemed: int
    refused: int
    outstanding: int
    equations: dict[str, bool | None]
    exceptions: list[CouponException]


PIECES = (
    *("received", "issued", "distributed", "returned", "voided"),
    *("dropped", "redeemed", "refused", "outstanding"),
)
"""The figures of a batch's line, which count pieces."""


class UnknownLine(Struct, frozen=True, omit_defaults=True):
    """Serials of no batch that were seen: first and last of each range.

    exceptions: those that tables took although the house issued batches, and papers of no batch
    that name serials which are no range.
    """

    unknown: list[tuple[str, str]]
    exceptions: list[CouponException] = []


class QuarterLine(Struct, frozen=True, kw_only=True):
    """The coupons of one face that were redeemed in a quarter (603a.20(o)). face, value: cents.

    face: None: neither a batch nor a table says it.
    """

    face: int | None
    redeemed: int
    value: int | None


class CouponStep(NamedTuple):
    """A fact that moves serials."""

    fact: Fact
    what: str
    serials: Serials
    no_ranges: Sequence[tuple[str, str]] = ()  # first and last of what is no range

    @property
    def seen(self) -> Serials:
        """The ends of what is no range: somebody has read them on a paper."""
        return each_of(serial for ends in self.no_ranges for serial in ends)


class _Told(NamedTuple):
    """The steps of one property in order of time, and the coupons in each box's last count."""

    steps: Sequence[CouponStep]
    boxed: Mapping[str, Sequence[Fact]]  # by serial: the counts, a count as often as it has it
    counted_us: Mapping[TableId, int]  # the last count of a box of each table
    against_terms: Mapping[str, Serials]  # by code: what tables should not have taken

    def dropped_before_a_count(self) -> Serials:
        """The serials dropped at a table that has a later count of a box."""
        return union(
            each.serials
            for each in self.steps
            if each.what == "dropped"
            and each.fact.time_us < self.counted_us.get(table_of(each.fact), 0)
        )

    def counted_elsewhere(self) -> Serials:
        """The serials dropped at tables whose boxes lack them, and found in others' boxes."""
        dropped: dict[str, set[TableId]] = defaultdict(set)
        for each in self.steps:
            if isinstance(each.fact.body, CouponDropped):
                dropped[each.fact.body.serial].add(table_of(each.fact))
        found = []
        for serial, tables in dropped.items():
            counted = set(map(table_of, self.boxed.get(serial, ())))
            if counted - tables and tables - counted:
                found.append(serial)
        return each_of(found)

    def used_after_cancelled(self) -> Serials:
        """The serials dropped at a table after they were cancelled."""
        gone: set[str] = set()
        found: list[str] = []
        for each in self.steps:
            body = each.fact.body
            if isinstance(body, CouponsCancelled):
                gone.update(body.serials)
            elif isinstance(body, CouponDropped) and body.serial in gone:
                found.append(body.serial)
        return each_of(found)

    def taken(self, code: str) -> Serials:
        """The serials that tables should not have taken."""
        return self.against_terms.get(code, Serials())

    def all(self, what: str, until: int | None = None) -> Serials:
        """Every serial of the steps of one kind."""
        return union(each.serials for each in self.steps[:until] if each.what == what)


BOXED = "boxed"
"""The step of the coupons that the last count of a box found."""

USED = ("dropped", BOXED)
"""The steps after which a coupon lies in a box."""

LEFT = ("distributed", "voided", "cancelled", *USED)
"""The steps after which a coupon is neither in stock nor held by marketing."""

_WHAT: dict[type, str] = {
    CouponsReceived: "received",
    CouponsIssued: "issued",
    CouponsDistributed: "distributed",
    CouponsReturned: "returned",
    CouponsVoided: "voided",
    CouponsCancelled: "cancelled",
    CouponDropped: "dropped",
    CouponRefused: "refused",
    CouponsInventoried: "inventoried",
}


def lines(facts: Iterable[Fact]) -> list[BatchLine | UnknownLine]:
    """A line for each batch of one property, in order of serial; then the serials of no batch."""
    told = _told(facts)
    found: list[BatchLine | UnknownLine] = []
    known = Serials()
    for face, batch in _batches(told):
        found.append(_line(told, face, batch))
        known |= batch
    named = map(told.all, ("dropped", "refused", "cancelled"))
    seen = union([*(each.seen for each in told.steps), *named])
    unknown = (seen | each_of(told.boxed)) - known
    if not unknown.pieces:
        return found
    of_none = [e for step in told.steps if not (step.seen & known).pieces for e in _no_ranges(step)]
    taken = told.taken(UNKNOWN) & unknown
    of_none += [_exception(told, UNKNOWN, taken)] if taken.pieces else []
    return [*found, UnknownLine(unknown.ends, of_none)]


def named_serials(body: object) -> Serials:
    """The serials that a fact about coupons names; none of any other fact."""
    if isinstance(body, CouponsVoided | CouponsCancelled):
        return each_of(body.serials)
    if isinstance(body, CouponDropped | CouponRefused):
        return each_of([body.serial])
    return union(serials(*ends) for ends in _ends(body))


def coupon_steps(facts: Iterable[Fact]) -> tuple[Sequence[CouponStep], list[tuple[int, Serials]]]:
    """The steps of all coupons in order of time; face and serials of each batch."""
    told = _told(facts)
    return told.steps, list(_batches(told))


def quarter(facts: Iterable[Fact], name: str) -> list[QuarterLine]:
    """What was redeemed in a quarter (`2026-Q4`) by face; a serial counts once, in its first box.

    A serial of no batch has the face that its table recorded, else none that is known.
    """
    told = _told(facts)
    faces = list(_batches(told))
    recorded = {
        each.fact.body.serial: each.fact.body.face
        for each in told.steps
        if isinstance(each.fact.body, CouponDropped)
    }
    found: dict[int | None, int] = defaultdict(int)
    for serial, counts in told.boxed.items():
        first = min(_day(fact) for fact in counts)
        if quarter_of(first) == name:
            its = each_of([serial])
            face = next((face for face, batch in faces if (batch & its).pieces), None)
            found[recorded.get(serial) if face is None else face] += 1
    return [
        QuarterLine(face=face, redeemed=pieces, value=None if face is None else face * pieces)
        for face, pieces in sorted(found.items(), key=lambda each: (each[0] is None, each[0] or 0))
    ]


def quarter_of(gaming_day: str) -> str:
    """The quarter of a gaming day: `2026-Q4`."""
    return f"{gaming_day[:4]}-Q{(int(gaming_day[5:7]) + 2) // 3}"


def _told(facts: Iterable[Fact]) -> _Told:
    ordered = sorted(facts, key=by_time)
    boxed = coupons_in(boxes_of_days(ordered))
    held: dict[tuple[str, str], list[str]] = defaultdict(list)
    for serial, counts in boxed.items():
        for count in counts:
            held[count.source, count.id].append(serial)
    steps = []
    for fact in ordered:
        if its := held.get((fact.source, fact.id)):
            steps.append(CouponStep(fact, BOXED, each_of(its)))
        elif what := _WHAT.get(type(fact.body)):
            named = named_serials(fact.body)
            steps.append(CouponStep(fact, what, named, _no_range_ends(fact)))
    counted = (fact for fact in ordered if isinstance(fact.body, DropBoxCounted))
    counted_us = {table_of(fact): fact.time_us for fact in counted}
    return _Told(steps, boxed, counted_us, _against_terms(ordered, boxed))


def _against_terms(
    facts: Sequence[Fact], boxed: Mapping[str, Sequence[Fact]]
) -> dict[str, Serials]:
    """The coupons that tables took against their terms, by code. facts: in order of time."""
    issued = IssuedCoupons(facts)
    days: dict[TableId, list[Fact]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact.body, OPENS_DAY):
            days[table_of(fact)].append(fact)
    starts = {table: Days(its) for table, its in days.items()}
    games: dict[tuple[TableId, str | None], list[str]] = defaultdict(list)
    for table, its in days.items():
        for fact in its:
            games[table, own_day(fact)] += games_of([fact])
    drops = [fact for fact in facts if isinstance(fact.body, CouponDropped)]
    taken = [(serial, fact) for serial, its in boxed.items() for fact in its]
    taken += [(fact.body.serial, fact) for fact in drops if isinstance(fact.body, CouponDropped)]
    found: dict[str, list[str]] = defaultdict(list)
    for serial, fact in taken:
        table = table_of(fact)
        day = own_day(fact) or (starts[table].at(fact.time_us) if table in starts else None)
        is_dropped = isinstance(fact.body, CouponDropped)
        of = TakenCoupon(serial, day or "", games.get((table, day), ()), fact.time_us, is_dropped)
        for code, _ in issued.faults(of):
            found[code].append(serial)
    return {code: each_of(its) for code, its in found.items()}


def _ends(body: object) -> Sequence[tuple[str, str]]:
    """First and last of each range that a fact names."""
    if isinstance(body, CouponRange | CouponsIssued):
        return [(body.serial_from, body.serial_to)]
    return body.held if isinstance(body, CouponsInventoried) else ()


def _no_range_ends(fact: Fact) -> list[tuple[str, str]]:
    return [ends for ends in _ends(fact.body) if not is_range(*ends)]


def _day(fact: Fact) -> str:
    return fact.body.gaming_day if isinstance(fact.body, DropBoxCounted) else ""


def _batches(told: _Told) -> Iterator[tuple[int, Serials]]:
    """The face and serials of each batch; a serial is in one batch, the first that has it."""
    known = Serials()
    found = []
    for what in ("received", "issued"):
        for each in told.steps:
            body = each.fact.body
            if each.what == what and isinstance(body, CouponRange | CouponsIssued):
                new = each.serials - known
                known |= new
                found += [(body.face, serials(*ends)) for ends in new.ends]
    yield from sorted(found, key=lambda batch: batch[1].ranges)


# -- one batch -----------------------------------------------------------------------------------


def _line(told: _Told, face: int, batch: Serials) -> BatchLine:
    its = {what: told.all(what) & batch for what in set(_WHAT.values())}
    redeemed = told.all(BOXED) & batch
    [(first, last)] = batch.ends
    exceptions = list(_exceptions(told, batch, its, redeemed))
    codes = {each.code for each in exceptions}
    return BatchLine(
        serial_from=first,
        serial_to=last,
        face=face,
        issued=_pieces(told, "issued", "returned", batch),
        returned=_pieces(told, "returned", "issued", batch),
        **{what: its[what].pieces for what in ("received", "distributed", "voided")},
        **{what: its[what].pieces for what in ("dropped", "refused")},
        redeemed=redeemed.pieces,
        outstanding=(_given(told)[0] & (batch - redeemed)).pieces,
        equations=_equations(told, its["distributed"], codes),
        exceptions=exceptions,
    )


_BROKEN_BY = {
    "E1": ("not_received", "issued_twice"),
    "E2": ("not_held",),
    "E3": ("not_distributed",),
    "E4": ("dropped_not_counted", "counted_not_dropped", "counted_elsewhere"),
    "E5": ("moved_twice",),
    "E6": ("inventory_differs",),
    "E7": ("redeemed_twice",),
}
"""The exceptions that break each equation."""


def _equations(told: _Told, given: Serials, codes: set[str]) -> dict[str, bool | None]:
    """Whether each equation holds; None: no fact says it.

    A house that records no receipt says nothing of E1, one that records no distribution nothing of
    E2, E3 and E5.
    """
    found: dict[str, bool | None] = {
        name: codes.isdisjoint(broken_by) for name, broken_by in _BROKEN_BY.items()
    }
    if all(each.what != "inventoried" for each in told.steps):
        found["E6"] = None
    if not told.all("received").pieces:
        found["E1"] = None
    if not given.pieces:
        found |= dict.fromkeys(("E2", "E3", "E5"))
    return found


def _exceptions(
    told: _Told, batch: Serials, its: Mapping[str, Serials], redeemed: Serials
) -> Iterator[CouponException]:
    given, voided = its["distributed"], its["voided"]
    used = redeemed | its["dropped"]
    none = Serials()
    twice = each_of(serial for serial, counts in told.boxed.items() if len(counts) > 1) & batch
    found = {
        "not_received": its["issued"] - its["received"] if told.all("received").pieces else none,
        "issued_twice": _repeated(told, "issued", batch),
        "not_held": _not_held(told, batch),
        "not_distributed": used - given if given.pieces else none,
        "moved_twice": _given(told)[1] & batch,
        "dropped_not_counted": (told.dropped_before_a_count() & batch) - redeemed,
        "counted_not_dropped": redeemed - its["dropped"],
        "counted_elsewhere": told.counted_elsewhere() & batch,
        "voided_redeemed": used & voided,
        "cancelled_used": told.used_after_cancelled() & batch,
        "redeemed_twice": twice,
        **{code: told.taken(code) & batch for code in (EXPIRED, OTHER_GAME)},
        NOT_ISSUED: (told.taken(NOT_ISSUED) | told.taken(UNKNOWN)) & batch,
    }
    for code, of in found.items():
        if of.pieces:
            yield _exception(told, code, of)
    yield from _inventories(told, batch)
    for step in told.steps:
        if (step.seen & batch).pieces:
            yield from _no_ranges(step)


def _no_ranges(step: CouponStep) -> Iterator[CouponException]:
    """What a paper names from a serial to one of another series, or to a lower one."""
    for first, last in step.no_ranges:
        yield CouponException(
            code="no_range",
            says=f"Coupons {first} to {last} were {step.what}, which is no range: it counts none.",
            serials=[(first, last)],
            facts=refs([step.fact]),
        )


_SAYS = {
    "not_received": ("issued, and not received", ("issued",)),
    "issued_twice": ("issued twice", ("issued",)),
    "not_held": ("distributed while not held", ("issued", "distributed")),
    "not_distributed": ("used, and distributed to nobody on record", USED),
    "moved_twice": (
        "distributed, and returned or voided too",
        ("distributed", "returned", "voided"),
    ),
    "dropped_not_counted": ("dropped at a table, and in no box", ("dropped",)),
    "counted_not_dropped": ("in a box, and dropped at no table", (BOXED,)),
    "counted_elsewhere": ("dropped at one table, and in the box of another", USED),
    "voided_redeemed": ("used though voided", ("voided", *USED)),
    "cancelled_used": ("used after being cancelled", ("cancelled", "dropped")),
    "redeemed_twice": ("counted more than once", (BOXED,)),
    "inventory_differs": ("not as the inventory says", ("inventoried",)),
    "expired": ("used after the last gaming day", USED),
    "other_game": ("used at a table of another game", USED),
    "not_issued": ("used, and not issued until then", ("issued", *USED)),
    "unknown": ("used, and of no issued batch", USED),
}
"""What each exception says of its serials, and the steps whose facts it names."""


def _exception(told: _Told, code: str, of: Serials) -> CouponException:
    says, whats = _SAYS[code]
    facts = [each.fact for each in told.steps if each.what in whats and (each.serials & of).pieces]
    if code == "inventory_differs":
        facts = [each.fact for each in told.steps if each.what == "inventoried"]
    unique = {(fact.source, fact.id): fact for fact in facts}
    return CouponException(
        code=code,
        says=f"{quantity(of.pieces, 'coupon')} {'was' if of.pieces == 1 else 'were'} {says}:"
        f" {', '.join(range_text(*each) for each in of.ends)}.",
        serials=of.ends,
        facts=refs(list(unique.values())),
    )


def _repeated(told: _Told, what: str, batch: Serials) -> Serials:
    """Serials that were issued again before they came back."""
    out, found = Serials(), Serials()
    for each in told.steps:
        if each.what == what:
            found |= each.serials & out
            out |= each.serials
        elif each.what == "returned":
            out -= each.serials
    return found & batch


def _pieces(told: _Told, what: str, undone_by: str, batch: Serials) -> int:
    """How many coupons took a step. One counts again if another step undid it before."""
    found, there = 0, Serials()
    for each in told.steps:
        if each.what == what:
            found += ((each.serials - there) & batch).pieces
            there |= each.serials
        elif each.what == undone_by:
            there -= each.serials
    return found


def _not_held(told: _Told, batch: Serials) -> Serials:
    """Serials that were distributed before they were issued, or after they had left."""
    held, found = Serials(), Serials()
    for each in told.steps:
        if each.what == "issued":
            held |= each.serials
        elif each.what == "distributed":
            found |= each.serials - held
            held -= each.serials
        elif each.what in ("returned", "voided"):
            held -= each.serials
    return found & batch


def _given(told: _Told) -> tuple[Serials, Serials]:
    """Serials that patrons have, and those that were given away and taken back, in either order.

    What came back may be issued again, and is then given like any other.
    """
    given, away, found = Serials(), Serials(), Serials()
    for each in told.steps:
        if each.what == "issued":
            given, away = given - each.serials, away - each.serials
        elif each.what == "distributed":
            found |= each.serials & away
            given |= each.serials
        elif each.what in ("returned", "voided"):
            found |= each.serials & given
            given, away = given - each.serials, away | each.serials
    return given, found


def _inventories(told: _Told, batch: Serials) -> Iterator[CouponException]:
    """Inventories that are not what was received less what left stock and marketing by then."""
    for at, each in enumerate(told.steps):
        if each.what == "inventoried":
            there = told.all("received", at) | told.all("issued", at)
            held = (there - union(told.all(what, at) for what in LEFT)) & batch
            counted = each.serials & batch
            differs = (held - counted) | (counted - held)
            if differs.pieces:
                yield _exception(told, "inventory_differs", differs)


# -- coupons that a table took against their terms (603a.20(c)) ------------------------------------

EXPIRED, OTHER_GAME, NOT_ISSUED, UNKNOWN = "expired", "other_game", "not_issued", "unknown"
AGAINST_TERMS = (EXPIRED, OTHER_GAME, NOT_ISSUED, UNKNOWN)
"""Why a table should not have taken a coupon."""


TableDay = tuple[str, str, str]
"""Property, gaming day and table."""


class TakenCoupon(NamedTuple):
    """A coupon at a table on a gaming day. games: those that the table opened for."""

    serial: str
    gaming_day: str
    games: Collection[str]
    at_us: int  # when it was dropped, or counted if no drop of it is on record
    is_dropped: bool


class _Issue(NamedTuple):
    range: SerialRange
    at: tuple[int, str, str]  # sorts by time
    terms: CouponsIssued


class _Series(NamedTuple):
    """The issues of serials of one text and width, by their first number."""

    issues: list[_Issue]
    reach: list[int]  # the highest number of each issue and of those before it


class IssuedCoupons:
    """The batches that a house issued. Nothing is known of its coupons before the first one."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        found: dict[tuple[str, int], list[_Issue]] = defaultdict(list)
        for fact in facts:
            if isinstance(body := fact.body, CouponsIssued):
                for each in serials(body.serial_from, body.serial_to).ranges:
                    found[each[:2]].append(_Issue(each, by_time(fact), body))
        self._series = {key: _series(its) for key, its in found.items()}
        self._since_us = min((each.at[0] for its in found.values() for each in its), default=None)

    def of(self, serial: str) -> list[_Issue]:
        """The issues of a serial, in order of time."""
        its = numbered(serial)
        if (series := self._series.get(its[:2])) is None:
            return []
        found, at = [], bisect_right(series.issues, its.low, key=lambda each: each.range.low)
        while at and series.reach[at - 1] >= its.low:
            at -= 1
            if series.issues[at].range.high >= its.low:
                found.append(series.issues[at])
        return sorted(found, key=lambda each: each.at)

    def faults(self, of: TakenCoupon) -> Iterator[tuple[str, str]]:
        """Code and words of what the terms of a coupon do not allow.

        They are those of its last issue until then, so that a later one changes no earlier day.
        """
        its = self.of(of.serial)
        if not its:
            if self._since_us is not None and self._since_us <= of.at_us:
                yield UNKNOWN, "is of no issued batch"
            return
        before = [each for each in its if each.at[0] <= of.at_us]
        terms = before[-1].terms if before else its[0].terms
        if of.gaming_day > terms.expires:
            yield EXPIRED, f"expired after {terms.expires}"
        if terms.games and of.games and not set(of.games) & set(terms.games):
            played = " and ".join(dict.fromkeys(of.games))
            yield OTHER_GAME, f"is for {', '.join(terms.games)}, and the table played {played}"
        if of.is_dropped and not before:
            yield NOT_ISSUED, "was not issued until later"


def _series(its: list[_Issue]) -> _Series:
    ordered = sorted(its, key=lambda each: (each.range.low, each.at))
    return _Series(ordered, list(accumulate((each.range.high for each in ordered), max)))


def games_of(facts: Iterable[Fact]) -> list[str]:
    """The games that a table opened for, in these facts of it."""
    return [fact.body.game for fact in facts if isinstance(fact.body, TableOpened)]


def against_terms(
    days: Mapping[TableDay, Sequence[Fact]],
    used: Mapping[tuple[str, PaperKind, str], Sequence[PaperUse]],
    games: Mapping[TableDay, Sequence[str]],
    issued: Mapping[str, IssuedCoupons],
) -> dict[TableDay, list[AuditException]]:
    """Coupons that tables took against their terms, by the day on which they were taken.

    days: facts of boxes, in order of time; used: as `papers_used`; games: those that each table's
    day opened for; issued: by property.
    """
    drops: dict[tuple[TableDay, str], list[PaperUse]] = defaultdict(list)
    for (_, kind, serial), its in used.items():
        for use in its if kind == "coupon" else ():
            drops[use.day, serial].append(use)
    counts = {
        (day, serial): its
        for day in days
        for serial, its in papers_in(boxes(days[day]), "coupon").items()
    }
    found: dict[TableDay, list[AuditException]] = defaultdict(list)
    for day, serial in sorted({*drops, *counts}):
        uses, seen = sorted(drops.get((day, serial), ())), counts.get((day, serial), [])
        at_us = uses[0].time_us if uses else min(each.time_us for each in seen)
        of = TakenCoupon(serial, day[1], games.get(day, ()), at_us, is_dropped=bool(uses))
        facts = [*(each.ref for each in uses), *refs(seen)]
        for code, says in issued[day[0]].faults(of) if day[1] and day[0] in issued else ():
            found[day].append(
                AuditException(code=f"coupon_{code}", says=f"Coupon {serial} {says}.", facts=facts)
            )
    return found


# -- what a decision about a batch rests on --------------------------------------------------------


class CouponStock(NamedTuple):
    """The serials of a house by their state, and its requisitions by number."""

    batches: Sequence[tuple[int, Serials]] = ()  # face and serials of each
    received: Serials = Serials()
    out: Serials = Serials()  # issued, and neither given to patrons nor taken back
    given: Serials = Serials()  # patrons have them, or had them
    used: Serials = Serials()  # dropped at a table or found in a box
    voided: Serials = Serials()
    cancelled: Serials = Serials()
    requisitions: Mapping[str, CouponsRequisitioned] = {}
    requisitioned: Mapping[str, int] = {}  # pieces issued on each

    @property
    def known(self) -> Serials:
        """The serials of all batches."""
        return union(batch for _, batch in self.batches)

    def of_another_face(self, its: Serials, face: int) -> Serials:
        """Those of these serials whose batch has another face."""
        return union(batch for of, batch in self.batches if of != face) & its


def stock(facts: Iterable[Fact]) -> CouponStock:
    """The stock of one property after these facts, in order of time."""
    told = sorted(facts, key=by_time)
    steps, batches = coupon_steps(told)
    of = {
        what: union(step.serials for step in steps if step.what == what)
        for what in ("received", "voided", "cancelled", *USED)
    }
    out, given = _moved(steps)
    bodies = [fact.body for fact in told]
    return CouponStock(
        batches=batches,
        received=of["received"],
        out=out,
        given=given,
        used=of["dropped"] | of[BOXED],
        voided=of["voided"],
        cancelled=of["cancelled"],
        requisitions={
            body.requisition: body for body in bodies if isinstance(body, CouponsRequisitioned)
        },
        requisitioned=_issued_on(steps),
    )


def _moved(steps: Iterable[CouponStep]) -> tuple[Serials, Serials]:
    """The serials that a department has, and those that patrons got of it."""
    out, given = Serials(), Serials()
    for step in steps:
        its = step.serials
        if step.what == "issued":
            out, given = out | its, given - its
        elif step.what == "distributed":
            out, given = out - its, given | its
        elif step.what == "returned":
            out, given = out - its, given - its
        elif step.what in LEFT:
            out -= its
    return out, given


def _issued_on(steps: Iterable[CouponStep]) -> dict[str, int]:
    found: dict[str, int] = {}
    for step in steps:
        body = step.fact.body
        if isinstance(body, CouponsIssued) and body.requisition:
            found[body.requisition] = found.get(body.requisition, 0) + step.serials.pieces
    return found
