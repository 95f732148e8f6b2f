"""The alerts of the page Live: those that hold now, and what came lately through the feed.

Silent tables and devices, lost cameras, late views and parked tables are looked at here, by the
rules of `consumers.alerts.conditions`, so they need no Kafka and end when they are over. What is
made from the feed is read where `consume alerts` keeps it.
"""

import threading
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from consumers.alerts import conditions
from consumers.alerts.cameras import Cameras
from consumers.alerts.conditions import Alert
from consumers.alerts.devices import DeviceWatch
from consumers.floor import table_board
from consumers.rounds.search import findings_said
from infra.postgres import parking, relay_progress
from infra.postgres.alerts import Alerts
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.settings import Settings
from ledger.values import parse_round

KEPT_S = 2.0
"""How long what was found is shown to everybody who looks, seconds: looking costs the database."""

FED_MAX = 300
"""Alerts of the feed that are looked at, the newest."""

HOUR_US = 3_600_000_000

_FED = ("payout", "finding", "procedure", "clock_off", "dead_letters")


class AlertNow(NamedTuple):
    """An alert that holds, or that came lately. since_us: when it began, or was raised."""

    since_us: int
    kind: str
    about: str
    says: str


class AlertsNow(NamedTuple):
    """The alerts there are. fed_us: when the last one came through the feed; None: none has."""

    all: Sequence[AlertNow]
    fed_us: int | None


class AlertWatch:
    """Looks at how things stand, no more often than every `KEPT_S`, whoever asks."""

    def __init__(self, database: Database, tape: PostgresTape, settings: Settings) -> None:
        self._database, self._tape, self._settings = database, tape, settings
        self._devices, self._cameras = DeviceWatch(settings), Cameras(settings)
        self._lock = threading.Lock()
        self._kept: AlertsNow | None = None
        self._until = 0.0
        self.table_quiet_s = settings.alert_table_quiet_s

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
            boards = table_board.read(self._database)
            open_ = [f"{board.property}/{board.table}" for board in boards if board.open]
            devices = self._devices.look(kept, open_, now_us)
            dark = self._cameras.look(kept, now_us)
            fed = kept.newest(FED_MAX)
        settings = self._settings
        behind = {lag.view: lag.behind_us // 1_000_000 for lag in self._tape.view_lags()}
        # Where nothing is told of Kafka there may be none, and then nobody waits for a relay.
        published = settings.kafka_bootstrap is not None
        waiting = [
            each for each in relay_progress.waiting(self._database) if each.began or published
        ]
        parked = parking.shown(self._database)
        told = [
            *map(_since, conditions.of_tables(boards, devices, now_us, settings)),
            *map(_since, conditions.of_cameras(dark, now_us, settings)),
            *map(_since, conditions.of_views(behind, waiting, now_us, settings)),
            *_of_parked(parked, now_us, settings),
            *self._fed(fed, now_us),
        ]
        of_feed = [at_us for at_us, body in fed if _read(body).kind in _FED]
        return AlertsNow(told, max(of_feed, default=None))

    def _fed(self, kept: Sequence[tuple[int, str]], now_us: int) -> Iterator[AlertNow]:
        """What came through the feed and is not over: too old, or found no longer."""
        young_us = now_us - self._settings.alert_age_s * 1_000_000
        told = [(at_us, _read(body)) for at_us, body in kept if at_us >= young_us]
        names = {each.about for _, each in told if each.kind in ("finding", "procedure")}
        rounds = [round_ for name in names if (round_ := parse_round(name))]
        found = findings_said(self._database, rounds)
        letters: set[str] = set()
        for at_us, each in told:
            round_ = parse_round(each.about)
            if each.kind not in _FED:
                continue
            if each.kind == "dead_letters":
                if at_us < now_us - HOUR_US or each.about in letters:
                    continue  # it is told again every hour while it is so
                letters.add(each.about)
            elif each.kind != "payout" and round_ and (round_, each.says) not in found:
                continue  # another ruling has come since
            yield AlertNow(at_us, each.kind, each.about, each.says)


def _of_parked(
    parked: Sequence[parking.ParkedSummary], now_us: int, settings: Settings
) -> Iterator[AlertNow]:
    for each in parked:
        for alert in conditions.of_parked([each], now_us, settings):
            yield AlertNow(each.parked_at_us, alert.kind, alert.about, alert.says)


def _since(alert: Alert) -> AlertNow:
    """An alert that holds now; where what it says is how long, it began so long ago."""
    lasted_s = alert.value if f" {alert.value:,} s" in alert.says else 0
    return AlertNow(alert.at_us - lasted_s * 1_000_000, alert.kind, alert.about, alert.says)


def _read(body: str) -> Alert:
    return msgspec.json.decode(body, type=Alert)
