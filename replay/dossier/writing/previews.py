"""Pictures for the report: a frame if it is small enough, else a reduced copy.

The full frame is always in `frames/`, and its hash is printed beside the copy. A report with every
frame of a round at full size would have hundreds of megabytes.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, NamedTuple

from PIL import Image

if TYPE_CHECKING:
    from pathlib import Path

PNG_OCTETS_MAX = 150_000
"""The largest frame that is embedded unchanged."""

WIDTH_MAX = 720
QUALITY = 82


class Preview(NamedTuple):
    """The embedded picture. smaller: it is a reduced, lossy copy."""

    media: str
    octets: bytes
    smaller: bool


def preview(png: Path) -> Preview:
    """The picture of a frame for a page, always the same bytes. Raises OSError."""
    if png.stat().st_size <= PNG_OCTETS_MAX:
        return Preview("image/png", png.read_bytes(), smaller=False)
    with Image.open(png) as picture:
        small = picture.convert("RGB")
    small.thumbnail((WIDTH_MAX, WIDTH_MAX))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=QUALITY)
    return Preview("image/jpeg", out.getvalue(), smaller=True)
