"""Records exports of footage, before a file is handed out."""

import getpass
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.facts import FootageExported
from ledger.values import Source, format_time
from replay.recording.house_facts import FactWriter, append_facts, build_fact, screen


class ExportedFootage(NamedTuple):
    """The exported span of a camera, by its own clock, in microseconds."""

    camera: str
    from_us: int
    to_us: int


def tell_exports(
    record: FactWriter,
    source: Source,
    taken: Iterable[ExportedFootage],
    by: str,
    because: str,
    time_us: int | None = None,
) -> None:
    """Record the export of footage, one fact for each camera, all or none.

    time_us: default: now. Raises `Usage`, `Unavailable`, as `append_facts` does.
    """
    bodies = [
        FootageExported(
            camera=each.camera,
            from_=format_time(each.from_us),
            to=format_time(each.to_us),
            by=by,
            because=because,
        )
        for each in taken
    ]
    if bodies:
        append_facts(record, [build_fact(body, source, time_us=time_us) for body in bodies])


def tell_of_command(
    database: Database,
    property_: str,
    taken: Sequence[ExportedFootage],
    by: str | None,
    because: str,
) -> None:
    """Record the export of a command. by: None: the login's name."""
    if taken:
        who = by or f"console-{getpass.getuser()}"
        with PostgresTape(database) as tape:
            tell_exports(tape, screen(property_, "console"), taken, who, because)
