"""A strip of light and dark cells in the picture: the camera's clock, a capture count, a checksum.

Each bit is drawn once normally and once inverted below. So no threshold is needed, and a covered or
blurred strip is unreadable rather than wrong. It is evidence in addition to the recorder's times.
"""

from __future__ import annotations

from binascii import crc_hqx
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

CELL_WIDTH = 6
CELL_HEIGHT = 8
CLOCK_BITS, COUNT_BITS, CHECK_BITS = 48, 16, 16
STRIP_WIDTH = CELL_WIDTH * (CLOCK_BITS + COUNT_BITS + CHECK_BITS)
STRIP_HEIGHT = CELL_HEIGHT * 2

WITNESSES = 3
"""Pictures that must agree before their clock is used automatically."""

RUN_US_MIN = 1_000_000
"""The least microseconds between the first and the last of them."""

_JITTER_US = 50_000  # between a picture's capture and its time in the file
_DARK, _LIGHT = 24, 232
_CONTRAST_MIN = 64  # of 255, between a cell and its inverse: less is unreadable


class Timecode(NamedTuple):
    """The timecode of one frame."""

    clock_ms: int  # the camera's clock, milliseconds since the epoch
    capture: int  # count of the camera's captures, with dropped ones, modulo 65,536


def draw_strip(picture: NDArray[np.uint8], code: Timecode) -> None:
    """Write the strip into the lower left corner; the picture must be at least its size."""
    import numpy as np  # noqa: PLC0415 - importers of `Timecode` alone do not need it

    bits = np.repeat(np.array([bit == "1" for bit in _bits(code)]), CELL_WIDTH)
    row, inverted = (np.where(lit, _LIGHT, _DARK).astype(np.uint8) for lit in (bits, ~bits))
    top = picture.shape[0] - STRIP_HEIGHT
    picture[top : top + CELL_HEIGHT, :STRIP_WIDTH] = row[None, :, None]
    picture[top + CELL_HEIGHT :, :STRIP_WIDTH] = inverted[None, :, None]


def read_timecode(picture: NDArray[np.uint8]) -> Timecode | None:
    """The strip of a decoded frame, or None without a readable one with a valid checksum."""
    import numpy as np  # noqa: PLC0415 - as above

    height, width = picture.shape[:2]
    if height < STRIP_HEIGHT or width < STRIP_WIDTH:
        return None
    strip = picture[height - STRIP_HEIGHT :, :STRIP_WIDTH].astype(np.int64)
    cells = strip.reshape(2, CELL_HEIGHT, -1, CELL_WIDTH, strip.shape[2]).mean(axis=(1, 3, 4))
    contrast = cells[0] - cells[1]
    if np.abs(contrast).min() < _CONTRAST_MIN:
        return None
    value = int("".join("1" if cell > 0 else "0" for cell in contrast), 2)
    code = Timecode(value >> (COUNT_BITS + CHECK_BITS), value >> CHECK_BITS & 0xFFFF)
    return code if value & 0xFFFF == _check(code) else None


def running_us(seen: Sequence[tuple[int, Timecode]]) -> int | None:
    """When the first of these pictures was taken, in microseconds, by the clock that all show.

    seen: the file time of each picture in microseconds, in order, and its timecode. None unless the
    clock runs with the file for at least a second: one wrong strip in 65,536 has a valid checksum,
    and a printed one does not run.
    """
    if len(seen) < WITNESSES or seen[-1][0] - seen[0][0] < RUN_US_MIN:
        return None
    (first_us, first), *others = seen
    for pts_us, code in others:
        ran_us = (code.clock_ms - first.clock_ms) * 1000
        if abs(ran_us - (pts_us - first_us)) > _JITTER_US or code.capture == first.capture:
            return None
    return first.clock_ms * 1000


def _body(code: Timecode) -> int:
    return code.clock_ms << COUNT_BITS | code.capture


def _check(code: Timecode) -> int:
    return crc_hqx(_body(code).to_bytes((CLOCK_BITS + COUNT_BITS) // 8, "big"), 0xFFFF)


def _bits(code: Timecode) -> str:
    return f"{_body(code) << CHECK_BITS | _check(code):0{CLOCK_BITS + COUNT_BITS + CHECK_BITS}b}"
