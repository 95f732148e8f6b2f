"""How fast the record is published, followed from Kafka and rebuilt, and how late a view is.

A real broker of its own beside the embedded database and this process, so that all share the
machine. The same records go out by the relay, by a bare kafka-python producer and by a bare
confluent-kafka one, in turns; rates are medians.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import confluent_kafka
import kafka
import psycopg

from consumers.parallel_rebuild import Work, fill
from consumers.registry import install, view
from consumers.relay.relay import relay
from consumers.runtime.lifecycle import rebuild
from consumers.runtime.source import Share
from infra.kafka import records, topics
from infra.kafka.clients import administrator
from infra.kafka.feed_source import feed_source
from infra.kafka.records import PreviousHashes, partition_of
from infra.postgres.connection import Database
from infra.postgres.migrations import migrate
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import tape_source
from tests.benchmarks import bench_views
from tests.benchmarks.tools.served import place
from tests.fixtures.cli import START, environ
from tests.fixtures.kafka import FEED, Cluster, reached

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from infra.kafka.clients import Connection
    from infra.kafka.records import ProducerRecord
    from infra.postgres.connection import AnyConnection
    from ledger.record.tape import Received
    from tests.benchmarks.tools.served import Place

FACTS = 100_000
FACTS_REBUILT = 300_000
RUNS = 3
RATES = (150, 1_500)
"""Facts a second: a property at its busiest, and ten of them."""

SECONDS = 20
FOLLOWED = "table_board"
WORKERS = (1, 2, 4)
DIVIDED = ("rulings", "drop", "disputes")
"""Views whose facts cross tables, rebuilt and followed by one process and by two."""

PARTITIONS = 24
BARE = ("bench.kafka-python", "bench.confluent")


def run() -> dict[str, object]:
    """Every figure of this file; some eight minutes."""
    with place() as at:
        cluster = Cluster(at.home / "kafka")
        try:
            migrate(at.url)
            database = Database(at.url, at.url)
            install(database)
            feed = bench_views.floor()
            bench_views.fill(database, feed, FACTS)
            return {
                "facts": FACTS,
                "published_per_s": published(database, cluster.connection),
                "followed_per_s": followed(database, cluster.connection),
                "rebuilt_s_by_workers": rebuilt(database, cluster.connection),
                "rebuilt_by_two": rebuilt_by_two(),
                "followed_in_two_parts": {
                    name: followed_in_parts(at, database, name) for name in DIVIDED[:2]
                },
                "append_to_view_ms": {
                    f"at_{rate}_per_s": latency(at, database, cluster.connection, feed, rate)
                    for rate in RATES
                },
            }
        finally:
            cluster.close()


def published(database: Database, kafka: Connection) -> dict[str, object]:
    """Records a second of each writer, until all are acknowledged by the broker."""
    sent = all_records(database)
    writers: dict[str, Callable[[], None]] = {
        "relay": lambda: relayed(database, kafka),
        "bare_kafka_python": lambda: bare_kafka_python(kafka, sent),
        "bare_confluent_kafka": lambda: bare_confluent(kafka, sent),
    }
    seconds: dict[str, list[float]] = {name: [] for name in writers}
    for _ in range(RUNS):
        for name, write in writers.items():
            fresh(database, kafka)
            seconds[name].append(timed(write))
    fresh(database, kafka)
    relayed(database, kafka)  # what the figures after this one are read from
    rates = {name: len(sent) / statistics.median(its) for name, its in seconds.items()}
    return {
        **{name: round(rate) for name, rate in rates.items()},
        "relay_to_bare_kafka_python": rates["relay"] / rates["bare_kafka_python"],
        "relay_to_bare_confluent_kafka": rates["relay"] / rates["bare_confluent_kafka"],
    }


def followed(database: Database, kafka: Connection) -> dict[str, object]:
    """Facts a second that each view takes in from empty: from the tape, and from Kafka."""
    figures: dict[str, object] = {}
    for name in ("rounds", FOLLOWED, "rulings"):
        seconds: dict[str, list[float]] = {"tape": [], "kafka": []}
        for _ in range(RUNS):
            with tape_source(database) as tape:
                seconds["tape"].append(bench_views.timed_from_empty(database, tape, view(name)))
            with feed_source(database, kafka, []) as feed:
                seconds["kafka"].append(bench_views.timed_from_empty(database, feed, view(name)))
        tape_s, kafka_s = (statistics.median(its) for its in seconds.values())
        figures[name] = {
            "from_tape": round(FACTS / tape_s),
            "from_kafka": round(FACTS / kafka_s),
            "kafka_to_tape": tape_s / kafka_s,
        }
    return figures


def rebuilt(database: Database, kafka: Connection) -> dict[str, object]:
    """Seconds that a rebuild of the round index takes, by processes side by side.

    From the tape, and from the first offset of Kafka.
    """

    def by_workers(over: Connection | None) -> dict[str, float]:
        return {
            str(workers): round(
                statistics.median(
                    rebuilt_s(database, "rounds", over, workers) for _ in range(RUNS)
                ),
                2,
            )
            for workers in WORKERS
        }

    return {"from_tape": by_workers(None), "from_kafka": by_workers(kafka)}


def rebuilt_s(database: Database, name: str, over: Connection | None, workers: int) -> float:
    """Seconds that a rebuild takes, from the tape or from Kafka."""
    work = Work(database, over, name, Share(of=workers), FACTS)

    def first(connection: AnyConnection) -> bool:
        return fill(connection, work, progress=lambda *_: None, stop=lambda: False)

    with feed_source(database, over, []) if over else tape_source(database) as source:
        if workers == 1:
            return timed(lambda: rebuild(database, source, view(name)))
        return timed(lambda: rebuild(database, source, view(name), first=first))


def rebuilt_by_two() -> dict[str, dict[str, float]]:
    """Seconds that the command takes to rebuild each view of a longer record, by one and by two."""
    with place() as at:
        migrate(at.url)
        database = Database(at.url, at.url)
        install(database)
        bench_views.fill(database, bench_views.floor(), FACTS_REBUILT)
        bench_views.checkpoint(database)
        told = environ(at.home, ROUND_LEDGER_DATABASE_URL=at.url)

        def seconds(name: str, count: int) -> float:
            asked = [*START, "rebuild", name, "--workers", str(count)]
            return timed(lambda: all_done([asked], told))

        return {name: by_turns(partial(seconds, name)) for name in DIVIDED}


def followed_in_parts(at: Place, database: Database, name: str) -> dict[str, float]:
    """Seconds that the command takes from an empty view, alone and as two that have a part each."""

    def seconds(count: int) -> float:
        bench_views.emptied(database, view(name))
        told = environ(at.home, ROUND_LEDGER_DATABASE_URL=at.url)
        asked = ["consume", name, "--from", "tape"]
        parts = [["--part", f"{number}/{count}"] for number in range(1, count + 1)]
        return timed(lambda: all_done([[*START, *asked, *part] for part in parts], told))

    return by_turns(seconds)


def all_done(commands: Sequence[Sequence[str]], told: dict[str, str]) -> None:
    """Run commands side by side to their end."""
    quiet = subprocess.DEVNULL
    running = [subprocess.Popen(each, env=told, stdout=quiet, stderr=quiet) for each in commands]
    ended = [each.wait() for each in running]
    if any(ended):
        raise SystemExit(f"failed: {commands}")


def by_turns(seconds: Callable[[int], float]) -> dict[str, float]:
    """By one and by two: the medians, and the median of the turns' own ratios."""
    turns = [(seconds(1), seconds(2)) for _ in range(RUNS)]
    one, two = (statistics.median(each) for each in zip(*turns, strict=True))
    ratio = statistics.median(first / second for first, second in turns)
    return {"one_s": round(one, 2), "two_s": round(two, 2), "two_to_one": round(ratio, 2)}


def latency(
    at: Place, database: Database, kafka: Connection, feed: Iterator[Received], rate: int
) -> dict[str, object]:
    """From the moment a fact is due to be appended until the view has it, by way of Kafka."""
    chance = random.Random(rate)  # noqa: S311 - repeatable
    due = sorted(chance.uniform(0, SECONDS) for _ in range(rate * SECONDS))
    wake, *told = islice(feed, 1 + len(due))
    with following(at, kafka), PostgresTape(database) as tape:
        tape.append([wake])  # once the view has it, both processes are at work
        first = settled(database, tape.counters().appended)
        seen = Seen(database)
        began = time.perf_counter()
        sent = 0
        while sent < len(due):
            now = time.perf_counter() - began
            upto = sent
            while upto < len(due) and due[upto] <= now:
                upto += 1
            if upto > sent:  # whatever is due shares one call, as a server's group commit does
                tape.append(told[sent:upto])
                sent = upto
            else:
                time.sleep(max(0.0, due[sent] - now))
        last = tape.counters().appended
        moments = seen.until(last)
    took: list[float] = []
    at_moment = iter(moments)
    when, reached = next(at_moment)
    for number, due_s in enumerate(due[: last - first], first + 1):
        while reached < number:
            when, reached = next(at_moment)
        took.append((when - began - due_s) * 1000)
    return bench_views.spread(took)


class Seen:
    """When a view was seen to have reached a position, asked every millisecond."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._moments: list[tuple[float, int]] = []
        self._last = 2**62
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def until(self, position: int) -> list[tuple[float, int]]:
        """Every move of the view up to a position, once it is there."""
        self._last = position
        self._thread.join()
        return self._moments

    def _look(self) -> None:
        reached = -1
        with psycopg.connect(self._database.url, autocommit=True) as connection:
            while reached < self._last:
                position = tracked(connection)
                if position != reached:
                    reached = position
                    self._moments.append((time.perf_counter(), reached))
                time.sleep(0.001)


@contextmanager
def following(at: Place, kafka: Connection) -> Iterator[None]:
    """A relay and a view's runner as processes, as on a floor."""
    told = environ(
        at.home,
        ROUND_LEDGER_DATABASE_URL=at.url,
        **reached(kafka),
    )
    commands = (["relay"], ["consume", FOLLOWED, "--follow", "--from", "kafka"])
    processes = [
        subprocess.Popen([*START, *command], env=told, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait(60)


def settled(database: Database, position: int) -> int:
    """Wait until the view has all there is."""
    with psycopg.connect(database.url, autocommit=True) as connection:
        while tracked(connection) < position:
            time.sleep(0.05)
    time.sleep(1)
    return position


def tracked(connection: psycopg.Connection) -> int:
    row = connection.execute(
        "SELECT position FROM views.tracking WHERE view = %s AND NOT rebuilding", (FOLLOWED,)
    ).fetchone()
    return int(row[0]) if row else 0


def all_records(database: Database) -> list[ProducerRecord]:
    """The records of the facts there are, as the relay sends them."""
    made: list[ProducerRecord] = []
    places = PreviousHashes()
    with tape_source(database) as source:
        while rows := source.read(len(made), 2_000):
            for row in rows:
                made.append(records.of_row(row, places.before(row) or b""))
                places.saw(row)
    return made


def fresh(database: Database, kafka: Connection) -> None:
    """Topics without a record, and a relay that has published none."""
    with administrator(kafka) as admin:
        there = {*admin.list_topics()}
        gone = [name for name in (*BARE, *(each.name for each in FEED)) if name in there]
        if gone:
            admin.delete_topics(gone)
        while {*gone} & {*admin.list_topics()}:
            time.sleep(0.05)
    facts = topics.topic(topics.FACTS)
    topics.apply(kafka, [*FEED, *(facts._replace(name=name) for name in BARE)])
    with database.connect("ledger_owner") as connection:
        connection.execute("DELETE FROM views.relayed")


def relayed(database: Database, kafka: Connection) -> None:
    relay(database, kafka, stop=lambda: False, follow=False)


def bare_kafka_python(connection: Connection, sent: Sequence[ProducerRecord]) -> None:
    """As its manual shows it, with the relay's guarantees: idempotent, all acknowledged."""
    producer = kafka.KafkaProducer(
        bootstrap_servers=connection.bootstrap,
        acks="all",
        enable_idempotence=True,
        linger_ms=50,
        batch_size=131_072,
        compression_type="zstd",
    )
    for each in sent:
        producer.send(
            BARE[0],
            key=each.key,
            value=each.value,
            headers=each.headers,
            partition=partition_of(each.key, PARTITIONS),
        )
    producer.flush()
    producer.close()


def bare_confluent(kafka: Connection, sent: Sequence[ProducerRecord]) -> None:
    """As above, by the C library."""
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "enable.idempotence": True,
            "linger.ms": 50,
            "batch.size": 131_072,
            "compression.type": "zstd",
        }
    )
    for each in sent:
        while True:
            try:
                producer.produce(
                    BARE[1],
                    key=each.key,
                    value=each.value,
                    headers=each.headers,
                    partition=partition_of(each.key, PARTITIONS),
                )
                break
            except BufferError:
                producer.poll(0.01)
    producer.flush()


def timed(work: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.stdout.write(f"{run()}\n")
