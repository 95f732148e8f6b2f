"""SVG elements as text, and the colours of the felt, as presentation attributes without styles.

A picture is complete: it is the same on a page, in a file and in print, and a page's policy against
styles does not affect it.
"""

from __future__ import annotations

from html import escape

INK = "#f2f7f3"  # text on the felt: contrast 9 to 1
PRINT = "#b9d6c6"  # print on the felt: contrast 6 to 1
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
    """Text centred on a point unless `text_anchor` is given; its baseline is at `y`."""
    attributes.setdefault("text_anchor", "middle")
    attributes.setdefault("fill", INK)
    return node("text", escape(text), x=x, y=y, font_size=size, **attributes)


def fitted(text: str, width: float, size: float) -> float:
    """The font size at which a line of text fits a width, by the average letter."""
    return round(min(size, width / max(len(text), 1) / _LETTER), 1)


def moved(x: float, y: float, *content: str, scale: float = 1) -> str:
    """Content moved to another origin and scaled."""
    size = f" scale({scale:g})" if scale != 1 else ""
    return node("g", *content, transform=f"translate({_value(x)} {_value(y)}){size}")


_LETTER = 0.56  # width of an average letter, by font size


def _value(value: object) -> str:
    """A number rounded to a tenth, without trailing zeros; or escaped text."""
    if isinstance(value, float):
        return f"{round(value, 1):g}"
    return escape(str(value), quote=True)
