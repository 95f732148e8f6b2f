"""Views from a real Kafka: those of the tape, whatever the feed lacks, repeats, swaps or bends."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from consumers.registry import VIEWS, install, view
from consumers.runtime.lifecycle import Batch, catch_up, rebuild
from consumers.runtime.runner import RunnerOptions
from consumers.runtime.unpark import release
from infra.kafka import records, topics
from infra.kafka.feed_source import feed_source
from infra.postgres import parking
from infra.postgres.view_tables import LIVE, ViewStore, tape_source, writing
from ledger.errors import NotFound, Refused
from ledger.record.tape import TapeRow, chain_hash
from tests.fixtures.kafka import made_anew
from tests.fixtures.postgres import fact
from tests.scenes.feed_faults import (
    everything,
    from_feed,
    naive,
    of_rows,
    publish,
    shuffled_tapes,
)
from tests.scenes.feeding import once
from tests.scenes.view_feeds import Prefix, day, dumped, record
from tests.suite.budget import rest_long

if TYPE_CHECKING:
    from consumers.runtime.lifecycle import Projection
    from infra.kafka.clients import Connection
    from infra.kafka.records import ProducerRecord
    from infra.postgres.connection import Database


def empty(database: Database) -> None:
    """Every view as before the first fact."""
    with database.connect("ledger_owner") as connection:
        for each in VIEWS:
            for table in each.tables:
                connection.execute(f"TRUNCATE views.{table.name}".encode())
        connection.execute("UPDATE views.tracking SET position = 0")
        connection.execute("TRUNCATE views.parked, views.offsets")


def from_tape(database: Database) -> dict[str, bytes]:
    """Every view as it is straight from the tape, from the first fact on."""
    empty(database)
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)
    return everything(database)


def naively(database: Database, kafka: Connection) -> dict[str, bytes]:
    """What the same topic gives to a consumer that believes it."""
    empty(database)
    some = [view("payouts"), view("drop"), view("table_board")]
    naive(database, kafka, some)
    return everything(database, some)


@pytest.fixture
def rows(database: Database) -> list[TapeRow]:
    """A simulated day on the tape, and views that have read nothing of it."""
    install(database)
    return record(database, day(6))


def busiest(rows: list[TapeRow]) -> str:
    tapes = [row.tape for row in rows]
    return max(set(tapes), key=tapes.count)


@pytest.mark.long
def test_a_day_through_relay_and_kafka_gives_the_views_that_the_tape_gives(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    once(database, kafka)
    figures = from_feed(database, kafka)
    assert (figures.records, figures.duplicates, figures.gaps) == (len(rows), 0, 0)
    assert everything(database) == from_tape(database)


@pytest.mark.long
def test_facts_sent_twice_are_counted_once_and_reported(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    sent = of_rows(rows)
    again = sent[:200] + sent[50:400] + sent[200:] + sent[-30:]
    publish(database, kafka, again, len(rows))
    figures = from_feed(database, kafka)
    kept = everything(database)
    assert (figures.duplicates, figures.gaps, figures.poisoned) == (len(again) - len(rows), 0, 0)
    assert kept == from_tape(database)
    control = naively(database, kafka)
    assert control["payouts"] != kept["payouts"], "they would have been counted twice"


@pytest.mark.long
def test_facts_the_feed_lacks_are_read_from_the_record_and_reported(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    lost = {17, 18, 19, 230, len(rows) // 2, len(rows) - 1, len(rows)}  # the last of all, too
    publish(
        database,
        kafka,
        [each for each, row in zip(of_rows(rows), rows, strict=True) if row.position not in lost],
        len(rows),
    )
    figures = from_feed(database, kafka)
    kept = everything(database)
    assert (figures.healed, figures.gaps, figures.duplicates) == (len(lost), 4, 0)
    assert kept == from_tape(database)
    assert naively(database, kafka)["drop"] != kept["drop"], "the control: they would be missing"


@pytest.mark.long
def test_facts_in_another_order_are_put_in_the_records_order_and_reported(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    chance = random.Random(5)  # noqa: S311 - repeatable, guards nothing
    sent = of_rows(rows)
    at = sorted(range(len(sent)), key=lambda n: n + chance.randrange(150))
    publish(database, kafka, [sent[n] for n in at], len(rows))
    figures = from_feed(database, kafka)
    kept = everything(database)
    assert figures.reordered > 0
    assert (figures.gaps, figures.duplicates) == (0, 0)
    assert kept == from_tape(database)
    control = naively(database, kafka)
    assert control["table_board"] != kept["table_board"], "the control: order counts"
    assert control["drop"] == kept["drop"], "arrival decides nothing there"


def bent(record_: ProducerRecord) -> ProducerRecord:
    """The same record with another amount in it: still JSON, still plausible."""
    return record_._replace(value=record_.value.replace(b'"amount":', b'"amount":9'))


@pytest.mark.long
@pytest.mark.parametrize(
    ("reason", "bend"),
    [
        ("edited", bent),
        pytest.param(
            "unreadable",
            lambda each: each._replace(headers=each.headers[:4]),
            marks=pytest.mark.long,
        ),
        pytest.param(
            "edited",
            lambda each: each._replace(key=b"hollywood/XX-99"),
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_poisoned_record_parks_its_table_and_no_other_until_it_is_released(
    database: Database, kafka: Connection, rows: list[TapeRow], reason: str, bend: object
) -> None:
    tape = busiest(rows)
    hit = [row for row in rows if row.tape == tape and b'"amount":' in row.data][3]
    sent = of_rows(rows)
    sent[hit.position - 1] = bend(sent[hit.position - 1])  # type: ignore[operator]
    publish(database, kafka, sent, len(rows))
    figures = from_feed(database, kafka)
    parked = parking.shown(database)
    assert {(each.tape, each.reason, each.position) for each in parked} == {
        (tape, reason, hit.position)
    }
    assert [each.view for each in parked] == sorted(each.name for each in VIEWS)
    own = [row for row in rows if row.tape == tape]
    assert {each.withheld for each in parked} == {len(own) - hit.table_seq + 1}
    assert (figures.poisoned, figures.healed) == (1, 1)
    others = everything(database)["payouts"]
    with tape_source(database) as source:  # any other process that updates a view withholds it too
        catch_up(database, source, [view("payouts")])
    assert everything(database)["payouts"] == others
    told = release(database, VIEWS, tape)
    assert {each.how for each in told} == {"rebuilt", "caught up"}
    assert parking.shown(database) == []
    kept = everything(database)
    assert kept == from_tape(database)
    assert kept["payouts"] != others
    with pytest.raises(NotFound):
        release(database, VIEWS, tape)


@pytest.mark.long
def test_other_tables_are_complete_while_one_is_parked(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    tape = busiest(rows)
    sent = of_rows(rows)
    first = next(row for row in rows if row.tape == tape)
    sent[first.position - 1] = bent(sent[first.position - 1])._replace(value=b"{}")
    publish(database, kafka, sent, len(rows))
    from_feed(database, kafka)
    kept = dumped(database, view("payouts")).splitlines()
    table = tape.partition("/")[2].encode()
    whole = from_tape(database)["payouts"].splitlines()
    assert kept == [line for line in whole if table not in line]
    assert len(kept) < len(whole)


@pytest.mark.long
def test_believing_a_bent_amount_would_have_counted_it(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    """The control of the two above: the hash is what finds it."""
    sent = of_rows(rows)
    hit = next(row for row in rows if row.type == "wager_paid.v1")
    sent[hit.position - 1] = bent(sent[hit.position - 1])
    publish(database, kafka, sent, len(rows))
    assert naively(database, kafka)["payouts"] != from_tape(database)["payouts"]


@pytest.mark.long
def test_a_bad_copy_beside_a_whole_one_is_reported_and_parks_nothing(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    sent = of_rows(rows)
    paid = next(row for row in rows if row.type == "wager_paid.v1").position
    publish(database, kafka, [*sent[:-5], bent(sent[paid - 1]), *sent[-5:]], len(rows))
    figures = from_feed(database, kafka)
    assert (figures.poisoned, figures.gaps) == (1, 0)
    assert parking.shown(database) == []
    assert everything(database) == from_tape(database)


@pytest.mark.long
def test_a_well_chained_fact_that_is_not_on_record_gets_into_no_view(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    last = rows[-1]
    made = fact(99, place=last.tape.partition("/")[2])
    forged = TapeRow(
        last.position + 1, last.tape, last.table_seq + 1, *made[1:6], 1, made.attributes, made.data,
        b"",
    )  # fmt: skip
    forged = forged._replace(hash=chain_hash(last.hash, forged))
    publish(database, kafka, [*of_rows(rows), records.of_row(forged, last.hash)], len(rows))
    figures = from_feed(database, kafka)
    assert figures.poisoned == 1
    assert everything(database) == from_tape(database)


@pytest.mark.long
def test_a_table_of_the_record_that_is_not_whole_is_not_released(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    tape = busiest(rows)
    hit, after = [row for row in rows if row.tape == tape][5:7]
    sent = of_rows(rows)
    sent[hit.position - 1] = sent[hit.position - 1]._replace(value=b"{}")
    publish(database, kafka, sent, len(rows))
    from_feed(database, kafka)
    with database.connect("ledger_owner") as connection:
        connection.execute("ALTER TABLE ledger.tape DISABLE TRIGGER USER")
        connection.execute(
            "UPDATE ledger.tape SET state = '{}' WHERE notification_id = %s", (after.position,)
        )
    with pytest.raises(Refused, match="missing or changed in the record"):
        release(database, VIEWS, tape)
    assert len(parking.shown(database)) == len(VIEWS)


@pytest.mark.long
def test_a_views_program_that_fails_on_a_fact_parks_that_table_where_it_is_asked_to(
    database: Database, rows: list[TapeRow]
) -> None:
    tape = busiest(rows)
    bad = [row for row in rows if row.tape == tape][60]
    payouts = view("payouts")

    def fails(store: object, batch: object) -> None:
        if bad.position in [row.position for row in batch.rows]:  # type: ignore[attr-defined]
            raise ZeroDivisionError
        payouts.apply(store, batch)  # type: ignore[arg-type]

    failing = type(payouts)(payouts.name, payouts.version, payouts.tables, fails, ordered=False)  # type: ignore[arg-type]
    source = Prefix(rows, len(rows))
    with pytest.raises(ZeroDivisionError):
        catch_up(database, source, [failing])
    assert catch_up(database, source, [failing], options=RunnerOptions(parks=True)) == len(rows)
    parked = parking.shown(database)
    assert [(each.tape, each.position, each.reason) for each in parked] == [
        (tape, bad.position, "unappliable")
    ]
    release(database, [payouts], tape)
    kept = dumped(database, payouts)
    assert kept == from_tape(database)["payouts"]


def interleaved(
    database: Database, projection: Projection, rows: list[TapeRow], seed: int
) -> bytes:
    """A view of the same facts, tapes otherwise interleaved."""
    with database.connect("ledger_owner") as connection:
        for table in projection.tables:
            connection.execute(f"TRUNCATE views.{table.name}".encode())
    with writing(database, LIVE) as connection, connection.transaction():
        projection.apply(ViewStore(connection, LIVE), Batch(shuffled_tapes(rows, seed)))
    return dumped(database, projection)


@pytest.mark.parametrize(
    "name",
    rest_long([each.name for each in VIEWS if not each.ordered], everyday={"openings"}),
)
def test_a_view_that_says_the_order_of_tapes_does_not_count_is_the_same_in_any(
    database: Database, rows: list[TapeRow], name: str
) -> None:
    right = from_tape(database)[name]
    for seed in range(3):
        assert interleaved(database, view(name), rows, seed) == right


def test_in_another_view_the_order_of_tapes_counts(database: Database, rows: list[TapeRow]) -> None:
    """The control: what a consumer would make of the rulings, partition by partition."""
    assert interleaved(database, view("rulings"), rows, 1) != from_tape(database)["rulings"]


@pytest.mark.long
def test_offsets_that_are_not_there_any_more_are_reported_and_nothing_is_lost(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    once(database, kafka)
    from_feed(database, kafka)
    kept = everything(database)
    with database.connect("ledger_owner") as connection:
        connection.execute("UPDATE views.offsets SET next_offset = next_offset + 100000")
    figures = from_feed(database, kafka)
    assert figures.offsets_lost > 0
    assert everything(database) == kept


@pytest.mark.long
def test_a_view_goes_on_from_its_offsets_and_reads_nothing_twice(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    once(database, kafka)
    from_feed(database, kafka)
    more = record(database, day(2, seed=9))[len(rows) :]
    assert more
    once(database, kafka)
    figures = from_feed(database, kafka)
    assert (figures.records, figures.duplicates) == (len(more), 0)
    assert everything(database) == from_tape(database)


@pytest.mark.long
def test_a_view_rebuilt_from_the_feed_is_the_same_and_goes_on_from_there(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    once(database, kafka)
    from_feed(database, kafka)
    before = everything(database)
    for each in VIEWS:
        with feed_source(database, kafka, []) as source:
            assert rebuild(database, source, each)
    assert everything(database) == before
    assert from_feed(database, kafka).records == 0


@pytest.mark.long
def test_a_topic_that_was_made_anew_loses_nothing(
    database: Database, kafka: Connection, rows: list[TapeRow]
) -> None:
    half = len(rows) // 2
    publish(database, kafka, of_rows(rows)[:half], half)
    from_feed(database, kafka)
    made_anew(kafka, [topics.FACTS])
    once(database, kafka)
    from_feed(database, kafka)
    assert everything(database) == from_tape(database)
