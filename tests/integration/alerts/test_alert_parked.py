"""A table that a view parks again raises its alert again, even at the same position."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.alerts import process
from consumers.registry import install
from infra.postgres import view_tables
from infra.postgres.alerts import Alerts
from infra.postgres.parking import Parked
from infra.postgres.view_tables import LIVE, ViewStore
from infra.settings import load
from tests.fixtures.postgres import fact
from tests.scenes.view_feeds import record

if TYPE_CHECKING:
    from infra.postgres.connection import Database

TAPE = "hollywood/CC-07"
PARKED = Parked(TAPE, 1, 1, "edited", "Bent.", "t/1@2")


def test_a_table_parked_again_at_the_same_position_raises_its_alert_again(
    database: Database,
) -> None:
    install(database)
    record(database, [fact(1)])
    with (
        database.connect("ledger_projector") as connection,
        view_tables.writing(database, LIVE) as written,
    ):
        kept = Alerts(database, connection)
        service = process.AlertService(database, kept, {"log": lambda _: "logged"}, load({}))
        store = ViewStore(written, LIVE)

        def raised() -> int:
            service.look()
            return [each.alert_id.startswith("parked:") for each in kept.receipts()].count(True)

        store.park("drop", [PARKED])
        assert raised() == 1
        store.park("drop", [PARKED])
        assert raised() == 1, "it is parked still"
        store.release("drop", TAPE)
        assert raised() == 1
        store.park("drop", [PARKED])
        assert raised() == 2
