"""Who brought an input stands beside it, and a signature is no part of *the same bytes*."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from ledger.record.tape import Quarantined, frame_attributes, unframe_attributes
from replay.roster import key_files
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.record.tape import Received

OLD = """
SELECT * FROM ledger.append(%s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[],
    %s::text[], %s::bytea[], %s::bytea[], '{}', '{}', '{}', '{}', '{}', '{}', '{}')
"""


def no_fact(octets: bytes, sender: str | None) -> Quarantined:
    return Quarantined(octets, "not_json", "What.", "$", "Hint.", sender=sender)


def test_a_fact_has_its_sender_beside_it_and_the_chain_has_not(tape: PostgresTape) -> None:
    tape.append([fact(1)._replace(sender="key:0f3a9c1b22d4"), fact(2)])
    assert tape.sender_of(1) == "key:0f3a9c1b22d4"
    assert tape.sender_of(2) is None
    assert tape.verify().broken is None


def test_a_program_of_the_version_before_appends_to_the_same_chain(
    tape: PostgresTape, database: Database
) -> None:
    tape.append([fact(1)._replace(sender="os:anna")])
    with database.connect("ledger_writer") as connection:
        columns = [[value] for value in fact(2)[:-1]]
        row = connection.execute(OLD.encode(), columns).fetchone()
    assert row is not None
    assert row[:2] == (["appended"], [2])
    assert tape.append([fact(2)])[0].verdict == "duplicate"
    assert tape.sender_of(2) is None
    assert tape.verify().broken is None


def test_quarantined_bytes_name_everyone_who_brought_them(tape: PostgresTape) -> None:
    tape.append([no_fact(b"x", "key:a"), no_fact(b"x", "key:b"), no_fact(b"y", None)])
    tape.append([no_fact(b"x", "key:c"), no_fact(b"x", "key:a"), fact(1)])
    first, second = tape.quarantined()
    assert (sorted(first.senders), first.times_received) == (["key:a", "key:b", "key:c"], 4)
    assert list(second.senders) == []


def test_an_equivocation_has_its_sender(tape: PostgresTape) -> None:
    tape.append([fact(1)._replace(sender="key:a")])
    tape.append([fact(1, data=b"{}")._replace(sender="key:b")])
    assert [list(row.senders) for row in tape.quarantined()] == [["key:b"]]


def test_a_fact_sent_again_under_another_key_is_a_duplicate(tape: PostgresTape) -> None:
    keys = [key_files.of_secret(key_files.Ed25519PrivateKey.generate()) for _ in range(2)]
    first, again = (key_files.sign(fact(1), key) for key in keys)
    assert first.attributes != again.attributes
    receipts = [tape.append([each])[0] for each in (first, again, fact(1))]
    assert [receipt.verdict for receipt in receipts] == ["appended", "duplicate", "duplicate"]
    assert {receipt.hash for receipt in receipts} == {receipts[0].hash}


def test_control_another_attribute_is_an_equivocation(tape: PostgresTape) -> None:
    def with_attribute(name: str) -> Received:
        attributes = unframe_attributes(fact(1).attributes)
        return fact(1)._replace(attributes=frame_attributes({**attributes, name: "x"}))

    names = ("signaturex", "signkeys", "asignature")
    verdicts = [each.verdict for each in tape.append([fact(1), *map(with_attribute, names)])]
    assert verdicts == ["appended", *["equivocation"] * len(names)]


def test_the_signature_is_in_the_chain(tape: PostgresTape, database: Database) -> None:
    key = key_files.of_secret(key_files.Ed25519PrivateKey.generate())
    tape.append([key_files.sign(fact(1), key)])
    with psycopg.connect(database.url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("UPDATE ledger.tape SET attributes = %s", (fact(1).attributes,))
    assert tape.verify().broken is not None


def test_a_released_input_has_who_released_it(tape: PostgresTape) -> None:
    tape.append([no_fact(b"x", "key:a")])
    receipt = tape.release(1, fact(1)._replace(sender="os:anna"))
    assert receipt.position == 1
    assert tape.sender_of(1) == "os:anna"
