"""The JSON Schema of every fact, generated from its struct and kept beside it.

`python -m ledger.facts.schemas` writes the files, and a test compares them. They serve people who
build devices and consumers. No part of the ledger reads them.
"""

import inspect
import json
import sys
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ledger.facts import FACTS, UPCASTERS

FOLDER = Path(__file__).with_suffix("")
"""The folder of the schemas."""


def generate() -> dict[str, str]:
    """The text of each file by its name, the same on every run."""
    structs = {**FACTS, **{name: old for name, (old, _) in UPCASTERS.items()}}
    return {f"{name}.json": _text(name, struct) for name, struct in structs.items()}


def _text(name: str, struct: type[Struct]) -> str:
    _, parts = msgspec.json.schema_components([struct], ref_template="#/$defs/{name}")
    own: dict[str, Any] = parts.pop(struct.__name__)
    own.pop("title", None)
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"roundledger:{name}",
        "title": name,
        **own,
        "description": inspect.getdoc(struct),
    }
    for part in parts.values():
        if said := part.get("description"):
            part["description"] = inspect.cleandoc(said)  # indented before Python 3.13
    if parts:
        schema["$defs"] = dict(sorted(parts.items()))
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main(folder: Path = FOLDER) -> int:
    """Write every schema, and remove files of unknown facts. Returns the exit code."""
    folder.mkdir(exist_ok=True)
    files = generate()
    for stale in {path.name for path in folder.glob("*.json")} - files.keys():
        (folder / stale).unlink()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"{len(files)} schemas in {folder.name}/\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
