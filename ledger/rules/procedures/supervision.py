"""Tables that one floorperson supervises (465a.35(c)), over all tables of a property.

Paragraphs (3) to (11) are not printed. So tables of Craps or Midibaccarat, and mixtures that no
printed paragraph covers, are not judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from ledger.facts import FloorpersonAssigned, FloorpersonRelieved, TableClosed, TableOpened
from ledger.rules.engine.ruling import FactRef, Finding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.record.wire import Fact

CODE = "supervision_exceeded"
"""The only code of findings of a floor's supervision."""

HEARD: frozenset[type] = frozenset(
    {FloorpersonAssigned, FloorpersonRelieved, TableOpened, TableClosed}
)
"""The kinds of fact that concern supervision."""

POKER = frozenset(
    {
        "omaha_5_high",
        "omaha_5_hi_lo",
        "triple_draw_2_7",
        "triple_draw_a_5",
        "badeucey",
        "badacey",
        "badugi",
    }
)
BACCARAT, FOOTBALL = "baccarat", "three_dice_football"
NOT_PRINTED = frozenset({"craps", "midibaccarat"})


class Limit(NamedTuple):
    """The most tables of a kind that one floorperson supervises."""

    section: str
    most: int
    what: str


ANY_BANKING = Limit("465a.35(c)(1)", 4, "banking tables")
ONE_BACCARAT = Limit("465a.35(c)(2)", 1, "Baccarat table")
TEN_POKER = Limit("465a.35(c)(12)", 10, "Poker tables")
TWO_FOOTBALL = Limit("465a.35(c)(13)", 2, "tables, one or both of Three Dice Football")


class Floor(Struct):
    """Supervision of a property's open tables, as its tapes have shown it so far."""

    tables: dict[str, list[str]] = field(default_factory=dict)  # tables by floorperson
    open: dict[str, tuple[str, str]] = field(default_factory=dict)  # game and gaming day by table
    told: list[str] = field(default_factory=list)  # floorpersons already found with too many


def limit_of(supervised: Sequence[str]) -> Limit | None:
    """The printed limit for tables of these games, or None."""
    kinds = set(supervised)
    if kinds == {BACCARAT}:
        return ONE_BACCARAT
    if kinds & POKER:
        return TEN_POKER if kinds <= POKER else None
    if kinds & NOT_PRINTED or BACCARAT in kinds:
        return None
    return TWO_FOOTBALL if FOOTBALL in kinds else ANY_BANKING


def see(floor: Floor, fact: Fact) -> list[Finding]:
    """Apply one fact of a property, in order; the findings it completes."""
    body, table = fact.body, fact.table or ""
    if isinstance(body, TableOpened):
        floor.open[table] = (body.game, body.gaming_day)
    elif isinstance(body, TableClosed):
        floor.open.pop(table, None)
    elif isinstance(body, FloorpersonAssigned):
        held = floor.tables.get(body.employee, [])
        floor.tables[body.employee] = sorted({*held, table})
    elif isinstance(body, FloorpersonRelieved):
        held = floor.tables.get(body.employee, [])
        floor.tables[body.employee] = [each for each in held if each != table]
    return [finding for who in sorted(floor.tables) for finding in _judged(floor, who, fact)]


def day_of(floor: Floor, table: str) -> str | None:
    """The gaming day that a table is open for, or None."""
    return floor.open[table][1] if table in floor.open else None


def _judged(floor: Floor, who: str, fact: Fact) -> list[Finding]:
    """Find too many tables once, until there are fewer."""
    supervised: Mapping[str, str] = {
        table: floor.open[table][0] for table in floor.tables[who] if table in floor.open
    }
    limit = limit_of(list(supervised.values()))
    if limit is None or len(supervised) <= limit.most:
        floor.told = [each for each in floor.told if each != who]
        return []
    if who in floor.told:
        return []
    floor.told = [*floor.told, who]
    return [
        Finding(
            code=CODE,
            expected=str(limit.most),
            recorded=str(len(supervised)),
            section=limit.section,
            says=f"{who} supervises {', '.join(sorted(supervised))}; one floorperson supervises "
            f"at most {limit.most} {limit.what} ({limit.section}).",
            facts=[FactRef(fact.source, fact.id)],
        )
    ]
