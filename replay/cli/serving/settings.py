"""`settings`: every setting, its value, and the origin of the value."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from infra.settings import Setting, Settings
from replay.cli.shell.app import family
from replay.shell.output import Json, print_list
from replay.shell.settings import TABLE, environment, in_force

app = family()


class SettingShown(NamedTuple):
    """One setting as shown, without user name and password."""

    setting: str
    value: str | None
    origin: str  # "environment" or "default"
    purpose: str


@app.command("settings")
def settings(*, json: Json = False) -> None:
    """Show every setting and its origin.

    Example: ROUND_LEDGER_HTTP_PORT=9000 round-ledger settings
    """
    print_list(
        "Settings", shown(in_force(), environment()), SettingShown._fields, json=json, none=""
    )


def shown(settings: Settings, environ: Mapping[str, str]) -> list[SettingShown]:
    """Every setting with its current value."""
    return [
        SettingShown(
            row.name,
            _value(row, settings),
            "environment" if environ.get(row.name) else "default",
            row.purpose,
        )
        for row in TABLE
    ]


def _value(row: Setting, settings: Settings) -> str | None:
    thresholds = {each.setting.name: number for each, number in settings.thresholds.items()}
    field = row.name.removeprefix("ROUND_LEDGER_").lower()
    value = thresholds.get(row.name, getattr(settings, field, None))
    if value in (None, ""):
        return row.default
    return masked(str(value)) if row.secret else str(value)


def masked(url: str) -> str:
    """A database's address without its secret parts."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "***"
    if not parts.scheme or not parts.hostname:
        return "***"
    return f"{parts.scheme}://***@{parts.hostname}{port}{parts.path}"
