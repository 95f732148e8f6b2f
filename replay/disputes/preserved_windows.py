"""Windows preserved without a dispute: naming, preserving and releasing them.

The record has only locks and releases; windows are derived from them here. A window's name has its
start and end by the reference clock, because locks only have each camera's own time. The name is
part of the locks' ids, so it is on record. The checker of dossiers reads such names itself,
independent of this module.
"""

import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from consumers.cameras.cameras import CAMERA_FACTS, CAMERAS, rows_about
from consumers.cameras.rows import (
    handled_rows,
    properties_with_cameras,
    rows_of_cameras,
    tables_of,
    the_property,
)
from consumers.runtime.lifecycle import up_to_date
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import ViewStore, reading
from ledger.errors import NotFound, Usage
from ledger.facts import FootageLocked, FootageReleased
from ledger.record.tape import TapeRow
from ledger.record.wire import fact_of
from ledger.values import format_time, parse_time
from replay.cameras.coverage import Camera, coverage, ends
from replay.cameras.custody import held, span_on, to_keep, without
from replay.cameras.custody_service import ReleaseScope, property_footage, put_handled, to_release
from replay.cameras.retention import Footage, Policy, area_of, expired, keeping
from replay.checker.window import LOCK_ID, span_of
from replay.disputes.service import LOCKS, VIEWS, LockContext, locks_on
from replay.recording.house_facts import Noted, screen

Stretch = tuple[str, int, int]
"""A camera, from and to by its own clock, ends included."""

PREFIX = "P-"
"""The prefix of every window's name."""

State = Literal["locked", "partly_released", "released", "expired"]


class CameraScope(NamedTuple):
    """The requested cameras: all on a table, or one."""

    table: str | None
    camera: str | None
    property: str | None  # None: the only one that has it


class WindowLock(NamedTuple):
    """A span of a camera, by its own clock, that was locked for a window."""

    camera: str
    from_us: int
    to_us: int
    holds: bool  # on any of it
    whole: bool  # on all of it
    gone: bool  # all of it has expired
    expires_us: int | None  # when the last of it may expire without a lock; None: it has expired


class WindowRelease(NamedTuple):
    """Released footage of a window, by the camera's own clock."""

    camera: str
    from_us: int
    to_us: int
    by: str
    because: str
    at_us: int  # when it was released


class PreservedWindow(NamedTuple):
    """A time that was preserved without a dispute; by the reference clock."""

    name: str
    property: str
    table: str | None  # None: the window of one camera
    from_us: int
    to_us: int
    by: str
    because: str
    locks: Sequence[WindowLock]  # one for each camera
    released: Sequence[WindowRelease]  # in order of the record
    status: State
    expires_us: int | None  # when the last of it may expire without locks; None: it has expired


def state_of(locks: Sequence[WindowLock]) -> State:
    """Whether the footage of a window is locked, released or expired."""
    if all(each.whole for each in locks):
        return "locked"
    if any(each.holds for each in locks):
        return "partly_released"
    return "expired" if all(each.gone for each in locks) else "released"


_TELLING = re.compile(r"[-:]|\.0{6}(?=Z)")


def window_name(from_us: int, to_us: int) -> str:
    """A unique name for a window, such as P-20261120T190000Z-20261120T192000Z-3f9a2c."""
    start, end = (_TELLING.sub("", format_time(each)) for each in (from_us, to_us))
    return f"{PREFIX}{start}-{end}-{secrets.token_hex(3)}"


def lock_ids(name: str, count: int) -> Sequence[str]:
    """The ids of a window's locks; each has their number, so that a missing one is noticed."""
    return [f"{name}.{number}of{count}" for number in range(1, count + 1)]


def named_by(lock_id: str) -> str | None:
    """The window that a lock with this id preserves; None for other ids."""
    match = LOCK_ID.fullmatch(lock_id)
    return match.group(1) if match else None


class PreservedWindows(NamedTuple):
    """Preserved windows for the server; each call reads to the end of the record."""

    lock_context: LockContext
    tape: PostgresTape
    policy: Policy

    def all(self) -> list[PreservedWindow]:
        """All windows, by property, newest first."""
        up_to_date(self.lock_context.database, VIEWS)
        return windows_of(self.lock_context.database, self.tape, self.policy)

    def one(self, property_: str, name: str) -> PreservedWindow:
        """A window of a property by its name. Raises `NotFound`."""
        up_to_date(self.lock_context.database, VIEWS)
        known = span_of(name) and windows_of(
            self.lock_context.database, self.tape, self.policy, property_, f"{name}."
        )
        if not known:
            raise NotFound(
                "No such window was preserved", where=name, hint="The page Cases lists all windows."
            )
        return known[0]

    def preserve(
        self, what: CameraScope, stretch: tuple[int, int], because: str, by: str
    ) -> PreservedWindow:
        """Lock a time by the reference clock; a form sent twice makes one window.

        Raises `NotFound` if no camera was on the table, `Usage`.
        """
        for each in self.all():
            if _is_that(each, what, stretch, because, by):
                return each
        locks = preserve(self.lock_context, what, stretch, because, by)
        if not locks:
            raise NotFound(
                "No camera was on the table then: nothing was locked",
                where=what.table or "",
                hint="Check which cameras were mapped to the table, or name one camera.",
            )
        return self.one(locks[0].fact.tape.partition("/")[0], named_by(locks[0].fact.id) or "")

    def release(self, property_: str, what: ReleaseScope, because: str, by: str) -> None:
        """Release the locks of the named dispute or window of a property."""
        database = self.lock_context.database
        up_to_date(database, VIEWS)
        with property_footage(database, self.tape, self.policy, property_) as house:
            put_handled(self.tape, property_, to_release(house, what, because, by))
        up_to_date(database, VIEWS)


def preserve(
    lock_context: LockContext, what: CameraScope, stretch: tuple[int, int], because: str, by: str
) -> list[Noted]:
    """Lock a time by the reference clock without a dispute. Raises `Usage`, `NotFound`.

    The ids of the locks name the window: see `named_by`.
    """
    from_us, to_us = stretch
    if to_us < from_us:
        raise Usage("The window ends before it begins", where="--to", hint="Swap the two times.")
    if (what.table is None) == (what.camera is None):
        raise Usage("Name one table or one camera", where="--table", hint="Or use --camera.")
    with reading(lock_context.database, [each.name for each in CAMERAS.tables]) as store:
        house = the_property(store, what.property, what.table, what.camera)
        if what.table is not None:
            rows = rows_about(store, house, what.table, from_us, to_us)
            covered = coverage(map(fact_of, rows))
            spans = to_keep(covered, house, what.table, from_us, to_us)
        else:
            camera = what.camera or ""
            rows = rows_of_cameras(store, house, from_us, to_us, camera)
            covered = coverage(map(fact_of, rows))
            spans = [span_on(covered, house, camera, from_us, to_us)]
    window = window_name(from_us, to_us)
    locks = locks_on(spans, by, because, table=what.table, window=window)
    return put_handled(lock_context.record, house, locks, LOCKS, lock_ids(window, len(spans)))


def _is_that(
    each: PreservedWindow, what: CameraScope, stretch: tuple[int, int], because: str, by: str
) -> bool:
    """Whether a window is locked and equals the requested one."""
    of = each.table == what.table and (
        what.camera is None or [lock.camera for lock in each.locks] == [what.camera]
    )
    same = ((each.from_us, each.to_us), each.by, each.because) == (stretch, by, because)
    return of and same and each.status == "locked"


def windows_of(
    database: Database,
    tape: PostgresTape,
    policy: Policy,
    property_: str | None = None,
    name: str = PREFIX,
) -> list[PreservedWindow]:
    """All windows, by property, newest first; or the one of a name.

    The view `cameras` must be at the end of the record.
    """
    with reading(database, [CAMERA_FACTS.name]) as store:
        return [
            window
            for place in ([property_] if property_ else properties_with_cameras(store))
            for window in _of_place(
                store, policy, place, tape.told_by("/" + "/".join(screen(place, LOCKS)), name)
            )
        ]


def _of_place(
    store: ViewStore, policy: Policy, place: str, rows: Iterable[TapeRow]
) -> Iterator[PreservedWindow]:
    puts: dict[str, list[FootageLocked]] = {}
    for row in sorted(rows):
        body, name = fact_of(row).body, named_by(row.id)
        if name and isinstance(body, FootageLocked):
            puts.setdefault(name, []).append(body)
    spans = [_stretch(lock) for locks in puts.values() for lock in locks]
    covered = coverage(map(fact_of, handled_rows(store, place, spans)))
    cameras = {each[0]: covered.cameras.get((place, each[0]), Camera()) for each in spans}
    tables = tables_of(store, place, sorted(cameras))
    for name, locks in reversed(puts.items()):
        times = span_of(name)
        if times is None:
            continue
        kept = [_locked(policy, cameras, tables, lock) for lock in locks]
        yield PreservedWindow(
            name=name,
            property=place,
            table=locks[0].table,
            from_us=times[0],
            to_us=times[1],
            by=locks[0].by,
            because=locks[0].because,
            locks=kept,
            released=list(_released(cameras, locks)),
            status=state_of(kept),
            expires_us=max((each.expires_us for each in kept if each.expires_us), default=None),
        )


def _locked(
    policy: Policy,
    cameras: Mapping[str, Camera],
    tables: Mapping[str, Sequence[str]],
    lock: FootageLocked,
) -> WindowLock:
    """A lock of a window: where it still holds, and when its footage could expire without it."""
    name, from_us, to_us = _stretch(lock)
    camera = cameras[name]
    holds = [
        (max(each.from_us, from_us), min(each.to_us, to_us))
        for each in held(camera)
        if lock in each.locks
    ]
    kept = keeping(
        camera, area_of(policy, name, tables.get(name, ())), [Footage(from_us, to_us + 1)]
    )
    return WindowLock(
        camera=name,
        from_us=from_us,
        to_us=to_us,
        holds=bool(holds),
        whole=not without(from_us, to_us, holds),
        gone=not without(from_us, to_us, expired(camera)),
        expires_us=kept[0].expires_us if kept else None,
    )


def _released(
    cameras: Mapping[str, Camera], locks: Sequence[FootageLocked]
) -> Iterator[WindowRelease]:
    """The releases of a window's footage, in order of the record, each once."""
    seen: set[int] = set()
    for lock in locks:
        name, from_us, to_us = _stretch(lock)
        for each in cameras[name].handled:
            over = each.from_us <= to_us and each.to_us >= from_us
            body = each.body
            if isinstance(body, FootageReleased) and over and ends(body, lock):
                if id(body) not in seen:
                    yield WindowRelease(
                        name, each.from_us, each.to_us, body.by, body.because, each.told_us
                    )
                seen.add(id(body))


def _stretch(lock: FootageLocked) -> Stretch:
    return lock.camera, parse_time(lock.from_) or 0, parse_time(lock.to) or 0
