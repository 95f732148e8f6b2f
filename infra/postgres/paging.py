"""Tables of views read in order of key, a page at a time: what is held in memory is one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infra.postgres.view_tables import BESIDE, LIVE, Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.view_tables import Column, Row, Table

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
    """As `page`, of a rebuilt table: the rows that the live one does not hold so.

    All of them where it has other columns, as another version of the view made it.
    """
    told = [column for column in table.columns if column.dumped]
    if not _alike(store, table, told):
        return page(Store(store.connection, BESIDE), table, after, limit)
    cells = ", ".join(f"t.{column.read}" for column in table.columns)
    live, beside = (", ".join(f"{side}.{column.read}" for column in told) for side in ("l", "t"))
    lacking = (
        f"NOT EXISTS (SELECT FROM {LIVE}.{table.name} l WHERE {_same_key(table)}"  # noqa: S608 - our own names
        f" AND ROW({live}) IS NOT DISTINCT FROM ROW({beside}))"
    )
    return _paged(store, table, f"{cells} FROM {BESIDE}.{table.name}", lacking, after, limit)


def removed(store: Store, table: Table, after: Row | None, limit: int) -> list[Row]:
    """As `page`, of the live table: the keys, and no more, that the rebuilt one does not hold.

    None where the two have other keys: which is gone cannot be told then.
    """
    if not _alike(store, table, table.key):
        return []
    cells = ", ".join(f"t.{column.read}" for column in table.key)
    lacking = f"NOT EXISTS (SELECT FROM {BESIDE}.{table.name} l WHERE {_same_key(table)})"
    return _paged(store, table, f"{cells} FROM {LIVE}.{table.name}", lacking, after, limit)


def _paged(
    store: Store, table: Table, selected: str, lacking: str, after: Row | None, limit: int
) -> list[Row]:
    order = ", ".join(f"t.{column.name}" for column in table.key)
    above, asked = _above(table, after)
    return store.query(
        f"SELECT {selected} t WHERE {above} AND {lacking} ORDER BY {order} LIMIT %(limit)s",
        {"limit": limit, **asked},
    )


def _same_key(table: Table) -> str:
    return " AND ".join(f"l.{column.name} = t.{column.name}" for column in table.key)


def _alike(store: Store, table: Table, columns: Sequence[Column]) -> bool:
    """Whether the live table is there, and has these columns as the rebuilt one has them."""
    rows = store.query(
        "SELECT b.attname::text FROM pg_attribute b JOIN pg_attribute l USING (attname, atttypid)"
        " WHERE b.attrelid = to_regclass(%(beside)s) AND l.attrelid = to_regclass(%(live)s)"
        " AND NOT b.attisdropped AND NOT l.attisdropped",
        {"beside": f"{BESIDE}.{table.name}", "live": f"{LIVE}.{table.name}"},
    )
    return {column.name for column in columns} <= {row[0] for row in rows}


def _above(table: Table, after: Row | None) -> _Above:
    """One comparison of whole keys, so that a page is read from its place in the primary key."""
    if after is None:
        return "true", {}
    keys = ", ".join(f"t.{column.name}" for column in table.key)
    cells = ", ".join(f"%(key{n})s::{column.type}" for n, column in enumerate(table.key))
    return f"({keys}) > ({cells})", {f"key{n}": str(cell) for n, cell in enumerate(after)}
