"""A gaming day given with an option is a day of the calendar, or is refused."""

import pytest

from ledger.errors import Usage
from replay.cli.shell.options import require_gaming_day


@pytest.mark.parametrize("day", ["11/20/2026", "yesterday", "2026-02-30", "20261120", ""])
def test_another_text_than_a_day_is_refused(day: str) -> None:
    with pytest.raises(Usage, match="is not a gaming day") as refused:
        require_gaming_day(day)
    assert refused.value.where == "--gaming-day"


@pytest.mark.parametrize("day", ["2026-11-20", None])
def test_a_day_is_taken_as_it_is(day: str | None) -> None:
    assert require_gaming_day(day) == day
