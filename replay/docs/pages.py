"""Every generated page of the site, by its path under `docs/`, and every generated part of one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from replay.docs import cli, decisions, errors, facts, games, json_output, settings, views
from replay.docs.processes import log_events, metrics

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES: dict[str, Callable[[], str]] = {
    **cli.pages(),
    "facts.md": facts.page,
    "errors.md": errors.page,
    "settings.md": settings.page,
    "adr/README.md": decisions.page,
    **games.pages(),
}
"""What makes each page, by its path under `docs/`."""

PARTS: dict[str, Callable[[], str]] = {
    "alerts": settings.alerts,
    "commands": cli.part,
    "json": json_output.part,
    "log events": log_events.part,
    "metrics": metrics.part,
    "view tables": views.part,
}
"""What makes each part of a kept page, by the name in its mark: `<!-- generated: metrics -->`."""

MARK = re.compile(r"^<!-- generated: (.+) -->$", re.MULTILINE)


def generate() -> dict[str, str]:
    """The text of every generated page by its path under `docs/`, the same every time."""
    return {path: page() for path, page in PAGES.items()}


def with_parts(text: str) -> str:
    """A kept page with its generated parts in place of their marks."""
    return MARK.sub(lambda mark: PARTS[mark[1]](), text)
