"""Alerts in PostgreSQL: each raised once, with a delivery receipt for each channel.

Several processes may deliver; each claims a delivery before it tries (ADR 0143). A receipt with a
try but without an answer is being delivered now, or the process that claimed it was killed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from infra.postgres.connection import translated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import AnyConnection, Database

CLAIM_S = 15.0
"""How long a claim lasts if its process stores no answer, seconds."""

_NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"


class Due(NamedTuple):
    """An alert that a channel has not taken yet."""

    alert_id: str
    body: str
    channel: str
    tries: int


class DeliveryReceipt(NamedTuple):
    """The state of an alert's delivery to a channel."""

    alert_id: str
    channel: str
    tries: int
    delivered_at_us: int | None
    answer: str


class Device(NamedTuple):
    """A device that recently sent facts of a place."""

    tape: str
    source: str
    last_us: int  # when its last fact was received, by the ledger's clock


class Said(NamedTuple):
    """A fact of a requested type."""

    tape: str
    type: str
    data: bytes
    time_us: int  # when it happened, by its device's clock
    received_us: int  # when it was received, by the ledger's clock


class Replayed(NamedTuple):
    """When and by which user a dead letter was handled."""

    at_us: int  # by the database, microseconds
    by: str  # a credential, or os:<login>; empty if an earlier version did it


class Alerts:
    """Alerts on one connection. Every method raises `Unavailable` if it is lost."""

    def __init__(self, database: Database, connection: AnyConnection) -> None:
        self._database = database
        self._connection = connection

    def raise_(self, alert_id: str, kind: str, body: str, channels: Sequence[str]) -> bool:
        """Store an alert, due on these channels; False if it was raised before."""
        with translated(self._database), self._connection.transaction():
            kept = self._connection.execute(
                f"INSERT INTO views.alerts (raised_at_us, alert_id, kind, body)"  # noqa: S608 - values are parameters
                f" VALUES ({_NOW}, %s, %s, %s) ON CONFLICT DO NOTHING".encode(),
                (alert_id, kind, body),
            )
            if kept.rowcount == 0:
                return False
            for channel in channels:
                self._connection.execute(
                    b"INSERT INTO views.alert_receipts VALUES (NULL, 0, 0, %s, %s, '')",
                    (alert_id, channel),
                )
        return True

    def due(self, channel: str, pause_s: Sequence[int], limit: int) -> list[Due]:
        """Undelivered alerts of a channel that are due, oldest first.

        An alert is due `pause_s` after its last try, by the number of tries. A claim without an
        answer ends after `CLAIM_S`.
        """
        with translated(self._database):
            rows = self._connection.execute(
                f"SELECT r.alert_id, a.body, r.channel, r.tries FROM views.alert_receipts r"  # noqa: S608 - values are parameters
                f" JOIN views.alerts a USING (alert_id)"
                f" WHERE r.channel = %(channel)s AND r.delivered_at_us IS NULL"
                f" AND r.tried_at_us <= {_NOW} - 1000000 *"
                f" CASE WHEN r.tries > 0 AND r.answer = '' THEN %(claim)s ELSE"
                f" (%(pauses)s::bigint[])[least(r.tries + 1, cardinality(%(pauses)s::bigint[]))]"
                f" END ORDER BY a.raised_at_us, r.alert_id LIMIT %(limit)s".encode(),
                {
                    "channel": channel,
                    "pauses": list(pause_s),
                    "limit": limit,
                    "claim": CLAIM_S,
                },
            )
            return [Due._make(row) for row in rows.fetchall()]

    def claim(self, due: Due) -> bool:
        """Claim a delivery for this process; False if another process has claimed or made it."""
        with translated(self._database):
            claimed = self._connection.execute(
                f"UPDATE views.alert_receipts SET tries = tries + 1, tried_at_us = {_NOW},"  # noqa: S608 - values are parameters
                f" answer = '' WHERE alert_id = %s AND channel = %s AND tries = %s"
                f" AND delivered_at_us IS NULL".encode(),
                (due.alert_id, due.channel, due.tries),
            )
            return claimed.rowcount == 1

    def tried(self, due: Due, answer: str, *, delivered: bool) -> None:
        """Store the answer of a channel to a claimed delivery.

        A failure is not stored if another process has claimed the delivery since.
        """
        with translated(self._database):
            self._connection.execute(
                f"UPDATE views.alert_receipts SET tried_at_us = {_NOW},"  # noqa: S608 - values are parameters
                f" delivered_at_us = CASE WHEN %s THEN {_NOW} END, answer = %s"
                f" WHERE alert_id = %s AND channel = %s"
                f" AND (%s OR tries = %s) AND delivered_at_us IS NULL".encode(),
                (delivered, answer[:500], due.alert_id, due.channel, delivered, due.tries + 1),
            )

    def newest(self, limit: int) -> list[tuple[int, str]]:
        """The newest alerts: when each was raised (database clock, microseconds), and its body."""
        with translated(self._database):
            rows = self._connection.execute(
                "SELECT raised_at_us, body FROM views.alerts"
                " ORDER BY raised_at_us DESC, alert_id LIMIT %s",
                (limit,),
            )
            return rows.fetchall()

    def receipts(self) -> list[DeliveryReceipt]:
        """The receipts of every alert, in the order the alerts were raised."""
        with translated(self._database):
            rows = self._connection.execute(
                "SELECT r.alert_id, r.channel, r.tries, r.delivered_at_us, r.answer"
                " FROM views.alert_receipts r JOIN views.alerts a USING (alert_id)"
                " ORDER BY a.raised_at_us, r.alert_id, r.channel"
            )
            return [DeliveryReceipt._make(row) for row in rows.fetchall()]

    def received_us(self, position: int) -> int | None:
        """When the fact at a position was received; None if there is none."""
        return self._received_us("notification_id = %s", position)

    def received_us_of(self, source: str, id_: str) -> int | None:
        """When the fact of a source and id was received; None if it is not in the record."""
        return self._received_us(
            "notification_id = (SELECT e.position FROM ledger.identity e"
            " WHERE e.source = %s AND e.fact_id = %s)",
            source,
            id_,
        )

    def _received_us(self, which: str, *parameters: object) -> int | None:
        with translated(self._database):
            rows = self._connection.execute(
                f"SELECT received_at_us FROM ledger.tape WHERE {which}".encode(),  # noqa: S608 - values are parameters
                parameters,
            )
            row = rows.fetchone()
            return row[0] if row else None

    def position_before(self, time_us: int) -> int:
        """The newest position received before a time, approximately; 0 if there is none."""
        with translated(self._database):
            rows = self._connection.execute(
                "WITH RECURSIVE search (low, high) AS ("
                " SELECT 0::bigint, r.position FROM ledger.record r"
                " UNION ALL"
                " SELECT CASE WHEN t.received_at_us < %(us)s THEN t.notification_id ELSE s.low END,"
                "  CASE WHEN t.received_at_us < %(us)s THEN s.high ELSE t.notification_id - 1 END"
                "  FROM search s JOIN ledger.tape t ON t.notification_id = (s.low + s.high + 1) / 2"
                "  WHERE s.low < s.high)"
                " SELECT max(low) FROM search",
                {"us": time_us},
            )
            row = rows.fetchone()
            return int(row[0]) if row else 0

    def heard(self, after: int) -> tuple[int, list[Device]]:
        """The highest position, and the devices of the facts above `after`."""
        with translated(self._database):
            rows = self._connection.execute(
                "SELECT originator_id, source, max(received_at_us), max(notification_id)"
                " FROM ledger.tape WHERE notification_id > %s GROUP BY 1, 2",
                (after,),
            ).fetchall()
            reached = max([after, *(position for *_, position in rows)])
            return reached, [Device(*device) for *device, _ in rows]

    def told(self, after: int, types: Sequence[str]) -> tuple[int, list[Said]]:
        """The highest position, and the facts of these types above `after`, in order."""
        with translated(self._database):
            rows = self._connection.execute(
                "SELECT r.position, t.originator_id, t.topic, t.state, t.time_us, t.received_at_us"
                " FROM ledger.record r LEFT JOIN ledger.tape t ON t.notification_id > %s"
                " AND t.notification_id <= r.position AND t.topic = ANY(%s)"
                " ORDER BY t.notification_id",
                (after, list(types)),
            ).fetchall()
            reached = next((position for position, *_ in rows), after)
            return reached, [Said(*said) for _, *said in rows if said[0]]

    def newest_of(self, tapes: Sequence[str]) -> list[Device]:
        """The device of the newest fact of each of these tapes."""
        with translated(self._database):
            rows = self._connection.execute(
                "SELECT h.tape, t.source, t.received_at_us FROM ledger.heads h"
                " JOIN ledger.tape t ON t.notification_id = h.position WHERE h.tape = ANY(%s)",
                (list(tapes),),
            )
            return [Device._make(row) for row in rows.fetchall()]

    def replayed(self, topic: str) -> dict[tuple[int, int], Replayed]:
        """Handled dead letters of a topic, by partition and offset."""
        with translated(self._database):
            rows = self._connection.execute(
                "SELECT part, record_offset, replayed_at_us, replayed_by"
                " FROM views.dead_replayed WHERE topic = %s",
                (topic,),
            )
            return {(part, offset): Replayed(*by) for part, offset, *by in rows.fetchall()}

    def note_replayed(self, topic: str, partition: int, offset: int, by: str) -> None:
        """Store that a dead letter was handled by a user; the first user stays stored."""
        with translated(self._database):
            self._connection.execute(
                f"INSERT INTO views.dead_replayed VALUES (%s, {_NOW}, %s, %s, %s)"  # noqa: S608 - values are parameters
                " ON CONFLICT DO NOTHING".encode(),
                (offset, partition, topic, by),
            )
