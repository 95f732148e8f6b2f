"""Wrong designs of the record and the relay, put in the place of the right ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import consumers.relay.relay as relaying
from consumers.relay import topic_end, view_topics
from consumers.relay.check import _Check
from consumers.relay.streams import Facts
from infra.kafka import publisher, topics
from infra.kafka.publisher import Publisher
from tests.simulation import floor
from tests.simulation.broker import number_of
from tests.simulation.database import SimTape, _receipt

if TYPE_CHECKING:
    import pytest


def tracking_moved_first(patch: pytest.MonkeyPatch) -> None:
    publish = Publisher.publish
    held: dict[int, Any] = {}

    def later(self: Publisher, *window: Any) -> Any:
        if id(self._producer) in held:
            publish(self, *held.pop(id(self._producer)))
        held[id(self._producer)] = window
        return []

    patch.setattr(Publisher, "publish", later)
    no_look_at_the_end(patch)


def acknowledgements_not_awaited(patch: pytest.MonkeyPatch) -> None:
    """Flushes for a moment, asks no future, and looks at no end."""

    def publish(self: Publisher, topic: str, partitions: int, records: Any) -> Any:
        for record in records:
            self._send(topic, partitions, record)
        self._producer._pump()
        return []

    patch.setattr(Publisher, "publish", publish)
    no_look_at_the_end(patch)


def no_look_at_the_end(patch: pytest.MonkeyPatch) -> None:
    def resumed(feed_writer: Any, relay_store: Any, stream: Any, stop: Any) -> int:
        with feed_writer.opened(stream.topic):
            pass
        return int(relay_store.tracked(stream.topic))

    patch.setattr(relaying, "_resumed", resumed)


def window_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Goes on after the newest record that any partition holds."""

    def resumed(feed_writer: Any, relay_store: Any, stream: Any, stop: Any) -> int:
        tracked = int(relay_store.tracked(stream.topic))
        with feed_writer.opened(stream.topic) as source:
            spans = source.bounds()
            ends = [number_of(each) for batch in source.read(spans) for each in batch]
        position = max([tracked, *ends])
        if position > tracked:
            relay_store.move(stream.topic, tracked, position)
        return position

    patch.setattr(relaying, "_resumed", resumed)


def options(patch: pytest.MonkeyPatch, **given: Any) -> None:
    before = publisher.options
    patch.setattr(publisher, "options", lambda deadline_s: before(deadline_s) | given)


def five_requests_at_once(patch: pytest.MonkeyPatch) -> None:
    options(patch, max_in_flight_requests_per_connection=5)


def retries_without_idempotence(patch: pytest.MonkeyPatch) -> None:
    options(patch, enable_idempotence=False, max_in_flight_requests_per_connection=5)


def one_broker_is_enough(patch: pytest.MonkeyPatch) -> None:
    options(patch, acks=1)


def copies_are_own(patch: pytest.MonkeyPatch) -> None:
    """What was published again on demand is taken for the end."""
    judged = Facts.judge

    def judge(self: Facts, batch: Any) -> Any:
        return [e._replace(kind="own") if e.kind == "copy" else e for e in judged(self, batch)]

    patch.setattr(Facts, "judge", judge)


def copies_move_the_mark(patch: pytest.MonkeyPatch) -> None:
    """A republishing process keeps its copies as the last acknowledged records."""

    def republish(relay_store: Any, publish: Any, first: int, last: int) -> None:
        given, at = Facts(relay_store, republished=True), first - 1
        while window := given.window(at, last):
            marks = topic_end.marks_of(window.records, publish(window)) or {}
            for number, mark in marks.items():
                relay_store._session.put("ends", (topics.FACTS, number), mark)
            at = window.end

    patch.setattr(floor, "republish_in", republish)


def marks_kept_before_tracking(patch: pytest.MonkeyPatch) -> None:
    """The marks of a topic that lost its end hide that from the next relay after a crash."""
    compared = relaying._compared

    def early(*given: Any) -> Any:
        position, keep = compared(*given)
        keep()
        given[1]._session.do("between")
        return position, lambda: None

    patch.setattr(relaying, "_compared", early)


def strays_are_contradictions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Facts, "follows", lambda *_: True)


def position_outside_the_lock(patch: pytest.MonkeyPatch) -> None:
    """A number is taken, and the row is seen later; another's may be seen before it."""
    row = SimTape.row

    def late(self: SimTape, fact: Any) -> Any:
        database = self._session.database
        made = row(self, fact)
        database.rows.remove(made)
        self._session.do("number taken")
        database.rows.append(made)
        database.rows.sort()
        return made

    patch.setattr(SimTape, "row", late)


def kept_again_after_a_lost_answer(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SimTape, "_keep", lambda self, fact: _receipt("appended", self.row(fact)))


def message_made_anew(patch: pytest.MonkeyPatch) -> None:
    made = view_topics.records.of_message
    times = iter(range(10**9))

    def with_a_time(topic: str, kept: Any) -> Any:
        return made(topic, kept._replace(made_at_us=next(times)))

    patch.setattr(view_topics.records, "of_message", with_a_time)


def what_stood_is_forgotten_by_whoever_dies(patch: pytest.MonkeyPatch) -> None:
    def begun(relay_store: Any, there: Any, restate: Any) -> Any:
        new = [name for name in there if not relay_store.is_known(name)]
        for name in new:
            relay_store.move(name, 0, 0)
        if new:
            restate(new)
        return [view_topics.Outbox(relay_store, name, restate) for name in there]

    patch.setattr(view_topics, "begun", begun)


def asked_for_after_restating(patch: pytest.MonkeyPatch) -> None:
    def begun(relay_store: Any, there: Any, restate: Any) -> Any:
        new = [name for name in there if not relay_store.is_known(name)]
        if new:
            restate(new)
        for name in new:
            relay_store.move(name, 0, 0)
        return [view_topics.Outbox(relay_store, name, restate) for name in there]

    patch.setattr(view_topics, "begun", begun)


def verify_without_ends(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(_Check, "_end_of", lambda *_, **__: None)
