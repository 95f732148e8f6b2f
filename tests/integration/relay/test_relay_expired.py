"""What retention removed is reported as expired, and only that; on an imagined topic."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from consumers.relay.check import FeedCheck, compared
from infra.kafka import records, topics
from infra.kafka.ports import Bounds, Consumed
from infra.postgres import relay_progress
from ledger.record.tape import GENESIS
from tests.fixtures.postgres import fact
from tests.scenes.feed_faults import of_rows
from tests.scenes.view_feeds import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from infra.kafka.records import ProducerRecord
    from infra.postgres.connection import Database


class Log:
    """One partition, of which retention has removed something."""

    def __init__(self, kept: Sequence[ProducerRecord]) -> None:
        self.kept = [
            Consumed(0, at, each.key, each.value, tuple(each.headers))
            for at, each in enumerate(kept, 1)
        ]

    def bounds(self) -> dict[int, Bounds]:
        return {0: Bounds(1, 1 + len(self.kept))}

    def read(self, ranges: Mapping[int, Bounds]) -> Iterator[list[Consumed]]:
        assert ranges == self.bounds()
        yield self.kept


def checked(database: Database, kept: Sequence[ProducerRecord]) -> FeedCheck:
    logs = {topics.FACTS: Log(kept), topics.QUARANTINE: Log([])}

    @contextmanager
    def opened(topic: str) -> Iterator[Log]:
        yield logs[topic]

    with relay_progress.lead(database, lambda: False) as relay_store:
        assert relay_store
        relay_store.move(topics.FACTS, relay_store.tracked(topics.FACTS), FACTS)
        relay_store.move(
            topics.QUARANTINE, relay_store.tracked(topics.QUARANTINE), 3
        )  # all of them have expired
        return compared(relay_store, opened)


FACTS = 9
"""Three tables in turn: T-1 has positions 1, 4, 7; T-2 has 2, 5, 8; T-3 has 3, 6, 9."""


@pytest.mark.parametrize(
    ("kept", "expired", "missing"),
    [
        ((1, 2, 3, 4, 5, 6, 7, 8, 9), 0, []),
        ((5, 6, 7, 8, 9), 4, []),
        ((), 9, []),
        ((9,), 8, []),
        ((3, 5, 6, 8, 9), 2, ["T-1: Facts 2 to 3 are missing."]),  # 4 and 7 are newer than 3
        ((2, 3, 5, 6, 8, 9), 1, ["T-1: Facts 2 to 3 are missing."]),
        ((3, 6, 7, 8, 9), 2, ["T-1: Fact 2 is missing.", "T-2: Fact 2 is missing."]),
    ],
)
def test_only_what_is_older_than_all_that_is_there_has_expired(
    database: Database, kept: tuple[int, ...], expired: int, missing: list[str]
) -> None:
    facts = [fact(n, place=f"T-{1 + n % 3}") for n in range(FACTS)]
    sent = of_rows(record(database, facts))
    seen = checked(database, [sent[n - 1] for n in kept])
    assert [f"{each.where.partition('/')[2]}: {each.says}" for each in seen.breaks] == missing
    assert (seen.expired, seen.facts) == (expired, len(kept))


@pytest.mark.parametrize("place", ["T-1", "XX-1"])
def test_a_forged_number_far_ahead_lacks_nothing_before_it_where_retention_has_begun(
    database: Database, place: str
) -> None:
    """All before it was taken for missing, number by number: the check had no memory left."""
    rows = record(database, [fact(n, place=f"T-{1 + n % 3}") for n in range(FACTS)])
    far = rows[-1]._replace(table_seq=10**15, tape=f"{rows[-1].tape.partition('/')[0]}/{place}")
    forged = records.of_row(far, GENESIS)
    seen = checked(database, [forged, *of_rows(rows)[4:]])
    assert "stranger" in {each.kind for each in seen.breaks}
    assert (seen.facts, seen.expired) == (5, 4)
