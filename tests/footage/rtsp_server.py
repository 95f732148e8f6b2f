"""A camera: a server of RTSP 1.0 that sends an H.264 film as RTP in the same connection.

Written from RFC 2326, 6184 and 7616 for tests, apart from the program. What it sends can be broken
off, and other cameras send what is no stream at all.
"""

from __future__ import annotations

import base64
import hashlib
import re
import socketserver
import struct
import threading
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import av
from av.video.frame import VideoFrame

from tests.footage.video_kinds import HEIGHT, WIDTH, picture

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator, Sequence

RATE = 30
PAYLOAD = 1_200
"""The most bytes of a packet's content."""

NONCE, REALM, USER, PASSWORD = "5f2a", "recorder", "viewer", "s3cret"


class Coded(NamedTuple):
    """A coded picture in order of decoding: its time in ticks of 1/90,000 s, and its units."""

    ticks: int
    units: Sequence[bytes]


@cache
def film(frames: int = 300, *, bframes: int = 0, gop: int = 30, seed: int = 0) -> Sequence[Coded]:
    """A moving picture with its number in it, 30 a second."""
    encoder = av.CodecContext.create("libx264", "w")
    encoder.width, encoder.height, encoder.pix_fmt = WIDTH, HEIGHT, "yuv420p"  # type: ignore[attr-defined] # of video
    encoder.time_base, encoder.framerate = Fraction(1, RATE), Fraction(RATE)  # type: ignore[attr-defined] # the same
    encoder.options = {
        "preset": "ultrafast", "crf": "23", "g": str(gop), "bf": str(bframes), "sc_threshold": "0",
    }  # fmt: skip
    packets = []
    for number in range(frames):
        drawn = VideoFrame.from_ndarray(picture(number, number * 1000 // RATE, seed), "bgr24")
        drawn.pts, drawn.time_base = number, Fraction(1, RATE)
        packets += encoder.encode(drawn)  # type: ignore[attr-defined] # of video
    packets += encoder.encode(None)  # type: ignore[attr-defined] # the same
    return [Coded((each.pts or 0) * 90_000 // RATE, units_of(bytes(each))) for each in packets]


def units_of(annexed: bytes) -> list[bytes]:
    """The units between start codes."""
    return [each.rstrip(b"\0") for each in re.split(b"\0\0\0?\1", annexed) if each.strip(b"\0")]


def packets_of(coded: Coded) -> Iterator[tuple[bytes, bool]]:
    """What packets carry of a picture, each with whether it is the last."""
    small = [each for each in coded.units if each[0] & 31 in (7, 8)]
    large = [each for each in coded.units if each[0] & 31 not in (7, 8)]
    if small:
        parts = (struct.pack(">H", len(each)) + each for each in small)
        yield b"\x78" + b"".join(parts), not large
    for unit in large:
        last = unit is large[-1]
        if len(unit) <= PAYLOAD:
            yield unit, last
            continue
        pieces = [unit[at : at + PAYLOAD] for at in range(1, len(unit), PAYLOAD)]
        for number, piece in enumerate(pieces):
            ends = number == len(pieces) - 1
            marks = (0x80 if number == 0 else 0) | (0x40 if ends else 0)
            head = bytes([unit[0] & 0x60 | 28, marks | unit[0] & 31])
            yield head + piece, last and ends


class Camera(NamedTuple):
    """How a camera behaves. frames: that it sends before it closes the connection; None: all."""

    coded: Sequence[Coded]
    frames: int | None = None
    asks: bool = False  # for user and password
    parameters: bool = True  # whether its description has them
    paced: bool = True  # one picture a thirtieth of a second; else all at once
    lost: frozenset[int] = frozenset()  # packets that are left out, by number


class Served(NamedTuple):
    """A running camera."""

    port: int
    connections: list[int]  # a number for each, as it came
    asked: list[str]  # first lines of all requests
    stop: threading.Event

    @property
    def url(self) -> str:
        return f"rtsp://127.0.0.1:{self.port}/stream2"


Talk: TypeAlias = "Callable[[socket.socket, Served], None]"


@contextmanager
def serving(talk: Talk) -> Iterator[Served]:
    """A server that talks so on each connection."""
    connections: list[int] = []
    stop = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            connections.append(len(connections))
            with suppress(OSError):
                talk(self.request, served)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False
        allow_reuse_address = True

    with Server(("127.0.0.1", 0), Handler) as server:
        served = Served(server.server_address[1], connections, [], stop)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield served
        finally:
            stop.set()
            server.shutdown()
            thread.join()


def camera(behaves: Camera | Callable[[int], Camera]) -> Talk:
    """A camera; `behaves` may depend on which connection it is, from 0."""

    def talk(line: socket.socket, served: Served) -> None:
        nth = len(served.connections) - 1
        its = behaves(nth) if callable(behaves) else behaves
        if _conversed(line, its, served):
            threading.Thread(target=_drain, args=(line,), daemon=True).start()
            _send(line, its, served.stop)

    return talk


def _drain(line: socket.socket) -> None:
    """Read what the viewer sends, so that it can go on sending."""
    with suppress(OSError):
        while line.recv(4_096):
            pass


def _conversed(line: socket.socket, its: Camera, served: Served) -> bool:
    """Answer requests up to PLAY; whether it came."""
    held = b""
    while True:
        while b"\r\n\r\n" not in held:
            came = line.recv(4_096)
            if not came:
                return False
            held += came
        head, _, held = held.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        served.asked.append(first)
        method, url, _ = first.split(" ")
        headers = {name.lower(): value for name, value in (each.split(": ", 1) for each in lines)}
        status, more, body = _answer(its, method, url, headers, served)
        told = {"CSeq": headers["cseq"], **more, "Content-Length": str(len(body))}
        text = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        line.sendall(f"RTSP/1.0 {status}\r\n{text}\r\n{body}".encode())
        if method == "PLAY" and status.startswith("200"):
            return True


def _answer(
    its: Camera, method: str, url: str, headers: dict[str, str], served: Served
) -> tuple[str, dict[str, str], str]:
    if its.asks and method != "OPTIONS" and not _fits(method, url, headers):
        challenge = f'Digest realm="{REALM}", nonce="{NONCE}", algorithm=MD5'
        return "401 Unauthorized", {"WWW-Authenticate": challenge}, ""
    if method == "OPTIONS":
        return "200 OK", {"Public": "OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER"}, ""
    if method == "DESCRIBE":
        base = f"{served.url}/"
        return "200 OK", {"Content-Base": base, "Content-Type": "application/sdp"}, _sdp(its)
    if method == "SETUP":
        assert url == f"{served.url}/track1", url
        assert "interleaved=0-1" in headers["transport"]
        return "200 OK", {"Transport": headers["transport"], "Session": "77;timeout=60"}, ""
    if method == "PLAY":
        assert headers["session"] == "77"
        return "200 OK", {"Session": "77"}, ""
    return "501 Not Implemented", {}, ""


def _fits(method: str, url: str, headers: dict[str, str]) -> bool:
    told = dict(re.findall(r'(\w+)="([^"]*)"', headers.get("authorization", "")))
    digest = [hashlib.md5(each.encode(), usedforsecurity=False).hexdigest() for each in (
        f"{USER}:{REALM}:{PASSWORD}", f"{method}:{url}",
    )]  # fmt: skip
    wanted = hashlib.md5(f"{digest[0]}:{NONCE}:{digest[1]}".encode(), usedforsecurity=False)
    return told.get("response") == wanted.hexdigest()


def _sdp(its: Camera) -> str:
    sets = [each for each in its.coded[0].units if each[0] & 31 in (7, 8)]
    sprop = ",".join(base64.b64encode(each).decode() for each in sets)
    terms = "packetization-mode=1" + (f";sprop-parameter-sets={sprop}" if its.parameters else "")
    return (
        "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=camera\r\nt=0 0\r\n"
        "m=audio 0 RTP/AVP 0\r\na=control:track0\r\n"
        "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
        f"a=fmtp:96 {terms}\r\na=control:track1\r\n"
    )


def _send(line: socket.socket, its: Camera, stop: threading.Event) -> None:
    """The film, over and over."""
    number, sent, offset = 65_000, 0, 0xFFFF_0000  # both wrap soon
    while True:
        for coded in its.coded:
            if stop.is_set() or sent == its.frames:
                return
            for content, last in packets_of(coded):
                head = struct.pack(
                    ">BBHII", 0x80, 96 | (0x80 if last else 0), number % 65_536,
                    (coded.ticks + offset) % (1 << 32), 7,
                )  # fmt: skip
                packet = head + content
                if number - 65_000 not in its.lost:
                    line.sendall(struct.pack(">cBH", b"$", 0, len(packet)) + packet)
                number += 1
            line.sendall(b"$\1\0\x08\x80\xc9\0\1\0\0\0\7")  # a report
            sent += 1
            if its.paced:
                stop.wait(1 / RATE)
        offset += len(its.coded) * 90_000 // RATE
