"""Entries of the witnessed log: one line of text for each thing that is sealed.

`fact 12345 <SHA-256 in hex>`: its kind, its number and the digest of its bytes; behind those of a
view its name and version, of an epoch the log before it. A digest is recomputed from what is
stored, and no stored hash is believed. The line itself is a leaf.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from ledger.errors import Refused
from ledger.record.tape import GENESIS, chain_hash, frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.record.tape import Counters, InQuarantine, TapeRow

EntryKind = Literal["fact", "quarantined", "released", "figures", "access", "view", "epoch"]
"""What can be sealed.

A fact is numbered by its position, a quarantined input and its release by the input's number. The
record's counts have the number of facts, an event of the list of sign-ins has its own. The rows of
a view are numbered by the position that the view is at. An epoch names the log before this one,
with the number of its entries and its root as the digest.
"""

KINDS: tuple[EntryKind, ...] = get_args(EntryKind)
_ENTRY = re.compile(rb"([a-z]+) (0|[1-9][0-9]{0,18}) ([0-9a-f]{64})(?: ([!-~]+(?: [!-~]+)*))?")
_NAMED: frozenset[EntryKind] = frozenset(("view", "epoch"))


class LogEntry(NamedTuple):
    """One leaf of the log."""

    kind: EntryKind
    number: int
    digest: bytes  # 32 bytes
    of: str = ""  # of a view: its name and version; of an epoch: the name of the log before

    @property
    def octets(self) -> bytes:
        """The leaf's bytes."""
        named = f" {self.of}" if self.of else ""
        return f"{self.kind} {self.number} {self.digest.hex()}{named}".encode()


class TableDigest(NamedTuple):
    """A table of a view at one moment: SHA-256 over the sorted SHA-256 of its rows' text."""

    table: str
    rows: int
    sha256: bytes


class AccessEvent(NamedTuple):
    """A row of the list of sign-ins and what was done to users and keys."""

    number: int
    at_us: int
    what: str
    name: str
    actor: str
    address: str
    detail: str


def entry_from(octets: bytes, where: str) -> LogEntry:
    """The entry of a leaf's bytes. Raises `Refused`."""
    found = _ENTRY.fullmatch(octets)
    kind = next((each for each in KINDS if found and each.encode() == found[1]), None)
    if found is None or kind is None or (kind in _NAMED) != bool(found[4]):
        raise Refused(
            "The log has an entry that this program does not know",
            where=where,
            hint="A newer program wrote it, or the file was changed.",
        )
    of = (found[4] or b"").decode()
    return LogEntry(kind, int(found[2]), bytes.fromhex(found[3].decode()), of)


def of_fact(row: TapeRow) -> LogEntry:
    """The entry of a fact. Its digest is the hash that it would have as the first of a tape.

    It covers all attributes and the bytes of data by their own hash, which a dossier shows of each
    fact. Columns that repeat attributes are not in it: `copies_agree` compares those.
    """
    return LogEntry("fact", row.position, chain_hash(GENESIS, row))


def of_quarantined(row: InQuarantine) -> LogEntry:
    """The entry of a quarantined input: what was received, when, and why it is no fact."""
    texts = (row.verdict, row.reason, row.what, row.where, row.hint, row.source, row.id)
    digest = _digest(row.quarantine_id, row.received_at_us, *texts, row.attributes, row.octets)
    return LogEntry("quarantined", row.quarantine_id, digest)


def of_release(row: InQuarantine) -> LogEntry:
    """The entry of the release of a quarantined input: when, and the position of its fact."""
    digest = _digest(row.quarantine_id, row.released_at_us, row.released_position)
    return LogEntry("released", row.quarantine_id, digest)


def of_figures(counted: Counters) -> LogEntry:
    """The entry of the record's counts of inputs, numbered by the facts among them."""
    return LogEntry("figures", counted.appended, _digest(*counted))


def of_access(event: AccessEvent) -> LogEntry:
    """The entry of an event of the list of sign-ins."""
    return LogEntry("access", event.number, _digest(*event))


def of_view(view: str, version: int, position: int, tables: Sequence[TableDigest]) -> LogEntry:
    """The entry of a view's rows at a position, as that version of its code writes them."""
    cells = (cell for table in tables for cell in table)
    digest = _digest(view, version, position, *cells)
    return LogEntry("view", position, digest, f"{view} {version}")


def _digest(*parts: int | str | bytes | None) -> bytes:
    """SHA-256 over parts, each framed by its length; of a number its digits, of None `-`.

    Texts and bytes have a `+` before them, so that none is taken for None or a number.
    """
    return hashlib.sha256(frame(_octets(part) for part in parts)).digest()


def _octets(part: int | str | bytes | None) -> bytes:
    if part is None:
        return b"-"
    if isinstance(part, int):
        return str(part).encode()
    return b"+" + (part.encode() if isinstance(part, str) else part)
