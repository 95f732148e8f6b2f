"""Simulated cameras: each clock's error, its checks, and what the camera records.

The errors chosen here stay here. The tape only has the clock checks, so replay has to find offset
and drift again.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple, get_args

from ledger.facts import ClockChecked
from ledger.games import games
from ledger.record.wire import Fact
from ledger.simulate.cameras.shot_list import PPM, CameraFault, CameraPlan, PictureFault, View
from ledger.simulate.device_emitter import HOUR, MS, SECOND, Happening
from ledger.values import format_time

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ledger.facts import SegmentRecorded
    from ledger.facts.tables import Covers
    from ledger.simulate.plan import Plan, TablePlan

CHECK_US = 2 * HOUR
_BEFORE_US = HOUR // 4
_OFFSET_US, _DRIFT_PPM = 3 * SECOND, 80
_READ_US, _REFERENCE_US, _UNCERTAINTY_MS = 10 * MS, 3 * MS, 15  # the two errors add up to less
_VIEWS: dict[str, View] = {"end_left": "end_left", "end_right": "end_right"}
PICTURE_FAULTS: tuple[PictureFault, ...] = get_args(PictureFault)
CAMERA_FAULTS = (*PICTURE_FAULTS, "clock")
"""The faults of a camera that a film can have."""
WRONG_CLOCK_US = 120 * SECOND
"""How far a wrong clock runs ahead."""
_GAP_AFTER_US, _GAP_US = 4 * SECOND, 6 * SECOND


class SimulatedCamera(NamedTuple):
    """One camera over a table. Its clock has an offset at opening, and drifts."""

    name: str
    table: str
    covers: Covers
    offset_us: int
    drift_ppm: int
    since_us: int  # true time of the offset

    def clock_us(self, true_us: int) -> int:
        """Its clock's reading at a true time."""
        return true_us + self.offset_us + (true_us - self.since_us) * self.drift_ppm // PPM


def cameras_of(plan: Plan, table: TablePlan) -> list[SimulatedCamera]:
    """The stationary cameras of a table: one on it and its tray; for dice, one on each end."""
    parts: tuple[Covers, ...] = (("table", "tray"),)
    if games()[table.game].dice:
        parts = (("end_left", "tray"), ("end_right",))
    found = []
    for number, covers in enumerate(parts, 1):
        name = f"{table.table}-cam{number}"
        chance = random.Random(f"{plan.seed}/{name}")  # noqa: S311 - repeatable, not for security
        offset_us = chance.randint(-_OFFSET_US, _OFFSET_US)
        drift_ppm = chance.randint(-_DRIFT_PPM, _DRIFT_PPM)
        found.append(
            SimulatedCamera(name, table.table, covers, offset_us, drift_ppm, plan.opens_us)
        )
    return found


def checks(plan: Plan, table: TablePlan) -> Iterator[Happening]:
    """The checks of a table's camera clocks, before, during and after play, in order."""
    cameras = cameras_of(plan, table)
    chance = random.Random(f"{plan.seed}/{table.table}/checks")  # noqa: S311 - repeatable, not for security
    at_us, number = plan.opens_us - _BEFORE_US, 0
    while at_us < plan.closes_us + CHECK_US:
        number += 1
        for index, camera in enumerate(cameras):
            true_us = at_us + index * 20 * SECOND + chance.randrange(SECOND)
            read_us = camera.clock_us(true_us) + chance.randint(-_READ_US, _READ_US)
            reference_us = true_us + chance.randint(-_REFERENCE_US, _REFERENCE_US)
            checked = ClockChecked(
                camera=camera.name,
                camera_time=format_time(read_us, plan.offset_minutes),
                reference_time=format_time(reference_us, plan.offset_minutes),
                reference="ntp-1",
                uncertainty_ms=_UNCERTAINTY_MS,
            )
            yield Happening(
                _from_recorder(plan, camera.name, number, checked, true_us), true_us, true_us
            )
        at_us += CHECK_US


def _from_recorder(plan: Plan, camera: str, number: int, body: ClockChecked, true_us: int) -> Fact:
    return Fact(
        body,
        f"/{plan.property}/surveillance/{camera}",
        f"{plan.gaming_day}-{number}",
        true_us,
        None,
        "surveillance",
        None,
        None,
    )


def camera_plan(
    camera: SimulatedCamera,
    from_us: int,
    to_us: int,
    *,
    seed: int = 0,
    gap: bool = False,
    at: TablePlan | None = None,
    strip: bool = False,
    faults: Collection[str] = (),
) -> CameraPlan:
    """The plan of a camera for a stretch of true time, with a gap of six seconds if it has one.

    faults: of `CAMERA_FAULTS`. A clock is wrong throughout, others last for the middle third.
    """
    gap_us = from_us + _GAP_AFTER_US
    third_us = (to_us - from_us) // 3
    clock_us = WRONG_CLOCK_US if "clock" in faults else 0
    return CameraPlan(
        camera=camera.name,
        table=camera.table,
        from_us=from_us,
        to_us=to_us,
        view=_VIEWS.get(camera.covers[0], "table"),
        seats=at.seats if at else 5,
        boxes=_boxes(at.game) if at else 0,
        strip=strip,
        faults=tuple(
            CameraFault(kind, from_us + third_us, to_us - third_us)
            for kind in PICTURE_FAULTS
            if kind in faults
        ),
        offset_us=camera.clock_us(from_us) - from_us + clock_us,
        drift_ppm=camera.drift_ppm,
        gap=(gap_us, gap_us + _GAP_US) if gap and gap_us + _GAP_US < to_us else None,
        seed=seed,
    )


def _boxes(game: str) -> int:
    """The number of wagers of a game with dice, whose wagers are boxes for all."""
    known = games()[game]
    return len(known.wagers) if known.dice else 0


def recorded(plan: Plan, segments: Iterable[tuple[SegmentRecorded, int]]) -> list[Fact]:
    """Drawn segments as facts of the recorder, each with the true time it was closed."""
    source = f"/{plan.property}/surveillance/recorder"
    return [
        Fact(segment, source, segment.path, closed_us, None, "surveillance", None, None)
        for segment, closed_us in sorted(segments, key=lambda each: (each[1], each[0].path))
    ]
