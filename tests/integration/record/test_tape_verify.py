"""What a superuser does to the tables behind the triggers' back is found and named."""

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
    from ledger.record.tape import Head


@pytest.fixture
def heads(tape: PostgresTape) -> list[Head]:
    """A record of ten facts over three places, and its heads as somebody kept them."""
    tape.append([fact(n, place=f"CC-{n % 3:02d}", boot="b1") for n in range(10)])
    return tape.heads()


@pytest.fixture
def superuser(database: Database) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Somebody with every right, and the triggers switched off."""
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection


def test_an_untouched_record_verifies_against_the_heads_kept(
    tape: PostgresTape, heads: list[Head]
) -> None:
    seen = tape.verify(heads)
    assert seen.broken is None
    assert (seen.rows, seen.heads) == (10, heads)
    tape.append([fact(20)])
    assert tape.verify(heads).broken is None


INSERTED_AT_THE_END = """
INSERT INTO ledger.tape
SELECT 11, originator_version + 1, time_us, received_at_us, originator_id, topic, source, 'never',
       subject, attributes, state, hash
  FROM ledger.tape WHERE notification_id = 10
"""
INSERTED_IN_THE_MIDDLE = """
DELETE FROM ledger.identity;
UPDATE ledger.tape SET notification_id = notification_id + 100 WHERE notification_id >= 5;
UPDATE ledger.tape SET notification_id = notification_id - 99 WHERE notification_id > 100;
INSERT INTO ledger.tape
SELECT 5, 40, time_us, received_at_us, originator_id, topic, source, fact_id || 'x', subject,
       attributes, state, hash
  FROM ledger.tape WHERE notification_id = 4;
UPDATE ledger.record SET position = 11, received = 11;
INSERT INTO ledger.identity
SELECT notification_id, source, fact_id, '\\x00' FROM ledger.tape
"""
SWAPPED = """
UPDATE ledger.tape SET notification_id = 50 WHERE notification_id = 5;
UPDATE ledger.tape SET notification_id = 5 WHERE notification_id = 8;
UPDATE ledger.tape SET notification_id = 8 WHERE notification_id = 50
"""
AN_ATTRIBUTE_WITHOUT_A_COLUMN = "attributes = set_byte(attributes, 21, 50)"  # boot b1 becomes b2


def edited(assignment: str) -> str:
    return f"UPDATE ledger.tape SET {assignment} WHERE notification_id = 5"  # noqa: S608 - a test


@pytest.mark.parametrize(
    ("statements", "kind", "position"),
    [
        (edited("state = '{}'"), "edited payload", 5),
        ("DELETE FROM ledger.heads WHERE tape = 'hollywood/CC-01'", "deleted", 8),
        (edited("topic = 'wager_paid.v1'"), "edited header", 5),
        (edited("subject = null"), "edited header", 5),
        (edited("received_at_us = 1"), "edited header", 5),
        (edited("originator_version = 9"), "edited header", 5),
        (edited(AN_ATTRIBUTE_WITHOUT_A_COLUMN), "edited header", 5),
        ("DELETE FROM ledger.tape WHERE notification_id = 5", "deleted", 5),
        ("DELETE FROM ledger.identity WHERE position = 5", "identity missing", 5),
        (INSERTED_AT_THE_END, "inserted", 11),
        (INSERTED_IN_THE_MIDDLE, "inserted", 5),
        (SWAPPED, "swapped", 5),
        ("DELETE FROM ledger.tape WHERE notification_id > 7", "truncated", 8),
        ("TRUNCATE ledger.tape", "truncated", 1),
    ],
)
def test_tampering_is_named_and_placed(
    tape: PostgresTape,
    heads: list[Head],
    superuser: psycopg.Connection[tuple[object, ...]],
    statements: str,
    kind: str,
    position: int,
) -> None:
    superuser.execute(statements)
    broken = tape.verify().broken
    assert broken is not None
    assert (broken.kind, broken.position) == (kind, position), broken


def test_every_break_is_named_in_tapes_and_quarantine(
    tape: PostgresTape, heads: list[Head], superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    tape.append([Quarantined(b"{", "not_json", "It is not JSON.", "$", "Send JSON.")])
    whole = tape.verify(heads)
    assert (whole.breaks, whole.aside) == ([], 1)
    superuser.execute(edited("subject = null"))
    superuser.execute("UPDATE ledger.tape SET state = '{}' WHERE notification_id = 8")
    superuser.execute("UPDATE ledger.identity SET data_digest = '\\x00' WHERE position = 2")
    superuser.execute("DELETE FROM ledger.tape WHERE notification_id = 10")
    superuser.execute("UPDATE ledger.quarantine SET octets = '['")
    named = [(each.kind, each.position, each.quarantine_id) for each in tape.verify(heads).breaks]
    assert named == [
        ("edited header", 5, None),
        ("identity edited", 2, None),
        ("edited payload", 8, None),
        ("truncated", 10, None),
        ("quarantine edited", None, 1),
    ]


def test_a_row_whose_columns_contradict_its_attributes_does_not_hide_what_follows(
    tape: PostgresTape, heads: list[Head], superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    """The writer's role can append such a row: it is chained, and stays for ever."""
    tape.append([fact(20, boot="b1")._replace(subject="CC-09/2026-11-21/1"), fact(21, boot="b1")])
    alone = tape.verify(heads).breaks
    assert [(each.kind, each.position) for each in alone] == [("edited header", 11)]
    superuser.execute("UPDATE ledger.tape SET state = '{}' WHERE notification_id = 12")
    both = tape.verify(heads).breaks
    assert [(each.kind, each.position) for each in both] == [
        ("edited header", 11),
        ("edited payload", 12),
    ]


def test_every_row_beyond_what_the_record_counts_is_named(
    tape: PostgresTape, heads: list[Head], superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    superuser.execute("UPDATE ledger.record SET position = 8, received = 8")
    superuser.execute("UPDATE ledger.tape SET state = '{}' WHERE notification_id = 3")
    breaks = tape.verify().breaks
    assert [(each.kind, each.position) for each in breaks if each.kind != "truncated"] == [
        ("edited payload", 3),
        ("inserted", 9),
        ("inserted", 10),
    ]


REWRITTEN_AT_WILL = """
UPDATE ledger.tape SET state = '{}' WHERE notification_id = 5;
CREATE TEMP TABLE old AS SELECT * FROM ledger.tape ORDER BY notification_id;
TRUNCATE ledger.tape, ledger.identity, ledger.heads;
UPDATE ledger.record SET position = 0, received = 0, duplicate = 0;
SELECT ledger.append(array_agg(originator_id ORDER BY notification_id),
    array_agg(topic ORDER BY notification_id), array_agg(source ORDER BY notification_id),
    array_agg(fact_id ORDER BY notification_id), array_agg(time_us ORDER BY notification_id),
    array_agg(subject ORDER BY notification_id), array_agg(attributes ORDER BY notification_id),
    array_agg(state ORDER BY notification_id), '{}', '{}', '{}', '{}', '{}', '{}', '{}') FROM old
"""


def test_a_chain_wholly_recomputed_is_found_against_a_head_kept_elsewhere(
    tape: PostgresTape, heads: list[Head], superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    superuser.execute(REWRITTEN_AT_WILL)
    assert tape.verify().broken is None, "nothing inside the database can tell"
    broken = tape.verify(heads).broken
    assert broken is not None
    assert broken.kind == "recomputed"


def test_a_truncation_that_hides_itself_is_found_against_a_head_kept_elsewhere(
    tape: PostgresTape, heads: list[Head], superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    superuser.execute("DELETE FROM ledger.tape WHERE notification_id > 7")
    superuser.execute("DELETE FROM ledger.identity WHERE position > 7")
    superuser.execute("TRUNCATE ledger.heads")
    superuser.execute(
        "INSERT INTO ledger.heads SELECT DISTINCT ON (originator_id) originator_version,"
        " notification_id, originator_id, hash FROM ledger.tape"
        " ORDER BY originator_id, originator_version DESC"
    )
    superuser.execute("UPDATE ledger.record SET position = 7, received = 7")
    assert tape.verify().broken is None, "nothing inside the database can tell"
    broken = tape.verify(heads).broken
    assert broken is not None
    assert (broken.kind, broken.position) == ("truncated", 8)


def test_what_is_appended_while_verifying_is_no_tampering(tape: PostgresTape) -> None:
    tape.append([fact(n) for n in range(3_000)])
    numbers = iter(range(3_000, 4_000))

    def meanwhile(done: int, of: int) -> None:
        assert done <= of == 3_000
        tape.append([fact(next(numbers), place="CC-08")])

    assert tape.verify(progress=meanwhile).broken is None
    assert tape.counters().appended > 3_000
