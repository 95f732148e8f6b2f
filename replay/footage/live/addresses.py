"""Which camera is reached where: a file that only the operator writes, or the house's MediaMTX.

No address comes from a client or from the record. User and password are never shown or logged.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

import msgspec
from msgspec import Struct

from ledger.errors import Usage
from replay.footage.live.rtsp import StreamAddress

if TYPE_CHECKING:
    from pathlib import Path

PORT = 554
"""RTSP's port, if an address has none."""

FILE, MEDIAMTX = "ROUND_LEDGER_LIVE_CAMERAS_FILE", "ROUND_LEDGER_MEDIAMTX_URL"


class CameraPlace(Struct, frozen=True):
    """The host and port of a camera, and what to ask for there."""

    host: str
    port: int
    address: StreamAddress


class CameraAddresses(Struct, frozen=True):
    """The addresses of cameras by property and name; with a MediaMTX every other camera has one."""

    named: dict[str, dict[str, CameraPlace]] = {}
    mediamtx: str | None = None

    def __repr__(self) -> str:
        """Without addresses."""
        return "CameraAddresses()"

    def of(self, property_: str, camera: str) -> CameraPlace | None:
        """The place of a camera; None: it has no live picture here."""
        named = self.named.get(property_, {}).get(camera)
        if named is not None or self.mediamtx is None:
            return named
        below = "/".join(quote(each, safe="") for each in (property_, camera))
        return _place(f"{self.mediamtx.rstrip('/')}/{below}", MEDIAMTX)


def addresses_from(file: Path | None, mediamtx: str | None) -> CameraAddresses:
    """The addresses of the settings. Raises `Usage`."""
    if mediamtx is not None:
        _place(mediamtx, MEDIAMTX)
    if file is None:
        return CameraAddresses({}, mediamtx)
    try:
        told = msgspec.convert(
            tomllib.loads(file.read_text(encoding="utf-8")), dict[str, dict[str, str]]
        )
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError):
        raise Usage(
            "The file of cameras cannot be read",  # not its text, which has passwords
            where=f"{FILE} {file}",
            hint='Give a table for each property, with a line for each camera: NAME = "rtsp://...".',
        ) from None
    return CameraAddresses(
        {
            property_: {
                camera: _place(url, f"{FILE} {file}, camera {camera}")
                for camera, url in cameras.items()
            }
            for property_, cameras in told.items()
        },
        mediamtx,
    )


def _place(url: str, where: str) -> CameraPlace:
    """The parts of an address. Raises `Usage`, whose text does not have the address."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        parts, host, port = urlsplit(""), None, PORT
    if parts.scheme != "rtsp" or not host or any(each in url for each in "\r\n\0 "):
        raise Usage(
            "This is not the address of a stream",
            where=where,
            hint="Give one such as rtsp://viewer:password@192.0.2.10:554/stream2.",
        )
    named = f"[{host}]" if ":" in host else host
    asked = f"rtsp://{named}:{port}{parts.path}" + (f"?{parts.query}" if parts.query else "")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return CameraPlace(host, port, StreamAddress(asked, user, password))
