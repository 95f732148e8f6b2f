"""The rulings view as alerts use it: whole rulings of truncated messages, and receipt times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from consumers.alerts.conditions import RulingMessage
from consumers.rulings import rulings
from infra.postgres.view_tables import reading
from ledger.values import parse_subject

if TYPE_CHECKING:
    from infra.postgres.alerts import Alerts
    from infra.postgres.connection import Database


class OnRecord:
    """`consumers.alerts.conditions.Rulings`, read from the database of the views."""

    def __init__(self, database: Database, kept: Alerts) -> None:
        self._database = database
        self._kept = kept

    def whole(self, cut: RulingMessage) -> RulingMessage:
        """As `Rulings`: that version, or the newest if that version no longer exists."""
        round_ = parse_subject(cut.round or "", cut.property)
        if round_ is None or cut.version is None:
            raise ValueError("it is truncated and has no round or no version")
        with reading(self._database, rulings.tables_to_read()) as store:
            ruling = rulings.version_of(store, round_, cut.version)
        return msgspec.json.decode(msgspec.json.encode(ruling), type=RulingMessage)

    def received_us(self, told: RulingMessage) -> int | None:
        """As `Rulings`."""
        if told.fact_position is not None:
            return self._kept.received_us(told.fact_position)
        if told.fact is not None:
            return self._kept.received_us_of(told.fact.source, told.fact.id)
        return None
