"""Prints reports and slips, and remembers each print: a second print of the same says REPRINT.

A print is an access event, so that `users log` lists it, a backup keeps it and nothing changes it.
Who prints at the same time waits, so that one of them is the reprint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from infra.access.connections import note
from infra.files import replace_file
from infra.postgres.advisory_lock import lock_transaction
from ledger.errors import Usage
from replay.reports.files import WRITERS

if TYPE_CHECKING:
    from pathlib import Path

    from infra.access.connections import AccessDatabase, Actor
    from infra.postgres.connection import AnyConnection
    from replay.reports.table import ReportHead, ReportTable

PRINTED, SLIP_PRINTED = "report_printed", "slip_printed"
"""What an access event says of a print."""


class ReportPrint(NamedTuple):
    """When a report was last printed for a property, and of which day."""

    gaming_day: str
    at_us: int


def print_report(
    access: AccessDatabase,
    name: str,
    head: ReportHead,
    table: ReportTable,
    path: Path,
    actor: Actor,
) -> ReportHead:
    """Write the file; returns the head as printed. Raises `Usage` if it cannot be written."""
    write = WRITERS[path.suffix.lower()]
    detail = f"{head.facility} {head.gaming_day} v{head.version} {head.digest}"
    with access.open() as connection:
        printed = head._replace(reprint=_prints_before(connection, PRINTED, name, detail))
        octets = write(printed, table)
        note(connection, PRINTED, name, actor, detail)
        _write(path, octets)
    return printed


def print_slip(access: AccessDatabase, property_: str, name: str, actor: Actor) -> int:
    """Log that a slip is printed; how often it was printed before."""
    with access.open() as connection:
        before = _prints_before(connection, SLIP_PRINTED, name, property_)
        note(connection, SLIP_PRINTED, name, actor, property_)
    return before


def _prints_before(connection: AnyConnection, what: str, name: str, detail: str) -> int:
    """How often the same was printed; who prints at the same time waits."""
    lock_transaction(connection, "report printed")
    found = connection.execute(
        "SELECT count(*) FROM access.events WHERE what = %s AND name = %s AND detail = %s",
        (what, name, detail),
    ).fetchone()
    return found[0] if found else 0


def _write(path: Path, octets: bytes) -> None:
    try:
        replace_file(path, octets)
    except OSError as error:
        raise Usage(
            f"The report cannot be written: {error.strerror}", where=str(path), hint="See --to."
        ) from error


def last_prints(access: AccessDatabase, property_: str | None) -> dict[str, ReportPrint]:
    """The last print of each report by its name: of one property, or of any."""
    with access.open() as connection:
        rows = connection.execute(
            "SELECT DISTINCT ON (name) name, split_part(detail, ' ', 2), at_us FROM access.events"
            " WHERE what = %s AND (%s::text IS NULL OR split_part(detail, ' ', 1) = %s)"
            " ORDER BY name, number DESC",
            (PRINTED, property_, property_),
        )
        return {name: ReportPrint(day, at_us) for name, day, at_us in rows.fetchall()}
