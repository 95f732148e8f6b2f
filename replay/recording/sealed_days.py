"""Gaming days that people close: an aggregate for each day of a property.

Two people close a day or open it again. Seals that other systems recorded count too.
"""

from __future__ import annotations

import builtins
from functools import partial
from typing import TYPE_CHECKING, Self

from msgspec import Struct
from msgspec.structs import replace

from consumers.finance.sealed import sealed_wins, seals
from infra.postgres.recorder import aggregate_id
from infra.postgres.view_tables import reading
from ledger.errors import Refused
from ledger.facts import DayReopened, DaySealed
from ledger.finance import day_versions
from ledger.finance.day_versions import DaySeals
from ledger.finance.win import REPORT
from ledger.values import Source
from replay.recording.decisions import Decisions
from replay.text.typed import two_people, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from consumers.finance.sealed.sealed_wins import PinnedDay
    from infra.postgres.connection import Database
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

DEVICE = "days"
"""The device of days closed here: `/<property>/office/days`."""


def versions_folder(home: Path) -> Path:
    """The folder with versions of closed days that were worked out before."""
    return home / "sealed"


class Signers(Struct, frozen=True, kw_only=True):
    """The two people who close a gaming day or open it again, and their reasons."""

    by: str
    second: str
    because: str | None = None
    despite: str | None = None

    def two(self) -> tuple[str, str]:
        """Their credentials. Raises `Usage` if one lacks, or both are one person."""
        return two_people(self.by, self.second, "--second")


class SealedDay(Struct, frozen=True, kw_only=True):
    """A gaming day of a property, folded from the facts that close it and open it again."""

    property: str
    gaming_day: str
    version: int = 0  # number of its facts decided here; the next one has the next number
    seals: DaySeals = DaySeals()

    @builtins.property  # `property` is a field here
    def id(self) -> str:
        """The id of the aggregate: source and name of the facts decided here."""
        return aggregate_id(Source(self.property, "office", DEVICE), self.gaming_day)

    def taking(self, facts: Iterable[Fact]) -> Self:
        """It after these facts, in the order of the record; other facts are ignored."""
        day = self
        for fact in facts:
            body = fact.body
            if isinstance(body, DaySealed | DayReopened) and body.gaming_day == self.gaming_day:
                day = replace(day, seals=day.seals.after(body))
        return day

    def close(self, pinned: PinnedDay, people: Signers, rules: str) -> DaySealed:
        """The day's next version. rules: the version of the program that worked it out.

        Raises `Usage` for one person twice, `Refused` for a day that is closed.
        """
        by, second = people.two()
        if self.seals.sealed:
            again = f"Open it again first: `round-ledger day reopen {self.gaming_day}`."
            raise self._refused("The gaming day is closed", again)
        version = len(self.seals.seals) + 1
        signed = pinned.wins.as_version(version)
        return DaySealed(
            gaming_day=self.gaming_day,
            version=version,
            heads=pinned.heads,
            rules=rules,
            report=REPORT,
            digest=day_versions.digest(signed.tables),
            shifts=day_versions.digest(signed.shifts),
            because=_text(people.because, "--because"),
            despite=_text(people.despite, "--despite"),
            by=by,
            second=second,
        )

    def reopen(self, people: Signers) -> DayReopened:
        """The closed day is opened again, for a reason. Raises as `close`."""
        by, second = people.two()
        if self.seals.sealed is None:
            raise self._refused("The gaming day is not closed", "Nothing needs to be done.")
        return DayReopened(
            gaming_day=self.gaming_day,
            version=self.seals.sealed.version,
            because=written(people.because or "", "--because"),
            by=by,
            second=second,
        )

    def _refused(self, what: str, hint: str) -> Refused:
        return Refused(what, where=f"{self.property}, {self.gaming_day}", hint=hint)


def _text(text: str | None, where: str) -> str | None:
    return None if text is None else written(text, where)


class DayDecisions(Decisions[SealedDay]):
    """Reads gaming days, and records that people close them or open them again."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, rows_about=partial(seal_rows, database))

    def close_day(
        self, pinned: PinnedDay, people: Signers, rules: str, kept: Path | None = None
    ) -> DaySealed | None:
        """Close a day as it is pinned; None if it lacks something and nobody says why.

        kept: the folder to keep what it said in. Raises as `SealedDay.close`.
        """
        case = self.read(SealedDay(property=pinned.property, gaming_day=pinned.gaming_day))
        closed = case.close(pinned, people, rules)
        if pinned.missing and people.despite is None:
            return None
        self.decide(case, closed)
        if kept:
            keep_version(kept, closed, pinned)
        return closed


def keep_version(kept: Path, closed: DaySealed, pinned: PinnedDay) -> None:
    """Keep what a day's version said in a folder, so that it need not be worked out again."""
    signed = pinned.wins.as_version(closed.version)
    for digest, wins in zip((closed.digest, closed.shifts), signed, strict=True):
        if digest:
            sealed_wins.keep(kept, digest, wins)


def seal_rows(database: Database, case: SealedDay) -> Sequence[TapeRow]:
    """The rows of the record that close a gaming day or open it again."""
    with reading(database, [seals.SEAL_FACTS.name]) as store:
        return seals.rows_about(store, case.property, case.gaming_day)
