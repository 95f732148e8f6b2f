"""What people must decide before a day can close: equivocations, and boxes that the drop has twice.

An equivocation: a device recorded one fact twice, with different content. The record keeps what
came first, and the other input in quarantine. The table's day that either is of names both in one
order, and lacks the fact until people decide. No sealed version rests on what is in quarantine: it
has no place on a tape.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from consumers.finance.day_facts import FactPlace, days_of_places
from consumers.finance.money_facts import MADE, RECORDED, VIEW
from consumers.finance.papers import day_rows
from consumers.money.corrections_held import made_of, rows_of
from infra.postgres.view_tables import reading
from ledger.adjudication.corrections import (
    corrected,
    correction_of,
    corrections,
    is_of_another_property,
)
from ledger.facts import (
    DropBoxAttached,
    DropBoxCounted,
    DropBoxRemoved,
    FactCorrected,
    type_name,
)
from ledger.finance.boxes import BOX_FACTS, boxes, count_total, money_counted
from ledger.finance.exceptions import EQUIVOCATION
from ledger.finance.feed import MONEY_FACTS
from ledger.finance.placing import by_time, own_day, table_of
from ledger.finance.win import AuditException
from ledger.record.tape import Received
from ledger.record.wire import fact_of, parse_line, structured
from ledger.rules.engine.ruling import joined, refs
from ledger.values import dollars, format_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.boxes import DropBox
    from ledger.finance.exceptions import DayKey
    from ledger.finance.placing import FactId
    from ledger.finance.win import TableWin
    from ledger.record.wire import Fact


AT_TWO_TABLES = "box_at_two_tables"
"""The code of a box that several tables counted on one gaming day."""

COUNTED_TWICE = "box_counted_twice"
"""The code of a box whose counts are of several tables or days."""


class _TwoContents(NamedTuple):
    """A fact on record, and what the same device recorded under its id later."""

    recorded: Fact
    other: Fact
    number: int  # of the other one in quarantine


class Undecided(NamedTuple):
    """What keeps a table's day from closing until people decide, and is no part of its figures.

    An equivocation that waits in quarantine, a paper that a closed day has, too, or a box that the
    drop has twice. A correction by another property is named alone: the day lacks nothing (`""`).
    """

    exception: AuditException
    missing: str  # what the day lacks until people decide: "fact:<id>", "reopen:<day>", "box:B", ""
    times_us: tuple[int, ...]  # of its contents that are of this day
    pending: Mapping[str, int] = {}  # of a closed day: cents that left it


def equivocations(store: ViewStore, property_: str | None) -> dict[DayKey, list[Undecided]]:
    """The equivocations about money that wait in quarantine, by table and gaming day.

    property_: None: of all.
    """
    found: dict[DayKey, list[Undecided]] = defaultdict(list)
    told = [
        (pair, fact)
        for pair, facts in _with_corrected(store, list(_pairs(store, property_)))
        if any(_decides_money(fact) for fact in facts)
        for fact in facts
    ]
    places = [FactPlace(table_of(f), own_day(f), f.time_us) for _, f in told]
    days = days_of_places(store, places)
    times: dict[tuple[DayKey, int], tuple[_TwoContents, list[int]]] = {}
    for (pair, fact), day in zip(told, days, strict=True):
        if day:
            times.setdefault((day, pair.number), (pair, []))[1].append(fact.time_us)
    for (day, _), (pair, its) in sorted(times.items(), key=lambda each: each[0]):
        missing = f"fact:{pair.recorded.id}"
        found[day].append(Undecided(_exception(pair), missing, tuple(its)))
    return found


def two_contents_of_money(
    database: Database, property_: str | None, gaming_day: str | None, table: str | None
) -> dict[DayKey, list[AuditException]]:
    """What `win` says of the equivocations about money, by table and gaming day. None: of all."""
    with reading(database, [each.name for each in VIEW.tables]) as store:
        found = equivocations(store, property_)
    return {
        day: [each.exception for each in its]
        for day, its in found.items()
        if gaming_day in (None, day[1]) and table in (None, day[2])
    }


def two_contents_of(
    database: Database, property_: str | None, kinds: tuple[type, ...]
) -> list[AuditException]:
    """What `win` says of an equivocation, of facts of some kinds that wait in quarantine."""
    with reading(database, [each.name for each in VIEW.tables]) as store:
        return [
            _exception(pair)
            for pair, facts in _with_corrected(store, list(_pairs(store, property_)))
            if any(isinstance(fact.body, kinds) for fact in facts)
        ]


def boxes_twice(
    store: ViewStore, property_: str | None, gaming_day: str | None, papers: Sequence[FactId]
) -> dict[DayKey, list[Undecided]]:
    """The boxes that the drop has at several tables or days, by table and day of each.

    gaming_day: of which boxes are compared; None: of all. papers: corrected facts of money.
    """
    found = counted_twice(store, papers) if papers else defaultdict(list)
    for day, its in at_two_tables(store, property_, gaming_day).items():
        named = {each.missing for each in found[day]}
        found[day] += [each for each in its if each.missing not in named]
    return found


_AT_SEVERAL = """
SELECT property, gaming_day, number, array_agg(DISTINCT table_name) FROM {schema}.finance_numbers
 WHERE kind = 'box' AND variant <> %(recorded)s
   AND (%(property)s::text IS NULL OR property = %(property)s)
   AND (%(gaming_day)s::text IS NULL OR gaming_day = %(gaming_day)s)
 GROUP BY 1, 2, 3 HAVING count(DISTINCT table_name) > 1 ORDER BY 1, 2, 3
"""


def at_two_tables(
    store: ViewStore, property_: str | None, gaming_day: str | None
) -> dict[DayKey, list[Undecided]]:
    """The boxes that were counted at several tables of one gaming day, by table and day of each.

    A box that each of them attached, removed and had counted, a second time too, was used again,
    which is no error. property_, gaming_day: None: of all.
    """
    found: dict[DayKey, list[Undecided]] = defaultdict(list)
    asked = {"property": property_, "gaming_day": gaming_day, "recorded": RECORDED}
    for house, day, number, tables in store.query(_AT_SEVERAL, asked):
        stays = {name: _stays(store, (house, day, name), number) for name in tables}
        told = [stay for its in stays.values() for stay in its]
        if all(map(_is_whole, told)) and _follow(told):
            continue
        counts = sorted((fact for stay in told for fact in stay.counts), key=by_time)
        exception = _of_two_tables(number, counts)
        for name, its in stays.items():
            times = tuple(fact.time_us for stay in its for fact in stay.counts)
            found[house, day, name].append(Undecided(exception, f"box:{number}", times))
    return found


def _stays(store: ViewStore, day: DayKey, number: str) -> list[DropBox]:
    """The stays of a box at a table that counted it, as corrected."""
    told = list(map(fact_of, day_rows(store, day[0], day[2], day[1])))
    meant = [
        fact
        for fact in corrected(told, corrections(told))
        if isinstance(fact.body, BOX_FACTS) and _place_of(fact) == (day, number)
    ]
    return [stay for stay in boxes(sorted(meant, key=by_time)) if stay.counts]


def _is_whole(stay: DropBox) -> bool:
    """Whether a stay has all its facts: attached, removed, counted twice or three times."""
    moves = [type(fact.body) for fact in stay.moves]
    counts = {fact.body.count for fact in stay.counts if isinstance(fact.body, DropBoxCounted)}
    return moves == [DropBoxAttached, DropBoxRemoved] and counts >= {1, 2}


def _follow(stays: Iterable[DropBox]) -> bool:
    """Whether each whole stay ends before the next one begins."""
    spans = sorted((stay.moves[0].time_us, stay.moves[-1].time_us) for stay in stays)
    return all(before[1] <= after[0] for before, after in pairwise(spans))


def _of_two_tables(number: str, counts: Sequence[Fact]) -> AuditException:
    parts = []
    for fact in counts:
        nth = fact.body.count if isinstance(fact.body, DropBoxCounted) else 0
        money = money_counted(count_total(fact, {}))
        parts.append(f"count {nth} with {money} at {table_of(fact)[1]}")
    return AuditException(
        code=AT_TWO_TABLES,
        says=f"Box {number} was counted at several tables of one gaming day: {', '.join(parts)}. "
        "Correct what is of another table.",
        facts=refs(counts),
    )


class _BoxPlace(NamedTuple):
    """The place of a count's money: the table's day, and the box."""

    day: DayKey
    box: str


def _place_of(fact: Fact) -> _BoxPlace:
    property_, table = table_of(fact)
    box = fact.body.box if isinstance(fact.body, BOX_FACTS) else ""
    return _BoxPlace((property_, own_day(fact) or "", table), box)


_CORRECTED = """
SELECT DISTINCT f.source, f.fact_id FROM {schema}.finance_facts f
 WHERE f.variant = 1 AND f.gaming_day IS NOT NULL
   AND (%(property)s::text IS NULL OR f.property = %(property)s)
"""


def corrected_papers(store: ViewStore, property_: str | None) -> list[tuple[str, str]]:
    """Source and id of corrected facts of money that name their day; property_: None: of all."""
    return store.query(_CORRECTED, {"property": property_})


def counted_twice(store: ViewStore, papers: Iterable[FactId]) -> dict[DayKey, list[Undecided]]:
    """The boxes whose counts corrections gave to several places, by table and day of each.

    papers: corrected facts of money.
    """
    found: dict[DayKey, list[Undecided]] = defaultdict(list)
    for day in sorted(_days_left(store, papers)):
        told = list(map(fact_of, day_rows(store, day[0], day[2], day[1])))
        meant = {(f.source, f.id): f for f in corrected(told, corrections(told))}
        its = [f for f in told if isinstance(f.body, BOX_FACTS) and _place_of(f).day == day]
        for stay in boxes(sorted(its, key=by_time)):
            counts = [meant[f.source, f.id] for f in stay.counts if (f.source, f.id) in meant]
            places: dict[_BoxPlace, list[Fact]] = defaultdict(list)
            for fact in counts:
                places[_place_of(fact)].append(fact)
            if len(places) > 1:
                exception = _counted_twice(stay.number, counts)
                for place, of in places.items():
                    times = tuple(fact.time_us for fact in of)
                    found[place.day].append(Undecided(exception, f"box:{place.box}", times))
    return found


def _days_left(store: ViewStore, papers: Iterable[FactId]) -> set[DayKey]:
    """The tables' days from which corrections took a count of a box."""
    counts = [f for f in map(fact_of, rows_of(store, papers).values()) if _is_count(f)]
    made = made_of(store, MADE, [(fact.source, fact.id) for fact in counts])
    return {
        _place_of(fact).day
        for fact in counts
        for its in [corrections(map(fact_of, made.get((fact.source, fact.id), ())))]
        for meant in corrected([fact], its)
        if _place_of(meant) != _place_of(fact)
    }


def _is_count(fact: Fact) -> bool:
    return isinstance(fact.body, DropBoxCounted)


def _counted_twice(box: str, counts: Sequence[Fact]) -> AuditException:
    parts = []
    for fact in counts:
        money = money_counted(count_total(fact, {}))
        (_, day, table), its = _place_of(fact)
        as_box = "" if its == box else f" as box {its}"
        number = fact.body.count if isinstance(fact.body, DropBoxCounted) else 0
        parts.append(f"by count {number} with {money} at {table} on {day}{as_box}")
    return AuditException(
        code=COUNTED_TWICE,
        says=f"The drop has box {box} twice: {', and '.join(parts)}. Correct its other counts, "
        "too.",
        facts=refs(counts),
    )


def fact_named(fact: Fact) -> str:
    """A paper in a few words: a count by its box and money, others by their names."""
    if isinstance(fact.body, DropBoxCounted):
        money = money_counted(count_total(fact, {}))
        return f"The count of box {fact.body.box} with {money}"
    return f"The {_said(fact).replace('_', ' ')}"


def as_undecided(of: TableWin, waiting: Sequence[Undecided]) -> TableWin:
    """A win with what waits for people; an open day lacks it until then."""
    exceptions = [*of.exceptions, *_said_once(each.exception for each in waiting)]
    if of.version:
        pending: dict[str, int | None] = {**of.pending}
        for name, cents in (item for each in waiting for item in each.pending.items()):
            pending[name] = (pending.get(name) or 0) + cents
        return msgspec.structs.replace(of, exceptions=exceptions, pending=pending)
    lacking = [each.missing for each in waiting if each.missing]
    missing = list(dict.fromkeys((*of.missing, *lacking)))
    grade = "ESTIMATE" if lacking else of.grade
    return msgspec.structs.replace(of, exceptions=exceptions, missing=missing, grade=grade)


def _said_once(exceptions: Iterable[AuditException]) -> list[AuditException]:
    """Exceptions in order, those of one sentence as one with the facts of all."""
    found: dict[str, AuditException] = {}
    for each in exceptions:
        before = found.get(each.says)
        facts = joined(before.facts, each.facts) if before else each.facts
        found[each.says] = msgspec.structs.replace(each, facts=facts)
    return list(found.values())


def _pairs(store: ViewStore, property_: str | None) -> Iterator[_TwoContents]:
    rows = store.query(
        "SELECT q.quarantine_id, q.attributes, q.octets, t.originator_id, t.originator_version"
        " FROM ledger.quarantine q JOIN ledger.identity i USING (source, fact_id)"
        " JOIN ledger.tape t ON t.notification_id = i.position"
        " WHERE q.verdict = 'equivocation' AND q.released_at_us IS NULL"
        " AND (%(property)s::text IS NULL OR split_part(q.source, '/', 2) = %(property)s)"
        " ORDER BY q.source, q.fact_id, q.quarantine_id",
        {"property": property_},
    )
    kept = {(r.tape, r.table_seq): r for r in store.rows_at((t, n, n) for *_, t, n in rows)}
    for number, attributes, octets, *place in rows:
        framed = Received("", "", "", "", 0, None, bytes(attributes), bytes(octets))
        other = parse_line(structured(framed))
        if isinstance(other, Received):
            yield _TwoContents(fact_of(kept[tuple(place)]), fact_of(other), number)


def _with_corrected(
    store: ViewStore, pairs: Sequence[_TwoContents]
) -> list[tuple[_TwoContents, list[Fact]]]:
    """Each pair with its facts; of corrections the facts that they correct, with and without."""
    told = [[each.recorded, each.other] for each in pairs]
    known: dict[FactId, Fact] = {}
    wanted = {_target(f.body) for its in told for f in its if isinstance(f.body, FactCorrected)}
    while wanted:
        new = {of: fact_of(row) for of, row in rows_of(store, wanted).items()}
        known |= new
        made = (f.body for f in new.values() if isinstance(f.body, FactCorrected))
        wanted = {_target(body) for body in made} - known.keys()
    return [
        (pair, [subject for fact in its for subject in _subjects(fact, known)])
        for pair, its in zip(pairs, told, strict=True)
    ]


def _target(of: FactCorrected) -> FactId:
    return of.of.source, of.of.id


def _subjects(of: Fact, known: Mapping[FactId, Fact]) -> list[Fact]:
    """A fact; of a correction the fact that it is of in the end, with it and without."""
    end: Fact | None = of
    seen = set()
    while end and isinstance(end.body, FactCorrected):
        target = _target(end.body)
        if target in seen or is_of_another_property(end.source, target[0]):
            return []
        seen.add(target)
        end = known.get(target)
    if end is None or not isinstance(of.body, FactCorrected):
        return [of] if end else []
    meant = correction_of(end, of.body)
    return [end, *(corrected([end], {(end.source, end.id): meant}) if meant else ())]


def _decides_money(fact: Fact) -> bool:
    """Whether a fact is money, or of a round, whose ruling says what is owed."""
    return isinstance(fact.body, MONEY_FACTS) or fact.round is not None


def _exception(of: _TwoContents) -> AuditException:
    """Both contents, in an order that does not depend on which came first."""
    said = (_said(of.recorded, of.other), _said(of.other, of.recorded))
    both = " and ".join(sorted(said, key=lambda each: (len(each), each)))
    return AuditException(
        code=EQUIVOCATION,
        says=f"{of.recorded.source} recorded fact {of.recorded.id} twice: {both}. What came later "
        f"is number {of.number} in quarantine.",
        facts=refs([of.recorded]),
    )


_SUMS = ("amount", "total")


def _said(fact: Fact, other: Fact | None = None) -> str:
    """What a fact says, in a few words: its name, and its money if it names a sum.

    other: what differs from it is named, too, if it names the same sum or none.
    """
    name = type_name(type(fact.body)).partition(".")[0]  # type: ignore[arg-type] # a Body
    its, others = _fields(fact), _fields(other or fact)
    money = next((its[field] for field in _SUMS if field in its), None)
    if money and not isinstance(fact.body, FactCorrected):
        name += f" of {money}"
        if money not in others.values():
            return name
    differ = [f"{field} {its[field]}" for field in its if others.get(field) != its[field]]
    return f"{name} with {', '.join(differ)}" if differ else name


def _fields(fact: Fact) -> dict[str, str]:
    """The fields of a fact in words, its round and time too; of a correction those it gives."""
    body: Any = msgspec.to_builtins(fact.body)
    if isinstance(fact.body, FactCorrected):
        of, data = body.pop("of"), body.pop("data", None)
        body |= {**of, **({"data": "none"} if data is None else data)}
    its = {field: _in_words(field, value) for field, value in body.items()}
    round_ = fact.round.subject if fact.round else "none"
    return {**its, "round": round_, "time": format_time(fact.time_us)}


def _in_words(field: str, value: object) -> str:
    if field in _SUMS and isinstance(value, int):
        return dollars(value)
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return " ".join(value)
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
