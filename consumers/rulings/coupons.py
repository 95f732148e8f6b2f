"""Coupons by serial: the round that played each, and the facts that dropped or refused it.

A coupon may be dropped during another round, and its batch may be filed after both. Rounds are
found here by serial, without a scan of a table's history. Part of the view `rulings`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.rules.engine import coupons as coupon_facts
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.postgres.view_tables import NamedRow
    from ledger.adjudication.corrections import Corrections
    from ledger.facts import FactCorrected
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact
    from ledger.rules.engine.coupons import CouponBatch

COUPONS = ViewTable(
    "ruling_coupons",
    "Serials of coupons in facts or corrections of them: played, dropped or refused.",
    3,
    (
        Column("property", "text", "Property of the table."),
        Column("serial", "text", "Serial of the coupon."),
        Column("position", "bigint", "Position of the fact, or correction, on the record."),
        Column("table_name", "text", "Table, e.g. MB-07."),
        Column("played", "boolean", "True: played with a wager. False: dropped or refused."),
        Column("tape", "text", "Tape of the fact itself."),
        Column("table_seq", "bigint", "Its sequence on that tape."),
        Column("gaming_day", "text", "Gaming day of its round; null without a round.", null=True),
        Column("number", "bigint", "Number of that round.", null=True),
    ),
    is_log=True,
)

Place = tuple[str, int]
"""Tape and table_seq."""


class CouponFacts:
    """The coupon facts of a batch and of the record before it."""

    def __init__(self, store: ViewStore, until: int) -> None:
        """`until`: the last position before the batch. Another process may have written more."""
        self._store = store
        self._until = until
        self._new: dict[tuple[str, str, int], NamedRow] = {}

    def add_fact(self, row: TapeRow, fact: Fact, made: Corrections) -> set[RoundId]:
        """Add a fact; returns the rounds of its property that played one of its serials.

        `made`: corrections that were received before their fact.
        """
        if coupon_facts.serial_of(fact) is None or not fact.table:
            return set()
        touched: set[RoundId] = set()
        for serial in coupon_facts.serials_of([fact], made):
            touched |= self._note(serial, row.position, fact, (row.tape, row.table_seq))
        return touched

    def correct(
        self, row: TapeRow, correction: FactCorrected, fact: Fact, place: Place
    ) -> set[RoundId]:
        """Add a correction of a fact's serial; returns the rounds that it concerns."""
        told = coupon_facts.serial_of(fact)
        if told is None or not fact.table:
            return set()
        touched = self._rounds(_property(fact), told)
        for serial in coupon_facts.corrected_serials(correction):
            touched |= self._note(serial, row.position, fact, place)
        return touched

    def _note(self, serial: str, position: int, fact: Fact, place: Place) -> set[RoundId]:
        property_, table = _property(fact), fact.table or ""
        played = not isinstance(fact.body, coupon_facts.MOVED)
        round_ = fact.round if played else None
        key = (property_, serial, position)
        day, number = (round_.gaming_day, round_.number) if round_ else (None, None)
        self._new[key] = COUPONS.row(*key, table, played, *place, day, number)
        return self._rounds(property_, serial)

    def told(self, property_: str, serials: Iterable[str]) -> list[Place]:
        """Tape and sequence of a property's facts that name these serials."""
        return list(
            {(row.tape, row.table_seq): None for row in self._rows(property_, sorted(serials))}
        )

    def issued(self, batch: CouponBatch, *, first: bool) -> set[RoundId]:
        """Rounds that a batch may change: all rounds with coupons if it is the property's first."""
        rows = self._rows(batch.property)
        return {
            RoundId(row.property, row.table_name, row.gaming_day, row.number)
            for row in rows
            if row.gaming_day is not None and (first or batch.holds(row.serial))
        }

    def save(self) -> None:
        """Write new rows to the view."""
        self._store.save(COUPONS, self._new.values())

    def _rounds(self, property_: str, serial: str) -> set[RoundId]:
        return {
            RoundId(row.property, row.table_name, row.gaming_day, row.number)
            for row in self._rows(property_, [serial])
            if row.gaming_day is not None
        }

    def _rows(self, property_: str, serials: Sequence[str] | None = None) -> list[NamedRow]:
        """Rows of a property, of some serials or of all, unwritten ones included."""
        if serials is not None and not serials:
            return []
        stored = self._store.query(
            "SELECT property, serial, position, table_name, played, tape, table_seq, gaming_day,"
            " number FROM {schema}.ruling_coupons WHERE property = %(property)s"
            " AND position <= %(until)s"
            " AND (%(serials)s::text[] IS NULL OR serial = ANY (%(serials)s::text[]))"
            " ORDER BY position",
            {
                "property": property_,
                "until": self._until,
                "serials": list(serials) if serials is not None else None,
            },
        )
        new = [
            row
            for row in self._new.values()
            if row.property == property_ and (serials is None or row.serial in serials)
        ]
        return [*map(COUPONS.row._make, stored), *new]


def _property(fact: Fact) -> str:
    return fact.source.split("/")[1]
