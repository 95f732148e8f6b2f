"""Every generated page of the site, by its path under `docs/`."""

from __future__ import annotations

from replay.docs import cli, decisions, errors, facts, games, settings, views


def generate() -> dict[str, str]:
    """The text of every generated page by its path under `docs/`, the same every time."""
    return {
        "cli.md": cli.page(),
        "facts.md": facts.page(),
        "errors.md": errors.page(),
        "settings.md": settings.page(),
        "adr/README.md": decisions.page(),
        "reference/view-tables.md": views.page(),
        **games.pages(),
    }
