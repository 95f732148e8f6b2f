"""Table inventories that people enter: the chips of a tray at opening, drop and closing."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Literal, NamedTuple, Self, get_args

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


class SlipOfTray(NamedTuple):
    """A count of a tray, and its table."""

    table: str
    body: InventoryCounted


class TableInventory(Struct, frozen=True, kw_only=True):
    """The inventories of a table's gaming day, by any system; and all under the slip's number."""

    property: str
    table: str
    gaming_day: str
    slip: str  # the number of the slip to enter
    version: int = 0  # number of those entered here
    counts: tuple[InventoryCounted, ...] = ()
    used: tuple[SlipOfTray, ...] = ()  # by its number, at any table

    @builtins.property  # `property` is a field here
    def id(self) -> str:
        """The id of the aggregate at its table."""
        return paper_id(self.property, self.table, f"inventory.{self.gaming_day}")

    def rows(self, store: ViewStore) -> Sequence[TapeRow]:
        """The rows of the record about it."""
        of_day = papers.day_rows(store, self.property, self.table, self.gaming_day)
        return [*of_day, *papers.tray_slip_rows(store, self.property, self.slip)]

    def taking(self, facts: Iterable[Fact]) -> Self:
        """It after these facts; other facts are ignored."""
        told = [
            SlipOfTray(table_of(fact)[1], fact.body)
            for fact in facts
            if isinstance(fact.body, InventoryCounted)
        ]
        its = (self.table, self.gaming_day)
        counts = tuple(each.body for each in told if (each.table, each.body.gaming_day) == its)
        return replace(
            self, counts=counts, used=tuple(each for each in told if each.body.slip == self.slip)
        )

    def enter(
        self,
        kind: InventoryKind,
        chips: Pieces,
        *,
        total: int,
        counted_by: str,
        observed_by: str,
        shift: str | None = None,
    ) -> InventoryCounted:
        """The fact of a count; total: cents as written on the slip.

        Raises `Usage` for one person twice and a total that the pieces do not have. Raises
        `Refused` for a second opener, and for a number that is another slip's.
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
        if used := next((each for each in self.used if self._is_another(kind, each)), None):
            at = f"{used.table}, {used.body.gaming_day}"
            raise self._refused(
                f"Slip {self.slip} is on record at {at}",
                "Enter the number on your slip, or the next free one of its series.",
            )
        return InventoryCounted(
            kind=kind,
            gaming_day=self.gaming_day,
            shift=shift or None,
            chips=chips,
            total=total,
            slip=self.slip,
            counted_by=one,
            observed_by=other,
        )

    def _is_another(self, kind: InventoryKind, used: SlipOfTray) -> bool:
        """Whether its number is another slip's. An opener has the duplicate of a closer's slip."""
        if used.table != self.table or used.body.gaming_day == self.gaming_day:
            return True
        return (kind == "open") == (used.body.kind == "open")

    def _refused(self, what: str, hint: str) -> Refused:
        return Refused(what, where=f"{self.table}, {self.gaming_day}", hint=hint)
