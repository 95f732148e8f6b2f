"""What views leave for the relay: read a bounded piece at a time, however large its messages."""

from __future__ import annotations

import itertools
import tracemalloc
from typing import TYPE_CHECKING

from consumers import relay_derived
from infra import outbox, relaying
from infra.book import PostgresBook
from infra.kafka.publisher import WINDOW_OCTETS, WINDOW_RECORDS
from infra.kafka.records import OUTBOX, number
from infra.outbox import Message
from infra.views import LIVE, writing

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from infra.postgres import AnyConnection, Database
    from infra.relaying import Desk

TOPIC = "ledger.adjudications.v1"
LARGE = 850_000
"""Octets of a large ruling that still travels whole."""


def leave(base: Database, *bodies: str) -> None:
    with writing(base, LIVE) as connection:
        messages = [Message(TOPIC, f"p/T-{at}", body) for at, body in enumerate(bodies)]
        PostgresBook(connection, LIVE).leave(7, messages)


def body(octets: int, letter: str = "x") -> str:
    return f'{{"says":"{letter * (octets - 11)}"}}'


def windows(desk: Desk) -> list[tuple[list[int], int]]:
    """The numbers in each window, in turn, and the most octets that any took while it was made."""
    stream = relay_derived.Outbox(desk, TOPIC, lambda _: None)
    found = []
    after = 0
    tracemalloc.start()
    try:
        while window := stream.window(after):
            numbers = [number(dict(each.headers), OUTBOX) for each in window.records]
            assert window.end == numbers[-1]
            after = window.end
            del window
            found.append((numbers, tracemalloc.get_traced_memory()[1]))
            tracemalloc.reset_peak()
    finally:
        tracemalloc.stop()
    return found


def numbers(base: Database, topic: str = "%") -> list[int]:
    with base.connect("ledger_reader") as connection:
        rows = connection.execute(
            "SELECT number FROM views.outbox WHERE topic LIKE %s ORDER BY number", (topic,)
        )
        return [row[0] for row in rows]


def test_a_window_of_large_messages_holds_no_more_than_may_be_under_way(
    database: Database,
) -> None:
    leave(database, *[body(LARGE)] * 30, *[body(200)] * 1_500)
    with relaying.lead(database, lambda: False) as desk:
        assert desk
        found = windows(desk)
    every = [each for each, _ in found]
    assert every[0] == numbers(database)[:4], "4 of 850,000 octets fit"
    assert [*itertools.chain(*every)] == numbers(database), "all of it, in order, once"
    assert max(map(len, every)) == WINDOW_RECORDS
    assert max(peak for _, peak in found) < 6 * WINDOW_OCTETS


def test_a_message_larger_than_a_window_is_read_alone(database: Database) -> None:
    leave(database, body(10), body(2 * WINDOW_OCTETS), body(10), body(10))
    first, large, *rest = numbers(database)
    with relaying.lead(database, lambda: False) as desk:
        assert desk
        found = windows(desk)
    assert [each for each, _ in found] == [[first], [large], rest]


def test_octets_are_counted_and_not_letters(database: Database) -> None:
    leave(database, *[body(400_000, "€")] * 8)  # 1.2 MB each
    with relaying.lead(database, lambda: False) as desk:
        assert desk
        assert len(desk.outbox(TOPIC, 0, 100, 4_000_000)) == 3


def test_read_by_their_count_alone_a_window_would_take_all_of_them(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: the same windows, of what was read without a bound on octets."""

    def after(
        connection: AnyConnection, topic: str, after: int, limit: int, octets: int
    ) -> Sequence[outbox.Kept]:
        del octets
        rows = connection.execute(
            "SELECT number, position, made_at_us, key, body FROM views.outbox"
            " WHERE topic = %s AND number > %s ORDER BY number LIMIT %s",
            (topic, after, limit),
        )
        return [outbox.Kept._make(row) for row in rows.fetchall()]

    monkeypatch.setattr(outbox, "after", after)
    leave(database, *[body(LARGE)] * 60)
    with relaying.lead(database, lambda: False) as desk:
        assert desk
        found = windows(desk)
    assert max(peak for _, peak in found) > 6 * WINDOW_OCTETS
