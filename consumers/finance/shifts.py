"""The three wins of tables' gaming days by shift, from the views of `consumers.finance.wins`.

They say what the record says now, also of a closed day: what was signed is a day's, not a shift's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from consumers.finance import round_sums, wins
from consumers.finance.wins import WITH_CORRECTIONS, WinsAsked, WinsFilter, day_records
from infra.postgres.view_tables import reading
from ledger.finance.shifts import shift_times, wins_of_shifts

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from ledger.finance.win import TableWin

VIEWS = wins.VIEWS
"""The views to catch up before `read`."""


def read(database: Database, **asked: Unpack[WinsFilter]) -> list[TableWin]:
    """The wins of each shift at one moment, in order of property, day, table and time."""
    names = [each.name for view in VIEWS for each in view.tables]
    with reading(database, names) as store:
        records = day_records(store, WinsAsked(**asked), WITH_CORRECTIONS)
        times = {key: shift_times(each.facts) for key, each in records.items()}
        rounds = round_sums.of_shifts(store, times)
    return [each for key in sorted(records) for each in wins_of_shifts(records[key], rounds[key])]
