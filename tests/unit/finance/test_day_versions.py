"""Which facts close a gaming day and open it again."""

from __future__ import annotations

import pytest

from ledger.facts import DayReopened, DaySealed
from ledger.finance.day_versions import DaySeals

DAY = "2026-11-20"


def sealed(by: str, second: str, version: int = 1) -> DaySealed:
    of = {"rules": "1", "report": 1, "digest": "0" * 64, "heads": {"T": 1}}
    return DaySealed(gaming_day=DAY, version=version, by=by, second=second, **of)  # type: ignore[arg-type] # by name


def reopened(by: str, second: str) -> DayReopened:
    return DayReopened(gaming_day=DAY, version=1, because="x", by=by, second=second)


@pytest.mark.parametrize(("second", "counts"), [("F-2", True), ("f-1 ", False)])
def test_one_person_alone_closes_no_day_and_opens_none(second: str, *, counts: bool) -> None:
    """Another system may record it; the day stays as two people left it."""
    assert bool(DaySeals().after(sealed("F-1", second)).sealed) is counts
    closed = DaySeals().after(sealed("F-1", "F-2"))
    assert bool(closed.after(reopened("F-1", second)).reopened) is counts
