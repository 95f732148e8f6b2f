"""Reads one camera in a confined process: its RTSP stream becomes a fragmented MP4, packets copied.

Its connection was opened outside and is given to it. It can open no other, nor any file or program
(ADR 0267). Nothing is decoded.
"""

from __future__ import annotations

import io
import signal
import sys
import time
from bisect import insort
from fractions import Fraction
from typing import TYPE_CHECKING

import av
import av.error
import av.logging
import av.subtitles.stream  # loaded by PyAV when a file is opened: too late here
import msgspec
from av.packet import Packet
from av.video.stream import VideoStream

from replay.footage.decoding.limits import PIXELS_MAX
from replay.footage.decoding.sandbox import seal
from replay.footage.live.messages import FilmMessage, encoded
from replay.footage.live.rtp import PPS, SPS, TICKS, Picture, Pictures, kind_of
from replay.footage.live.rtsp import CameraConnection, CameraError, RtspSession, StreamAddress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Buffer

    from replay.footage.decoding.limits import Confined

OCTETS_A_S_MAX = 8 << 20
"""The most bytes a second that a camera may send, over `RATED_S` seconds."""

RATED_S = 5

PICTURE_S_MAX = 10
"""Seconds for which packets may bring no picture."""

CPU_S = 10  # processor time of the steps between two pictures

GAP_S_MAX = 10
"""Seconds by which the time of a picture may differ from that of the one before."""

_BEGINS = TICKS  # the first picture's time here, so that no decoding time is below zero
_FRAME = TICKS // 30  # the assumed distance of two frames
_REORDERED_MAX = 16  # frames that a decoder may keep back
_START_CODE = b"\0\0\0\1"
_US = 1_000_000
_FRAGMENTED = {"movflags": "empty_moov+default_base_moof+frag_every_frame", "flush_packets": "1"}


class Receiving(msgspec.Struct, frozen=True):
    """The job of the process: the descriptor of the open connection, and what to ask for."""

    descriptor: int
    address: StreamAddress


class _Sink(io.RawIOBase):
    """What was written, until it is taken."""

    def __init__(self) -> None:
        self._written = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, octets: Buffer, /) -> int:
        self._written += octets
        return memoryview(octets).nbytes

    def taken(self) -> bytes:
        taken = bytes(self._written)
        self._written.clear()
        return taken


class DecodingTimes:
    """Gives pictures their decoding times, as they come: none later than it is shown.

    depth: how many pictures a decoder keeps back, by the stream's parameters.
    """

    def __init__(self, depth: int) -> None:
        self._latest = [_BEGINS - _FRAME * number for number in range(depth, 0, -1)]
        self._last = -1

    def of(self, shown: int) -> int | None:
        """The decoding time; None: there is none for it, and the picture must be left out."""
        insort(self._latest, shown)
        decoded = max(self._latest.pop(0), self._last + 1)
        if decoded > shown:  # the parameters have fewer pictures than are kept back
            self._latest.insert(0, self._last)
            return None
        self._last = decoded
        return decoded


class Film:
    """A fragmented MP4 that grows by one picture at a time."""

    def __init__(self, parameters: Sequence[bytes], first: Picture) -> None:
        """Raises CameraError if the parameters are not those of a picture."""
        self.parameters = tuple(parameters)
        annexed = _annexed((*parameters, *first.units))
        try:
            self._probed = av.open(io.BytesIO(annexed), "r", format="h264")
            stream = self._probed.streams.video[0]
        except (av.error.FFmpegError, ValueError, IndexError):
            raise CameraError("its parameters are not those of H.264") from None
        if not 0 < stream.width * stream.height <= PIXELS_MAX:
            raise CameraError("the size of its picture is not acceptable")
        self._sink = _Sink()
        self._out = av.open(self._sink, "w", format="mp4", container_options=dict(_FRAGMENTED))
        track = self._out.add_stream_from_template(stream, opaque=True)
        assert isinstance(track, VideoStream)  # noqa: S101 - as its template is
        self._track = track
        self._track.time_base = Fraction(1, TICKS)
        self._times = DecodingTimes(min(stream.codec_context.has_b_frames, _REORDERED_MAX))
        self._start: int | None = None
        self._under_way: tuple[bool, int] | None = None  # of the picture not yet written

    @property
    def codec(self) -> str:
        """Its name for a player: profile, constraints and level are in the SPS."""
        return f"avc1.{self.parameters[0][1:4].hex()}"

    def begin(self) -> bytes:
        """Its beginning, before any picture."""
        self._out.start_encoding()
        return self._sink.taken()

    def add(self, picture: Picture) -> FilmMessage | None:
        """Add a picture; the message is of the one before, which now has its duration."""
        shown = _BEGINS + picture.ticks
        decoded = self._times.of(shown)
        if decoded is None:
            return None
        if self._start is None:
            self._start = decoded  # which is time 0 of the film
        packet = Packet(_annexed(picture.units))
        packet.pts, packet.dts, packet.is_keyframe = shown, decoded, picture.key
        packet.time_base, packet.stream = Fraction(1, TICKS), self._track
        self._out.mux(packet)
        at_us = (shown - self._start) * _US // TICKS
        before, self._under_way = self._under_way, (picture.key, at_us)
        written = self._sink.taken()
        return FilmMessage("picture", written, *before) if before and written else None


def _annexed(units: Sequence[bytes]) -> bytes:
    return b"".join(_START_CODE + unit for unit in units)


def films(stream: Iterator[Picture], given: Sequence[bytes]) -> Iterator[FilmMessage]:
    """The messages of one stream. given: its parameters, if the description had them.

    Raises CameraError if the stream becomes another: then it is asked for again.
    """
    latest = {kind_of(unit): unit for unit in given}
    film: Film | None = None
    before: int | None = None
    for picture in stream:
        latest |= {kind_of(unit): unit for unit in picture.units if kind_of(unit) in (SPS, PPS)}
        if before is not None and abs(picture.ticks - before) > GAP_S_MAX * TICKS:
            raise CameraError("the time of its pictures jumped")
        before = picture.ticks
        if film is None:
            film = _film(latest, picture)
            yield FilmMessage("begin", film.codec.encode() + film.begin())
        elif (latest[SPS], latest[PPS]) != film.parameters:
            raise CameraError("its picture became another: its size or its encoding")
        made = film.add(picture)
        if made is not None:
            yield made


def _film(latest: dict[int, bytes], first: Picture) -> Film:
    if SPS not in latest or PPS not in latest or len(latest[SPS]) < 4:  # noqa: PLR2004 - with profile and level
        raise CameraError("it sends no parameters of its picture")
    return Film((latest[SPS], latest[PPS]), first)


def pictures(
    session: RtspSession, connection: CameraConnection, payload_type: int
) -> Iterator[Picture]:
    """The pictures of a stream. Raises CameraError if it floods, or brings none."""
    made = Pictures(payload_type)
    rated_s = last_s = time.monotonic()
    octets = connection.octets
    for packet in session.packets():
        now_s = time.monotonic()
        if now_s - rated_s > RATED_S:
            if connection.octets - octets > OCTETS_A_S_MAX * (now_s - rated_s):
                raise CameraError(f"it sends more than {OCTETS_A_S_MAX >> 20} MiB a second")
            rated_s, octets = now_s, connection.octets
        for picture in made.take(packet):
            last_s = now_s
            yield picture
        if now_s - last_s > PICTURE_S_MAX:
            raise CameraError(f"it sent no whole picture for {PICTURE_S_MAX} s")


def main(confined: Confined) -> None:
    """Read the camera until it ends, and say why it ended."""
    av.logging.set_level(None)
    _tell(FilmMessage("confined", msgspec.json.encode(seal(confined))))
    told = msgspec.json.decode(sys.stdin.buffer.readline(), type=Receiving)
    connection = CameraConnection(told.descriptor)
    session = RtspSession(connection, told.address)
    try:
        stream = session.play()
        for message in films(pictures(session, connection, stream.payload_type), stream.parameters):
            signal.setitimer(signal.ITIMER_PROF, CPU_S)
            _tell(message)
    except CameraError as error:
        _tell(FilmMessage("problem", str(error).encode()))
    except av.error.FFmpegError:
        _tell(FilmMessage("problem", b"its pictures do not fit into a film"))


def _tell(message: FilmMessage) -> None:
    sys.stdout.buffer.write(encoded(message))
    sys.stdout.buffer.flush()
