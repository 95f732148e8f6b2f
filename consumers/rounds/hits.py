"""The money of found rounds: each wager with its cards, and what was owed and paid for it.

Differences are those that findings name; nothing is ruled here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from consumers.rounds.index import ROUND_KEY, ROUNDS
from consumers.rounds.search import MORE, OF_MONEY
from infra.postgres.view_tables import reading
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from consumers.rounds.index import Round
    from consumers.rounds.search import Filters
    from infra.postgres.connection import Database


class HitLine(Struct):
    """One wager of a found round. Amounts in cents; None: not recorded, or not ruled on yet.

    cards: known ones of its position, or of the dealer at games without hands of players.
    difference: what the patron has beyond what is due, by findings; negative: lacks; 0: none.
    """

    position: int
    wager: str
    hand: int
    staked: int | None = None
    owed: int | None = None
    paid: int | None = None
    difference: int = 0
    outcome: str | None = None
    row: str | None = None
    cards: list[str] = []


def lines(
    database: Database, rounds: Sequence[Round], filters: Filters
) -> dict[RoundId, list[HitLine]]:
    """The wagers of found rounds that a search is about: most wrong first, then the largest."""
    if not rounds:
        return {}
    given = {
        "properties": [each.property for each in rounds],
        "tables": [each.table for each in rounds],
        "days": [each.gaming_day for each in rounds],
        "numbers": [each.number for each in rounds],
    }
    tables = (ROUNDS.name, "round_wagers", "ruling_settlements", "ruling_findings", "find_hands")
    with reading(database, tables) as store:
        rows = store.query(_LINES, given)
    found: dict[RoundId, list[HitLine]] = {each.id: [] for each in rounds}
    for row in rows:
        found[RoundId(*row[:4])].append(HitLine(*row[4:]))
    return {id_: _about(each, filters) for id_, each in found.items()}


def _about(all_: list[HitLine], filters: Filters) -> list[HitLine]:
    """The lines that a search is about; all, if none is."""
    fits = [each for each in all_ if _fits(each, filters)] or all_
    return sorted(fits, key=lambda each: (-abs(each.difference), -_size(each), each.position))


def _size(line: HitLine) -> int:
    return max(line.staked or 0, line.owed or 0, line.paid or 0)


def _fits(line: HitLine, filters: Filters) -> bool:
    wanted: Mapping[str, Any] = {"position": filters.position, "wager": filters.wager}
    alike = all(value in (None, getattr(line, name)) for name, value in wanted.items())
    rows = not filters.rows or (line.row or "").lower() in filters.rows
    begins = (line.row or "").lower().startswith((filters.row or "").lower())
    wrong = not (filters.findings or filters.finding) or line.difference != 0
    return alike and rows and begins and wrong and filters.outcome in (None, line.outcome)


_KEYS = [column.name for column in ROUND_KEY]
_SAME = " AND ".join(f"x.{name} = g.{name}" for name in _KEYS)
_G = ", ".join(f"g.{name}" for name in _KEYS)

_LINES = f"""
SELECT {_G}, w.position, w.wager, w.hand, w.staked, w.owed, w.paid, coalesce(f.difference, 0),
       w.outcome, w.printed_row, coalesce(h.cards, ARRAY[]::text[])
  FROM unnest(%(properties)s::text[], %(tables)s::text[], %(days)s::text[], %(numbers)s::int[])
       AS g (property, table_name, gaming_day, number)
 CROSS JOIN LATERAL (
       SELECT position, wager, hand, max(staked) AS staked, sum(owed)::bigint AS owed,
              sum(paid)::bigint AS paid, max(outcome) AS outcome, max(printed_row) AS printed_row
         FROM (SELECT x.position, x.wager, x.hand, x.placed AS staked, NULL::bigint AS owed, x.paid,
                      NULL AS outcome, NULL AS printed_row
                 FROM {{schema}}.round_wagers x WHERE {_SAME}
               UNION ALL
               SELECT x.position, x.wager, x.hand, x.stake, greatest(x.net, 0), NULL, x.outcome,
                      x.printed_row
                 FROM {{schema}}.ruling_settlements x WHERE {_SAME}) each
        GROUP BY position, wager, hand) w
  LEFT JOIN LATERAL (
       SELECT (sum(CASE WHEN f.code IN ('not_collected', 'wrongly_collected')
                        THEN -f.more ELSE f.more END)
               - least(coalesce(sum(f.more) FILTER (WHERE f.code = 'over_returned'), 0),
                       coalesce(sum(-f.more) FILTER (WHERE f.code = 'not_collected'), 0))
              )::bigint AS difference
         FROM (SELECT x.position, x.wager, x.code, {MORE.replace("f.", "x.")} AS more
                 FROM {{schema}}.ruling_findings x WHERE {_SAME} OFFSET 0) f
        WHERE f.position = w.position AND f.wager = w.wager AND f.code IN ({OF_MONEY})) f ON true
  LEFT JOIN LATERAL (
       SELECT x.cards FROM {{schema}}.find_hands x
        WHERE {_SAME} AND x.holder = 'player' AND x.position = w.position) h ON true
 ORDER BY {_G}, w.position, w.wager, w.hand
"""  # noqa: S608 - put together from constants
