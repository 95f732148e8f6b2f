"""`docs/adr/README.md`: every decision by its title."""

from __future__ import annotations

from pathlib import Path

from replay.docs import markdown

FOLDER = Path(__file__).parents[2] / "docs" / "adr"


def page(folder: Path = FOLDER) -> str:
    """The page: a line for each file named by a number, in order."""
    lines = []
    for path in sorted(folder.glob("[0-9]*.md")):
        number, _, title = path.read_text(encoding="utf-8").partition("\n")[0].partition(": ")
        lines.append(f"- [{number.removeprefix('# ')}]({path.name}) {title}")
    return markdown.page(
        "Decisions",
        "One page each: context, decision, consequences, alternatives. A decision is superseded by "
        "a later one, never edited.",
        "\n".join(lines),
    )
