"""Papers of the floor that people enter: the decisions on slips, inventories and counts of boxes.

A paper is an aggregate on the tape of the place that makes it, and its facts are those of a device.
It is folded from the facts of all places and systems.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from consumers.finance import papers
from infra.postgres.advisory_lock import lock_transaction
from infra.postgres.recorder import aggregate_id, identity
from infra.postgres.view_tables import reading
from ledger.errors import Refused
from ledger.values import Source
from replay.recording.decisions import Aggregate, Decisions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.facts import Body
    from ledger.record.tape import TapeRow

_BEGUN = """
SELECT 1 FROM ledger.identity JOIN unnest(%s::text[], %s::text[]) AS w (source, fact_id)
 USING (source, fact_id) LIMIT 1
"""

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

    def begin(self, case: EntryPaper, body: Body, others: Iterable[EntryPaper]) -> None:
        """Record the first fact of a paper, whose number may be used at one place alone.

        others: the same number at other places. Raises `Refused` if one of them was begun, even a
        moment ago: no view has that yet.
        """
        sources, fact_ids = zip(*(identity(each.id, 1) for each in (case, *others)), strict=True)
        with self.database.connect("ledger_desk", autocommit=False) as connection:
            lock_transaction(connection, "paper", f"{sources[0].split('/')[1]} {fact_ids[0]}")
            if connection.execute(_BEGUN, (list(sources[1:]), list(fact_ids[1:]))).fetchone():
                raise Refused(
                    "Its number is used",
                    where=fact_ids[0].rpartition("/")[0],
                    hint="Give the next free one of its series.",
                )
            self.decide(case, body)

    def _rows_about(self, case: EntryPaper) -> Sequence[TapeRow]:
        with reading(self.database, papers.TABLES) as store:
            return case.rows(store)
