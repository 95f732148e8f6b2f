"""The results of the checks in sentences, and the dossier being checked."""

from __future__ import annotations

from typing import Any, NamedTuple

from replay.checker.package import Package, printable
from replay.checker.reading import ReceivedFact

SAME_KIND_MAX = 5
"""Sentences of one kind that are printed; the rest are only counted."""


class Report:
    """Sentences by result: holds, broken, or not checked."""

    def __init__(self) -> None:
        self.holds: list[str] = []
        self.broken: list[str] = []
        self.unknown: list[str] = []

    def settle(self, problems: list[str], holds: str) -> None:
        """Report the problems of one check; if there are none, that it holds."""
        if not problems:
            self.holds.append(holds)
        self.broken += problems[:SAME_KIND_MAX]
        if len(problems) > SAME_KIND_MAX:
            self.broken.append(f"... and {len(problems) - SAME_KIND_MAX} more like this.")


class Row(NamedTuple):
    """A line of proof.jsonl: a fact's place in the chain of its tape."""

    tape: str
    table_seq: int
    position: int
    type: str
    time_us: int
    received_at_us: int
    payload: bytes
    previous: bytes
    hash: bytes
    file: str | None  # None: only its hash is shown
    line: int | None
    key: tuple[str, str] | None
    data_base64: str | None

    @property
    def place(self) -> str:
        """Its place in the chain, for people."""
        return f"{printable(self.tape)} sequence {self.table_seq}"


class Dossier(NamedTuple):
    """The files of a dossier, read once for all checks."""

    package: Package
    manifest: dict[str, Any]
    facts: dict[str, list[ReceivedFact]]  # by file
    rows: list[Row]

    def named(self, *names: str) -> list[ReceivedFact]:
        """The facts of these names in any file, each once."""
        found = {fact.key: fact for facts in self.facts.values() for fact in facts}
        return [fact for fact in found.values() if fact.name in names]
