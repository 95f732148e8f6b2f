"""Records that alerts are made from, as they come off the feed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from consumers.alerts import conditions
from consumers.alerts.conditions import ADJUDICATIONS, RulingMessage
from infra.kafka import topics
from infra.kafka.consumer_group import Read
from infra.kafka.ports import Consumed
from ledger.facts import ClockChecked, WagerPaid, type_name
from ledger.values import format_time
from tests.fixtures.postgres import fact
from tests.scenes.feed_faults import of_rows
from tests.scenes.view_feeds import record

if TYPE_CHECKING:
    from consumers.alerts.alert import Alert
    from infra.postgres.connection import Database
    from infra.settings import Settings
    from ledger.facts import Body
    from ledger.record.tape import Received

RULED_AT_US = 1_795_183_200_000_000
"""When `ruling` was made."""


class Whole:
    """`Rulings` behind records that hold all of it."""

    def whole(self, cut: RulingMessage) -> RulingMessage:
        raise AssertionError(f"{cut} is whole")

    def received_us(self, told: RulingMessage) -> int | None:
        assert told.fact_position is None, "a record of before that was told"
        return None


def found(read: Read, now_us: int, settings: Settings) -> list[Alert]:
    """The alerts of a record that holds all there is, those that are young enough."""
    return conditions.young(conditions.of_record(read, settings, Whole()), now_us, settings)


def sent(body: Body, number: int = 1, *, place: str = "CC-07", device: str = "pit") -> Received:
    """A fact with this body."""
    name = type_name(type(body)).partition(".")[0]
    return fact(number, place=place, device=device, name=name, data=msgspec.json.encode(body))


def paid(amount: int, number: int = 1) -> Received:
    return sent(WagerPaid(position=3, wager="middle", amount=amount), number, device="shoe")


def checked(ahead_ms: int, uncertainty_ms: int, number: int = 1) -> Received:
    body = ClockChecked(
        camera="CAM-1",
        camera_time=format_time(RULED_AT_US + ahead_ms * 1000),
        reference_time=format_time(RULED_AT_US),
        reference="ntp",
        uncertainty_ms=uncertainty_ms,
    )
    return sent(body, number, place="surveillance", device="nvr")


def fact_read(database: Database, amount: int) -> Read:
    """A payment's record as it comes off the feed."""
    return read_of(database, paid(amount))


def read_of(database: Database, told: Received) -> Read:
    """The record of the first fact of a tape as it comes off the feed."""
    row = record(database, [told])[0]
    sent = of_rows([row])[0]
    return Read(topics.FACTS, Consumed(0, 0, sent.key, sent.value, tuple(sent.headers)))


def ruling(*findings: dict[str, Any], round_: str | None = "CC-07/2026-11-20/231") -> Read:
    told = {"round": round_, "property": "hollywood", "table": "CC-07", "findings": findings}
    headers = (("ce_time", b"2026-11-20T14:00:00Z"),)
    return Read(ADJUDICATIONS, Consumed(0, 0, b"k", json.dumps(told).encode(), headers))
