"""The queue of findings: open, one person's, or closed; sorted, grouped and paged by the database.

Findings that are alike (one code, table, wager and hour, and the same state) stand in one group.
The view keeps groups and counts, so that a page reads its own rows only.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from consumers.rulings.finding_work import GRAVITY, GROUPS, HOUR_US, STATES, WORK
from consumers.rulings.table_findings import TABLE_FINDINGS
from consumers.rulings.tables import FINDINGS
from infra.postgres.view_tables import reading
from ledger.facts import FindingRef
from ledger.facts.vocabulary import FactRef
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import Database

Shown = Literal["open", "mine", "closed"]
"""Which findings: not closed, not closed and of one person, or closed."""

GROUPS_MAX = 25
"""Groups on a page."""

MEMBERS_MAX = 40
"""Findings of a group that are read; the rest is counted."""

TABLES = tuple(table.name for table in (FINDINGS, TABLE_FINDINGS, WORK, GROUPS, STATES))


class Queued(NamedTuple):
    """One finding with the work on it. Times in microseconds; off: cents."""

    name: str  # short, from what it is of: F-3fa92c10e1
    property: str
    table: str | None
    gaming_day: str | None
    number: int | None
    code: str
    position: int | None
    hand: int | None
    wager: str | None
    throw: int | None
    off: int | None
    time_us: int
    says: str
    source: str | None  # of the fact that completes it, if it is of no round
    fact_id: str | None
    gravity: int
    status: str  # unseen, taken, closed
    holder: str | None
    given_by: str | None
    outcome: str | None
    because: str | None
    decided_by: str | None
    decided_us: int | None

    @builtins.property  # `property` is a field here
    def round(self) -> RoundId | None:
        """The round it is of."""
        if self.number is None or self.table is None or self.gaming_day is None:
            return None
        return RoundId(self.property, self.table, self.gaming_day, self.number)

    @builtins.property
    def ref(self) -> FindingRef:
        """How facts name it."""
        round_ = self.round
        if round_:
            return FindingRef(
                code=self.code,
                round=str(round_),
                position=self.position,
                hand=self.hand,
                wager=self.wager,
                throw=self.throw,
            )
        of = FactRef(self.source, self.fact_id) if self.source and self.fact_id else None
        return FindingRef(code=self.code, table=self.table, gaming_day=self.gaming_day, of=of)


class Group(NamedTuple):
    """Findings that are alike. many: all of them; off: cents of all of them."""

    many: int
    off: int | None
    members: Sequence[Queued]


class QueuePage(NamedTuple):
    """A page of the queue. groups_all: groups on all pages."""

    groups: Sequence[Group]
    groups_all: int


class Counts(NamedTuple):
    """How many findings are in each state."""

    open: int
    mine: int
    closed: int
    unseen: int


class FindingTally(NamedTuple):
    """How many findings, and the cents between record and rules of those about money."""

    many: int
    off: int


class SpanCounts(NamedTuple):
    """The findings of a span of time."""

    new: FindingTally  # whose last fact happened in it
    done: FindingTally  # that were closed in it, and are closed
    open: FindingTally  # that nobody has closed, whenever they happened
    unseen: int  # of the open ones
    outcomes: Sequence[int]  # of the closed ones: right, wrong, not visible, known


def page(
    database: Database,
    shown: Shown,
    who: str,
    *,
    number: int = 1,
    without: Sequence[RoundId] = (),
) -> QueuePage:
    """A page of the queue for one person. without: rounds that are withheld from them."""
    given = _given(who, without) | {"size": GROUPS_MAX, "skip": (number - 1) * GROUPS_MAX}
    groups = f"({_LESS})" if without else f"{{schema}}.{GROUPS.name}"
    with reading(database, TABLES) as store:
        asked = _PAGE.replace("{groups}", groups).replace("{shown}", _SHOWN[shown])
        rows = store.query(asked, given)
        [(groups_all,)] = store.query(_GROUPS_ALL.replace("{shown}", _SHOWN[shown]), given)
    found: dict[int, Group] = {}
    for nth, many, off, *cells in rows:
        group = found.setdefault(nth, Group(many, off, []))
        group.members.append(_queued(cells))  # type: ignore[attr-defined] # a list, made above
    return QueuePage(list(found.values()), groups_all)


def counts(database: Database, who: str, without: Sequence[RoundId] = ()) -> Counts:
    """How many findings are open, of one person, closed, and unseen."""
    with reading(database, TABLES) as store:
        return Counts(*store.query(_COUNTS, _given(who, without))[0])


def during(
    database: Database,
    property_: str,
    from_us: int,
    to_us: int,
    without: Sequence[RoundId] = (),
) -> SpanCounts:
    """What happened to the findings of a property in a span of time; its end is not in it."""
    given = _given("", without) | {"property": property_, "from": from_us, "to": to_us}
    with reading(database, TABLES) as store:
        [row] = store.query(_DURING, given)
    new, done, open_ = (FindingTally(*row[at : at + 2]) for at in (0, 2, 8))
    return SpanCounts(new, done, open_, row[10], row[4:8])


def named(
    database: Database, names: Sequence[str], without: Sequence[RoundId] = ()
) -> list[Queued]:
    """The findings with these names, in the order of the names; unknown names are left out."""
    given = _given("", without) | {"names": list(names)}
    with reading(database, TABLES) as store:
        found = [_queued(row) for row in store.query(_NAMED, given)]
    return sorted(found, key=lambda each: names.index(each.name))


def of_round(database: Database, round_: RoundId, without: Sequence[RoundId] = ()) -> list[Queued]:
    """The findings of a round; an empty property matches any."""
    given = _given("", without) | round_._asdict()
    with reading(database, TABLES) as store:
        return [_queued(row) for row in store.query(_OF_ROUND, given)]


def state_of(database: Database, refs: Sequence[tuple[str, str]]) -> dict[str, tuple[Any, ...]]:
    """The work on things that no ruling has, such as alerts, by ref.

    Each is holder, given_by, closed, outcome, because, decided_by, decided_us.
    """
    with reading(database, [WORK.name]) as store:
        rows = store.query(
            "SELECT ref, holder, given_by, closed, outcome, because, decided_by, decided_us"
            " FROM {schema}.finding_work WHERE property = ANY (%(properties)s::text[])"
            " AND ref = ANY (%(refs)s::text[])",
            {"properties": [p for p, _ in refs], "refs": [ref for _, ref in refs]},
        )
    return {row[0]: tuple(row[1:]) for row in rows}


def _queued(cells: Sequence[Any]) -> Queued:
    """A finding from its cells, which have no gravity."""
    at = Queued._fields.index("gravity")
    return Queued._make((*cells[:at], GRAVITY.get(cells[5], 1), *cells[at:]))


def _given(who: str, without: Sequence[RoundId]) -> dict[str, object]:
    """Parameters: the person, and withheld rounds as one array a cell."""
    cells = zip(*without, strict=True) if without else ((), (), (), ())
    names = ("properties", "tables", "days", "numbers")
    return {"who": who} | {
        f"hidden_{name}": list(its) for name, its in zip(names, cells, strict=True)
    }


_SHOWN = {
    "open": "status > 'closed'",
    "mine": "status = 'taken' AND holder = %(who)s",
    "closed": "status = 'closed'",
}

_HIDDEN = (
    "unnest(%(hidden_properties)s::text[], %(hidden_tables)s::text[], %(hidden_days)s::text[],"
    " %(hidden_numbers)s::integer[]) AS h (property, table_name, gaming_day, number)"
)
"""The rounds that are withheld."""

_OF_HIDDEN = f"SELECT FROM {_HIDDEN} WHERE (h.property, h.table_name) = (f.property, f.table_name)"
_OF_ROUNDS = f"""
SELECT f.name, f.property, f.table_name, f.gaming_day, f.number, f.code, f.position, f.hand,
       f.wager, f.throw, f.off, f.time_us, f.says, NULL::text AS source, NULL::text AS fact_id,
       f.ref, f.status, f.holder, f.outcome, f.nth
  FROM {{schema}}.{FINDINGS.name} f
 WHERE NOT EXISTS ({_OF_HIDDEN} AND (h.gaming_day, h.number) = (f.gaming_day, f.number))
"""  # noqa: S608 - as above
_OF_TABLES = f"""
SELECT f.name, f.property, f.table_name, f.gaming_day, NULL, f.code, NULL, NULL,
       NULL, NULL, NULL, f.time_us, f.finding ->> 'says', f.source, f.fact_id,
       f.ref, f.status, f.holder, f.outcome, f.nth
  FROM {{schema}}.{TABLE_FINDINGS.name} f
 WHERE NOT EXISTS ({_OF_HIDDEN} AND h.gaming_day = coalesce(f.gaming_day, h.gaming_day))
"""  # noqa: S608 - as above
"""Findings of rounds and of tables that are not withheld; a condition may follow."""

_KEY = "property, table_name, code, wager, hour_us, status, holder, outcome"
_HIDDEN_GROUPS = f"""
SELECT {_KEY}, count(*)::int AS many, count(off)::int AS priced,
       coalesce(sum(off), 0)::bigint AS off
  FROM (
SELECT f.property, f.table_name, f.code, coalesce(f.wager, '') AS wager,
       f.time_us / {HOUR_US} * {HOUR_US} AS hour_us, f.status, f.holder, f.outcome, f.off
  FROM {_HIDDEN} JOIN {{schema}}.{FINDINGS.name} f USING (property, table_name, gaming_day, number)
 UNION ALL
SELECT f.property, f.table_name, f.code, '', f.time_us / {HOUR_US} * {HOUR_US}, f.status, f.holder,
       f.outcome, NULL
  FROM (SELECT DISTINCT property, table_name FROM {_HIDDEN}) t
  JOIN {{schema}}.{TABLE_FINDINGS.name} f USING (property, table_name)
 WHERE EXISTS ({_OF_HIDDEN} AND h.gaming_day = coalesce(f.gaming_day, h.gaming_day))
       ) hidden GROUP BY {_KEY}
"""  # noqa: S608 - as above
"""Groups of the findings that are withheld."""

_LESS = f"""
SELECT {_KEY}, g.gravity, g.many - coalesce(h.many, 0) AS many,
       g.priced - coalesce(h.priced, 0) AS priced, g.off - coalesce(h.off, 0) AS off
  FROM {{schema}}.{GROUPS.name} g LEFT JOIN ({_HIDDEN_GROUPS}) h USING ({_KEY})
 WHERE g.many > coalesce(h.many, 0)
"""  # noqa: S608 - as above
"""The groups without what is withheld; all of them are read."""

_STATES = f"""
SELECT property, status, holder, many, groups, off FROM {{schema}}.{STATES.name}
 UNION ALL
SELECT h.property, h.status, h.holder, -h.many, CASE WHEN g.many = h.many THEN -1 ELSE 0 END, -h.off
  FROM ({_HIDDEN_GROUPS}) h JOIN {{schema}}.{GROUPS.name} g USING ({_KEY})
"""  # noqa: S608 - as above
"""Findings and groups in each state, less what is withheld."""

_COUNTS = f"""
SELECT coalesce(sum(many) FILTER (WHERE {_SHOWN["open"]}), 0)::int,
       coalesce(sum(many) FILTER (WHERE {_SHOWN["mine"]}), 0)::int,
       coalesce(sum(many) FILTER (WHERE {_SHOWN["closed"]}), 0)::int,
       coalesce(sum(many) FILTER (WHERE status = 'unseen'), 0)::int
  FROM ({_STATES}) s
"""  # noqa: S608 - as above

_GROUPS_ALL = f"SELECT coalesce(sum(groups), 0)::int FROM ({_STATES}) s WHERE {{shown}}"  # noqa: S608 - as above

_CELLS = """
x.name, x.property, x.table_name, x.gaming_day, x.number, x.code, x.position, x.hand, x.wager,
x.throw, x.off, x.time_us, x.says, x.source, x.fact_id, x.status, nullif(x.holder, ''), w.given_by,
nullif(x.outcome, ''), w.because, w.decided_by, w.decided_us
"""
_JOINED = f"LEFT JOIN {{schema}}.{WORK.name} w ON (w.property, w.ref) = (x.property, x.ref)"

_ORDER = (
    "status DESC, gravity DESC, off DESC, hour_us DESC, property, table_name, code, wager, holder,"
    " outcome"
)
"""Unseen first, then by gravity, money and time; the index of the groups has this order."""

_ALIKE = f"""
   AND (f.property, f.table_name, f.code) = (g.property, g.table_name, g.code)
   AND f.time_us >= g.hour_us AND f.time_us < g.hour_us + {HOUR_US}
   AND (f.status, f.holder, f.outcome) = (g.status, g.holder, g.outcome)
"""
_PAGE = f"""
SELECT g.nth, g.many, CASE WHEN g.priced > 0 THEN g.off END, {_CELLS}
  FROM (SELECT *, row_number() OVER (ORDER BY {_ORDER})::int AS nth
          FROM (SELECT * FROM {{groups}} g WHERE {{shown}}
                 ORDER BY {_ORDER} LIMIT %(size)s OFFSET %(skip)s) p) g
 CROSS JOIN LATERAL (
       SELECT * FROM ({_OF_ROUNDS} {_ALIKE} AND coalesce(f.wager, '') = g.wager
                      UNION ALL {_OF_TABLES} {_ALIKE} AND g.wager = '') f
        ORDER BY f.off DESC NULLS LAST, f.time_us DESC, f.ref, f.nth LIMIT {MEMBERS_MAX}) x
  {_JOINED}
 ORDER BY g.nth, x.off DESC NULLS LAST, x.time_us DESC, x.ref, x.nth
"""  # noqa: S608 - as above

_NAMED = f"""
SELECT {_CELLS} FROM ({_OF_ROUNDS} AND f.name = ANY (%(names)s::text[])
                      UNION ALL {_OF_TABLES} AND f.name = ANY (%(names)s::text[])) x {_JOINED}
"""  # noqa: S608 - as above

_OF_ROUND = f"""
SELECT {_CELLS} FROM ({_OF_ROUNDS} AND (%(property)s = '' OR f.property = %(property)s)
                      AND f.table_name = %(table)s AND f.gaming_day = %(gaming_day)s
                      AND f.number = %(number)s) x {_JOINED}
 ORDER BY x.property, x.nth
"""  # noqa: S608 - as above

_TALLY = "count(*)::int, coalesce(sum(x.off), 0)::bigint"
_OUTCOMES = ", ".join(
    f"count(*) FILTER (WHERE x.outcome = '{outcome}')::int"
    for outcome in ("right", "wrong", "not_visible", "known")
)
_IS_NEW = "AND f.property = %(property)s AND f.time_us >= %(from)s AND f.time_us < %(to)s"
_IS_WORKED = "AND (f.property, f.ref) = (w.property, w.ref)"
_DURING = f"""
SELECT * FROM (
SELECT {_TALLY} FROM ({_OF_ROUNDS} {_IS_NEW} UNION ALL {_OF_TABLES} {_IS_NEW}) x) new, (
SELECT {_TALLY}, {_OUTCOMES}
  FROM {{schema}}.{WORK.name} w
 CROSS JOIN LATERAL (
       SELECT x.off, x.outcome
         FROM ({_OF_ROUNDS} {_IS_WORKED} UNION ALL {_OF_TABLES} {_IS_WORKED}) x) x
 WHERE w.closed AND w.property = %(property)s
   AND w.decided_us >= %(from)s AND w.decided_us < %(to)s) done, (
SELECT coalesce(sum(many), 0)::int, coalesce(sum(off), 0)::bigint,
       coalesce(sum(many) FILTER (WHERE status = 'unseen'), 0)::int
  FROM ({_STATES}) s WHERE property = %(property)s AND {_SHOWN["open"]}) open
"""  # noqa: S608 - as above
"""New and done ones by the indexes of their times; open ones by the counts of each state."""
