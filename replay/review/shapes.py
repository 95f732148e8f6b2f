"""Shapes beside a frame, drawn as SVG above its picture; the picture itself is not changed."""

from __future__ import annotations

from html import escape
from math import hypot
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ledger.facts.review import FrameShape

HEAD = 3
"""The length of an arrow's head: this percentage of the frame's width."""


def shapes_svg(shapes: Iterable[FrameShape], width: int, height: int) -> str:
    """All shapes as one picture with the size of the frame. Classes give colours."""
    drawn = "".join(_shape(each, width) for each in shapes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="shapes" viewBox="0 0 {width} {height}"'
        f' role="img" aria-label="Shapes beside the frame">{drawn}</svg>'
    )


def _shape(shape: FrameShape, width: int) -> str:
    if not shape.points:
        return ""
    title = f"<title>{escape(shape.text)}</title>" if shape.text else ""
    (x, y), (to_x, to_y) = shape.points[0], shape.points[-1]
    kind = shape.kind if shape.kind in ("arrow", "box", "mask") else "box"
    if kind == "arrow":
        return f'<path class="arrow" d="{arrow_path(x, y, to_x, to_y, width)}">{title}</path>'
    left, top = min(x, to_x), min(y, to_y)
    size = f'width="{abs(to_x - x)}" height="{abs(to_y - y)}"'
    return f'<rect class="{kind}" x="{left}" y="{top}" {size}>{title}</rect>'


def arrow_path(x: int, y: int, to_x: int, to_y: int, width: int) -> str:
    """A line with a head at its end."""
    long, head = hypot(to_x - x, to_y - y) or 1, width * HEAD / 100
    along_x, along_y = (to_x - x) / long * head, (to_y - y) / long * head
    sides = (
        (to_x - along_x - along_y / 2, to_y - along_y + along_x / 2),
        (to_x - along_x + along_y / 2, to_y - along_y - along_x / 2),
    )
    (a, b), (c, d) = sides
    return f"M{x} {y}L{to_x} {to_y}M{a:.0f} {b:.0f}L{to_x} {to_y}L{c:.0f} {d:.0f}"
