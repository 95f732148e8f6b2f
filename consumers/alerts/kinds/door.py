"""Facts that were quarantined because their key may not say them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.alerts.alert import AlertKind, Candidate, OfState
from infra.settings import Threshold
from ledger.values import quantity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consumers.alerts.snapshot import Snapshot

REFUSED_FACTS = Threshold(
    "ALERT_DOOR_REFUSED",
    1,
    "",
    "How many facts of one key that it may not say raise an alert",
)
_HOUR_US = 3_600_000_000


def _look(state: Snapshot) -> Iterator[Candidate]:
    for each in state.door_refusals:
        who = each.sender or "an unknown sender"
        says = (
            f"{quantity(each.times, 'fact')} by {who} went to quarantine: {each.reason}. The first"
            f" is number {each.first_id}."
        )
        key = f"{each.sender}:{each.reason}:{each.last_at_us // _HOUR_US}"
        yield Candidate(key, who, says, each.times, REFUSED_FACTS, each.last_at_us)


DOOR_REFUSED = AlertKind(
    name="door_refused",
    title="A key said what it may not say",
    severity="urgent",
    about="device",
    thresholds=(REFUSED_FACTS,),
    when="this many facts of one key were quarantined because they were not signed, not by a key"
    " of the roster, or outside its grant",
    do="Operations: look at the device. Release what is true with quarantine release, or revoke the"
    " key.",
    runbook="`quarantine list`; look at the device; release what is true, or `keys revoke` ([enrol"
    " a device](../runbook/devices.md#enrol-a-device-that-signs))",
    condition=OfState(_look),
)
