"""Truncating messages of views that are too large for a Kafka record.

A value that the brokers refuse would block its topic, and the relay with it, for ever.
"""

from __future__ import annotations

from typing import Any

import msgspec

VALUE_OCTETS_MAX = 900_000
"""Larger values are truncated, bytes. Kafka limits a record with headers to 1,048,576."""

_TEXT_MAX = 500


def truncate_to_fit(body: str) -> bytes:
    """The record value of a view's message, a JSON object; truncated if it is too large.

    A truncated value has `cut` set and keeps numbers and short texts. `left_out` gives for each
    field removed the number of entries of a list, and 1 for any other value. The same message
    always gives the same bytes.
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
