"""Speaks RTSP over a connection that was opened elsewhere: asks a camera for its H.264 stream.

It runs in the confined process, which can open no connection itself. Everything a camera sends is
hostile input: each length, wait and count has a limit. RTSP 1.0 is RFC 2326; the stream comes
interleaved in the same connection (section 10.12). Passwords are answered by RFC 7616 and 7617.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import secrets
import select
import time
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SILENT_S_MAX = 10
"""Seconds that a camera may send nothing."""

HEAD_OCTETS_MAX = 16 << 10
BODY_OCTETS_MAX = 64 << 10
"""The longest head, and the longest description, of an answer."""

ANSWERS_MAX = 1_000
"""Answers and packets that may come before the one that was asked for."""

SESSION_S = 60  # RFC 2326, section 12.37: how long a session lasts if the camera does not say
SESSION_S_MIN, SESSION_S_MAX = 10, 600
CHANNELS = (0, 1)  # of the stream and of its reports, in this connection

_READ = 1 << 16
_INTERLEAVED = b"$"
_OK, _UNAUTHORIZED = 200, 401
_REDIRECTED = range(300, 400)
_SAYS = {
    400: "it does not accept this address",
    401: "it refuses the user or the password",
    403: "it refuses the user or the password",
    404: "it knows no stream at this address",
    453: "it has no bandwidth left for another viewer",
    454: "it ended the session",
    461: "it does not send its stream in the same connection (TCP)",
    503: "it says that it is busy",
}
"""What a refused request means, by status."""

_CODECS = {
    **dict.fromkeys(("H265", "HEVC"), "H.265"),
    **dict.fromkeys(("H263", "H263-1998", "H263-2000"), "H.263"),
    **{name: name for name in ("VP8", "VP9", "AV1")},
    "MP4V-ES": "MPEG-4 Part 2",
    "MPV": "MPEG-2",
    "JPEG": "Motion JPEG",
}
"""Formats that are not shown live, by their names in a description (RFC 3551 and its registry)."""

_NUMBERED = {"26": "Motion JPEG", "31": "H.261", "32": "MPEG-2", "34": "H.263"}
"""The same by their payload types, for a description that does not name them."""

_ONLY_H264 = (
    "Only H.264 is shown live: it is copied, and every browser plays it. Set a stream of this "
    "camera to H.264"
)

_STATUS = re.compile(rb"RTSP/1\.\d (\d{3})\b")
_CHALLENGED = re.compile(r'(\w+)=(?:"([^"]*)"|([^\s,]+))')
_HASHES = {"md5": "md5", "sha-256": "sha256"}


class CameraError(Exception):
    """The camera gives no picture; the text says why, without anything that the camera wrote."""


class StreamAddress(Struct, frozen=True):
    """The address of a stream, and who asks for it. url: without user and password."""

    url: str
    user: str = ""
    password: str = ""

    def __repr__(self) -> str:
        """Without user and password."""
        return f"StreamAddress({self.url!r})"


class RtspAnswer(NamedTuple):
    """An answer of a camera. headers: by name in lower case, each with all its values."""

    status: int
    headers: Mapping[str, Sequence[str]]
    body: bytes

    def header(self, name: str) -> str:
        """The first value of a header; empty without one."""
        return next(iter(self.headers.get(name, ())), "")


class StreamFormat(NamedTuple):
    """The stream of a description. control: its address; parameters: SPS and PPS, if given."""

    control: str
    payload_type: int
    parameters: Sequence[bytes]


class CameraConnection:
    """A connection that is open already."""

    def __init__(self, descriptor: int, silent_s_max: float = SILENT_S_MAX) -> None:
        self._descriptor, self._silent_s_max = descriptor, silent_s_max
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._held = bytearray()
        self.octets = 0  # received so far

    def send(self, octets: bytes) -> None:
        """Send all of them. Raises CameraError."""
        try:
            while octets:
                octets = octets[os.write(self._descriptor, octets) :]
        except OSError:
            raise CameraError("it closed the connection") from None

    def exactly(self, count: int) -> bytes:
        """The next bytes. Raises CameraError."""
        while len(self._held) < count:
            self._fill()
        return self._taken(count)

    def line(self, longest: int) -> bytes:
        """The next line, without its end. Raises CameraError."""
        searched = 0
        while (end := self._held.find(b"\n", searched)) < 0:
            searched = len(self._held)
            if searched > longest:
                raise CameraError("it does not speak RTSP")
            self._fill()
        return self._taken(end + 1).rstrip(b"\r\n")

    def _taken(self, count: int) -> bytes:
        taken = bytes(self._held[:count])
        del self._held[:count]
        return taken

    def _fill(self) -> None:
        if not self._poll.poll(self._silent_s_max * 1_000):
            raise CameraError(f"it sent nothing for {self._silent_s_max:g} s")
        try:
            octets = os.read(self._descriptor, _READ)
        except OSError:
            octets = b""
        if not octets:
            raise CameraError("it closed the connection")
        self.octets += len(octets)
        self._held += octets


class RtspSession:
    """One stream of a camera, from the first question to the last packet."""

    def __init__(self, connection: CameraConnection, address: StreamAddress) -> None:
        self._connection, self._address = connection, address
        self._number = 0
        self._challenge: Mapping[str, str] | None = None
        self._tries = 0
        self._session = ""
        self._alive_s, self._keeps = SESSION_S / 2, "OPTIONS"

    def play(self) -> StreamFormat:
        """Ask for the stream, which then begins. Raises CameraError."""
        url = self._address.url
        if "GET_PARAMETER" in self._ask("OPTIONS", url).header("public").upper():
            self._keeps = "GET_PARAMETER"
        described = self._ask("DESCRIBE", url, Accept="application/sdp")
        base = described.header("content-base") or described.header("content-location") or url
        stream = stream_of(described.body.decode("utf-8", "replace"), base)
        transport = f"RTP/AVP/TCP;unicast;interleaved={CHANNELS[0]}-{CHANNELS[1]}"
        told = self._ask("SETUP", stream.control, Transport=transport).header("session")
        self._session, _, more = told.partition(";")
        found = re.search(r"timeout=(\d{1,6})\b", more)
        lasts_s = int(found[1]) if found else SESSION_S
        self._alive_s = min(max(lasts_s, SESSION_S_MIN), SESSION_S_MAX) / 2
        self._ask("PLAY", base, Range="npt=0.000-")
        return stream

    def packets(self) -> Iterator[bytes]:
        """The packets of the stream as they come, and an empty one for whatever else comes.

        Raises CameraError when the stream ends.
        """
        alive = time.monotonic() + self._alive_s
        while True:
            if time.monotonic() > alive:
                self._send(self._keeps, self._address.url, {})
                alive = time.monotonic() + self._alive_s
            found = self._next()
            yield found if isinstance(found, bytes) else b""

    def _ask(self, method: str, url: str, **headers: str) -> RtspAnswer:
        """The answer to a request; a challenge is answered once."""
        answer = self._answered(method, url, headers)
        if answer.status == _UNAUTHORIZED and self._address.user:
            self._challenge = challenge_of(answer.headers.get("www-authenticate", ()))
            self._tries = 0
            answer = self._answered(method, url, headers)
        if answer.status in _REDIRECTED:
            raise CameraError("it sends to another address, and only the one that is set is used")
        if answer.status != _OK and method != "OPTIONS":
            raise CameraError(
                _SAYS.get(answer.status, f"it refuses {method} with status {answer.status}")
            )
        return answer

    def _answered(self, method: str, url: str, headers: Mapping[str, str]) -> RtspAnswer:
        number = self._send(method, url, headers)
        for _ in range(ANSWERS_MAX):
            found = self._next()
            if isinstance(found, RtspAnswer) and found.header("cseq") in ("", str(number)):
                return found
        raise CameraError("it does not answer what was asked")

    def _send(self, method: str, url: str, headers: Mapping[str, str]) -> int:
        self._number += 1
        told = {"CSeq": str(self._number), "User-Agent": "round-ledger", **headers}
        if self._session:
            told["Session"] = self._session
        if self._challenge is not None:
            self._tries += 1
            told["Authorization"] = authorization(
                self._challenge, self._address, method, url, self._tries
            )
        if any("\r" in each or "\n" in each for each in (url, *told.values())):
            raise CameraError("it names an address that is none")
        head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        self._connection.send(f"{method} {url} RTSP/1.0\r\n{head}\r\n".encode())
        return self._number

    def _next(self) -> RtspAnswer | bytes | None:
        """The next answer or packet of the stream; None: a report, or a request of the camera."""
        first = self._connection.exactly(1)
        if first == _INTERLEAVED:
            channel, *length = self._connection.exactly(3)
            packet = self._connection.exactly(int.from_bytes(length, "big"))
            return packet if channel == CHANNELS[0] else None
        return self._message(first)

    def _message(self, first: bytes) -> RtspAnswer | None:
        head = first + self._connection.line(HEAD_OCTETS_MAX)
        status, octets = _STATUS.match(head), len(head)
        if status is None and b" RTSP/1." not in head:
            raise CameraError("it does not speak RTSP")
        headers: dict[str, list[str]] = {}
        while line := self._connection.line(HEAD_OCTETS_MAX):
            octets += len(line)
            if octets > HEAD_OCTETS_MAX:
                raise CameraError("its answer is too long")
            name, _, value = line.decode("utf-8", "replace").partition(":")
            headers.setdefault(name.strip().lower(), []).append(value.strip())
        told = next(iter(headers.get("content-length", ())), "0")
        if not re.fullmatch("[0-9]{1,9}", told) or int(told) > BODY_OCTETS_MAX:
            raise CameraError("its answer is too long")
        body = self._connection.exactly(int(told))
        return RtspAnswer(int(status[1]), headers, body) if status else None


def stream_of(description: str, base: str) -> StreamFormat:
    """The first H.264 stream of a description (SDP, RFC 8866; RFC 6184). Raises CameraError."""
    shared, *media = re.split(r"^m=", description.replace("\r", ""), flags=re.MULTILINE)
    codecs: list[str] = []
    whole = _attribute(shared, "control")
    for each in media:
        if not each.startswith("video "):
            continue
        head = each.partition("\n")[0]
        codecs += [codec for number, codec in _NUMBERED.items() if number in head.split()[3:]]
        for told in re.findall(r"^a=rtpmap:(\d{1,3}) ([\w.-]{1,30})/\d+", each, re.MULTILINE):
            number, codec = int(told[0]), told[1].upper()
            if codec != "H264":
                codecs.append(_CODECS.get(codec, "another format"))
                continue
            terms = _attribute(each, f"fmtp:{number}", " ")
            if re.search(r"packetization-mode=2\b", terms):
                raise CameraError("it interleaves its packets, which is not read")
            control = _joined(_joined(base, whole), _attribute(each, "control"))
            return StreamFormat(control, number, _parameters(terms))
    if codecs:
        names = " and ".join(dict.fromkeys(codecs))
        raise CameraError(f"it sends {names}. {_ONLY_H264}")
    raise CameraError("it describes no picture")


def _attribute(text: str, name: str, sign: str = ":") -> str:
    found = re.search(rf"^a={re.escape(name)}{sign}(.*)$", text, re.MULTILINE)
    return found[1].strip() if found else ""


def _joined(base: str, control: str) -> str:
    """An address below another, as cameras mean it: put behind it."""
    if control in ("", "*"):
        return base
    return control if control.startswith("rtsp://") else f"{base.rstrip('/')}/{control}"


def _parameters(terms: str) -> list[bytes]:
    """SPS and PPS of a description; what is no Base64 is left out."""
    found = re.search(r"sprop-parameter-sets=([\w+/=,]+)", terms)
    units = []
    for each in found[1].split(",") if found else ():
        try:
            units.append(base64.b64decode(each, validate=True))
        except ValueError:
            return []
    return [unit for unit in units if unit]


def challenge_of(told: Sequence[str]) -> Mapping[str, str] | None:
    """What a camera asks a password by: Digest if it offers it, else Basic; None: by neither."""
    offered = {each.partition(" ")[0].lower(): each for each in reversed(told)}
    digests = [each for each in told if each.lower().startswith("digest ")]
    for each in digests:
        terms = {name.lower(): quoted or bare for name, quoted, bare in _CHALLENGED.findall(each)}
        if terms.get("algorithm", "MD5").lower() in _HASHES:
            return terms
    return {"basic": "yes"} if "basic" in offered else None


def authorization(
    challenge: Mapping[str, str], address: StreamAddress, method: str, url: str, nth: int
) -> str:
    """The header that answers a challenge for the nth time."""
    if "basic" in challenge:
        pair = f"{address.user}:{address.password}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"
    realm, nonce = challenge.get("realm", ""), challenge.get("nonce", "")
    named = _HASHES[challenge.get("algorithm", "MD5").lower()]

    def digest(*parts: str) -> str:
        return hashlib.new(named, ":".join(parts).encode(), usedforsecurity=False).hexdigest()

    whose, what = digest(address.user, realm, address.password), digest(method, url)
    told = {"username": address.user, "realm": realm, "nonce": nonce, "uri": url}
    if "auth" in re.split(r"[\s,]+", challenge.get("qop", "")):
        count, own = f"{nth:08x}", secrets.token_hex(8)
        told["response"] = digest(whose, nonce, count, own, "auth", what)
        more = f', qop=auth, nc={count}, cnonce="{own}"'
    else:
        told["response"], more = digest(whose, nonce, what), ""
    told |= {name: challenge[name] for name in ("opaque", "algorithm") if name in challenge}
    return "Digest " + ", ".join(f'{name}="{value}"' for name, value in told.items()) + more
