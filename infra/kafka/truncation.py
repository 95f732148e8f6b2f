"""What no record can hold travels cut: without its lists, and saying so.

A topic that met a value its brokers refuse would stand still for ever, and those after it with it.
"""

from __future__ import annotations

from typing import Any

import msgspec

VALUE_OCTETS_MAX = 900_000
"""Above this a value is cut, octets; clients and topics hold a record to 1,048,576, headers too."""

_TEXT_MAX = 500


def truncate_to_fit(body: str) -> bytes:
    """A view's message, a JSON object, as the value of a record: cut where it is too large.

    Cut, it has `cut`, its numbers and short texts, and in `left_out` how many entries each list had
    that it lacks, 1 for what is no list. It is the same each time.
    """
    octets = body.encode()
    if len(octets) <= VALUE_OCTETS_MAX:
        return octets
    told: dict[str, Any] = msgspec.json.decode(octets)
    left_out = {
        name: len(value) if isinstance(value, list) else 1
        for name, value in told.items()
        if isinstance(value, list | dict) or (isinstance(value, str) and len(value) > _TEXT_MAX)
    }
    kept = {name: value for name, value in told.items() if name not in left_out}
    return msgspec.json.encode({**kept, "cut": True, "left_out": left_out})
