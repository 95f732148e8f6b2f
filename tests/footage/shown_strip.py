"""The strip burned into a test film, read from the picture that a browser shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from replay.footage.decoding.timecode import STRIP_HEIGHT, STRIP_WIDTH, Timecode, read_timecode

if TYPE_CHECKING:
    from playwright.sync_api import Page

READ_STRIP = """
([camera, width, height]) => {
  const video = document.querySelector(`[data-camera="${camera}"] video:not([hidden])`);
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth; canvas.height = video.videoHeight;
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0);
  const top = canvas.height - height;
  return Array.from(context.getImageData(0, top, width, height).data);
}
"""


def strip_octets(page: Page, camera: str) -> list[int]:
    """The strip's pixels, four bytes each."""
    octets: list[int] = page.evaluate(READ_STRIP, [camera, STRIP_WIDTH, STRIP_HEIGHT])
    return octets


def read_strip(page: Page, camera: str) -> Timecode | None:
    """The clock in the picture that a camera's tile shows."""
    rgba = np.array(strip_octets(page, camera), dtype=np.uint8).reshape(
        STRIP_HEIGHT, STRIP_WIDTH, 4
    )
    return read_timecode(rgba[:, :, :3])
