"""Who takes part: devices, the edge, relays, runners, rebuilds; each runs the real programs.

The views are the simulation's own, and plain: what a runner makes of them is what is tested.
"""

from __future__ import annotations

from concurrent.futures import Future
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from consumers.relay import relay, view_topics
from consumers.relay.check import republish_in
from consumers.relay.streams import Facts, Quarantine
from consumers.runtime import outbox
from consumers.runtime.lifecycle import follow, rebuild_in
from consumers.runtime.runner import RunnerOptions
from consumers.runtime.unpark import catch_up_in
from infra.kafka import topics
from infra.kafka.clients import Connection
from infra.kafka.feed_source import FeedSource
from infra.kafka.merging import Figures
from infra.kafka.publisher import Publisher
from infra.kafka.records import ProducerRecord, of_row, partition_of
from infra.postgres.view_tables import LIVE, SHADOW_SCHEMA, Tracking
from ledger.errors import LedgerError, Refused
from ledger.record import group_commit
from ledger.record.group_commit import Submission
from ledger.record.tape import (
    GENESIS,
    Quarantined,
    Received,
    chain_hash,
    frame_attributes,
)
from ledger.values import format_time
from tests.simulation.broker import Broker, SimProducer, number_of
from tests.simulation.database import Postgres, Session, SimTape
from tests.simulation.plain_views import BAD, NAMES, TOLD, VIEWS
from tests.simulation.readers import SimFeedWriter, SimPartitions
from tests.simulation.stores import SimRelayStore, SimViewStore
from tests.simulation.world import STARTS_AT, Broken, Killed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from infra.kafka.ports import Acknowledged, Consumed
    from infra.kafka.publisher import SendWindow
    from ledger.record.tape import Receipt, TapeRow
    from tests.simulation.broker import Log
    from tests.simulation.world import Actor, World

TAPES = ("p/A", "p/B", "p/C", "p/cage")
CONTRADICTS = ("The topic", "Another program")
"""How a refusal begins that a person must repair."""

_WHERE = Connection("simulation")
_START_US = 1_795_000_000_000_000


@lru_cache(maxsize=4_096)
def fact(tape: str, number: int, variant: int = 0) -> Received:
    """A device's `number`-th fact; another variant is another story under the same identity."""
    data = BAD if number == 5 and tape == "p/C" else b'{"n":%d,"v":%d}' % (number, variant)
    time_us = _START_US + number * 1_000_000
    source = f"/{tape}/shoe"
    told = {
        "specversion": "1.0",
        "type": "roundledger.cards_dealt.v1",
        "source": source,
        "id": f"run1-{number}",
        "time": format_time(time_us),
    }
    return Received(
        tape, "cards_dealt.v1", source, told["id"], time_us, None, frame_attributes(told), data
    )


class Watched(FeedSource):
    """The real source, and what it handed out beside what the broker gave it."""

    partitions: SimPartitions
    unseen = 0  # facts handed out that no broker gave it whole
    high = -1
    known: int = 0
    whole: set[int]
    watch: Callable[[Watched, Sequence[TapeRow]], None]

    def read(self, after: int, limit: int) -> Sequence[TapeRow]:
        rows = super().read(after, limit)
        self.watch(self, rows)
        return rows


class Floor:
    """Everything that takes part in one run."""

    def __init__(self, world: World) -> None:
        self.world = world
        count = world.plan.partitions
        self.database = Postgres(world)
        self.broker = Broker(world, {topics.FACTS: count, topics.QUARANTINE: 1, TOLD: count})
        self.broker.bend = self._bend
        self.answers: list[tuple[Received | Quarantined, Receipt]] = []
        self.devices_left = len(TAPES)
        self.submitted: list[Submission] = []
        self.refused = 0
        self.judge: Any = None
        self.watch: Callable[[Watched, Sequence[TapeRow]], None] = lambda *_: None
        for each in VIEWS:
            self.database.kept["tracking"][each.name, False] = Tracking(0, 1, 1)
        for tape in TAPES:
            world.add(f"device {tape}", self._alive(self._device(tape)), mortal=False)
        for number in range(world.plan.edges):
            world.add(f"edge {number}", self._alive(self._edge))
        world.tick = self.broker.tick
        for number in range(world.plan.relays):
            world.add(f"relay {number}", self._alive(self._relay))
        for number in range(world.plan.consumers):
            world.add(f"views {number}", self._alive(self._consumer))
        world.add("rebuild", self._alive(self._rebuild))
        world.add("unpark", self._alive(self._unpark))
        world.add("republish", self._alive(self._republish))
        world.add("stranger", self._alive(self._stranger), mortal=False)

    def _alive(self, body: Callable[[Actor], None]) -> Callable[[Actor], None]:
        """Start a process again whenever it ends: killed, refused, or cut off."""

        def run(actor: Actor) -> None:
            rest_s = 0.0
            while True:
                try:
                    self.world.sleep(rest_s)
                    rest_s = self.world.chance.uniform(0.1, 3.0)
                    body(actor)
                    break
                except Killed:
                    if actor.closing:
                        raise
                    actor.dying = False
                except LedgerError as error:
                    self.world.say(f"ends: {error}")
                    for let_go in actor.held:
                        let_go()
                    actor.held.clear()
                    if isinstance(error, Refused) and error.what.startswith(CONTRADICTS):
                        self._contradicted(str(error))

        return run

    def is_told(self) -> bool:
        """Whether all that views have said is published."""
        own = [key[0] for key, (topic, _) in self.database.kept["outbox"].items() if topic == TOLD]
        return self.database.kept["relayed"].get((TOLD,), 0) >= max(own, default=0)

    # -- ingest

    def _device(self, tape: str) -> Callable[[Actor], None]:
        chance = self.world.chance
        share = max(1, self.world.plan.facts // len(TAPES))
        given: list[list[Received | Quarantined]] = []
        number = 0
        while number < share:
            take = min(share - number, chance.randint(1, 3))
            batch: list[Received | Quarantined] = [fact(tape, number + n) for n in range(take)]
            number += take
            if chance.random() < 0.1:
                batch.append(Quarantined(b"{nonsense", "not_json", "Not JSON", "$", "Send JSON."))
            if chance.random() < 0.1:
                batch.append(fact(tape, number - 1, 1))
            given.append(batch)

        def run(actor: Actor) -> None:
            while given:
                facts = given[0]
                sent = Submission(facts, 0, Future())
                self.submitted.append(sent)
                self.world.wait(sent.receipts.done, 8.0)
                if sent in self.submitted:
                    self.submitted.remove(sent)
                if sent.receipts.done() and sent.receipts.exception() is None:
                    self.answers += zip(facts, sent.receipts.result(), strict=True)
                    if not self.world.fault("device forgot the answer"):
                        given.pop(0)
                self.world.sleep(self.world.chance.uniform(0.0, 1.5))
            self.devices_left -= 1

        return run

    def _edge(self, actor: Actor) -> None:
        tape = SimTape(lambda: self.database.session(actor))
        tries = 0

        def asked(facts: group_commit.Facts) -> list[Receipt]:
            nonlocal tries
            tries = 0

            def gives_up() -> bool:
                nonlocal tries
                tries += 1
                return tries > 3

            return group_commit.ask(tape, facts, gives_up, self.world.sleep)

        while True:
            self.world.wait(lambda: bool(self.submitted), 5.0)
            group = self.submitted[:3]
            del self.submitted[:3]
            if group:
                group_commit.keep(group, asked)

    # -- the feed

    def _unpark(self, actor: Actor) -> None:
        """A person lets a tape into a view again."""
        while True:
            self.world.sleep(3.0)
            kept = self.database.kept["parked"]
            parked = [e for (v, side, _), e in kept.items() if v == "sums" and not side]
            if parked and self.world.fault("unpark"):
                each = parked[0]
                book = SimViewStore(self.database.session(actor), LIVE)
                catch_up_in(book, VIEWS[1], tape=each.tape, first=each.table_seq)

    def _republish(self, actor: Actor) -> None:
        """A person publishes a part again, at will or because a topic was made again."""
        deleted = 0
        while True:
            self.world.sleep(2.0)
            was_deleted, deleted = deleted < self.broker.deleted, self.broker.deleted
            if not self.database.rows or not (self.world.fault("republish") or was_deleted):
                continue
            relay_store = SimRelayStore(self.database.session(actor))
            last = self.world.chance.randint(1, len(self.database.rows))
            first = self.world.chance.randint(1, last)
            with self._publisher(actor) as publisher:

                def send(
                    window: SendWindow, publisher: Publisher = publisher
                ) -> Sequence[Acknowledged]:
                    return publisher.publish(
                        topics.FACTS, self.world.plan.partitions, window.records
                    )

                republish_in(relay_store, send, first, last)

    def _publisher(self, actor: Actor) -> Publisher:
        def made(**options: Any) -> SimProducer:
            producer = SimProducer(self.broker, options)
            actor.held.append(producer.force_close)
            return producer

        return Publisher(_WHERE, deadline_s=20.0, made=made, clock=self.world.clock)

    def _relay(self, actor: Actor) -> None:
        self.world.sleep(max(0.0, STARTS_AT + self.world.plan.relays_after_s - self.world.now))
        session = self.database.session(actor)
        relay_store = SimRelayStore(session)
        while not relay_store.leads():
            self.world.met["waited for the lead"] += 1
            self.world.sleep(1.0)

        def restate(new: Sequence[str]) -> None:
            if self.world.fault("killed before restating"):
                self.world.kill(actor)
            other = self.database.session(actor)
            outbox.restate(SimViewStore(other, LIVE), new, VIEWS, page_rows=2)
            if self.world.fault("paused after restating"):
                self.world.sleep(3.0)

        streams: list[relay.Stream] = [Facts(relay_store), Quarantine(relay_store)]
        streams += view_topics.begun(relay_store, [TOLD], restate)
        with self._publisher(actor) as publisher:
            feed_writer = SimFeedWriter(self.broker, publisher)
            relay.publish(
                relay_store,
                feed_writer,
                streams,
                stop=lambda: self._lead_lost(session),
                clock=self.world.clock,
            )

    def _lead_lost(self, session: Session) -> bool:
        """The server ends the leader's connection, and another may lead before it knows."""
        if self.world.fault("lead lost"):
            session.end()
        return False

    def _contradicted(self, says: str) -> None:
        """An operator deletes topics that contradict the record."""
        self.refused += 1
        kinds = {kind for kind, _ in self.broker.lies}
        known = any(topic == topics.FACTS for topic, _ in self.database.kept["ends"])
        if known and kinds == {"stray"} and not self.broker.rewound:
            raise Broken("a stray stops nobody", says)
        self.broker.delete(topics.FACTS)
        self.broker.delete(topics.QUARANTINE)

    def _stranger(self, actor: Actor) -> None:
        """Somebody else who may write to the topic, as nobody should."""
        while True:
            self.world.sleep(2.0)
            if self.database.rows and self.world.fault("stranger wrote"):
                row = self.world.chance.choice(self.database.rows)
                log = self.log_of(row.tape)
                if self.world.chance.random() < 0.5:  # from a program that knows nothing of facts
                    self.broker.store(log, 0, None, [ProducerRecord(b"?", b"?", [])])
                    self.broker.lies.append(("stray", row.position))
                    continue
                forged = row._replace(data=b'{"n":999}')
                forged = forged._replace(hash=chain_hash(GENESIS, forged))
                self.broker.store(log, 0, None, [of_row(forged, GENESIS)])
                # The first fact of a tape could be one that the record lost.
                kind = "stranger" if row.table_seq == 1 else "stray"
                self.broker.lies.append((kind, row.position))

    def log_of(self, tape: str) -> Log:
        logs = self.broker.logs[topics.FACTS]
        return logs[partition_of(tape.encode(), len(logs))]

    def _bend(self, log: Log, sent: list[Consumed]) -> list[Consumed | None]:
        """What becomes of records on their way into the facts' topic."""
        told: list[Consumed | None] = []
        if log.topic != topics.FACTS:
            return [*sent]
        for each in sent:
            position = number_of(each)
            if self.world.fault("record dropped"):
                told.append(None)
                self.broker.lies.append(("dropped", position))
            elif self.world.fault("record doubled"):
                told += [each, each]
                self.broker.lies.append(("doubled", position))
            elif self.world.fault("record edited"):
                told.append(each._replace(value=(each.value or b"") + b" "))
                self.broker.lies.append(("edited", position))
            elif self.world.fault("record cut"):
                told.append(each._replace(headers=each.headers[:3]))
                self.broker.lies.append(("cut", position))
            else:
                told.append(each)
        if len(told) > 1 and self.world.fault("records swapped"):
            told[-1], told[-2] = told[-2], told[-1]
            self.broker.lies += [("swapped", number_of(each)) for each in told[-2:] if each]
        return told

    # -- views

    @contextmanager
    def _source(self, actor: Actor, views: Sequence[str]) -> Iterator[Watched]:
        relay_store = SimRelayStore(self.database.session(actor))
        starts = self.database.places(topics.FACTS, views) if views else {}
        partitions = SimPartitions(self.broker, topics.FACTS)
        source = Watched(partitions, relay_store, starts, Figures(), self.world.clock)
        source.partitions = partitions
        source.watch = self.watch
        source.whole = set()
        yield source

    def _consumer(self, actor: Actor) -> None:
        book = SimViewStore(self.database.session(actor), LIVE)
        manner = RunnerOptions(batch_rows=self.world.plan.batch_rows, parks=True)
        if self.world.plan.from_tape and actor.name == f"views {self.world.plan.consumers - 1}":
            rows = _Tape(SimRelayStore(self.database.session(actor)), self.world)
            follow(book, rows, VIEWS, stop=lambda: False, options=manner)
            return
        with self._source(actor, NAMES) as source:
            follow(book, source, VIEWS, stop=lambda: False, options=manner)

    def _rebuild(self, actor: Actor) -> None:
        manner = RunnerOptions(batch_rows=self.world.plan.batch_rows, parks=True)
        while True:
            self.world.sleep(self.world.chance.uniform(1.0, 6.0))
            if not self.world.fault("rebuild"):
                continue
            session = self.database.session(actor)
            view = self.world.chance.choice(VIEWS)
            if self.world.chance.random() < 0.6:
                rows = _Tape(SimRelayStore(session), self.world)
                rebuild_in(
                    SimViewStore(session, SHADOW_SCHEMA), rows, view, lambda: False, manner,
                    pause=self.world.sleep,
                )  # fmt: skip
                continue
            with self._source(actor, []) as source:
                rebuild_in(
                    SimViewStore(session, SHADOW_SCHEMA), source, view, lambda: False, manner,
                    pause=self.world.sleep,
                )  # fmt: skip


class _Tape:
    """The tape as a source."""

    def __init__(self, relay_store: SimRelayStore, world: World) -> None:
        self._relay_store = relay_store
        self._world = world

    def read(self, after: int, limit: int) -> list[TapeRow]:
        return self._relay_store.rows(after, limit)

    def wait(self, after: int, timeout_s: float) -> None:
        self._world.sleep(timeout_s)
