"""Writes a drawn segment as H.264 in MP4, where the optional extra `video` is installed.

Each frame keeps its own millisecond. One thread and no dates: the same pictures give the same
bytes.
"""

from __future__ import annotations

from fractions import Fraction
from io import BytesIO
from typing import TYPE_CHECKING

import av
from av.video.stream import VideoStream

from ledger.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

_X264 = {"preset": "ultrafast", "tune": "zerolatency", "crf": "24", "bf": "0", "g": "20"}
_MP4 = {"movflags": "+faststart", "fflags": "+bitexact"}
_TICK = Fraction(1, 1000)


def write_mp4(frames: Iterable[tuple[int, NDArray[np.uint8]]], size: tuple[int, int]) -> bytes:
    """An MP4 of these pictures, each with its milliseconds from the first."""
    file = BytesIO()
    with av.open(
        file, "w", format="mp4", container_options=_MP4,
        io_open=lambda *_: BytesIO(file.getvalue()),  # read again, to put the index first
    ) as out:  # fmt: skip
        track = out.add_stream("libx264", rate=10, options=dict(_X264))
        if not isinstance(track, VideoStream):
            raise Unavailable(
                "This build of PyAV cannot write H.264",
                where=av.__file__,
                hint="Install the wheel of the extra `video`.",
            )
        track.width, track.height = size
        track.pix_fmt, track.thread_count = "yuv420p", 1
        track.time_base = track.codec_context.time_base = _TICK
        for at_ms, picture in frames:
            frame = av.VideoFrame.from_ndarray(picture, format="bgr24").reformat(format="yuv420p")
            frame.pts, frame.time_base = at_ms, _TICK
            out.mux(track.encode(frame))
        out.mux(track.encode(None))
    return file.getvalue()
