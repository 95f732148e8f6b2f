"""Rules Submissions: an aggregate for each game of a property, or of one of its tables.

A submission is filed here only after its check. Those that other systems recorded count too.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Self

from msgspec import Struct
from msgspec.structs import replace

from consumers.rulings.tables import SUBMISSIONS, submission_rows
from infra.postgres.recorder import aggregate_id
from infra.postgres.view_tables import reading
from ledger.adjudication.submissions import FiledSubmission, checked_game, filed, in_force
from ledger.errors import Refused
from ledger.values import Source
from replay.recording.decisions import Decisions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.postgres.connection import Database
    from ledger.facts import RulesSubmissionFiled
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

DEVICE = "submissions"
"""The device of submissions filed here: `/<property>/office/submissions`."""


class RulesSubmissions(Struct, frozen=True, kw_only=True):
    """The Rules Submissions of a game. table: None for the whole property."""

    property: str
    game: str
    table: str | None = None
    version: int = 0  # number of those filed here; the next one has the next number
    filed: tuple[FiledSubmission, ...] = ()

    @builtins.property  # `property` is a field here
    def id(self) -> str:
        """The id of the aggregate: source and name of the facts filed here."""
        name = self.game if self.table is None else f"{self.game}.{self.table}"
        return aggregate_id(Source(self.property, "office", DEVICE), name)

    def taking(self, facts: Iterable[Fact]) -> Self:
        """It after these facts, in the order of the record; other facts are ignored."""
        found = (
            each
            for each in filed(facts)
            if (each.property, each.table, each.submission.game)
            == (self.property, self.table, self.game)
        )
        return replace(self, filed=(*self.filed, *found))

    def file(self, submission: RulesSubmissionFiled) -> RulesSubmissionFiled:
        """The submission, to be recorded.

        Raises `Refused` for what the game does not have, and for a submission that is already the
        one in force from its day on, as after a second try.
        """
        where = f"submission for {submission.game}"
        game = checked_game(submission, where)
        day = submission.effective_from
        chosen = in_force(game, self.property, self.table or "", day, self.filed).chosen
        if chosen is not None and replace(chosen, by=submission.by) == submission:
            raise Refused(
                f"The same submission is in force from gaming day {day} on",
                where=where,
                hint="Nothing needs to be filed. File another one to choose differently.",
            )
        return submission


class SubmissionDecisions(Decisions[RulesSubmissions]):
    """Reads Rules Submissions and files them."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, rows_about=self._rows_about)

    def _rows_about(self, case: RulesSubmissions) -> Sequence[TapeRow]:
        with reading(self.database, [SUBMISSIONS.name]) as store:
            return submission_rows(store, case.property)
