"""Surveillance's log: entries without a dispute. An entry is corrected by a further one."""

from __future__ import annotations

import builtins
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from consumers.review import log
from ledger.errors import NotFound, Usage
from ledger.facts import Attached, LogEntryAdded, LogEntryCorrected
from ledger.values import format_time, parse_round
from replay.recording.house_facts import append_first_free, screen
from replay.text.typed import written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from infra.postgres.connection import Database
    from replay.recording.house_facts import FactWriter

TRIES = 20
"""How often another number is taken because somebody else has just taken one."""

NAME_MAX = 128
"""Characters of a place, a person, a camera."""


class EntryText(NamedTuple):
    """What an entry says. Times in microseconds; to_us: None: it is of one moment."""

    from_us: int
    to_us: int | None
    place: str
    what: str
    who: Sequence[str]
    recorded_where: str
    disposition: str
    moments: Sequence[Attached] = ()

    @builtins.property
    def checked(self) -> EntryText:
        """The same, if it can be recorded. Raises `Usage`."""
        if self.to_us is not None and self.to_us < self.from_us:
            raise Usage("It ends before it begins", where="to", hint="Give a later time.")
        if max(map(len, (self.place, *self.who))) > NAME_MAX:
            hint = f"Use at most {NAME_MAX} characters."
            raise Usage("A place or a name is too long", where="place", hint=hint)
        written(self.place, "place")
        written(self.what, "what")
        written(self.recorded_where, "where recorded")
        written(self.disposition, "disposition")
        return self


def add(
    database: Database, record: FactWriter, property_: str, says: EntryText, by: str, zone: tzinfo
) -> str:
    """Write an entry; its name. Raises `Usage` if a text is missing."""
    day = datetime.fromtimestamp(says.checked.from_us / 1_000_000, UTC).astimezone(zone).date()
    prefix = f"L-{day}-"
    taken = {*log.names_like(database, property_, prefix)}
    names = (f"{prefix}{len(taken) + more}" for more in range(1, TRIES))
    made = {name: LogEntryAdded(**_fields(name, says, by)) for name in names if name not in taken}
    return append_first_free(record, screen(property_, "log"), made, "entry")


def correct(
    database: Database,
    record: FactWriter,
    property_: str,
    entry: str,
    says: EntryText,
    because: str,
    by: str,
) -> str:
    """Correct an entry by a further one; its name. Raises `NotFound`, `Usage`, `Refused`."""
    found = log.entries(database, property=property_, entry=entry)
    if not found:
        raise NotFound(
            f"There is no entry {entry}",
            where="entry",
            hint="`round-ledger logbook list` lists them.",
        )
    told, first = written(because, "because"), len(found[0].corrections) + 2
    made = {
        name: LogEntryCorrected(of=entry, because=told, **_fields(name, says.checked, by))
        for name in (f"{entry}-{number}" for number in range(first, first + TRIES))
    }
    return append_first_free(record, screen(property_, "log"), made, "entry")


def moment(round_: str, camera: str, at_us: int | None) -> list[Attached]:
    """What is attached to an entry: a round, and a camera at a time. Raises `Usage`."""
    found = []
    if round_:
        if parse_round(round_, "") is None:
            hint = "Write it as CC-07/2026-11-20/231."
            raise Usage(f"`{round_}` is not a round", where="round", hint=hint)
        found.append(Attached(round=round_))
    if camera:
        time = None if at_us is None else format_time(at_us)
        found.append(Attached(camera=camera[:NAME_MAX], camera_time=time))
    return found


def people(text: str) -> list[str]:
    """People as they are typed: with commas between them."""
    return [each.strip() for each in text.split(",") if each.strip()]


def _fields(name: str, says: EntryText, by: str) -> dict[str, Any]:
    return {
        "entry": name,
        "from_": format_time(says.from_us),
        "to": None if says.to_us is None else format_time(says.to_us),
        "place": says.place,
        "what": says.what,
        "who": tuple(says.who),
        "recorded_where": says.recorded_where,
        "disposition": says.disposition,
        "moments": tuple(says.moments),
        "by": by,
    }
