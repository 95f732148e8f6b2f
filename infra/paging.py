"""Tables of views read in order of key, a page at a time: what is held in memory is one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.views import BESIDE, LIVE

if TYPE_CHECKING:
    from infra.views import Row, Store, Table

_Above = tuple[str, dict[str, str]]  # a condition, and what it is asked with


def page(store: Store, table: Table, after: Row | None, limit: int) -> list[Row]:
    """Rows with a key above `after`, at most `limit`, in order of key; None: from the first on."""
    cells = ", ".join(column.read for column in table.columns)
    order = ", ".join(column.name for column in table.key)
    above, asked = _above(table, after)
    return store.query(
        f"SELECT {cells} FROM {{schema}}.{table.name} t WHERE {above}"  # noqa: S608 - our own names
        f" ORDER BY {order} LIMIT %(limit)s",
        {"limit": limit, **asked},
    )


def changed(store: Store, table: Table, after: Row | None, limit: int) -> list[Row]:
    """As `page`, of a rebuilt table: the rows that the live one does not hold so."""
    cells = ", ".join(f"t.{column.read}" for column in table.columns)
    order = ", ".join(f"t.{column.name}" for column in table.key)
    told = [column.read for column in table.columns if column.dumped]
    live, beside = (", ".join(f"{side}.{cell}" for cell in told) for side in ("l", "t"))
    same = " AND ".join(f"l.{column.name} = t.{column.name}" for column in table.key)
    above, asked = _above(table, after)
    return store.query(
        f"SELECT {cells} FROM {BESIDE}.{table.name} t WHERE {above} AND NOT EXISTS (SELECT FROM"  # noqa: S608 - our own names
        f" {LIVE}.{table.name} l WHERE {same} AND ROW({live}) IS NOT DISTINCT FROM ROW({beside}))"
        f" ORDER BY {order} LIMIT %(limit)s",
        {"limit": limit, **asked},
    )


def _above(table: Table, after: Row | None) -> _Above:
    """One comparison of whole keys, so that a page is read from its place in the primary key."""
    if after is None:
        return "true", {}
    keys = ", ".join(f"t.{column.name}" for column in table.key)
    cells = ", ".join(f"%(key{n})s::{column.type}" for n, column in enumerate(table.key))
    return f"({keys}) > ({cells})", {f"key{n}": str(cell) for n, cell in enumerate(after)}
