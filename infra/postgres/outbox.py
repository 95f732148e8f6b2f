"""The outbox: messages that views enqueue for the relay, in the transaction that moves the view.

A view enqueues messages only once a relay has requested its topic. So an installation without a
relay has an empty outbox.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from infra.postgres.connection import AnyConnection

KEPT_S = 7 * 86_400
"""How long an acknowledged message is kept in case a topic loses its end, seconds.

If a topic loses older messages, the views enqueue all they hold again.
"""

FORGOTTEN_MAX = 10_000
"""The most messages that one statement deletes."""


NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})


class Message(NamedTuple):
    """A message of a view."""

    topic: str
    key: str
    body: str | None  # JSON; None: the view has no row for this key, so a tombstone is published
    attributes: Mapping[str, str] = NO_ATTRIBUTES  # of its own, beside those of every record


class QueuedMessage(NamedTuple):
    """A message in the outbox, published or not."""

    number: int
    position: int  # the view's checkpoint when it was enqueued
    made_at_us: int
    key: str
    body: str | None
    attributes: Mapping[str, str] = NO_ATTRIBUTES


def stop_publishing(connection: AnyConnection, topics: Sequence[str]) -> None:
    """Stop views from enqueueing messages for these topics, until a relay requests them again.

    The caller has locked the views, so that no writer that saw the request is still writing.
    """
    connection.execute("DELETE FROM views.relayed WHERE topic = ANY(%s)", (list(topics),))


def remove(connection: AnyConnection, topic: str, limit: int) -> int:
    """Delete the first messages of a topic, acknowledged or not; returns how many."""
    gone = connection.execute(
        "DELETE FROM views.outbox WHERE topic = %s AND number IN (SELECT number FROM views.outbox"
        " WHERE topic = %s ORDER BY number LIMIT %s)",
        (topic, topic, limit),
    )
    return gone.rowcount


def after(
    connection: AnyConnection, topic: str, number: int, limit: int, octets: int
) -> list[QueuedMessage]:
    """Messages of a topic above a number, in order: the first with `octets` bytes in total.

    At least one, however long. The server counts the bytes, so it sends only these.
    """
    rows = connection.execute(
        "SELECT number, position, made_at_us, key, body, attributes FROM ("
        "SELECT n.*, sum(coalesce(octet_length(body), 0)) OVER before AS until,"
        " row_number() OVER before AS nth"
        " FROM (SELECT * FROM views.outbox WHERE topic = %s AND number > %s"
        "  ORDER BY number LIMIT %s) n WINDOW before AS (ORDER BY number)"
        ") o WHERE until <= %s OR nth = 1 ORDER BY number",
        (topic, number, limit, octets),
    )
    return [QueuedMessage._make((*told, own or NO_ATTRIBUTES)) for *told, own in rows.fetchall()]


def keys_after(
    connection: AnyConnection, topic: str, number: int, limit: int
) -> list[tuple[int, str]]:
    """Number and key of messages of a topic above a number, in order; no body is read."""
    rows = connection.execute(
        "SELECT number, key FROM views.outbox WHERE topic = %s AND number > %s"
        " ORDER BY number LIMIT %s",
        (topic, number, limit),
    )
    return rows.fetchall()


def prune(connection: AnyConnection, topic: str, acknowledged: int) -> int:
    """Delete acknowledged messages older than `KEPT_S`; returns how many.

    It deletes at most `FORGOTTEN_MAX`, since the time of a statement is limited and after a long
    outage all messages may be old. If it returns that many, there may be more.
    """
    gone = connection.execute(
        "DELETE FROM views.outbox WHERE topic = %(topic)s AND number IN ("
        " SELECT number FROM views.outbox WHERE topic = %(topic)s AND number <= %(until)s"
        " AND made_at_us <"
        " (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - %(kept_s)s::bigint * 1000000"
        " ORDER BY number LIMIT %(most)s)",
        {"topic": topic, "until": acknowledged, "kept_s": KEPT_S, "most": FORGOTTEN_MAX},
    )
    return gone.rowcount
