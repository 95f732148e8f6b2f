"""A simulated floor: rounds dealt by the games' own `play`, and the rest of the gaming day.

For the demonstration, tests and load. It is seeded: the same plan gives the same bytes. It shares
no code with what finds mistakes. The mistakes it plants are written beside the feed as the truth.
"""

from __future__ import annotations

from ledger.simulate.cameras.cameras import CAMERA_FAULTS, cameras_of, recorded
from ledger.simulate.feed import Emitted, deal, happenings, line, simulate
from ledger.simulate.floor_files import (
    LATER,
    FilmedWindow,
    WrittenFloor,
    hour_of_worst,
    read_shots,
    worst_and,
    write,
)
from ledger.simulate.plan import DEALT, MISREADINGS, MISTAKES, Plan, Planted, TablePlan, plan_of

__all__ = [
    "CAMERA_FAULTS",
    "DEALT",
    "LATER",
    "MISREADINGS",
    "MISTAKES",
    "Emitted",
    "FilmedWindow",
    "Plan",
    "Planted",
    "TablePlan",
    "WrittenFloor",
    "cameras_of",
    "deal",
    "happenings",
    "hour_of_worst",
    "line",
    "plan_of",
    "read_shots",
    "recorded",
    "simulate",
    "worst_and",
    "write",
]
