"""Rulings on a whole feed: every round, and the procedures of every table.

Pure and without a database: a feed gives its rulings, in the order the rounds began. Facts in
another order of arrival, or sent twice, give the same rulings.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from ledger.adjudication.adjudicate import RoundRecord
from ledger.adjudication.corrections import Corrections, corrections, rule_corrected
from ledger.adjudication.submissions import filed, in_force
from ledger.facts import SeatLeft, SeatTaken, StubCounted, TableOpened
from ledger.games import games
from ledger.rules.engine import coupons as coupon_facts
from ledger.rules.engine.clock_skew import span
from ledger.rules.engine.order import Gap, gaps, in_order
from ledger.rules.engine.review import lost_facts
from ledger.rules.engine.ruling import Finding, Ruling, TableFindings
from ledger.rules.procedures import supervision, table_procedures
from ledger.rules.procedures.equipment import Equipment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ledger.adjudication.submissions import FiledSubmission
    from ledger.record.wire import Fact
    from ledger.rules.engine.coupons import CouponBatch
    from ledger.rules.engine.game import InForce
    from ledger.rules.procedures.equipment import RulesOf
    from ledger.values import RoundId

TableId = tuple[str, str]
"""Property and table."""


CONTEXT_FACTS = (SeatTaken, SeatLeft, StubCounted, TableOpened)
"""Facts of a table that name no round, but that a ruling on a round may depend on."""


class Coupons(NamedTuple):
    """Coupon facts for a ruling: batches issued, and facts about the round's serials."""

    batches: Sequence[CouponBatch] = ()  # batches of every property
    told: Iterable[Fact] = ()  # facts of its property that play, drop or refuse its serials


NO_COUPONS = Coupons()


class _Said(NamedTuple):
    """A ruling or a table finding, and the time that orders it."""

    time_us: int
    table: TableId
    what: Ruling | TableFindings


def adjudicate(facts: Iterable[Fact]) -> Iterator[Ruling | TableFindings]:
    """Rule on every round of a feed. Findings outside rounds come with the fact that ends them."""
    told = deduplicate(facts)
    submissions = filed(told)
    lost = gaps(told)
    tables: dict[TableId, list[Fact]] = defaultdict(list)
    rounds: dict[RoundId, list[Fact]] = defaultdict(list)
    for fact in told:
        if fact.round:
            rounds[fact.round].append(fact)
        if fact.table:
            tables[fact.source.split("/")[1], fact.table].append(fact)
    batches = coupon_facts.issued(told)
    said = list(_rounds(rounds, tables, lost, submissions, corrections(told), batches))
    for table, its in tables.items():
        said += _of_table(table, its, submissions)
    said += _of_floors(told)
    said += [_gap(gap) for gap in lost if gap.after.round is None]
    said.sort(key=lambda each: (each.time_us, each.table))
    return (each.what for each in said)


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


def _rounds(
    rounds: Mapping[RoundId, Sequence[Fact]],
    tables: Mapping[TableId, Sequence[Fact]],
    lost: Sequence[Gap],
    submissions: Sequence[FiledSubmission],
    made: Corrections,
    batches: Sequence[CouponBatch],
) -> Iterator[_Said]:
    """The ruling of every round."""
    told_of = _coupons(tables, made)
    touching: dict[RoundId, list[Gap]] = defaultdict(list)
    for gap in lost:
        for round_ in {gap.before.round, gap.after.round} - {None}:
            if round_:
                touching[round_].append(gap)
    around = {
        table: [fact for fact in its if fact.round is None and isinstance(fact.body, CONTEXT_FACTS)]
        for table, its in tables.items()
    }
    for round_, facts in rounds.items():
        table = (round_.property, round_.table)
        serials = sorted(coupon_facts.serials_of(facts, made))
        told = deduplicate(
            fact for serial in serials for fact in told_of.get((round_.property, serial), ())
        )
        record = record_of(round_, facts, around[table], touching[round_], Coupons(batches, told))
        ruling = rule_corrected(record, submissions, made)
        yield _Said(min(fact.time_us for fact in facts), table, ruling)


def _coupons(
    tables: Mapping[TableId, Sequence[Fact]], made: Corrections
) -> Mapping[tuple[str, str], Sequence[Fact]]:
    """Coupon facts by property and serial, as recorded and as corrected."""
    found: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for (property_, _), its in tables.items():
        for fact in its:
            if isinstance(fact.body, coupon_facts.TOLD) and coupon_facts.serial_of(fact):
                for serial in coupon_facts.serials_of([fact], made):
                    found[property_, serial].append(fact)
    return found


def _of_table(
    table: TableId, facts: Sequence[Fact], submissions: Sequence[FiledSubmission]
) -> Iterator[_Said]:
    """Findings about the procedures of one table, over its tape."""
    state = Equipment()
    rules_of = rules_for(table, submissions)
    for fact in in_order(fact for fact in facts if is_procedural(fact)):
        found = table_procedures.see(state, fact, rules_of)
        if found:
            yield _Said(fact.time_us, table, table_findings(table, state.gaming_day, found))


def _of_floors(facts: Iterable[Fact]) -> Iterator[_Said]:
    """Findings about supervision, over all tables of each property."""
    floors: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if type(fact.body) in supervision.HEARD and fact.table:
            floors[fact.source.split("/")[1]].append(fact)
    for property_, its in floors.items():
        floor = supervision.Floor()
        for fact in in_order(its):
            found = supervision.see(floor, fact)
            table = (property_, fact.table or "")
            if found:
                day = supervision.day_of(floor, table[1])
                yield _Said(fact.time_us, table, table_findings(table, day, found))


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


def _gap(gap: Gap) -> _Said:
    """The finding about a sequence gap that ends outside every round."""
    source, place = gap.after.source.split("/")[1:3]
    table = (source, gap.after.table or place)
    before = gap.before.round.gaming_day if gap.before.round else None
    return _Said(gap.after.time_us, table, table_findings(table, before, lost_facts([gap])))
