"""Large payouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consumers.alerts.alert import AlertKind, Candidate, OfFact
from infra.settings import Threshold
from ledger.facts import every_version
from ledger.values import dollars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.record.tape import TapeRow

LIMIT = Threshold(
    "ALERT_PAYOUT_CENTS",
    1_000_000,
    "cents",
    "Payment on one wager from which `consume alerts` raises an alert",
)


def _look(row: TapeRow, body: Any) -> Iterator[Candidate]:  # noqa: ANN401 - of any version
    about = f"{row.tape.partition('/')[0]}:{row.subject}"
    says = f"Position {body.position} was paid {dollars(body.amount)} on {body.wager}."
    yield Candidate(f"{row.source}:{row.id}", about, says, body.amount, LIMIT)


PAYOUT = AlertKind(
    name="payout",
    title="Large payout",
    severity="attention",
    about="round",
    thresholds=(LIMIT,),
    when="one payment was at least this large",
    do="Open the round and check that the payout was verified as the house requires.",
    runbook="`round-ledger replay ROUND`; is the verification on record?",
    condition=OfFact(every_version({"wager_paid.v1": "payout"}), _look),
)
