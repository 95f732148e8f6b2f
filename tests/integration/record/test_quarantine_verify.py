"""What a superuser does to the quarantine behind the triggers' back is found and named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from ledger.record.tape import Quarantined
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape


def garbage(number: int) -> Quarantined:
    return Quarantined(b"{%d" % number, "not_json", "It is not JSON.", "$", "Send JSON.")


@pytest.fixture
def aside(tape: PostgresTape) -> PostgresTape:
    """Six inputs that are no fact (one sent twice, one released), and an equivocation."""
    tape.append([fact(1), *map(garbage, range(3)), garbage(0)])
    tape.append([fact(1, data=b'{"another":1}'), *map(garbage, range(3, 6))])
    tape.release(2, fact(2))
    return tape


@pytest.fixture
def superuser(database: Database) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Somebody with every right, and the triggers switched off."""
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection


def test_an_untouched_quarantine_verifies(aside: PostgresTape) -> None:
    seen = aside.verify()
    assert (seen.broken, seen.rows, seen.aside) == (None, 2, 7)
    assert aside.counters().quarantined == 7


def test_releasing_an_equivocation_as_it_is_leaves_the_quarantine_whole(
    aside: PostgresTape,
) -> None:
    number = next(q for q in aside.quarantined() if q.verdict == "equivocation").quarantine_id
    assert aside.release(number, fact(1, data=b'{"another":1}')).verdict == "equivocation"
    assert aside.verify().broken is None


def row(assignment: str, number: int = 4) -> str:
    return f"UPDATE ledger.quarantine SET {assignment} WHERE quarantine_id = {number}"  # noqa: S608 - a test


FORGED = "octets = 'x', digest = sha256('\\xffffffffffffffff'::bytea || 'x')"
PUT_IN = """
INSERT INTO ledger.quarantine
SELECT 8, received_at_us, last_received_at_us, 1, NULL, NULL, verdict, reason, what, at_path, hint,
       source, fact_id, attributes, 'x', sha256('\\xffffffffffffffff'::bytea || 'x')
  FROM ledger.quarantine WHERE quarantine_id = 1
"""


@pytest.mark.parametrize(
    ("statement", "kind", "number"),
    [
        (row("octets = '{}'"), "quarantine edited", 4),
        (row("digest = sha256('x')"), "quarantine edited", 4),
        (row("attributes = attributes || '\\x00'"), "quarantine edited", 4),
        (row("source = '/hollywood/CC-07/other'"), "quarantine edited", 4),
        (row("octets = '{}'", 1), "quarantine edited", 1),
        (row("released_position = 9", 2), "quarantine edited", 2),
        (row("times_received = 1", 1), "quarantine deleted", 8),
        (row("times_received = 3", 1), "quarantine inserted", 7),
        ("DELETE FROM ledger.quarantine WHERE quarantine_id = 3", "quarantine deleted", 3),
        ("DELETE FROM ledger.quarantine WHERE quarantine_id = 7", "quarantine deleted", 7),
        ("DELETE FROM ledger.quarantine", "quarantine deleted", 1),
        (PUT_IN, "quarantine inserted", 8),
    ],
)
def test_tampering_with_the_quarantine_is_named_by_number(
    aside: PostgresTape,
    superuser: psycopg.Connection[tuple[object, ...]],
    statement: str,
    kind: str,
    number: int,
) -> None:
    superuser.execute(statement.encode())
    broken = aside.verify().broken
    assert broken is not None
    assert (broken.kind, broken.quarantine_id, broken.position) == (kind, number, None), broken


def test_octets_and_digest_rewritten_together_are_not_found(
    aside: PostgresTape, superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    """The bound of it, as `ledger.record.quarantine` says: rows in quarantine are not chained."""
    superuser.execute(row(FORGED, 1).encode())
    assert aside.verify().broken is None


def test_a_rewritten_identity_is_named_by_position(
    aside: PostgresTape, superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    superuser.execute("UPDATE ledger.identity SET data_digest = '\\x00' WHERE position = 2")
    broken = aside.verify().broken
    assert broken is not None
    assert (broken.kind, broken.position) == ("identity edited", 2)


@pytest.mark.long
def test_what_is_set_aside_while_verifying_is_no_tampering(tape: PostgresTape) -> None:
    tape.append([*map(garbage, range(500)), *(fact(n) for n in range(5_000))])
    numbers = iter(range(1_000, 2_000))

    def meanwhile(done: int, of: int) -> None:
        tape.append([garbage(next(numbers)), garbage(0)])

    seen = tape.verify(progress=meanwhile)
    assert seen.broken is None
    assert seen.aside > 500
