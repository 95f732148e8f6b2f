"""A QR code as SVG, drawn on the server: no other party sees its text."""

import numpy as np
from markupsafe import Markup, escape

QUIET = 4
"""Modules of white around the code (ISO/IEC 18004)."""


def svg(text: str, label: str) -> Markup:
    """The QR code of a text. label: what it is, for who cannot see it."""
    modules = _modules(text)
    size = len(modules) + 2 * QUIET
    squares = "".join(
        f"M{x + QUIET} {y + QUIET}h1v1h-1z"
        for y, row in enumerate(modules)
        for x, is_dark in enumerate(row)
        if is_dark
    )
    return Markup(  # noqa: S704 - numbers, and a label that is escaped
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {size} {size}" width="240"'
        f' height="240" shape-rendering="crispEdges"><rect width="{size}" height="{size}"'
        f' fill="#fff"/><path fill="#000" d="{squares}"/></svg>'
    )


def _modules(text: str) -> list[list[bool]]:
    """The code's modules without the white around them; True is dark."""
    import cv2  # noqa: PLC0415 - few processes of the pages ever draw one

    is_dark = np.asarray(cv2.QRCodeEncoder.create().encode(text)) == 0
    rows, columns = np.flatnonzero(is_dark.any(axis=1)), np.flatnonzero(is_dark.any(axis=0))
    cut = is_dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return [[bool(each) for each in row] for row in cut]
