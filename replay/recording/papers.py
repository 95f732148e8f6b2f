"""Papers of the floor that people enter: the decisions on slips, inventories and counts of boxes.

A paper is an aggregate on the tape of the place that makes it, and its facts are those of a device.
It is folded from the facts of all places and systems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from consumers.finance import papers
from infra.postgres.recorder import aggregate_id
from infra.postgres.view_tables import reading
from ledger.values import Source
from replay.recording.decisions import Aggregate, Decisions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow

DEVICE = "entry"
"""The device of papers entered here: `/<property>/<place>/entry`."""


class EntryPaper(Aggregate, Protocol):
    """A paper that people enter."""

    def rows(self, store: ViewStore) -> Sequence[TapeRow]:
        """The rows of the record about it, from the view `finance`."""


def paper_id(property_: str, place: str, name: str) -> str:
    """The id of a paper's aggregate at a place."""
    return aggregate_id(Source(property_, place, DEVICE), name)


class PaperDecisions(Decisions[Any]):
    """Reads papers, and records what people enter on them."""

    def __init__(self, database: Database) -> None:
        super().__init__(database, rows_about=self._rows_about)

    def _rows_about(self, case: EntryPaper) -> Sequence[TapeRow]:
        with reading(self.database, papers.TABLES) as store:
            return case.rows(store)
