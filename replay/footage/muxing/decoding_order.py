"""Sets the decoding times of packets as late as possible.

A player that seeks begins at the last keyframe *decoded* by then, even if it is *shown* later, and
skips the frames in between. If every keyframe is decoded at the time it is shown, no frame is
skipped.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

REORDERED_MAX = 32
"""The number of packets that are reordered: codecs delay at most 16."""


class TimedPacket(Protocol):
    """A packet with its times, in ticks, in the order of decoding."""

    pts: int | None
    dts: int | None
    duration: int | None
    is_keyframe: bool


P = TypeVar("P", bound=TimedPacket)


def decoded_late(packets: Iterable[P]) -> Iterator[P]:
    """The same packets with the latest decoding times.

    The last packet lasts to the end of the last shown frame, so that the file has its full length.
    Raises ValueError if a frame is shown before the keyframe that is decoded before it: it may need
    earlier frames, and a decoder that begins at the keyframe fails.
    """
    ahead: deque[P] = deque()
    bounds: deque[tuple[int, int]] = deque()  # for packets ahead; none after a lower one
    number, last, ends = 0, None, None
    for number, packet in enumerate(packets, 1):
        ahead.append(packet)
        bound = _shown(packet) - number  # one tick for each packet decoded before
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
    """Set and return the first packet's decoding time: before any later frame is shown."""
    first = ahead[0]
    while bounds[0][1] < number:
        bounds.popleft()
    if first.is_keyframe and any(_shown(packet) < _shown(first) for packet in ahead):
        raise ValueError("its frames refer to others across keyframes, so no clip can begin there")
    late = bounds[0][0] + number
    first.dts = late if last is None else max(late, last + 1)
    return first.dts


def _shown(packet: TimedPacket) -> int:
    if packet.pts is None:
        raise ValueError("a packet has no presentation time")
    return packet.pts
