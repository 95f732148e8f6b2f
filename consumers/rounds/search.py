"""The search for rounds over the views `rounds`, `rulings`, `disputes` and `finds`.

It only reads. A round must match every given filter. Position, wager, amount, outcome and row must
match one and the same wager; all cards must be of the same holder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict

from consumers.rounds.index import ROUND_KEY, ROUNDS, WAGERS, Round, RoundStatus
from consumers.rounds.search_index import HANDS, POSTS, SEATS
from infra.postgres.view_tables import reading
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore

SEARCH_ROWS_MAX = 1_000
"""The most rounds that a search returns."""

FEW_ROWS = 10_000
"""A search begins with a set of at most so many rows, e.g. of findings, and looks up its rounds."""

ROUND_US_MAX = 6 * 3_600_000_000
"""Longest round, microseconds, that is found by staff or patrons who came during it."""

_KEY = ", ".join(column.name for column in ROUND_KEY)
_ROUND_CELLS = ", ".join(column.name for column in ROUNDS.columns)
_FOREVER = 2**62

WHERE_AND_WHEN = (
    "property", "table", "gaming_day", "number", "game", "status", "since_us", "until_us",
)  # fmt: skip
"""Fields of `Filters` about the round as a whole, not about its wagers."""

_POSTED = """
SELECT a.property, a.table_name, a.time_us AS since_us, coalesce((
       SELECT min(b.time_us) FROM {schema}.find_posts b
        WHERE b.property = a.property AND b.table_name = a.table_name AND NOT b.comes
          AND b.time_us > a.time_us AND (b.employee = a.employee AND b.role = a.role
                                         OR b.employee IS NULL)), %(forever)s) AS until_us
  FROM {schema}.find_posts a WHERE a.comes AND a.employee = %(dealer)s
"""
"""The times an employee dealt at tables: until they left or the table was closed."""

_SEATED = """
SELECT a.property, a.table_name, a.position, a.time_us AS since_us, coalesce(least((
       SELECT min(b.time_us) FROM {schema}.find_seats b
        WHERE b.property = a.property AND b.table_name = a.table_name
          AND b.position = a.position AND b.time_us > a.time_us), (
       SELECT min(b.time_us) FROM {schema}.find_seats b
        WHERE b.property = a.property AND b.table_name = a.table_name
          AND b.position = 0 AND b.time_us > a.time_us)), %(forever)s) AS until_us
  FROM {schema}.find_seats a WHERE a.comes AND a.patron = %(patron)s
"""
"""The times a patron held positions: until one was taken or left, or the table was closed."""

_BY_KEY = """
SELECT x.* FROM k CROSS JOIN LATERAL (
    SELECT * FROM {schema}.rounds y WHERE y.property = k.property AND y.table_name = k.table_name
       AND y.gaming_day = k.gaming_day AND y.number = k.number OFFSET 0) x
"""
"""The rounds of the keys `k`, each looked up by its key."""

_DURING = f"""
r.property = w.property AND r.table_name = w.table_name
   AND r.began_us >= w.since_us - {ROUND_US_MAX} AND r.began_us < w.until_us
   AND coalesce(r.ended_us, r.began_us) >= w.since_us
"""


class Filters(Struct, kw_only=True, frozen=True):
    """The filters of a search; a round must match every one that is given.

    since_us, until_us: device times the round must overlap.
    amount_min, amount_max: cents placed, paid, collected or returned on one wager. `position` and
    `wager` name the same wager.
    outcome, finding: of the newest ruling. row: the beginning of a printed row, in any case.
    dispute: the name of a dispute about the round.
    dealer: credential of an employee who dealt in it. patron: token of a patron with a wager in it.
    cards: all held by one holder; by the player at `position` if that is given.
    without: rounds to leave out.
    """

    property: str | None = None
    table: str | None = None
    gaming_day: str | None = None
    number: int | None = None
    game: str | None = None
    status: RoundStatus | None = None
    since_us: int | None = None
    until_us: int | None = None
    position: int | None = None
    wager: str | None = None
    amount_min: int | None = None
    amount_max: int | None = None
    outcome: str | None = None
    row: str | None = None
    finding: str | None = None
    dispute: str | None = None
    dealer: str | None = None
    patron: str | None = None
    cards: tuple[str, ...] = ()
    without: tuple[RoundId, ...] = ()
    limit: int = 50


class KeySet(NamedTuple):
    """SQL for the keys of the rounds that match a filter, and the table it reads."""

    table: str
    keys: str
    is_of_stays: bool = False  # found by the times of a dealer or a patron at tables


class Dealt(Struct):
    """Details of a round: its dealers, the patrons at its wagers, its findings and disputes."""

    dealers: list[str]  # credential numbers, by arrival; role `dealer` first
    patrons: dict[int, str]  # token by position
    findings: list[tuple[str, str]]  # code and sentence, each once, sorted
    disputes: list[str]


class DealerError(Struct):
    """One kind of finding on one wager that is a dealer's; cents that patrons and the house lost.

    Whose a finding is, `ledger.statistics` decides: what a device may have made is nobody's.
    """

    code: str
    wager: str
    count: int
    short: int
    over: int


def search(database: Database, filters: Filters) -> list[Round]:
    """The rounds that match every filter, newest first."""
    sets = list(_sets(filters))
    given = _parameters(filters)
    with reading(database, {ROUNDS.name, *(each.table for each in sets)}) as store:
        few = next((each for each in sets if _is_few(store, each, given)), None)
        rows = store.query(_statement(filters, sets, few), given)
    return [Round(*row) for row in rows]


def _statement(filters: Filters, sets: Sequence[KeySet], few: KeySet | None) -> str:
    """SQL for a search; `few` is a set of keys to begin with, instead of all rounds by time.

    Without that choice the planner expects a match among the newest rounds and walks through all.
    """
    among = (f"({_KEY}) IN ({each.keys})" for each in sets if each is not few)
    where = " AND ".join((*_conditions(filters), *among)) or "true"
    rounds = "{schema}.rounds" if few is None else f"({_BY_KEY})"
    keys = few and f"SELECT DISTINCT * FROM ({few.keys}) u"  # noqa: S608 - values are parameters
    first = f"WITH k AS MATERIALIZED ({keys})" if keys else ""
    return (
        f"{first} SELECT {_ROUND_CELLS} FROM {rounds} r WHERE {where}"  # noqa: S608 - as above
        " ORDER BY began_us DESC, property, table_name, gaming_day, number LIMIT %(limit)s"
    )


def _is_few(store: ViewStore, keys: KeySet, given: dict[str, object]) -> bool:
    """Whether a set has at most `FEW_ROWS` rows. One of the stays of somebody always counts as few.

    At most so many rows are read to find out.
    """
    if keys.is_of_stays:
        return True
    probe = f"SELECT count(*) FROM (SELECT FROM ({keys.keys} LIMIT %(few)s) u) v"  # noqa: S608 - values are parameters
    return bool(store.query(probe, given | {"few": FEW_ROWS + 1})[0][0] <= FEW_ROWS)


def round_details(database: Database, rounds: Sequence[Round]) -> dict[RoundId, Dealt]:
    """The details of some rounds: dealers, patrons, findings, disputes."""
    found: dict[Any, Dealt] = {each.id: Dealt([], {}, [], []) for each in rounds}
    if not found:
        return found
    tables = (ROUNDS.name, POSTS.name, SEATS.name, "ruling_findings", "disputes")
    with reading(database, tables) as store:
        for *key, employee in _of(store, rounds, _DEALERS):
            found[_id(key)].dealers.append(employee)
        for *key, position, patron in _of(store, rounds, _PATRONS):
            found[_id(key)].patrons[position] = patron
        for *key, code, says in _of(store, rounds, _FINDINGS):
            found[_id(key)].findings.append((code, says))
        for *key, dispute in _of(store, rounds, _DISPUTES):
            found[_id(key)].disputes.append(dispute)
    return found


def dealer_errors(database: Database, filters: Filters) -> tuple[int, list[DealerError]]:
    """The number of rounds that the filters' dealer ended, and the errors that are the dealer's.

    Only the filters of `WHERE_AND_WHEN` and `without` apply besides. The most costly comes first.
    """
    tables = (ROUNDS.name, POSTS.name, "ruling_errors")
    given = _parameters(filters)
    with reading(database, tables) as store:
        rounds = store.query(f"{_ended(filters)} SELECT count(*) FROM ended", given)[0][0]  # noqa: S608 - as `_ended`
        rows = store.query(_own_errors(filters), given)
    return rounds, [DealerError(*row) for row in rows]


def latest_findings(
    database: Database, limit: int = 20, without: Sequence[RoundId] = ()
) -> list[tuple[RoundId, int, str, str]]:
    """The findings of the latest rounds: round, device time, code, sentence."""
    with reading(database, ("rulings", "ruling_findings")) as store:
        rows = store.query(_LATEST, {"limit": limit, **_keys(without)})
    return [(_id(key), time_us, code, says) for *key, time_us, code, says in rows]


def findings_said(database: Database, rounds: Sequence[RoundId]) -> set[tuple[RoundId, str]]:
    """The sentences of the findings of some rounds, from their newest rulings."""
    with reading(database, ("ruling_findings",)) as store:
        rows = store.query(_SAID, _keys(rounds))
    return {(_id(key), says) for *key, says in rows}


def names(database: Database, limit: int = 500) -> tuple[list[str], list[str]]:
    """The names of tables and the credentials of dealers, as choices for filters."""
    with reading(database, (ROUNDS.name, POSTS.name)) as store:
        tables = store.query(_TABLES, {"limit": limit})
        dealers = store.query(
            "SELECT DISTINCT employee FROM {schema}.find_posts WHERE employee IS NOT NULL"
            " ORDER BY employee LIMIT %(limit)s",
            {"limit": limit},
        )
    return [row[0] for row in tables], [row[0] for row in dealers]


_TABLES = """
WITH RECURSIVE t AS (
    (SELECT property, table_name FROM {schema}.rounds ORDER BY property, table_name LIMIT 1)
    UNION ALL
    SELECT n.* FROM t CROSS JOIN LATERAL (
        SELECT r.property, r.table_name FROM {schema}.rounds r
         WHERE (r.property, r.table_name) > (t.property, t.table_name)
         ORDER BY r.property, r.table_name LIMIT 1) n)
SELECT DISTINCT table_name FROM t ORDER BY 1 LIMIT %(limit)s
"""
"""Names of tables in the index, each found by key without reading every round."""

_GIVEN = """
unnest(%(properties)s::text[], %(tables)s::text[], %(days)s::text[], %(numbers)s::int[])
    AS g (property, table_name, gaming_day, number)
"""
_LISTED = f"(SELECT * FROM {_GIVEN})"  # noqa: S608 - put together from constants

_LATEST = f"""
SELECT {", ".join(f"r.{column.name}" for column in ROUND_KEY)}, r.last_us, f.code, f.says
  FROM (SELECT * FROM {{schema}}.rulings WHERE findings > 0 AND ({_KEY}) NOT IN {_LISTED}
         ORDER BY last_us DESC LIMIT %(limit)s) r
  JOIN {{schema}}.ruling_findings f ON
       {" AND ".join(f"f.{column.name} = r.{column.name}" for column in ROUND_KEY)}
 ORDER BY r.last_us DESC, 1, 2, 3, 4, f.nth LIMIT %(limit)s
"""  # noqa: S608 - as above

_SAID = f"""
SELECT {_KEY}, says FROM {{schema}}.ruling_findings WHERE ({_KEY}) IN {_LISTED}
"""  # noqa: S608 - as above

_SAME = " AND ".join(f"x.{column.name} = g.{column.name}" for column in ROUND_KEY)
_G = ", ".join(f"g.{column.name}" for column in ROUND_KEY)

_DEALERS = f"""
SELECT {_G}, a.employee FROM {_GIVEN}
  JOIN {{schema}}.rounds x ON {_SAME}
 CROSS JOIN LATERAL (
       SELECT * FROM {{schema}}.find_posts p
        WHERE p.property = x.property AND p.table_name = x.table_name
          AND p.comes AND p.time_us <= coalesce(x.ended_us, x.began_us)
          AND p.time_us >= coalesce((
              SELECT c.time_us FROM {{schema}}.find_posts c
               WHERE c.property = x.property AND c.table_name = x.table_name
                 AND c.employee IS NULL AND NOT c.comes AND c.time_us <= x.began_us
               ORDER BY c.time_us DESC LIMIT 1), -{_FOREVER}) OFFSET 0) a
 WHERE coalesce((
       SELECT b.time_us FROM {{schema}}.find_posts b
        WHERE b.property = a.property AND b.table_name = a.table_name AND NOT b.comes
          AND b.time_us > a.time_us AND b.time_us <= x.began_us
          AND (b.employee = a.employee AND b.role = a.role OR b.employee IS NULL)
        ORDER BY b.time_us LIMIT 1), {_FOREVER}) > x.began_us
 GROUP BY {_G}, a.employee
 ORDER BY min(CASE a.role WHEN 'dealer' THEN 0 ELSE 1 END), min(a.time_us), a.employee
"""  # noqa: S608 - as above
"""Who had come and not left. Arrivals before the table's last closing are not read."""

_LAST_AT = """
(SELECT s.patron, s.comes, s.time_us, s.table_seq FROM {{schema}}.find_seats s
  WHERE s.property = x.property AND s.table_name = x.table_name
    AND s.position = {} AND s.time_us <= coalesce(x.ended_us, x.began_us)
  ORDER BY s.time_us DESC, s.table_seq DESC LIMIT 1)
"""

_PATRONS = f"""
SELECT DISTINCT ON ({_G}, p.position) {_G}, p.position, a.patron FROM {_GIVEN}
  JOIN {{schema}}.rounds x ON {_SAME}
 CROSS JOIN LATERAL unnest(x.positions) AS p (position)
  JOIN LATERAL (
       SELECT s.patron, s.comes
         FROM ({_LAST_AT.format("p.position")} UNION ALL {_LAST_AT.format("0")}) s
        ORDER BY s.time_us DESC, s.table_seq DESC LIMIT 1) a ON a.comes
 WHERE a.patron IS NOT NULL ORDER BY {_G}, p.position
"""  # noqa: S608 - as above

_FINDINGS = f"""
SELECT DISTINCT {_G}, f.code, f.says FROM {_GIVEN}
 CROSS JOIN LATERAL (SELECT * FROM {{schema}}.ruling_findings x WHERE {_SAME} OFFSET 0) f
 ORDER BY {_G}, f.code, f.says
"""  # noqa: S608 - as above

_DISPUTES = f"""
SELECT {_G}, d.dispute FROM {_GIVEN}
 CROSS JOIN LATERAL (SELECT * FROM {{schema}}.disputes x WHERE {_SAME} OFFSET 0) d
 ORDER BY {_G}, d.dispute
"""  # noqa: S608 - as above


def _conditions(filters: Filters) -> Iterator[str]:
    """The conditions of the filters on a row of `rounds`."""
    yield from _where_and_when(filters)
    if filters.position is not None:
        yield "positions @> ARRAY[%(position)s]::smallint[]"
    if filters.wager is not None:
        yield "wagers @> ARRAY[%(wager)s]::text[]"
    if filters.without:
        yield f"({_KEY}) NOT IN {_LISTED}"


def _sets(filters: Filters) -> Iterator[KeySet]:
    """The sets of rounds that other tables name for the filters, the smallest kinds first."""
    if filters.dispute is not None:
        yield _among("disputes", ["dispute = %(dispute)s"])
    if filters.patron is not None:
        yield _while(SEATS.name, _SEATED, "AND r.positions @> ARRAY[w.position]")
    if filters.dealer is not None:
        yield _while(POSTS.name, _POSTED)
    if filters.finding is not None:
        yield _among("ruling_findings", ["code = %(finding)s"])
    if filters.cards:
        holder = ["holder = 'player'", "position = %(position)s"]
        held = "cards @> %(cards)s::text[]"
        yield _among(HANDS.name, [held, *(holder if filters.position is not None else ())])
    yield from _of_wagers(filters)


def _ended(filters: Filters) -> str:
    """SQL for the rounds that the filters' dealer ended, by place and time."""
    among = " AND ".join(_where_and_when(filters)) or "true"
    key = ", ".join(f"r.{column.name}" for column in ROUND_KEY)
    return f"""
WITH w AS MATERIALIZED ({_POSTED}), ended AS MATERIALIZED (
    SELECT DISTINCT {key}
      FROM w JOIN (SELECT * FROM {{schema}}.rounds WHERE {among}) r ON {_DURING}
       AND coalesce(r.ended_us, r.began_us) < w.until_us
     WHERE ({key}) NOT IN {_LISTED})
"""  # noqa: S608 - values are parameters


def _own_errors(filters: Filters) -> str:
    """SQL for the errors of the filters' dealer by code and wager, by place and time."""
    among = " AND ".join(_where_and_when(filters)) or "true"
    return f"""
SELECT e.code, e.wager, count(*)::int, sum(e.short)::bigint, sum(e.over)::bigint
  FROM {{schema}}.ruling_errors e
  JOIN (SELECT {_KEY} FROM {{schema}}.rounds WHERE {among}) r USING ({_KEY})
 WHERE e.dealer = %(dealer)s AND e.judged AND ({_KEY}) NOT IN {_LISTED}
 GROUP BY e.code, e.wager ORDER BY sum(e.short + e.over) DESC, 3 DESC, 1, 2
"""  # noqa: S608 - values are parameters


def _where_and_when(filters: Filters) -> Iterator[str]:
    """Conditions on the round as a whole."""
    told = {
        "table": "table_name = %(table)s",
        "since_us": "coalesce(ended_us, began_us) >= %(since_us)s",
        "until_us": "began_us <= %(until_us)s",
    }
    for field in WHERE_AND_WHEN:
        if getattr(filters, field) is not None:
            yield told.get(field, f"{field} = %({field})s")


def _of_wagers(filters: Filters) -> Iterator[KeySet]:
    """The rounds in which one and the same wager matches."""
    spot = [
        f"{field} = %({field})s"
        for field in ("position", "wager")
        if getattr(filters, field) is not None
    ]
    if filters.amount_min is not None or filters.amount_max is not None:
        between = (
            "BETWEEN coalesce(%(amount_min)s::bigint, 0)"
            f" AND coalesce(%(amount_max)s::bigint, {2**63 - 1})"
        )
        amounts = (f"{name} {between}" for name in ("placed", "paid", "collected", "returned"))
        yield _among(WAGERS.name, [*spot, f"({' OR '.join(amounts)})"])
    elif len(spot) > 1:
        yield _among(WAGERS.name, spot)
    settled = []
    if filters.outcome is not None:
        settled.append("outcome = %(outcome)s")
    if filters.row is not None:
        settled.append(r"lower(printed_row) LIKE %(row)s")
    if settled:
        yield _among("ruling_settlements", [*spot, *settled])


def _among(table: str, conditions: Sequence[str]) -> KeySet:
    """The rounds that have a row of this table that matches these conditions."""
    where = " AND ".join(conditions)
    keys = f"SELECT {_KEY} FROM {{schema}}.{table} WHERE {where}"  # noqa: S608 - values are parameters
    return KeySet(table, keys)


def _while(table: str, spans: str, also: str = "") -> KeySet:
    """The rounds that overlap one of these spans, found by table and time."""
    key = ", ".join(f"r.{column.name}" for column in ROUND_KEY)
    keys = (
        f"SELECT {key} FROM ({spans} OFFSET 0) w"  # noqa: S608 - as above
        f" JOIN {{schema}}.rounds r ON {_DURING} {also}"
    )
    return KeySet(table, keys, is_of_stays=True)


def _parameters(filters: Filters) -> dict[str, object]:
    given = asdict(filters)
    given["limit"] = max(1, min(filters.limit, SEARCH_ROWS_MAX))
    given["cards"] = list(filters.cards)
    given["row"] = f"{_literally((filters.row or '').lower())}%"
    return given | {"forever": _FOREVER, **_keys(filters.without)}


def _literally(text: str) -> str:
    """A text with `%` and `_` escaped for LIKE."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def _of(store: ViewStore, rounds: Sequence[Round], statement: str) -> list[tuple[Any, ...]]:
    """Rows about some rounds, each starting with the round's key."""
    return store.query(statement, _keys([each.id for each in rounds]))


def _keys(rounds: Sequence[RoundId]) -> dict[str, object]:
    """The keys of rounds, as `_GIVEN` takes them."""
    return {
        "properties": [each.property for each in rounds],
        "tables": [each.table for each in rounds],
        "days": [each.gaming_day for each in rounds],
        "numbers": [each.number for each in rounds],
    }


def _id(key: Sequence[Any]) -> RoundId:
    return RoundId(*key)
