"""Wrong designs of the record and the relay, put in the place of the right ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import consumers.relay.relay as relaying
from consumers.relay import view_topics
from consumers.relay.check import _Check
from infra.kafka import publisher
from infra.kafka.ports import PartitionEnd
from infra.kafka.publisher import Publisher
from tests.simulation.broker import number_of
from tests.simulation.database import SimTape, _receipt

if TYPE_CHECKING:
    import pytest


def tracking_moved_first(patch: pytest.MonkeyPatch) -> None:
    publish = Publisher.publish
    held: dict[int, Any] = {}

    def later(self: Publisher, *window: Any) -> None:
        if id(self._producer) in held:
            publish(self, *held.pop(id(self._producer)))
        held[id(self._producer)] = window

    patch.setattr(Publisher, "publish", later)
    no_look_at_the_end(patch)


def acknowledgements_not_awaited(patch: pytest.MonkeyPatch) -> None:
    """Flushes for a moment, asks no future, and looks at no end."""

    def publish(self: Publisher, topic: str, partitions: int, records: Any) -> None:
        for record in records:
            self._send(topic, partitions, record)
        self._producer._pump()

    patch.setattr(Publisher, "publish", publish)
    no_look_at_the_end(patch)


def no_look_at_the_end(patch: pytest.MonkeyPatch) -> None:
    def resumed(feed_writer: Any, relay_store: Any, stream: Any) -> int:
        feed_writer.end_offsets(stream.topic)
        return int(relay_store.tracked(stream.topic))

    patch.setattr(relaying, "_resumed", resumed)


def window_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Goes on after the newest record that any partition holds."""

    def resumed(feed_writer: Any, relay_store: Any, stream: Any) -> int:
        ends = [
            number_of(tail.last)
            for tail in feed_writer.end_offsets(stream.topic).values()
            if tail.last
        ]
        tracked = int(relay_store.tracked(stream.topic))
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


def nothing_seen_is_expired(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        PartitionEnd, "expired", property(lambda self: not self.last and self.bounds.end > 0)
    )


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
