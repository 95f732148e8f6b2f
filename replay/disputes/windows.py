"""Footage kept without a dispute: what was preserved, preserving it once, and letting go of it.

The record has locks and releases alone; the windows that they make up are told from them here.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from consumers.cameras.cameras import CAMERA_FACTS
from consumers.cameras.rows import handled_rows, properties_with_cameras, tables_of
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import Store, reading
from ledger.errors import NotFound
from ledger.facts import FootageLocked, FootageReleased
from ledger.record.tape import TapeRow
from ledger.record.wire import fact_of
from ledger.values import parse_time
from replay.cameras.coverage import Camera, coverage, ends
from replay.cameras.custody import held, without
from replay.cameras.custody_service import LetGo, opened_house, tell, to_release
from replay.cameras.retention import Footage, Policy, area_of, expired, keeping
from replay.disputes import service
from replay.disputes.preserved_windows import (
    LOCKS,
    PREFIX,
    Locked,
    Released,
    Window,
    named_by,
    span_of,
    state_of,
)
from replay.disputes.service import LockContext, What
from replay.recording.house_facts import screen

Stretch = tuple[str, int, int]
"""A camera, from and to by its own clock; closed."""


class Windows(NamedTuple):
    """What a server keeps footage with, without a dispute; each call reads to the record's end."""

    vault: LockContext
    tape: PostgresTape
    policy: Policy

    def all(self) -> list[Window]:
        """What was preserved, of each property the window put last first."""
        service.up_to_date(self.vault.base)
        return windows_of(self.vault.base, self.tape, self.policy)

    def one(self, property_: str, name: str) -> Window:
        """A window of a property by its name. Raises `NotFound`."""
        service.up_to_date(self.vault.base)
        known = span_of(name) and windows_of(
            self.vault.base, self.tape, self.policy, property_, f"{name}."
        )
        if not known:
            raise NotFound("No such window was preserved", where=name, hint="See the cases.")
        return known[0]

    def preserve(self, what: What, stretch: tuple[int, int], because: str, by: str) -> Window:
        """Lock a stretch of the reference's time; a form sent a second time means the same window.

        Raises `NotFound` where no camera was on the table, `Usage`.
        """
        for each in self.all():
            if _is_that(each, what, stretch, because, by):
                return each
        locks = service.preserve(self.vault, what, stretch, because, by)
        if not locks:
            raise NotFound(
                "No camera was on the table then: nothing was locked",
                where=what.table or "",
                hint="See which cameras were mapped to it, or name one camera.",
            )
        return self.one(locks[0].fact.tape.partition("/")[0], named_by(locks[0].fact.id) or "")

    def release(self, property_: str, what: LetGo, because: str, by: str) -> None:
        """End the locks of a dispute or a window of a property, whichever is named."""
        base = self.vault.base
        service.up_to_date(base)
        with opened_house(base, self.tape, self.policy, property_) as house:
            tell(house, to_release(house, what, because, by))
        service.up_to_date(base)


def _is_that(each: Window, what: What, stretch: tuple[int, int], because: str, by: str) -> bool:
    """Whether a window is locked, and is the very one asked for."""
    of = each.table == what.table and (
        what.camera is None or [lock.camera for lock in each.locks] == [what.camera]
    )
    same = ((each.from_us, each.to_us), each.by, each.because) == (stretch, by, because)
    return of and same and each.status == "locked"


def windows_of(
    base: Database,
    tape: PostgresTape,
    policy: Policy,
    property_: str | None = None,
    name: str = PREFIX,
) -> list[Window]:
    """What was preserved, of each property the window put last first; or the one of a name.

    The view `cameras` must be at the end of the record.
    """
    with reading(base, [CAMERA_FACTS.name]) as store:
        return [
            window
            for place in ([property_] if property_ else properties_with_cameras(store))
            for window in _of_place(
                store, policy, place, tape.told_by("/" + "/".join(screen(place, LOCKS)), name)
            )
        ]


def _of_place(
    store: Store, policy: Policy, place: str, rows: Iterable[TapeRow]
) -> Iterator[Window]:
    puts: dict[str, list[FootageLocked]] = {}
    for row in sorted(rows):
        body, name = fact_of(row).body, named_by(row.id)
        if name and isinstance(body, FootageLocked):
            puts.setdefault(name, []).append(body)
    spans = [_stretch(lock) for locks in puts.values() for lock in locks]
    known = coverage(map(fact_of, handled_rows(store, place, spans)))
    cameras = {each[0]: known.cameras.get((place, each[0]), Camera()) for each in spans}
    tables = tables_of(store, place, sorted(cameras))
    for name, locks in reversed(puts.items()):
        times = span_of(name)
        if times is None:
            continue
        kept = [_locked(policy, cameras, tables, lock) for lock in locks]
        yield Window(
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
) -> Locked:
    """A lock of a window: where it still holds, and when what it kept may expire without it."""
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
    return Locked(
        camera=name,
        from_us=from_us,
        to_us=to_us,
        holds=bool(holds),
        whole=not without(from_us, to_us, holds),
        gone=not without(from_us, to_us, expired(camera)),
        expires_us=kept[0].expires_us if kept else None,
    )


def _released(cameras: Mapping[str, Camera], locks: Sequence[FootageLocked]) -> Iterator[Released]:
    """Who let go of footage of a window, in the order told; each release once."""
    seen: set[int] = set()
    for lock in locks:
        name, from_us, to_us = _stretch(lock)
        for each in cameras[name].handled:
            over = each.from_us <= to_us and each.to_us >= from_us
            body = each.body
            if isinstance(body, FootageReleased) and over and ends(body, lock):
                if id(body) not in seen:
                    yield Released(
                        name, each.from_us, each.to_us, body.by, body.because, each.told_us
                    )
                seen.add(id(body))


def _stretch(lock: FootageLocked) -> Stretch:
    return lock.camera, parse_time(lock.from_) or 0, parse_time(lock.to) or 0
