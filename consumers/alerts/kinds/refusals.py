"""Topics that contradict the record, so that the relay publishes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.alerts.alert import AlertKind, Candidate, OfState
from infra.settings import Threshold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.alerts.snapshot import Snapshot

REFUSALS = Threshold(
    "ALERT_RELAY_REFUSED",
    1,
    "",
    "How many relays in a row must refuse a topic before that raises an alert",
)


def _look(state: Snapshot) -> Iterator[Candidate]:
    oldest_us = state.now_us - state.settings.alert_age_s * 1_000_000
    for each in state.refusals:
        if each.last_at_us >= oldest_us:
            says = f"The relay refuses {each.topic} and publishes nothing: {each.says}"
            key = f"{each.topic}:{each.since_us}"
            yield Candidate(key, each.topic, says, each.times, REFUSALS, each.since_us)


RELAY_REFUSED = AlertKind(
    name="relay_refused",
    title="Feed contradicts the record",
    severity="urgent",
    about="other",
    thresholds=(REFUSALS,),
    when="this many relays in a row refused a topic that contradicts the record, as after a"
    " failover that lost the record's end",
    do="Operations: stop what appends, for new facts may take positions already given. See the"
    " runbook on a record that lost its end.",
    runbook="stop what appends; did the record lose its end? [fail over](../runbook/failover.md);"
    " else [the relay](repair.md#the-relay)",
    condition=OfState(_look),
)
