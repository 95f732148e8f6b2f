"""Disputes over the record and its views, for the command, the pages and `consume`.

It finds, raises and loads disputes, and locks their footage. `replay.disputes.dispute` decides
which step may follow, `replay.cameras.custody` which footage to lock.
"""

import logging
import re
import threading
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from consumers.cameras.cameras import CAMERAS, rows_about
from consumers.disputes import disputes
from consumers.rounds.index import ROUND_INDEX, facts_of
from consumers.runtime.lifecycle import Projection, up_to_date
from infra.postgres.advisory_lock import advisory_lock
from infra.postgres.connection import Database, translated
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import ViewStore, reading
from infra.settings import Settings
from ledger.errors import LedgerError, NotFound, Refused, Unavailable, Usage
from ledger.facts import Attached, FactRef, FootageLocked, FootageReleased
from ledger.record.wire import Fact, fact_of
from ledger.values import RoundId, format_time, parse_time, quantity
from replay.cameras.coverage import coverage
from replay.cameras.custody import CameraSpan, locked, times_of, to_keep, unlocked
from replay.cameras.custody_service import put_handled, stretch
from replay.disputes.dispute import Dispute, DisputeDecisions, dispute_of, unplayed
from replay.recording.house_facts import FactWriter, Noted
from replay.rounds.reading import load_round, resolve_round
from replay.rounds.story import Story
from replay.rounds.views import catch_up_views
from replay.shell.connections import opened_database
from replay.shell.output import progress
from replay.shell.settings import in_force

VIEWS = (disputes.VIEW, ROUND_INDEX, CAMERAS)
"""The views that disputes are read from."""

LOCKS = "locks"
"""The device of locks: `/<property>/surveillance/locks`."""

EVERY_S = 10.0
"""Seconds between searches for disputes without a lock."""

LOG = logging.getLogger("round_ledger.locks")

TRIES = 20
"""How often a new name is tried if another process takes it meanwhile."""

S = 1_000_000

_TABLES = tuple(table.name for each in VIEWS for table in each.tables)
_FACT = re.compile(r"(?:(?P<round>[^#@]+)#)?(?P<number>[1-9][0-9]{0,5})", re.ASCII)
_INSTANT = re.compile(r"(?P<camera>.{0,128})@(?P<time>[^@]+)")
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)


class LockMargins(NamedTuple):
    """Seconds of footage locked before and after a round."""

    before_s: int
    after_s: int


class LockContext(NamedTuple):
    """What locking footage needs: the views, the record, the margins."""

    database: Database
    record: FactWriter
    margins: LockMargins


class DisputeContext(NamedTuple):
    """What handling disputes needs."""

    lock_context: LockContext
    decisions: DisputeDecisions

    @property
    def database(self) -> Database:
        """The database of the views."""
        return self.lock_context.database


@contextmanager
def opened_disputes(*more: Projection) -> Iterator[DisputeContext]:
    """Open everything for one command, with its views caught up; closed at the end."""
    with (
        opened_database() as database,
        PostgresTape(database) as tape,
        DisputeDecisions(database) as decisions,
        progress("views") as advance,
    ):
        catch_up_views(database, [*VIEWS, *more], advance)
        yield DisputeContext(LockContext(database, tape, lock_margins(in_force())), decisions)


class LockChange(NamedTuple):
    """A span of a camera, by its own clock, that was locked for a dispute or released."""

    camera: str
    from_us: int
    to_us: int
    by: str
    because: str
    released: bool


class CaseFile(NamedTuple):
    """A dispute with its round and its locks."""

    case: Dispute
    story: Story | None  # None: no fact of its round is on record
    held: Sequence[LockChange]  # in order of the record
    unlocked: Sequence[str]  # cameras with footage that was never locked for it
    locked: bool  # whether a lock of its own still holds
    withheld: bool = False  # its round is withheld from this user


class RaisedDispute(NamedTuple):
    """A raised dispute, and the footage locked for it."""

    case: Dispute
    locks: Sequence[Noted]


def lock_margins(settings: Settings) -> LockMargins:
    """The margins of the settings."""
    return LockMargins(settings.lock_before_s, settings.lock_after_s)


def find(context: DisputeContext, dispute: str, property_: str | None = None) -> Dispute:
    """A dispute by its name, from all its facts. Raises `NotFound`, or `Usage` if two have it."""
    with reading(context.database, _TABLES) as store:
        found = disputes.named(store, dispute, property_)
    if not found:
        raise NotFound(
            f"No fact of dispute {dispute} is on record",
            where="view disputes",
            hint="`round-ledger dispute list` lists all disputes.",
        )
    if len(found) > 1:
        names = ", ".join(each.property for each in found)
        raise Usage(f"Several properties have it: {names}", where=dispute, hint="Name one.")
    return context.decisions.case(found[0].property, dispute)


def about(database: Database, round_: RoundId) -> list[Dispute]:
    """The disputes about a round, from all their facts, oldest first."""
    with reading(database, _TABLES) as store:
        found = disputes.about(store, round_)
        return [_case(store, each.property, each.dispute) for each in found]


def raise_(
    context: DisputeContext,
    round_name: str,
    position: int,
    claim: str,
    by: str,
    name: str | None = None,
) -> RaisedDispute:
    """Raise a dispute about a round, and lock the footage around it.

    The default name is D-<gaming day>-<number>. If the same person has an open dispute with the
    same claim for the same position, that one is returned, as after a second click. Raises
    `Refused` if the name is taken.
    """
    for _ in range(TRIES):
        up_to_date(context.database, VIEWS)
        round_, new = _named(context, round_name, name)
        if name is None and (same := _same(context.database, round_, position, claim, by)):
            return RaisedDispute(same, lock(context.lock_context, same))
        try:
            context.decisions.decide(new, new.raise_(round_, position, claim, by))
        except Refused:  # another process took the name meanwhile
            if name is not None:
                raise
            continue
        up_to_date(context.database, VIEWS)
        case = context.decisions.case(round_.property, new.dispute)
        return RaisedDispute(case, lock(context.lock_context, case))
    raise Unavailable(
        "No free name for the dispute could be found",
        where="dispute",
        hint="Give a name with --name, or try again.",
    )


def round_named(database: Database, name: str) -> RoundId:
    """The round of a name, as people write it. Raises `NotFound`, `Usage`."""
    with reading(database, _TABLES) as store:
        return resolve_round(store, name)


def doubt(
    database: Database, round_name: str, position: int, withheld: Container[RoundId] = ()
) -> str:
    """The question about a position that nobody played; empty if it was played.

    It is also empty for a withheld round, since the played positions are part of its record.
    """
    up_to_date(database, VIEWS)
    with reading(database, _TABLES) as store:
        round_ = resolve_round(store, round_name)
        if round_ in withheld:
            return ""
        others = unplayed(map(fact_of, facts_of(store, round_)), position)
    if not others:
        return ""
    named = ", ".join(map(str, others))
    return f"Position {position} was not played in this round; played positions: {named}"


def story_of(database: Database, case: Dispute) -> Story | None:
    """The disputed round, from the views; None if no fact of it is on record."""
    if case.claim is None or case.claim.round is None:
        return None
    try:
        return load_round(database, str(case.claim.round), None).story
    except NotFound:
        return None


def case_file(context: DisputeContext, property_: str, dispute: str) -> CaseFile:
    """A property's dispute, up to the end of the record. Raises `NotFound`."""
    database = context.database
    up_to_date(database, VIEWS)
    case = find(context, dispute, property_)
    left = sorted({span.camera for span in unlocked_spans(context.lock_context, case)})
    facts = _facts(database, case)
    cameras = coverage(facts).cameras.values()
    holds = any(locked(camera, dispute=dispute) for camera in cameras)
    found = [held for fact in facts if (held := _change(fact.body))]
    return CaseFile(case, story_of(database, case), found, left, holds)


def round_times(database: Database, round_: RoundId) -> tuple[int, int] | None:
    """Start and end of a round; None if no fact of it is on record."""
    with reading(database, [table.name for table in ROUND_INDEX.tables]) as store:
        return times_of(row.time_us for row in facts_of(store, round_))


def unknown_to(database: Database, employee: str) -> dict[RoundId, Dispute]:
    """The rounds of open disputes that are withheld from this employee."""
    up_to_date(database, [disputes.VIEW])  # a dispute raised by command may not be in it yet
    return {
        case.claim.round: case
        for case in reversed(_open_cases(database))
        if case.claim and case.claim.round and not case.knows(employee)
    }


def reviewer(by: str | None, *, blind: bool) -> str | None:
    """The reviewer a dispute is hidden from; None: nobody. Raises `Usage`."""
    if blind and by is None:
        raise Usage("--blind needs a reviewer", where="--blind", hint="Name one: --by S-2001.")
    return by if blind else None


def lock(lock_context: LockContext, case: Dispute, by: str | None = None) -> list[Noted]:
    """Lock the footage around a dispute's round that was never locked for it; the new locks.

    by: who asked for it; None: who raised the dispute, since raising locks automatically.
    Empty if no camera was on the table, or no fact of the round is on record yet.
    """
    claim = case.claim
    if claim is None or claim.round is None:
        return []
    spans = unlocked_spans(lock_context, case)
    because = f"dispute {case.dispute} about {claim.round.subject}"
    table, dispute = claim.round.table, case.dispute
    bodies = locks_on(spans, by or claim.by, because, table=table, dispute=dispute)
    return put_handled(lock_context.record, case.property, bodies, LOCKS)


def unlocked_spans(lock_context: LockContext, case: Dispute) -> list[CameraSpan]:
    """The footage around a dispute's round that was never locked for it."""
    claim = case.claim
    if claim is None or claim.round is None:
        return []
    with reading(lock_context.database, _TABLES) as store:
        times = times_of(row.time_us for row in facts_of(store, claim.round))
        if times is None:
            return []
        from_us, to_us = (
            times[0] - lock_context.margins.before_s * S,
            times[1] + lock_context.margins.after_s * S,
        )
        rows = rows_about(store, case.property, claim.round.table, from_us, to_us)
    covered = coverage(map(fact_of, rows))
    spans = to_keep(covered, case.property, claim.round.table, from_us, to_us)
    return unlocked(covered, case.property, spans, case.dispute)


def lock_pending(
    lock_context: LockContext, *, fresh: bool = True, wait: bool = False
) -> list[RaisedDispute]:
    """Lock the footage of every open dispute without a lock, up to a thousand disputes.

    If another process does it at the same time, the result is empty; `wait` returns only once it
    is done. Without `fresh` the view is read as it is, and is only caught up if it has such a
    dispute, so that nothing is locked twice.
    """
    if not fresh and not disputes.read(lock_context.database, unlocked=True, limit=1):
        return []
    with (
        lock_context.database.connect("ledger_reader") as connection,
        translated(lock_context.database),
        advisory_lock(connection, "round-ledger", LOCKS, wait=wait) as only,
    ):
        if not only:
            return []
        up_to_date(lock_context.database, VIEWS)
        rows = disputes.read(lock_context.database, unlocked=True)
        with reading(lock_context.database, _TABLES) as store:
            cases = [_case(store, row.property, row.dispute) for row in rows]
        done = [RaisedDispute(case, lock(lock_context, case)) for case in cases]
        return [each for each in done if each.locks]


@contextmanager
def locks_kept(
    database: Database, margins: LockMargins, *, every_s: float = EVERY_S
) -> Iterator[None]:
    """Lock footage of open disputes in a thread while the block runs.

    Only disputes without any lock are locked: released footage is not locked again (ADR 0120).
    """
    stop = threading.Event()
    thread = threading.Thread(
        target=_keep_locks, args=(database, margins, every_s, stop), name="locks", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def locks_on(
    spans: Sequence[CameraSpan],
    by: str,
    because: str,
    *,
    table: str | None,
    dispute: str | None = None,
    window: str | None = None,
) -> list[FootageLocked]:
    """The facts that lock footage, one for each span."""
    return [
        FootageLocked(
            table=table,
            camera=span.camera,
            **stretch(span.from_us, span.to_us),
            by=by,
            because=because,
            dispute=dispute,
            window=window,
        )
        for span in spans
    ]


def moments_of(database: Database, case: Dispute, texts: Sequence[str]) -> list[Attached]:
    """Moments from `12`, `ROUND#12`, `@TIME` or `CAMERA@TIME`. Raises `Usage`, `NotFound`.

    A fact's number may change; its source and id are stored, which do not.
    """
    return [_moment(database, case, text) for text in texts]


def _named(context: DisputeContext, round_name: str, name: str | None) -> tuple[RoundId, Dispute]:
    """The named round, and the dispute of this name, or of the next free one."""
    with reading(context.database, _TABLES) as store:
        round_ = resolve_round(store, round_name)
        name = name or _next_name(store, round_)
    return round_, context.decisions.case(round_.property, name)


def _same(
    database: Database, round_: RoundId, position: int, claim: str, by: str
) -> Dispute | None:
    """An open dispute that one person has raised with the same claim."""
    for case in about(database, round_):
        first = case.claim
        if first and not case.outcome and (first.position, first.claim, first.by) == (
            position, claim, by,
        ):  # fmt: skip
            return case
    return None


def _next_name(store: ViewStore, round_: RoundId) -> str:
    prefix = f"D-{round_.gaming_day}-"
    ends = (
        name.removeprefix(prefix) for name in disputes.names_like(store, round_.property, prefix)
    )
    return f"{prefix}{1 + max((int(end) for end in ends if _NUMBER.fullmatch(end)), default=0)}"


def _case(store: ViewStore, property_: str, dispute: str) -> Dispute:
    rows = disputes.facts_about(store, property_, dispute)
    return dispute_of(property_, dispute, map(fact_of, rows))


def _open_cases(database: Database) -> list[Dispute]:
    """Every unresolved dispute, from all its facts."""
    with reading(database, [each.name for each in disputes.VIEW.tables]) as store:
        rows = disputes.facts_of_open(store)
    told: dict[tuple[str, str], list[Fact]] = {}
    for row in rows:
        fact = fact_of(row)
        key = (row.tape.partition("/")[0], getattr(fact.body, "dispute", ""))
        told.setdefault(key, []).append(fact)
    return [dispute_of(*key, facts) for key, facts in told.items()]


def _facts(database: Database, case: Dispute) -> list[Fact]:
    """Every fact that names a dispute, with its locks and releases."""
    with reading(database, [disputes.FACTS.name]) as store:
        rows = disputes.facts_about(store, case.property, case.dispute)
    return [fact_of(row) for row in rows]


def _change(body: object) -> LockChange | None:
    if not isinstance(body, FootageLocked | FootageReleased):
        return None
    from_us, to_us = parse_time(body.from_) or 0, parse_time(body.to) or 0
    released = isinstance(body, FootageReleased)
    return LockChange(body.camera, from_us, to_us, body.by, body.because, released)


def _keep_locks(
    database: Database, margins: LockMargins, every_s: float, stop: threading.Event
) -> None:
    """Search until stopped. A database that does not answer is tried again at the next turn."""
    with PostgresTape(database) as tape:
        while not stop.wait(every_s):
            try:
                done = lock_pending(LockContext(database, tape, margins), fresh=False)
            except Unavailable:
                continue
            except LedgerError as error:
                told = {"code": error.code, "what": error.what, "hint": error.hint}
                LOG.error("footage could not be locked", extra={"figures": told})  # noqa: TRY400 - without a traceback
                continue
            for each in done:
                figures = {"dispute": each.case.dispute, "locks": len(each.locks)}
                LOG.info("footage is locked for a dispute", extra={"figures": figures})


def _moment(database: Database, case: Dispute, text: str) -> Attached:
    if fact := _FACT.fullmatch(text):
        return _fact_moment(database, case, fact["round"], int(fact["number"]))
    instant = _INSTANT.fullmatch(text)
    time_us = parse_time(instant["time"]) if instant else None
    if instant is None or time_us is None:
        raise Usage(
            f"`{text}` is not a moment",
            where="--moment",
            hint="Give 12, CC-07/2026-11-20/230#4 or CC-07-1@2026-11-20T19:04:11-05:00.",
        )
    if not instant["camera"]:
        return Attached(reference_time=format_time(time_us))
    return Attached(camera=instant["camera"], camera_time=format_time(time_us))


def _fact_moment(database: Database, case: Dispute, name: str | None, number: int) -> Attached:
    """The `number`-th fact of a round, as `replay` counts."""
    disputed = case.claim.round if case.claim else None
    if name is None and disputed is None:
        raise NotFound(
            "The dispute names no round",
            where=f"dispute {case.dispute}",
            hint="Name one: CC-07/2026-11-20/230#4.",
        )
    story = load_round(database, name or str(disputed), None).story
    if number > len(story.moments):
        raise Usage(
            f"Round {story.round.subject} has only {quantity(len(story.moments), 'fact')}",
            where=f"--moment {number}",
            hint="`round-ledger replay` numbers them.",
        )
    moment = story.moments[number - 1]
    return Attached(round=str(story.round), fact=FactRef(moment.source, moment.id))
