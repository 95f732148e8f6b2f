"""A process that divides a view reads only what it may hear; what it leaves out changes no row."""

from __future__ import annotations

import dataclasses
import random
from typing import TYPE_CHECKING

import pytest

from consumers.registry import VIEWS, view
from consumers.runtime import share_reader
from consumers.runtime.share_reader import ShareReader
from consumers.runtime.source import Batch, Share
from infra.postgres.view_tables import LIVE, ViewStore, tape_source, writing
from ledger.record.wire import StoredFactError
from tests.integration.shares.test_shared_views import crossed, crossed_in_views, divided
from tests.scenes.view_feeds import as_type, day, dumped, record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumers.runtime.source import Projection
    from infra.postgres.connection import Database
    from infra.postgres.tape import Others
    from infra.postgres.view_tables import TapeSource
    from ledger.record.tape import TapeRow
    from tests.fixtures.postgres import Scenes

BY_TABLES = [each for each in VIEWS if each.crossing]
"""Views that say what crosses their tables; others have parts that are no tables."""


class Counted:
    """The tape as a source that keeps which positions were read."""

    def __init__(self, source: TapeSource) -> None:
        self._source = source
        self.positions: list[int] = []

    def read(self, after: int, limit: int) -> Sequence[TapeRow]:
        return self._kept(self._source.read(after, limit))

    def read_without(
        self, after: int, limit: int, types: Sequence[str], others: Others | None = None
    ) -> tuple[Sequence[TapeRow], int]:
        rows, reached = self._source.read_without(after, limit, types, others)
        return self._kept(rows), reached

    def wait(self, after: int, timeout_s: float) -> None:
        raise AssertionError(f"waits {timeout_s} s after {after}")

    def _kept(self, rows: Sequence[TapeRow]) -> Sequence[TapeRow]:
        self.positions += [row.position for row in rows]
        return rows


def read_by(
    database: Database, projection: Projection, rows: Sequence[TapeRow], share: Share
) -> set[int]:
    """The positions that a share reads."""
    with tape_source(database) as tape:
        source = Counted(tape)
        reader = ShareReader(source, projection, share, {row.tape for row in rows})
        batch = reader.read(0, len(rows), len(rows))
        assert batch
        assert batch.position == len(rows)
        return set(source.positions)


def heard_by(
    database: Database, projection: Projection, rows: Sequence[TapeRow], share: Share
) -> set[int]:
    """The positions of what a share applies."""
    with writing(database, LIVE) as connection:
        heard = projection.of_share(ViewStore(connection, LIVE), Batch(rows), share)
    its = heard.rows if heard else ()
    return {row.position for row in its if row.type not in projection.skipped}


def test_the_views_divided_by_tables_say_what_crosses_them() -> None:
    names = {each.name for each in BY_TABLES}
    assert names >= {"rulings", "drop", "rounds", "table_board", "payouts"}


@pytest.mark.parametrize("projection", BY_TABLES, ids=[each.name for each in BY_TABLES])
def test_a_process_reads_of_other_tapes_little_but_what_it_hears(
    scenes: Scenes, projection: Projection
) -> None:
    """The control: a view that does not say what crosses its tables reads what it applies there."""
    database, rows = scenes.copy(crossed, 1, 4)
    blind = dataclasses.replace(projection, crossing=None)
    for share in (Share(0, 2), Share(1, 2)):
        heard = heard_by(database, projection, rows, share)
        needless = {row.position for row in rows if not share.owns(row.tape)} - heard
        once, every = (read_by(database, each, rows, share) for each in (projection, blind))
        assert heard <= once < every
        assert len(once & needless) < len(every & needless) / 10


@pytest.mark.long
@pytest.mark.parametrize("lacks", ["names", "keyed", "devices"])
def test_what_crosses_tables_and_is_left_out_gives_other_rows(scenes: Scenes, lacks: str) -> None:
    """The control of the tests of any number of shares, which read by a `ShareReader` too."""
    whole, _ = scenes.read(crossed_in_views, 1, 4)
    database, rows = scenes.copy(crossed, 1, 4)
    rulings = view("rulings")
    assert rulings.crossing
    nothing = frozenset() if lacks == "names" else None
    less = rulings.crossing._replace(**{lacks: nothing})
    deaf = dataclasses.replace(rulings, crossing=less)
    chance = random.Random(1)  # noqa: S311 - repeatable, guards nothing
    assert divided(database, rulings, rows, 4, chance, (20,)) == dumped(whole, rulings)
    assert divided(database, deaf, rows, 4, chance, (20,)) != dumped(whole, rulings)


@pytest.mark.long
def test_a_table_named_by_the_data_alone_is_heard(
    scenes: Scenes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device elsewhere names the table. The control takes no type for one that names any."""
    whole, _ = scenes.read(crossed_in_views, 1, 4)
    database, rows = scenes.copy(crossed, 1, 4)
    chance = random.Random(1)  # noqa: S311 - as above
    rulings = view("rulings")
    assert divided(database, rulings, rows, 2, chance) == dumped(whole, rulings)
    monkeypatch.setattr(share_reader, "_NAMING", frozenset())
    assert divided(database, rulings, rows, 2, chance) != dumped(whole, rulings)


def test_an_unknown_fact_of_another_tape_ends_it_before_a_row_is_written(
    database: Database,
) -> None:
    facts = day(2)
    at = next(at for at, each in enumerate(facts) if each.type == "round_started.v1")
    rows = record(database, [*facts[:at], as_type(facts[at], "round_started.v9"), *facts[at + 1 :]])
    for number in (0, 1):
        with pytest.raises(StoredFactError, match=r"round_started\.v9"):
            read_by(database, view("rulings"), rows, Share(number, 2))
