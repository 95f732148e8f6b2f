"""What is kept of a property's footage, and who lets go of it: for the command and the pages.

Whether somebody may is for the house's table of keeping to say; here it meets the record.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import NamedTuple

from consumers.cameras.cameras import CAMERA_FACTS
from consumers.cameras.rows import the_property
from consumers.cameras.segments import cameras_of, standing_rows
from infra.postgres.connection import Database
from infra.postgres.view_tables import ViewStore, reading
from ledger.errors import NotFound
from ledger.facts import FootageReleased
from ledger.facts.cameras import FootageHandled
from ledger.record.wire import fact_of
from ledger.values import format_time
from replay.cameras.coverage import Camera, coverage
from replay.cameras.custody import locked
from replay.cameras.retention import Area, Policy, area_of, may_release
from replay.recording.house_facts import FactWriter, Noted, append_facts, build_fact, screen

DEVICE = "keeping"
"""Who tells of locks, releases and expiry: `/<property>/surveillance/keeping`."""


class PropertyFootage(NamedTuple):
    """The record, and the cameras of one property as their facts tell them."""

    record: FactWriter
    property: str
    cameras: dict[str, Camera]  # without their segments, which are read where they are asked for
    areas: dict[str, Area]
    store: ViewStore


class ReleaseScope(NamedTuple):
    """Whose lock ends: a dispute's, a window's, or every one on a stretch of a camera."""

    dispute: str | None = None
    window: str | None = None
    stretch: tuple[int, int] | None = None  # closed, by the camera's clock; None: wherever it holds


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


def to_release(
    house: PropertyFootage, what: ReleaseScope, because: str, by: str
) -> list[FootageReleased]:
    """That locked footage may expire again, one fact a stretch on which such a lock holds.

    Raises `NotFound` where there is none, `Refused` where the table of keeping forbids it.
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
            "No lock holds there",
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
    """Put on record what is done with footage, all or none; `ids`: of the facts, else made."""
    source = screen(property_, device)
    named = zip(bodies, ids or repeat(None), strict=False)
    return append_facts(record, [build_fact(body, source, id=id_) for body, id_ in named])


def stretch(from_us: int, to_us: int) -> dict[str, str]:
    """From and to, as a fact of footage has them."""
    return {"from_": format_time(from_us), "to": format_time(to_us)}
