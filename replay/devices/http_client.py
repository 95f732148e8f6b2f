"""The client of `POST /v1/facts`: sends lines as a batch, and reads the answer.

Only status 200 with a verdict for each line means that they are kept. Anything else (another
status, the page of a portal, no answer) means that they must be sent again. It uses no file and no
database.
"""

from __future__ import annotations

import http.client
import ssl
from ipaddress import ip_address
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

import msgspec

from ledger.errors import Usage
from replay.devices.forwarding import NotTaken

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ANSWER_S_MAX = 75.0
"""Seconds an answer may take: longer than the server waits for its database."""

ANSWER_OCTETS_MAX = 8 * 2**20
"""The longest answer of a ledger, in bytes."""

BATCH = "application/cloudevents-batch+json"
ONE = "application/cloudevents+json"
_PATH = "/v1/facts"
_OK = 200
_NOT_FOR_IT = 403
"""The status if a line has a source that the key is not valid for."""

_TOO_LARGE = 413
_REFUSED = (400, 422)


class Verdict(msgspec.Struct, frozen=True):
    """The part of an answer that is read; the rest is passed on unchanged."""

    verdict: str


class HttpSender:
    """Sends lines to one ledger over one connection, reopened if it breaks."""

    def __init__(self, url: str, key_file: Path | None = None) -> None:
        """Raises `Usage` for an address or a key that cannot be used."""
        self._scheme, self._host, self._port, self._path = _address(url)
        self._key_file = key_file
        self._connection: http.client.HTTPConnection | None = None
        if key_file is not None:
            _refuse_open(self._scheme, self._host)
            _key(key_file)

    def __call__(self, lines: Sequence[bytes]) -> Sequence[object]:
        """See `replay.devices.forwarding.Send`."""
        try:
            status, retry_s, body = self._exchange(lines)
        except Usage as error:  # the key file is being replaced
            raise NotTaken(error.what) from None
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise NotTaken(f"{type(error).__name__}: {error}") from None
        if status != _OK:
            self.close()
            says = f"{status} {body[:300].decode(errors='replace')}"
            never = _never_so(status, body)
            raise NotTaken(says, retry_s=retry_s, smaller=status == _NOT_FOR_IT, never=never)
        try:
            return _answers(body, len(lines))
        except msgspec.DecodeError as error:
            self.close()
            raise NotTaken(f"the answer is not that of a ledger: {error}") from None

    def close(self) -> None:
        """Close the connection; the next request makes another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _exchange(self, lines: Sequence[bytes]) -> tuple[int, float | None, bytes]:
        """Status, seconds the server asks to wait, and the body."""
        self._connection = self._connection or self._connect()
        headers = {"Content-Type": ONE if len(lines) == 1 else BATCH}
        if self._key_file is not None:  # read each time: a key may be replaced meanwhile
            headers["Authorization"] = f"Bearer {_key(self._key_file)}"
        body = lines[0] if len(lines) == 1 else b"[" + b",".join(lines) + b"]"
        self._connection.request("POST", self._path, body, headers)
        with self._connection.getresponse() as response:
            told = response.getheader("Retry-After", "")
            retry_s = float(told) if told.isascii() and told.isdecimal() else None
            return response.status, retry_s, response.read(ANSWER_OCTETS_MAX)

    def _connect(self) -> http.client.HTTPConnection:
        if self._scheme == "https":
            return http.client.HTTPSConnection(
                self._host, self._port, timeout=ANSWER_S_MAX, context=ssl.create_default_context()
            )
        return http.client.HTTPConnection(self._host, self._port, timeout=ANSWER_S_MAX)


class _Refusal(msgspec.Struct, frozen=True):
    kept: bool


def _never_so(status: int, body: bytes) -> bool:
    """Whether these lines will never be accepted as one request.

    The ledger says so; only the status for too large a body may also come from a proxy.
    """
    if status == _TOO_LARGE:
        return True
    try:
        return status in _REFUSED and not msgspec.json.decode(body, type=_Refusal).kept
    except msgspec.DecodeError:
        return False


def _answers(body: bytes, count: int) -> Sequence[object]:
    """An answer for each line. Raises DecodeError otherwise."""
    if count == 1:
        msgspec.json.decode(body, type=Verdict)
        return [msgspec.json.decode(body)]
    if len(msgspec.json.decode(body, type=list[Verdict])) != count:
        raise msgspec.DecodeError(f"not {count} verdicts")
    answers: list[object] = msgspec.json.decode(body)
    return answers


def _address(url: str) -> tuple[str, str, int | None, str]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise Usage(
            "This is not the address of a ledger",
            where="--to",
            hint="Give https://host:port, and a file with the key in --key-file.",
        )
    path = parts.path.rstrip("/")
    return parts.scheme, parts.hostname, port, path if path.endswith(_PATH) else path + _PATH


def _refuse_open(scheme: str, host: str) -> None:
    """Raise `Usage` if a key would be sent unencrypted over a network."""
    try:
        here = ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    if scheme == "http" and not here:
        raise Usage(
            "A key is not sent unencrypted",
            where="--to",
            hint="Use https://; http:// is only for this machine.",
        )


def _key(path: Path) -> str:
    """The device's key. Raises `Usage`, or OSError if it cannot be read."""
    try:
        key = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(
            f"The key cannot be read: {error}",
            where=str(path),
            hint="Give a file with the device's key and nothing else.",
        ) from error
    if not key or not key.isprintable() or " " in key:
        raise Usage("This is not a key", where=str(path), hint="Give a file with one key.")
    return key
