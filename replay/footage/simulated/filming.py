"""Shot lists drawn into segments, several at a time; for simulation only.

Each list is drawn in a process of its own: encoding holds a core. Nothing that replays a round may
import this, as it may not import `replay.footage.simulated.camera`.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING

from ledger.simulate import Plan, line, read_shots, recorded
from replay.footage.simulated.camera import DrawnSegment, draw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

PROCESSES_MAX = 4
"""Encoders at once; more than there are cores only wait for one another."""


def film(
    plan: Plan,
    shots: Sequence[Path],
    footage: Path,
    feed: Path,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Draw every shot list below `footage` and write the recorder's facts to `feed`; how many.

    `progress` is told the shot lists done, and in all. Raises OSError where a folder cannot be
    written, RuntimeError where this OpenCV cannot write VP8.
    """
    segments: list[DrawnSegment] = []
    if shots:
        workers = min(PROCESSES_MAX, os.cpu_count() or 1, len(shots))
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            drawn = [pool.submit(_draw, path, footage) for path in shots]
            for done, each in enumerate(as_completed(drawn), 1):
                segments += each.result()
                if progress:
                    progress(done, len(shots))
    facts = recorded(plan, ((each.fact, each.closed_us) for each in segments))
    feed.write_bytes(b"".join(line(plan, fact) + b"\n" for fact in facts))
    return len(segments)


def _draw(path: Path, footage: Path) -> list[DrawnSegment]:
    return draw(read_shots(path), footage)
