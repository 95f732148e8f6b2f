"""Write the generated pages, or check that the kept ones are those."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from replay.docs import asyncapi, cli, decisions, errors, facts, games, settings

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parents[2] / "docs"


def generate() -> dict[str, str]:
    """The text of every generated page by its path under `docs/`, the same every time."""
    return {
        "asyncapi.json": asyncapi.page(),
        "cli.md": cli.page(),
        "facts.md": facts.page(),
        "errors.md": errors.page(),
        "settings.md": settings.page(),
        "adr/README.md": decisions.page(),
        **games.pages(),
    }


def stale(pages: Mapping[str, str], folder: Path = FOLDER) -> list[str]:
    """Kept pages that are not as generated, are not there, or are of a game that is gone."""
    gone = {f"games/{path.name}" for path in (folder / "games").glob("*.md")} - pages.keys()
    differ = [
        name
        for name, text in pages.items()
        if not (folder / name).is_file() or (folder / name).read_text(encoding="utf-8") != text
    ]
    return sorted([*differ, *gone])


def write(pages: Mapping[str, str], folder: Path = FOLDER) -> list[str]:
    """Write every page that differs and remove those of games that are gone; their names."""
    changed = stale(pages, folder)
    for name in changed:
        if name in pages:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(pages[name], encoding="utf-8")
        else:
            (folder / name).unlink()
    return changed


def main(arguments: list[str]) -> int:
    """`--check` exits with 1 where a page is stale; without it the pages are written."""
    if arguments == ["--check"]:
        for name in (found := stale(generate())):
            sys.stdout.write(f"docs/{name} is stale; run `make docs`\n")
        return 1 if found else 0
    if arguments:
        sys.stderr.write("usage: python -m replay.docs [--check]\n")
        return 2
    for name in write(generate()):
        sys.stdout.write(f"docs/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
