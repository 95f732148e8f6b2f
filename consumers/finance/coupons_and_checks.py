"""The view `coupons_and_checks`: positions of the facts about these and explained variances.

`coupons`, `checks` and `variance` read them, as corrected, and work out their lines (ADR 0190).
`win` looks up in it where a coupon was dropped, and whether a check was voided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consumers.money.corrections_held import (
    CORRECTION_TYPES,
    as_corrected,
    facts_changed,
    made_table,
)
from consumers.runtime.source import Batch, Projection
from infra.postgres.view_tables import Column, ViewTable, reading
from ledger.facts import (
    FACTS,
    CounterCheckVoided,
    CouponDropped,
    CouponsIssued,
    CouponsRequisitioned,
    VarianceExplained,
    type_name,
)
from ledger.finance.checks import CHECK_FACTS
from ledger.finance.coupons import COUPON_FACTS, IssuedCoupons
from ledger.finance.placing import table_of
from ledger.record.wire import fact_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.boxes import PaperKind
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact


def _types(of: tuple[type, ...]) -> frozenset[str]:
    return frozenset(name for name, struct in FACTS.items() if issubclass(struct, of))


_COUPONS, _CHECKS = _types(COUPON_FACTS), _types(CHECK_FACTS)
_VARIANCES = _types((VarianceExplained,))
_ISSUED = _types((CouponsIssued,))
_REQUISITIONS = _types((CouponsRequisitioned,))
_READS = _COUPONS | _CHECKS | _VARIANCES | _REQUISITIONS

FACTS_OF_PAPER = ViewTable(
    "coupon_check_facts",
    "Positions of the facts about coupons, counter checks and explained variances: a row each.",
    2,
    (
        Column("source", "text", "Source of the fact."),
        Column("fact_id", "text", "Id of the fact."),
        Column("property", "text", "Property of its place."),
        Column("type", "text", "Its type, such as coupons_issued.v1."),
        Column("tape", "text", "Tape of the fact."),
        Column("table_seq", "bigint", "Its number on that tape."),
        Column("made_tape", "text", "Tape of the correction that holds.", null=True),
        Column("made_seq", "bigint", "Its number on that tape.", null=True),
    ),
    ("(property, type)",),
)

USES = ViewTable(
    "coupon_check_uses",
    "Coupons dropped at tables, and counter checks voided, as corrected: one row a fact.",
    2,
    (
        Column("source", "text", "Source of the fact."),
        Column("fact_id", "text", "Id of the fact."),
        Column("kind", "text", "coupon: dropped; check: voided."),
        Column("property", "text", "Property of its place."),
        Column("number", "text", "Serial of the coupon, or number of the check."),
        Column("table_name", "text", "Table or place, e.g. CC-07."),
        Column("gaming_day", "text", "Gaming day of its round; null: its time says.", null=True),
        Column("time_us", "bigint", "Device time, microseconds."),
    ),
    (
        "(property, kind, number)",
        "(property, table_name, time_us) WHERE kind = 'coupon'",
        "(gaming_day, property) WHERE gaming_day IS NOT NULL",
    ),
)

MADE = made_table("coupon_check_corrections_made")

_USED = frozenset((type_name(CouponDropped), type_name(CounterCheckVoided)))


def apply(store: ViewStore, batch: Batch) -> None:
    """Add a batch's facts, and the corrections that hold of them."""
    found = facts_changed(store, batch, MADE, _READS)
    store.save(
        FACTS_OF_PAPER,
        (
            (
                *(row.source, row.id, row.source.split("/")[1], row.type),
                *(row.tape, row.table_seq),
                *((why.tape, why.table_seq) if why else (None, None)),
            )
            for row, why in found.values()
        ),
    )
    used = {key: each for key, each in found.items() if each[0].type in _USED}
    store.delete(USES, used)
    store.save(USES, (cells for row, why in used.values() for cells in _uses(row, why)))


def _uses(row: TapeRow, why: TapeRow | None) -> Iterator[tuple[Any, ...]]:
    """The row of a coupon that was dropped, or a check that was voided; none if taken back."""
    for fact in as_corrected(fact_of(row), why) if why else [fact_of(row)]:
        kind, number = _number_of(fact.body)
        property_, table = table_of(fact)
        yield (
            *(row.source, row.id, kind, property_, number),
            *(table, fact.round.gaming_day if fact.round else None, row.time_us),
        )


def _number_of(body: object) -> tuple[PaperKind, str]:
    if isinstance(body, CouponDropped):
        return "coupon", body.serial
    return "check", body.check if isinstance(body, CounterCheckVoided) else ""


VIEW = Projection(
    "coupons_and_checks", 8, (FACTS_OF_PAPER, USES, MADE), apply, reads=_READS | CORRECTION_TYPES
)
"""The view `coupons_and_checks`."""


def coupon_facts(database: Database, property_: str | None) -> dict[str, list[Fact]]:
    """The facts about coupons, as corrected, by property."""
    return _facts(database, property_, _COUPONS)


def issued_coupons(store: ViewStore, houses: Iterable[str]) -> dict[str, IssuedCoupons]:
    """The batches of coupons that each of these houses issued, as corrected."""
    found = {}
    for house in houses:
        facts = _facts_in(store, house, _ISSUED).get(house)
        if facts:
            found[house] = IssuedCoupons(facts)
    return found


def check_facts(database: Database, property_: str | None) -> dict[str, list[Fact]]:
    """The facts about counter checks, as corrected, by property."""
    return _facts(database, property_, _CHECKS)


def variance_facts(database: Database, property_: str | None) -> dict[str, list[Fact]]:
    """The explanations of variances, as corrected, by property."""
    return _facts(database, property_, _VARIANCES)


def coupon_rows(store: ViewStore, property_: str) -> list[TapeRow]:
    """The rows of the record about coupons, with their corrections."""
    return _rows(store, property_, _COUPONS | _REQUISITIONS)


def check_rows(store: ViewStore, property_: str) -> list[TapeRow]:
    """The rows of the record about counter checks and their books, with the corrections."""
    return _rows(store, property_, _CHECKS)


def _rows(store: ViewStore, property_: str, types: frozenset[str]) -> list[TapeRow]:
    return store.rows_named(
        """
        WITH RECURSIVE told AS (
            SELECT source, fact_id, tape, table_seq FROM {schema}.coupon_check_facts
             WHERE property = %(property)s AND type = ANY (%(types)s::text[])
            UNION SELECT m.source, m.fact_id, m.tape, m.table_seq FROM told t
              JOIN {schema}.coupon_check_corrections_made m
                ON m.of_source = t.source AND m.of_id = t.fact_id)
        SELECT tape, table_seq, table_seq FROM told
        """,
        {"property": property_, "types": sorted(types)},
    )


def _facts(
    database: Database, property_: str | None, types: frozenset[str]
) -> dict[str, list[Fact]]:
    with reading(database, [each.name for each in VIEW.tables]) as store:
        return _facts_in(store, property_, types)


def _facts_in(
    store: ViewStore, property_: str | None, types: frozenset[str]
) -> dict[str, list[Fact]]:
    rows: Sequence[tuple[str, str, int, str | None, int | None]] = store.query(
        "SELECT property, tape, table_seq, made_tape, made_seq FROM {schema}.coupon_check_facts"
        " WHERE (%(property)s::text IS NULL OR property = %(property)s)"
        " AND type = ANY (%(types)s::text[])",
        {"property": property_, "types": sorted(types)},
    )
    places = {(tape, seq, seq) for _, tape, seq, _, _ in rows}
    places |= {(tape, seq, seq) for _, _, _, tape, seq in rows if tape and seq is not None}
    kept = {(row.tape, row.table_seq): row for row in store.rows_at(places)}
    found: dict[str, list[Fact]] = {}
    for name, tape, seq, made_tape, made_seq in rows:
        fact = fact_of(kept[tape, seq])
        why = kept[made_tape, made_seq] if made_tape and made_seq is not None else None
        found.setdefault(name, []).extend(as_corrected(fact, why) if why else [fact])
    return dict(sorted(found.items()))
