"""How an alert is told to a person: how grave it is, what it is about, and what to do now.

Every kind that `consume alerts` raises has its line here; docs/operations.md says the same at more
length. It decides nothing: what is an alert, the thresholds of the settings say.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ledger.values import RoundId, parse_round
from replay.web.alert_watch import AlertNow

Severity = Literal["urgent", "attention"]


class AlertKind(NamedTuple):
    """A kind of alert in words."""

    title: str
    severity: Severity
    do: str


KINDS = {
    "payout": AlertKind(
        "Large payout",
        "attention",
        "Open the round and look whether the payout was verified as the house requires.",
    ),
    "finding": AlertKind(
        "Mispaid or wrong card",
        "urgent",
        "Open the round, compare paid with owed and the footage, then tell the floor or raise a"
        " dispute.",
    ),
    "procedure": AlertKind(
        "Procedure missed",
        "attention",
        "Call the pit. The sentence names the section that asks for it.",
    ),
    "device_silent": AlertKind(
        "Device silent",
        "attention",
        "Have somebody look at the device and its line. What it kept, it sends once it is back.",
    ),
    "table_quiet": AlertKind(
        "Table quiet",
        "urgent",
        "Look whether the table deals. If it does, its devices or their network are down, and"
        " what happens there is not recorded now.",
    ),
    "lag": AlertKind(
        "Behind the record",
        "attention",
        "Pages may show what was. Ask operations whether consume, relay and the brokers run.",
    ),
    "parked": AlertKind(
        "Table left out of a view",
        "urgent",
        "Pages lack this table's later facts. Operations: run consume all --status, fix the "
        "cause, then unpark the table.",
    ),
    "camera_lost": AlertKind(
        "Camera lost",
        "urgent",
        "Have it repaired, and record that it is back. Check whether its table has enough cameras.",
    ),
    "clock_off": AlertKind(
        "Camera's clock off",
        "attention",
        "Set the recorder to the house's clock, then have it checked again: replays go by checks.",
    ),
    "dead_letters": AlertKind(
        "Records nobody could read",
        "attention",
        "Operations: look at them with dlq list and dlq show, mend the cause, then dlq replay.",
    ),
}
"""What is known of each kind of alert."""

OTHER = AlertKind("Alert", "attention", "See /docs/operations.html#alerts.")


class Alarm(NamedTuple):
    """An alert as the page shows it."""

    kind: AlertKind
    table: str | None
    round: RoundId | None  # a page to open
    about: str
    says: str
    since_us: int


def alarms(alerts: Sequence[AlertNow]) -> list[Alarm]:
    """Alerts in words, the urgent ones first, then the latest."""
    told = [_alarm(each) for each in alerts]
    return sorted(told, key=lambda each: (each.kind.severity != "urgent", -each.since_us))


def _alarm(each: AlertNow) -> Alarm:
    kind = KINDS.get(each.kind, OTHER)
    table, round_ = _where(each)
    return Alarm(kind, table, round_, each.about, each.says, each.since_us)


def _where(each: AlertNow) -> tuple[str | None, RoundId | None]:
    """The table, and the round, that an alert is about; None where it is about neither."""
    if each.kind in ("payout", "finding", "procedure"):
        table = each.about.partition(":")[2].partition("/")[0]
        return table or None, parse_round(each.about)
    if each.kind == "device_silent":  # /property/place/device
        return (*each.about.split("/"), "", "", "")[2] or None, None
    if each.kind in ("table_quiet", "parked"):  # property/place
        return each.about.partition("/")[2] or None, None
    return None, None
