"""A break that two people acknowledged stays named; what changes afterwards is a new break."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from infra.postgres.verification.acknowledged import with_acknowledgements
from ledger.record.acknowledged import acknowledgement
from ledger.record.tape import Quarantined
from ledger.values import Source
from replay.recording.house_facts import append_fact
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.record.verify import Verified

OFFICE = Source("hollywood", "office", "record")


class Ledger:
    """A record of twelve facts and one malformed input, and somebody with every right."""

    def __init__(
        self, database: Database, tape: PostgresTape, superuser: psycopg.Connection
    ) -> None:
        self.tape, self._database, self._superuser = tape, database, superuser
        tape.append([fact(n, place=f"CC-{n % 3:02d}", boot="b1") for n in range(12)])
        tape.append([Quarantined(b"{", "not_json", "It is not JSON.", "$", "Send JSON.")])

    def tamper(self, statement: str) -> None:
        self._superuser.execute(statement)

    def verified(self) -> Verified:
        return with_acknowledgements(self._database, self.tape.verify())

    def acknowledge(self) -> None:
        for each in self.verified().breaks:
            append_fact(self.tape, acknowledgement(each, "Incident 12", "A-1", "A-2"), OFFICE)


@pytest.fixture
def ledger(database: Database, tape: PostgresTape) -> Iterator[Ledger]:
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        yield Ledger(database, tape, connection)


EDITED = "UPDATE ledger.tape SET state = '{}' WHERE notification_id = 5"
KINDS = {
    "edited payload": EDITED,
    "edited header": "UPDATE ledger.tape SET subject = null WHERE notification_id = 5",
    "deleted": "DELETE FROM ledger.tape WHERE notification_id = 5",
    "identity missing": "DELETE FROM ledger.identity WHERE position = 5",
    "identity edited": "UPDATE ledger.identity SET data_digest = '\\x00' WHERE position = 5",
    "quarantine edited": "UPDATE ledger.quarantine SET octets = '['",
}
AGAIN = {
    "edited payload": "UPDATE ledger.tape SET state = '[]' WHERE notification_id = 5",
    "edited header": "UPDATE ledger.tape SET subject = 'x' WHERE notification_id = 5",
    "deleted": "DELETE FROM ledger.tape WHERE notification_id = 6",
    "identity missing": "UPDATE ledger.tape SET received_at_us = 1 WHERE notification_id = 5",
    "identity edited": "UPDATE ledger.identity SET data_digest = '\\x01' WHERE position = 5",
    "quarantine edited": "UPDATE ledger.quarantine SET octets = '('",
}


@pytest.mark.parametrize("kind", KINDS)
def test_an_acknowledged_break_is_named_and_accepted_until_its_row_changes(
    ledger: Ledger, kind: str
) -> None:
    ledger.tamper(KINDS[kind])
    before = ledger.verified()
    assert [(each.kind, each.acknowledged) for each in before.breaks] == [(kind, None)]
    assert not before.is_accepted
    ledger.acknowledge()
    seen = ledger.verified()
    (named,) = seen.breaks
    assert seen.is_accepted
    assert named.acknowledged is not None
    assert named.acknowledged[1:] == ("Incident 12", "A-1", "A-2")
    ledger.tape.append([fact(50)])
    assert ledger.verified().is_accepted, "what follows changes nothing"
    ledger.tamper(AGAIN[kind])
    again = ledger.verified()
    assert again.breaks
    assert not again.is_accepted


def test_another_break_of_the_record_is_not_acknowledged_with_the_first(ledger: Ledger) -> None:
    ledger.tamper(EDITED)
    ledger.acknowledge()
    ledger.tamper("UPDATE ledger.tape SET state = '{}' WHERE notification_id = 8")
    seen = ledger.verified()
    assert [(each.position, each.acknowledged is None) for each in seen.breaks] == [
        (5, False),
        (8, True),
    ]
    assert not seen.is_accepted


@pytest.mark.parametrize(
    ("statement", "times"),
    [
        ("DELETE FROM ledger.tape WHERE notification_id > 9", 2),  # then there is a gap
        ("UPDATE ledger.record SET position = 20, received = 21", 2),
        ("INSERT INTO ledger.identity VALUES (3, '/a/b/c', 'x', '\\x00')", 1),
    ],
)
def test_a_cut_end_is_acknowledged_though_facts_follow(
    ledger: Ledger, statement: str, times: int
) -> None:
    ledger.tamper(statement)
    for _ in range(times):
        assert not ledger.verified().is_accepted
        ledger.acknowledge()
    assert ledger.verified().is_accepted
    ledger.tape.append([fact(50, place="CC-00")])
    ledger.acknowledge()  # the first fact of a cut tape makes a gap of its end
    assert ledger.verified().is_accepted


def test_a_cut_tape_that_is_cut_further_is_a_new_break(ledger: Ledger) -> None:
    ledger.tamper(
        "DELETE FROM ledger.tape WHERE originator_id = 'hollywood/CC-02' AND notification_id = 12"
    )
    ledger.acknowledge()
    ledger.acknowledge()
    assert ledger.verified().is_accepted
    ledger.tamper(
        "DELETE FROM ledger.tape WHERE originator_id = 'hollywood/CC-02' AND notification_id = 9"
    )
    assert not ledger.verified().is_accepted


def test_an_acknowledgement_that_was_edited_itself_is_a_break(ledger: Ledger) -> None:
    ledger.tamper(EDITED)
    ledger.acknowledge()
    ledger.tamper(
        "UPDATE ledger.tape SET state = replace(convert_from(state, 'UTF8'), 'Incident 12', 'ok')"
        "::bytea WHERE topic = 'break_acknowledged.v1'"
    )
    seen = ledger.verified()
    assert [each.kind for each in seen.breaks] == ["edited payload", "edited payload"]
    assert not seen.is_accepted
