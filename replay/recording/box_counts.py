"""Drop boxes that people count: twice by different people, then verified by the cage.

If the two counts disagree, other people make a third one, which holds. No counters see a count
before theirs, and the cage sees none before it verified.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from msgspec import Struct
from msgspec.structs import replace

from consumers.finance import papers
from ledger.adjudication.corrections import corrected, corrections
from ledger.errors import Refused
from ledger.facts import DropBoxCounted, DropBoxVerified
from ledger.finance.boxes import BOX_FACTS, DropBox, boxes, is_third_due
from ledger.finance.placing import by_time, table_of
from replay.recording.papers import paper_id
from replay.text.typed import same_people, two_people

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

CAGE, COUNT_ROOM = "cage", "count-room"
COUNTS = 2
"""How often a box is counted, if the counts agree."""


def _number(fact: Fact) -> int:
    return fact.body.count if isinstance(fact.body, DropBoxCounted) else 0


class CountedBox(Struct, frozen=True, kw_only=True):
    """A box of a table's gaming day as the count room or the cage sees it: its last stay there."""

    property: str
    table: str
    gaming_day: str
    box: str
    at_cage: bool = False
    version: int = 0  # number of its facts entered at this place
    record: DropBox | None = None  # None: no fact names it

    @builtins.property  # `property` is a field here
    def id(self) -> str:
        """The id of the aggregate at its place."""
        name = f"box.{self.table}.{self.gaming_day}.{self.box}"
        return paper_id(self.property, CAGE if self.at_cage else COUNT_ROOM, name)

    def rows(self, store: ViewStore) -> Sequence[TapeRow]:
        """The rows of the record about it."""
        return papers.day_rows(store, self.property, self.table, self.gaming_day)

    def taking(self, facts: Iterable[Fact]) -> Self:
        """It after these facts, as corrected; other facts are ignored."""
        told = list(facts)
        meant = corrected(told, corrections(told))
        its = [fact for fact in meant if isinstance(fact.body, BOX_FACTS) and self._is_its(fact)]
        stays = boxes(sorted(its, key=by_time))
        record = stays[-1] if stays else None
        return replace(self, record=record)

    def _is_its(self, fact: Fact) -> bool:
        body: Any = fact.body
        at = (table_of(fact)[1], body.gaming_day, body.box)
        return at == (self.table, self.gaming_day, self.box)

    def in_order(self) -> Sequence[Fact]:
        """The facts of its counts, in order of their numbers."""
        return sorted(self.record.counts if self.record else (), key=_number)

    @builtins.property
    def counts(self) -> Sequence[DropBoxCounted]:
        """The counts, in order of their numbers."""
        bodies = (fact.body for fact in self.in_order())
        return [body for body in bodies if isinstance(body, DropBoxCounted)]

    @builtins.property
    def verified(self) -> Sequence[DropBoxVerified]:
        """What the cage verified."""
        bodies = (fact.body for fact in (self.record.verified if self.record else ()))
        return [body for body in bodies if isinstance(body, DropBoxVerified)]

    def next_count(self) -> int | None:
        """The number of the count that is due; None after the last one."""
        done = {body.count for body in self.counts}
        due = next((nth for nth in range(1, COUNTS + 1) if nth not in done), None)
        is_third = due is None and not self.verified and is_third_due(self.in_order())
        return COUNTS + 1 if is_third else due

    def count(self, nth: int, content: Mapping[str, Any], one: str, other: str) -> DropBoxCounted:
        """The fact of a count. content: fields of the fact by name.

        Raises `Usage` for one person twice, `Refused` for a count that is not due or is made by
        people of one before.
        """
        people = two_people(one, other)
        self._require_record()
        if nth != self.next_count():
            raise self._refused("That count is on record already", "Go back to the list of boxes.")
        before = [person for body in self.counts for person in body.counted_by]
        if same := same_people(people, before):
            raise self._refused(
                f"{same[0]} took part in a count before", "Let two other people count it."
            )
        return DropBoxCounted(
            box=self.box,
            table=self.table,
            gaming_day=self.gaming_day,
            count=cast("Literal[1, 2, 3]", nth),
            counted_by=people,
            **content,
        )

    def verify(self, total: int, by: str) -> DropBoxVerified:
        """The fact of the cage's count. Raises `Refused`."""
        self._require_record()
        if self.next_count() is not None:
            raise self._refused("A count of it is due", "Wait for the count room.")
        if self.verified:
            raise self._refused("It is verified already", "Go back to the list of boxes.")
        if same_people([by], [one for body in self.counts for one in body.counted_by]):
            raise self._refused(f"{by} counted it", "Let somebody of the cage verify it.")
        return DropBoxVerified(
            box=self.box, table=self.table, gaming_day=self.gaming_day, total=total, by=by
        )

    def _require_record(self) -> None:
        if self.record is None:
            raise self._refused("No fact names this box", "Count boxes from the list.")

    def _refused(self, what: str, hint: str) -> Refused:
        return Refused(what, where=f"box {self.box}", hint=hint)
