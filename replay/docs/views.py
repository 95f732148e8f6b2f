"""Every table of every view with its columns, as a part of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.registry import VIEWS
from replay.docs import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from infra.postgres.view_tables import ViewTable


def part() -> str:
    """A heading for each view, and its tables."""
    return "\n\n".join(each for view in VIEWS for each in _view(view.name, view.tables))


def _view(name: str, tables: tuple[ViewTable, ...]) -> Iterator[str]:
    yield f"### View {name}"
    for table in tables:
        yield f"#### {table.name}"
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
