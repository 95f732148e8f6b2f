"""The double entries of tables' gaming days, from the views that their wins are worked out from."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Unpack

from consumers.finance import meters, wins
from consumers.finance.day_facts import WinsAsked, WinsFilter
from consumers.finance.wins import WITH_CORRECTIONS, day_records
from infra.postgres.view_tables import reading
from ledger.finance.journal import after, day_entries, is_settled, journal
from ledger.finance.meters.journal import merged, meter_entries
from ledger.finance.meters.lines import by_day

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.journal import Amounts, JournalEntry
    from ledger.finance.placing import TableId
    from ledger.finance.table_day import DayRecord

VIEWS = (*wins.VIEWS, meters.VIEW)
"""The views to catch up before `read`."""


def read(database: Database, **filters: Unpack[WinsFilter]) -> list[JournalEntry]:
    """The entries of tables' gaming days at one moment, in order of property, day and table.

    A day's entries are the same whether one day is asked for or all of them.
    """
    asked = WinsAsked(**filters)
    names = [each.name for view in VIEWS for each in view.tables]
    with reading(database, names) as store:
        found = day_records(store, asked, WITH_CORRECTIONS)
        tables = {key[::2]: asked.gaming_day for key in found} if asked.gaming_day else {}
        carried = balances(earlier_days(store, tables))
        by_day_ = by_day(meters.steps(store, asked.property))
    entries = journal((found[key] for key in sorted(found)), carried)
    return merged(entries, meter_entries(by_day_, table=asked.table, gaming_day=asked.gaming_day))


def earlier_days(store: ViewStore, days: Mapping[TableId, str]) -> dict[TableId, list[DayRecord]]:
    """The days that say what each table's tray and boxes hold before a day, the last one first.

    It is the last day before, if its tray was counted then. If not, the day before that one, too.
    """
    before: dict[TableId, list[DayRecord]] = defaultdict(list)
    while days := _last_days(store, days):
        for day in sorted(set(days.values())):
            found = day_records(store, WinsAsked(gaming_day=day), WITH_CORRECTIONS)
            for table in [table for table, its in days.items() if its == day]:
                before[table].append(found[table[0], day, table[1]])
        days = {table: day for table, day in days.items() if not is_settled(before[table][-1])}
    return before


def balances(before: Mapping[TableId, Sequence[DayRecord]]) -> dict[TableId, Amounts]:
    """What each table's tray and boxes hold after some days, the last one first."""
    return {table: _balances(reversed(records)) for table, records in before.items()}


def _balances(records: Iterable[DayRecord]) -> Amounts:
    """What a table's tray and boxes hold after some days."""
    held: Amounts = {}
    for record in records:
        held = after(day_entries(record, held), held)
    return held


def _last_days(store: ViewStore, days: Mapping[TableId, str]) -> dict[TableId, str]:
    """The last gaming day of each table before the given one, if it has one."""
    found = store.query(
        "SELECT w.property, w.table_name, greatest("
        "(SELECT max(f.gaming_day) FROM {schema}.finance_facts f WHERE f.property = w.property"
        " AND f.table_name = w.table_name AND f.gaming_day < w.day"
        " AND f.variant = ANY (%(variants)s::int[])),"
        " (SELECT max(r.gaming_day) FROM {schema}.ruling_money r WHERE r.property = w.property"
        " AND r.table_name = w.table_name AND r.gaming_day < w.day))"
        " FROM unnest(%(properties)s::text[], %(tables)s::text[], %(days)s::text[])"
        " AS w (property, table_name, day)",
        {
            "variants": list(WITH_CORRECTIONS),
            "properties": [property_ for property_, _ in days],
            "tables": [table for _, table in days],
            "days": list(days.values()),
        },
    )
    return {(property_, table): day for property_, table, day in found if day is not None}
