"""The alerts of the page Live: conditions that hold now, and recent alerts from the feed.

Silent tables and devices, lost cameras, lagging views and parked tables are checked here by the
rules of `consumers.alerts.conditions`. They need no Kafka and disappear when they end. Alerts from
the feed are read from the table of `consume alerts`.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from consumers.alerts import conditions
from consumers.alerts.alert import Alert, OfFinding, OfState
from consumers.alerts.kinds import BY_NAME, KINDS
from consumers.alerts.snapshot_reader import SnapshotReader
from consumers.rounds.search import findings_said
from infra.postgres.alerts import Alerts
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.settings import Settings
from ledger.values import parse_round

KEPT_S = 2.0
"""Seconds for which a result is reused for all users, to spare the database."""

FED_MAX = 300
"""The number of newest alerts of the feed that are read."""

HOUR_US = 3_600_000_000

_FED = {
    kind.name
    for kind in KINDS
    if not isinstance(kind.condition, OfState) or kind.condition.needs_kafka
}


class AlertNow(NamedTuple):
    """An alert that holds now or is recent. since_us: when it began or was raised."""

    since_us: int
    kind: str
    about: str
    says: str
    id: str = ""  # the same while it lasts


class AlertsNow(NamedTuple):
    """All alerts. fed_us: when the last one came through the feed; None: never."""

    all: Sequence[AlertNow]
    fed_us: int | None


class AlertWatch:
    """Checks the conditions at most every `KEPT_S` seconds, for all requests together."""

    def __init__(self, database: Database, tape: PostgresTape, settings: Settings) -> None:
        self._database, self._tape, self._settings = database, tape, settings
        self._snapshots = SnapshotReader(database, settings)
        self._lock = threading.Lock()
        self._kept: AlertsNow | None = None
        self._until = 0.0

    def now(self) -> AlertsNow:
        """Every alert that holds."""
        with self._lock:
            if self._kept is None or time.monotonic() > self._until:
                self._kept = self._look()
                self._until = time.monotonic() + KEPT_S
            return self._kept

    def _look(self) -> AlertsNow:
        now_us = time.time_ns() // 1_000
        with self._database.connect("ledger_reader") as connection:
            kept = Alerts(self._database, connection)
            state = self._snapshots.read(kept, self._tape, now_us)
            fed = kept.newest(FED_MAX)
        # Without a setting for Kafka there may be none, and nothing waits for a relay.
        published = self._settings.kafka_bootstrap is not None
        waiting = [each for each in state.waiting if each.began or published]
        standing = conditions.of_state(state._replace(waiting=waiting))
        told = [
            *(AlertNow(since_us, a.kind, a.about, a.says, a.id) for a, since_us in standing),
            *self._fed(fed, now_us),
        ]
        of_feed = [at_us for at_us, body in fed if _read(body).kind in _FED]
        return AlertsNow(told, max(of_feed, default=None))

    def _fed(self, kept: Sequence[tuple[int, str]], now_us: int) -> Iterator[AlertNow]:
        """Alerts of the feed that still hold: not too old, and still found."""
        young_us = now_us - self._settings.alert_age_s * 1_000_000
        told = [(at_us, _read(body)) for at_us, body in kept if at_us >= young_us]
        names = {each.about for _, each in told if _is_of_ruling(each)}
        rounds = [round_ for name in names if (round_ := parse_round(name))]
        found = findings_said(self._database, rounds)
        hourly: set[tuple[str, str]] = set()
        for at_us, each in told:
            round_ = parse_round(each.about)
            if each.kind not in _FED:
                continue
            if isinstance(BY_NAME[each.kind].condition, OfState):
                if at_us < now_us - HOUR_US or (each.kind, each.about) in hourly:
                    continue  # it is raised again every hour while it lasts
                hourly.add((each.kind, each.about))
            elif _is_of_ruling(each) and round_ and (round_, each.says) not in found:
                continue  # another ruling has come since
            yield AlertNow(at_us, each.kind, each.about, each.says, each.id)


def _is_of_ruling(each: Alert) -> bool:
    kind = BY_NAME.get(each.kind)
    return kind is not None and isinstance(kind.condition, OfFinding)


def _read(body: str) -> Alert:
    return msgspec.json.decode(body, type=Alert)
