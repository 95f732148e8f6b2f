"""Reports of what goes with a table's tray: slips by number, counts beside the expected."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from consumers.finance import round_sums, wins
from consumers.finance.day_facts import WinsAsked
from consumers.finance.wins import WITH_CORRECTIONS, day_records
from consumers.money.corrections_held import rows_of
from infra.postgres.view_tables import reading
from ledger.facts import InventoryCounted
from ledger.facts.money import ChipSlip
from ledger.finance.feed import NO_DAY
from ledger.finance.placing import by_time
from ledger.finance.shifts import END_US, ShiftTime
from ledger.finance.slips import slips as slips_in
from ledger.finance.table_day import DayRecord, RoundsMoney, closer_of, figures_of
from ledger.record.wire import fact_of
from ledger.values import dollars
from replay.reports.fact_times import fact_times
from replay.reports.kind import columns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from infra.postgres.view_tables import ViewStore
    from ledger.finance.slips import SlipRecord
    from ledger.record.wire import Fact
    from replay.reports.kind import AskedReport
    from replay.reports.table import Value

_NAMES = [each.name for view in wins.VIEWS for each in view.tables]

SLIPS = (
    *columns("kind slip table status", "amount"),
    *columns("requested dispatched accepted voided", counts="minutes_open"),
)


def slip_continuity(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Each slip of the day, by kind and number; the numbers left out; the slips of no day."""
    with reading(asked.database, _NAMES) as store:
        day = WinsAsked(asked.property, None, asked.gaming_day)
        found = day_records(store, day, WITH_CORRECTIONS)
        without = _of_no_day(store, asked)
        its = (*(slip for of in found.values() for slip in of.slips), *(s for s, _ in without))
        shown = fact_times(asked, store, [fact for slip in its for fact in slip.facts])
    slips = _joined((slip, of.table) for of in found.values() for slip in of.slips)
    for slip, table in sorted(slips, key=lambda each: (each[0].kind, each[0].number, each[1])):
        yield _row(slip, table, shown, _status(slip))
    for of in asked.wins:
        for each in of.exceptions:
            if each.code == "slip_missing":
                kind, _, said = each.says.partition(" Slip ")
                numbers = said.partition(" is not on record")[0]
                yield kind.lower(), numbers, of.table, "missing", *(None for _ in SLIPS[4:])
    yield from (_row(slip, table, shown, "of no day") for slip, table in without)


def _joined(slips: Iterable[tuple[SlipRecord, str]]) -> list[tuple[SlipRecord, str]]:
    """The slips of tables; one that was sent to a table and accepted at another stands once.

    It stands at the table that accepted it, or if that was on another day where it was sent.
    """
    found: dict[tuple[str, str, str], list[tuple[SlipRecord, str]]] = defaultdict(list)
    for slip, table in slips:
        found[slip.kind, slip.number, _accepted_at(slip) or table].append((slip, table))
    return [_as_one(its) for its in found.values()]


def _accepted_at(slip: SlipRecord) -> str | None:
    """The other table that accepted a slip; None: its own did, or none."""
    return None if slip.accepted or not slip.elsewhere else slip.elsewhere[0].table


def _as_one(slips: Sequence[tuple[SlipRecord, str]]) -> tuple[SlipRecord, str]:
    own, table = max(slips, key=lambda each: bool(each[0].accepted))
    steps = ("requested", "dispatched", "voided")
    told = {step: [fact for slip, _ in slips for fact in getattr(slip, step)] for step in steps}
    its: dict[str, Any] = {step: tuple(sorted(told[step], key=by_time)) for step in steps}
    return own._replace(**its), table


def _row(
    slip: SlipRecord, table: str | None, shown: Callable[[Fact], str], status: str
) -> Sequence[Value]:
    steps = (slip.requested, slip.dispatched, slip.accepted, slip.voided)
    return (
        slip.kind, slip.number, table, status, _amount(slip),
        *(shown(step[0]) if step else None for step in steps), _minutes_open(slip),
    )  # fmt: skip


def _of_no_day(store: ViewStore, asked: AskedReport) -> list[tuple[SlipRecord, str | None]]:
    """The slips that are of no gaming day, as the day's exceptions name them, with their tables."""
    found: list[tuple[SlipRecord, str | None]] = []
    for of in asked.wins:
        named = [ref for e in of.exceptions if e.code == NO_DAY for ref in e.facts]
        rows = rows_of(store, [(ref.source, ref.id) for ref in named])
        facts = sorted(map(fact_of, rows.values()), key=by_time)
        found += ((slip, of.table) for slip in slips_in(facts))
    return found


def _status(slip: SlipRecord) -> str:
    if at := _accepted_at(slip):
        return f"accepted at {at}"
    if slip.accepted:
        return "used" if len(slip.accepted) == 1 else "used twice"
    if slip.voided:
        return "voided"
    return "on its way" if slip.dispatched else "requested"


def _amount(slip: SlipRecord) -> int:
    """What was accepted, or is on its way or asked for; nothing if it was voided."""
    if slip.accepted or slip.voided:
        return slip.total
    body = (slip.dispatched or slip.requested)[0].body
    return body.total if isinstance(body, ChipSlip) else 0


def _minutes_open(slip: SlipRecord) -> int | None:
    """Minutes from a slip's request or dispatch until its chips were accepted, or it was voided."""
    begins, ends = slip.requested or slip.dispatched, slip.accepted or slip.voided
    return (ends[0].time_us - begins[0].time_us) // 60_000_000 if begins and ends else None


RUNDOWN = (
    *columns("table time kind slip", "expected counted difference"),
    *columns("counted_by observed_by pieces"),
)


def inventory_rundown(asked: AskedReport) -> Iterator[Sequence[Value]]:
    """Each count of a tray beside what the count before it and all facts since then leave."""
    with reading(asked.database, _NAMES) as store:
        day = WinsAsked(asked.property, None, asked.gaming_day)
        found = day_records(store, day, WITH_CORRECTIONS)
        times = {key: _between(of) for key, of in found.items()}
        rounds = round_sums.of_shifts(store, {key: its for key, its in times.items() if its})
        shown = fact_times(asked, store, [fact for of in found.values() for fact in _counts(of)])
    for key in sorted(found):
        yield from _of_table(found[key], times[key], rounds.get(key, {}), shown)


def _counts(of: DayRecord) -> list[Fact]:
    return [fact for fact in of.facts if isinstance(fact.body, InventoryCounted)]


def _between(of: DayRecord) -> list[ShiftTime]:
    """The times between a day's counts of the tray, each named by its number."""
    began = [fact.time_us for fact in _counts(of)]
    ends = [*began, END_US][1:]
    return [ShiftTime(str(n), *each) for n, each in enumerate(zip(began, ends, strict=True), 1)]


def _of_table(
    of: DayRecord,
    times: Sequence[ShiftTime],
    rounds: Mapping[str | None, RoundsMoney],
    shown: Callable[[Fact], str],
) -> Iterator[Sequence[Value]]:
    before = closer_of(of.before)
    expected = before.body.total if before and isinstance(before.body, InventoryCounted) else None
    for fact, since in zip(_counts(of), times, strict=True):
        body = fact.body
        if isinstance(body, InventoryCounted):
            differs = None if expected is None else body.total - expected
            yield (
                of.table, shown(fact), body.kind, body.slip,
                expected, body.total, differs, body.counted_by, body.observed_by, _pieces(body),
            )  # fmt: skip
            expected = body.total + _gained(of, since, rounds.get(since.shift))


def _pieces(of: InventoryCounted) -> str:
    """The pieces of a count by denomination, the highest first: `$25.00 x 40, $5.00 x 12`."""
    its = sorted(((int(cents), count) for cents, count in of.chips.items()), reverse=True)
    return ", ".join(f"{dollars(cents)} x {count}" for cents, count in its)


def _gained(of: DayRecord, since: ShiftTime, rounds: RoundsMoney | None) -> int:
    """What slips, sales, exchanges, amends and rounds of a time add to the tray."""
    part = of._replace(
        facts=[fact for fact in of.facts if since.since_us <= fact.time_us < since.until_us],
        slips=[s for s in of.slips if since.since_us <= s.decides.time_us < since.until_us],
        before=(),
        rounds=RoundsMoney(None),
    )
    figures = figures_of(part)
    sales = sum(cents for kind, cents in figures.sold.items() if kind != "chips")
    moved = (rounds.tray if rounds else 0) - figures.adjusted
    return figures.fills - figures.credits - sales + figures.exchange + moved
