"""What was found, in plain words, and the dossier while it is looked at."""

from __future__ import annotations

from typing import Any, NamedTuple

from replay.checker.package import Package, printable
from replay.checker.reading import ReceivedFact

SAME_KIND_MAX = 5
"""Sentences of one kind that are told; of more, how many there are."""


class Report:
    """Sentences by what they say: it holds, it does not, or nobody can tell from here."""

    def __init__(self) -> None:
        self.holds: list[str] = []
        self.broken: list[str] = []
        self.unknown: list[str] = []

    def settle(self, problems: list[str], holds: str) -> None:
        """Tell the problems of one check; where there is none, that it holds."""
        if not problems:
            self.holds.append(holds)
        self.broken += problems[:SAME_KIND_MAX]
        if len(problems) > SAME_KIND_MAX:
            self.broken.append(f"... and {len(problems) - SAME_KIND_MAX} more like this.")


class Row(NamedTuple):
    """A line of proof.jsonl: where a fact stands in the chain of its tape."""

    tape: str
    table_seq: int
    position: int
    type: str
    time_us: int
    received_at_us: int
    payload: bytes
    previous: bytes
    hash: bytes
    file: str | None  # None: shown by its hash alone
    line: int | None
    key: tuple[str, str] | None
    data_base64: str | None

    @property
    def place(self) -> str:
        """Where it stands, for people."""
        return f"{printable(self.tape)} sequence {self.table_seq}"


class Dossier(NamedTuple):
    """All that is read once and checked from several sides."""

    package: Package
    manifest: dict[str, Any]
    facts: dict[str, list[ReceivedFact]]  # by file
    rows: list[Row]

    def named(self, *names: str) -> list[ReceivedFact]:
        """Facts of these names in any file, each once."""
        found = {fact.key: fact for facts in self.facts.values() for fact in facts}
        return [fact for fact in found.values() if fact.name in names]
