"""The alert process: a member of a consumer group, with a regular check of the current state.

While Kafka is away the checks go on, and alerts go to the channels that need no Kafka (ADR 0167).

An unreadable record goes to the dead-letter topic at once; one that fails otherwise goes there
after its retries. Offsets are committed in small steps, so that a flood of such records does not
stall the group. An alert is stored before it is delivered. Each channel is retried until it takes
the alert (ADR 0077).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from consumers.alerts import conditions
from consumers.alerts.alert import Alert
from consumers.alerts.conditions import READS
from consumers.alerts.rulings import OnRecord
from consumers.alerts.snapshot_reader import SnapshotReader
from consumers.alerts.webhook import webhook
from infra.kafka import topics
from infra.kafka.consumer_group import Read, member
from infra.kafka.dead_letters import identity, send_to_dead_letters
from infra.kafka.publisher import Publisher
from infra.kafka.records import of_message
from infra.postgres.alerts import Alerts, Due
from infra.postgres.outbox import QueuedMessage
from infra.postgres.tape import PostgresTape
from ledger.errors import LedgerError, Unavailable
from ledger.values import quantity

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from infra.kafka.clients import Connection
    from infra.kafka.consumer_group import Member
    from infra.kafka.dead_letters import Dead
    from infra.postgres.connection import Database
    from infra.settings import Settings

GROUP = "round-ledger.alerts"
ON_TOPIC = "topic"
TOPIC, DEAD = "ledger.alerts.v1", "ledger.alerts-dlq.v1"

TRIES = 3
"""Attempts to handle a record before it becomes a dead letter; 1 if it is unreadable."""

PAUSE_S = 0.2
"""The pause before the first retry, seconds; it doubles each time."""

STEP_S = 1.0
"""How long records are handled between two commits, seconds."""

LOOK_S = 15.0
"""How often the current state is checked, seconds."""

STALLED_S = 120.0
"""How long polls may return nothing despite a lag, or a group no partition, seconds."""

AGAIN_S = 10.0
"""The pause before Kafka is tried again after a failure, seconds."""

TAKEN_S_MAX = 10.0
"""How long brokers may take to acknowledge an alert or a dead letter, seconds."""

CHANNEL_PAUSES_S = (0, 1, 5, 30, 120, 600)
"""Pauses between deliveries to a channel, seconds; the last one repeats."""

CHANNEL_S_MAX = 5.0
"""How long one round may spend on a channel, seconds, so that one cannot block the others."""

_DUE_AT_ONCE = 200
_POLL_S = 0.5

LOG = logging.getLogger("round_ledger.alerts")

Channel = Callable[[Due], str]
"""Delivers an alert and returns the answer. Raises LedgerError or OSError if it fails."""


@dataclass
class Tally:
    """Counts of one alert process."""

    read: int = 0
    raised: int = 0
    delivered: int = 0
    failed: int = 0  # failed deliveries
    dead: int = 0
    too_old: int = 0  # alerts not raised because of `alert_age_s`
    lag: int = 0  # records not read yet, at the last check
    letters: int = 0  # dead letters not handled yet, at the last check
    answered_at: float | None = None  # as `infra.kafka.consumer_group.Member`


class AlertService:
    """Raises, stores and delivers alerts."""

    def __init__(
        self,
        database: Database,
        kept: Alerts,
        channels: Mapping[str, Channel | None],
        settings: Settings,
    ) -> None:
        """channels: None for one that is away; its alerts wait."""
        self.database = database
        self.kept = kept
        self.settings = settings
        self.tally = Tally()
        self._channels = dict(channels)
        self._looked_at = float("-inf")
        self._rulings = OnRecord(database, kept)
        self._snapshots = SnapshotReader(database, settings)
        self._told_old = 0

    def handle(self, read: Read) -> None:
        """Raise the alerts of a record. Raises ValueError if the record is not valid."""
        found = conditions.of_record(read, self.settings, self._rulings)
        young = conditions.young(found, time.time_ns() // 1000, self.settings)
        self.tally.too_old += len(found) - len(young)
        for each in young:
            self.raise_(each)

    def look(self) -> None:
        """Raise the alerts of the current state, and log the number of alerts that were too old."""
        if self.tally.too_old > self._told_old:
            figures = {"count": self.tally.too_old - self._told_old, "ever": self.tally.too_old}
            LOG.warning("alerts were not raised: too old", extra={"figures": figures})
            self._told_old = self.tally.too_old
        now_us = time.time_ns() // 1000
        with PostgresTape(self.database) as tape:
            state = self._snapshots.read(self.kept, tape, now_us)
        for each in conditions.of_state(state._replace(dead_letters={DEAD: self.tally.letters})):
            self.raise_(each.alert)
        self._looked_at = time.monotonic()

    def look_due(self) -> bool:
        """Whether the current state was last checked over `LOOK_S` seconds ago."""
        return time.monotonic() - self._looked_at > LOOK_S

    @contextmanager
    def publishing(self, publisher: Publisher) -> Iterator[None]:
        """Deliver to the topic of alerts as well, until the block is left."""
        self._channels[ON_TOPIC] = _to_topic(publisher)
        try:
            yield
        finally:
            self._channels[ON_TOPIC] = None

    def raise_(self, alert: Alert) -> None:
        """Store an alert for delivery, unless it was raised before."""
        body = msgspec.json.encode(alert).decode()
        if self.kept.raise_(alert.id, alert.kind, body, list(self._channels)):
            self.tally.raised += 1

    def deliver(self) -> None:
        """Deliver due alerts to every channel, and store each answer as a receipt.

        Raises `Unavailable` if publishing an alert failed: its producer is not used again.
        """
        for name, channel in self._channels.items():
            if channel is None:
                continue
            until = time.monotonic() + CHANNEL_S_MAX
            for due in self.kept.due(name, CHANNEL_PAUSES_S, _DUE_AT_ONCE):
                self._try(due, channel)
                if time.monotonic() > until:
                    break  # the rest is still due in the next round

    def _try(self, due: Due, channel: Channel) -> None:
        if not self.kept.claim(due):
            return  # another member of the group delivers it
        try:
            answer = channel(due)
        except (LedgerError, OSError) as error:
            self.tally.failed += 1
            self.kept.tried(due, f"{type(error).__name__}: {error}", delivered=False)
            figures = {"alert": due.alert_id, "channel": due.channel, "tries": due.tries + 1}
            LOG.warning("an alert was not delivered", extra={"figures": figures})
            if isinstance(error, Unavailable):
                raise
        else:
            self.tally.delivered += 1
            self.kept.tried(due, answer, delivered=True)


def run(
    database: Database,
    kafka: Connection,
    settings: Settings,
    *,
    stop: Callable[[], bool],
    follow: bool,
    tally: Callable[[Tally], None] = lambda _: None,
) -> Tally:
    """Raise and deliver alerts until `stop`; without `follow`, until all records were read.

    With `follow` it waits for a Kafka that is away. Raises `Unavailable` for PostgreSQL, and
    without `follow` for Kafka: start it again, no alert is raised twice.
    """
    with _service(database, settings) as service:
        tally(service.tally)
        while not stop():
            try:
                _read_feed(service, kafka, stop, follow=follow)
            except Unavailable as error:
                if not follow:
                    raise
                _without_feed(service, error, stop)
            else:
                break
        return service.tally


def _read_feed(
    service: AlertService, kafka: Connection, stop: Callable[[], bool], *, follow: bool
) -> None:
    """Raise and deliver alerts with the feed, as `run`. Raises `Unavailable` for Kafka, too."""
    for name in (*READS, TOPIC, DEAD):
        topics.require(kafka, name)
    with (
        Publisher(kafka, deadline_s=TAKEN_S_MAX) as publisher,
        service.publishing(publisher),
        member(kafka, GROUP, READS) as group,
    ):
        _round(service, group, publisher, stop, identity(kafka, DEAD), follow=follow)


def _without_feed(service: AlertService, error: Unavailable, stop: Callable[[], bool]) -> None:
    """Raise and deliver what needs no Kafka, for `AGAIN_S`. Raises `Unavailable` for PostgreSQL."""
    until = time.monotonic() + AGAIN_S
    service.deliver()  # fails if it is PostgreSQL that is away
    figures = {"why": error.what, "where": error.where, "again_in_s": AGAIN_S}
    LOG.warning("alerts go on without Kafka", extra={"figures": figures})
    while not stop() and time.monotonic() < until:
        if service.look_due():
            service.look()
        service.deliver()
        time.sleep(_POLL_S)


def _round(
    service: AlertService,
    group: Member,
    publisher: Publisher,
    stop: Callable[[], bool],
    dead: str,
    *,
    follow: bool,
) -> None:
    knocked_at = float("-inf")
    lacking_since: float | None = None
    knock_s = service.settings.ready_s / 3
    while not stop():
        read = group.poll(_POLL_S)
        _handle(service, group, publisher, read, stop)
        if read:
            lacking_since = None
        if service.look_due() or (not follow and not read):
            service.tally.lag = group.lag()
            in_group = follow or group.has_joined()  # a follower may stand by for others
            now, lag = time.monotonic(), service.tally.lag
            lacking_since = _lacking(lag, lacking_since, now, in_group=in_group)
            service.tally.letters = _letters(group, service.kept.replayed(dead))
            service.look()
        if time.monotonic() - knocked_at > knock_s:
            group.ping_brokers()
            knocked_at = time.monotonic()
        service.tally.answered_at = group.answered_at
        service.deliver()
        if not follow and not read and group.has_joined() and group.lag() == 0:
            return


def _lacking(lag: int, since: float | None, now: float, *, in_group: bool) -> float | None:
    """Since when polls return nothing despite a lag, or the group gives nothing to read.

    Raises `Unavailable` after `STALLED_S`.
    """
    if not lag and in_group:
        return None
    if since is not None and now - since > STALLED_S:
        raise Unavailable(
            f"Unread: {quantity(lag, 'record')}, but no poll has returned any for {STALLED_S:.0f} s"
            if lag
            else f"The group has given this process nothing to read for {STALLED_S:.0f} s",
            where=GROUP,
            hint="`consume alerts --follow` opens a new one: it resumes after the last record it"
            " handled.",
        )
    return now if since is None else since


def _letters(group: Member, handled: Collection[tuple[int, int]]) -> int:
    """The number of unhandled dead letters; too high if some offsets hold no record."""
    held = group.bounds(DEAD)
    done = sum(part in held and held[part].begin <= at < held[part].end for part, at in handled)
    return sum(span.end - span.begin for span in held.values()) - done


def _handle(
    service: AlertService,
    group: Member,
    publisher: Publisher,
    read: Sequence[Read],
    stop: Callable[[], bool],
) -> None:
    """Handle records until `stop`, and commit the handled ones in steps."""
    committed, step_at = 0, time.monotonic()
    for at, each in enumerate(read, 1):
        _handled(service, publisher, each)
        asked = stop()  # for every record: the call is also the process's heartbeat
        if asked or at == len(read) or time.monotonic() - step_at > STEP_S:
            group.commit(read[committed:at])
            service.tally.read += at - committed
            service.tally.answered_at = group.answered_at
            committed, step_at = at, time.monotonic()
        if asked:
            return


def _handled(service: AlertService, publisher: Publisher, read: Read) -> None:
    """Handle a record with retries; an unreadable or failing one becomes a dead letter."""
    for attempt in range(1, TRIES + 1):
        try:
            service.handle(read)
        except Unavailable:
            raise
        except Exception as error:
            if attempt < TRIES and not isinstance(error, ValueError | msgspec.MsgspecError):
                time.sleep(PAUSE_S * 2 ** (attempt - 1))
                continue
            reason = f"{type(error).__name__}: {error}"
            send_to_dead_letters(publisher, DEAD, read, reason, attempt)
            service.tally.dead += 1
            topic = publisher.kafka.named(read.topic)
            place = f"{topic}/{read.record.partition}@{read.record.offset}"
            figures = {"place": place, "reason": reason}
            LOG.exception("a record is a dead letter", extra={"figures": figures})
        return


def replay(
    database: Database,
    kafka: Connection,
    settings: Settings,
    letters: Iterable[Dead],
    by: str,
) -> Iterator[tuple[Dead, str | None]]:
    """Handle dead letters again, one by one; yields each with the reason of a new failure, or None.

    `by` is stored with each success, and logged with each letter.
    """
    dead = identity(kafka, DEAD)
    with (
        _service(database, settings) as service,
        Publisher(kafka) as publisher,
        service.publishing(publisher),
    ):
        for letter in letters:
            partition, offset = letter.record.partition, letter.record.offset
            figures = {"topic": dead, "place": f"{partition}@{offset}", "by": by}
            failed = None
            try:
                topic = kafka.declared(letter.original.topic)
                service.handle(letter.original._replace(topic=topic))
            except Unavailable:
                raise
            except Exception as error:
                failed = f"{type(error).__name__}: {error}"
                extra = {"figures": figures | {"reason": failed}}
                LOG.warning("a dead letter failed again", exc_info=error, extra=extra)
            else:
                service.kept.note_replayed(dead, partition, offset, by)
                LOG.info("a dead letter was handled", extra={"figures": figures})
            yield letter, failed
        service.deliver()


@contextmanager
def _service(database: Database, settings: Settings) -> Iterator[AlertService]:
    """The service, whose topic is away until `AlertService.publishing`; it is tried last."""
    channels: dict[str, Channel | None] = {"log": _to_log}
    with ExitStack() as open_:
        if settings.alert_webhook:
            posting = webhook(settings.alert_webhook, settings.alert_webhook_secret_file)
            channels["webhook"] = open_.enter_context(posting)
        channels[ON_TOPIC] = None
        connection = open_.enter_context(database.connect("ledger_projector"))
        yield AlertService(database, Alerts(database, connection), channels, settings)


def _to_topic(publisher: Publisher) -> Channel:
    partitions = topics.topic(TOPIC).partitions

    def deliver(due: Due) -> str:
        alert = msgspec.json.decode(due.body, type=Alert)
        kept = QueuedMessage(due.tries, 0, alert.at_us, alert.kind, due.body)
        publisher.publish(TOPIC, partitions, [of_message(TOPIC, kept, id_=alert.id)])
        return f"acknowledged on {publisher.kafka.named(TOPIC)}"

    return deliver


def _to_log(due: Due) -> str:
    alert = msgspec.json.decode(due.body, type=Alert)
    figures = {name: getattr(alert, name) for name in alert.__struct_fields__}
    LOG.warning("alert", extra={"figures": figures})
    return "logged"
