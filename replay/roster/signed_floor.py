"""A simulated floor signed by its devices: a key for each source, and a list to enrol them by."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

import msgspec

from infra.files import replace_file
from ledger.record.tape import Received
from ledger.record.wire import parse_line
from ledger.values import parse_source
from replay.roster.key_files import DeviceKey, make, sign_line

if TYPE_CHECKING:
    from pathlib import Path

KEYS, ROSTER = "keys", "roster.jsonl"
"""The folder of the keys, and the list in it."""

FEEDS = ("feed.jsonl", "footage.jsonl")

_BY_DEVICE = {"terminal": "table_terminal", "shoe": "shoe", "layout": "layout", "eye": "eye"}
_BY_PLACE = {"cage": "cage_terminal", "count-room": "count_scale", "office": "office_desk"}
_OF_SURVEILLANCE = {"desk": "surveillance_desk", "recorder": "recorder"}


class ListedKey(msgspec.Struct, frozen=True):
    """A key to put on the roster."""

    source: str
    role: str
    key: str
    public: str  # 32 bytes in base64


def role_of(source: str) -> str:
    """The role of a simulated device. Raises KeyError for another source."""
    its = parse_source(source)
    if its is None:
        raise KeyError(source)
    if its.place == "surveillance":
        return _OF_SURVEILLANCE.get(its.device, "camera")
    return _BY_PLACE.get(its.place) or _BY_DEVICE[its.device]


def sign_floor(folder: Path) -> int:
    """Sign the feeds of a floor in place; the number of keys made. Raises `Refused`."""
    keys: dict[str, DeviceKey] = {}
    (folder / KEYS).mkdir(mode=0o700)
    for feed in (folder / name for name in FEEDS if (folder / name).exists()):
        lines = feed.read_bytes().splitlines()
        replace_file(feed, b"".join(_signed(line, keys, folder / KEYS) + b"\n" for line in lines))
    listed = [
        ListedKey(source, role_of(source), key.key, b64encode(key.public).decode())
        for source, key in sorted(keys.items())
    ]
    roster = b"".join(msgspec.json.encode(each) + b"\n" for each in listed)
    (folder / KEYS / ROSTER).write_bytes(roster)
    return len(keys)


def _signed(line: bytes, keys: dict[str, DeviceKey], folder: Path) -> bytes:
    fact = parse_line(line)
    if not isinstance(fact, Received):
        return line
    if fact.source not in keys:
        keys[fact.source] = make(folder / (fact.source.strip("/").replace("/", ".") + ".key"))
    return sign_line(line, keys[fact.source])
