"""Connects to cameras while somebody watches, and keeps each one's latest pictures.

This side opens the connection and hands it to a confined process, which speaks RTSP and writes the
film (ADR 0267). It reads nothing that a camera sends but that process's messages, and decodes
nothing. A camera that fails is tried again, each time later; one that nobody watches is let go.
"""

from __future__ import annotations

import logging
import os
import re
import select
import socket
import threading
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ledger.errors import LedgerError
from ledger.values import quantity
from replay.footage.decoding.limits import Confined, Limits, accept, started
from replay.footage.live.messages import (
    CODEC_OCTETS,
    HEAD_OCTETS,
    FilmMessage,
    MessageError,
    head_of,
)
from replay.footage.live.ring import Ring
from replay.footage.muxing.muxing import require_video

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from typing import IO

    from replay.footage.live.addresses import CameraAddresses, CameraPlace

CAMERAS_MAX = 16
"""The most cameras that are connected at once."""

WATCHED_S = 180.0
"""Seconds for which a camera stays connected after it was last asked for."""

CONNECT_S_MAX = 10.0
"""Seconds that a connection may take."""

BROUGHT_S_MAX = 40.0
"""Seconds for which the process may bring nothing; it ends itself before, if it can."""

AGAIN_S = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds before each further try; the last one for all after it."""

STEADY_S = 60.0
"""A camera that brought pictures for so long begins again with the first of `AGAIN_S`."""

LIMITS = Limits(memory_bytes=1 << 30, cpu_s=1 << 20)
"""Limits of the process. Between two pictures it also has little time (`receiver.CPU_S`)."""

LOG = logging.getLogger("round_ledger.live")

_END_S_MAX = 5.0
_TICK_S = 0.25  # how soon a stop is noticed
_PIECE = 1 << 16
_CODEC = re.compile(rb"avc1\.[0-9a-f]{6}")
_SAYS_MAX = 200
_CONNECTING = "connecting"
_FAILED = "the process that reads it failed"


class LiveState(NamedTuple):
    """What is to be said of a camera. says: why it has no picture; empty if it has one."""

    says: str
    ring: Ring


class LiveFigures(NamedTuple):
    """Counts since the start, and of now."""

    connected: int  # cameras whose pictures come
    wanted: int  # cameras that are watched, or were lately
    octets: int  # of pictures received
    breaks: int  # times that a picture broke off or did not come


class NoPictureError(Exception):
    """There is no picture; its text says why."""


class LiveCamera:
    """One camera, in a thread of its own until nobody watches it any more."""

    def __init__(self, name: str, place: CameraPlace, ring: Ring) -> None:
        self.ring = ring
        self.octets = self.breaks = 0
        self._name, self._place = name, place
        self._says = _CONNECTING
        self._asked_s = time.monotonic()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"live {name}", daemon=True)
        self._thread.start()

    @property
    def says(self) -> str:
        """Why there is no picture; empty if there is one."""
        return self._says

    @property
    def over(self) -> bool:
        """Whether it was let go."""
        return not self._thread.is_alive()

    def ask(self) -> None:
        """Somebody watches it now."""
        self._asked_s = time.monotonic()

    def stop(self) -> None:
        """Let it go; `join` waits for that."""
        self._stop.set()

    def join(self) -> None:
        """Wait until its process and its connection are closed; not for one that only connects."""
        self._thread.join(_END_S_MAX)

    def _run(self) -> None:
        tried = 0
        while not self._is_done():
            began_s = time.monotonic()
            try:
                self._receive()
            except (NoPictureError, OSError) as error:
                if time.monotonic() - began_s > STEADY_S:
                    tried = 0
                again_s = AGAIN_S[min(tried, len(AGAIN_S) - 1)]
                self._broke(str(error) if isinstance(error, NoPictureError) else _FAILED, again_s)
                tried += 1
                self._stop.wait(again_s)

    def _broke(self, says: str, again_s: float) -> None:
        self.breaks += 1
        if says != self._says:  # one line, however often it is tried
            figures = {"camera": self._name, "why": says, "again_in_s": again_s}
            LOG.warning("a camera has no live picture", extra={"figures": figures})
        self._says = says

    def _is_done(self) -> bool:
        return self._stop.is_set() or time.monotonic() - self._asked_s > WATCHED_S

    def _receive(self) -> None:
        """Pass on pictures until nobody watches. Raises NoPictureError."""
        with self._connected() as connection:
            if self._is_done():
                return
            with self._child(connection) as child:
                assert child.stdout is not None  # noqa: S101 - it is a pipe
                for message in self._messages(child.stdout):
                    self._take(message)

    def _take(self, message: FilmMessage) -> None:
        octets = message.octets
        if message.kind == "confined":
            try:
                accept(msgspec.json.decode(octets, type=Confined))
            except (LedgerError, msgspec.DecodeError) as error:
                raise NoPictureError(
                    error.what if isinstance(error, LedgerError) else _FAILED
                ) from None
        elif message.kind == "begin":
            codec, film = octets[:CODEC_OCTETS], octets[CODEC_OCTETS:]
            if not _CODEC.fullmatch(codec):
                raise NoPictureError(_FAILED)
            self.ring.begin(codec.decode(), film)
        elif message.kind == "picture":
            self.ring.add(octets, key=message.key, at_us=message.at_us)
            self.octets += len(octets)
            if self._says:
                self._says = ""
                LOG.info("a live picture comes", extra={"figures": {"camera": self._name}})
        else:
            said = octets.decode("utf-8", "replace")[:_SAYS_MAX]
            raise NoPictureError("".join(filter(str.isprintable, said)))

    @contextmanager
    def _connected(self) -> Iterator[socket.socket]:
        try:
            made = socket.create_connection((self._place.host, self._place.port), CONNECT_S_MAX)
        except TimeoutError:
            raise NoPictureError(f"it does not answer within {CONNECT_S_MAX:g} s") from None
        except socket.gaierror:
            raise NoPictureError("its host name is not known") from None
        except OSError as error:
            raise NoPictureError(
                f"it cannot be reached: {error.strerror or 'no connection'}"
            ) from None
        with closing(made):
            made.settimeout(None)
            yield made

    @contextmanager
    def _child(self, connection: socket.socket) -> Iterator[subprocess.Popen[bytes]]:
        told = {"descriptor": connection.fileno(), "address": self._place.address}
        line = msgspec.json.encode(told)
        with started("live.receiver", [line], [connection.fileno()], LIMITS) as child:
            yield child

    def _messages(self, pipe: IO[bytes]) -> Iterator[FilmMessage]:
        """Messages of the process, until nobody watches. Raises NoPictureError."""
        try:
            while (head := self._read(pipe, HEAD_OCTETS)) is not None:
                message, length = head_of(head)
                octets = self._read(pipe, length)
                if octets is None:
                    return
                yield message._replace(octets=octets)
        except MessageError:
            raise NoPictureError(_FAILED) from None

    def _read(self, pipe: IO[bytes], count: int) -> bytes | None:
        """So many bytes; None: nobody watches any more. Raises NoPictureError."""
        parts, waited_s = bytearray(), 0.0
        while len(parts) < count:
            if self._is_done():
                return None
            if not select.select([pipe], [], [], _TICK_S)[0]:
                waited_s += _TICK_S
                if waited_s > BROUGHT_S_MAX:
                    raise NoPictureError(f"it brought no picture for {BROUGHT_S_MAX:g} s")
                continue
            octets = os.read(pipe.fileno(), min(_PIECE, count - len(parts)))
            if not octets:
                raise NoPictureError(_FAILED)
            parts += octets
        return bytes(parts)


class LiveCameras:
    """The cameras that are watched now, or were lately."""

    def __init__(self, addresses: CameraAddresses) -> None:
        self._addresses = addresses
        self._lock = threading.Lock()
        self._cameras: dict[tuple[str, str], LiveCamera] = {}
        self._gone = LiveFigures(0, 0, 0, 0)

    @property
    def any(self) -> bool:
        """Whether any camera may have an address here."""
        return bool(self._addresses.named) or self._addresses.mediamtx is not None

    def has(self, property_: str, camera: str) -> bool:
        """Whether a camera has an address here."""
        return self._addresses.of(property_, camera) is not None

    def watch(self, property_: str, camera: str) -> LiveState | None:
        """The state of a camera, which is connected if it is not yet; None: it has no address."""
        place = self._addresses.of(property_, camera)
        if place is None:
            return None
        with self._lock:
            self._sweep()
            found = self._cameras.get((property_, camera))
            if found is None:
                if len(self._cameras) >= CAMERAS_MAX:
                    says = f"{quantity(CAMERAS_MAX, 'camera')} live already: close another first"
                    return LiveState(says, Ring())
                require_video("A live picture")
                found = LiveCamera(f"{property_}/{camera}", place, Ring())
                self._cameras[property_, camera] = found
            found.ask()
            return LiveState(found.says, found.ring)

    def figures(self) -> LiveFigures:
        """How many cameras are live, and what came of them."""
        with self._lock:
            self._sweep()
            its = self._cameras.values()
            return LiveFigures(
                sum(not each.says for each in its),
                len(its),
                self._gone.octets + sum(each.octets for each in its),
                self._gone.breaks + sum(each.breaks for each in its),
            )

    def close(self) -> None:
        """Let every camera go."""
        with self._lock:
            cameras = [*self._cameras.values()]
            self._addresses = type(self._addresses)()
        for each in cameras:
            each.stop()
        for each in cameras:
            each.join()

    def _sweep(self) -> None:
        """Forget cameras that were let go; their counts stay."""
        for name, each in [*self._cameras.items()]:
            if each.over:
                del self._cameras[name]
                self._gone = self._gone._replace(
                    octets=self._gone.octets + each.octets, breaks=self._gone.breaks + each.breaks
                )
