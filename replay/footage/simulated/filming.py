"""Draws shot lists into segments, several in parallel; for simulation only.

Each list is drawn in a separate process, since encoding uses a core. Code that replays a round must
not import this, nor `replay.footage.simulated.camera`.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING

import cv2

from ledger.simulate import Plan, line, read_shots, recorded
from replay.footage.simulated.camera import DrawnSegment, draw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

PROCESSES_MAX = 4
"""Parallel encoders; more than the number of cores would only wait."""


def film(
    plan: Plan,
    shots: Sequence[Path],
    footage: Path,
    feed: Path,
    progress: Callable[[int, int], None] | None = None,
) -> int:
    """Draw every shot list under `footage`, write the recorder's facts to `feed`; their number.

    progress: called with shot lists done and total. Raises OSError if a folder cannot be written,
    RuntimeError if this OpenCV cannot write VP8.
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
    cv2.setNumThreads(1)  # each process has a core for itself
    return draw(read_shots(path), footage)
