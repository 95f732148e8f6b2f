"""QR codes: their squares, and as SVG. They are drawn here, so no other party sees their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from collections.abc import Sequence

QUIET = 4
"""Modules of white around the code (ISO/IEC 18004)."""


def svg(text: str, label: str) -> Markup:
    """The QR code of a text. label: what it is, for who cannot see it."""
    dark = modules(text)
    size = len(dark) + 2 * QUIET
    squares = "".join(
        f"M{x + QUIET} {y + QUIET}h1v1h-1z"
        for y, row in enumerate(dark)
        for x, is_dark in enumerate(row)
        if is_dark
    )
    return Markup(  # noqa: S704 - numbers, and a label that is escaped
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {size} {size}" width="240"'
        f' height="240" shape-rendering="crispEdges"><rect width="{size}" height="{size}"'
        f' fill="#fff"/><path fill="#000" d="{squares}"/></svg>'
    )


def modules(text: str) -> Sequence[Sequence[bool]]:
    """The code's rows without the white around them; True is dark."""
    import segno  # noqa: PLC0415 - few processes ever draw one

    return [[bool(each) for each in row] for row in segno.make_qr(text).matrix]
