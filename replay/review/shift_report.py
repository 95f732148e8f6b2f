"""The report of a shift: what is new, done and open, as plain text.

The text is put on record with its SHA-256 as the shift is handed over. So it has nothing that is
withheld from anybody at that time. A report fits one sheet: long lists end with their number.
"""

from __future__ import annotations

import builtins
import hashlib
from typing import TYPE_CHECKING, NamedTuple

from consumers.cameras.cameras import CAMERA_FACTS
from consumers.cameras.rows import properties_with_cameras
from consumers.disputes import disputes
from consumers.review import log, queue
from infra.postgres.view_tables import reading
from ledger.values import dollars, quantity
from replay.cameras.coverage import is_off_line
from replay.cameras.custody_service import due_by, property_footage
from replay.cameras.retention import DAY_US
from replay.review import withheld_rounds
from replay.text.times import stamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from consumers.review.log import LoggedEntry
    from consumers.review.queue import FindingTally
    from consumers.review.shifts import Shift
    from infra.postgres.connection import Database
    from ledger.values import RoundId
    from replay.cameras.retention import Policy, RetentionRun
    from replay.recording.house_facts import FactWriter

LINES_MAX = 5
"""The most lines of one list; an entry of the log has one line too."""

WORDS_MAX = 60
"""Characters of an entry of the log."""

SOON_DAYS = 3
"""Footage that expires within so many days is in the report."""

CASES_MAX = 10_000
"""The most disputes that are counted."""


class ReportSection(NamedTuple):
    """A heading with its lines."""

    title: str
    lines: Sequence[str]


class ShiftReport(NamedTuple):
    """A report, and the withheld rounds that it says nothing of."""

    text: str
    left_out: Sequence[RoundId]

    @builtins.property
    def sha256(self) -> str:
        """The hash of the text."""
        return hash_of(self.text)


class ReportSources(NamedTuple):
    """What a report is worked out from."""

    database: Database
    record: FactWriter
    policy: Policy
    zone: tzinfo


def hash_of(text: str) -> str:
    """The SHA-256 of a report's text."""
    return hashlib.sha256(text.encode()).hexdigest()


def sections_of(text: str) -> list[ReportSection]:
    """The sections of a report's text: a heading with its lines, and an empty line between two."""
    parts = (part.splitlines() for part in text.strip("\n").split("\n\n"))
    return [ReportSection(first, rest) for first, *rest in parts]


def report(
    sources: ReportSources, shift: Shift, until_us: int, made_us: int | None = None
) -> ShiftReport:
    """The report of a shift from its beginning until a time, as the views have it now.

    made_us: the time that it bears; default: until_us.
    """
    withheld = withheld_rounds.from_anybody(sources.database, shift.property)
    parts = [
        ReportSection(f"Shift {shift.shift}", [*_head(shift, made_us or until_us, sources.zone)]),
        ReportSection("Findings", [*_findings(sources, shift, until_us, [*withheld])]),
        ReportSection("Cases", [*_cases(sources, shift, until_us)]),
        ReportSection("Tasks", [*_tasks(sources, shift.property, until_us)]),
        *_cameras(sources, shift.property, until_us),
        ReportSection("Log", [*_log(sources, shift, until_us, withheld)]),
    ]
    text = "\n\n".join("\n".join((each.title, *each.lines)) for each in parts)
    return ShiftReport(f"{text}\n", [*withheld])


def _head(shift: Shift, made_us: int, zone: tzinfo) -> Iterator[str]:
    yield f"Casino: {shift.property}"
    yield f"Begun: {_at(shift.begun_us or made_us, zone)} by {shift.begun_by}"
    yield f"Report made: {_at(made_us, zone)}"


def _findings(
    sources: ReportSources, shift: Shift, until_us: int, withheld: Sequence[RoundId]
) -> Iterator[str]:
    since_us = shift.begun_us or until_us
    found = queue.during(sources.database, shift.property, since_us, until_us, withheld)
    names = ("right", "wrong", "not visible", "known before")
    how = ", ".join(f"{n:,} {name}" for n, name in zip(found.outcomes, names, strict=True) if n)
    yield f"New: {_tally(found.new)}"
    yield f"Done: {_tally(found.done)}{f'; {how}' if how else ''}"
    yield f"Open: {_tally(found.open)}; {found.unseen:,} seen by nobody"
    if withheld:
        yield f"Left out: {quantity(len(withheld), 'round')} under blind review"


def _tally(of: FindingTally) -> str:
    return f"{of.many:,}, {dollars(of.off)} between record and rules"


def _cases(sources: ReportSources, shift: Shift, until_us: int) -> Iterator[str]:
    found = disputes.read(sources.database, property=shift.property, limit=CASES_MAX)
    since_us = shift.begun_us or until_us
    open_ = [each for each in found if each.status == "raised"]
    raised = sum(_within(each.raised_us, since_us, until_us) for each in found)
    done = [each for each in found if _within(each.resolved_us, since_us, until_us)]
    paid = sum(each.adjusted or 0 for each in done)
    yield f"Raised: {raised:,}"
    yield f"Resolved: {len(done):,}, {dollars(paid)} paid to settle them"
    yield f"Open: {len(open_):,}"
    lines = (
        f"{each.dispute}: {each.round.subject if each.round else 'no round'}" for each in open_
    )
    yield from _listed([*lines])


def _tasks(sources: ReportSources, property_: str, until_us: int) -> Iterator[str]:
    """Overdue tasks, without their words, which may say what is claimed."""
    late = disputes.overdue(sources.database, until_us, property=property_)
    lines = (
        f"{each.dispute}, {each.task}: {each.to}, due {_at(each.due_us or 0, sources.zone)}"
        for each in late
    )
    yield f"Overdue: {len(late):,}"
    yield from _listed([*lines])


def _within(time_us: int | None, from_us: int, to_us: int) -> bool:
    return time_us is not None and from_us <= time_us < to_us


def _cameras(sources: ReportSources, property_: str, until_us: int) -> Iterator[ReportSection]:
    """The cameras that are out, and the footage that expires soon."""
    with reading(sources.database, [CAMERA_FACTS.name]) as store:
        if property_ not in properties_with_cameras(store):
            yield ReportSection("Cameras", ["No fact of a camera is on record."])
            return
    zone = sources.zone
    given = sources.database, sources.record, sources.policy, property_
    with property_footage(*given) as house:
        lost = [
            f"{name}: since {_at(max(us for us, dark in each.lost if dark), zone)}"
            for name, each in house.cameras.items()
            if is_off_line(each, until_us)
        ]
        soon = sorted(
            (run for name in house.cameras for run in due_by(house, name, _soon(until_us))),
            key=lambda run: (run.expires_us, run.camera),
        )
    counted = quantity(len(house.cameras), "camera")
    yield ReportSection("Cameras", [f"Out: {len(lost):,} of {counted}", *_listed(lost)])
    lines = [_expiring(run, zone) for run in soon]
    segments = quantity(sum(run.segments for run in soon), "segment")
    head = f"Expires within {SOON_DAYS} days: {segments}"
    yield ReportSection("Footage", [head, *_listed(lines)])


def _soon(until_us: int) -> int:
    return until_us + SOON_DAYS * DAY_US


def _expiring(run: RetentionRun, zone: tzinfo) -> str:
    span = f"{_at(run.from_us, zone)} to {_at(run.to_us, zone)}"
    return f"{run.camera}: {span}, from {_at(run.expires_us, zone)} on"


def _log(
    sources: ReportSources,
    shift: Shift,
    until_us: int,
    withheld: dict[RoundId, tuple[int, int] | None],
) -> Iterator[str]:
    """The entries that were written in the shift, the oldest first."""
    every = log.written_in(sources.database, shift.property, shift.begun_us or until_us, until_us)
    found = [
        each
        for each in every
        if not any(withheld_rounds.concerns(each, "", *of) for of in withheld.items())
    ]
    yield f"Entries: {len(found):,}"
    yield from _listed([_entry(each, sources.zone) for each in found])


def _entry(each: LoggedEntry, zone: tzinfo) -> str:
    now = each.now
    what = " ".join(now.what.split())
    cut = what if len(what) <= WORDS_MAX else f"{what[: WORDS_MAX - 1]}…"
    return f"{each.first.entry}: {_at(now.from_us, zone)}, {now.place}: {cut}"


def _listed(lines: Sequence[str]) -> list[str]:
    """Lines of a list, cut to what one sheet holds."""
    if len(lines) <= LINES_MAX:
        return [*lines]
    return [*lines[: LINES_MAX - 1], f"and {len(lines) - LINES_MAX + 1:,} more"]


def _at(time_us: int, zone: tzinfo) -> str:
    return stamp(time_us, zone, ms=False)
