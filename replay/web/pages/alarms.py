"""Alerts as the page Live shows them: severity, table or round, and what to do now.

The words are those of `consumers.alerts.kinds`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from consumers.alerts.kinds import BY_NAME
from ledger.values import RoundId, parse_round
from replay.web.alert_watch import AlertNow

_OTHER = ("Alert", "attention", "See /docs/how-to/alerts.html#alerts.")
"""The words for a kind that only a later version knows."""


class Alarm(NamedTuple):
    """An alert as the page shows it."""

    title: str
    severity: str  # urgent or attention
    do: str
    table: str | None
    round: RoundId | None  # a page to open
    about: str
    says: str
    since_us: int


def alarms(alerts: Sequence[AlertNow]) -> list[Alarm]:
    """Alerts for the page, urgent ones first, then the latest."""
    told = [_alarm(each) for each in alerts]
    return sorted(told, key=lambda each: (each.severity != "urgent", -each.since_us))


def _alarm(each: AlertNow) -> Alarm:
    kind = BY_NAME.get(each.kind)
    words = (kind.title, kind.severity, kind.do) if kind else _OTHER
    table, round_ = _place(kind.about if kind else "other", each.about)
    return Alarm(*words, table, round_, each.about, each.says, each.since_us)


def _place(of: str, about: str) -> tuple[str | None, RoundId | None]:
    """The table, and the round, that an alert is about; None if it is about neither."""
    if of == "round":  # property:table/day/number, or property:table
        return about.partition(":")[2].partition("/")[0] or None, parse_round(about)
    if of == "device":  # /property/place/device
        return (*about.split("/"), "", "", "")[2] or None, None
    if of == "table":  # property/place
        return about.partition("/")[2] or None, None
    return None, None
