"""The gaming day that runs at a table at a time, in SQL: that of its last start at or before it."""

from __future__ import annotations


def day_at(starts: str, where: str, time_us: str) -> str:
    """A query of that day, without a row before the first start.

    starts: the table of a view that has the starts, with its schema. where: which of its rows `s`
    may be the start. time_us: the time.
    """
    return (
        f"SELECT s.gaming_day FROM {starts} s WHERE s.starts AND {where}"  # noqa: S608 - our own names
        f" AND s.time_us <= {time_us}"
        " ORDER BY s.time_us DESC, s.source DESC, s.fact_id DESC LIMIT 1"
    )
