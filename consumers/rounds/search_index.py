"""The search index of rounds: who dealt, who sat where, which cards were held, what was decided.

Arrivals and departures are stored one row a fact, and joined to stays at query time. So a late fact
needs no update of other rows. The view judges nothing.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from consumers.rounds.index import ROUND_KEY
from consumers.runtime.source import Batch, Projection, round_of_row, table_of_round
from infra.postgres.arrays import array_text
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.facts import (
    Body,
    CardsDealt,
    CardsTurned,
    DealerAssigned,
    DealerRelieved,
    DecisionMade,
    HandMucked,
    HandSet,
    HandShown,
    IrregularityCalled,
    NoRollCalled,
    SeatLeft,
    SeatTaken,
    TableClosed,
    type_name,
)
from ledger.values import UNKNOWN_CARD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

_PLACE = (
    Column("property", "text", "Property of the table."),
    Column("tape", "text", "Tape of the fact: <property>/<place>."),
    Column("table_seq", "bigint", "Its number on that tape; both are the key of ledger.tape."),
)
_TABLE = Column("table_name", "text", "Table, e.g. CC-07.")
_TIME = Column("time_us", "bigint", "When, device time, microseconds.")

POSTS = ViewTable(
    "find_posts",
    "Staff who came to deal at a table or left it: one row a fact. A closed table counts as left.",
    3,
    (
        *_PLACE,
        _TABLE,
        Column("employee", "text", "Credential number; null: the table was closed.", null=True),
        Column("role", "text", "dealer, stickperson, boxperson; null as above.", null=True),
        Column("comes", "boolean", "True: they came. False: they left."),
        _TIME,
    ),
    ("(employee, time_us)", "(property, table_name, time_us)"),
)

SEATS = ViewTable(
    "find_seats",
    "Positions taken and left by patrons: one row a fact and position.",
    4,
    (
        *_PLACE,
        Column("position", "smallint", "Betting position; 0: all, because the table was closed."),
        _TABLE,
        Column("patron", "text", "Opaque token, if one was recorded.", null=True),
        Column("comes", "boolean", "True: they came. False: they left."),
        _TIME,
    ),
    ("(patron) WHERE patron IS NOT NULL", "(property, table_name, position, time_us)"),
)

HANDS = ViewTable(
    "find_hands",
    "The known cards of each holder in a round, over all hands.",
    6,
    (
        *ROUND_KEY,
        Column("holder", "text", "player, dealer, community, player_hand or banker_hand."),
        Column("position", "smallint", "Betting position of a player; 0 for other holders."),
        Column(
            "cards",
            "text[]",
            "Cards, each once, sorted.",
            merge="ARRAY(SELECT c FROM unnest(old.cards || excluded.cards) AS c GROUP BY c"
            ' ORDER BY c COLLATE "C")',
        ),
    ),
    ("USING gin (cards)",),
)

CALLS = ViewTable(
    "find_calls",
    "Decisions and irregularities of a round: one row a round, position and kind.",
    6,
    (
        *ROUND_KEY,
        Column("position", "smallint", "Betting position; 0: none was named."),
        Column("call", "text", "The decision or the kind of irregularity; no_roll_called."),
    ),
    ("(call)",),
)

_WITH_CARDS: tuple[type[Body], ...] = (CardsDealt, CardsTurned, HandSet, HandShown, HandMucked)
_CARDS = frozenset(map(type_name, _WITH_CARDS))
_WITH_CALLS: tuple[type[Body], ...] = (DecisionMade, IrregularityCalled, NoRollCalled)
_CALLS = frozenset(map(type_name, _WITH_CALLS))
_WHO_COMES: tuple[type[Body], ...] = (
    DealerAssigned,
    DealerRelieved,
    SeatTaken,
    SeatLeft,
    TableClosed,
)
_COMINGS = frozenset(map(type_name, _WHO_COMES))


def apply(store: ViewStore, batch: Batch) -> None:
    """Store arrivals, departures and the cards held."""
    posts: list[tuple[Any, ...]] = []
    seats: list[tuple[Any, ...]] = []
    for row, fact in batch.facts(_COMINGS):
        posts += _posts(row, fact)
        seats += _seats(row, fact)
    held: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    calls: dict[tuple[Any, ...], None] = {}
    for row in batch.rows:
        round_ = round_of_row(row) if row.type in _CARDS | _CALLS else None
        if round_ is None:
            continue
        body = batch.body(row)
        if row.type in _CALLS:
            calls[*round_, getattr(body, "position", None) or 0, _call(body)] = None
        else:
            holder = (getattr(body, "to", "player"), body.position or 0)
            held[*round_, *holder].update(_known(body))
    store.save(POSTS, posts)
    store.save(SEATS, seats)
    store.save(HANDS, ((*key, array_text(sorted(cards))) for key, cards in held.items() if cards))
    store.save(CALLS, calls)


def _part_of(row: TapeRow) -> str:
    """Cards belong to the part of their table; each arrival or departure is its own part."""
    return table_of_round(row) or f"{row.tape}/{row.table_seq}"


VIEW = Projection(
    "finds",
    2,
    (POSTS, SEATS, HANDS, CALLS),
    apply,
    ordered=False,
    reads=_CARDS | _COMINGS | _CALLS,
    part_of=_part_of,
)
"""The view `finds`."""


DEALERS_AT_END = f"""
SELECT p.employee FROM (
    SELECT DISTINCT ON (w.employee) w.employee, w.comes, w.time_us FROM {{schema}}.{POSTS.name} w
     WHERE w.property = r.property AND w.table_name = r.table_name AND w.role = 'dealer'
       AND w.time_us <= r.last_us AND w.time_us > r.last_us - 86400000000
     ORDER BY w.employee, w.time_us DESC) p
 WHERE p.comes AND NOT EXISTS (
    SELECT FROM {{schema}}.{POSTS.name} c
     WHERE c.property = r.property AND c.table_name = r.table_name AND c.employee IS NULL
       AND c.time_us > p.time_us AND c.time_us <= r.last_us)
"""  # noqa: S608 - our own name
"""A query of the dealers at a round's table when its last fact happened; `r`: a row of `rulings`.

Who came more than a day before, or before the table was closed, is not there any more.
"""


def _posts(row: TapeRow, fact: Fact) -> Iterator[tuple[Any, ...]]:
    body = fact.body
    at = (*_place(row), fact.table)
    if isinstance(body, TableClosed):
        yield (*at, None, None, False, row.time_us)
    elif isinstance(body, DealerAssigned | DealerRelieved):
        comes = isinstance(body, DealerAssigned)
        yield (*at, body.employee, body.role, comes, row.time_us)


def _seats(row: TapeRow, fact: Fact) -> Iterator[tuple[Any, ...]]:
    body = fact.body
    if isinstance(body, TableClosed):
        yield (*_place(row), 0, fact.table, None, False, row.time_us)
    elif isinstance(body, SeatTaken | SeatLeft):
        comes = isinstance(body, SeatTaken)
        for position in dict.fromkeys(body.positions):
            yield (*_place(row), position, fact.table, body.patron, comes, row.time_us)


def _call(body: Any) -> str:  # noqa: ANN401 - one of the facts with calls
    """What a fact calls: its decision or the kind of its irregularity."""
    if isinstance(body, DecisionMade):
        return body.decision
    return body.kind if isinstance(body, IrregularityCalled) else "no_roll_called"


def _place(row: TapeRow) -> tuple[str, str, int]:
    return row.tape.partition("/")[0], row.tape, row.table_seq


def _known(body: Any) -> Iterator[str]:  # noqa: ANN401 - one of the facts with cards
    hands = body.hands.values() if isinstance(body, HandSet) else (body.cards or (),)
    return (card for cards in hands for card in cards if card != UNKNOWN_CARD)
