"""Reads QR codes as a phone would: from the squares of a page's SVG, or of a PDF."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

import numpy as np
import zxingcpp

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SQUARES = 4
"""Pixels a module has."""

_QUIET = 4
"""Modules of white around a code."""


def read_svg(page: str) -> str:
    """The text of the one code of a page."""
    [size] = re.findall(r'<svg[^>]* viewBox="0 0 (\d+) \d+" width="240"', page)
    dark = np.zeros((int(size), int(size)), bool)
    for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", page):
        dark[int(y), int(x)] = True
    return _read(dark)


def read_pdf(octets: bytes) -> str:
    """The text of the one code on the pages of a PDF, whose modules are its smallest squares."""
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", octets, re.DOTALL)
    drawn = b"".join(zlib.decompressobj().decompress(each) for each in streams if each[:1] == b"x")
    number = rb"(-?[\d.]+)"
    found = re.findall(rb" ".join([number] * 4) + rb" re f", drawn)
    squares = [tuple(map(float, each)) for each in found]
    side = min(width for _, _, width, _ in squares)
    squares = [each for each in squares if each[2] == side]
    lefts, tops = [x for x, *_ in squares], [y for _, y, *_ in squares]
    size = 4 * round((max(lefts) - min(lefts)) / side / 4) + 1  # sizes are 21, 25, 29, ...
    side = (max(lefts) - min(lefts)) / (size - 1)  # lengths are rounded in the file
    dark = np.zeros((size, size), bool)
    for x, y, *_ in squares:
        dark[round((max(tops) - y) / side), round((x - min(lefts)) / side)] = True
    return _read(np.pad(dark, _QUIET))


def _read(dark: NDArray[np.bool_]) -> str:
    picture = np.where(dark, 0, 255).astype(np.uint8).repeat(_SQUARES, 0).repeat(_SQUARES, 1)
    [code] = zxingcpp.read_barcodes(picture, formats=zxingcpp.BarcodeFormat.QRCode, is_pure=True)
    return str(code.text)
