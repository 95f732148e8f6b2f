"""The page `settings.md` of the site: every setting and what holds without it."""

from __future__ import annotations

from infra.settings import TABLE
from replay.docs import markdown


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
