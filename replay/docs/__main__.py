"""Write the feed's AsyncAPI description, or check the kept one."""

from __future__ import annotations

import sys
from pathlib import Path

from replay.docs import asyncapi

PATH = Path(__file__).parents[2] / "docs" / "asyncapi.json"


def main(arguments: list[str], path: Path = PATH) -> int:
    """`--check` exits with 1 if the kept description is stale; without it, it is written."""
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: python -m replay.docs [--check]\n")
        return 2
    if path.is_file() and path.read_text(encoding="utf-8") == asyncapi.page():
        return 0
    if arguments:
        sys.stdout.write(f"docs/{path.name} is stale; run `make docs`\n")
        return 1
    path.write_text(asyncapi.page(), encoding="utf-8")
    sys.stdout.write(f"docs/{path.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
