"""The round index: the facts of each round, and the values a search finds it by.

It has a row for each round, a row for each wager, and for each tape the numbers of the round's
facts, however late they came. It judges nothing; see the view `rulings`.
"""

from __future__ import annotations

import builtins
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import astuple, replace

from consumers.runtime.source import Batch, Crossing, Projection, round_of_row, table_of_round
from infra.postgres.arrays import array_text, ranges_text
from infra.postgres.view_tables import Column, ViewStore, ViewTable
from ledger.errors import NotFound
from ledger.facts import WAGER_MONEY, wager_money
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ledger.record.tape import TapeRow

RoundStatus = Literal["open", "completed", "voided"]

ROUND_KEY = (
    Column("property", "text", "Property of the round (the first part of a source)."),
    Column("table_name", "text", "Table of the round, e.g. CC-07."),
    Column("gaming_day", "text", "Label of the gaming day, YYYY-MM-DD; not a clock time."),
    Column("number", "integer", "Number of the round at its table that gaming day."),
)
"""The key columns of a round, in every table about rounds."""

ROUNDS = ViewTable(
    "rounds",
    "One row a round, from all facts that name it in their subject.",
    4,
    (
        *ROUND_KEY,
        Column("game", "text", "Game id of round_started; null until it is recorded.", null=True),
        Column("status", "text", "open, completed (round_completed) or voided (round_voided)."),
        Column("began_us", "bigint", "Earliest device time of its facts, microseconds (epoch)."),
        Column(
            "ended_us",
            "bigint",
            "Device time of the fact that closed it, microseconds; null while open.",
            null=True,
        ),
        Column("positions", "smallint[]", "Betting positions with a wager, ascending."),
        Column("wagers", "text[]", "Wager ids placed or paid, sorted."),
        Column("wagered", "bigint", "Cents placed less withdrawn; null: none recorded.", null=True),
        Column("paid", "bigint", "Cents of winnings paid; null: none recorded.", null=True),
        Column("facts", "integer", "Number of facts that name the round."),
    ),
    (
        "(property, table_name, began_us)",
        "(began_us)",
        "(gaming_day, began_us)",
    ),
)

WAGERS = ViewTable(
    "round_wagers",
    "One row a wager of a position in a round: amounts placed, paid, collected, returned.",
    7,
    (
        *ROUND_KEY,
        Column("position", "smallint", "Betting position."),
        Column("wager", "text", "Wager id."),
        Column("hand", "smallint", "Hand of the position, from 1."),
        Column("placed", "bigint", "Cents placed less withdrawn; null: none recorded.", null=True),
        Column("paid", "bigint", "Cents of winnings paid; null: none recorded.", null=True),
        Column("collected", "bigint", "Cents collected; null: none recorded.", null=True),
        Column("returned", "bigint", "Cents returned; null: none recorded.", null=True),
    ),
    ("(placed, wager)", "(paid, wager) WHERE paid IS NOT NULL"),
)

TAPES = ViewTable(
    "round_tapes",
    "Positions of a round's facts: one row a round and tape.",
    5,
    (
        *ROUND_KEY,
        Column("tape", "text", "Tape of the facts: <property>/<place>."),
        Column(
            "seqs",
            "int8multirange",
            "Their table_seq on that tape, as ranges of the key of ledger.tape.",
            merge="old.seqs + excluded.seqs",
        ),
    ),
)

_STAGES = frozenset(("round_started.v1", "round_completed.v1", "round_voided.v1"))


class Round(Struct):
    """One round of the index. Amounts in cents; times by device clocks; None: not recorded."""

    property: str
    table: str
    gaming_day: str
    number: int
    game: str | None = None
    status: RoundStatus = "open"
    began_us: int = 0
    ended_us: int | None = None
    positions: list[int] = []
    wagers: list[str] = []
    wagered: int | None = None
    paid: int | None = None
    facts: int = 0

    @builtins.property  # `property` is a field here
    def id(self) -> RoundId:
        """The id of the round."""
        return RoundId(self.property, self.table, self.gaming_day, self.number)

    @builtins.property
    def total_wagered(self) -> int | None:
        """Cents wagered; 0 if a closed round has no wager on record, None while it is open."""
        return self._total(self.wagered)

    @builtins.property
    def total_paid(self) -> int | None:
        """Cents of winnings paid; 0 if a closed round paid nothing, None while it is open."""
        return self._total(self.paid)

    def _total(self, told: int | None) -> int | None:
        return 0 if told is None and self.status != "open" else told


class RoundWager(Struct):
    """One wager of a round. Amounts in cents; None: not recorded."""

    position: int
    wager: str
    hand: int
    placed: int | None = None
    paid: int | None = None
    collected: int | None = None
    returned: int | None = None


def apply(store: ViewStore, batch: Batch) -> None:
    """Add a batch's facts of rounds to the index."""
    rows_of = _by_round(batch.rows)
    rounds: dict[tuple[Any, ...], Round] = {
        key: Round(*row) for key, row in store.load(ROUNDS, rows_of).items()
    }
    seqs: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    told: list[tuple[RoundId, str, Any]] = []
    for round_, rows in rows_of.items():
        state = rounds.get(round_)
        if state is None:
            state = rounds[round_] = Round(*round_, began_us=rows[0].time_us)
        state.facts += len(rows)
        for row in rows:
            seqs[*round_, row.tape].append(row.table_seq)
            state.began_us = min(state.began_us, row.time_us)
            if row.type in WAGER_MONEY:
                told.append((round_, row.type, batch.body(row)))
            elif row.type in _STAGES:
                _stage(state, row, batch.body(row))
    wagers = _wagers(store, rounds, told)
    store.save(ROUNDS, (_cells(state) for state in rounds.values()))
    store.save(WAGERS, ((*key, *astuple(wager)[3:]) for key, wager in wagers.items()))
    store.save(TAPES, ((*key, ranges_text(numbers)) for key, numbers in seqs.items()))


ROUND_INDEX = Projection(
    "rounds",
    2,
    (ROUNDS, WAGERS, TAPES),
    apply,
    reads=_STAGES.union(WAGER_MONEY),
    counts_all=True,
    part_of=table_of_round,
    crossing=Crossing(),
)
"""The view `rounds`."""


def find(store: ViewStore, round_: RoundId) -> Round:
    """One round of the index. Raises `NotFound`."""
    rows = store.load(ROUNDS, [round_])
    if not rows:
        raise NotFound(
            f"The record has no fact of round {round_}",
            where="view rounds",
            hint="Search for it with `round-ledger rounds --table ... --gaming-day ...`.",
        )
    return Round(*rows[round_])


def known(store: ViewStore, rounds: Iterable[RoundId]) -> dict[RoundId, Round]:
    """Those of these rounds that the index has."""
    return {RoundId(*key): Round(*row) for key, row in store.load(ROUNDS, rounds).items()}


def wagers_of(store: ViewStore, round_: RoundId) -> list[RoundWager]:
    """The wagers of a round, in order of position, hand and wager."""
    keys = len(ROUND_KEY)
    found = [RoundWager(*row[keys:]) for row in store.rows(WAGERS, [round_])]
    return sorted(found, key=lambda each: (each.position, each.hand, each.wager))


def facts_of(store: ViewStore, round_: RoundId) -> list[TapeRow]:
    """All rows of the record that name the round, in order of position; read by key.

    Empty if no fact names it. Rows above the view's checkpoint are not included.
    """
    return store.rows_named(
        "SELECT tape, lower(s), upper(s) - 1 FROM {schema}.round_tapes, unnest(seqs) AS s"
        " WHERE property = %(property)s AND table_name = %(table)s"
        " AND gaming_day = %(gaming_day)s AND number = %(number)s",
        round_._asdict(),
    )


def rounds_over(
    store: ViewStore,
    property_: str,
    since_us: int,
    until_us: int,
    *,
    tables: Sequence[str] | None = None,
    open_us: int | None = None,
) -> list[RoundId]:
    """The rounds that overlap a time span, at these tables or at all.

    open_us: the longest duration assumed for an unclosed round; None: it lasts until now.
    """
    rows = store.query(
        "SELECT property, table_name, gaming_day, number FROM {schema}.rounds"
        " WHERE property = %(property)s AND began_us <= %(until)s"
        " AND (%(tables)s::text[] IS NULL OR table_name = ANY(%(tables)s))"
        " AND coalesce(ended_us, began_us + %(open)s::bigint, %(since)s::bigint) >= %(since)s",
        {
            "property": property_,
            "tables": None if tables is None else list(tables),
            "since": since_us,
            "until": until_us,
            "open": open_us,
        },
    )
    return [RoundId(*row) for row in rows]


def began_between(
    store: ViewStore, property_: str, tables: Sequence[str] | None = None
) -> tuple[int, int] | None:
    """When the first and the last round of these tables, or of all, began; None: there is none."""
    rows = store.query(
        "SELECT min(began_us), max(began_us) FROM {schema}.rounds WHERE property = %(property)s"
        " AND (%(tables)s::text[] IS NULL OR table_name = ANY(%(tables)s))",
        {"property": property_, "tables": None if tables is None else list(tables)},
    )
    first, last = rows[0]
    return None if first is None else (int(first), int(last))


def _by_round(rows: Iterable[TapeRow]) -> dict[RoundId, list[TapeRow]]:
    """Rows that name a round, by round."""
    found: dict[RoundId, list[TapeRow]] = defaultdict(list)
    for row in rows:
        round_ = round_of_row(row)
        if round_ is not None:
            found[round_].append(row)
    return found


def _stage(state: Round, row: TapeRow, body: Any) -> None:  # noqa: ANN401 - one of three facts
    """Apply a start, completion or void; a void overrides a completion."""
    if row.type == "round_started.v1":
        state.game = state.game or body.game
        return
    state.ended_us = max(state.ended_us or row.time_us, row.time_us)
    if row.type == "round_voided.v1":
        state.status = "voided"
    elif state.status == "open":
        state.status = "completed"


def _wagers(
    store: ViewStore, rounds: dict[tuple[Any, ...], Round], told: Sequence[tuple[RoundId, str, Any]]
) -> dict[tuple[Any, ...], RoundWager]:
    """Add wager facts to their wagers, and to the totals of their rounds."""
    keys = [(*round_, b.position, b.wager, getattr(b, "hand", 1)) for round_, _, b in told]
    loaded = store.load(WAGERS, dict.fromkeys(keys))
    wagers = {key: RoundWager(*row[4:]) for key, row in loaded.items()}
    for key, (round_, type_, body) in zip(keys, told, strict=True):
        wager = wagers.get(key)
        if wager is None:
            wager = wagers[key] = RoundWager(*key[4:])
            _spot(rounds[round_], body.position, body.wager)
        field, amount = wager_money(type_, body)
        setattr(wager, field, (getattr(wager, field) or 0) + amount)
        state = rounds[round_]
        if field == "placed":
            state.wagered = (state.wagered or 0) + amount
        elif field == "paid":
            state.paid = (state.paid or 0) + amount
    return wagers


def _spot(state: Round, position: int, wager: str) -> None:
    """Add a position and a wager to the lists of the round."""
    if position not in state.positions:
        state.positions = sorted([*state.positions, position])
    if wager not in state.wagers:
        state.wagers = sorted([*state.wagers, wager])


def _cells(state: Round) -> tuple[Any, ...]:
    """A round's row of `ROUNDS`."""
    positions, wagers = array_text(state.positions), array_text(state.wagers)
    return astuple(replace(state, positions=positions, wagers=wagers))
