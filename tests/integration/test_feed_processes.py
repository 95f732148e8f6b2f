"""Views kept up from Kafka by real processes: killed, paused, overtaken, and by the command."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from consumers.catalogue import VIEWS, install, view
from consumers.projection import Batch, Runner, catch_up
from consumers.relay import relay
from consumers.release import release
from infra import parking, views
from infra.tape import PostgresTape
from infra.views import LIVE, Store, tape_source
from tests.feed_faults import everything, from_feed, of_rows, publish
from tests.feeding import once
from tests.fix_cli import Cli, environ
from tests.view_feeds import day, dumped, record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.kafka.clients import Connection
    from infra.postgres import Database
    from infra.views import Tracking
    from tests.fix_kafka import Cluster

ROOT = Path(__file__).parents[2]
KILLS, KILLS_LONG = 5, 30


@contextmanager
def keeper(base: Database, where: Connection) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.feed_process", base.url, where.bootstrap],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "up\n"
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


@contextmanager
def load(base: Database, where: Connection, minutes: int) -> Iterator[None]:
    """A day arriving little by little, and a relay that publishes it."""
    facts = day(minutes)
    done = threading.Event()

    def append() -> None:
        with PostgresTape(base) as tape:
            for first in range(0, len(facts), 25):
                if done.wait(0.02):
                    return
                tape.append(facts[first : first + 25])

    threads = [
        threading.Thread(target=append),
        threading.Thread(target=relay, args=(base, where), kwargs={"stop": done.is_set}),
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


def positions(base: Database) -> tuple[int, int]:
    with base.connect("ledger_reader") as connection:
        row = connection.execute("SELECT min(position), max(position) FROM views.tracking")
        low, high = row.fetchone() or (0, 0)
    return low, high


def begun_anew(base: Database) -> dict[str, bytes]:
    with base.connect("ledger_owner") as connection:
        for each in VIEWS:
            for table in each.tables:
                connection.execute(f"TRUNCATE views.{table.name}".encode())
        connection.execute("UPDATE views.tracking SET position = 0")
    with tape_source(base) as source:
        catch_up(base, source, VIEWS)
    return everything(base)


def survives(base: Database, where: Connection, kills: int, minutes: int) -> None:
    chance = random.Random(kills)  # noqa: S311 - repeatable, guards nothing
    install(base)
    amidst = 0
    with load(base, where, minutes):
        for _ in range(kills):
            with keeper(base, where) as running:
                assert running.stdout
                for _ in range(chance.randint(1, 14)):
                    assert running.stdout.readline() == "moved\n", running.communicate()[1]
                time.sleep(chance.random() * 0.03)
                running.kill()
            low, high = positions(base)
            amidst += low != high
    once(base, where)
    figures = from_feed(base, where)
    with PostgresTape(base) as tape:
        kept = tape.counters().appended
    assert positions(base) == (kept, kept)
    assert (figures.gaps, figures.poisoned) == (0, 0)
    assert amidst, "kills must fall between the commits of two views"
    assert everything(base) == begun_anew(base)


def test_views_killed_at_any_moment_while_facts_come_are_those_of_the_tape(
    database: Database, kafka: Connection
) -> None:
    survives(database, kafka, KILLS, 8)


@pytest.mark.long
def test_views_killed_tens_of_times_while_facts_come_are_those_of_the_tape(
    database: Database, kafka: Connection
) -> None:
    survives(database, kafka, KILLS_LONG, 40)


def test_a_zombie_that_wakes_after_it_was_overtaken_is_refused_and_counts_nothing(
    database: Database, kafka: Connection
) -> None:
    record(database, day(10))
    install(database)
    once(database, kafka)
    with keeper(database, kafka) as zombie:
        assert zombie.stdout
        assert zombie.stdout.readline() == "moved\n"
        zombie.send_signal(signal.SIGSTOP)
        release_locks(database)
        from_feed(database, kafka)
        overtaken = everything(database)
        zombie.send_signal(signal.SIGCONT)
        time.sleep(1)
        zombie.send_signal(signal.SIGTERM)
        said = zombie.communicate(timeout=30)[0]
    assert int(said.splitlines()[-1].split()[3]) > 0 or "lost" in said, said
    assert everything(database) == overtaken == begun_anew(database)


def release_locks(base: Database) -> None:
    """End transactions of the paused process, as the server would after its own time limit."""
    with base.connect("ledger_owner") as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname ="
            " current_database() AND pid <> pg_backend_pid()"
            " AND state IN ('idle in transaction', 'idle in transaction (aborted)')"
        )


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
    with keeper(database, kafka) as running:
        until = time.monotonic() + 60
        while positions(database)[0] < len(rows) and time.monotonic() < until:
            time.sleep(0.05)
        assert {each.tape for each in parking.shown(database)} == {tape}
        release(database, VIEWS, tape)
        more = record(database, day(5, seed=9))
        assert any(row.tape == tape for row in more[len(rows) :])
        once(database, kafka)
        while positions(database)[0] < len(more) and time.monotonic() < until:
            time.sleep(0.05)
        running.terminate()
        said = running.communicate(timeout=60)[0]
    assert said.splitlines()[-1].startswith(f"stopped at {len(more)}, ")
    assert parking.shown(database) == []
    assert everything(database) == begun_anew(database)


@pytest.mark.long
def test_views_wait_for_a_broker_that_is_killed_and_go_on_when_it_is_back(
    database: Database, own_kafka: Cluster
) -> None:
    rows = record(database, day(6))
    install(database)
    node = own_kafka.nodes.nodes[0]
    once(database, own_kafka.where)
    with keeper(database, own_kafka.where) as running:
        assert running.stdout
        assert running.stdout.readline() == "moved\n"
        own_kafka.kill(node)
        more = len(record(database, day(3, seed=9))) - len(rows)
        assert more > 0
        time.sleep(3)
        assert running.poll() is None, running.communicate()[1]
        own_kafka.start(node)
        own_kafka.wait()
        once(database, own_kafka.where)
        until = time.monotonic() + 60
        while positions(database)[0] < len(rows) + more and time.monotonic() < until:
            time.sleep(0.1)
        running.terminate()
        said = running.communicate(timeout=60)[0]
    assert said.splitlines()[-1] == f"stopped at {len(rows) + more}, 0 refused"
    assert everything(database) == begun_anew(database)


def test_without_the_comparison_a_zombie_would_have_counted_twice(
    database: Database, kafka: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: a view moved from wherever it stands."""
    rows = record(database, day(5))
    install(database)
    once(database, kafka)
    payouts = view("payouts")

    def blind(store: Store, name: str, seen: Tracking, to: int) -> bool:
        del seen
        store.connection.execute(
            "UPDATE views.tracking SET position = %s WHERE view = %s", (to, name)
        )
        return True

    with views.writing(database, LIVE) as connection, tape_source(database) as source:
        zombie = Runner(connection, LIVE, source, [payouts])
        from_feed(database, kafka, [payouts])
        right = dumped(database, payouts)
        monkeypatch.setattr(views, "advance", blind)
        zombie.apply(payouts, Batch(rows))
    assert dumped(database, payouts) != right


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
            ROUND_LEDGER_KAFKA_BOOTSTRAP=kafka.bootstrap,
        )
    )
    with cli.start("consume", "all", "--follow", "--port", "0") as running:
        assert running.stderr
        port = json.loads(running.stderr.readline())["port"]
        until = time.monotonic() + 60
        while positions(database)[0] < len(rows) and time.monotonic() < until:
            time.sleep(0.1)
        figures = got(port, "/metrics")[1]
        assert got(port, "/healthz") == got(port, "/readyz") == (200, "ok\n")
        assert got(port, "/else")[0] == 404
        running.terminate()
        running.communicate(timeout=30)
        assert running.returncode == 0
    assert f"round_ledger_feed_records_total {len(rows)}.0" in figures
    assert "round_ledger_feed_poisoned_total 1.0" in figures
    assert 'round_ledger_view_parked_tapes{view="drop"} 1.0' in figures
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
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
