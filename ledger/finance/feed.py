"""The wins of a whole feed, from its facts and their rulings. Pure, and in any order of arrival."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ledger.adjudication.corrections import corrected, corrections, corrections_of
from ledger.adjudication.feed import deduplicate
from ledger.adjudication.submissions import filed, kept_rules
from ledger.facts import (
    AdjustmentPaid,
    CashBoughtIn,
    ChipsExchanged,
    CounterCheckIssued,
    CouponsIssued,
    DropBoxAttached,
    DropBoxCounted,
    DropBoxRemoved,
    DropBoxVerified,
    InventoryCounted,
    TableOpened,
    VoucherBoughtIn,
)
from ledger.facts.accounting import TournamentMoney
from ledger.facts.money import ChipSlip
from ledger.finance import slips as on_slips
from ledger.finance.boxes import vouchers_bought
from ledger.finance.coupons import IssuedCoupons, against_terms, games_of
from ledger.finance.exceptions import (
    DayKey,
    attached_twice,
    boxed_twice,
    checks_issued,
    checks_voided,
    corrections_of_nothing,
    counted_elsewhere,
    issued_before,
    numbers_used_twice,
    of_corrections,
    of_one_day,
    papers_used,
    settled_elsewhere,
    used_again,
    uses_of_slips,
)
from ledger.finance.placing import (
    OPENS_DAY,
    Days,
    DisputeUse,
    by_time,
    day_before,
    disputed_tables,
    paid_at,
    table_of,
    tables_with_day,
)
from ledger.finance.rounds import is_poker, round_money, tray_moves
from ledger.finance.shifts import shift_at, shift_times, wins_of_shifts
from ledger.finance.statistics.expected import OddsInForce
from ledger.finance.table_day import (
    DayRecord,
    RoundsMoney,
    as_report,
    closer_of,
    papers_of,
    total,
    win,
)
from ledger.finance.win import REPORT, REPORT_7, REPORT_8, REPORT_9, AuditException
from ledger.rules.engine.coupons import issued
from ledger.rules.engine.order import gaps
from ledger.rules.engine.ruling import Ruling, refs
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from ledger.finance.exceptions import VainCorrection
    from ledger.finance.placing import DisputeId, FactId, TableId
    from ledger.finance.rounds import RoundMoney, TrayMove
    from ledger.finance.slips import Acceptance, SlipId, SlipRecord
    from ledger.finance.win import TableWin
    from ledger.record.wire import Fact
    from ledger.rules.engine.order import Gap
    from ledger.rules.engine.ruling import FactRef

MONEY_FACTS = (
    AdjustmentPaid,
    CashBoughtIn,
    ChipSlip,
    ChipsExchanged,
    CounterCheckIssued,
    DropBoxAttached,
    DropBoxCounted,
    DropBoxRemoved,
    DropBoxVerified,
    InventoryCounted,
    TableOpened,
    TournamentMoney,
    VoucherBoughtIn,
)
"""Facts outside rounds that a win rests on."""

NO_DAY = "no_gaming_day"
_COME, _ARE = ("comes", "come"), ("is", "are")


class TableMoney(NamedTuple):
    """One table's money: facts by gaming day in order of time, slips by the day they count."""

    days: Mapping[str, Sequence[Fact]]
    slips: Mapping[str, Sequence[SlipRecord]]
    unplaced: Sequence[Fact] = ()  # before the table's first day
    first: str | None = None  # its first day
    sent: Mapping[str, Sequence[SlipRecord]] = {}  # slips accepted later, by the day they were sent
    again: Mapping[str, Sequence[AuditException]] = {}  # slips accepted on an earlier day too
    last_open: Mapping[str, str] = {}  # the day on which it was open before each day


def wins(
    facts: Iterable[Fact],
    rulings: Iterable[object],
    gaming_day: str | None = None,
    report: int = REPORT,
) -> list[TableWin]:
    """The win of every table and gaming day, or of one day; in order of property, day and table.

    `rulings`: what `ledger.adjudication.feed.adjudicate` gives for the same facts. `report`: the
    version of the report that says the wins.
    """
    told = deduplicate(facts)
    ruled = [each for each in rulings if isinstance(each, Ruling)]
    found = day_records(told, ruled, report)
    found = {key: as_report(found[key], report) for key in found if gaming_day in (None, key[1])}
    if not corrections(told):
        return [win(found[key]) for key in sorted(found)]
    recorded = _as_recorded(told, ruled, report)
    before = {key: as_report(each, report) for key, each in recorded.items()}
    return [win(found[key], before.get(key) or empty(found[key])) for key in sorted(found)]


def day_records(
    facts: Iterable[Fact], rulings: Iterable[object], report: int = REPORT
) -> dict[DayKey, DayRecord]:
    """What the win of each table's day rests on, with corrections; parameters as `wins`."""
    told = deduplicate(facts)
    ruled = [each for each in rulings if isinstance(each, Ruling)]
    as_meant = corrected(told, corrections(told))
    found = _records(as_meant, ruled, _known(told), report)
    made = corrections_of(told)
    known = {(fact.source, fact.id): fact for fact in told}
    if vain := corrections_of_nothing(made, known):
        found = with_vain(found, zip(vain, _days_of_vain(as_meant, vain), strict=True))
    named = of_corrections(made, known, report)
    return with_named(found, _as_recorded(told, ruled, report), named, known) if named else found


def _days_of_vain(facts: Iterable[Fact], vain: Iterable[VainCorrection]) -> Iterator[str | None]:
    """The gaming day of each correction of a fact that is not on record."""
    starts: dict[TableId, list[Fact]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact.body, OPENS_DAY):
            starts[table_of(fact)].append(fact)
    for each in vain:
        yield each.gaming_day or Days(starts[each.table]).at(each.fact.time_us)


def with_vain(
    records: Mapping[DayKey, DayRecord], vain: Iterable[tuple[VainCorrection, str | None]]
) -> dict[DayKey, DayRecord]:
    """Days with the corrections of facts that are not on record, each with its gaming day."""
    found = dict(records)
    for each, day in vain:
        key = (each.table[0], day or "", each.table[1])
        if key in found:
            found[key] = found[key]._replace(across=[*found[key].across, each.exception])
    return found


def _day_of(round_: RoundId) -> DayKey:
    return round_.property, round_.gaming_day, round_.table


def _as_recorded(
    told: Sequence[Fact], ruled: Sequence[Ruling], report: int
) -> dict[DayKey, DayRecord]:
    """What each day rests on without corrections."""
    return _records(told, [each.before or each for each in ruled], _known(told), report)


def with_named(
    records: Mapping[DayKey, DayRecord],
    recorded: Mapping[DayKey, DayRecord],
    named: Iterable[tuple[FactId, AuditException]],
    facts: Mapping[FactId, Fact],
) -> dict[DayKey, DayRecord]:
    """Days with the exceptions of their corrections.

    recorded: the same days without corrections. facts: the corrected facts, those of rounds too.
    """
    days: dict[FactId, set[DayKey]] = defaultdict(set)
    for its in (records, recorded):
        for key, each in its.items():
            for fact in papers_of(each):
                days[fact.source, fact.id].add(key)
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    for of, exception in named:
        if of in facts and (round_ := facts[of].round):
            days[of].add(_day_of(round_))
        for key in days.get(of, ()):
            found[key].append(exception)
    return {
        key: each._replace(across=[*each.across, *found[key]]) if key in found else each
        for key, each in records.items()
    }


def empty(of: DayRecord) -> DayRecord:
    """The same day without a fact."""
    return of._replace(facts=(), slips=(), sent=(), before=(), rounds=total({}))


class _Known(NamedTuple):
    """What corrections do not change: disputes, places of tables, gaps beside rounds, and odds."""

    disputed: Mapping[DisputeId, DisputeUse]
    tables: Collection[TableId]
    gaps: Mapping[RoundId, Sequence[Gap]]
    odds: OddsInForce


def _known(told: Sequence[Fact]) -> _Known:
    odds = OddsInForce(kept_rules(filed(told)), issued(told))
    return _Known(disputed_tables(told), tables_with_day(told), gaps_beside_rounds(told), odds)


def disputes_used(
    tables: Mapping[TableId, TableMoney], disputed: Mapping[DisputeId, DisputeUse]
) -> dict[DisputeId, list[DisputeUse]]:
    """The facts that raise each dispute or pay amends for it. disputed: as `disputed_tables`."""
    found = {key: [its] for key, its in disputed.items()}
    for table, of in tables.items():
        for fact in (*of.unplaced, *(fact for its in of.days.values() for fact in its)):
            if isinstance(fact.body, AdjustmentPaid):
                use = DisputeUse(*by_time(fact), table)
                found.setdefault((table[0], fact.body.dispute), []).append(use)
    return found


def _records(
    facts: Sequence[Fact], rulings: Sequence[Ruling], known: _Known, report: int
) -> dict[DayKey, DayRecord]:
    """What each table's day rests on."""
    # Before version 9 of the report a dispute's table had all its amends.
    with_day = known.tables if report > REPORT_8 else ()
    tables = tables_of(facts, placing(facts, known.disputed, with_day, report))
    used = papers_used(facts)
    days = days_of(tables)
    papers = put_together(
        _left_out(tables, report),
        boxed_twice(days, report),
        attached_twice(days),
        exceptions_of_days(tables, days, report),
        issued_before(days, checks_issued(facts)),
        settled_elsewhere(days, disputes_used(tables, known.disputed)),
        counted_elsewhere(days, used),
        numbers_used_twice(days, uses_of_slips(_with_unplaced(tables))),
        against_terms(days, used, games_of_days(tables), issued_coupons(facts)),
    )
    homeless = without_day(tables) if report >= REPORT_7 else {}
    rounds = _rounds(facts, rulings, known)
    late = after_closers(tray_moves(facts), tables)
    beside = PapersOfHouse(sold_by_house(facts), checks_voided(used))
    return records(tables, rounds, papers, beside, homeless, late)


def games_of_days(tables: Mapping[TableId, TableMoney]) -> dict[DayKey, list[str]]:
    """The games that each table opened for, by its day."""
    return {key: games_of(facts) for key, facts in days_of(tables).items()}


def issued_coupons(facts: Iterable[Fact]) -> dict[str, IssuedCoupons]:
    """The batches of coupons that each house issued."""
    told: dict[str, list[Fact]] = defaultdict(list)
    for fact in facts:
        if isinstance(fact.body, CouponsIssued):
            told[table_of(fact)[0]].append(fact)
    return {house: IssuedCoupons(its) for house, its in told.items()}


def after_closers(
    moves: Iterable[TrayMove], tables: Mapping[TableId, TableMoney]
) -> dict[DayKey, list[TrayMove]]:
    """The chips that rounds of each table's day moved after its closer, in order of time."""
    closers = closers_of(tables)
    found: dict[DayKey, list[TrayMove]] = defaultdict(list)
    for each in sorted(moves):
        key = each.day
        if key in closers and each[:3] > by_time(closers[key]):
            found[key].append(each)
    return found


def closers_of(tables: Mapping[TableId, TableMoney]) -> dict[DayKey, Fact]:
    """The closer of each table's day that has one."""
    found = {key: closer_of(facts) for key, facts in days_of(tables).items()}
    return {key: closer for key, closer in found.items() if closer}


def sold_by_house(facts: Iterable[Fact]) -> dict[str, dict[str, int]]:
    """Cents of the vouchers that any table sold for chips, by property and number.

    A number that was sold several times has the cents of its first sale.
    """
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for fact in sorted((f for f in facts if isinstance(f.body, VoucherBoughtIn)), key=by_time):
        for number, cents in vouchers_bought([fact]).items():
            found[table_of(fact)[0]].setdefault(number, cents)
    return found


def exceptions_of_days(
    tables: Mapping[TableId, TableMoney], days: Mapping[DayKey, Sequence[Fact]], report: int
) -> dict[DayKey, list[AuditException]]:
    """What some days of tables show by themselves, and numbers of slips that were used before.

    days: the facts of each that is asked for.
    """
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    for (property_, day, name), facts in days.items():
        slips = tables[property_, name].slips.get(day, ())
        found[property_, day, name] += of_one_day(facts, slips, report)
    for (property_, name), of in tables.items():
        for day, its in of.again.items():
            found[property_, day, name] += its
    return found


def without_day(tables: Mapping[TableId, TableMoney]) -> dict[DayKey, list[Fact]]:
    """The facts of tables that never have a day, by the house's gaming day at their time.

    Those before the house's first day are of that one; a house without a day has none.
    """
    starts: dict[str, list[Fact]] = defaultdict(list)
    for (property_, _, _), facts in days_of(tables).items():
        starts[property_] += facts
    found: dict[DayKey, list[Fact]] = defaultdict(list)
    for (property_, name), of in tables.items():
        if of.unplaced and of.first is None:
            house = Days(starts[property_])
            for fact in of.unplaced:
                if day := house.at(fact.time_us) or house.first:
                    found[property_, day, name].append(fact)
    return found


def days_of(tables: Mapping[TableId, TableMoney]) -> dict[DayKey, Sequence[Fact]]:
    """The facts of each table's day, in order of time."""
    return {
        (property_, day, name): facts
        for (property_, name), of in tables.items()
        for day, facts in of.days.items()
    }


def _with_unplaced(tables: Mapping[TableId, TableMoney]) -> dict[DayKey, Sequence[Fact]]:
    """As `days_of`, with an empty day of what comes before a table's first."""
    none = {(property_, "", name): of.unplaced for (property_, name), of in tables.items()}
    return {**none, **days_of(tables)}


def put_together(
    *parts: Mapping[DayKey, Sequence[AuditException]],
) -> dict[DayKey, list[AuditException]]:
    """Exceptions of several kinds, by day."""
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    for part in parts:
        for key, its in part.items():
            found[key] += its
    return found


class PapersOfHouse(NamedTuple):
    """What any table or place of a property says of papers, by property and number."""

    sold: Mapping[str, Mapping[str, int]] = {}  # cents of vouchers that were sold for chips
    voided: Mapping[str, Mapping[str, Sequence[FactRef]]] = {}  # what voids counter checks


def records(
    tables: Mapping[TableId, TableMoney],
    rounds: Mapping[DayKey, RoundsMoney],
    papers: Mapping[DayKey, Sequence[AuditException]],
    beside: PapersOfHouse,
    homeless: Mapping[DayKey, Sequence[Fact]],
    late: Mapping[DayKey, Sequence[TrayMove]],
) -> dict[DayKey, DayRecord]:
    """What each table's day rests on: its facts, its rounds, and exceptions across days.

    homeless: as `without_day`; such a table has a day without facts, which names them. late: as
    `after_closers`.
    """
    found = {}
    for property_, day, name in {*days_of(tables), *rounds, *homeless}:
        table = tables.get((property_, name), TableMoney({}, {}))
        across = list(papers.get((property_, day, name), ()))
        if table.unplaced and day == table.first:
            across.append(_unplaced(table.unplaced, _COME, "before the table's first gaming day"))
        if facts := homeless.get((property_, day, name)):
            across.append(_unplaced(facts, _ARE, "of a table without opening or box"))
        found[property_, day, name] = DayRecord(
            property_,
            name,
            day,
            table.days.get(day, ()),
            table.slips.get(day, ()),
            table.days.get(day_before(day), ()),
            _of_opened(rounds.get((property_, day, name), RoundsMoney(None)), table, day),
            across,
            table.sent.get(day, ()),
            beside.sold.get(property_, {}),
            voided=beside.voided.get(property_, {}),
            played=table.days.get(table.last_open.get(day, ""), ()),
            after=late.get((property_, day, name), ()),
            carried=late.get((property_, day_before(day), name), ()),
        )
    return found


def _of_opened(rounds: RoundsMoney, table: TableMoney, day: str) -> RoundsMoney:
    """A day's rounds; if none names a game, the table is of poker if it opened for it.

    A day without an opening has that of the day before, or of the day it was last open.
    """
    if rounds.game is not None:
        return rounds
    days = (day, day_before(day), table.last_open.get(day, ""))
    facts = (fact for each in days for fact in table.days.get(each, ()))
    opened = (fact.body.game for fact in facts if isinstance(fact.body, TableOpened))
    return rounds._replace(poker=is_poker(next(opened, None)))


def placing(
    facts: Sequence[Fact],
    disputed: Mapping[DisputeId, DisputeUse],
    with_day: Collection[TableId],
    report: int = REPORT,
) -> Callable[[Fact], TableId]:
    """Which table each of these facts is of: amends as `paid_at`, steps of slips as `joined_to`.

    with_day: the places that are tables as recorded.
    """
    joined = on_slips.steps_joined(facts, tables_with_day(facts), accepted_join=report > REPORT_9)
    return lambda fact: joined.get((fact.source, fact.id)) or paid_at(fact, disputed, with_day)


def tables_of(
    facts: Iterable[Fact],
    place: Callable[[Fact], TableId],
    beside: Iterable[tuple[TableId, Fact]] = (),
) -> dict[TableId, TableMoney]:
    """The money outside rounds, by table. beside: acceptances of the same slips at other tables.

    place: the table of a fact, as `placing` gives it.
    """
    found: dict[TableId, list[Fact]] = defaultdict(list)
    told = sorted((each for each in facts if isinstance(each.body, MONEY_FACTS)), key=by_time)
    for fact in told:
        found[place(fact)].append(fact)
    own = ((table, fact) for table, its in found.items() for fact in its)
    accepted = on_slips.accepted_by_slip([*own, *beside])
    return {table: _table_money(table, its, accepted) for table, its in found.items()}


def _table_money(
    table: TableId, facts: Sequence[Fact], accepted: Mapping[SlipId, Sequence[Acceptance]]
) -> TableMoney:
    days = Days(facts)
    by_day: dict[str, list[Fact]] = defaultdict(list)
    unplaced = []
    for fact in facts:
        day = days.of(fact)
        if day is None:
            unplaced.append(fact)
        else:
            by_day[day].append(fact)
    slips: dict[str, list[SlipRecord]] = defaultdict(list)
    sent: dict[str, list[SlipRecord]] = defaultdict(list)
    again: dict[str, list[AuditException]] = defaultdict(list)
    for slip in on_slips.slips(facts):
        told = accepted.get((table[0], slip.kind, slip.number), ())
        elsewhere = tuple(each for each in told if each.table != table[1])
        day, went = days.of(slip.decides), _sent_on(slip, days)
        placed = slip._replace(
            elsewhere=elsewhere, sent_before=went not in (None, day), table=table[1]
        )
        slips[day or ""].append(placed)
        if placed.sent_before:
            sent[went or ""].append(placed)
        for acceptance in slip.accepted[1:]:
            if (its := days.of(acceptance)) not in (None, day):
                again[its or ""].append(used_again(slip, acceptance))
    return TableMoney(by_day, slips, unplaced, days.first, sent, again, days.last_open)


def _sent_on(slip: SlipRecord, days: Days) -> str | None:
    """The day on which a slip's chips went on their way, if it was accepted later; "": unknown."""
    if not (slip.accepted and slip.dispatched):
        return None
    is_later = by_time(slip.dispatched[0]) < by_time(slip.accepted[0])
    return (days.of(slip.dispatched[0]) or "") if is_later else None


class _RuledRound(NamedTuple):
    """The money of a ruled round, and its game."""

    money: RoundMoney
    game: str | None


def _rounds(
    facts: Iterable[Fact], rulings: Iterable[Ruling], known: _Known
) -> dict[DayKey, RoundsMoney]:
    """The money of the ruled rounds, by property, gaming day and table."""
    found = _ruled(facts, rulings, known)
    return {key: total(rounds) for key, rounds in found.items()}


def _ruled(
    facts: Iterable[Fact], rulings: Iterable[Ruling], known: _Known
) -> dict[DayKey, dict[str, _RuledRound]]:
    """Each ruled round by its subject, by property, gaming day and table."""
    told: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        if fact.round:
            told[fact.round.property, fact.round.subject].append(fact)
    found: dict[DayKey, dict[str, _RuledRound]] = defaultdict(dict)
    for ruling in rulings:
        table, day, number = ruling.round.split("/")
        beside = known.gaps.get(RoundId(ruling.property, table, day, int(number)), ())
        money = round_money(told[ruling.property, ruling.round], ruling, known.odds, beside)
        found[ruling.property, day, table][ruling.round] = _RuledRound(money, ruling.game)
    return found


def wins_by_shift(
    facts: Iterable[Fact],
    rulings: Iterable[object],
    gaming_day: str | None = None,
    report: int = REPORT,
) -> list[TableWin]:
    """As `wins`, of each shift of a table's day, in order of time."""
    told = deduplicate(facts)
    ruled = [each for each in rulings if isinstance(each, Ruling)]
    rounds = _ruled(corrected(told, corrections(told)), ruled, _known(told))
    last_us: dict[tuple[str, str], int] = {}
    for fact in told:
        if fact.round:
            name = fact.round.property, fact.round.subject
            last_us[name] = max(last_us.get(name, fact.time_us), fact.time_us)
    found = []
    for key, record in sorted(day_records(told, ruled, report).items()):
        if gaming_day not in (None, key[1]):
            continue
        times = shift_times(record.facts)
        money: dict[str | None, dict[str, _RuledRound]] = defaultdict(dict)
        for subject, each in rounds[key].items():
            money[shift_at(times, last_us[key[0], subject])][subject] = each
        totals = {shift: total(its) for shift, its in money.items()}
        found += wins_of_shifts(as_report(record, report), totals)
    return found


def gaps_beside_rounds(facts: Iterable[Fact]) -> dict[RoundId, list[Gap]]:
    """The gaps in devices' sequences, by the rounds on either side: they may lack facts."""
    found: dict[RoundId, list[Gap]] = defaultdict(list)
    for gap in gaps(facts):
        for round_ in {gap.before.round, gap.after.round}:
            if round_:
                found[round_].append(gap)
    return found


def _left_out(
    tables: Mapping[TableId, TableMoney], report: int
) -> dict[DayKey, list[AuditException]]:
    """Numbers left out of a property's series of slips, wherever the next number was used.

    Before version 10 of the report only where it was used first.
    """
    slips = [
        ((property_, day, name), slip, (property_, *series))
        for (property_, name), of in tables.items()
        for day, its in of.slips.items()
        for slip in its
        if (series := on_slips.series(slip))
    ]
    used: dict[tuple[object, ...], dict[int, set[DayKey]]] = defaultdict(lambda: defaultdict(set))
    for key, _, (*of_series, number) in slips:
        used[tuple(of_series)][number].add(key)
    befores = {
        (*of_series, high): low
        for of_series, numbers in used.items()
        for low, high in pairwise(sorted(numbers))
        if high - low > 1
    }
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    for key, slip, at in slips:
        is_named = report > REPORT_9 or key == min(used[at[:-1]][at[-1]], key=_first_use)
        if is_named and (before := befores.get(at)) is not None:
            found[key].append(on_slips.left_out(before, slip))
    return found


def _first_use(key: DayKey) -> tuple[bool, DayKey]:
    """The order of uses of a number: those of a day count before those of no day."""
    return not key[1], key


def _unplaced(facts: Sequence[Fact], verb: tuple[str, str], where: str) -> AuditException:
    """The exception of money of no day. verb: of one fact, and of several."""
    one, several = verb
    counted = (
        f"1 fact of money {one}" if len(facts) == 1 else f"{len(facts)} facts of money {several}"
    )
    return AuditException(
        code=NO_DAY,
        says=f"{counted} {where}, and no day's figures include them.",
        facts=refs(facts),
    )
