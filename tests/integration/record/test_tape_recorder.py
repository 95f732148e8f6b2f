"""The eventsourcing library over the record: its aggregates' events are facts like any other."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, NamedTuple

import psycopg
import pytest
from eventsourcing.application import AggregateNotFoundError, Application
from eventsourcing.persistence import IntegrityError, Tracking
from eventsourcing.postgres import PostgresDatastore, PostgresTrackingRecorder
from eventsourcing.projection import Projection, ProjectionRunner
from psycopg.sql import SQL

from infra.postgres.recorder import Decided, Record, application_env, identity
from ledger.errors import Usage
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape

DISPUTE = "/hollywood/surveillance/disputes/D-17"


class Dispute(NamedTuple):
    """A tiny aggregate: folded from its facts, never mutated."""

    id: str
    version: int
    claim: str
    outcome: str | None


class Disputes(Application[str]):
    """The surveillance desk's decisions, as the library runs them."""


def decided(version: int, name: str, **data: str) -> Decided:
    source, fact_id = identity(DISPUTE, version)
    _, _, place, device = source.split("/")
    octets = json.dumps({"dispute": "D-17", **data}).encode()
    made = fact(version, place=place, device=device, name=name, data=octets, id=fact_id)
    return Decided(DISPUTE, version, made)


def folded(dispute: Dispute | None, events: Iterable[Decided]) -> Dispute | None:
    for event in events:
        data = json.loads(event.fact.data)
        if event.fact.type == "dispute_raised.v1":
            dispute = Dispute(event.originator_id, event.originator_version, data["claim"], None)
        elif dispute and event.fact.type == "dispute_resolved.v1":
            dispute = dispute._replace(version=event.originator_version, outcome=data["outcome"])
    return dispute


RAISED = decided(1, "dispute_raised", claim="was paid 2 to 1", by="S-9")
RESOLVED = decided(2, "dispute_resolved", outcome="upheld", by="S-1")


@pytest.fixture
def disputes(database: Database) -> Iterator[Disputes]:
    with Disputes(env=application_env(database)) as application:
        yield application


def test_an_aggregates_events_are_facts_on_the_tape_of_their_place(
    disputes: Disputes, tape: PostgresTape
) -> None:
    tape.append([fact(1), fact(1, place="surveillance")])
    disputes.save(RAISED, RESOLVED)
    rows = tape.rows_of("hollywood/surveillance", [(1, 9)])
    assert [row.type for row in rows] == [
        "cards_dealt.v1",
        "dispute_raised.v1",
        "dispute_resolved.v1",
    ]
    assert rows[1].data == RAISED.fact.data
    assert rows[1].id == "D-17/1"
    assert tape.counters().appended == 4


def test_an_aggregate_is_folded_from_its_own_facts_only(
    disputes: Disputes, tape: PostgresTape
) -> None:
    disputes.save(RAISED)
    tape.append([fact(n, place="surveillance", device="disputes") for n in range(3)])
    other = identity(DISPUTE.replace("17", "170"), 1)[1]
    tape.append([fact(9, place="surveillance", device="disputes", id=other)])
    disputes.save(RESOLVED)
    found = disputes.repository.get(DISPUTE, projector_func=folded)
    assert found == Dispute(DISPUTE, 2, "was paid 2 to 1", "upheld")
    assert disputes.repository.get(DISPUTE, version=1, projector_func=folded).outcome is None
    with pytest.raises(AggregateNotFoundError):
        disputes.repository.get(DISPUTE.replace("17", "18"), projector_func=folded)


def test_two_who_decide_at_once_cannot_both_be_right(
    disputes: Disputes, tape: PostgresTape
) -> None:
    disputes.save(RAISED, RESOLVED)
    with pytest.raises(IntegrityError):
        disputes.save(decided(2, "dispute_resolved", outcome="dismissed", by="S-2"))
    assert len(tape.read(0, 10)) == 2
    assert tape.quarantined() == []


def test_of_a_refused_save_nothing_is_kept(disputes: Disputes, tape: PostgresTape) -> None:
    disputes.save(RAISED)
    taken = decided(1, "dispute_raised", claim="something else", by="S-9")
    with pytest.raises(IntegrityError):
        disputes.save(taken, RESOLVED)
    assert [row.id for row in tape.read(0, 10)] == ["D-17/1"]


def test_saving_again_what_was_saved_succeeds_with_the_same_positions(disputes: Disputes) -> None:
    first = disputes.save(RAISED, RESOLVED)
    again = disputes.save(RAISED, RESOLVED)
    assert [r.notification.id for r in again] == [r.notification.id for r in first] == [1, 2]


def test_a_version_cannot_leave_a_hole(disputes: Disputes) -> None:
    with pytest.raises(IntegrityError, match="is not recorded"):
        disputes.save(RESOLVED)
    disputes.save(RAISED)
    disputes.save(RESOLVED)


def test_an_event_must_carry_the_fact_its_version_names(disputes: Disputes) -> None:
    with pytest.raises(IntegrityError, match="carries the fact"):
        disputes.save(Decided(DISPUTE, 1, fact(1)))


def test_the_notification_log_is_the_whole_record_in_commit_order(
    disputes: Disputes, tape: PostgresTape
) -> None:
    tape.append([fact(1), fact(2)])
    disputes.save(RAISED)
    tape.append([fact(3)])
    log = disputes.notification_log.select(start=1, limit=10)
    assert [n.id for n in log] == [1, 2, 3, 4]
    assert [(n.originator_id, n.originator_version) for n in log] == [
        ("hollywood/CC-07", 1),
        ("hollywood/CC-07", 2),
        (DISPUTE, 1),
        ("hollywood/CC-07", 3),
    ]
    assert disputes.mapper.to_domain_event(log[2]) == RAISED
    assert disputes.recorder.max_notification_id() == 4
    ids = [n.id for n in disputes.recorder.select_notifications(2, 5, stop=3)]
    after = [n.id for n in disputes.recorder.select_notifications(2, 5, inclusive_of_start=False)]
    raised = disputes.recorder.select_notifications(None, 5, topics=["dispute_raised.v1"])
    assert (ids, after, [n.id for n in raised]) == ([2, 3], [3, 4], [3])


def test_the_librarys_subscription_follows_what_the_record_keeps(
    disputes: Disputes, tape: PostgresTape
) -> None:
    """It begins to listen in a thread of its own: what comes before that shows with the next."""
    tape.append([fact(1)])
    seen = threading.Event()

    def tell() -> None:
        for number in range(2, 1_000):
            tape.append([fact(number)])
            if seen.wait(0.1):
                return

    telling = threading.Thread(target=tell)
    with disputes.recorder.subscribe(gt=0) as subscription:
        assert next(subscription).id == 1
        telling.start()
        try:
            assert [next(subscription).id for _ in range(3)] == [2, 3, 4]
        finally:
            seen.set()
            telling.join()


class Types(PostgresTrackingRecorder):
    """A stranger's view: one row a fact, in a schema of his own."""

    def __init__(self, datastore: PostgresDatastore, *, tracking_table_name: str) -> None:
        super().__init__(datastore, tracking_table_name=tracking_table_name)
        create = SQL("CREATE TABLE IF NOT EXISTS theirs.types (type text)")
        self.sql_create_statements.append(create)

    def add(self, name: str, tracking: Tracking) -> None:
        with self.datastore.transaction(commit=True) as cursor:
            cursor.execute("INSERT INTO theirs.types VALUES (%s)", (name,))
            self._insert_tracking(cursor, tracking)


class Following(Projection[Types]):
    name = "following"

    def process_event(self, domain_event: Decided, tracking: Tracking) -> None:
        assert domain_event.position == tracking.notification_id
        self.view.add(domain_event.fact.type, tracking)


def test_a_strangers_projection_follows_the_record_and_goes_on_where_it_ended(
    database: Database, tape: PostgresTape
) -> None:
    own = {
        "PERSISTENCE_MODULE": "eventsourcing.postgres",
        "POSTGRES_SCHEMA": "theirs",
        "CREATE_TABLE": "y",
    }
    env = application_env(database) | {f"FOLLOWING_{name}": each for name, each in own.items()}
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA theirs")
    for number in (1, 2):
        tape.append([fact(2 * number), fact(2 * number + 1)])
        with ProjectionRunner(
            application_class=Record, projection_class=Following, view_class=Types, env=env
        ) as runner:
            runner.wait(2 * number, timeout=120)
            assert runner.view.max_tracking_id("Record") == 2 * number
    with psycopg.connect(database.url) as connection:
        kept = connection.execute("SELECT type FROM theirs.types").fetchall()
    assert kept == [("cards_dealt.v1",)] * 4


@pytest.mark.parametrize("name", ["D-17", "hollywood/x/y/D", "/hollywood/x/D", "/h/x/y/"])
def test_an_aggregate_is_named_by_its_source_and_a_name(name: str) -> None:
    with pytest.raises(Usage):
        identity(name, 1)
