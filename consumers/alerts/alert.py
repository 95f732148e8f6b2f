"""What an alert is, and how a kind of alert is declared.

A kind is one `AlertKind`: its name, its words, its thresholds and its condition. The settings, the
page Live, the documentation and the alert process follow from it. Kinds judge nothing: findings
come from rulings. `replay.shell.settings` imports every kind, so this module and the kinds import
neither psycopg nor kafka.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from consumers.alerts.snapshot import Snapshot
    from infra.settings import Threshold
    from ledger.record.tape import TapeRow

Severity = Literal["urgent", "attention"]
About = Literal["round", "table", "device", "other"]


class Alert(Struct, frozen=True):
    """One alert. value and threshold are cents, seconds, milliseconds or a count, by kind."""

    id: str
    kind: str
    about: str  # round, table, device, view
    says: str
    value: int
    threshold: int
    at_us: int  # when what it reports happened, by the ledger's clock


class Candidate(NamedTuple):
    """A possible alert; it is raised if `value` is at least the threshold in force."""

    key: str  # the alert's id after its kind; an id that was raised is not raised again
    about: str  # as `AlertKind.about` says
    says: str
    value: int
    threshold: Threshold
    since_us: int | None = None  # when a state began, by the ledger's clock; None: now
    always: bool = False  # raised whatever the value


class RuledFinding(NamedTuple):
    """A finding of a ruling, as alerts see it."""

    key: str  # its identity, the same if the ruling is published again
    about: str  # <property>:<round>, or <property>:<table> outside a round
    code: str
    says: str
    off: int  # owed and recorded differ by this much, cents
    nth: int  # how often the ruling has found this code so far, from 1


class OfFact(NamedTuple):
    """A condition on each fact of these types on the feed."""

    types: Collection[str]
    look: Callable[[TapeRow, Any], Iterator[Candidate]]  # of the fact's row and its body


class OfFinding(NamedTuple):
    """A condition on each finding of each ruling on the feed."""

    look: Callable[[RuledFinding], Iterator[Candidate]]


class OfState(NamedTuple):
    """A condition on the current state, checked every few seconds."""

    look: Callable[[Snapshot], Iterator[Candidate]]
    needs_kafka: bool = False  # the page Live cannot look itself; it shows what was raised


class AlertKind(NamedTuple):
    """One kind of alert, declared in one place."""

    name: str
    title: str
    severity: Severity
    about: About  # a round or table by subject, a table by tape, a device by source
    thresholds: tuple[Threshold, ...]
    when: str  # for the documentation
    do: str  # for the page Live, in words of the floor
    runbook: str  # for the documentation, in commands; links are those of its how-to page
    condition: OfFact | OfFinding | OfState
