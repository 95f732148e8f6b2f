"""Every generated page of the site, by its path under `docs/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from replay.docs import cli, decisions, errors, facts, games, settings, views

if TYPE_CHECKING:
    from collections.abc import Callable

PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli.page,
    "facts.md": facts.page,
    "errors.md": errors.page,
    "settings.md": settings.page,
    "adr/README.md": decisions.page,
    "reference/view-tables.md": views.page,
    **games.pages(),
}
"""What makes each page, by its path under `docs/`."""


def generate() -> dict[str, str]:
    """The text of every generated page by its path under `docs/`, the same every time."""
    return {path: page() for path, page in PAGES.items()}
