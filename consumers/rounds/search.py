"""The search for rounds over the views `rounds`, `rulings`, `disputes` and `finds`.

It only reads. A round must match every given filter. Position, wager, amount, outcome and row must
match one and the same wager; all cards must be of the same holder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict

from consumers.rounds.index import ROUND_KEY, ROUNDS, WAGERS, Round, RoundStatus
from consumers.rounds.search_index import CALLS, HANDS, POSTS, SEATS
from infra.postgres.view_tables import reading
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore

SEARCH_ROWS_MAX = 1_000
"""The most rounds that a search returns."""

TABLES_MAX = 500
TOTALS_MAX = 10_000
"""The most rounds that are summed up."""

FEW_ROWS = 10_000
"""A search begins with a set of at most so many rows, e.g. of findings, and looks up its rounds."""

ROUND_US_MAX = 6 * 3_600_000_000
"""Longest round, microseconds, that is found by staff or patrons who came during it."""

_KEYS = tuple(column.name for column in ROUND_KEY)
_KEY = ", ".join(_KEYS)
_ROUND_CELLS = ", ".join(column.name for column in ROUNDS.columns)
_FOREVER = 2**62

ANY = "any"
"""The value of `finding` and `dispute` for any at all."""

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
  FROM {schema}.find_seats a WHERE a.comes AND a.patron = ANY(ARRAY(
       SELECT %(patron)s UNION ALL
       SELECT p.pseudonym FROM ledger.pseudonyms p WHERE p.token = %(patron)s))
"""
"""The times a patron held positions: until one was taken or left, or the table was closed.

Facts have a pseudonym in place of a token. Earlier ones have the token.
"""

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


AmountKind = Literal["placed", "paid", "collected", "returned", "owed"]


class AmountRange(Struct, frozen=True):
    """An amount of one wager, in cents; no kind: placed, paid, collected or returned."""

    kind: AmountKind | None = None
    least: int | None = None
    most: int | None = None


class Filters(Struct, kw_only=True, frozen=True):
    """The filters of a search; a round must match every one that is given.

    since_us, until_us: device times the round must overlap.
    amount_min, amount_max: cents placed, paid, collected or returned on one wager. `position` and
    `wager` name the same wager.
    amounts: further ones, each of one wager, of the same one as `position` and `wager`.
    outcome, finding: of the newest ruling; `any` is any finding. findings: one of these codes.
    difference_min, difference_max: cents between paid and owed, by such a finding.
    row: the beginning of a printed row, in any case. rows: one of these, whole, in lower case.
    calls: a decision or an irregularity that the round has a fact of, one of these.
    dispute: the name of a dispute about the round; `any` is any dispute.
    dealer: credential of an employee who dealt in it.
    patron: token or pseudonym of a patron with a wager in it.
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
    amounts: tuple[AmountRange, ...] = ()
    outcome: str | None = None
    row: str | None = None
    rows: tuple[str, ...] = ()
    finding: str | None = None
    findings: tuple[str, ...] = ()
    difference_min: int | None = None
    difference_max: int | None = None
    calls: tuple[str, ...] = ()
    dispute: str | None = None
    dealer: str | None = None
    patron: str | None = None
    cards: tuple[str, ...] = ()
    without: tuple[RoundId, ...] = ()
    limit: int = 50


Order = Literal["newest", "oldest", "amount", "difference"]
"""How rounds are sorted: by begin, by what was wagered or paid, by what was paid wrongly."""


class OrderPlace(Struct, frozen=True):
    """A round's place in an order, to read on after it: value sorted by, begin, key."""

    value: int
    began_us: int
    round: RoundId


class KeySet(NamedTuple):
    """SQL for the keys of the rounds that match a filter, and the table it reads."""

    table: str
    keys: str
    is_of_stays: bool = False  # found by the times of a dealer or a patron at tables


class HouseNames(NamedTuple):
    """The names that the record has: tables with their game, dealers; and its newest round."""

    tables: dict[str, str | None]
    dealers: list[str]
    newest_us: int | None


class Totals(NamedTuple):
    """Sums over the rounds of a search; None: too many to be summed up. Cents."""

    rounds: int | None
    short: int | None  # what patrons lack: paid short, not returned, wrongly collected
    over: int | None  # what the house lacks


class Dealt(Struct):
    """Details of a round: its dealers, the patrons at its wagers, its findings and disputes."""

    dealers: list[str]  # credential numbers, by arrival; role `dealer` first
    patrons: dict[int, str]  # token by position; the pseudonym of a patron who was erased
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


def search(
    database: Database, filters: Filters, order: Order = "newest", after: OrderPlace | None = None
) -> list[Round]:
    """The rounds that match every filter, newest first, or in another order after a place."""
    return [found for found, _ in ordered(database, filters, order, after)]


def ordered(
    database: Database, filters: Filters, order: Order = "newest", after: OrderPlace | None = None
) -> list[tuple[Round, OrderPlace]]:
    """The rounds that match every filter, each with its place in the order."""
    sets = list(_sets(filters))
    given = _parameters(filters) | _after(after)
    tables = {ROUNDS.name, "ruling_findings", *(each.table for each in sets)}
    with reading(database, tables) as store:
        few = next((each for each in sets if _is_few(store, each, given)), None)
        rows = store.query(_statement(filters, sets, few, order, after), given)
    found = ((Round(*row[:-1]), row[-1]) for row in rows)
    return [(each, OrderPlace(value, each.began_us, each.id)) for each, value in found]


def totals(database: Database, filters: Filters) -> Totals:
    """The number of rounds that match, and what was paid short and over in them.

    Beyond `TOTALS_MAX` rounds nothing is summed up, so that a search stays quick.
    """
    sets = list(_sets(filters))
    given = _parameters(filters) | {"limit": TOTALS_MAX + 1}
    tables = {ROUNDS.name, "ruling_findings", *(each.table for each in sets)}
    with reading(database, tables) as store:
        few = next((each for each in sets if _is_few(store, each, given)), None)
        first, rounds, where = _parts(filters, sets, few)
        ended = (
            f"ended AS MATERIALIZED (SELECT {_KEY} FROM {rounds} r WHERE {where} LIMIT %(limit)s)"  # noqa: S608 - values are parameters
        )
        ((count, short, over),) = store.query(
            f"WITH {first} {ended} SELECT (SELECT count(*) FROM ended)::int,"  # noqa: S608 - as above
            " coalesce(-sum(cents) FILTER (WHERE cents < 0), 0)::bigint,"
            f" coalesce(sum(cents) FILTER (WHERE cents > 0), 0)::bigint FROM ({_COSTS}) c",
            given,
        )
    if count > TOTALS_MAX:
        return Totals(None, None, None)
    return Totals(count, short, over)


def _statement(
    filters: Filters,
    sets: Sequence[KeySet],
    few: KeySet | None,
    order: Order,
    after: OrderPlace | None,
) -> str:
    """SQL for a page of a search, by key and not by counting rows."""
    first, rounds, where = _parts(filters, sets, few)
    by = "r.began_us" if order in ("newest", "oldest") else "v"
    how = "DESC" if order == "newest" else "ASC"
    later = "true" if after is None else _BEYOND.format(by=by, than="<" if how == "DESC" else ">")
    value = "r.began_us" if by == "r.began_us" else _SORTED[order]
    return (
        f"{'WITH ' + first.rstrip(', ') if first else ''}"  # noqa: S608 - values are parameters
        f" SELECT {_ROUND_CELLS}, v FROM (SELECT r.*, {value} AS v FROM {rounds} r"
        f" WHERE {where}) r WHERE {later}"
        f" ORDER BY {by} {how}, r.began_us DESC, property, table_name, gaming_day, number"
        " LIMIT %(limit)s"
    )


_BEYOND = f"""
({{by}} {{than}}= %(after_value)s AND ({{by}} {{than}} %(after_value)s
  OR r.began_us < %(after_began)s OR r.began_us = %(after_began)s AND ({_KEY}) >
     (%(after_property)s, %(after_table)s, %(after_day)s, %(after_number)s)))
"""


def _after(after: OrderPlace | None) -> dict[str, object]:
    """The parameters of the place to read on after."""
    if after is None:
        return {}
    property_, table, day, number = after.round
    return {
        "after_value": after.value, "after_began": after.began_us, "after_property": property_,
        "after_table": table, "after_day": day, "after_number": number,
    }  # fmt: skip


def _parts(filters: Filters, sets: Sequence[KeySet], few: KeySet | None) -> tuple[str, str, str]:
    """A search's parts: its first query, the rounds to choose from, the conditions on a round.

    `few` is a set of keys to begin with, instead of all rounds by time.

    Without that choice the planner expects a match among the newest rounds and walks through all.
    """
    among = (f"({_KEY}) IN ({each.keys})" for each in sets if each is not few)
    where = " AND ".join((*_conditions(filters), *among)) or "true"
    rounds = "{schema}.rounds" if few is None else f"({_BY_KEY})"
    keys = few and f"SELECT DISTINCT * FROM ({few.keys}) u"  # noqa: S608 - values are parameters
    return f"k AS MATERIALIZED ({keys}), " if keys else "", rounds, where


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


def dealers_of(database: Database, rounds: Sequence[RoundId]) -> dict[RoundId | None, list[str]]:
    """The dealers of some rounds; role `dealer` first, then by arrival."""
    found: dict[RoundId | None, list[str]] = {}
    with reading(database, (ROUNDS.name, POSTS.name)) as store:
        for *key, employee in store.query(_DEALERS, _keys([*dict.fromkeys(rounds)])):
            found.setdefault(_id(key), []).append(employee)
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


def house_names(database: Database) -> HouseNames:
    """The tables with the game of their newest round, the dealers, and the newest round's begin."""
    _, dealers = names(database)
    with reading(database, (ROUNDS.name,)) as store:
        tables = store.query(_GAMES, {"limit": TABLES_MAX})
        newest = store.query("SELECT max(began_us) FROM {schema}.rounds", {})
    return HouseNames(dict(tables), dealers, newest[0][0])


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

_GAMES = """
WITH RECURSIVE t AS (
    (SELECT property, table_name FROM {schema}.rounds ORDER BY property, table_name LIMIT 1)
    UNION ALL
    SELECT n.* FROM t CROSS JOIN LATERAL (
        SELECT r.property, r.table_name FROM {schema}.rounds r
         WHERE (r.property, r.table_name) > (t.property, t.table_name)
         ORDER BY r.property, r.table_name LIMIT 1) n)
SELECT t.table_name, (
       SELECT r.game FROM {schema}.rounds r
        WHERE r.property = t.property AND r.table_name = t.table_name
        ORDER BY r.began_us DESC LIMIT 1)
  FROM t ORDER BY 1 LIMIT %(limit)s
"""
"""As `_TABLES`, each with the game of its newest round."""

_GIVEN = """
unnest(%(properties)s::text[], %(tables)s::text[], %(days)s::text[], %(numbers)s::int[])
    AS g (property, table_name, gaming_day, number)
"""
_LISTED = f"(SELECT * FROM {_GIVEN})"  # noqa: S608 - put together from constants

_FIGURES = "f.expected ~ '^-?[0-9]{1,15}$' AND f.recorded ~ '^-?[0-9]{1,15}$'"
MORE = f"CASE WHEN {_FIGURES} THEN f.recorded::bigint - f.expected::bigint END"
"""By how much more is on record than is due, cents; null if a finding is not about money."""

MONEY_CODES = (
    "overpaid", "underpaid", "not_returned", "over_returned", "not_collected", "wrongly_collected",
)  # fmt: skip
"""Findings of chips that somebody has and should not have."""

OF_MONEY = ", ".join(f"'{code}'" for code in MONEY_CODES)

_SORTED = {
    "amount": "-greatest(coalesce(r.wagered, 0), coalesce(r.paid, 0))",
    "difference": (
        f"-coalesce((SELECT sum(abs({MORE}))::bigint FROM {{schema}}.ruling_findings f WHERE "  # noqa: S608 - our own names
        + " AND ".join(f"f.{name} = r.{name}" for name in _KEYS)
        + f" AND f.code IN ({OF_MONEY})"
        + "), 0)"
    ),
}
"""What the orders other than by time sort by, ascending."""

_COSTS = f"""
SELECT CASE code WHEN 'overpaid' THEN more WHEN 'underpaid' THEN more WHEN 'not_returned' THEN more
                 WHEN 'over_returned' THEN greatest(more - kept, 0)
                 WHEN 'not_collected' THEN -more WHEN 'wrongly_collected' THEN -more
       END AS cents
  FROM (SELECT code, more,
               CASE WHEN lag(code) OVER told = 'not_collected' AND lag(wager) OVER told = wager
                         AND lag(position) OVER told = position
                    THEN -lag(more) OVER told ELSE 0 END AS kept
          FROM (SELECT f.*, {MORE} AS more
                  FROM ended JOIN {{schema}}.ruling_findings f USING ({_KEY})) each
        WINDOW told AS (PARTITION BY {_KEY} ORDER BY nth)) f
"""  # noqa: S608 - as above
"""The findings of the rounds `ended`, each with its cost to the house; negative: to patrons. A lost
stake that was given back is `not_collected`, and directly after it `over_returned`: its chips are
counted once."""

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
SELECT DISTINCT ON ({_G}, p.position) {_G}, p.position, coalesce((
       SELECT t.token FROM ledger.pseudonyms t WHERE t.pseudonym = a.patron), a.patron)
  FROM {_GIVEN}
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
        named = "number IS NOT NULL" if filters.dispute == ANY else "dispute = %(dispute)s"
        yield _among("disputes", [named])
    if filters.patron is not None:
        yield _while(SEATS.name, _SEATED, "AND r.positions @> ARRAY[w.position]")
    if filters.dealer is not None:
        yield _while(POSTS.name, _POSTED)
    if filters.finding == ANY:
        yield _among("rulings", ["findings > 0"])
    elif filters.finding is not None:
        yield _among("ruling_findings", ["code = %(finding)s"])
    if filters.findings or filters.difference_min is not None or filters.difference_max is not None:
        yield _among("ruling_findings f", list(_of_findings(filters)))
    if filters.calls:
        by = [] if filters.position is None else ["position IN (0, %(position)s)"]
        yield _among(CALLS.name, ["call = ANY(%(calls)s)", *by])
    if filters.cards:
        holder = ["holder = 'player'", "position = %(position)s"]
        held = "cards @> %(cards)s::text[]"
        yield _among(HANDS.name, [held, *(holder if filters.position is not None else ())])
    yield from _of_wagers(filters)


def _of_findings(filters: Filters) -> Iterator[str]:
    """The conditions on one finding: its code, the money behind it, and whose it is."""
    if filters.findings:
        yield "code = ANY(%(findings)s)"
    for name, than in (("difference_min", ">="), ("difference_max", "<=")):
        if getattr(filters, name) is not None:
            yield f"code IN ({OF_MONEY})"
            yield f"abs({MORE}) {than} %({name})s"
    for field in ("position", "wager"):
        if getattr(filters, field) is not None:
            yield f"({field} IS NULL OR {field} = %({field})s)"


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
    elif len(spot) > 1 and not filters.amounts:
        yield _among(WAGERS.name, spot)
    if filters.amounts:
        ranges = [_amount(each, nth) for nth, each in enumerate(filters.amounts)]
        yield _among(f"{WAGERS.name} w", [*spot, *ranges])
    settled = []
    if filters.outcome is not None:
        settled.append("outcome = %(outcome)s")
    if filters.row is not None:
        settled.append(r"lower(printed_row) LIKE %(row)s")
    if filters.rows:
        settled.append("lower(printed_row) = ANY(%(rows)s)")
    if settled:
        yield _among("ruling_settlements", [*spot, *settled])


def _amount(of: AmountRange, nth: int) -> str:
    """The condition that an amount of a wager is in a range; what is owed is in its settlement."""
    least, most = f"%(least_{nth})s::bigint", f"%(most_{nth})s::bigint"
    between = f"BETWEEN coalesce({least}, 0) AND coalesce({most}, {2**63 - 1})"
    if of.kind == "owed":
        same = " AND ".join(
            f"s.{name} = w.{name}" for name in (*_KEYS, "position", "hand", "wager")
        )
        return (
            "EXISTS (SELECT FROM {schema}.ruling_settlements s"
            f" WHERE {same} AND s.outcome = 'win' AND s.net {between})"
        )
    kinds = (of.kind,) if of.kind else ("placed", "paid", "collected", "returned")
    return f"({' OR '.join(f'w.{kind} {between}' for kind in kinds)})"


def _among(table: str, conditions: Sequence[str]) -> KeySet:
    """The rounds that have a row of this table that matches these conditions."""
    where = " AND ".join(conditions)
    keys = f"SELECT {_KEY} FROM {{schema}}.{table} WHERE {where}"  # noqa: S608 - values are parameters
    return KeySet(table.partition(" ")[0], keys)


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
    for name in ("rows", "findings", "calls"):
        given[name] = list(getattr(filters, name))
    for nth, each in enumerate(given.pop("amounts")):
        given |= {f"least_{nth}": each.least, f"most_{nth}": each.most}
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
