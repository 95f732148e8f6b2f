"""The view `finance`: every fact of money outside rounds, by its table and time.

Wins are worked out from it as they are read (`consumers.finance.wins`). A corrected fact has two
rows: as recorded, and as corrected. So a correction may move a fact to another table or day. A step
of a slip that the cage recorded has two rows too if corrections of other facts move it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consumers.money import corrections_held, slip_places
from consumers.money.corrections_held import (
    CORRECTION_TYPES,
    as_corrected,
    elsewhere_table,
    facts_changed,
    holding,
    holding_of,
    made_table,
    note_elsewhere,
)
from consumers.runtime.source import Batch, Projection
from infra.postgres.view_tables import Column, ViewTable, reading
from ledger.errors import NotFound
from ledger.facts import (
    FACTS,
    AdjustmentPaid,
    CounterCheckIssued,
    DropBoxAttached,
    DropBoxCounted,
    DropBoxRemoved,
    InventoryCounted,
    TableOpened,
    VoucherBoughtIn,
    type_name,
)
from ledger.facts.money import ChipSlip
from ledger.finance.boxes import numbers_of
from ledger.finance.feed import MONEY_FACTS
from ledger.finance.placing import (
    OPENS_DAY,
    DisputeUse,
    disputed_tables,
    own_day,
    paid_at,
    table_of,
    tables_with_day,
)
from ledger.finance.slips import number_used, series, slips, step_of
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from consumers.money.corrections_held import FactHistory
    from consumers.money.slip_places import StepTables
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.placing import DisputeId, TableId
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

BOTH, RECORDED, CORRECTED = 0, 1, 2
"""What a row is: the fact as it is, the fact as recorded beside a correction, and corrected."""

Place = tuple[str, int]
"""The tape of a fact, and its sequence on it."""

_TYPES = frozenset(name for name, struct in FACTS.items() if issubclass(struct, MONEY_FACTS))
_AMENDS, _RAISED = type_name(AdjustmentPaid), "dispute_raised.v1"
_STARTS = frozenset((type_name(TableOpened), type_name(DropBoxAttached)))
_NUMBERED = frozenset(
    type_name(each)
    for each in (
        CounterCheckIssued,
        DropBoxAttached,
        DropBoxCounted,
        DropBoxRemoved,
        InventoryCounted,
        VoucherBoughtIn,
    )
)

FACTS_OF_MONEY = ViewTable(
    "finance_facts",
    "One row a fact of money outside rounds; a corrected one has a row as recorded too.",
    4,
    (
        Column("source", "text", "Source of the fact."),
        Column("fact_id", "text", "Id of the fact."),
        Column("variant", "smallint", "0: not corrected, 1: as recorded, 2: as corrected."),
        Column("property", "text", "Property of the table."),
        Column("table_name", "text", "Table, e.g. CC-07."),
        Column("gaming_day", "text", "Gaming day that it names; null: its time says.", null=True),
        Column("time_us", "bigint", "Device time, microseconds."),
        Column("starts", "boolean", "Whether its gaming day holds from its time on."),
        Column("paper_kind", "text", "fill, credit or dispute.", null=True),
        Column("paper", "text", "Number of the slip, or of the dispute.", null=True),
        Column("step", "text", "requested, dispatched, accepted or voided.", null=True),
        Column("stem", "text", "The slip's text before its number.", null=True),
        Column("number", "bigint", "The slip's number in its series.", null=True),
        Column("tape", "text", "Tape of the fact."),
        Column("table_seq", "bigint", "Its sequence on that tape."),
        Column("made_tape", "text", "Tape of the correction that holds.", null=True),
        Column("made_seq", "bigint", "Its sequence on that tape.", null=True),
    ),
    (
        "(property, table_name, time_us)",
        "(gaming_day, property) WHERE gaming_day IS NOT NULL",
        "(property, table_name) WHERE variant <> 0",
        "(property, paper_kind, stem, number) WHERE number IS NOT NULL",
        "(paper_kind, paper) WHERE paper IS NOT NULL",
        "(property, table_name, time_us) WHERE starts",
        "(property, time_us) WHERE starts",
    ),
)

DISPUTES = ViewTable(
    "finance_disputes",
    "The table of each dispute's round, for amends that name no table.",
    2,
    (
        Column("property", "text", "Property of the dispute."),
        Column("dispute", "text", "Number of the dispute."),
        Column("time_us", "bigint", "Device time of the fact that raised it, microseconds."),
        Column("source", "text", "Source of that fact."),
        Column("fact_id", "text", "Id of that fact."),
        Column("of_property", "text", "Property of the disputed round's table."),
        Column("of_table", "text", "Table of the disputed round."),
    ),
)

NUMBERS = ViewTable(
    "finance_numbers",
    "Numbers of boxes, of papers in them, of slips of trays, of vouchers sold and checks issued.",
    7,
    (
        Column("source", "text", "Source of the fact."),
        Column("fact_id", "text", "Id of the fact."),
        Column("variant", "smallint", "0: not corrected, 1: as recorded, 2: as corrected."),
        Column(
            "kind",
            "text",
            "Paper in a box: coupon, check, voucher. Sold: voucher; issued: check. Box: a count's; "
            "attached, removed: box. Opener, closer: slip of a count of the tray.",
        ),
        Column("number", "text", "Number of the paper, box or slip."),
        Column("property", "text", "Property of the table."),
        Column("table_name", "text", "Table, e.g. CC-07."),
        Column("gaming_day", "text", "Gaming day of the count; null: no count.", null=True),
    ),
    (
        "(property, kind, number, gaming_day)",
        "(gaming_day, property) WHERE gaming_day IS NOT NULL",
    ),
)

MADE = made_table("finance_corrections_made")
ELSEWHERE = elsewhere_table("finance_corrections_elsewhere")
PLACES = slip_places.places_table("finance_slip_places")


def apply(store: ViewStore, batch: Batch) -> None:
    """Add a batch's facts of money, and move those that corrections and disputes move."""
    note_elsewhere(store, batch, ELSEWHERE)
    changed = facts_changed(store, batch, MADE, _TYPES)
    moved = _amends_of(store, _raised(store, batch), _begun(store, changed), batch.position)
    changed = {(row.source, row.id): (row, made) for row, made in moved} | changed
    told = (row for row, _ in changed.values())
    steps = slip_places.note(store, PLACES, MADE, batch, told)
    changed |= holding_of(
        store, MADE, [key for key in steps.again if key not in changed], batch.position
    )
    store.delete(FACTS_OF_MONEY, changed)
    # Amends are placed by the starts of the batch, too.
    is_amends = {key: row.type == _AMENDS for key, (row, _) in changed.items()}
    for chosen in (False, True):
        _save(store, [of for key, of in changed.items() if is_amends[key] == chosen], steps)
    store.delete(NUMBERS, changed)
    store.save(
        NUMBERS,
        (cells for row, why in changed.values() for cells in _numbers(row, why)),
    )


def _save(
    store: ViewStore, told: Sequence[tuple[TapeRow, TapeRow | None]], steps: StepTables
) -> None:
    """Save the rows of some facts, each with its correction."""
    disputed, tables = _disputed(store, told), _with_day(store, told)

    def place(fact: Fact, variant: int) -> TableId:
        if isinstance(fact.body, ChipSlip):
            return steps.table(fact, as_corrected=variant != RECORDED)
        return paid_at(fact, disputed, tables)

    cells = (cells for row, why in told for cells in _cells(row, why, place, steps))
    store.save(FACTS_OF_MONEY, cells)


def _begun(
    store: ViewStore, changed: Mapping[tuple[str, str], tuple[TapeRow, TapeRow | None]]
) -> set[TableId]:
    """The tables whose first opening or box these facts bring: their own amends are theirs now."""
    new = tables_with_day(fact_of(row) for row, _ in changed.values() if row.type in _STARTS)
    return new - _known_tables(store, new)


def _with_day(store: ViewStore, told: Iterable[tuple[TapeRow, TapeRow | None]]) -> set[TableId]:
    """The places of these amends that are tables."""
    places = {table_of(fact_of(row)) for row, _ in told if row.type == _AMENDS}
    return _known_tables(store, places)


def _known_tables(store: ViewStore, places: Collection[TableId]) -> set[TableId]:
    """Those of some places that have an opening or a box, as recorded."""
    if not places:
        return set()
    found = store.query(
        "SELECT w.property, w.name FROM unnest(%(properties)s::text[], %(names)s::text[])"
        " AS w (property, name) WHERE EXISTS (SELECT FROM {schema}.finance_facts f"
        " WHERE f.starts AND f.property = w.property AND f.table_name = w.name"
        " AND f.variant <> 2)",
        {
            "properties": [property_ for property_, _ in places],
            "names": [name for _, name in places],
        },
    )
    return {(property_, name) for property_, name in found}


def _raised(store: ViewStore, batch: Batch) -> list[tuple[str, str]]:
    """Keep the tables of the disputes that a batch raises; returns property and dispute of each."""
    new = disputed_tables(fact for _, fact in batch.facts(frozenset((_RAISED,))))
    for key, use in _uses(store, new).items():
        new[key] = min(use, new[key])
    store.save(DISPUTES, ((*key, *use[:3], *use.table) for key, use in new.items()))
    return list(new)


def _uses(store: ViewStore, disputes: Iterable[DisputeId]) -> dict[DisputeId, DisputeUse]:
    """The first fact that raises each of these disputes, if one does."""
    rows = store.rows(DISPUTES, sorted(disputes))
    return {row[:2]: DisputeUse(row[2], row[3], row[4], row[5:7]) for row in rows}


def _amends_of(
    store: ViewStore, disputes: Sequence[DisputeId], tables: Collection[TableId], until: int
) -> list[tuple[TapeRow, TapeRow | None]]:
    """The recorded amends of these disputes and places, each with the correction that holds."""
    if not (disputes or tables):
        return []
    rows = store.rows_named(
        "SELECT f.tape, f.table_seq, f.table_seq"
        " FROM unnest(%(properties)s::text[], %(disputes)s::text[]) AS w (property, dispute)"
        " JOIN {schema}.finance_facts f ON f.paper_kind = 'dispute' AND f.paper = w.dispute"
        " AND split_part(f.source, '/', 2) = w.property GROUP BY f.tape, f.table_seq"
        " UNION SELECT f.tape, f.table_seq, f.table_seq"
        " FROM unnest(%(houses)s::text[], %(places)s::text[]) AS w (property, place)"
        " JOIN {schema}.finance_facts f ON f.paper_kind = 'dispute'"
        " AND f.tape = w.property || '/' || w.place",
        {
            "properties": [property_ for property_, _ in disputes],
            "disputes": [dispute for _, dispute in disputes],
            "houses": [property_ for property_, _ in tables],
            "places": [place for _, place in tables],
        },
    )
    why = holding(store, MADE, [(row.source, row.id) for row in rows], until)
    return [(row, why.get((row.source, row.id))) for row in rows]


def _disputed(
    store: ViewStore, told: Iterable[tuple[TapeRow, TapeRow | None]]
) -> dict[DisputeId, DisputeUse]:
    """What raised the disputes that these facts pay amends for."""
    return _uses(
        store,
        {
            (fact.source.split("/")[1], fact.body.dispute)
            for row, why in told
            for fact in _facts(row, why)
            if isinstance(fact.body, AdjustmentPaid)
        },
    )


def _facts(row: TapeRow, why: TapeRow | None) -> list[Fact]:
    """A fact as recorded, and as corrected if a correction holds."""
    fact = fact_of(row)
    return [fact, *as_corrected(fact, why)] if why else [fact]


def _cells(
    row: TapeRow,
    why: TapeRow | None,
    place: Callable[[Fact, int], TableId],
    steps: StepTables,
) -> Iterator[tuple[Any, ...]]:
    """The rows of one fact of money. place: its table in one of them."""
    facts = _facts(row, why)
    if why is None and steps.is_parted(facts[0]):
        facts *= 2
    variants = (RECORDED, CORRECTED) if why or len(facts) > 1 else (BOTH,)
    made = (why.tape, why.table_seq) if why else (None, None)
    for variant, fact in zip(variants, facts, strict=False):
        yield (
            row.source,
            row.id,
            variant,
            *place(fact, variant),
            own_day(fact),
            row.time_us,
            isinstance(fact.body, OPENS_DAY),
            *_paper(fact),
            row.tape,
            row.table_seq,
            *(made if variant == CORRECTED else (None, None)),
        )


def _numbers(row: TapeRow, why: TapeRow | None) -> Iterator[tuple[Any, ...]]:
    """The numbers that a fact names: its box and the papers in it, slip, voucher or check."""
    if row.type not in _NUMBERED:
        return
    variants = (RECORDED, CORRECTED) if why else (BOTH,)
    for variant, fact in zip(variants, _facts(row, why), strict=False):
        of, body = (row.source, row.id, variant), fact.body
        if isinstance(body, DropBoxCounted):
            yield (*of, "box", body.box, *table_of(fact), body.gaming_day)
            for kind, numbers in numbers_of(body).items():
                for number in dict.fromkeys(numbers):
                    yield (*of, kind, number, *table_of(fact), body.gaming_day)
        elif isinstance(body, DropBoxAttached | DropBoxRemoved):
            step = "attached" if isinstance(body, DropBoxAttached) else "removed"
            yield (*of, step, body.box, *table_of(fact), body.gaming_day)
        elif isinstance(body, InventoryCounted) and (used := number_used(body)):
            yield (*of, used.step, used.number, *table_of(fact), body.gaming_day)
        elif isinstance(body, VoucherBoughtIn):
            yield (*of, "sold", body.voucher, *table_of(fact), None)
        elif isinstance(body, CounterCheckIssued):
            yield (*of, "issued", body.check, *table_of(fact), None)


def _paper(fact: Fact) -> tuple[str | None, str | None, str | None, str | None, int | None]:
    """Kind, number, step, stem and position in its series of a fact's paper."""
    if isinstance(fact.body, AdjustmentPaid):
        return "dispute", fact.body.dispute, None, None, None
    if not isinstance(fact.body, ChipSlip):
        return None, None, None, None, None
    [slip] = slips([fact])
    kind, stem, number = series(slip) or (slip.kind, None, None)
    return kind, slip.number, step_of(fact.body), stem, number


def history(database: Database, source: str, fact_id: str) -> FactHistory:
    """A fact with its corrections; of a correction, the fact that it corrects.

    Raises `NotFound`.
    """
    with reading(database, [MADE.name]) as store:
        found = corrections_held.history(store, MADE, (source, fact_id))
    if found is None:
        raise NotFound(
            f"The record has no fact {source} {fact_id}",
            where="address",
            hint="Compare source and id.",
        )
    return found


VIEW = Projection(
    "finance",
    11,
    (FACTS_OF_MONEY, NUMBERS, DISPUTES, PLACES, MADE, ELSEWHERE),
    apply,
    reads=_TYPES | CORRECTION_TYPES | {_RAISED},
)
"""The view `finance`."""
