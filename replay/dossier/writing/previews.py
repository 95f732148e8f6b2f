"""A frame small enough to stand in a page: the frame itself where it is, else a smaller copy of it.

The frame itself always lies in `frames/`, and its hash stands beside the copy. A page with every
frame of a round at full size would be hundreds of megabytes.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, NamedTuple

from PIL import Image

if TYPE_CHECKING:
    from pathlib import Path

PNG_OCTETS_MAX = 150_000
"""Up to here a frame stands in the page as it is."""

WIDTH_MAX = 720
QUALITY = 82


class Preview(NamedTuple):
    """What stands in the page. smaller: it is a copy, scaled down and with loss."""

    media: str
    octets: bytes
    smaller: bool


def preview(png: Path) -> Preview:
    """The picture of a frame for a page, the same octets each time. Raises OSError."""
    if png.stat().st_size <= PNG_OCTETS_MAX:
        return Preview("image/png", png.read_bytes(), smaller=False)
    with Image.open(png) as picture:
        small = picture.convert("RGB")
    small.thumbnail((WIDTH_MAX, WIDTH_MAX))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=QUALITY)
    return Preview("image/jpeg", out.getvalue(), smaller=True)
