"""Tokens of patrons stand apart from the record, and are gone once a fact erases them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg
import pytest

from infra.postgres import tape as records
from ledger.record.pseudonyms import patrons_in
from ledger.record.tape import Quarantined
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.record.tape import Received, TapeRow

TOKEN = "P-4711-Smith"  # noqa: S105 - a patron's
PLAIN = json.dumps({"positions": [1], "patron": TOKEN}).encode()


def seat(number: int, token: str = TOKEN, **more: str) -> Received:
    data = json.dumps({"positions": [number % 6 + 1], "patron": token}).encode()
    return fact(number, data=data, name="seat_taken", **more)


def erasure(number: int, *pseudonyms: str) -> Received:
    said = {"pseudonyms": pseudonyms, "because": "asked", "by": "S-1", "second": "S-2"}
    return fact(number, place="office", data=json.dumps(said).encode(), name="patron_erased")


def garbage(token: str = TOKEN, more: str = "") -> Quarantined:
    octets = f'{{"source":"/hollywood/CC-07/shoe","data":{{"patron":"{token}",}}}}{more}'
    return Quarantined(
        octets.encode(), "not_json", "No JSON.", "$", "Send JSON.", "/hollywood/CC-07/shoe"
    )


def pseudonym(row: TapeRow) -> str:
    return str(json.loads(row.data)["patron"])


def everywhere(database: Database) -> str:
    """Every row of every table of the ledger, as text."""
    with psycopg.connect(database.url) as connection:
        names = connection.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        told = []
        for (name,) in names:
            query = f"SELECT * FROM {name}"  # noqa: S608 - a test's own
            for row in connection.execute(query.encode()).fetchall():
                told += [
                    each.decode("latin-1") if isinstance(each, bytes) else str(each) for each in row
                ]
    return "\n".join(told)


@pytest.fixture
def superuser(database: Database) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Somebody with every right, and the triggers switched off."""
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection


def test_a_token_stands_in_one_table_only(tape: PostgresTape, database: Database) -> None:
    tape.append([seat(1), fact(2), seat(3), seat(4, "P-2"), garbage()])
    rows = tape.read(0, 10)
    assert pseudonym(rows[0]) == pseudonym(rows[2]) != pseudonym(rows[3])
    assert everywhere(database).count(TOKEN) == 1
    assert tape.verify().broken is None


def test_erasing_leaves_the_token_nowhere_and_the_record_whole(
    tape: PostgresTape, database: Database
) -> None:
    tape.append([seat(1), fact(2), seat(3), garbage(), seat(5, "P-2")])
    before = tape.read(0, 10)
    tape.append([erasure(9, pseudonym(before[0]))])
    assert TOKEN not in everywhere(database)
    assert "P-2" in everywhere(database), "and nobody else's"
    assert tape.read(0, 4) == before
    seen = tape.verify()
    assert (seen.broken, seen.rows) == (None, 5)


def test_a_fact_sent_again_is_a_duplicate_before_and_after(
    tape: PostgresTape, database: Database
) -> None:
    [first] = tape.append([seat(1)])
    assert tape.append([seat(1)]) == [first._replace(verdict="duplicate")]
    assert tape.append([seat(1, "P-other")])[0].verdict == "equivocation"
    tape.append([erasure(9, pseudonym(tape.read(0, 1)[0]))])
    assert tape.append([seat(1)]) == [first._replace(verdict="duplicate")]
    assert TOKEN not in everywhere(database), "and what it brought is not kept"
    assert tape.verify().broken is None


def test_a_name_written_with_escapes_is_known_again(tape: PostgresTape) -> None:
    its = fact(1, data=b'{"p\\u0061tron":"P-1"}', name="seat_taken")
    [first] = tape.append([its])
    name = json.loads(tape.read(0, 1)[0].data)["patron"]
    tape.append([erasure(9, name)])
    assert tape.append([its]) == [first._replace(verdict="duplicate")]


def test_malformed_input_sent_again_is_counted_once(tape: PostgresTape) -> None:
    ids = [tape.append([garbage()])[0].quarantine_id for _ in range(2)]
    assert ids == [1, 1]


def test_a_patron_who_comes_back_has_another_pseudonym(tape: PostgresTape) -> None:
    tape.append([seat(1)])
    was = pseudonym(tape.read(0, 1)[0])
    tape.append([erasure(9, was)])
    tape.append([seat(2)])
    assert pseudonym(tape.read(2, 1)[0]) != was
    assert tape.verify().broken is None


def test_a_casino_erases_no_patron_of_another(tape: PostgresTape, database: Database) -> None:
    tape.append([seat(1)])
    name = pseudonym(tape.read(0, 1)[0])
    ours = erasure(9, name)
    theirs = ours._replace(
        tape="rival/office",
        source=ours.source.replace("hollywood", "rival"),
        attributes=ours.attributes.replace(
            b"\x16/hollywood/office/shoe", b"\x12/rival/office/shoe"
        ),
    )
    tape.append([theirs])
    assert TOKEN in everywhere(database)


def test_a_fact_of_a_time_before_pseudonyms_stays_and_is_known_again(
    tape: PostgresTape, database: Database
) -> None:
    """The record of an earlier version goes on: its rows hold tokens, and their plain hashes."""
    its = seat(1)
    with database.connect("ledger_writer") as connection:
        [first] = records._append(connection, [its])  # as the version before did
    assert tape.read(0, 1)[0].data == its.data
    assert tape.append([its]) == [first._replace(verdict="duplicate")]
    assert tape.append([seat(1, "P-2")])[0].verdict == "equivocation"
    assert tape.verify().broken is None


def test_an_input_is_released_with_a_pseudonym(tape: PostgresTape, database: Database) -> None:
    tape.append([garbage(), fact(7, data=b'{"n":1}')])
    receipt = tape.release(1, seat(1))
    assert receipt.verdict == "appended"
    assert everywhere(database).count(TOKEN) == 1
    assert tape.verify().broken is None


EDITS = {
    "token = 'P-1'": "pseudonym edited",
    "salt = '\\x00'": "pseudonym edited",
    "property = ''": "pseudonym edited",
    "token = NULL, salt = NULL, erased_position = 1": "pseudonym edited",
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_row_changed_by_a_superuser_is_named(
    tape: PostgresTape, superuser: psycopg.Connection[tuple[object, ...]], edit: str
) -> None:
    tape.append([seat(1), seat(2, "P-2")])
    superuser.execute(f"UPDATE ledger.pseudonyms SET {edit} WHERE number = 2".encode())  # noqa: S608 - a test
    [broken] = tape.verify().breaks
    assert (broken.kind, broken.pseudonym) == (EDITS[edit], 2)


def test_a_row_deleted_by_a_superuser_is_named(
    tape: PostgresTape, superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    tape.append([seat(1), seat(2, "P-2"), seat(3, "P-3")])
    superuser.execute("DELETE FROM ledger.pseudonyms WHERE number > 1")
    named = [(each.kind, each.pseudonym) for each in tape.verify().breaks]
    assert named == [("pseudonym deleted", 2), ("pseudonym deleted", 3)]


def test_a_commitment_changed_in_a_fact_is_named(
    tape: PostgresTape, superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    tape.append([seat(1), seat(2, "P-2")])
    other = pseudonym(tape.read(1, 1)[0])
    forged = json.dumps({"positions": [2], "patron": other}).encode()
    superuser.execute("UPDATE ledger.tape SET state = %s WHERE notification_id = 1", (forged,))
    broken = tape.verify().broken
    assert broken
    assert (broken.kind, broken.position) == ("edited payload", 1)


def test_an_erasure_that_left_a_place_behind_is_found(
    tape: PostgresTape, superuser: psycopg.Connection[tuple[object, ...]], database: Database
) -> None:
    """The control of the searches above, and of `verify`."""
    tape.append([seat(1)])
    name = pseudonym(tape.read(0, 1)[0])
    [kept] = superuser.execute("SELECT token, salt FROM ledger.pseudonyms").fetchall()
    tape.append([erasure(9, name)])
    superuser.execute(
        "UPDATE ledger.pseudonyms SET token = %s, salt = %s, erased_position = NULL", kept
    )
    assert TOKEN in everywhere(database)
    broken = tape.verify().broken
    assert broken
    assert (broken.kind, broken.says) == (
        "pseudonym edited",
        "It was erased at position 2, and stands here again.",
    )


def test_nobody_removes_a_row_and_a_writer_reads_none(
    tape: PostgresTape, database: Database
) -> None:
    tape.append([seat(1)])
    for role in ("ledger_owner", "ledger_writer"):
        with (
            database.connect(role) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute("DELETE FROM ledger.pseudonyms")
    with database.connect("ledger_writer") as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM ledger.pseudonyms")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE ledger.pseudonyms SET token = NULL")


def test_facts_pass_as_they_are_if_they_name_nobody(tape: PostgresTape) -> None:
    its = fact(1, data=b'{"note":"no patron here"}')
    assert patrons_in(its) == []
    tape.append([its])
    assert tape.read(0, 1)[0].data == its.data
