"""When packets are decoded in a file made here: as late as they can be.

A player that is sent to a frame begins at the last key frame that is *decoded* by then, though it
may be *shown* later; the frames in between are then never seen. Where every key frame is decoded
at the very time it is shown, there are none.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REORDERED_MAX = 32
"""Packets among which the order of showing is restored: codecs hold back 16 at most."""


class TimedPacket(Protocol):
    """A packet with its times, in ticks, in the order of decoding."""

    pts: int | None
    dts: int | None
    duration: int | None
    is_keyframe: bool


P = TypeVar("P", bound=TimedPacket)


def decoded_late(packets: Iterable[P]) -> Iterator[P]:
    """The same packets with the latest times of decoding.

    The last lasts to the end of what is shown last, so that the file is as long as its pictures.
    Raises ValueError where a picture is shown before the key frame it is decoded after: it may
    refer to pictures before that, and a decoder that begins at the key frame fails.
    """
    ahead: deque[P] = deque()
    bounds: deque[tuple[int, int]] = deque()  # of those ahead, none behind a lower one
    number, last, ends = 0, None, None
    for number, packet in enumerate(packets, 1):
        ahead.append(packet)
        bound = _shown(packet) - number  # one tick for each that is decoded before
        while bounds and bounds[-1][0] >= bound:
            bounds.pop()
        bounds.append((bound, number))
        if len(ahead) > REORDERED_MAX:
            last = _settle(ahead, bounds, number - REORDERED_MAX, last)
            yield ahead.popleft()
    if len(ahead) > 1:
        *_, before, latest = sorted(ahead, key=_shown)
        ends = _shown(latest) + (latest.duration or _shown(latest) - _shown(before))
    while ahead:
        last = _settle(ahead, bounds, number + 1 - len(ahead), last)
        if len(ahead) == 1 and ends is not None:
            ahead[0].duration = max(ends - last, 1)
        yield ahead.popleft()


def _settle(ahead: deque[P], bounds: deque[tuple[int, int]], number: int, last: int | None) -> int:
    """Give the first its time of decoding, which is answered: before any later one is shown."""
    first = ahead[0]
    while bounds[0][1] < number:
        bounds.popleft()
    if first.is_keyframe and any(_shown(packet) < _shown(first) for packet in ahead):
        raise ValueError("its pictures refer to others across key frames, so none can begin there")
    late = bounds[0][0] + number
    first.dts = late if last is None else max(late, last + 1)
    return first.dts


def _shown(packet: TimedPacket) -> int:
    if packet.pts is None:
        raise ValueError("a packet has no time at which it is shown")
    return packet.pts
