"""Which facts one of several processes hears that divide the view `rulings` by tables.

A process hears the facts of its tables, and those of devices that stand there. Facts of the office,
coupons, supervision and work on findings are heard by all. So are facts of a device that has named
one of its tables from another place: a gap in its numbers may touch rulings there. Part of the view
`rulings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.rulings.device_sequences import property_of
from consumers.rulings.finding_work import NAMES as WORK_FACTS
from consumers.rulings.touched_rounds import FILED
from consumers.runtime.source import Batch, Crossing, round_of_row
from ledger.facts import FactCorrected, WagerPlaced, type_name
from ledger.record import kinds
from ledger.rules.engine.coupons import MOVED
from ledger.rules.procedures import supervision

if TYPE_CHECKING:
    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow


def _name(kind: type) -> str:
    return type_name(kind).partition(".")[0]


_BY_ALL = frozenset(map(_name, (*FILED, FactCorrected, *MOVED, *supervision.HEARD))) | WORK_FACTS
_WAGER, _COUPON = _name(WagerPlaced), "coupon"


def heard_by(store: ViewStore, batch: Batch) -> list[TapeRow]:
    """The rows of a batch that its share hears, in order."""
    away = _away(store, batch) | devices_away(batch)
    owns = batch.share.owns
    return [row for row in batch.rows if owns(row.tape) or row.source in away or _is_by_all(row)]


def devices_away(batch: Batch) -> set[str]:
    """The devices whose facts in a batch name tables of its share, from another place."""
    owns = batch.share.owns
    return {row.source for row in batch.rows if not owns(row.tape) and owns(_part(row, batch))}


def _part(row: TapeRow, batch: Batch) -> str:
    """The table that a fact is about, with its property: as `Fact.table`, decoded if need be."""
    round_ = round_of_row(row)
    if round_ is not None:
        return f"{round_.property}/{round_.table}"
    kind = kinds.KINDS[row.type]
    if kind.names_table or kind.names_round or kind.needs_subject:
        return f"{row.tape.partition('/')[0]}/{batch.fact(row).table}"
    return row.tape


CROSSING = Crossing(_BY_ALL, (_WAGER, _COUPON), devices_away)
"""What a share hears of other tapes."""


def _is_by_all(row: TapeRow) -> bool:
    """Whether every process hears a fact. A coupon's key might be written with an escape."""
    name = row.type.partition(".")[0]
    return name in _BY_ALL or (
        name == _WAGER and (_COUPON.encode() in row.data or b"\\" in row.data)
    )


def _away(store: ViewStore, batch: Batch) -> set[str]:
    """Devices of the batch whose numbers are kept for a table of the share, from another place."""
    rows = store.query(
        "SELECT DISTINCT source, table_name FROM {schema}.ruling_runs"
        " WHERE away AND source = ANY (%(sources)s::text[])",
        {"sources": list({row.source for row in batch.rows})},
    )
    share = batch.share
    return {source for source, table in rows if share.owns_table(property_of(source), table)}
