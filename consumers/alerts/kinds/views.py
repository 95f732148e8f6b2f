"""Views and topics behind the record, and tables that a view has parked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.alerts.alert import AlertKind, Candidate, OfState
from infra.settings import Threshold
from ledger.values import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.alerts.snapshot import Snapshot

LAG_S = Threshold(
    "ALERT_LAG_S",
    60,
    "seconds",
    "How long a view may be behind the record, and a record wait for its topic",
)
LAG_RECORDS = Threshold(
    "ALERT_LAG_RECORDS", 10_000, "", "How many records may wait to be published on one topic"
)
WITHHELD = Threshold(
    "ALERT_PARKED_FACTS",
    1,
    "",
    "How many facts of a table a view must withhold before that raises an alert",
)


def _behind(state: Snapshot) -> Iterator[Candidate]:
    """A topic that is behind in both records and seconds raises one alert, about records."""
    for view, seconds in state.behind_s.items():
        says = f"View {view} is {seconds:,} s behind the record; check `consume`."
        since_us = state.now_us - seconds * 1_000_000
        yield Candidate(f"{view}:{state.hour}", view, says, seconds, LAG_S, since_us)
    for each in state.waiting:
        key, seconds = f"{each.topic}:{state.hour}", each.since_us // 1_000_000
        says = (
            f"To be published on {each.topic}: {quantity(each.records, 'record')}; check the relay."
        )
        yield Candidate(key, each.topic, says, each.records, LAG_RECORDS)
        says = f"A record has waited {seconds:,} s for the relay to publish it on {each.topic}."
        since_us = state.now_us - seconds * 1_000_000
        yield Candidate(key, each.topic, says, seconds, LAG_S, since_us)


def _parked(state: Snapshot) -> Iterator[Candidate]:
    for each in state.parked:
        says = f"View {each.view} has parked tape {each.tape} from position {each.position:,}:"
        key = f"{each.view}:{each.tape}:{each.position}:{each.parked_at_us}"
        says = f"{says} {each.says} See `round-ledger consume all --status`."
        yield Candidate(key, each.tape, says, each.withheld, WITHHELD, each.parked_at_us)


LAG = AlertKind(
    name="lag",
    title="Behind the record",
    severity="attention",
    about="other",
    thresholds=(LAG_S, LAG_RECORDS),
    when="a view is this many seconds behind, a record waits as long for a topic, or this many"
    " records wait",
    do="Pages may be out of date. Ask operations whether consume, relay and the brokers run.",
    runbook="does `consume` run, does `relay` run, do the brokers answer?",
    condition=OfState(_behind),
)

PARKED = AlertKind(
    name="parked",
    title="Table left out of a view",
    severity="urgent",
    about="table",
    thresholds=(WITHHELD,),
    when="a view has parked a table and lacks this many of its facts",
    do="Pages lack this table's later facts. Operations: run consume all --status, fix the cause,"
    " then unpark the table.",
    runbook="`consume all --status`, see [parked tapes](repair.md#a-parked-tape)",
    condition=OfState(_parked),
)
