"""A feed's facts on disk are those in memory, and a long feed needs little memory."""

from __future__ import annotations

import random
import tempfile
import tracemalloc
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

import msgspec
import pytest

from ledger.adjudication.feed import adjudicate
from ledger.games import games
from ledger.record.tape import Received
from ledger.record.wire import fact_of, parse_line
from ledger.simulate import MISTAKES, deal, line, plan_of
from replay.cli.rules.feed_facts import FeedFacts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from ledger.record.wire import Fact

MINUTES = 3


@cache
def received(minutes: int = MINUTES) -> tuple[Received, ...]:
    """A few rounds of every game, with mistakes."""
    plan = plan_of(
        tables=len(games()),
        minutes=minutes,
        seed=5,
        mistakes=dict.fromkeys(MISTAKES, 2),
        of=sorted(games()),
    )
    rows = [parse_line(line(plan, fact)) for fact in deal(plan)[0]]
    return tuple(row for row in rows if isinstance(row, Received))


@contextmanager
def stored(rows: Iterable[Received], in_memory_max: int) -> Iterator[FeedFacts]:
    with FeedFacts(in_memory_max) as facts:
        for row in rows:
            facts.append(row)
        yield facts


def octets(facts: Iterable[Fact]) -> list[bytes]:
    return [msgspec.json.encode(each) for each in adjudicate(facts)]


def test_facts_on_disk_are_read_by_place_and_in_order() -> None:
    rows = received()[:500]
    told = [fact_of(row) for row in rows]
    for in_memory_max in (0, 100, 500):
        with stored(rows, in_memory_max) as facts:
            assert len(facts) == 500
            assert list(facts) == told
            for place in (0, 99, 100, 499, -1):
                assert facts[place] == told[place]
            assert facts[90:110] == told[90:110]
            with pytest.raises(IndexError):
                facts[500]


def test_the_file_has_no_name_so_that_no_end_of_the_process_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with stored(received()[:10], 0) as facts:
        assert list(tmp_path.iterdir()) == []
        assert len(list(facts)) == 10


def test_a_feed_on_disk_gives_the_rulings_of_one_in_memory_in_any_order() -> None:
    rows = list(received())
    expected = octets([fact_of(row) for row in rows])
    assert any(b'"findings":[{' in each for each in expected)
    with stored(rows, 1_000) as facts:
        assert octets(facts) == expected
    random.Random(8).shuffle(rows)  # noqa: S311 - a repeatable order
    with stored(rows, 0) as facts:
        assert octets(facts) == octets([fact_of(row) for row in rows])


def most_octets(rows: Sequence[Received], in_memory_max: int) -> int:
    """The most memory of ruling on a feed whose rulings are let go one by one."""
    tracemalloc.start()
    try:
        with stored(rows, in_memory_max) as facts:
            assert sum(1 for _ in adjudicate(facts)) > 10
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.long
def test_a_further_fact_takes_little_memory_once_facts_lie_on_disk() -> None:
    """Up to 300 bytes: a million facts stay far below 1 GiB. In memory, the control, it is more."""
    few, many = received(), received(4 * MINUTES)
    further = len(many) - len(few)
    assert further > 5_000
    on_disk = (most_octets(many, 0) - most_octets(few, 0)) / further
    in_memory = (most_octets(many, len(many)) - most_octets(few, len(few))) / further
    assert on_disk < 300 < in_memory
