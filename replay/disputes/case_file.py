"""A dispute with all that stands beside it, and who may not know yet what it claims."""

from collections.abc import Sequence
from typing import NamedTuple

from consumers.disputes import disputes
from consumers.rounds.index import ROUND_INDEX, facts_of
from consumers.runtime.lifecycle import catch_up
from infra.postgres.connection import Database
from infra.postgres.view_tables import reading, tape_source
from ledger.facts import FootageLocked, FootageReleased
from ledger.record.wire import Fact, fact_of
from ledger.values import RoundId, parse_time
from replay.cameras.coverage import coverage
from replay.cameras.custody import locked, times_of
from replay.disputes import service
from replay.disputes.dispute import Dispute, dispute_of
from replay.disputes.service import LockContext
from replay.rounds.story import Story


class FootageHold(NamedTuple):
    """A stretch of a camera, by its own clock, that was locked for a dispute or released again."""

    camera: str
    from_us: int
    to_us: int
    by: str
    because: str
    released: bool


class CaseFile(NamedTuple):
    """A dispute with all that stands beside it."""

    case: Dispute
    story: Story | None  # None: no fact of its round is on record
    held: Sequence[FootageHold]  # in the order told
    unlocked: Sequence[str]  # cameras with footage that was never locked for it
    locked: bool  # whether a lock of its own still holds
    withheld: bool = False  # its round, from who looks


def case_file(vault: LockContext, property_: str, dispute: str) -> CaseFile:
    """A property's dispute, up to the end of the record. Raises `NotFound`."""
    base = vault.base
    service.up_to_date(base)
    case = service.find(base, dispute, property_)
    left = sorted({span.camera for span in service.unlocked_spans(vault, case)})
    told = _told(base, case)
    cameras = coverage(told).cameras.values()
    holds = any(locked(camera, dispute=dispute) for camera in cameras)
    found = [held for fact in told if (held := _held(fact.body))]
    return CaseFile(case, service.story_of(base, case), found, left, holds)


def round_times(base: Database, round_: RoundId) -> tuple[int, int] | None:
    """From when to when a round went; None: no fact of it is on record."""
    with reading(base, [table.name for table in ROUND_INDEX.tables]) as store:
        return times_of(row.time_us for row in facts_of(store, round_))


def unknown_to(base: Database, employee: str) -> dict[RoundId, Dispute]:
    """The rounds of open disputes that this employee is not told of yet."""
    with tape_source(base) as source:  # who raised one by command has not brought it along
        catch_up(base, source, [disputes.VIEW])
    return {
        case.claim.round: case
        for case in reversed(_open_cases(base))
        if case.claim and case.claim.round and not case.knows(employee)
    }


def _open_cases(base: Database) -> list[Dispute]:
    """Every dispute that is not resolved, as all its facts tell it."""
    with reading(base, [each.name for each in disputes.VIEW.tables]) as store:
        rows = disputes.facts_of_open(store)
    told: dict[tuple[str, str], list[Fact]] = {}
    for row in rows:
        fact = fact_of(row)
        key = (row.tape.partition("/")[0], getattr(fact.body, "dispute", ""))
        told.setdefault(key, []).append(fact)
    return [dispute_of(*key, facts) for key, facts in told.items()]


def _told(base: Database, case: Dispute) -> list[Fact]:
    """Every fact that names a dispute, what was locked for it and released again among them."""
    with reading(base, [disputes.FACTS.name]) as store:
        rows = disputes.facts_about(store, case.property, case.dispute)
    return [fact_of(row) for row in rows]


def _held(body: object) -> FootageHold | None:
    if not isinstance(body, FootageLocked | FootageReleased):
        return None
    from_us, to_us = parse_time(body.from_) or 0, parse_time(body.to) or 0
    released = isinstance(body, FootageReleased)
    return FootageHold(body.camera, from_us, to_us, body.by, body.because, released)
