"""Writes parts of footage as files that browsers play: packets copied, or frames re-encoded.

The only module that uses PyAV. It only runs in a separate process: footage is hostile input (ADR
0013). Sound is left out. Each frame keeps its own time.
"""

from __future__ import annotations

from collections import deque
from contextlib import contextmanager
from fractions import Fraction
from itertools import chain, pairwise
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import av
import av.error
import av.logging
import av.subtitles.stream  # loaded by PyAV when a file is opened: too late here
import cv2
from av.video.frame import PictureType
from av.video.stream import VideoStream

from ledger.values import format_time
from replay.footage.decoding.files import created, opened
from replay.footage.decoding.hashing import sha256_of
from replay.footage.decoding.limits import PIXELS_MAX
from replay.footage.decoding.sandbox import serve
from replay.footage.muxing.decoding_order import REORDERED_MAX, decoded_late
from replay.footage.muxing.muxing import Part, Writing, Written
from replay.footage.muxing.vp8_mp4 import TICKS, Sample, Track, write_vp8

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    from av.container import Container, InputContainer, OutputContainer
    from av.packet import Packet
    from av.video.frame import VideoFrame

    from replay.footage.decoding.limits import Confined

# Without the lists a "video" may be a playlist that names any file or address.
_OPEN_ONLY = {
    "protocol_whitelist": "file",
    "format_whitelist": "matroska,webm,mov,mp4,avi,mpegts",
}
_US = 1_000_000
_BACK_US = 100_000  # seek this far before the target, then four times as far, and so on
_MP4_TICK = Fraction(1, TICKS)
_ROUNDED_US = 1_000  # for a container that counts milliseconds
_ONE_FRAME_US = 33_333  # the assumed length of a clip's only frame
_VP8_DECODER = "vp8"  # as FFmpeg names it
_LONG_US = 1 << 50  # microseconds: longer than any file, and still a valid number of ticks
_X264 = {"preset": "veryfast", "crf": "20", "bf": "0", "g": "60"}
_VP8 = {"deadline": "realtime", "cpu-used": "8", "g": "60", "crf": "20", "b": "4M"}
_PREVIEW = {**_X264, "crf": "26", "g": "15", "tune": "fastdecode"}
_PREVIEW_SIZE = (640, 360)
_PREVIEW_RATE = 15  # frames a second at most
_THREADS = 2


class CannotWriteError(Exception):
    """The parts cannot be written; its text says why."""


class _Source(NamedTuple):
    """A part: its encoding, and where it begins."""

    part: Part
    name: str
    size: tuple[int, int]
    extra: bytes | None
    tick: Fraction
    first: int  # ticks: when its first frame is shown
    audio: bool

    def us(self, ticks: int) -> int:
        """Ticks as microseconds from the file's first frame."""
        return round((ticks - self.first) * self.tick * _US)

    def at(self, us: int) -> int:
        """Microseconds from the file's first frame as ticks."""
        return self.first + round(us / self.tick / _US)


def write(job: Writing) -> Written:
    """Write one file. Raises CannotWriteError, OSError, ValueError."""
    for part in job.parts:
        if sha256_of(Path(part.path)) != part.sha256:
            raise CannotWriteError("it was altered after it was indexed")
    sources = [_source(part) for part in job.parts]
    _require_alike(sources, copied=job.how == "copy")
    audio = any(source.audio for source in sources)
    if job.how == "copy" and job.container == "mp4" and sources[0].name == _VP8_DECODER:
        return Written(*_copy_vp8(job, sources), audio=audio)
    options = {"movflags": "+faststart"} if job.container == "mp4" else {}
    with (
        created(Path(job.out)) as file,
        av.open(
            file, "w", format=job.container, container_options=options, io_open=_read_again(job)
        ) as out,
    ):
        if job.note:
            out.metadata["comment"] = job.note
        began, frames = (_copy if job.how == "copy" else _encode)(job, sources, out)
    return Written(began, frames, audio=audio)


def _read_again(job: Writing) -> Callable[[str, int, dict[str, str]], BinaryIO]:
    """How FFmpeg reads what it has written, to put an MP4's index first, and nothing else."""
    return lambda _name, _flags, _options: opened(Path(job.out))


@contextmanager
def _opened(part: Part) -> Iterator[tuple[InputContainer, VideoStream]]:
    with (
        opened(Path(part.path)) as file,
        av.open(file, "r", options=dict(_OPEN_ONLY), metadata_errors="replace") as container,
    ):
        if not container.streams.video:
            raise CannotWriteError("it has no video")
        stream = container.streams.video[0]
        if not 0 < stream.width * stream.height <= PIXELS_MAX:
            told = f"{stream.width} x {stream.height}"
            raise CannotWriteError(f"its picture of {told} is not acceptable")
        stream.thread_count = 1
        yield container, stream


def _source(part: Part) -> _Source:
    with _opened(part) as (container, stream):
        context, times = stream.codec_context, []
        for packet in _demuxed(part, container, stream):
            shown = _shown(packet)
            if shown is not None and not packet.is_discard:
                times.append(shown)
            if len(times) >= REORDERED_MAX:
                break
        if not times or not stream.time_base:
            raise CannotWriteError("it has no frame")
        return _Source(
            part,
            context.name,
            (stream.width, stream.height),
            context.extradata,
            stream.time_base,
            min(times),
            bool(container.streams.audio),
        )


def _demuxed(
    part: Part, container: InputContainer, stream: VideoStream
) -> Iterator[Packet[VideoStream]]:
    """The packets in decoding order; of a file that is cut off, all but the last.

    That one may be half written, and a decoder would guess the rest of its picture. None after it
    can need it.
    """
    before = None
    for packet in container.demux(stream):
        if not part.cut:
            yield packet
        elif packet.size:
            if before is not None:
                yield before
            before = packet


def _shown(packet: Packet[VideoStream]) -> int | None:
    """The presentation time in ticks; AVI only has indexes, and its other times are guesses."""
    timed = packet.pts is not None and not _is_placed(packet.stream.container)
    return packet.pts if timed else packet.dts


def _is_placed(container: Container) -> bool:
    """Whether frames have indexes instead of times."""
    return container.format.name == "avi"


def _require_alike(sources: list[_Source], *, copied: bool) -> None:
    """Raise unless all parts have one size and, for copies, one encoding."""
    for before, after in pairwise(sources):
        same = before.size == after.size
        if copied:
            same = same and (before.name, before.extra) == (after.name, after.extra)
        if not same:
            raise CannotWriteError(
                "the segments are encoded differently, so they do not fit into one file"
            )


def _packets(
    source: _Source, container: InputContainer, stream: VideoStream
) -> Iterator[Packet[VideoStream]]:
    """Packets from the last keyframe before the requested part to its end, in decoding order.

    In some containers a seek lands too late. Then it is tried from further back, at last from the
    start.
    """
    wanted, ends = source.at(source.part.from_us), source.at(min(source.part.to_us, _LONG_US))
    if _is_placed(container) and stream.codec_context.has_b_frames:
        ends += REORDERED_MAX  # a frame may be shown up to so many indexes before it is decoded
    back_us = _BACK_US
    while back_us < source.part.from_us:
        container.seek(source.at(source.part.from_us - back_us), stream=stream)
        begun = _run_up(_demuxed(source.part, container, stream), wanted)
        if begun is not None:
            yield from _until(chain(*begun), ends)
            return
        back_us *= 4
    if back_us == _BACK_US:  # no seek was done yet: it is at its start
        begun = _run_up(_demuxed(source.part, container, stream), wanted)
        yield from _until(chain(*begun), ends) if begun else ()
        return
    with _opened(source.part) as (anew, track):
        begun = _run_up(_demuxed(source.part, anew, track), wanted)
        yield from _until(chain(*begun), ends) if begun else ()


def _run_up(
    packets: Iterator[Packet[VideoStream]], wanted: int
) -> tuple[list[Packet[VideoStream]], Iterator[Packet[VideoStream]]] | None:
    """The packets from the keyframe to the requested time, and those after it.

    None if there is no keyframe at or before it.
    """
    group: list[Packet[VideoStream]] = []
    for packet in packets:
        shown = _shown(packet)
        if shown is None:
            continue
        if packet.is_keyframe and (shown <= wanted or not group):
            if shown > wanted:
                return None
            group = []
        if packet.is_keyframe or group:
            group.append(packet)
        if group and packet.dts is not None and packet.dts > wanted:
            break
    return (group, packets) if group else None


def _until(packets: Iterable[Packet[VideoStream]], ends: int) -> Iterator[Packet[VideoStream]]:
    """Packets up to an end, without those shown before the first, whose references are missing.

    After the end only packets that are shown between included ones, so that there is no gap.
    """
    first, latest = None, -_LONG_US
    for packet in packets:
        shown = _shown(packet)
        if shown is None:
            continue
        first = shown if first is None else first
        decoded = shown if packet.dts is None else packet.dts
        if decoded >= max(ends, latest):
            return
        if first <= shown and (decoded < ends or shown < latest):
            latest = max(latest, shown)
            yield packet


def _copy(job: Writing, sources: list[_Source], out: OutputContainer) -> tuple[int, int]:
    """Copy packets; the first frame's time on the common clock, and the number of frames."""
    bases = {source.tick for source in sources}
    tick = _fine(sources[0].tick) if len(bases) == 1 else _MP4_TICK
    with _opened(job.parts[0]) as (_, stream):
        # opaque: named by its decoder; AV1's decoder (libdav1d) is not an encoder
        track = out.add_stream_from_template(stream, opaque=True)
    track.time_base = tick
    placed = _placed(sources)
    first = next(placed, None)
    if first is None:
        raise CannotWriteError("the requested part has no frame")
    frames, began = 0, first[1]
    for packet in decoded_late(_ticked(chain((first,), placed), began, tick)):
        packet.time_base, packet.stream = tick, track
        out.mux(packet)
        frames += 1
    return began, frames


def _copy_vp8(job: Writing, sources: list[_Source]) -> tuple[int, int]:
    """Copy VP8 into MP4, which FFmpeg cannot write: read once for the index, once to copy."""
    shown = [(at_us, packet.is_keyframe, packet.size) for packet, at_us in _placed(sources)]
    if not shown:
        raise CannotWriteError("the requested part has no frame")
    began = shown[0][0]
    samples = [Sample(_tick90(at_us - began), key, size) for at_us, key, size in shown]
    with _opened(job.parts[0]) as (_, stream):
        aspect = stream.sample_aspect_ratio or Fraction(1)
    last_us = shown[-1][0] - shown[-2][0] if len(shown) > 1 else _ONE_FRAME_US
    track = Track(*sources[0].size, aspect, job.note)
    with created(Path(job.out)) as out:
        packets = (bytes(packet) for packet, _ in _placed(sources))
        write_vp8(out, track, samples, _tick90(last_us), packets)
    return began, len(samples)


def _tick90(us: int) -> int:
    return round(us / _MP4_TICK / _US)


def _fine(tick: Fraction) -> Fraction:
    """A fraction of a tick, short enough to separate packets decoded between two frames."""
    return tick / max(1, ceil(tick / _MP4_TICK))


def _placed(sources: list[_Source]) -> Iterator[tuple[Packet[VideoStream], int]]:
    """Packets of all parts in order, each with its time on the common clock."""
    for source in sources:
        with _opened(source.part) as (container, stream):
            if _is_placed(container) and stream.codec_context.has_b_frames:
                raise CannotWriteError("AVI has no times for frames out of order")
            for packet in _packets(source, container, stream):
                if packet.is_discard:
                    raise CannotWriteError("an edit list hides some of its frames")
                packet.duration = round((packet.duration or 0) * source.tick * _US)
                yield packet, source.part.at_us + source.us(_shown(packet) or 0)


def _ticked(
    placed: Iterable[tuple[Packet[VideoStream], int]], began: int, tick: Fraction
) -> Iterator[Packet[VideoStream]]:
    """The packets with times in the ticks of the new file."""
    for packet, shown in placed:
        packet.pts = round((shown - began) / tick / _US)
        packet.duration = round((packet.duration or 0) / tick / _US)
        yield packet


def _encode(job: Writing, sources: list[_Source], out: OutputContainer) -> tuple[int, int]:
    """Encode exactly the requested frames, each at its own time; returns as `_copy`."""
    codec, options = _encoder(job)
    track = out.add_stream(codec, rate=30, options=dict(options))
    if not isinstance(track, VideoStream):
        raise CannotWriteError(f"{codec} is not an available video encoder")
    small = job.how == "preview"
    track.width, track.height = _reduced(job.parts[0]) if small else sources[0].size
    track.pix_fmt, track.thread_count = "yuv420p", _THREADS
    track.time_base = track.codec_context.time_base = _MP4_TICK
    began, frames, last = 0, 0, -1
    for source in sources:
        for us, frame in _thinned(_frames(source)) if small else _frames(source):
            at_us = source.part.at_us + us
            if not frames:
                began = at_us
            picture = _lettered(frame, job.label, at_us) if job.label is not None else frame
            picture = picture.reformat(track.width, track.height, format="yuv420p")
            picture.pts = last = max(round((at_us - began) / _MP4_TICK / _US), last + 1)
            picture.time_base = _MP4_TICK
            picture.pict_type = PictureType.NONE
            out.mux(track.encode(picture))
            frames += 1
    if not frames:
        raise CannotWriteError("the requested part has no frame")
    out.mux(track.encode(None))
    return began, frames


def _encoder(job: Writing) -> tuple[str, dict[str, str]]:
    if job.how == "preview":
        return "libx264", _PREVIEW
    return ("libx264", _X264) if job.container == "mp4" else ("libvpx", _VP8)


def _reduced(part: Part) -> tuple[int, int]:
    """The size of a preview: within 640 x 360, square pixels, no larger than the original."""
    with _opened(part) as (_, stream):
        whole = stream.width * (stream.sample_aspect_ratio or 1), Fraction(stream.height)
    scale = min(1, *(most / of for most, of in zip(_PREVIEW_SIZE, whole, strict=True)))
    width, height = (max(2, round(of * scale / 2) * 2) for of in whole)
    return width, height


def _thinned(frames: Iterable[tuple[int, VideoFrame]]) -> Iterator[tuple[int, VideoFrame]]:
    """The first frame of each fifteenth of a second, as times may be rounded to milliseconds."""
    last = None
    for us, frame in frames:
        part = (us + _ROUNDED_US) * _PREVIEW_RATE // _US
        if part != last:
            last = part
            yield us, frame


def _frames(source: _Source) -> Iterator[tuple[int, VideoFrame]]:
    """The frames of the requested part and before it, with their times in the file.

    AVI has indexes instead of times: the first shown frame belongs to the first index, and so on,
    in any decoding order.
    """
    with _opened(source.part) as (container, stream):
        context, places = stream.codec_context, deque[int]()
        placed = _is_placed(container)
        for packet in chain(_packets(source, container, stream), (None,)):
            if packet is not None and packet.size:
                places.append(_shown(packet) or 0)
            for frame in context.decode(packet):
                if placed and places:
                    frame.pts = places.popleft()
                yield from _wanted(source, frame)


def _wanted(source: _Source, frame: VideoFrame) -> Iterator[tuple[int, VideoFrame]]:
    ticks = frame.dts if frame.pts is None else frame.pts
    if ticks is not None and source.part.from_us <= source.us(ticks) < source.part.to_us:
        yield source.us(ticks), frame


def _lettered(frame: VideoFrame, label: str, at_us: int) -> VideoFrame:
    """The picture with its time in a bar at the top."""
    picture = frame.to_ndarray(format="bgr24")
    height = max(16, picture.shape[0] // 24)
    picture[:height] = 0
    text, scale = f"{label} {format_time(at_us)}".strip(), height / 32
    place = (height // 4, height - height // 4)
    cv2.putText(picture, text, place, cv2.FONT_HERSHEY_SIMPLEX, scale, (255, 255, 255), 1)
    return av.VideoFrame.from_ndarray(picture, format="bgr24")


def answer(job: Writing) -> Written:
    """Write one file, or return the problem."""
    try:
        return write(job)
    except (CannotWriteError, OSError, ValueError, MemoryError, av.error.FFmpegError) as error:
        return Written(problem=_told(error))


def _told(error: BaseException) -> str:
    """The problem in words. FFmpeg's error hides that a file could not be read or written."""
    hidden = error.__context__
    if isinstance(error, av.error.FFmpegError):
        if hidden is not None:
            return _told(hidden)
        return f"it is damaged or not a video: {error.strerror}"
    return str(error) or type(error).__name__


def main(confined: Confined) -> None:
    """Answer jobs until the input ends."""
    av.logging.set_level(av.logging.PANIC)
    cv2.setNumThreads(1)
    serve(Writing, answer, confined)
