"""The three wins of tables' gaming days by shift, from the views of `consumers.finance.wins`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.finance import round_sums
from ledger.finance.shifts import by_shift, shift_times, wins_of_shifts
from ledger.finance.table_day import money

if TYPE_CHECKING:
    from collections.abc import Mapping

    from infra.postgres.view_tables import ViewStore
    from ledger.finance.exceptions import DayKey
    from ledger.finance.table_day import DayMoney, DayRecord, RoundsMoney
    from ledger.finance.win import TableWin


def of_records(store: ViewStore, records: Mapping[DayKey, DayRecord]) -> list[TableWin]:
    """The wins of each shift of some days, in order of property, day, table and time."""
    rounds = _rounds(store, records)
    return [each for key in sorted(records) for each in wins_of_shifts(records[key], rounds[key])]


def money_of_records(store: ViewStore, records: Mapping[DayKey, DayRecord]) -> list[DayMoney]:
    """The money of each shift of some days, in the same order."""
    rounds = _rounds(store, records, detailed=False)
    return [
        money(part, shift)
        for key in sorted(records)
        for shift, part in by_shift(records[key], rounds[key])
    ]


def _rounds(
    store: ViewStore, records: Mapping[DayKey, DayRecord], *, detailed: bool = True
) -> dict[DayKey, dict[str | None, RoundsMoney]]:
    """The money of the rounds of each shift, by day."""
    times = {key: shift_times(each.facts) for key, each in records.items()}
    several = {key: its for key, its in times.items() if len(its) > 1}
    divided = round_sums.of_shifts(store, several, detailed=detailed) if several else {}
    whole = {key: {times[key][0].shift: records[key].rounds} for key in times}
    return {**whole, **divided}
