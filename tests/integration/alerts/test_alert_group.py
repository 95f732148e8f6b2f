"""Two processes that raise alerts, as members of one group: they share out the work, and what one
that is killed had begun the other ends.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import urllib.request
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
import pytest

from consumers.alerts.alert import Alert
from consumers.alerts.process import TOPIC
from consumers.registry import install
from infra.kafka import topics
from infra.kafka.reader import reader
from infra.postgres.alerts import Alerts
from infra.postgres.tape import PostgresTape
from ledger.facts import WagerPaid
from tests.fixtures.cli import ROOT, environ
from tests.fixtures.kafka import reached
from tests.fixtures.postgres import fact
from tests.scenes.feeding import once
from tests.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from infra.kafka.clients import Connection
    from infra.postgres.alerts import DeliveryReceipt
    from infra.postgres.connection import Database
    from ledger.record.tape import Received

PLACES = tuple(f"CC-{number:02}" for number in range(1, 13))
"""So many that each of two members is given some of them."""

BATCH = 120
ROUNDS_MAX = 12
COMMAND = """
from infra.postgres import alerts
from replay.cli import main
alerts.CLAIM_S = 30.0  # a busy machine may be slow, too
main()
"""

UNCLAIMED = f"""
from infra.postgres.alerts import Alerts
claim = Alerts.claim
Alerts.claim = lambda self, due: claim(self, due) or True
{COMMAND}
"""
"""The mutant that tries every due alert, even one that another tries."""

FORGETS = f"""
from infra.kafka.consumer_group import Member
poll = Member.poll
def forgets(self, timeout_s):
    read = poll(self, timeout_s)
    if read:
        self.commit(read)
    return read
Member.poll = forgets
{COMMAND}
"""
"""The mutant that commits what it has not handled yet."""


class Group:
    """A database, a Kafka with every topic, and members of the group."""

    def __init__(self, database: Database, kafka: Connection, home: Path) -> None:
        topics.apply(kafka)
        install(database)
        self.database = database
        self.kafka = kafka
        self.home = home
        self._number = itertools.count()

    @contextmanager
    def member(self, program: str = COMMAND) -> Iterator[Process]:
        """A process of it; whatever becomes of the test, it is ended."""
        told = self.home / f"member-{next(self._number)}"
        with (
            told.open("wb") as log,
            subprocess.Popen(
                [sys.executable, "-c", program, "consume", "alerts", "--follow", "--port", "0"],
                cwd=ROOT,
                env=environ(
                    self.home,
                    ROUND_LEDGER_DATABASE_URL=self.database.url,
                    **reached(self.kafka),
                    ROUND_LEDGER_ALERT_LAG_S="1000000000",
                ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            ) as running,
        ):
            try:
                yield Process(running, told)
            finally:
                running.kill()

    def pays(self) -> set[str]:
        """Publish payments that each raise an alert; the alerts."""
        with PostgresTape(self.database) as tape:
            first = tape.counters().appended
            numbers = range(first, first + BATCH)
            tape.append([payment(number) for number in numbers])
            ids = {f"payout:{row.source}:{row.id}" for row in tape.read(first, BATCH)}
        once(self.database, self.kafka)
        return ids

    def receipts(self) -> list[DeliveryReceipt]:
        with self.database.connect("ledger_projector") as connection:
            return Alerts(self.database, connection).receipts()

    def delivered(self) -> set[str]:
        """Alerts that every channel has taken."""
        told = self.receipts()
        return {r.alert_id for r in told} - {r.alert_id for r in told if not r.delivered_at_us}

    def untold(self) -> set[str]:
        """Alerts that stand on their topic more often than receipts tell of tries."""
        tries = {each.alert_id: each.tries for each in self.receipts() if each.channel == "topic"}
        return {id_ for id_, times in self.on_topic().items() if times > tries[id_]}

    def on_topic(self) -> Counter[str]:
        """How often each alert stands on its topic."""
        with reader(self.kafka, TOPIC) as source:
            read = [each for batch in source.read(source.bounds()) for each in batch]
        return Counter(msgspec.json.decode(each.value or b"", type=Alert).id for each in read)


class Process:
    """One member, and the file that it logs to."""

    def __init__(self, running: subprocess.Popen[bytes], told: Path) -> None:
        self.running = running
        self._told = told

    def logged(self) -> Sequence[str]:
        """The alerts it has logged."""
        lines = self._told.read_text().splitlines()
        return [line for line in lines if '"event":"alert"' in line]

    def figure(self, name: str) -> float:
        """One of its figures; below 0 where it answers nothing yet."""
        page = self._got("/metrics") or ""
        found = [line for line in page.splitlines() if line.startswith(f"{name} ")]
        return float(found[0].split()[1]) if found else -1.0

    def has_joined(self) -> bool:
        assert self.running.poll() is None, self._told.read_text()[-2000:]
        return self._got("/readyz") is not None

    def _got(self, path: str) -> str | None:
        first, end, _ = self._told.read_text().partition("\n")
        if not end:
            return None
        try:
            address = f"http://127.0.0.1:{json.loads(first)['port']}{path}"
            with urllib.request.urlopen(address, timeout=120) as answer:
                return str(answer.read().decode())
        except OSError:
            return None


def payment(number: int) -> Received:
    body = msgspec.json.encode(WagerPaid(position=3, wager="middle", amount=1_000_000 + number))
    return fact(number, place=PLACES[number % len(PLACES)], name="wager_paid", data=body)


@pytest.fixture
def group(database: Database, kafka: Connection, tmp_path: Path) -> Group:
    return Group(database, kafka, tmp_path)


READ = "round_ledger_alerts_read_total"


@pytest.mark.long
def test_two_members_share_partitions_and_what_one_that_is_killed_began_the_other_ends(
    group: Group,
) -> None:
    with group.member() as first, group.member() as second:
        until(lambda: first.has_joined() and second.has_joined())
        paid = group.pays()
        until(lambda: group.delivered() >= paid)
        until(lambda: first.figure(READ) + second.figure(READ) >= len(paid))
        until(lambda: min(first.figure(READ), second.figure(READ)) > 0)
        assert group.on_topic() == Counter(paid), "each once"
        assert {each.tries for each in group.receipts()} == {1}
        before = len(first.logged())
        paid |= group.pays()
        until(lambda: len(first.logged()) > before)
        first.running.kill()
        paid |= group.pays()
        until(lambda: group.delivered() >= paid)
        assert second.running.poll() is None
    cut_off = {each.alert_id for each in group.receipts() if each.tries > 1}
    assert len(cut_off) <= 1, "the one that was being tried"
    assert set(group.on_topic()) == paid
    assert group.untold() == set()


@pytest.mark.long
def test_members_that_claim_nothing_deliver_alerts_twice(group: Group) -> None:
    """The control: two are alive all the while."""
    with group.member(UNCLAIMED) as first, group.member(UNCLAIMED) as second:
        until(lambda: first.has_joined() and second.has_joined())
        for _ in range(ROUNDS_MAX):
            paid = group.pays()
            until(lambda paid=paid: group.delivered() >= paid)
            if group.untold():
                break
    assert group.untold(), "none came twice"


@pytest.mark.long
def test_of_members_that_commit_before_they_handle_one_that_is_killed_loses_alerts(
    group: Group,
) -> None:
    """The control: what is lost is read by nobody any more."""
    paid: set[str] = set()
    with group.member(FORGETS) as lasting:
        for _ in range(ROUNDS_MAX):
            with group.member(FORGETS) as first:
                until(lambda first=first: first.has_joined() and lasting.has_joined())
                raised = len(group.receipts())
                paid |= group.pays()
                until(lambda raised=raised: len(group.receipts()) > raised)
                first.running.kill()
            later = group.pays()
            until(lambda later=later: group.delivered() >= later)
            if paid - group.delivered():
                break
            paid |= later
    assert paid - group.delivered(), "every alert was told"
