"""Views followed in parts from Kafka by the command, killed amidst their work.

Each process reads the whole feed and applies its own part. The offsets that the parts share are
those of the last one, so none begins behind what it lacks.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from consumers.money import drop
from consumers.registry import install
from consumers.runtime.lifecycle import RunnerOptions, rebuild
from consumers.runtime.runner import divide
from consumers.runtime.source import Share
from infra.kafka import topics
from infra.postgres import parking
from infra.postgres.view_tables import LIVE, ViewStore, opened, writing
from tests.fixtures.cli import Cli, environ
from tests.fixtures.kafka import reached
from tests.integration.shares.test_shared_views import DIVIDED, crossed, crossed_in_views, feed
from tests.scenes.feed_faults import from_feed
from tests.scenes.feeding import once
from tests.scenes.view_feeds import Prefix, dumped, record
from tests.until import until

if TYPE_CHECKING:
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database
    from tests.fixtures.postgres import Scenes

KILLS = 4


def parts(database: Database, view: str) -> tuple[int, ...]:
    with writing(database, LIVE) as connection:
        found = ViewStore(connection, LIVE).tracking(view)
    return found.parts if found else ()


@pytest.mark.long
def test_two_commands_that_are_killed_amidst_keep_the_views_of_one_process(
    database: Database, kafka: Connection, tmp_path: Path
) -> None:
    chance = random.Random(1)  # noqa: S311 - repeatable, guards nothing
    install(database)
    cli = Cli(environ(tmp_path, ROUND_LEDGER_DATABASE_URL=database.url, **reached(kafka)))
    names = [each.name for each in DIVIDED]
    asked = [("consume", *names, "--follow", "--part", f"{number}/2") for number in (1, 2)]
    facts, end, rows = feed(1, 4), 0, []
    while end < len(facts):
        end += len(facts) // KILLS + 1
        rows = record(database, facts[:end])
        once(database, kafka)
        before = parts(database, "rulings")
        with cli.start(*asked[0]) as one, cli.start(*asked[1]) as two:
            until(lambda before=before: parts(database, "rulings") != before)
            killed = chance.choice((one, two))
            for each in (killed, one, two):
                each.kill()
                each.wait()
    with cli.start(*asked[0]) as one, cli.start(*asked[1]) as two:
        until(lambda: all(parts(database, name) == (len(rows), len(rows)) for name in names))
        for each in (one, two):
            each.terminate()
            each.communicate(timeout=120)
            assert each.returncode == 0
    for view in DIVIDED:
        kept = dumped(database, view)
        assert rebuild(database, Prefix(rows, len(rows)), view)
        assert dumped(database, view) == kept, view.name


@pytest.mark.long
def test_the_stored_offsets_are_low_enough_for_the_part_that_is_behind(
    scenes: Scenes, kafka: Connection
) -> None:
    """A part that is ahead stores none: read from there, the other would lack facts of the feed."""
    database, rows = scenes.copy(crossed, 1, 4)
    once(database, kafka)
    with opened(database, LIVE) as store:
        divide(store, [drop.DROP], 2, RunnerOptions())
    first = from_feed(database, kafka, [drop.DROP], RunnerOptions(None, 500, share=Share(0, 2)))
    assert parts(database, "drop") == (len(rows), 0)
    assert parking.places(database, kafka.named(topics.FACTS), ["drop"]) == {}
    second = from_feed(database, kafka, [drop.DROP], RunnerOptions(None, 500, share=Share(1, 2)))
    assert (first.records, second.records) == (len(rows), len(rows))
    assert (second.gaps, second.healed) == (0, 0)
    ends = parking.places(database, kafka.named(topics.FACTS), ["drop"])
    assert sum(ends.values()) == len(rows)
    whole, _ = scenes.read(crossed_in_views, 1, 4)
    assert dumped(database, drop.DROP) == dumped(whole, drop.DROP)
