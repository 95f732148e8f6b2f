"""The relying party of WebAuthn: the host name and origin that passkeys are made for."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple
from urllib.parse import urlsplit

_PORTS = {"https": 443, "http": 80}


class RelyingParty(NamedTuple):
    """What a browser signs an answer for. A passkey of one host name is of no use at another."""

    id: str  # the host name
    origin: str  # as browsers write it: without the scheme's own port


def relying_party(url: str | None) -> RelyingParty | None:
    """That of the pages' public address; None where browsers allow no passkeys.

    They allow them over TLS, or on this machine as `localhost`, and under no IP address.
    """
    parts = urlsplit(url or "")
    host = parts.hostname or ""
    if parts.scheme not in _PORTS or (parts.scheme == "http" and host != "localhost"):
        return None
    if not host or _is_address(host):
        return None
    usual = parts.port in (None, _PORTS[parts.scheme])
    return RelyingParty(host, f"{parts.scheme}://{host}" + ("" if usual else f":{parts.port}"))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
