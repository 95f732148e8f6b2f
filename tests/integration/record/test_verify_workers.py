"""`verify --workers`: processes read a stretch each, and one reads all if anything is unusual."""

from __future__ import annotations

from multiprocessing import Pipe
from typing import TYPE_CHECKING

import psycopg
import pytest

from infra.postgres.verification import parallel
from infra.postgres.verification.parallel import side_by_side
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.record.tape import Head
    from ledger.record.verify import Verified


def by_both(
    database: Database, tape: PostgresTape, kept: list[Head]
) -> tuple[Verified | None, Verified]:
    """What three processes say of the chains, and what one says."""
    said: list[Verified | None] = []
    told: list[tuple[int, int]] = []
    seen = tape.verify(
        kept,
        first=lambda expected: said.append(
            side_by_side(database, expected, 3, lambda *rows: told.append(rows), rows_min=4_000)
        ),
    )
    return said[0], seen


@pytest.mark.long
def test_processes_say_what_one_says_and_nothing_of_a_broken_record(
    database: Database, tape: PostgresTape
) -> None:
    for first in range(0, 12_000, 3_000):
        tape.append([fact(n, place=f"CC-{n % 7:02d}") for n in range(first, first + 3_000)])
    heads = tape.heads()
    assert by_both(database, tape, heads) == (tape.verify(heads), tape.verify())
    wrong = [heads[0], heads[1]._replace(hash=bytes(32))]
    said, seen = by_both(database, tape, wrong)
    assert said is None
    assert seen.broken is not None
    assert seen.broken.kind == "recomputed"
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("UPDATE ledger.tape SET state = '{}' WHERE notification_id = 8001")
    said, seen = by_both(database, tape, [])
    assert said is None
    assert seen.broken is not None
    assert (seen.broken.kind, seen.broken.position) == ("edited payload", 8_001)


def test_a_process_that_ends_says_nothing() -> None:
    ours, theirs = Pipe(duplex=False)
    theirs.close()
    assert parallel._told(ours) is None
    ours.close()


def test_a_short_record_is_read_by_one_process(database: Database, tape: PostgresTape) -> None:
    tape.append([fact(n) for n in range(10)])
    assert by_both(database, tape, tape.heads())[0] is None
