"""Findings of a table without a round: handling of cards and dice, supervision, lost facts.

A table's procedures are judged over its facts in order of time. Facts older than `SETTLE_US` are
settled into a state. Later facts are judged again with each batch, so that a late fact takes its
place in time. Part of the view `rulings`.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from consumers.rulings.finding_work import STATE, STATE_INDEXES, ref_at_table
from consumers.runtime.source import WHOLE, Share
from infra.postgres.arrays import ranges_of, ranges_text
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.adjudication.feed import is_procedural, rules_for
from ledger.facts import type_name
from ledger.record.wire import fact_of
from ledger.rules.engine.order import Gap, in_order
from ledger.rules.engine.review import lost_facts
from ledger.rules.procedures import supervision, table_procedures
from ledger.rules.procedures.equipment import Equipment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from consumers.rulings.finding_work import FindingStates
    from ledger.adjudication.feed import TableId
    from ledger.adjudication.submissions import FiledSubmission
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact
    from ledger.rules.engine.ruling import Finding

SETTLE_US = 60_000_000
"""How late a fact may be, microseconds; later ones have all facts of the table judged again."""

_TABLE_KEY = (
    Column("property", "text", "Property of the table."),
    Column("table_name", "text", "Table, e.g. CC-07."),
)

TABLE_FINDINGS = ViewTable(
    "ruling_table_findings",
    "Findings that belong to no round, one row each.",
    6,
    (
        *_TABLE_KEY,
        Column("time_us", "bigint", "Device time of the fact that completes it, microseconds."),
        Column("source", "text", "Source of that fact."),
        Column("fact_id", "text", "Id of that fact."),
        Column("nth", "smallint", "Number among the findings of that fact, from 0."),
        Column("gaming_day", "text", "Gaming day the table was in; null: not recorded.", null=True),
        Column("code", "text", "Code of the finding, e.g. stub_count_overdue."),
        Column("finding", "json", "The finding as it is printed."),
        Column("device", "text", "Lost facts: the device and its boot; (supervision).", null=True),
        Column("settled", "boolean", "Not judged again."),
        *STATE,
    ),
    ("(code)", "(device) WHERE device IS NOT NULL", *STATE_INDEXES),
)

TABLE_TAPES = ViewTable(
    "ruling_table_tapes",
    "Positions of the facts about a table: one row a table and tape.",
    3,
    (
        *_TABLE_KEY,
        Column("tape", "text", "Tape of the facts."),
        Column(
            "seqs", "int8multirange", "Their table_seq on it.", merge="old.seqs + excluded.seqs"
        ),
    ),
)

CARE = ViewTable(
    "ruling_care",
    "The state of a table's equipment up to a time; later facts wait.",
    2,
    (
        *_TABLE_KEY,
        Column("until_us", "bigint", "Facts up to this time are settled."),
        Column("state", "json", "The equipment at that time."),
        Column("waiting", "json", "Tape and table_seq of the facts since then."),
        Column("devices", "json", "Boot and highest sequence of each source settled last."),
    ),
)

_CELLS = ", ".join(f"f.{column.read}" for column in TABLE_FINDINGS.columns)
_NEVER = -(2**63)
_SUPERVISION = "(supervision)"  # in column `device`, for findings of a floor
_FIRST = {None: 0, _SUPERVISION: 2_000}  # first `nth` of a fact's findings, by `device`
FLOOR = ""
"""The table name that stands for all tables of a property; no table has it."""
_HEARD_NAMES = frozenset(
    type_name(kind).partition(".")[0]
    for kinds in (table_procedures.HEARD, supervision.HEARD)
    for kind in kinds
)
Place = tuple[str, int]
"""Tape and table_seq of a fact."""


class Heard(NamedTuple):
    """A fact with its row."""

    row: TapeRow
    fact: Fact


def _state_of(table: TableId) -> type[Equipment | supervision.Floor]:
    """The type of state stored for a table, or for a floor."""
    return supervision.Floor if table[1] == FLOOR else Equipment


Devices = dict[str, tuple[str | None, int | None]]
"""By source: the boot of its facts that were settled last, and their highest sequence number."""


class _Cared(NamedTuple):
    """The stored state of a table's equipment, or of a floor's staff."""

    until_us: int
    state: Equipment | supervision.Floor
    waiting: list[Place]
    devices: Devices

    def is_late(self, fact: Fact) -> bool:
        """Whether a new fact takes its place among facts that are settled.

        By its time, or by its sequence number: a device's clock may have stepped back after it.
        """
        if fact.time_us <= self.until_us or self.reorders(fact):
            return True
        boot, newest = self.devices.get(fact.source, (None, None))
        numbered = newest is not None and fact.sequence is not None
        return numbered and boot == fact.boot and (fact.sequence or 0) < (newest or 0)

    def reorders(self, fact: Fact) -> bool:
        """Whether its device numbers some facts only, and is then ordered by time."""
        boot, newest = self.devices.get(fact.source, (fact.boot, fact.sequence))
        return boot == fact.boot and (newest is None) != (fact.sequence is None)


def _new(table: TableId) -> _Cared:
    """The state of a table that nothing is known of."""
    return _Cared(_NEVER, _state_of(table)(), [], {})


def tables_of(heard: Iterable[Heard], share: Share = WHOLE) -> dict[TableId, list[Heard]]:
    """The facts that procedures judge, by table and by floor of a share."""
    found: dict[TableId, list[Heard]] = defaultdict(list)
    for each in heard:
        for table in _looked_at(each.fact):
            if share.owns_table(*table):
                found[table].append(each)
    return found


def _looked_at(fact: Fact) -> Iterator[TableId]:
    """The table and the floor for which a fact may complete a finding."""
    if fact.table is None:
        return
    property_, kind = fact.source.split("/", 2)[1], type(fact.body)
    if is_procedural(fact):
        yield property_, fact.table
    if kind in supervision.HEARD:
        yield property_, FLOOR


def note_tables(store: ViewStore, heard: Iterable[Heard], share: Share = WHOLE) -> None:
    """Store the places of all facts about a share's tables; all keep the ranges few and long."""
    seqs: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for row, fact in heard:
        if fact.table:
            property_ = fact.source.split("/", 2)[1]
            if share.owns_table(property_, fact.table):
                seqs[property_, fact.table, row.tape].append(row.table_seq)
            if type(fact.body) in supervision.HEARD and share.owns_table(property_, FLOOR):
                seqs[property_, FLOOR, row.tape].append(row.table_seq)
    store.save(TABLE_TAPES, ((*key, ranges_text(numbers)) for key, numbers in seqs.items()))


def judge_tables(
    store: ViewStore,
    tables: dict[TableId, list[Heard]],
    anew: Iterable[TableId],
    submissions: Sequence[FiledSubmission],
    position: int,
    states: FindingStates,
) -> None:
    """Judge the tables of a batch; those in `anew` from their first fact on."""
    wanted = dict.fromkeys((*tables, *anew))
    kept = {
        row[:2]: _Cared(
            row.until_us,
            msgspec.json.decode(row.state, type=_state_of(row[:2])),
            msgspec.json.decode(row.waiting, type=list[Place]),
            msgspec.json.decode(row.devices, type=Devices),
        )
        for row in store.rows(CARE, wanted)
    }
    waiting = _waiting(store, kept.values())
    judged = []
    for table in wanted:
        cared, heard = kept.get(table) or _new(table), tables.get(table, [])
        since = [waiting[place] for place in cared.waiting]
        if (
            table in anew
            or any(cared.is_late(each.fact) for each in heard)
            or any(cared.reorders(each.fact) for each in since)
        ):
            cared, heard = _new(table), _all_of(store, table, position)
        else:
            heard = [*since, *heard]
        if heard:
            judged.append(_judge(table, cared, heard, submissions))
    _save(store, judged, states)


def _waiting(store: ViewStore, kept: Iterable[_Cared]) -> dict[Place, Heard]:
    """The facts that wait for a table or a floor; one may wait for its floor alone."""
    places = {place for cared in kept for place in cared.waiting}
    rows = store.rows_at((tape, seq, seq) for tape, seq in sorted(places))
    return {(row.tape, row.table_seq): Heard(row, fact_of(row)) for row in rows}


def judge_sequence_gaps(
    store: ViewStore, gaps: dict[tuple[str, TableId], list[Gap]], states: FindingStates
) -> None:
    """Replace a table's findings of facts that a device (source and boot) lost between rounds."""
    if not gaps:
        return
    gone = store.query(
        "DELETE FROM {schema}.ruling_table_findings f USING unnest(%(devices)s::text[],"  # noqa: S608 - our own names
        " %(properties)s::text[], %(tables)s::text[]) AS g (device, property, table_name)"
        " WHERE f.device = g.device AND f.property = g.property AND f.table_name = g.table_name"
        f" RETURNING {_CELLS}",
        {
            "devices": [device for device, _ in gaps],
            "properties": [table[0] for _, table in gaps],
            "tables": [table[1] for _, table in gaps],
        },
    )
    states.gone(map(TABLE_FINDINGS.row._make, gone))
    rows: list[tuple[Any, ...]] = []
    for (device, table), its in gaps.items():
        for gap in its:
            day = gap.before.round.gaming_day if gap.before.round else None
            rows += _rows(table, day, gap.after, lost_facts([gap]), device=device, settled=True)
    _save_findings(store, rows, states)


class _Judged(NamedTuple):
    """The result for a table: findings since it was last settled, and its new state."""

    table: TableId
    anew: bool
    rows: list[tuple[Any, ...]]
    cared: tuple[Any, ...]


def _judge(
    table: TableId, cared: _Cared, heard: Sequence[Heard], submissions: Sequence[FiledSubmission]
) -> _Judged:
    """Judge the facts that are not settled yet, in order of time; settle those old enough."""
    places = {(fact.source, fact.id): (row.tape, row.table_seq) for row, fact in heard}
    ordered = in_order(fact for _, fact in heard)
    horizon = max(fact.time_us for fact in ordered) - SETTLE_US
    cut = next(at for at, fact in enumerate(ordered) if fact.time_us > horizon)
    rules_of = rules_for(table, submissions)
    state, settled = cared.state, b""
    rows: list[tuple[Any, ...]] = []
    for at, fact in enumerate(ordered):
        if at == cut:
            settled = msgspec.json.encode(state)
        if isinstance(state, supervision.Floor):
            rows += _of_floor(table[0], state, fact, settled=at < cut)
        elif found := table_procedures.see(state, fact, rules_of):
            rows += _rows(table, state.gaming_day, fact, found, device=None, settled=at < cut)
    waiting = [places[fact.source, fact.id] for fact in ordered[cut:]]
    devices = dict(cared.devices)
    for fact in ordered[:cut]:
        boot, newest = devices.get(fact.source, (None, None))
        number = fact.sequence
        if number is not None and newest is not None and boot == fact.boot:
            number = max(number, newest)
        devices[fact.source] = fact.boot, number
    kept = (settled.decode(), *(msgspec.json.encode(each).decode() for each in (waiting, devices)))
    cells = (*table, horizon, *kept)
    return _Judged(table, cared.until_us == _NEVER, rows, cells)


def _of_floor(
    property_: str, state: supervision.Floor, fact: Fact, *, settled: bool
) -> Iterator[tuple[Any, ...]]:
    """Findings of supervision, at the table of the fact that completes them."""
    found = supervision.see(state, fact)
    table = (property_, fact.table or FLOOR)
    day = supervision.day_of(state, table[1])
    return _rows(table, day, fact, found, device=_SUPERVISION, settled=settled)


def _save(store: ViewStore, judged: Sequence[_Judged], states: FindingStates) -> None:
    """Replace the findings that were not settled by the new ones."""
    gone = store.query(
        "DELETE FROM {schema}.ruling_table_findings f USING unnest(%(properties)s::text[],"  # noqa: S608 - our own names
        " %(tables)s::text[], %(anew)s::boolean[]) AS j (property, table_name, anew)"
        " WHERE f.property = j.property"
        " AND CASE j.table_name WHEN '' THEN f.device = %(supervision)s"
        " ELSE f.table_name = j.table_name AND f.device IS NULL END"
        f" AND (j.anew OR NOT f.settled) RETURNING {_CELLS}",
        {
            "properties": [each.table[0] for each in judged],
            "tables": [each.table[1] for each in judged],
            "anew": [each.anew for each in judged],
            "supervision": _SUPERVISION,
        },
    )
    states.gone(map(TABLE_FINDINGS.row._make, gone))
    _save_findings(store, [row for each in judged for row in each.rows], states)
    store.save(CARE, (each.cared for each in judged))


def _save_findings(
    store: ViewStore, rows: Sequence[tuple[Any, ...]], states: FindingStates
) -> None:
    """Write findings, each with the work on it."""
    found = []
    for row in rows:
        _, table, _, source, fact_id, _, day, code, *_ = row
        found.append((row, ref_at_table(table, day, code, source, fact_id)))
    store.save(TABLE_FINDINGS, states.rows(TABLE_FINDINGS, found))


def _rows(
    table: TableId,
    gaming_day: str | None,
    fact: Fact,
    found: Sequence[Finding],
    *,
    device: str | None,
    settled: bool,
) -> Iterator[tuple[Any, ...]]:
    """Findings as numbered rows; lost facts are numbered apart from a fact's other findings."""
    first = _FIRST.get(device, 1_000)
    for nth, finding in enumerate(found, first):
        text = msgspec.json.encode(finding).decode()
        yield (*table, fact.time_us, fact.source, fact.id, nth, gaming_day, finding.code, text, device, settled)  # fmt: skip  # noqa: E501 - one row


def _all_of(store: ViewStore, table: TableId, position: int) -> list[Heard]:
    """All facts of a table that procedures judge, up to a position.

    They are read only if a fact was very late.
    """
    rows = store.rows_at(
        (row.tape, low, high)
        for row in store.rows(TABLE_TAPES, [table])
        for low, high in ranges_of(row.seqs)
    )
    heard = (
        Heard(row, fact_of(row))
        for row in rows
        if row.position <= position and row.type.partition(".")[0] in _HEARD_NAMES
    )
    return [each for each in heard if table in _looked_at(each.fact)]
