"""Views kept up from Kafka by real processes: killed, paused, overtaken, and by the command."""

from __future__ import annotations

import json
import random
import signal
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest

from consumers.registry import VIEWS, install, view
from consumers.relay.relay import relay
from consumers.runtime.lifecycle import Batch, Runner
from consumers.runtime.unpark import release
from infra.postgres import parking, view_tables
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import LIVE, ViewStore, tape_source
from tests.fixtures.cli import Cli, environ
from tests.fixtures.kafka import reached
from tests.processes.view_keeper import arriving, begun_anew, positions, view_process
from tests.scenes.feed_faults import everything, from_feed, of_rows, publish
from tests.scenes.feeding import once
from tests.scenes.view_feeds import day, dumped, record
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import Tracking
    from tests.fixtures.kafka import Cluster

KILLS, KILLS_LONG = 5, 30


@contextmanager
def load(database: Database, kafka: Connection, minutes: int) -> Iterator[None]:
    """A day arriving little by little, and a relay that publishes it."""
    done = threading.Event()
    relaying = threading.Thread(target=relay, args=(database, kafka), kwargs={"stop": done.is_set})
    with arriving(database, day(minutes)):
        relaying.start()
        try:
            yield
        finally:
            done.set()
            relaying.join()


def survives(database: Database, kafka: Connection, kills: int, minutes: int) -> None:
    chance = random.Random(kills)  # noqa: S311 - repeatable, guards nothing
    install(database)
    amidst = killed = 0
    with load(database, kafka, minutes):
        while killed < kills or (not amidst and killed < KILLS_LONG):
            killed += 1
            with view_process(database, kafka) as running:
                running.says("moved", chance.randint(1, 14))
                time.sleep(chance.random() * 0.03)
            low, high = positions(database)
            amidst += low != high
    once(database, kafka)
    figures = from_feed(database, kafka)
    with PostgresTape(database) as tape:
        kept = tape.counters().appended
    assert positions(database) == (kept, kept)
    assert (figures.gaps, figures.poisoned) == (0, 0)
    assert amidst, "kills must fall between the commits of two views"
    assert everything(database) == begun_anew(database)


@pytest.mark.long
def test_views_killed_at_any_moment_while_facts_come_are_those_of_the_tape(
    database: Database, kafka: Connection
) -> None:
    survives(database, kafka, KILLS, 8)


@pytest.mark.long
def test_views_killed_tens_of_times_while_facts_come_are_those_of_the_tape(
    database: Database, kafka: Connection
) -> None:
    survives(database, kafka, KILLS_LONG, 40)


@pytest.mark.long
def test_a_view_that_moves_before_its_rows_loses_facts_to_a_kill_and_it_is_seen(
    database: Database, kafka: Connection
) -> None:
    """The control of the two above."""
    record(database, day(2))
    install(database)
    once(database, kafka)
    with view_process(database, kafka, "early") as running:
        running.says("early")
    from_feed(database, kafka)
    assert everything(database) != begun_anew(database)


@pytest.mark.long
def test_a_zombie_that_wakes_after_it_was_overtaken_is_refused_and_counts_nothing(
    database: Database, kafka: Connection
) -> None:
    """Paused with its connections alive: each view that it goes on with refuses it, once."""
    rows = record(database, day(3))
    install(database)
    once(database, kafka)
    with view_process(database, kafka, "between") as zombie:
        zombie.has_stopped()
        from_feed(database, kafka)
        overtaken = everything(database)
        zombie.process.send_signal(signal.SIGCONT)
        zombie.says("refused", len(VIEWS))
        assert zombie.stop() == f"stopped at {len(rows)}, {len(VIEWS)} refused"
    assert {each for each in zombie.said if each.startswith("refused")} == {
        f"refused {each.name}" for each in VIEWS
    }
    assert (zombie.count("moved"), zombie.count("lost")) == (1, 0)
    assert everything(database) == overtaken == begun_anew(database)


@pytest.mark.long
def test_a_zombie_whose_transaction_was_ended_for_it_goes_on_from_where_its_views_are(
    database: Database, kafka: Connection
) -> None:
    record(database, day(3))
    install(database)
    once(database, kafka)
    with view_process(database, kafka, "within") as zombie:
        zombie.has_stopped()
        end_transactions(database)
        from_feed(database, kafka)
        overtaken = everything(database)
        zombie.process.send_signal(signal.SIGCONT)
        zombie.says("lost")
        assert everything(database) == overtaken
        more = len(record(database, day(2, seed=9)))
        once(database, kafka)
        until(lambda: positions(database) == (more, more))
        assert zombie.stop() == f"stopped at {more}, 0 refused"
    assert everything(database) == begun_anew(database)


def end_transactions(database: Database) -> None:
    """End what a paused process holds, as the server would after its own time limit."""
    with psycopg.connect(database.owner_url, autocommit=True) as connection:  # who sees everybody's
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname ="
            " current_database() AND pid <> pg_backend_pid() AND state = 'idle in transaction'"
        ).fetchall()
    assert ended == [(True,)]


@pytest.mark.long
def test_a_table_that_is_released_goes_on_in_a_process_that_had_parked_it(
    database: Database, kafka: Connection
) -> None:
    rows = record(database, day(4))
    tape = max({row.tape for row in rows}, key=[row.tape for row in rows].count)
    hit = next(row for row in rows if row.tape == tape and row.table_seq == 20)
    sent = of_rows(rows)
    sent[hit.position - 1] = sent[hit.position - 1]._replace(value=b"{}")
    publish(database, kafka, sent, len(rows))
    install(database)
    with view_process(database, kafka) as running:
        until(lambda: positions(database)[0] == len(rows))
        assert {each.tape for each in parking.shown(database)} == {tape}
        release(database, VIEWS, tape)
        more = record(database, day(5, seed=9))
        assert any(row.tape == tape for row in more[len(rows) :])
        once(database, kafka)
        until(lambda: positions(database)[0] == len(more))
        assert running.stop().startswith(f"stopped at {len(more)}, ")
    assert parking.shown(database) == []
    assert everything(database) == begun_anew(database)


def cut_off(database: Database, cluster: Cluster, mode: str, at: str) -> str:
    """Kill the broker once views said `at`, start it again, and let all that came reach them."""
    node = cluster.nodes.nodes[0]
    record(database, day(6))
    install(database)
    once(database, cluster.connection)
    with view_process(database, cluster.connection, mode) as running:
        running.says(at)
        cluster.kill(node)
        more = len(record(database, day(3, seed=9)))
        running.says("lost")
        assert positions(database)[0] < more, "what nobody published yet is in no view"
        cluster.start(node)
        cluster.wait()
        once(database, cluster.connection)
        until(lambda: positions(database) == (more, more))
        return running.stop()


@pytest.mark.long
def test_views_wait_for_a_broker_that_is_killed_and_go_on_when_it_is_back(
    database: Database, own_kafka: Cluster
) -> None:
    assert cut_off(database, own_kafka, "right", "moved").endswith(" 0 refused")
    assert everything(database) == begun_anew(database)


@pytest.mark.long
def test_a_view_that_moves_before_its_rows_loses_facts_to_a_broker_and_it_is_seen(
    database: Database, own_kafka: Cluster
) -> None:
    """The control of the one above."""
    cut_off(database, own_kafka, "early", "early")
    assert from_feed(database, own_kafka.connection).records == 0, (
        "it believes that it has everything"
    )
    kept = everything(database)
    right = begun_anew(database)
    assert {name for name in right if kept[name] != right[name]} == {"payouts"}


@pytest.mark.long
def test_without_the_comparison_a_zombie_would_have_counted_twice(
    database: Database, kafka: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: a view moved from wherever it stands."""
    rows = record(database, day(5))
    install(database)
    once(database, kafka)
    payouts = view("payouts")

    def blind(store: ViewStore, name: str, seen: Tracking, to: int) -> bool:
        del seen
        store.connection.execute(
            "UPDATE views.tracking SET position = %s WHERE view = %s", (to, name)
        )
        return True

    with view_tables.writing(database, LIVE) as connection, tape_source(database) as source:
        zombie = Runner(ViewStore(connection, LIVE), source, [payouts])
        from_feed(database, kafka, [payouts])
        right = dumped(database, payouts)
        monkeypatch.setattr(ViewStore, "advance", blind)
        zombie.apply(payouts, Batch(rows))
    assert dumped(database, payouts) != right


@pytest.mark.long
def test_the_command_follows_kafka_tells_its_figures_and_unparks(
    database: Database, kafka: Connection, tmp_path: Path
) -> None:
    rows = record(database, day(4))
    tape = max({row.tape for row in rows}, key=[row.tape for row in rows].count)
    hit = next(row for row in rows if row.tape == tape and row.table_seq == 20)
    sent = of_rows(rows)
    sent[hit.position - 1] = sent[hit.position - 1]._replace(value=b"{}")
    publish(database, kafka, sent, len(rows))
    cli = Cli(
        environ(
            tmp_path,
            ROUND_LEDGER_DATABASE_URL=database.url,
            **reached(kafka),
        )
    )
    with cli.start("consume", "all", "--follow", "--port", "0") as running:
        assert running.stderr
        port = json.loads(running.stderr.readline())["port"]
        until(lambda: positions(database)[0] == len(rows))
        figures = got(port, "/metrics")[1]
        assert got(port, "/healthz") == got(port, "/readyz") == (200, "ok\n")
        assert got(port, "/else")[0] == 404
        running.terminate()
        running.communicate(timeout=120)
        assert running.returncode == 0
    assert f"round_ledger_feed_records_total {len(rows)}.0" in figures
    assert "round_ledger_feed_poisoned_total 1.0" in figures
    assert 'round_ledger_view_parked_tapes{view="drop"} 1.0' in figures
    assert 'round_ledger_view_fenced_total{view="drop"} 0.0' in figures
    assert 'round_ledger_view_behind_facts{view="drop"} 0.0' in figures
    assert 'round_ledger_topic_behind_records{topic="ledger.table-events.v1"} 0.0' in figures
    told = cli("consume", "all", "--status", "--json")
    assert told.code == 1
    parked = [(each["tape"], each["reason"]) for view_ in told.json for each in view_["parked"]]
    assert parked == [(tape, "edited")] * len(VIEWS), told.out
    assert "Parked" in cli("consume", "drop", "--status").out
    assert cli("unpark", tape).code == 0
    assert cli("consume", "all", "--status").code == 0
    assert cli("unpark", tape).code == 2
    assert cli("rebuild", "drop", "--from", "kafka").code == 2, "the feed is still poisoned"
    assert everything(database) == begun_anew(database)


def got(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=120) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
