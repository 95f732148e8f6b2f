"""Waiting for a condition, never for a time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def until(true: Callable[[], object], within_s: float = 120) -> None:
    """Return once it is so. The limit is longer than a machine takes that does other things too."""
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)
