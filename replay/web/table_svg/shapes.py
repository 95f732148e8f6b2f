"""SVG elements as text, and the colours of the felt: presentation attributes only, no style.

A picture carries all it needs, so it is the same on a page, in a file and in print, and no policy
of a page against styles can change it.
"""

from __future__ import annotations

from html import escape

INK = "#f2f7f3"  # text on the felt: 9 to 1
PRINT = "#b9d6c6"  # what is printed on the felt: 6 to 1
FELT, FELT_DARK, LINE = "#17503a", "#113d2c", "#4f8a6c"
RAIL, RAIL_LIGHT = "#3a2a1d", "#6a4d33"
GOLD, RED, BLUE = "#ffd25e", "#ff9d8f", "#a9d0ff"
WHITE, BLACK = "#ffffff", "#15181a"

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', Arial, sans-serif"


def node(name: str, *content: str, **attributes: object) -> str:
    """An element; `_` in an attribute's name is `-` in SVG, None leaves the attribute out."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(content)
    return f"<{name}{told}>{inside}</{name}>" if inside else f"<{name}{told}/>"


def words(text: str, x: float, y: float, size: float = 14, **attributes: object) -> str:
    """Text centred on a point, unless `text_anchor` says otherwise; its baseline is at `y`."""
    attributes.setdefault("text_anchor", "middle")
    attributes.setdefault("fill", INK)
    return node("text", escape(text), x=x, y=y, font_size=size, **attributes)


def fitted(text: str, width: float, size: float) -> float:
    """The size at which a line of text is not wider than this, by the width of a usual letter."""
    return round(min(size, width / max(len(text), 1) / _LETTER), 1)


def moved(x: float, y: float, *content: str, scale: float = 1) -> str:
    """Content drawn about another origin, larger or smaller."""
    size = f" scale({scale:g})" if scale != 1 else ""
    return node("g", *content, transform=f"translate({_value(x)} {_value(y)}){size}")


_LETTER = 0.56  # of the font's size


def _value(value: object) -> str:
    """Numbers to a tenth, without needless noughts; text escaped."""
    if isinstance(value, float):
        return f"{round(value, 1):g}"
    return escape(str(value), quote=True)
