"""Draws shot lists into segments, several in parallel; for simulation only.

Each list is drawn in a separate process, since encoding uses a core. Code that replays a round must
not import this, nor `replay.footage.simulated.camera`.
"""

from __future__ import annotations

import os
import signal
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, as_completed, wait
from functools import lru_cache
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

import cv2

from ledger.simulate import Plan, line, read_shots, recorded
from replay.footage.simulated.camera import DrawnSegment, draw, draw_one, labels, painter_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from replay.footage.simulated.painter import Painter

PROCESSES_MAX = 4
"""Parallel encoders; more than the number of cores would only wait."""

NICE = 10
"""How much the processes that draw behind give way to others."""

LOOKS_EVERY_S = 0.5
"""Seconds after which it is asked whether to stop."""


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


class SegmentBehind(NamedTuple):
    """A segment that is drawn behind: its whole file, and its place among how many."""

    path: Path
    done: int
    of: int


def film_behind(
    shots: Sequence[Path], footage: Path, stop: Callable[[], bool]
) -> Iterator[SegmentBehind]:
    """Draw the segments of shot lists, and give each once its file is whole.

    Those that were drawn before come first. The others are drawn by processes that give way to
    others. Once `stop` is true, those under way are finished, and no further one is begun.
    """
    every = [
        (path, number, footage / label)
        for path in shots
        for number, label in enumerate(labels(read_shots(path).plan))
    ]
    there = [each for each in every if each[2].is_file()]
    for done, (_, _, file) in enumerate(there, 1):
        yield SegmentBehind(file, done, len(every))
    missing = iter([each for each in every if each not in there])
    workers, done = min(PROCESSES_MAX, os.cpu_count() or 1), len(there)
    under_way: set[Future[str]] = set()
    with ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_give_way
    ) as pool:
        while True:
            for path, number, _ in islice(missing, 0 if stop() else workers - len(under_way)):
                under_way.add(pool.submit(_draw_one, path, number, footage))
            if not under_way:
                return
            drawn, under_way = wait(under_way, LOOKS_EVERY_S, FIRST_COMPLETED)
            for each in drawn:
                done += 1
                yield SegmentBehind(footage / each.result(), done, len(every))


def _give_way() -> None:
    """Let other processes go first, end with the one that asks, and leave signals to that one."""
    os.nice(NICE)
    cv2.setNumThreads(1)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait_for([sentinel])
    os._exit(1)


def _draw_one(path: Path, number: int, footage: Path) -> str:
    return draw_one(_painter(path), number, footage).fact.path


@lru_cache(maxsize=1)
def _painter(path: Path) -> Painter:
    return painter_of(read_shots(path))


def _draw(path: Path, footage: Path) -> list[DrawnSegment]:
    cv2.setNumThreads(1)  # each process has a core for itself
    return draw(read_shots(path), footage)
