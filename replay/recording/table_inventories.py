"""Table inventories that people enter: the chips of a tray at opening, drop and closing."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Literal, Self, get_args

from msgspec import Struct
from msgspec.structs import replace

from consumers.finance import papers
from ledger.errors import Refused, Usage
from ledger.facts import InventoryCounted
from ledger.finance.placing import table_of
from ledger.values import dollars
from replay.recording.papers import paper_id
from replay.text.typed import two_people

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact
    from ledger.values import Pieces

InventoryKind = Literal["open", "drop", "close"]
KINDS: tuple[InventoryKind, ...] = get_args(InventoryKind)


class TableInventory(Struct, frozen=True, kw_only=True):
    """The inventories of a table's gaming day, by any system."""

    property: str
    table: str
    gaming_day: str
    version: int = 0  # number of those entered here
    counts: tuple[InventoryCounted, ...] = ()

    @builtins.property  # `property` is a field here
    def id(self) -> str:
        """The id of the aggregate at its table."""
        return paper_id(self.property, self.table, f"inventory.{self.gaming_day}")

    def rows(self, store: ViewStore) -> Sequence[TapeRow]:
        """The rows of the record about it."""
        return papers.day_rows(store, self.property, self.table, self.gaming_day)

    def taking(self, facts: Iterable[Fact]) -> Self:
        """It after these facts; other facts are ignored."""
        told = list(facts)
        counts = tuple(
            fact.body
            for fact in told
            if isinstance(fact.body, InventoryCounted)
            and (table_of(fact)[1], fact.body.gaming_day) == (self.table, self.gaming_day)
        )
        return replace(self, counts=counts)

    def enter(
        self,
        kind: InventoryKind,
        chips: Pieces,
        *,
        slip: str,
        total: int,
        counted_by: str,
        observed_by: str,
        shift: str | None = None,
    ) -> InventoryCounted:
        """The fact of a count; total: cents as written on the slip.

        Raises `Usage` for one person twice and a total that the pieces do not have, `Refused` for
        a second opener and a slip that is on record.
        """
        one, other = two_people(counted_by, observed_by, "observed by")
        summed = sum(int(each) * count for each, count in chips.items())
        if summed != total:
            raise Usage(
                f"The pieces are {dollars(summed)}, and the slip says {dollars(total)}",
                where="total",
                hint="Compare the pieces with the slip.",
            )
        if kind == "open" and any(each.kind == "open" for each in self.counts):
            raise self._refused("The opener is on record", "Enter a drop or closing count.")
        if any(each.slip == slip for each in self.counts):
            raise self._refused(f"Slip {slip} is on record", "Enter the next slip.")
        return InventoryCounted(
            kind=kind,
            gaming_day=self.gaming_day,
            shift=shift or None,
            chips=chips,
            total=total,
            slip=slip,
            counted_by=one,
            observed_by=other,
        )

    def _refused(self, what: str, hint: str) -> Refused:
        return Refused(what, where=f"{self.table}, {self.gaming_day}", hint=hint)
