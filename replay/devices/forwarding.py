"""Stores and forwards the facts of a growing file to a remote ledger or the one here.

The checkpoint is saved only after every line before it was answered. After a crash facts are sent
again and never skipped; the ledger answers repeats with `duplicate`. One block is in memory at a
time. No fact is judged here; lines that the ledger refuses for good are set aside beside the file.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from replay.devices.file_tail import keep_place, set_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from replay.devices.file_tail import Block, FileTail, TailLine, TailListener

POLL_S = 0.5
"""Seconds between looks at an unchanged file."""

PAUSE_S_MIN, PAUSE_S_MAX = 0.5, 30.0
"""The first and the longest pause after a refusal; each doubles the last, less a random part."""

ASKED_S_MAX = 300.0
"""The longest pause that a server may ask for, seconds."""

REQUEST_OCTETS_MAX = 256 * 1024
"""The most bytes sent at once, unless one line alone is longer."""


class NotTaken(Exception):  # noqa: N818 - an answer, not a fault of this program
    """A request that may not have been kept: it is sent again."""

    def __init__(
        self,
        says: str,
        *,
        retry_s: float | None = None,
        smaller: bool = False,
        never: bool = False,
    ) -> None:
        super().__init__(says)
        self.says = says
        self.retry_s = retry_s  # seconds the server asked to wait
        self.smaller = smaller or never  # one of the lines may be at fault: send fewer at once
        self.never = never  # and that line will never be accepted


class Send(Protocol):
    """A destination of lines: an answer for each, in order, with a `verdict`. Raises `NotTaken`."""

    def __call__(self, lines: Sequence[bytes]) -> Sequence[object]:
        """Send lines, and wait until they are kept."""


class Manner(NamedTuple):
    """Options and callbacks of forwarding."""

    stop: Callable[[], bool]
    pause: Callable[[float], None]  # may return early when stopping
    answered: Callable[[TailLine, object], None]
    told: TailListener


def forward(path: Path, tail: FileTail, send: Send, manner: Manner) -> int:
    """Forward lines until stopped; the number of lines set aside as refused for good."""
    aside = 0
    while not manner.stop():
        block = tail.next()
        if block is None:
            manner.pause(POLL_S)
            continue
        answers = _answers(block, send, manner)
        if answers is None:
            break
        for line, answer in zip(block.lines, answers, strict=True):
            if answer is None:
                set_aside(path, tail.part(line))
                aside += 1
                manner.told("a line was set aside: it can never be accepted", line=line.number)
            else:
                manner.answered(line, answer)
        keep_place(path, block.after)
    return aside


def _answers(block: Block, send: Send, manner: Manner) -> list[object] | None:
    """An answer for every line, None for refused ones; None alone when stopping."""
    found: dict[int, object] = {}
    todo = [[line for line in block.lines if line.octets is not None]]
    tries = 0
    while todo:
        lines = todo.pop(0)
        now, later = _fitting(lines)
        if later:
            todo.insert(0, later)
        if not now:
            continue
        try:
            answers = send([line.octets for line in now if line.octets is not None])
        except NotTaken as refusal:
            half = len(now) // 2
            if refusal.smaller and half:
                todo[:0] = [now[:half], now[half:]]
                continue
            if refusal.never:
                continue
            todo.insert(0, now)
            tries += 1
            manner.told(
                "facts were not accepted",
                tries=tries,
                because=refusal.says,
                line=now[0].number,
                octets_waiting=block.waiting,
            )
            manner.pause(_pause_s(refusal, tries))
            if manner.stop():
                return None
        else:
            if tries:
                manner.told("facts are accepted again", tries=tries)
            tries = 0
            found |= zip((line.number for line in now), answers, strict=True)
    return [found.get(line.number) for line in block.lines]


def _fitting(lines: list[TailLine]) -> tuple[list[TailLine], list[TailLine]]:
    """As many lines as fit into one request, at least one; and the rest.

    A line that is not JSON is sent alone: in a batch it could spoil the others.
    """
    octets = 0
    for at, line in enumerate(lines):
        octets += len(line.octets or b"")
        if not _is_json(line.octets or b""):
            return (lines[:at], lines[at:]) if at else (lines[:1], lines[1:])
        if at and octets > REQUEST_OCTETS_MAX:
            return lines[:at], lines[at:]
    return lines, []


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _pause_s(refusal: NotTaken, tries: int) -> float:
    """A pause that grows with every try, randomised so that devices do not retry together."""
    longest = min(PAUSE_S_MIN * 2 ** min(tries - 1, 16), PAUSE_S_MAX)
    pause_s: float = longest * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, hides nothing
    return max(pause_s, min(refusal.retry_s or 0.0, ASKED_S_MAX))
