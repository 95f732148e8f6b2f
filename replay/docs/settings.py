"""The page `settings.md` of the site, and the table of alerts, whose thresholds are settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.alerts.kinds import KINDS
from replay.docs import markdown
from replay.shell.settings import TABLE

if TYPE_CHECKING:
    from infra.settings import Threshold


def page() -> str:
    """The page."""
    return markdown.page(
        "Settings",
        "Read from the environment once, when a command starts; an empty value counts as not set, "
        "and a name with the prefix `ROUND_LEDGER_` that is not listed here is refused. "
        "`round-ledger settings` shows the values in force.",
        markdown.table(
            ("setting", "without it", "what it is for"),
            (
                (
                    markdown.code(row.name),
                    row.default,
                    row.purpose + (" Secret: never printed." if row.secret else ""),
                )
                for row in TABLE
            ),
        ),
    )


def alerts() -> str:
    """The table, in the order of the settings."""
    return markdown.table(
        ("alert", "condition", "threshold and its default", "do"),
        (
            (
                markdown.code(kind.name),
                kind.when,
                ", ".join(map(_threshold, kind.thresholds)),
                kind.runbook,
            )
            for kind in KINDS
        ),
    )


def _threshold(each: Threshold) -> str:
    return f"{markdown.code(each.name)} ({each.default})"
