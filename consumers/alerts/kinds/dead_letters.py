"""Dead letters that have not been handled yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.alerts.alert import AlertKind, Candidate, OfState
from infra.settings import Threshold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.alerts.snapshot import Snapshot

LETTERS = Threshold(
    "ALERT_DEAD_LETTERS", 1, "", "How many dead letters must wait before that raises an alert"
)


def _look(state: Snapshot) -> Iterator[Candidate]:
    for topic, letters in state.dead_letters.items():
        says = f"{letters:,} dead letters wait on {topic}; see `round-ledger dlq list`."
        yield Candidate(f"{topic}:{state.hour}", topic, says, letters, LETTERS)


DEAD_LETTERS = AlertKind(
    name="dead_letters",
    title="Dead letters",
    severity="attention",
    about="other",
    thresholds=(LETTERS,),
    when="this many records could not be handled and wait",
    do="Operations: look at them with dlq list and dlq show, fix the cause, then dlq replay.",
    runbook="`dlq list`, see [dead letters](#dead-letters)",
    condition=OfState(_look, needs_kafka=True),
)
