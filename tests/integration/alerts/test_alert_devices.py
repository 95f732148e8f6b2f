"""A device that went silent is reported, however many facts its table sends meanwhile."""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

import msgspec

from consumers.alerts import process
from consumers.alerts.devices import DeviceWatch
from consumers.alerts.kinds.tables import SILENT_S
from consumers.alerts.kinds.views import LAG_S
from consumers.registry import install, view
from consumers.runtime.lifecycle import catch_up
from infra.postgres.alerts import Alerts
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import tape_source
from infra.settings import load
from ledger.facts import TableOpened, WagerPaid
from replay.web.alert_watch import AlertWatch
from tests.fixtures.postgres import fact
from tests.scenes.view_feeds import record

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.settings import Settings
    from ledger.record.tape import Received

SETTINGS = dataclasses.replace(load({}), thresholds={LAG_S: 10**9})
SHOE = "/hollywood/CC-07/shoe"
BUSY_FACTS = 2_500
OPENED = msgspec.json.encode(
    TableOpened(game="bonus_craps", gaming_day="2026-11-20", min_wager=1, max_wager=2)
)


def opened() -> Received:
    return fact(1, device="pit", name="table_opened", data=OPENED)


def told(number: int, device: str) -> Received:
    body = WagerPaid(position=3, wager="middle", amount=5)
    return fact(number, device=device, name="wager_paid", data=msgspec.json.encode(body))


def silent(database: Database, facts: list[Received], seconds: int) -> None:
    """Have these be the first on record, and received so long ago."""
    install(database)
    record(database, facts)
    with database.connect("ledger_owner") as connection, connection.transaction():
        connection.execute("ALTER TABLE ledger.tape DISABLE TRIGGER USER")
        connection.execute(
            "UPDATE ledger.tape SET received_at_us = received_at_us - %s", (seconds * 1_000_000,)
        )
        connection.execute("ALTER TABLE ledger.tape ENABLE TRIGGER USER")


def goes_on(database: Database, first: int, count: int) -> None:
    record(database, [told(first + n, "chips") for n in range(count)])
    with tape_source(database) as source:
        catch_up(database, source, [view("table_board")])


def of_a_look(database: Database, settings: Settings = SETTINGS) -> set[tuple[str, str]]:
    """What the process raises, and what the page shows, of one look each."""
    with database.connect("ledger_projector") as connection:
        kept = Alerts(database, connection)
        process.AlertService(database, kept, {"log": str}, settings).look()
        raised = {tuple(each.alert_id.split(":")[:2]) for each in kept.receipts()}
    with PostgresTape(database) as tape:
        shown = {(each.kind, each.about) for each in AlertWatch(database, tape, settings).now().all}
    assert raised == shown
    return shown


def test_a_silent_device_of_a_busy_table_is_told_of(database: Database) -> None:
    silent(database, [opened(), told(1, "shoe")], 1_000)
    goes_on(database, 1, BUSY_FACTS)
    assert of_a_look(database) == {("device_silent", SHOE), ("device_silent", SHOE[:-4] + "pit")}


def test_a_device_that_goes_silent_between_looks_is_remembered(database: Database) -> None:
    """However long it was silent before, once it was seen; and an open table that is quiet."""
    silent(database, [opened(), told(1, "shoe")], 80_000)
    goes_on(database, 1, 3)
    with database.connect("ledger_projector") as connection:
        kept = Alerts(database, connection)
        now_us = time.time_ns() // 1000
        first, later = (DeviceWatch(SILENT_S.of(SETTINGS)) for _ in range(2))
        tables = ["hollywood/CC-07"]
        chips = "/hollywood/CC-07/chips"
        assert {each.source for each in first.look(kept, tables, now_us)} == {chips}
        behind = now_us - 80_000 * 1_000_000
        assert {each.source for each in later.look(kept, tables, behind)} > {SHOE, chips}
        assert {each.source for each in later.look(kept, tables, now_us)} > {SHOE, chips}
        assert {each.source for each in later.look(kept, [], now_us + 10**11)} == set()
        gone = first.look(kept, tables, now_us + 10**12)
        assert [each.source for each in gone] == [chips], "its newest fact, however old"


def test_where_a_time_stands_on_the_record_is_found_with_few_reads(database: Database) -> None:
    silent(database, [told(n, "shoe") for n in range(1, 8)], 500)
    record(database, [told(n, "chips") for n in range(9)])
    with database.connect("ledger_projector") as connection:
        kept = Alerts(database, connection)
        now_us = time.time_ns() // 1000
        assert kept.position_before(now_us - 400 * 10**6) == 7
        assert kept.position_before(now_us - 600 * 10**6) == 0
        assert kept.position_before(now_us + 10**9) == 16
