"""Records of another program at the end of a topic of the relay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.alerts.alert import AlertKind, Candidate, OfState
from infra.settings import Threshold
from ledger.values import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.alerts.snapshot import Snapshot

STRAY_RECORDS = Threshold(
    "ALERT_STRAYS",
    1,
    "",
    "How many records of another program in a partition of the feed raise an alert",
)


def _look(state: Snapshot) -> Iterator[Candidate]:
    oldest_us = state.now_us - state.settings.alert_age_s * 1_000_000
    for each in state.strays:
        if each.last_at_us < oldest_us:
            continue
        says = (
            f"Another program has written {quantity(each.times, 'record')} to {each.topic},"
            f" partition {each.partition}, the last at offset {each.last_offset:,}. {each.says}"
        )
        key = f"{each.topic}/{each.partition}:{each.last_at_us}"
        yield Candidate(key, each.topic, says, each.times, STRAY_RECORDS, each.last_at_us)


STRAYS = AlertKind(
    name="strays",
    title="Another program wrote to the feed",
    severity="attention",
    about="other",
    thresholds=(STRAY_RECORDS,),
    when="a relay met this many records of another program at the end of one partition",
    do="Operations: check which logins may write to the topic, then run relay verify.",
    runbook="check which logins may write to the topic; `relay verify`; see"
    " [repair](repair.md#records-of-another-program)",
    condition=OfState(_look),
)
