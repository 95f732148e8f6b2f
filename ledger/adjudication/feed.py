"""Rulings on a whole feed: every round, and the procedures of every table.

Pure and without a database: a feed gives its rulings, in the order the rounds began. Facts in
another order of arrival, or sent twice, give the same rulings.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import chain
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, field

from ledger.adjudication.adjudicate import RoundRecord
from ledger.adjudication.corrections import Corrections, corrections, rule_corrected
from ledger.adjudication.submissions import filed, in_force, kept_rules
from ledger.facts import (
    CouponsIssued,
    FactCorrected,
    RulesSubmissionFiled,
    SeatLeft,
    SeatTaken,
    StubCounted,
    TableOpened,
    WagerPlaced,
)
from ledger.games import games
from ledger.rules.engine import coupons as coupon_facts
from ledger.rules.engine.clock_skew import span
from ledger.rules.engine.order import DeviceCounters, Gap, in_order
from ledger.rules.engine.review import lost_facts
from ledger.rules.engine.ruling import Finding, Ruling, TableFindings
from ledger.rules.engine.steps import said
from ledger.rules.procedures import meters, supervision, table_procedures
from ledger.rules.procedures.equipment import Equipment
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from ledger.adjudication.submissions import FiledSubmission
    from ledger.record.wire import Fact
    from ledger.rules.engine.coupons import CouponBatch
    from ledger.rules.engine.game import InForce
    from ledger.rules.procedures.equipment import RulesOf

TableId = tuple[str, str]
"""Property and table."""


CONTEXT_FACTS = (SeatTaken, SeatLeft, StubCounted, TableOpened)
"""Facts of a table that name no round, but that a ruling on a round may depend on."""

_time = attrgetter("time_us")


class Coupons(NamedTuple):
    """Coupon facts for a ruling: batches issued, and facts about the round's serials."""

    batches: Sequence[CouponBatch] = ()  # batches of every property
    told: Iterable[Fact] = ()  # facts of its property that play, drop or refuse its serials


NO_COUPONS = Coupons()


class TableContext:
    """A table's facts of the kinds `CONTEXT_FACTS`, by time, for the rounds of its day."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._facts = sorted(facts, key=_time)
        self._times = [fact.time_us for fact in self._facts]
        self._standing: list[Sequence[Fact]] = [()]  # after none of the facts, after one, ...
        held: list[Fact] = []
        opened: Fact | None = None
        for fact in self._facts:
            body = fact.body
            if isinstance(body, SeatTaken):
                held = [*held, fact]
            elif isinstance(body, SeatLeft):
                left = set(body.positions)
                held = [each for each in held if left.isdisjoint(said(each, SeatTaken).positions)]
            elif isinstance(body, TableOpened):
                opened = latest(opened, fact)
            self._standing.append([*held, opened] if opened else held)

    def of(self, first_us: int, last_us: int) -> list[Fact]:
        """The context of a round between these times, as `record_of` takes it.

        Seats taken and left before it, and earlier openings, are left out.
        """
        at = bisect_right(self._times, first_us)
        return [*self._standing[at], *self._facts[at : bisect_right(self._times, last_us)]]


class _Table(Struct):
    """A table's facts that are not only read for one round, in order of arrival."""

    context: list[Fact] = field(default_factory=list)  # CONTEXT_FACTS outside rounds
    procedures: list[Fact] = field(default_factory=list)
    coupons: list[Fact] = field(default_factory=list)


class _Round(Struct):
    """The places of a round's facts in the feed, in order of arrival, and its first time."""

    places: array[int]
    first_us: int


class _Feed(Struct):
    """A feed sorted by what its facts are for. Facts of rounds are left in place."""

    rounds: dict[RoundId, _Round] = field(default_factory=dict)
    tables: dict[TableId, _Table] = field(default_factory=dict)
    floors: dict[str, list[Fact]] = field(default_factory=dict)  # supervision, by property
    office: list[Fact] = field(default_factory=list)
    counters: DeviceCounters = field(default_factory=DeviceCounters)


class _Due(NamedTuple):
    """A ruling to make or a table finding made, and the time that orders it."""

    time_us: int
    table: TableId
    what: RoundId | TableFindings


def adjudicate(
    facts: Iterable[Fact], gaming_day: str | None = None
) -> Iterator[Ruling | TableFindings]:
    """Rule on every round of a feed, or of a gaming day in it.

    Findings outside rounds come with the fact that ends them.

    A sequence is read once from its beginning, and then the facts of each round by their indexes.
    Rulings are made one by one as they are asked for.
    """
    told = facts if isinstance(facts, Sequence) else list(facts)
    feed = _sorted(told)
    submissions = filed(feed.office)
    lost = feed.counters.gaps(told)
    due = [
        _Due(its.first_us, (round_.property, round_.table), round_)
        for round_, its in feed.rounds.items()
        if gaming_day in (None, round_.gaming_day)
    ]
    for table, kept in feed.tables.items():
        due += _of_table(table, kept.procedures, submissions)
    for property_, its in feed.floors.items():
        due += _of_floor(property_, its)
    due += [_gap(gap) for gap in lost if gap.after.round is None]
    due.sort(key=itemgetter(0, 1))
    ruled = _rulings(told, feed, submissions, lost)
    return (ruled(each.what) if isinstance(each.what, RoundId) else each.what for each in due)


def _sorted(facts: Sequence[Fact]) -> _Feed:
    """Sort a feed in one pass. A repeated source and id adds nothing."""
    feed = _Feed()
    seen: dict[str, set[str]] = defaultdict(set)
    rounds, count, metered = feed.rounds, feed.counters.add, _metered()
    for place, fact in enumerate(facts):
        ids = seen[fact.source]
        if fact.id in ids:
            continue
        ids.add(fact.id)
        count(place, fact)
        if fact.round is not None:
            its = rounds.get(fact.round)
            if its is None:
                its = rounds[fact.round] = _Round(array("q"), fact.time_us)
            its.places.append(place)
            its.first_us = min(its.first_us, fact.time_us)
        kind = fact.body.__class__
        if kind in _KEPT or (kind in meters.WAGERS and _is_kept(fact, metered)):
            _keep(feed, fact)
    return feed


_OFFICE = frozenset((RulesSubmissionFiled, CouponsIssued, FactCorrected))
_KEPT: frozenset[type] = (
    frozenset(
        (*_OFFICE, *CONTEXT_FACTS, *coupon_facts.TOLD, *table_procedures.HEARD, *supervision.HEARD)
    )
    - meters.WAGERS
)
"""Kinds of fact that are read for more than the ruling on their own round, besides wagers."""


def _is_kept(wager: Fact, metered: frozenset[str]) -> bool:
    """Whether a fact of a wager feeds a progressive meter or plays a coupon."""
    body: Any = wager.body
    return body.wager in metered or (body.__class__ is WagerPlaced and body.coupon is not None)


def _keep(feed: _Feed, fact: Fact) -> None:
    """Keep a fact for all that reads it besides its round."""
    kind = fact.body.__class__
    if kind in _OFFICE:
        feed.office.append(fact)
    if not fact.table:
        return
    property_ = fact.source.split("/")[1]
    table = feed.tables.get((property_, fact.table))
    if table is None:
        table = feed.tables[property_, fact.table] = _Table()
    if kind in CONTEXT_FACTS and fact.round is None:
        table.context.append(fact)
    if is_procedural(fact):
        table.procedures.append(fact)
    if kind in coupon_facts.TOLD and coupon_facts.serial_of(fact):
        table.coupons.append(fact)
    if kind in supervision.HEARD:
        feed.floors.setdefault(property_, []).append(fact)


def deduplicate(facts: Iterable[Fact]) -> list[Fact]:
    """Each fact once. A repeated source and id adds nothing (ingest keeps equivocations)."""
    seen: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        seen.setdefault((fact.source, fact.id), fact)
    return list(seen.values())


def record_of(
    round_: RoundId,
    facts: Sequence[Fact],
    around: Iterable[Fact],
    touching: Sequence[Gap],
    of: Coupons = NO_COUPONS,
) -> RoundRecord:
    """A round's record, with the context that its ruling needs.

    `around` are the table's facts outside rounds of the kinds CONTEXT_FACTS. `touching` are gaps in
    devices' sequences with a fact of this round on either side. `of` are the coupon facts.
    """
    first, last = span(facts)
    held: list[tuple[int, ...]] = []
    gone: set[int] = set()
    within: list[Fact] = []
    opened: Fact | None = None
    for fact in sorted(around, key=lambda each: each.time_us):
        body = fact.body
        if fact.time_us > last:
            break
        if isinstance(body, SeatTaken):
            held.append(tuple(body.positions))
        elif isinstance(body, SeatLeft):
            left = set(body.positions)
            held = [seats for seats in held if not left.intersection(seats)]
            if fact.time_us > first:
                gone |= left
        elif isinstance(body, StubCounted) and fact.time_us > first:
            within.append(fact)
        elif isinstance(body, TableOpened) and fact.time_us <= first:
            opened = latest(opened, fact)
    played = coupon_facts.of_round(round_, facts, of.told)
    batches = [batch for batch in of.batches if batch.property == round_.property]
    record = [*facts, *within, *played.within]
    gone_ = frozenset(gone)
    return RoundRecord(round_, record, touching, gone_, held, batches, played.spent, opened)


def latest(one: Fact | None, two: Fact | None) -> Fact | None:
    """The later fact of two; of equal times the greater source and id, however they arrived."""
    if one is None or two is None:
        return one or two
    return max(one, two, key=lambda fact: (fact.time_us, fact.source, fact.id))


def _rulings(
    facts: Sequence[Fact], feed: _Feed, submissions: Sequence[FiledSubmission], lost: Sequence[Gap]
) -> Callable[[RoundId], Ruling]:
    """What rules on a round of the feed."""
    rules, made = kept_rules(submissions), corrections(feed.office)
    batches = coupon_facts.issued(feed.office)
    coupons = _coupons(feed.tables, made)
    context = {table: TableContext(its.context) for table, its in feed.tables.items()}
    nothing = TableContext(())
    touching: dict[RoundId, list[Gap]] = defaultdict(list)
    for gap in lost:
        for round_ in {gap.before.round, gap.after.round} - {None}:
            if round_:
                touching[round_].append(gap)

    def ruling(round_: RoundId) -> Ruling:
        its = [facts[place] for place in feed.rounds[round_].places]
        table = context.get((round_.property, round_.table), nothing)
        told: list[Fact] = []
        if coupons:
            serials = sorted(coupon_facts.serials_of(its, made))
            named = (coupons.get((round_.property, serial), ()) for serial in serials)
            told = deduplicate(chain.from_iterable(named))
        around, gaps = table.of(*span(its)), touching.get(round_, ())
        record = record_of(round_, its, around, gaps, Coupons(batches, told))
        return rule_corrected(record, rules, made)

    return ruling


def _coupons(
    tables: Mapping[TableId, _Table], made: Corrections
) -> Mapping[tuple[str, str], Sequence[Fact]]:
    """Coupon facts by property and serial, as recorded and as corrected."""
    found: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for (property_, _), its in tables.items():
        for fact in its.coupons:
            for serial in coupon_facts.serials_of([fact], made):
                found[property_, serial].append(fact)
    return found


def _of_table(
    table: TableId, facts: Iterable[Fact], submissions: Sequence[FiledSubmission]
) -> Iterator[_Due]:
    """Findings about the procedures of one table, over its tape."""
    state = Equipment()
    rules_of = rules_for(table, submissions)
    for fact in in_order(facts):
        found = table_procedures.see(state, fact, rules_of)
        if found:
            yield _Due(fact.time_us, table, table_findings(table, state.gaming_day, found))


def _of_floor(property_: str, facts: Iterable[Fact]) -> Iterator[_Due]:
    """Findings about supervision, over all tables of a property."""
    floor = supervision.Floor()
    for fact in in_order(facts):
        found = supervision.see(floor, fact)
        table = (property_, fact.table or "")
        if found:
            day = supervision.day_of(floor, table[1])
            yield _Due(fact.time_us, table, table_findings(table, day, found))


def is_procedural(fact: Fact) -> bool:
    """Whether a fact may change the findings about its table's procedures."""
    return table_procedures.hears(fact, _metered())


@cache
def _metered() -> frozenset[str]:
    """Wagers that feed a progressive meter."""
    return frozenset(meter.wager for game in games().values() for meter in game.meters)


def rules_for(table: TableId, submissions: Sequence[FiledSubmission]) -> RulesOf:
    """The rules in force at a table, by game and gaming day."""

    @cache
    def rules_of(game_id: str, gaming_day: str) -> InForce | None:
        game = games().get(game_id)
        return in_force(game, *table, gaming_day, submissions) if game else None

    return rules_of


def table_findings(table: TableId, gaming_day: str | None, found: list[Finding]) -> TableFindings:
    """Findings about a table that belong to no round."""
    return TableFindings(table=table[1], property=table[0], gaming_day=gaming_day, findings=found)


def _gap(gap: Gap) -> _Due:
    """The finding about a sequence gap that ends outside every round."""
    source, place = gap.after.source.split("/")[1:3]
    table = (source, gap.after.table or place)
    before = gap.before.round.gaming_day if gap.before.round else None
    return _Due(gap.after.time_us, table, table_findings(table, before, lost_facts([gap])))
