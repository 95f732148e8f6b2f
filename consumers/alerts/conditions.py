"""The alerts of one feed record, and of the current state: each kind's condition and threshold.

An alert's id is made from its subject, so a record that is read again raises no second alert.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec
from msgspec import Struct

from consumers.alerts.alert import Alert, OfFact, OfFinding, OfState, RuledFinding
from consumers.alerts.kinds import KINDS
from infra.kafka import topics
from infra.kafka.records import fed
from ledger.record import kinds
from ledger.values import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from consumers.alerts.alert import AlertKind, Candidate
    from consumers.alerts.snapshot import Snapshot
    from infra.kafka.consumer_group import Read
    from infra.settings import Settings

FACTS, ADJUDICATIONS = topics.FACTS, "ledger.adjudications.v1"
READS = (FACTS, ADJUDICATIONS)
"""The topics that alerts are made from."""

OF_FACTS = tuple((kind, kind.condition) for kind in KINDS if isinstance(kind.condition, OfFact))
OF_FINDINGS = tuple(
    (kind, kind.condition) for kind in KINDS if isinstance(kind.condition, OfFinding)
)
OF_STATE = tuple((kind, kind.condition) for kind in KINDS if isinstance(kind.condition, OfState))


class Rulings(Protocol):
    """The queries of the rulings view that alerts need."""

    def whole(self, cut: RulingMessage) -> RulingMessage:
        """The whole ruling of a truncated message. Raises `NotFound`."""

    def received_us(self, told: RulingMessage) -> int | None:
        """When the fact behind a ruling was received, by the ledger's clock; None if unknown."""


class StateAlert(NamedTuple):
    """An alert of a state, and when that state began, by the ledger's clock."""

    alert: Alert
    since_us: int


def of_record(read: Read, settings: Settings, rulings: Rulings) -> list[Alert]:
    """The alerts of one record, of any age. Raises ValueError if the record is not valid."""
    of_fact = read.topic == FACTS
    return list(_of_fact(read, settings) if of_fact else _of_ruling(read, settings, rulings))


def young(found: Sequence[Alert], now_us: int, settings: Settings) -> list[Alert]:
    """Leave out alerts older than `alert_age_s`, so that a first run raises no flood of them."""
    oldest_us = now_us - settings.alert_age_s * 1_000_000
    return [each for each in found if each.at_us >= oldest_us]


def of_state(state: Snapshot) -> list[StateAlert]:
    """The alerts of the present state, each id once."""
    found: dict[str, StateAlert] = {}
    for kind, condition in OF_STATE:
        for each in condition.look(state):
            for alert in _reached(kind, [each], state.settings, state.now_us):
                began_us = state.now_us if each.since_us is None else each.since_us
                found.setdefault(alert.id, StateAlert(alert, began_us))
    return list(found.values())


def _reached(
    kind: AlertKind, candidates: Iterable[Candidate], settings: Settings, at_us: int
) -> Iterator[Alert]:
    """The alerts of those candidates that reach their threshold."""
    for each in candidates:
        limit = each.threshold.of(settings)
        if each.always or each.value >= limit:
            id_ = f"{kind.name}:{each.key}"
            yield Alert(id_, kind.name, each.about, each.says, each.value, limit, at_us)


def _of_fact(read: Read, settings: Settings) -> Iterator[Alert]:
    each = read.record
    fact = fed(each.key, each.value, each.headers)
    if not fact.is_whole:
        raise ValueError("its bytes do not match its hash")
    row = fact.row
    looked = [(kind, condition) for kind, condition in OF_FACTS if row.type in condition.types]
    if not looked:
        return
    body: Any = kinds.body(kinds.KINDS[row.type], row.data)
    for kind, condition in looked:
        yield from _reached(kind, condition.look(row, body), settings, row.received_at_us)


def _of_ruling(read: Read, settings: Settings, rulings: Rulings) -> Iterator[Alert]:
    each = read.record
    told = msgspec.json.decode(each.value or b"", type=RulingMessage)
    said_us = parse_time(dict(each.headers).get("ce_time", b"").decode())
    if said_us is None:
        raise ValueError("it has no time")
    ruling = rulings.whole(told) if told.findings is None else told
    if not ruling.findings:
        return
    # A ruling may be published again at any time: the alert takes the time of the fact behind it.
    at_us = rulings.received_us(told) or said_us
    for finding in _findings(ruling):
        for kind, condition in OF_FINDINGS:
            yield from _reached(kind, condition.look(finding), settings, at_us)


def _findings(ruling: RulingMessage) -> Iterator[RuledFinding]:
    """A ruling's findings; each code is counted."""
    table = ruling.table or (ruling.round or "").partition("/")[0]
    about = f"{ruling.property}:{ruling.round or table}"
    seen: dict[str, int] = {}
    for each in ruling.findings or ():
        nth = seen[each.code] = seen.get(each.code, 0) + 1
        facts = "+".join(f"{fact.source}#{fact.id}" for fact in each.facts[:1])
        key = f"{each.code}:{about}:{each.position}:{each.wager}:{nth}:{facts}"
        yield RuledFinding(key, about, each.code, each.says, each.off, nth)


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
        """The difference between expected and recorded, cents; 0 if they are not money."""
        if isinstance(self.expected, int) and isinstance(self.recorded, int):
            return abs(self.expected - self.recorded)
        return 0


class RulingMessage(Struct):
    """A ruling, or a finding without a round, as alerts read it. findings: None if truncated."""

    property: str
    round: str | None
    findings: list[_Finding] | None = None
    table: str | None = None
    version: int | None = None
    cut: bool = False
    fact_position: int | None = None  # of the fact that led to the ruling
    fact: _FactId | None = None  # the fact that completes a finding without a round

    def __post_init__(self) -> None:
        """Check that findings are missing only if the message is truncated."""
        if (self.findings is None) != self.cut:
            raise ValueError("exactly one of findings and cut must be set")
