"""Fill and Credit Slips that people enter, from the request to the acceptance (465a.38).

A table requests. The cage dispatches a fill and the table accepts it; a credit goes the other way.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Literal, Self, get_args

from msgspec import Struct
from msgspec.structs import replace

from consumers.finance import papers
from ledger.errors import Refused, Usage
from ledger.facts.money import ChipSlip
from ledger.finance.placing import by_time, table_of
from ledger.finance.slips import Kind, SlipRecord, fact_type, slips
from replay.recording.papers import paper_id
from replay.text.typed import same_people, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact
    from ledger.values import Pieces

SlipStep = Literal["requested", "dispatched", "accepted", "voided"]
STEPS: tuple[SlipStep, ...] = get_args(SlipStep)

CAGE = "cage"
_AT_CAGE: dict[Kind, frozenset[SlipStep]] = {
    "fill": frozenset(("dispatched", "voided")),
    "credit": frozenset(("accepted",)),
}
"""Steps that the cage makes; the table makes the others."""


def is_at_cage(kind: Kind, step: SlipStep) -> bool:
    """Whether the cage makes a step of a slip."""
    return step in _AT_CAGE[kind]


_OTHERS: Mapping[tuple[SlipStep, bool], Sequence[SlipStep]] = {
    ("dispatched", True): ("requested",),  # a fill, by the cage
    ("accepted", True): ("requested", "dispatched"),  # a credit, by the cage
    ("accepted", False): ("dispatched",),
}
"""Steps of the other department, by a step and whether the cage takes it: none by one person."""


class EnteredSlip(Struct, frozen=True, kw_only=True):
    """A slip as one place sees it, folded from the facts of all places."""

    property: str
    table: str
    kind: Kind
    slip: str
    at_cage: bool
    version: int = 0  # number of its facts entered at this place
    record: SlipRecord | None = None

    @builtins.property  # `property` is a field here
    def id(self) -> str:
        """The id of the aggregate at its place."""
        return paper_id(self.property, CAGE if self.at_cage else self.table, self._name)

    @builtins.property
    def _name(self) -> str:
        return f"{self.kind}.{self.slip}"

    def rows(self, store: ViewStore) -> Sequence[TapeRow]:
        """The rows of the record about it."""
        return papers.slip_rows(store, self.property, self.kind, self.slip)

    def taking(self, facts: Iterable[Fact]) -> Self:
        """It after these facts; other facts are ignored."""
        told = list(facts)
        its = [
            each
            for slip in slips(sorted(told, key=by_time))
            if (slip.kind, slip.number) == (self.kind, self.slip)
            for each in slip.facts
        ]
        record = next(iter(slips(sorted(its, key=by_time))), None)
        return replace(self, record=record)

    def next_steps(self) -> Sequence[SlipStep]:
        """The steps that may follow."""
        of = self.record
        if of is None:
            return ("requested",)
        if of.voided or of.accepted:
            return ()
        return ("accepted", "voided") if of.dispatched else ("dispatched", "voided")

    def enter(
        self, step: SlipStep, chips: Pieces, people: Sequence[str], reason: str | None = None
    ) -> ChipSlip:
        """The fact of a step. Raises `Refused` for a step that does not follow, and `Usage`."""
        if step == "requested" and self.record:
            raise self._refused("Its number is used", "Give the next free one of its series.")
        if step not in self.next_steps():
            raise self._refused(f"It is not to be {step} now", "Read it again.")
        if self.record and (at := table_of(self.record.facts[0])[1]) != self.table:
            raise self._refused(f"It is a slip of table {at}", "Use the next number.")
        for other in _OTHERS.get((step, self.at_cage), ()):
            if same := same_people(people, self._people(other)):
                raise self._refused(f"{same[0]} {other} it", "Let people of your department do it.")
        if step == "voided":
            reason = written(reason or "", "reason")
        elif not chips:
            raise Usage("The slip has no chips", where="chips", hint="Enter the pieces.")
        return fact_type(self.kind, step)(
            table=self.table if self.at_cage else None,
            slip=self.slip,
            chips=chips,
            total=sum(int(each) * count for each, count in chips.items()),
            by=tuple(people),
            reason=reason or None,
        )

    def chips(self) -> Pieces:
        """The chips of the last step that names any."""
        for fact in reversed(self.record.facts if self.record else ()):
            if isinstance(fact.body, ChipSlip) and fact.body.chips:
                return fact.body.chips
        return {}

    def _people(self, step: SlipStep) -> Sequence[str]:
        facts: Sequence[Fact] = getattr(self.record, step) if self.record else ()
        return [one for fact in facts if isinstance(fact.body, ChipSlip) for one in fact.body.by]

    def _refused(self, what: str, hint: str) -> Refused:
        return Refused(what, where=f"{self.kind} slip {self.slip}", hint=hint)
