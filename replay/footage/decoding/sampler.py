"""Measures single pictures: codes in them, and figures of brightness, sharpness and movement.

It only runs in a separate process: footage is hostile input (ADR 0013). It judges nothing:
`replay.cameras.health` and `replay.cameras.calibration` interpret the figures.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import cv2
import numpy as np
import numpy.ma  # loaded by numpy when it is asked for a percentile: too late here

from replay.footage.decoding.decoder import sha256_of
from replay.footage.decoding.reader import UnreadableVideoError, index, picture_at
from replay.footage.decoding.sampling import SMALL, Code, Look, Looked, Sight
from replay.footage.decoding.sandbox import serve
from replay.footage.decoding.timecode import read_timecode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from replay.footage.decoding.limits import Confined
    from replay.footage.decoding.sampling import CodeKind

_STILL_SHARE = 99.9  # percent: the rest, 58 pixels, is less than a chip
_MARKERS = 2  # ArUco markers, side by side
_DICTIONARY = cv2.aruco.DICT_4X4_1000


def looked_at(job: Look) -> Iterator[Looked]:
    """Every requested frame. Raises UnreadableVideoError, IndexError."""
    path = Path(job.path)
    times, before = index(path), None
    for number in job.frames:
        picture = picture_at(path, times, number)
        small = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), SMALL)
        grey = small.astype(np.uint8, copy=False)
        shift, alike = _moved(grey, job.against)
        yield Looked(
            number=number,
            pts_us=times.pts_us[number],
            codes=tuple(code for kind in job.codes for code in _codes(kind, picture)),
            mean=round(float(grey.mean()), 3),
            spread=round(float(grey.std()), 3),
            sharpness=round(float(cv2.Laplacian(grey, cv2.CV_64F).var()), 3),
            changed=None if before is None else _changed(before, grey),
            shift=shift,
            alike=alike,
            small=grey.tobytes(),
        )
        before = grey


def _changed(before: NDArray[np.uint8], after: NDArray[np.uint8]) -> float:
    return float(np.percentile(cv2.absdiff(before, after), _STILL_SHARE))


def _moved(
    grey: NDArray[np.uint8], against: bytes | None
) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    """The possible shift of the view against another picture, and their likeness.

    The likeness is given without and with the shift: overlays and things on the table may move too,
    and then the shifted pictures do not match.
    """
    if against is None or len(against) != grey.size:
        return None, None
    reference = np.frombuffer(against, np.uint8).reshape(grey.shape)
    soft = [cv2.GaussianBlur(each, (0, 0), 2).astype(np.float32) for each in (reference, grey)]
    window = cv2.createHanningWindow(SMALL, cv2.CV_32F)
    edges = [cv2.Laplacian(each, cv2.CV_32F) for each in soft]
    (across, down), _ = cv2.phaseCorrelate(edges[0], edges[1], window)
    alike = _alike(soft[0], soft[1], 0, 0), _alike(soft[0], soft[1], round(across), round(down))
    return (round(across, 2), round(down, 2)), alike


def _alike(
    reference: NDArray[np.float32], grey: NDArray[np.float32], across: int, down: int
) -> float:
    """The correlation of the common area of two pictures, the first shifted by pixels; 1: equal."""
    height, width = grey.shape
    if abs(across) > width // 2 or abs(down) > height // 2:
        return 0.0
    there = grey[max(down, 0) : height + min(down, 0), max(across, 0) : width + min(across, 0)]
    here = reference[
        max(-down, 0) : height + min(-down, 0), max(-across, 0) : width + min(-across, 0)
    ]
    level = here - here.mean(), there - there.mean()
    scale = float(np.sqrt((level[0] ** 2).sum() * (level[1] ** 2).sum()))
    return round(float((level[0] * level[1]).sum()) / scale, 4) if scale else 0.0


def _codes(kind: CodeKind, picture: NDArray[np.uint8]) -> Iterator[Code]:
    """Codes of one kind in a picture."""
    if kind == "strip":
        code = read_timecode(picture)
        if code is not None:
            yield Code(kind, str(code.clock_ms))
    elif kind == "qr":
        yield from (Code(kind, text) for text in _qr(picture))
    else:
        markers, numbers, _ = cv2.aruco.ArucoDetector(
            cv2.aruco.getPredefinedDictionary(_DICTIONARY)
        ).detectMarkers(picture)
        if len(markers) == _MARKERS:
            order = sorted(range(_MARKERS), key=lambda each: float(markers[each][0][:, 0].mean()))
            left, right = (int(numbers.flatten()[each]) for each in order)
            yield Code(kind, f"{left},{right}")


def _qr(picture: NDArray[np.uint8]) -> list[str]:
    """The texts of QR codes; the detector based on ArUco is first, since it is faster."""
    for detector in (cv2.QRCodeDetectorAruco(), cv2.QRCodeDetector()):
        found, texts, _, _ = detector.detectAndDecodeMulti(picture)
        if found and any(texts):
            return [text for text in texts if text]
    return []


def answer(job: Look) -> Sight:
    """The measures of one file's frames, or why they cannot be read."""
    found: list[Looked] = []
    try:
        if sha256_of(Path(job.path)) != job.sha256:
            return Sight(problem="it was altered after it was indexed")
        for each in looked_at(job):
            found.append(each)  # noqa: PERF402 - keeps those before a bad one
    except (UnreadableVideoError, OSError, ValueError, IndexError, MemoryError, cv2.error) as error:
        return Sight(tuple(found), str(error) or type(error).__name__)
    return Sight(tuple(found))


def main(confined: Confined) -> None:
    """Answer jobs until the input ends."""
    cv2.setNumThreads(1)
    serve(Look, answer, confined)
