"""The three wins of tables' gaming days by shift, from the views of `consumers.finance.wins`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.finance import round_sums
from ledger.finance.shifts import shift_times, wins_of_shifts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.postgres.view_tables import ViewStore
    from ledger.finance.exceptions import DayKey
    from ledger.finance.table_day import DayRecord
    from ledger.finance.win import TableWin


def of_records(store: ViewStore, records: Mapping[DayKey, DayRecord]) -> list[TableWin]:
    """The wins of each shift of some days, in order of property, day, table and time."""
    times = {key: shift_times(each.facts) for key, each in records.items()}
    several = {key: its for key, its in times.items() if len(its) > 1}
    divided = round_sums.of_shifts(store, several) if several else {}
    whole = {key: {times[key][0].shift: records[key].rounds} for key in times}
    rounds = {**whole, **divided}
    return [each for key in sorted(records) for each in wins_of_shifts(records[key], rounds[key])]
