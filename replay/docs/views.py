"""The page `reference/view-tables.md` of the site: every table of every view with its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.registry import VIEWS
from replay.docs import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.view_tables import ViewTable


def page() -> str:
    """The page."""
    return markdown.page(
        "Tables of the views",
        "All tables are in the schema `views`. [Tables for SQL](views.md) says how to read them. "
        "Money is in cents. Columns that end with `_us` are microseconds since 1970, UTC.",
        *(part for view in VIEWS for part in _view(view.name, view.tables)),
    )


def _view(name: str, tables: tuple[ViewTable, ...]) -> Iterator[str]:
    yield f"## View {name}"
    for table in tables:
        yield f"### {table.name}"
        yield table.comment
        yield markdown.table(
            ("column", "type", "key", "null", "meaning"),
            (
                (
                    markdown.code(column.name),
                    column.type,
                    "yes" if column in table.key else "",
                    "may be" if column.null else "",
                    column.comment,
                )
                for column in table.columns
            ),
        )
