"""Locks and releases of a property's footage, for the command and the pages.

The house's retention table decides who may release. This module applies it to the record.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import NamedTuple

from consumers.cameras.cameras import CAMERA_FACTS
from consumers.cameras.rows import the_property
from consumers.cameras.segments import cameras_of, segments_over, standing_rows
from infra.postgres.connection import Database
from infra.postgres.view_tables import ViewStore, reading
from ledger.errors import NotFound
from ledger.facts import FootageReleased
from ledger.facts.cameras import FootageHandled
from ledger.record.wire import fact_of
from ledger.values import format_time
from replay.cameras.coverage import Camera, coverage
from replay.cameras.custody import locked
from replay.cameras.retention import (
    DAY_US,
    Area,
    Footage,
    Policy,
    RetentionRun,
    area_of,
    due,
    keeping,
    may_release,
    not_expired,
    runs,
)
from replay.recording.house_facts import FactWriter, Noted, append_facts, build_fact, screen

DEVICE = "keeping"
"""The device of locks, releases and expiry: `/<property>/surveillance/keeping`."""


class PropertyFootage(NamedTuple):
    """The record, and the cameras of one property."""

    record: FactWriter
    property: str
    cameras: dict[str, Camera]  # without their segments, which are read when needed
    areas: dict[str, Area]
    store: ViewStore


class ReleaseScope(NamedTuple):
    """The locks to release: a dispute's, a window's, or all on a span of a camera."""

    dispute: str | None = None
    window: str | None = None
    stretch: tuple[int, int] | None = None  # ends included, by the camera's clock; None: everywhere


@contextmanager
def property_footage(
    database: Database,
    record: FactWriter,
    policy: Policy,
    property_: str | None,
    camera: str | None = None,
) -> Iterator[PropertyFootage]:
    """The cameras of a property, or one of them, from views at the end of the record."""
    with reading(database, [CAMERA_FACTS.name]) as store:
        house = the_property(store, property_, camera=camera)
        names = [camera] if camera else cameras_of(store, house)
        cameras, areas = {}, {}
        for name in names:
            covered = coverage(fact_of(row) for row in standing_rows(store, house, name))
            tables = [table for (place, table) in covered.mapped if place == house]
            cameras[name] = covered.cameras.get((house, name), Camera())
            areas[name] = area_of(policy, name, sorted(tables))
        yield PropertyFootage(record, house, cameras, areas, store)


def due_by(house: PropertyFootage, name: str, until_us: int) -> list[RetentionRun]:
    """The footage of a camera whose retention time ends by then, in runs.

    Reads only segments that have not expired yet and are older than the shortest retention time.
    """
    camera, area = house.cameras[name], house.areas[name]
    stretches = not_expired(camera, until_us - area.days["routine"] * DAY_US)
    found = segments_over(house.store, house.property, name, stretches)
    kept = keeping(camera, area, [Footage(start, end) for start, end, _, _ in found])
    return runs(name, due(kept, until_us), kept)


def to_release(
    house: PropertyFootage, what: ReleaseScope, because: str, by: str
) -> list[FootageReleased]:
    """The releases of locked footage, one fact for each locked span.

    Raises `NotFound` if there is no lock, `Refused` if the retention table forbids it.
    """
    bodies = [
        FootageReleased(
            camera=name,
            **stretch(*span),
            by=by,
            because=because,
            dispute=what.dispute,
            window=what.window,
        )
        for name, camera in house.cameras.items()
        for span in locked(camera, dispute=what.dispute, window=what.window, within=what.stretch)
    ]
    for name in {body.camera for body in bodies}:
        may_release(house.areas[name], by)
    if not bodies:
        raise NotFound(
            "There is no such lock",
            where=what.dispute or what.window or f"camera {', '.join(house.cameras)}",
            hint="`round-ledger footage retention` lists what is locked.",
        )
    return bodies


def put_handled(
    record: FactWriter,
    property_: str,
    bodies: Sequence[FootageHandled],
    device: str = DEVICE,
    ids: Sequence[str] = (),
) -> list[Noted]:
    """Record facts about footage, all or none. ids: of the facts; default: new ones."""
    source = screen(property_, device)
    named = zip(bodies, ids or repeat(None), strict=False)
    return append_facts(record, [build_fact(body, source, id=id_) for body, id_ in named])


def stretch(from_us: int, to_us: int) -> dict[str, str]:
    """The fields `from` and `to` of a fact about footage."""
    return {"from_": format_time(from_us), "to": format_time(to_us)}
