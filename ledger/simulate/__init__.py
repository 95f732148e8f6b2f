"""A floor that deals itself: rounds dealt by the games' own `play`, with the day around them.

For the demonstration, tests and load. Seeded: the same plan gives the same bytes. It must not share
the code that finds mistakes; what it plants it writes down as the truth beside the feed.
"""

from __future__ import annotations

from ledger.simulate.cameras.cameras import recorded
from ledger.simulate.feed import Emitted, deal, happenings, line, simulate
from ledger.simulate.floor_files import FilmedWindow, WrittenFloor, read_shots, write
from ledger.simulate.plan import DEALT, MISTAKES, Plan, Planted, TablePlan, plan_of

__all__ = [
    "DEALT",
    "MISTAKES",
    "Emitted",
    "FilmedWindow",
    "Plan",
    "Planted",
    "TablePlan",
    "WrittenFloor",
    "deal",
    "happenings",
    "line",
    "plan_of",
    "read_shots",
    "recorded",
    "simulate",
    "write",
]
