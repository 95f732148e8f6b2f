"""Times of facts as a report prints them: by the house's clock at that time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.money.corrections_held import rows_of
from ledger.record.tape import unframe_attributes
from replay.shell.zones import house_zones
from replay.text.times import stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from infra.postgres.view_tables import ViewStore
    from ledger.record.wire import Fact
    from replay.reports.kind import AskedReport


def fact_times(
    asked: AskedReport, store: ViewStore, facts: Iterable[Fact]
) -> Callable[[Fact], str]:
    """What a report prints as the time of each of these facts.

    Without a zone in the settings it is the offset that the device recorded, so that both parts of
    a day on which clocks were changed are right.
    """
    zones = house_zones(asked.database)
    rows = rows_of(store, {(fact.source, fact.id) for fact in facts})
    told = {key: unframe_attributes(row.attributes).get("time", "") for key, row in rows.items()}

    def shown(fact: Fact) -> str:
        zone = zones.at(asked.property, told.get((fact.source, fact.id), ""))
        return stamp(fact.time_us, zone, ms=False)

    return shown
