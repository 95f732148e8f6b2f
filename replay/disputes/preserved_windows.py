"""A window that is preserved without a dispute: its name, the ids of its locks, how it stands.

The name says from when to when it goes by the reference clock, which locks themselves do not: they
are told in each camera's own time. It stands in their ids, so the record holds it as it came. How
such a name is read stands beside the checker of dossiers, which must do without this module.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Literal, NamedTuple

from ledger.values import format_time
from replay.checker.window import LOCK_ID, span_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "LOCKS",
    "PREFIX",
    "Locked",
    "Released",
    "Window",
    "lock_ids",
    "named_by",
    "span_of",
    "state_of",
    "window_name",
]

LOCKS = "locks"
"""The device that tells of locks: `/<property>/surveillance/locks`."""

PREFIX = "P-"
"""What the name of every window begins with."""

State = Literal["locked", "partly_released", "released", "expired"]


class Locked(NamedTuple):
    """A stretch of a camera, by its own clock, that was locked for a window."""

    camera: str
    from_us: int
    to_us: int
    holds: bool  # on any of it
    whole: bool  # on all of it
    gone: bool  # all of it is past its keeping
    expires_us: int | None  # when the last of it may expire, unlocked; None: it has


class Released(NamedTuple):
    """Footage of a window that somebody let go of, by the camera's own clock."""

    camera: str
    from_us: int
    to_us: int
    by: str
    because: str
    at_us: int  # when that was told


class Window(NamedTuple):
    """A stretch of time that was preserved without a dispute; times by the reference."""

    name: str
    property: str
    table: str | None  # None: it is one camera's
    from_us: int
    to_us: int
    by: str
    because: str
    locks: Sequence[Locked]  # one a camera
    released: Sequence[Released]  # in the order told
    status: State
    expires_us: int | None  # when the last of it may expire, once no lock holds; None: it has


def state_of(locks: Sequence[Locked]) -> State:
    """Whether the footage of a window is locked, and if not, whether it is still to be had."""
    if all(each.whole for each in locks):
        return "locked"
    if any(each.holds for each in locks):
        return "partly_released"
    return "expired" if all(each.gone for each in locks) else "released"


_TELLING = re.compile(r"[-:]|\.0{6}(?=Z)")


def window_name(from_us: int, to_us: int) -> str:
    """A name for a window, as P-20261120T190000Z-20261120T192000Z-3f9a2c; never twice the same."""
    start, end = (_TELLING.sub("", format_time(each)) for each in (from_us, to_us))
    return f"{PREFIX}{start}-{end}-{secrets.token_hex(3)}"


def lock_ids(name: str, count: int) -> Sequence[str]:
    """The ids of the locks of a window; each says how many there are, so none can be left out."""
    return [f"{name}.{number}of{count}" for number in range(1, count + 1)]


def named_by(lock_id: str) -> str | None:
    """The window that a lock with this id preserves; None where it was not put so."""
    match = LOCK_ID.fullmatch(lock_id)
    return match.group(1) if match else None
