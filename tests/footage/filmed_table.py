"""A scene: a table with ten rounds of a minute each, and the camera that is mapped to it."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import TYPE_CHECKING

from consumers.registry import VIEWS
from consumers.runtime.lifecycle import catch_up
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import tape_source
from ledger.facts import CameraMapped, RoundCompleted, RoundStarted
from ledger.values import Source, parse_time
from replay.recording.house_facts import append_facts, build_fact, screen

if TYPE_CHECKING:
    from infra.postgres.connection import Database

S = 1_000_000
BEGAN_US = parse_time("2026-11-20T20:00:00Z") or 0
NOW_US = parse_time("2026-11-26T00:00:00Z") or 0
HOUSE = timezone(timedelta(hours=-5))


def filmed_table(database: Database) -> None:
    """Put it on record and into every view."""
    nvr, shoe = screen("hollywood", "nvr"), Source("hollywood", "CC-07", "shoe-1")
    mapped = CameraMapped(camera="CC-07-A", table="CC-07", kind="stationary", covers=("table",))
    facts = [build_fact(mapped, nvr, time_us=BEGAN_US - 3_600 * S)]
    for number in range(1, 11):
        subject, at_us = f"CC-07/2026-11-20/{number}", BEGAN_US + number * 60 * S
        game = RoundStarted(game="criss_cross_poker")
        facts.append(build_fact(game, shoe, subject=subject, time_us=at_us))
        ends_us = at_us + 50 * S
        facts.append(build_fact(RoundCompleted(), shoe, subject=subject, time_us=ends_us))
    with PostgresTape(database) as tape:
        append_facts(tape, facts)
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)
