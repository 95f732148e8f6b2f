"""Disputes and locks over the record and its views: what the command and the pages both do.

What may follow what is `replay.disputes.dispute`' to say, which footage to keep is
`replay.cameras.custody`'s; here they meet the record. Nothing is released here.
"""

import re
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from consumers.cameras.cameras import CAMERAS, rows_about
from consumers.cameras.rows import rows_of_cameras, the_property
from consumers.disputes import disputes
from consumers.rounds.index import ROUND_INDEX, facts_of
from consumers.runtime.lifecycle import Projection, catch_up
from infra.postgres.advisory_lock import advisory_lock
from infra.postgres.connection import Database, translated
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import Store, reading, tape_source
from infra.settings import Settings
from ledger.errors import NotFound, Refused, Unavailable, Usage
from ledger.facts import FootageLocked
from ledger.record.wire import fact_of
from ledger.values import RoundId, format_time
from replay.cameras.coverage import coverage
from replay.cameras.custody import Span, span_on, times_of, to_keep, unlocked
from replay.disputes.dispute import Desk, Dispute, dispute_of, raised, unplayed
from replay.disputes.preserved_windows import LOCKS, lock_ids, window_name
from replay.recording.house_facts import Noted, Record, made, put_all, screen
from replay.rounds.reading import catch_up_views, load_round, resolve_round
from replay.rounds.story import Story
from replay.shell.connections import opened_database
from replay.shell.output import progress
from replay.shell.settings import in_force

VIEWS = (disputes.VIEW, ROUND_INDEX, CAMERAS)
"""What disputes are read from."""

TRIES = 20
"""How often a name for a dispute is made anew where somebody else takes it meanwhile."""

S = 1_000_000

_TABLES = tuple(table.name for each in VIEWS for table in each.tables)
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)


class LockMargins(NamedTuple):
    """How much footage is locked before and after a round, seconds."""

    before_s: int
    after_s: int


class LockContext(NamedTuple):
    """What whoever locks footage works with: the views, the record, how much to lock."""

    base: Database
    record: Record
    roll: LockMargins


class DisputeContext(NamedTuple):
    """What whoever handles disputes works with."""

    vault: LockContext
    desk: Desk

    @property
    def base(self) -> Database:
        """Where the views are."""
        return self.vault.base


class What(NamedTuple):
    """The cameras meant: all on a table, or one."""

    table: str | None
    camera: str | None
    property: str | None  # None: the only one that has it


@contextmanager
def opened_office(*more: Projection) -> Iterator[DisputeContext]:
    """Everything open for one command, its views at the end of the record; closed at the end."""
    with (
        opened_database() as base,
        PostgresTape(base) as tape,
        Desk(base) as desk,
        progress("views") as advance,
    ):
        catch_up_views(base, [*VIEWS, *more], advance)
        yield DisputeContext(LockContext(base, tape, roll_of(in_force())), desk)


class Raised(NamedTuple):
    """A dispute as it stands once it is raised, and the footage locked for it."""

    case: Dispute
    locks: Sequence[Noted]


def roll_of(settings: Settings) -> LockMargins:
    """How much is locked, as the settings have it."""
    return LockMargins(settings.lock_before_s, settings.lock_after_s)


def up_to_date(base: Database) -> None:
    """Bring what disputes are read from to the end of the record."""
    with tape_source(base) as source:
        catch_up(base, source, VIEWS)


def find(base: Database, dispute: str, property_: str | None = None) -> Dispute:
    """A dispute by its name, from all its facts. Raises `NotFound`, `Usage` where two have it."""
    with reading(base, _TABLES) as store:
        found = disputes.named(store, dispute, property_)
        if not found:
            raise NotFound(
                f"No fact of dispute {dispute} is on record",
                where="view disputes",
                hint="Look for it with `round-ledger dispute list`.",
            )
        if len(found) > 1:
            names = ", ".join(each.property for each in found)
            raise Usage(f"Several properties have it: {names}", where=dispute, hint="Name one.")
        return _case(store, found[0].property, dispute)


def about(base: Database, round_: RoundId) -> list[Dispute]:
    """The disputes about a round as all their facts tell them, the first raised first."""
    with reading(base, _TABLES) as store:
        found = disputes.about(store, round_)
        return [_case(store, each.property, each.dispute) for each in found]


def raise_(
    office: DisputeContext,
    round_name: str,
    position: int,
    claim: str,
    by: str,
    name: str | None = None,
) -> Raised:
    """Raise a dispute about a round, and lock the footage around it.

    Without a name one is made: D-<gaming day>-<number>, unless the same person has an open dispute
    with the same claim for the same position: that one is meant, as by a second click. Raises
    `Refused` where the name is taken.
    """
    for _ in range(TRIES):
        up_to_date(office.base)
        round_, new = _named(office.base, round_name, name)
        if name is None and (same := _same(office.base, round_, position, claim, by)):
            return Raised(same, lock(office.vault, same))
        try:
            office.desk.tell(new, raised(round_, new.dispute, position, claim, by))
        except Refused:  # somebody took the name meanwhile
            if name is not None:
                raise
            continue
        up_to_date(office.base)
        case = find(office.base, new.dispute, round_.property)
        return Raised(case, lock(office.vault, case))
    raise Unavailable(
        "Others raise disputes faster than a name can be made",
        where="dispute",
        hint="Give a name of your own.",
    )


def doubt(base: Database, round_name: str, position: int, withheld: Container[RoundId] = ()) -> str:
    """What to ask whoever names a position that nobody played; empty where there is no doubt.

    Empty too of a round that is withheld from them: which positions were played is its record.
    """
    up_to_date(base)
    with reading(base, _TABLES) as store:
        round_ = resolve_round(store, round_name)
        if round_ in withheld:
            return ""
        others = unplayed(map(fact_of, facts_of(store, round_)), position)
    if not others:
        return ""
    named = ", ".join(map(str, others))
    return f"Position {position} was not played in this round; those that were: {named}"


def story_of(base: Database, case: Dispute) -> Story | None:
    """The disputed round, told from the views; None where no fact of it is on record."""
    if case.claim is None or case.claim.round is None:
        return None
    try:
        return load_round(base, str(case.claim.round), None).story
    except NotFound:
        return None


def reviewer(by: str | None, *, blind: bool) -> str | None:
    """Whose eyes a dispute is hidden from; None: nobody's. Raises `Usage`."""
    if blind and by is None:
        raise Usage("Nobody is named", where="--blind", hint="Say who looks: --by S-2001.")
    return by if blind else None


def lock(vault: LockContext, case: Dispute, by: str | None = None) -> list[Noted]:
    """Lock what of the footage around a dispute's round was never locked for it; what was put.

    `by`: who asked for it; None: who raised the dispute, since that locks by itself.
    Empty where no camera was on the table, or where no fact of the round is on record yet.
    """
    claim = case.claim
    if claim is None or claim.round is None:
        return []
    spans = unlocked_spans(vault, case)
    because = f"dispute {case.dispute} about {claim.round.subject}"
    return put_locks(
        vault.record, case.property, spans, by or claim.by, because, case.dispute, claim.round.table
    )


def unlocked_spans(vault: LockContext, case: Dispute) -> list[Span]:
    """The footage around a dispute's round that was never locked for it."""
    claim = case.claim
    if claim is None or claim.round is None:
        return []
    with reading(vault.base, _TABLES) as store:
        times = times_of(row.time_us for row in facts_of(store, claim.round))
        if times is None:
            return []
        from_us, to_us = times[0] - vault.roll.before_s * S, times[1] + vault.roll.after_s * S
        rows = rows_about(store, case.property, claim.round.table, from_us, to_us)
    known = coverage(map(fact_of, rows))
    spans = to_keep(known, case.property, claim.round.table, from_us, to_us)
    return unlocked(known, case.property, spans, case.dispute)


def lock_pending(vault: LockContext, *, fresh: bool = True, wait: bool = False) -> list[Raised]:
    """Lock the footage of every open dispute that has none locked, whoever raised it.

    Where another process is at it, that one does it: empty; `wait`: it is done once this returns,
    whoever did it. Not `fresh`: look at the view as it stands, and bring it along only where it has
    such a dispute, so that nothing is locked twice. Of more than a thousand, a thousand.
    """
    if not fresh and not disputes.read(vault.base, unlocked=True, limit=1):
        return []
    with (
        vault.base.connect("ledger_reader") as connection,
        translated(vault.base),
        advisory_lock(connection, "round-ledger", LOCKS, wait=wait) as only,
    ):
        if not only:
            return []
        up_to_date(vault.base)
        cases = [
            find(vault.base, row.dispute, row.property)
            for row in disputes.read(vault.base, unlocked=True)
        ]
        done = [Raised(case, lock(vault, case)) for case in cases]
        return [each for each in done if each.locks]


def preserve(
    vault: LockContext, what: What, stretch: tuple[int, int], because: str, by: str
) -> list[Noted]:
    """Lock a stretch of the reference's time without a dispute. Raises `Usage`, `NotFound`.

    The ids of the locks name the window: see `replay.disputes.preserved_windows.named_by`.
    """
    from_us, to_us = stretch
    if to_us < from_us:
        raise Usage("It ends before it begins", where="--to", hint="Give the later time there.")
    if (what.table is None) == (what.camera is None):
        raise Usage("Name a table or a camera, one of them", where="--table", hint="Or --camera.")
    with reading(vault.base, _TABLES) as store:
        house = the_property(store, what.property, what.table, what.camera)
        if what.table is not None:
            rows = rows_about(store, house, what.table, from_us, to_us)
            known = coverage(map(fact_of, rows))
            spans = to_keep(known, house, what.table, from_us, to_us)
        else:
            camera = what.camera or ""
            rows = rows_of_cameras(store, house, from_us, to_us, camera)
            known = coverage(map(fact_of, rows))
            spans = [span_on(known, house, camera, from_us, to_us)]
    window = window_name(from_us, to_us)
    return put_locks(vault.record, house, spans, by, because, table=what.table, window=window)


def put_locks(
    record: Record,
    property_: str,
    spans: Sequence[Span],
    by: str,
    because: str,
    dispute: str | None = None,
    table: str | None = None,
    window: str | None = None,
) -> list[Noted]:
    """Put locks on record, all or none; those of a window under ids that name it."""
    bodies = [
        FootageLocked(
            table=table,
            camera=span.camera,
            from_=format_time(span.from_us),
            to=format_time(span.to_us),
            by=by,
            because=because,
            dispute=dispute,
            window=window,
        )
        for span in spans
    ]
    who = screen(property_, LOCKS)
    ids = lock_ids(window, len(spans)) if window else [None] * len(spans)
    named = zip(bodies, ids, strict=True)
    return put_all(record, [made(body, who, id=id_) for body, id_ in named])


def _named(base: Database, round_name: str, name: str | None) -> tuple[RoundId, Dispute]:
    """The round meant, and its new dispute, named. Raises `Refused` where the name is taken."""
    with reading(base, _TABLES) as store:
        round_ = resolve_round(store, round_name)
        case = _case(store, round_.property, name or _next_name(store, round_))
    if case.claim:
        raise Refused(
            f"There is a dispute {name} already",
            where="dispute",
            hint="Add to it with `round-ledger dispute note`, or give another name.",
        )
    return round_, case


def _same(base: Database, round_: RoundId, position: int, claim: str, by: str) -> Dispute | None:
    """An open dispute that one person has raised in these very words."""
    for case in about(base, round_):
        first = case.claim
        if first and not case.outcome and (first.position, first.claim, first.by) == (
            position, claim, by,
        ):  # fmt: skip
            return case
    return None


def _next_name(store: Store, round_: RoundId) -> str:
    prefix = f"D-{round_.gaming_day}-"
    ends = (
        name.removeprefix(prefix) for name in disputes.names_like(store, round_.property, prefix)
    )
    return f"{prefix}{1 + max((int(end) for end in ends if _NUMBER.fullmatch(end)), default=0)}"


def _case(store: Store, property_: str, dispute: str) -> Dispute:
    rows = disputes.facts_about(store, property_, dispute)
    return dispute_of(property_, dispute, map(fact_of, rows))
