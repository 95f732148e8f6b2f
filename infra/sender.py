"""Who brings the facts that this program records itself: the signed-in user, or this login."""

from __future__ import annotations

import getpass
import os
from contextvars import ContextVar

SENDER: ContextVar[str | None] = ContextVar("sender", default=None)
"""The user whose request is under way, as `Received.sender`; None in a command."""


def current_sender() -> str:
    """Who records now: `user:<name>` in a request of a user, else `os:<login>`."""
    return SENDER.get() or os_login()


def os_login() -> str:
    """The login that runs this process: `os:<login>`; its number if it has no name."""
    try:
        return f"os:{getpass.getuser()}"
    except (KeyError, OSError):
        return f"os:{os.getuid()}"
