"""Writes the figures of `docs/benchmarks.json` into the tables of `docs/benchmarks.md`.

A row whose last cell names one figure gets its value in the second cell. A row that says `apart`,
or names several figures, is left as it is. Run as `python -m tests.benchmarks.tools.refresh` after
`make bench`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.tools.limits import flat

if TYPE_CHECKING:
    from collections.abc import Mapping

DOCS = Path(__file__).parents[3] / "docs"
_ROW = re.compile(r"\| (?P<what>[^|]+) \| (?P<value>[^|]+) (?P<rest>\|.*)?\| `(?P<path>[^`…]+)` \|")


def refreshed(text: str, figures: Mapping[str, float]) -> str:
    """The page with the figures of a run."""
    return "\n".join(_refreshed(line, figures) for line in text.split("\n"))


def _refreshed(line: str, figures: Mapping[str, float]) -> str:
    row = _ROW.fullmatch(line)
    if row is None or row["path"] not in figures or "apart" in row["value"]:
        return line
    value = figures[row["path"]]
    shown = f"{value:,.2f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"| {row['what']} | {shown} {row['rest'] or ''}| `{row['path']}` |"


def main() -> None:
    """Refresh the page."""
    page = DOCS / "benchmarks.md"
    figures = dict(flat(json.loads((DOCS / "benchmarks.json").read_text())))
    page.write_text(refreshed(page.read_text(), figures))


if __name__ == "__main__":
    main()
