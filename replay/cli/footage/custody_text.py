"""What is kept of footage, to read and to pipe."""

from collections.abc import Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

from ledger.facts import FootageLocked, FootageReleased
from ledger.facts.cameras import FootageHandled
from ledger.values import format_time
from replay.cameras.retention import Run
from replay.shell.output import say, show_table
from replay.text.local_time import both


class Handled(NamedTuple):
    """A stretch of a camera, by its clock, and who locked or released it."""

    camera: str
    from_us: int
    to_us: int
    body: FootageHandled


def due_json(run: Run) -> dict[str, object]:
    """What expires, when, and why then."""
    return {
        "what": "expires",
        "camera": run.camera,
        "from": format_time(run.from_us),
        "to": format_time(run.to_us),
        "segments": run.segments,
        "area": run.area,
        "reason": run.reason,
        "days": run.days,
        "expires": format_time(run.expires_us),
        "expires_last": format_time(run.expires_last_us),
    }


def handled_json(what: str, each: Handled) -> dict[str, object]:
    """What is locked or was released, by whom, and why."""
    return {
        "what": what,
        "camera": each.camera,
        "from": format_time(each.from_us),
        "to": format_time(each.to_us),
        "by": each.body.by,
        "because": each.body.because,
        "dispute": each.body.dispute,
        "window": window_of(each.body),
    }


def window_of(body: FootageHandled) -> str | None:
    """The window that a lock preserves, or that a release lets go."""
    return body.window if isinstance(body, FootageLocked | FootageReleased) else None


def tell_kept(
    soon: Sequence[Run],
    locked: Sequence[Handled],
    released: Sequence[Handled],
    within: int,
    zone: ZoneInfo,
) -> None:
    """Three tables; footage by each camera's own clock, expiry by UTC."""
    show_table(
        f"Expires within {within} days",
        ("camera", "from", "to", "segments", "kept for", "expires"),
        (
            (
                run.camera,
                format_time(run.from_us)[:-4],
                format_time(run.to_us)[:-4],
                run.segments,
                f"{run.days} days ({run.area}: {run.reason})",
                both(run.expires_us, zone),
            )
            for run in soon
        ),
        right="segments",
    )
    _table("Locked", locked)
    if released:
        _table("Released", released)
    if not soon and not locked:
        say("Nothing expires by then, and nothing is locked.")


def _table(title: str, rows: Sequence[Handled]) -> None:
    show_table(
        title,
        ("camera", "from", "to", "by", "because", "for"),
        (
            (
                each.camera,
                format_time(each.from_us)[:-4],
                format_time(each.to_us)[:-4],
                each.body.by,
                each.body.because,
                each.body.dispute or window_of(each.body) or "",
            )
            for each in rows
        ),
    )
