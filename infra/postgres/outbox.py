"""Messages that views leave for the relay, in the transaction that moves the view.

A view speaks only once a relay has asked for its topic: where nobody publishes, nothing piles up.
What the messages say is the views' business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import AnyConnection

KEPT_S = 7 * 86_400
"""How long a message is kept once it is acknowledged, in case brokers lose their end, seconds.

What a topic loses beyond that is said anew from the views.
"""

FORGOTTEN_MAX = 10_000
"""Messages removed by one statement."""


class Message(NamedTuple):
    """What a view says."""

    topic: str
    key: str
    body: str | None  # JSON; None: the view has no row for this key any more


class QueuedMessage(NamedTuple):
    """A message as it waits to be published, and after."""

    number: int
    position: int  # how far the view had read
    made_at_us: int
    key: str
    body: str | None


def stop_publishing(connection: AnyConnection, topics: Sequence[str]) -> None:
    """Have views say nothing on these topics any more, as before a relay first asked for them.

    The caller holds the views, so that nobody who has seen that it was asked for writes meanwhile.
    """
    connection.execute("DELETE FROM views.relayed WHERE topic = ANY(%s)", (list(topics),))


def remove(connection: AnyConnection, topic: str, limit: int) -> int:
    """Remove the first messages of a topic, acknowledged or not; how many there were."""
    gone = connection.execute(
        "DELETE FROM views.outbox WHERE topic = %s AND number IN (SELECT number FROM views.outbox"
        " WHERE topic = %s ORDER BY number LIMIT %s)",
        (topic, topic, limit),
    )
    return gone.rowcount


def after(
    connection: AnyConnection, topic: str, number: int, limit: int, octets: int
) -> list[QueuedMessage]:
    """Messages of a topic above a number, in order: of these the first that say `octets` together.

    One at least, however long; the server counts, and sends no more than that.
    """
    rows = connection.execute(
        "SELECT number, position, made_at_us, key, body FROM ("
        "SELECT n.*, sum(coalesce(octet_length(body), 0)) OVER before AS until,"
        " row_number() OVER before AS nth"
        " FROM (SELECT * FROM views.outbox WHERE topic = %s AND number > %s"
        "  ORDER BY number LIMIT %s) n WINDOW before AS (ORDER BY number)"
        ") o WHERE until <= %s OR nth = 1 ORDER BY number",
        (topic, number, limit, octets),
    )
    return [QueuedMessage._make(row) for row in rows.fetchall()]


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
    """Remove what was acknowledged and is older than `KEPT_S`; how many messages.

    At most `FORGOTTEN_MAX`: after a long outage all there is may be as old, and one statement has
    its time only. As many as that: there may be more.
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
