"""The relay's streams of what views say themselves: messages of the outbox, in order of number."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from consumers import speaking
from infra.kafka import records, topics
from infra.kafka.publisher import WINDOW_OCTETS, WINDOW_RECORDS, Window
from infra.kafka.records import OUTBOX, Record, partition_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consumers.batches import Projection
    from infra.kafka.clients import Connection
    from infra.kafka.reading import Tail
    from infra.postgres import Database
    from infra.relaying import Desk

FORGET_S = 3_600.0
"""How often messages that were acknowledged long ago are removed, seconds."""

LOG = logging.getLogger("round_ledger.relay")


class Outbox:
    """One topic that a view speaks on."""

    def __init__(self, desk: Desk, topic: str) -> None:
        self.topic = topic
        self._desk = desk
        self._forgot_at = 0.0

    def window(self, after: int) -> Window | None:
        """The next messages, as many as may be under way, and the last one's number."""
        sent: list[Record] = []
        octets = 0
        end = after
        for kept in self._desk.outbox(self.topic, after, WINDOW_RECORDS):
            record = records.of_message(self.topic, kept)
            octets += record.octets
            if sent and octets > WINDOW_OCTETS:
                break
            sent.append(record)
            end = kept.number
        if sent:
            return Window(sent, end)
        if time.monotonic() - self._forgot_at > FORGET_S:
            self._desk.forget(self.topic, after)
            self._forgot_at = time.monotonic()
        return None

    def resume(self, tracked: int, found: dict[int, Tail]) -> int:
        """Where a partition lacks what was acknowledged and is still kept: before that."""
        reached = {
            number: int(dict(tail.last.headers).get(OUTBOX, b"0")) if tail.last else 0
            for number, tail in found.items()
            if not tail.expired
        }
        at = min([tracked, *reached.values()])
        while at < tracked and (kept := self._desk.outbox(self.topic, at, WINDOW_RECORDS)):
            for each in kept:
                number = partition_of(each.key.encode(), len(found))
                if each.number <= tracked and each.number > reached.get(number, tracked):
                    return each.number - 1
            at = kept[-1].number
        return tracked


def streams(
    base: Database, where: Connection, desk: Desk, projections: Sequence[Projection]
) -> list[Outbox]:
    """A stream for each topic that views speak on, where it is there; told where one is not.

    A topic published for the first time is asked for, and begins with all that its views hold.
    """
    wanted = speaking.topics_of(projections)
    if not wanted:
        return []
    differences = topics.differences(where, [topics.topic(name) for name in wanted])
    lacking = {each.topic for each in differences if each.what == "topic"}
    for name in sorted(lacking):
        says = "a topic of the views is not there; see `round-ledger topics apply`"
        LOG.warning(says, extra={"figures": {"topic": name}})
    there = [name for name in wanted if name not in lacking]
    new = [name for name in there if not desk.is_known(name)]
    for name in new:
        desk.move(name, 0, 0)  # from here on views speak
    if new:
        speaking.restate(base, new, projections)
    return [Outbox(desk, name) for name in there]
