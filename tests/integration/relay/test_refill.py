"""A record that lost its end, filled again from the feed: equal again, or nothing is written.

The database without the end is an earlier copy, as a standby promoted too early is. A real one,
streaming and promoted, is in test_failover.py.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from typing import TYPE_CHECKING

import psycopg
import pytest

from consumers.relay import check
from consumers.relay import refill as relay_refill
from consumers.relay.refill import refill
from infra.kafka import topics
from infra.kafka.reader import reader
from infra.kafka.records import OCTETS_MAX, QUARANTINE_ID, ProducerRecord
from infra.postgres import relay_progress
from infra.postgres.connection import Database
from infra.postgres.refill import refilling
from infra.postgres.tape import PostgresTape
from ledger.errors import Refused
from ledger.record.tape import Quarantined
from tests.fixtures.postgres import copy_database, fact, new_name, url_of
from tests.integration.relay.test_relay import put, record_of
from tests.scenes.feeding import fill, once
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from infra.kafka.clients import Connection
    from infra.kafka.ports import Consumed

NOT_JSON = Quarantined(b"no fact", "not_json", "Not JSON", "$", "send JSON")
OTHER = Quarantined(b"no fact either", "not_json", "Not JSON", "$", "send JSON")


@pytest.fixture
def copied(database: Database, postgres_url: str) -> Callable[[], Database]:
    """Makes a copy of the record as it is now. Nobody may be connected to it."""

    def copy() -> Database:
        name = new_name()
        copy_database(postgres_url, name, template=database.url.rsplit("dbname=", 1)[1].split()[0])
        url = url_of(postgres_url, name)
        return Database(url, url)

    return copy


def feed_of(kafka: Connection, topic: str = topics.FACTS) -> list[Consumed]:
    with reader(kafka, topic) as read:
        return [each for batch in read.read(read.bounds()) for each in batch]


def lost(
    database: Database, copied: Callable[[], Database], kafka: Connection, count: int = 60
) -> Database:
    """A copy without the last `count` facts, all of which are on the feed."""
    with PostgresTape(database) as tape:
        fill(tape, 40)
        tape.append([NOT_JSON])
    once(database, kafka)
    older = copied()
    with PostgresTape(database) as tape:
        fill(tape, count, first=40)
        tape.append([OTHER, fact(1, place="CC-08", data=b'{"other":1}')])
    once(database, kafka)
    return older


def same(database: Database, older: Database) -> None:
    """Rows, heads and inputs are equal, and heads kept elsewhere hold."""
    with PostgresTape(database) as first, PostgresTape(older) as second:
        assert second.read(0, 10_000) == first.read(0, 10_000)
        assert second.heads() == first.heads()
        asides = [tape.quarantined(released=True) for tape in (first, second)]
        assert asides[0] == asides[1]
        assert second.verify(first.heads()).broken is None
        assert second.counters() == first.counters()


@pytest.mark.long
def test_what_was_lost_is_put_back_to_the_same_positions_and_hashes(
    database: Database, copied: Callable[[], Database], kafka: Connection
) -> None:
    older = lost(database, copied, kafka)
    with PostgresTape(database) as first, PostgresTape(older) as second:
        broken = second.verify(first.heads()).broken
        assert broken is not None, "heads kept elsewhere find that the end is missing"
    before = feed_of(kafka)
    with pytest.raises(Refused, match="differs from the record"):
        once(older, kafka)
    assert feed_of(kafka) == before, "nothing is published under positions already given"
    done = refill(older, kafka)
    assert done == (41, 100, 60, 2, 0, 0, 0)
    same(database, older)
    once(older, kafka)
    seen = check.verify(older, kafka)
    assert (seen.breaks, seen.facts) == ([], 100)
    with PostgresTape(older) as tape:
        fill(tape, 10, first=100)
    once(older, kafka)
    assert check.verify(older, kafka).facts == 110


@pytest.mark.long
def test_a_second_time_there_is_nothing_to_put_back(
    database: Database, copied: Callable[[], Database], kafka: Connection
) -> None:
    older = lost(database, copied, kafka)
    refill(older, kafka)
    assert refill(older, kafka) == (0, 0, 0, 0, 0, 0, 0)


@pytest.mark.long
def test_an_end_longer_than_one_statement_and_one_look_back_is_put_back(
    database: Database,
    copied: Callable[[], Database],
    kafka: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(relay_refill, "AT_ONCE", 7)
    monkeypatch.setattr(relay_refill, "_BACK", (1, 3, 2**62))
    older = lost(database, copied, kafka, count=1_500)
    assert refill(older, kafka).facts == 1_500
    same(database, older)


@pytest.mark.long
def test_a_record_that_went_on_by_itself_is_left_as_it_is(
    database: Database, copied: Callable[[], Database], kafka: Connection
) -> None:
    older = lost(database, copied, kafka)
    with PostgresTape(older) as tape:
        fill(tape, 5, first=500)  # positions 41 to 45 are given twice
        before = tape.read(0, 1_000)
        with pytest.raises(Refused, match=r"different facts at position 4\d"):
            refill(older, kafka)
        assert tape.read(0, 1_000) == before
    with pytest.raises(Refused, match="differs from the record"):
        once(older, kafka)


@pytest.mark.long
def test_a_gap_is_named_and_nothing_is_written_unless_the_rest_is_to_come_anew(
    database: Database, copied: Callable[[], Database], kafka: Connection
) -> None:
    with PostgresTape(database) as tape:
        fill(tape, 20)
    older = copied()
    with PostgresTape(database) as tape:
        fill(tape, 30, first=20)
        put(kafka, *[record_of(tape, n) for n in range(1, 51) if n not in (31, 32)])
    with pytest.raises(Refused, match=r"positions 31 to 32, and holds 18 above"):
        refill(older, kafka)
    with PostgresTape(older) as tape:
        assert tape.counters().appended == 20
    assert refill(older, kafka, anew=True) == (21, 30, 10, 0, 18, 0, 0)
    with PostgresTape(older) as second, PostgresTape(database) as first:
        assert second.read(0, 30) == first.read(0, 30)
        assert {row.id for row in second.read(30, 99)} == {row.id for row in first.read(32, 99)}
        assert second.verify().broken is None


class KilledError(BaseException):
    """What nothing in the program catches."""


def killed_at(monkeypatch: pytest.MonkeyPatch, number: int) -> Callable[[], int]:
    """End the program before its statement of this number; returns how many it came to."""
    seen = 0

    def counting(of: Callable[..., object]) -> Callable[..., object]:
        def execute(*args: object, **options: object) -> object:
            nonlocal seen
            seen += 1
            if seen == number:
                raise KilledError
            return of(*args, **options)

        return execute

    for name in ("execute", "executemany"):
        monkeypatch.setattr(psycopg.Cursor, name, counting(getattr(psycopg.Cursor, name)))
    return lambda: seen


def nobody_is_connected(database: Database) -> bool:
    """Whether the server has ended the sessions of a program that was killed, and their locks."""
    with database.connect("ledger_owner") as connection:
        found = connection.execute(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
            " AND pid <> pg_backend_pid()"
        )
        return found.fetchone() is None


@pytest.mark.long
def test_killed_at_any_statement_the_rest_anew_can_be_run_again(
    database: Database, copied: Callable[[], Database], kafka: Connection
) -> None:
    with PostgresTape(database) as tape:
        fill(tape, 20)
    older = copied()
    with PostgresTape(database) as tape:
        fill(tape, 30, first=20)
        put(kafka, *[record_of(tape, n) for n in range(1, 51) if n not in (31, 32)])
    for number in itertools.count(1):
        with pytest.MonkeyPatch.context() as patched, suppress(KilledError):
            came_to = killed_at(patched, number)
            patched.setattr(relay_refill, "AT_ONCE", 7)
            refill(older, kafka, anew=True)
        until(lambda: nobody_is_connected(older))
        with PostgresTape(older) as second:
            if (appended := second.counters().appended) != 20:
                break
        until(lambda: nobody_is_connected(older))
        assert came_to() == number, "it ended without an error, and wrote nothing"
    assert number > 20, "the control: it has that many statements"
    assert appended == 48, "all of it, or none"
    with PostgresTape(older) as second, PostgresTape(database) as first:
        before = second.read(0, 99)
        assert refill(older, kafka, anew=True) == (0, 0, 0, 0, 18, 0, 0)
        assert second.read(0, 99) == before
        assert before[:30] == first.read(0, 30)
        assert [row.id for row in before[30:]] == [row.id for row in first.read(32, 99)]
        assert second.verify().broken is None
    with pytest.raises(Refused, match="differ"):
        refill(older, kafka)


@pytest.mark.long
def test_rest_anew_is_refused_for_a_record_that_went_on_with_facts_of_its_own(
    database: Database, copied: Callable[[], Database], kafka: Connection
) -> None:
    older = lost(database, copied, kafka)
    with PostgresTape(older) as tape:
        fill(tape, 5, first=500)
        before = tape.read(0, 1_000)
        with pytest.raises(Refused, match="different facts"):
            refill(older, kafka, anew=True)
        assert tape.read(0, 1_000) == before


def test_what_is_not_whole_on_the_feed_is_never_written(
    database: Database, copied: Callable[[], Database], kafka: Connection
) -> None:
    with PostgresTape(database) as tape:
        fill(tape, 10)
    older = copied()
    with PostgresTape(database) as tape:
        fill(tape, 2, first=10)
        put(kafka, *[record_of(tape, n) for n in range(1, 12)])
        edited = record_of(tape, 12)
        put(kafka, edited._replace(value=edited.value.replace(b"3", b"4", 1)))
    with pytest.raises(Refused, match="does not match its hash"):
        refill(older, kafka)
    with PostgresTape(older) as tape:
        assert tape.counters().appended == 10


@pytest.mark.long
def test_while_a_relay_leads_nothing_is_put_back(
    database: Database, copied: Callable[[], Database], kafka: Connection
) -> None:
    older = lost(database, copied, kafka)
    with relay_progress.lead(older, lambda: False), pytest.raises(Refused, match="A relay is"):
        refill(older, kafka)


@pytest.mark.long
def test_facts_with_every_attribute_come_back_as_they_were(
    database: Database, copied: Callable[[], Database], kafka: Connection
) -> None:
    with PostgresTape(database) as tape:
        fill(tape, 1)
    older = copied()
    with PostgresTape(database) as tape:
        plain = fact(2, sequence="7", boot="b", dataschema="x", extension="ä ö")
        tape.append([plain, fact(3, place="cage", data=b" { } ")])
    once(database, kafka)
    assert refill(older, kafka).facts == 2
    with PostgresTape(database) as first, PostgresTape(older) as second:
        assert second.read(0, 9) == first.read(0, 9)


@pytest.mark.long
@pytest.mark.parametrize("after", [[OTHER], []])
def test_inputs_that_the_feed_does_not_hold_whole_hold_up_nothing(
    database: Database,
    copied: Callable[[], Database],
    kafka: Connection,
    after: list[Quarantined],
) -> None:
    """One that is on record, and one that was lost: of the second its beginning comes back."""
    large = NOT_JSON._replace(octets=b"x" * (OCTETS_MAX + 1))
    with PostgresTape(database) as tape:
        fill(tape, 4)
        tape.append([large])
    once(database, kafka)
    older = copied()
    with PostgresTape(database) as tape:
        fill(tape, 2, first=4)
        tape.append([NOT_JSON, large._replace(octets=b"y" * (OCTETS_MAX + 1)), *after])
    once(database, kafka)
    assert refill(older, kafka) == (5, 6, 2, 2 + len(after), 0, 1, 0)
    with PostgresTape(older) as tape:
        back = tape.quarantined(released=True)
        assert tape.verify([]).broken is None
    octets = [NOT_JSON.octets, b"y" * OCTETS_MAX, *(each.octets for each in after)]
    assert [row.octets for row in back[1:]] == octets
    assert back[2].what == "Not JSON (the first 262,144 of 262,145 bytes)"
    once(older, kafka)
    assert check.verify(older, kafka).breaks == []


@pytest.mark.long
def test_what_is_no_envelope_is_refused_in_words(
    database: Database, copied: Callable[[], Database], kafka: Connection
) -> None:
    older = lost(database, copied, kafka)
    stray = ProducerRecord(b"hollywood/x", b"[1", [(QUARANTINE_ID, b"3")])
    put(kafka, stray, topic=topics.QUARANTINE)
    with pytest.raises(Refused, match="holds input 3 incomplete or damaged"):
        refill(older, kafka)


def ended(database: Database, pid: int) -> bool:
    """Whether the server has no such session any more."""
    with database.connect("ledger_owner") as connection:
        found = connection.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", (pid,))
        return found.fetchone() is None


@pytest.mark.long
def test_a_feed_that_takes_long_to_read_ends_no_refilling(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.postgres.connection.IDLE_S_MAX", 1)
    with refilling(database) as filling:
        with database.connect("ledger_owner") as other:  # the control: any other is ended
            pid = other.info.backend_pid
            other.execute("BEGIN")
            until(lambda: ended(database, pid))
            with pytest.raises(psycopg.Error):
                other.execute("SELECT 1")
        assert filling.tip == 0
        filling.finish()
