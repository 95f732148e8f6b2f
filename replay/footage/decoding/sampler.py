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
_OVERLAY = (3, 97)  # percent of a picture's levels that no overlay has
_STAYS = 2  # pixels of `SMALL`: a point that is moved less has stayed
_AGREE = 3  # pixels by which a point may miss where the others would have it
_TURNED_MIN = 25  # points that are moved alike; hands, chips and cards move up to ten
_CORNERS = np.array(((0, 0), (SMALL[0], 0), (0, SMALL[1]), SMALL), float)
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
            spread=round(_spread(grey), 3),
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

    The view may be turned, too: the shift is that of the corner that is moved most. The likeness is
    given without and with it: things on the table move as well, and then the pictures do not match.
    """
    if against is None or len(against) != grey.size:
        return None, None
    reference = np.frombuffer(against, np.uint8).reshape(grey.shape)
    turned = _turned(reference, grey)
    if turned is None:
        return None, None
    far = _CORNERS @ turned[:, :2].T + turned[:, 2] - _CORNERS
    across, down = max(far.tolist(), key=lambda each: max(map(abs, each)))
    there = cv2.warpAffine(np.full_like(reference, 255), turned, SMALL) > 0
    laid = cv2.warpAffine(reference, turned, SMALL).astype(np.uint8)
    alike = _alike(reference, grey, there), _alike(laid, grey, there)
    return (round(across, 2), round(down, 2)), alike


def _turned(reference: NDArray[np.uint8], grey: NDArray[np.uint8]) -> NDArray[np.float64] | None:
    """The shift and turn by which points of a picture lie elsewhere in another; None: too few do.

    Points that stay are left out: those of the overlay stay, though the view be turned.
    """
    finder = cv2.ORB.create(
        nfeatures=1000, nlevels=4, edgeThreshold=12, patchSize=21, fastThreshold=7
    )
    (here, of_here), (there, of_there) = (
        finder.detectAndCompute(_twice(each), None) for each in (reference, grey)
    )
    if any(each is None for each in (of_here, of_there)):
        return None
    pairs = cv2.BFMatcher(cv2.NORM_HAMMING, crossCheck=True).match(of_here, of_there)
    before = np.array([here[each.queryIdx].pt for each in pairs], np.float32) / 2
    after = np.array([there[each.trainIdx].pt for each in pairs], np.float32) / 2
    moved = np.abs(before - after).max(axis=1) >= _STAYS if pairs else np.zeros(0, bool)
    if moved.sum() < _TURNED_MIN:
        return None
    turned, agree = cv2.estimateAffinePartial2D(
        before[moved], after[moved], ransacReprojThreshold=_AGREE
    )
    return None if turned is None or agree.sum() < _TURNED_MIN else turned


def _twice(small: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return cv2.resize(small, None, fx=2, fy=2, interpolation=cv2.INTER_CUBIC).astype(np.uint8)


def _alike(
    reference: NDArray[np.uint8], grey: NDArray[np.uint8], there: NDArray[np.bool_]
) -> float:
    """The correlation of two pictures where both have something; 1: equal."""
    soft = [cv2.GaussianBlur(each, (0, 0), 2)[there].astype(float) for each in (reference, grey)]
    level = [each - each.mean() for each in soft]
    scale = float(np.sqrt((level[0] ** 2).sum() * (level[1] ** 2).sum()))
    return round(float((level[0] * level[1]).sum()) / scale, 4) if scale else 0.0


def _spread(grey: NDArray[np.uint8]) -> float:
    """The standard deviation without the lightest and darkest levels: an overlay has those."""
    low, high = np.percentile(grey, _OVERLAY)
    return float(grey[(grey >= low) & (grey <= high)].std())


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
