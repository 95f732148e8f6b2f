"""A report as a table: typed columns, rows, and what stands at its head (465a.3(d)).

Amounts are integers in cents. A figure that lacks an input is None, never 0.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from ledger.values import dollars, quantity
from ledger.witnessed_log.checkpoints import checkpoint_from_text, hash_text
from ledger.witnessed_log.signed_notes import split
from replay.shell.output import printable
from replay.text.sheets import decimal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Kind = Literal["text", "money", "count", "percent"]
"""Money is in cents, percent in hundredths of a percent; both are integers."""

Value = str | int | None

SIGNATURE = ("signature and name", "credential", "date")
"""The columns of the lines on which two people sign a report."""

_SCANNED_OCTETS_MAX = 1_000
"""A code of more is too fine for a phone to read from paper."""


class ReportColumn(NamedTuple):
    """One column: its name in lower case with underscores, and what its cells are."""

    name: str
    kind: Kind = "text"

    @property
    def title(self) -> str:
        """The name as people read it."""
        return self.name.replace("_", " ")


class ReportTable(NamedTuple):
    """The columns and rows of a report. signed: two people sign it on paper."""

    columns: Sequence[ReportColumn]
    rows: Sequence[Sequence[Value]]
    signed: bool = False


class ReportHead(NamedTuple):
    """What stands at the head of every report."""

    facility: str
    title: str
    gaming_day: str
    grade: str | None  # of the day's wins; None: the report is not of them
    version: int  # of the closed day; 0: it is open, or the report follows the record
    digest: str  # SHA-256 of the report's content, the same at each print
    printed: str
    by: str
    reprint: int  # how often it was printed before
    closed_by: Sequence[str] = ()  # credentials of the two people who signed the version
    checkpoint: str = ""  # signed text of the witnessed log's newest one; "": there is no log

    def lines(self) -> Iterator[tuple[str, str]]:
        """Each line with its name."""
        if self.reprint:
            yield "REPRINT", f"print {self.reprint + 1} of this content"
        yield "facility", self.facility
        yield "title", self.title
        yield "gaming day", self.gaming_day
        yield "grade", self.grade or "n/a"
        yield "version", str(self.version)
        if self.closed_by:
            yield "closed by", " and ".join(self.closed_by)
        yield "digest", self.digest
        yield "printed", f"{self.printed} by {self.by}"
        if self.checkpoint:
            at = checkpoint_from_text(split(self.checkpoint, "the log")[0], "the log")
            count = quantity(at.size, "entry", "entries")
            yield "log", f"{at.origin} with {count}, root {hash_text(at.root)}"

    @property
    def signatures(self) -> list[tuple[str, str, str]]:
        """A line for each of the two who sign on paper: name, credential and date.

        The credentials of a closed day are filled in.
        """
        known = (*self.closed_by, "", "")[:2]
        return [("", credential, "") for credential in known]

    @property
    def scanned(self) -> str:
        """What the QR code says: the checkpoint, with as many of its signatures as a code has."""
        lines = self.checkpoint.splitlines(keepends=True)
        while len("".join(lines).encode()) > _SCANNED_OCTETS_MAX:
            lines.pop()
        return "".join(lines)


def digest(facility: str, name: str, gaming_day: str, table: ReportTable) -> str:
    """SHA-256 of a report's content, whatever file it is printed to."""
    columns = [tuple(each) for each in table.columns]
    content = msgspec.json.encode((facility, name, gaming_day, columns, table.rows))
    return sha256(content).hexdigest()


def shown(value: Value, kind: Kind) -> str:
    """A cell as people read it: `n/a` for none, `$12.05`, `12.34 %`."""
    if value is None:
        return "n/a"
    if isinstance(value, str):
        return printable(value)
    if kind == "money":
        return dollars(value)
    return f"{decimal(value)} %" if kind == "percent" else f"{value:,}"
