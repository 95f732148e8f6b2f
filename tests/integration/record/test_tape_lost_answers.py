"""An answer that does not come is asked for again, and nothing is lost or doubled by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from eventsourcing.persistence import IntegrityError, StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresDatastore

from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.errors import Unavailable
from ledger.record.group_commit import Committer
from ledger.record.tape import Quarantined
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fixtures.proxy import Fault, Proxy

GARBAGE = Quarantined(b"\xff", "not_json", "This is not JSON.", "$", "Send JSON.")


@pytest.fixture
def through(proxy: Proxy, database: Database) -> Iterator[PostgresTape]:
    """The record, reached through the proxy, given up on after a second without an answer."""
    name = psycopg.conninfo.conninfo_to_dict(database.url)["dbname"]
    base = Database(proxy.url(str(name)), database.url)
    with PostgresTape(base, answer_s_max=1) as record:
        record.append([fact(0)])
        yield record


@pytest.mark.parametrize("fault", ["swallow the reply", "swallow and hold"])
def test_a_swallowed_commit_reply_ends_in_duplicate_with_the_original_receipt(
    through: PostgresTape, tape: PostgresTape, proxy: Proxy, fault: Fault
) -> None:
    with Committer(through) as committer:
        proxy.fault = fault
        receipts = committer.append([fact(1), GARBAGE, fact(2)])
    assert proxy.faults_done == 1
    assert [r.verdict for r in receipts] == ["duplicate", "quarantined", "duplicate"]
    rows = tape.read(0, 10)
    assert [row.id for row in rows] == [fact(n).id for n in (0, 1, 2)]
    assert [r.position for r in receipts] == [2, None, 3]
    assert [r.hash for r in receipts if r.hash] == [rows[1].hash, rows[2].hash]
    assert len(tape.quarantined()) == 1
    assert tape.counters().nothing_lost


def test_a_lost_request_ends_in_appended(
    through: PostgresTape, tape: PostgresTape, proxy: Proxy
) -> None:
    """Control: the verdict shows whether the request or the reply was lost."""
    with Committer(through) as committer:
        proxy.fault = "lose the request"
        receipt = committer.append([fact(1)])[0]
    assert proxy.faults_done == 1
    assert (receipt.verdict, receipt.position) == ("appended", 2)
    assert len(tape.read(0, 10)) == 2


def test_without_asking_again_the_outcome_is_unknown_and_said_so(
    through: PostgresTape, tape: PostgresTape, proxy: Proxy
) -> None:
    proxy.fault = "swallow the reply"
    with pytest.raises(Unavailable):
        through.append([fact(1)])
    assert len(tape.read(0, 10)) == 2, "it was kept all the same"


def test_the_librarys_own_recorder_takes_its_lost_reply_for_a_conflict(
    proxy: Proxy, database: Database
) -> None:
    """Negative control: what happens where a retry does not compare what is on record."""
    at = psycopg.conninfo.conninfo_to_dict(database.url)
    name, user, password = (str(at.get(each, "")) for each in ("dbname", "user", "password"))
    with PostgresDatastore(
        name, "127.0.0.1", proxy.port, user, password, originator_id_type="text"
    ) as store:
        recorder = PostgresApplicationRecorder(store)
        recorder.create_table()
        recorder.insert_events([StoredEvent("a", 1, "x", b"")])
        proxy.only, proxy.fault = b"COMMIT", "swallow the reply"
        with pytest.raises(IntegrityError):
            recorder.insert_events([StoredEvent("a", 2, "x", b"")])
        assert len(recorder.select_events("a")) == 2
