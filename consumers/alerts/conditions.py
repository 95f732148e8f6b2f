"""What operations should look at now, as values: from one record, or from how things stand.

Each kind of alert has a threshold in the settings. An alert's id is made of what it is about, so
that reading a record again raises nothing again. Alerts judge nothing: findings are the rulings'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec import Struct

from infra.kafka import topics
from infra.kafka.records import fed
from ledger.facts import every_version
from ledger.record import kinds
from ledger.values import dollars, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from consumers.alerts.cameras import LostCamera
    from consumers.floor.table_board import Board
    from infra.kafka.consumer_group import Read
    from infra.postgres.alerts import Device
    from infra.postgres.parking import ParkedSummary
    from infra.postgres.relay_progress import Waiting
    from infra.settings import Settings
    from ledger.record.tape import TapeRow

FACTS, ADJUDICATIONS = topics.FACTS, "ledger.adjudications.v1"
READS = (FACTS, ADJUDICATIONS)
"""The topics that alerts are made from."""

_DAY_US = 86_400_000_000
_CHECKS = every_version({"clock_checked.v1": "checked"})
_PAYMENTS = every_version({"wager_paid.v1": "payout"})

PROCEDURES = frozenset(
    (
        "stub_count_overdue",
        "deck_change_overdue",
        "dice_change_overdue",
        "batch_not_alternated",
        "cut_too_shallow",
        "inspection_missing",
        "device_not_covered",
        "dice_not_inspected",
        "dealers_short",
        "supervision_exceeded",
        "cameras_short",
    )
)
"""Findings of procedures."""

GRAVE = frozenset(
    (
        "card_mismatch",
        "duplicate_card",
        "impossible_card",
        "should_have_been_void",
        "wrongly_voided",
        "wrong_position_paid",
        "wrong_payer",
    )
)
"""Findings that are told whatever the money."""

THRESHOLDS = {
    "payout": ("alert_payout_cents",),
    "finding": ("alert_finding_cents",),
    "procedure": ("alert_procedures",),
    "device_silent": ("alert_device_silent_s",),
    "table_quiet": ("alert_table_quiet_s",),
    "camera_lost": ("alert_camera_lost_s",),
    "clock_off": ("alert_clock_ms",),
    "lag": ("alert_lag_s", "alert_lag_records"),
    "parked": ("alert_parked_facts",),
    "dead_letters": ("alert_dead_letters",),
}
"""Every kind of alert, and the settings from which on it is told."""

KINDS = tuple(THRESHOLDS)


class Alert(Struct, frozen=True):
    """One thing to look at. value and threshold: cents, seconds or a count, by the kind."""

    id: str
    kind: str
    about: str  # round, table, device, view
    says: str
    value: int
    threshold: int
    at_us: int  # when what it tells happened, by the ledger's clock


class Rulings(Protocol):
    """What alerts ask of the view behind the rulings that they read."""

    def whole(self, cut: RulingMessage) -> RulingMessage:
        """The ruling that was too large for a record. Raises `NotFound`."""

    def received_us(self, told: RulingMessage) -> int | None:
        """When the fact came that made it, by the ledger's clock; None where that is not told."""


def of_record(read: Read, settings: Settings, rulings: Rulings) -> list[Alert]:
    """The alerts of one record, however old. Raises ValueError where it is none of its topic."""
    of_fact = read.topic == FACTS
    return list(_of_fact(read, settings) if of_fact else _of_ruling(read, settings, rulings))


def young(found: Sequence[Alert], now_us: int, settings: Settings) -> list[Alert]:
    """Without what came longer ago than the setting says: a first run is not a flood."""
    oldest_us = now_us - settings.alert_age_s * 1_000_000
    return [each for each in found if each.at_us >= oldest_us]


def of_tables(
    boards: Sequence[Board], devices: Sequence[Device], now_us: int, settings: Settings
) -> Iterator[Alert]:
    """Open tables without events, and their devices that are silent while others speak."""
    open_ = {f"{board.property}/{board.table}" for board in boards if board.open}
    last: dict[str, int] = {}
    for device in devices:
        last[device.tape] = max(last.get(device.tape, 0), device.last_us)
    quiet = set()
    for tape in sorted(open_ & last.keys()):
        silent_s = (now_us - last[tape]) // 1_000_000
        if silent_s >= settings.alert_table_quiet_s:
            quiet.add(tape)
            says = f"Table {tape} is open and has sent no fact for {silent_s:,} s."
            id_ = f"table_quiet:{tape}:{last[tape]}"
            limit = settings.alert_table_quiet_s
            yield Alert(id_, "table_quiet", tape, says, silent_s, limit, now_us)
    for device in devices:
        silent_s = (now_us - device.last_us) // 1_000_000
        limit = settings.alert_device_silent_s
        if device.tape in open_ - quiet and silent_s >= limit:
            says = f"{device.source} has sent no fact for {silent_s:,} s; its table goes on."
            id_ = f"device_silent:{device.source}:{device.last_us}"
            yield Alert(id_, "device_silent", device.source, says, silent_s, limit, now_us)


def of_cameras(dark: Sequence[LostCamera], now_us: int, settings: Settings) -> Iterator[Alert]:
    """Cameras that are lost for longer than a repair may take: each once."""
    limit = settings.alert_camera_lost_s
    for each in dark:
        lost_s = (now_us - each.since_us) // 1_000_000
        if lost_s >= limit:
            about = f"{each.property}/{each.camera}"
            says = f"Camera {about} was lost {lost_s:,} s ago and is not restored: {each.reason}"
            id_ = f"camera_lost:{about}:{each.since_us}"
            yield Alert(id_, "camera_lost", about, says, lost_s, limit, now_us)


def of_views(
    behind_s: dict[str, int], waiting: Sequence[Waiting], now_us: int, settings: Settings
) -> Iterator[Alert]:
    """Views that are too long behind the record, and topics that too much waits for."""
    limit = settings.alert_lag_s
    hour = now_us // 3_600_000_000
    for view, seconds in behind_s.items():
        if seconds >= limit:
            says = f"View {view} is {seconds:,} s behind the record."
            yield Alert(f"lag:{view}:{hour}", "lag", view, says, seconds, limit, now_us)
    for each in waiting:
        id_ = f"lag:{each.topic}:{hour}"
        seconds = each.since_us // 1_000_000
        if each.records >= settings.alert_lag_records:
            limit = settings.alert_lag_records
            says = f"{each.records:,} records wait to be published on {each.topic}."
            yield Alert(id_, "lag", each.topic, says, each.records, limit, now_us)
        elif seconds >= settings.alert_lag_s:
            limit = settings.alert_lag_s
            says = f"A record has waited {seconds:,} s to be published on {each.topic}."
            yield Alert(id_, "lag", each.topic, says, seconds, limit, now_us)


def of_parked(parked: Sequence[ParkedSummary], now_us: int, settings: Settings) -> Iterator[Alert]:
    """Tapes that views take nothing more of, once they lack enough: each once."""
    limit = settings.alert_parked_facts
    for each in parked:
        if each.withheld < limit:
            continue
        says = f"View {each.view} takes nothing of {each.tape} from position {each.position:,}:"
        id_ = f"parked:{each.view}:{each.tape}:{each.position}"
        says = f"{says} {each.says}"
        yield Alert(id_, "parked", each.tape, says, each.withheld, limit, now_us)


def of_dead_letters(topic: str, letters: int, now_us: int, settings: Settings) -> Iterator[Alert]:
    """Records that could not be handled, and that nobody has handled since."""
    limit = settings.alert_dead_letters
    if letters >= limit:
        says = f"{letters:,} records wait on {topic} for somebody to look at."
        id_ = f"dead_letters:{topic}:{now_us // 3_600_000_000}"
        yield Alert(id_, "dead_letters", topic, says, letters, limit, now_us)


def _of_fact(read: Read, settings: Settings) -> Iterator[Alert]:
    each = read.record
    fact = fed(each.key, each.value, each.headers)
    if not fact.is_whole:
        raise ValueError("its octets are not what its hash says")
    row = fact.row
    if row.type in _CHECKS:
        yield from _of_check(row, settings)
    if row.type not in _PAYMENTS:
        return
    body: Any = kinds.body(kinds.KINDS[row.type], row.data)
    limit = settings.alert_payout_cents
    if body.amount >= limit:
        about = f"{row.tape.partition('/')[0]}:{row.subject}"
        says = f"Position {body.position} was paid {dollars(body.amount)} on {body.wager}."
        id_ = f"payout:{row.source}:{row.id}"
        yield Alert(id_, "payout", about, says, body.amount, limit, row.received_at_us)


def _of_check(row: TapeRow, settings: Settings) -> Iterator[Alert]:
    """A camera's clock that is surely off by as much, whatever the check itself may be off by."""
    body: Any = kinds.body(kinds.KINDS[row.type], row.data)
    camera_us, reference_us = parse_time(body.camera_time), parse_time(body.reference_time)
    if camera_us is None or reference_us is None:
        raise ValueError("it has no time")
    off_ms = abs(camera_us - reference_us) // 1000 - body.uncertainty_ms
    limit = settings.alert_clock_ms
    if off_ms >= limit:
        about = f"{row.tape.partition('/')[0]}/{body.camera}"
        which = "ahead of" if camera_us > reference_us else "behind"
        says = f"The clock of camera {about} is {off_ms:,} ms or more {which} {body.reference}."
        id_ = f"clock_off:{about}:{row.received_at_us // _DAY_US}"
        yield Alert(id_, "clock_off", about, says, off_ms, limit, row.received_at_us)


def _of_ruling(read: Read, settings: Settings, rulings: Rulings) -> Iterator[Alert]:
    each = read.record
    told = msgspec.json.decode(each.value or b"", type=RulingMessage)
    said_us = parse_time(dict(each.headers).get("ce_time", b"").decode())
    if said_us is None:
        raise ValueError("it has no time")
    ruling = rulings.whole(told) if told.findings is None else told
    if not ruling.findings:
        return
    # What was found long ago is said again at any time: its own time is that of what made it.
    at_us = rulings.received_us(told) or said_us
    table = ruling.table or (ruling.round or "").partition("/")[0]
    about = f"{ruling.property}:{ruling.round or table}"
    seen: dict[str, int] = {}
    for finding in ruling.findings:
        nth = seen[finding.code] = seen.get(finding.code, 0) + 1
        facts = "+".join(f"{fact.source}#{fact.id}" for fact in finding.facts[:1])
        id_ = f"{finding.code}:{about}:{finding.position}:{finding.wager}:{nth}:{facts}"
        if finding.code in PROCEDURES:
            if nth >= settings.alert_procedures:
                limit = settings.alert_procedures
                yield Alert(f"procedure:{id_}", "procedure", about, finding.says, nth, limit, at_us)
            continue
        off = finding.off
        if off >= settings.alert_finding_cents or finding.code in GRAVE:
            limit = settings.alert_finding_cents
            yield Alert(f"finding:{id_}", "finding", about, finding.says, off, limit, at_us)


class _FactId(Struct):
    source: str
    id: str


class _Finding(Struct):
    code: str
    says: str
    position: int | None = None
    wager: str | None = None
    expected: int | str | None = None
    recorded: int | str | None = None
    facts: list[_FactId] = []

    @property
    def off(self) -> int:
        """How much money it is about, cents."""
        if isinstance(self.expected, int) and isinstance(self.recorded, int):
            return abs(self.expected - self.recorded)
        return 0


class RulingMessage(Struct):
    """What alerts read of a ruling, or of a finding of no round. findings: None where it is cut."""

    property: str
    round: str | None
    findings: list[_Finding] | None = None
    table: str | None = None
    version: int | None = None
    cut: bool = False
    fact_position: int | None = None  # of the fact that made it
    fact: _FactId | None = None  # that completes it, of no round

    def __post_init__(self) -> None:
        """Findings are left out of what is cut, and of nothing else."""
        if (self.findings is None) != self.cut:
            raise ValueError("it is not cut, and has no findings")
