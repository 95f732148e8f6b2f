"""The queue of findings: open, one person's, or closed; sorted, grouped and paged by the database.

Findings that are alike (one code, table, wager and hour, and the same state) stand in one group.
"""

from __future__ import annotations

import builtins
import hashlib
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from consumers.review.work import VIEW
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

_HOUR_US = 3_600_000_000

GRAVITY = {
    3: (
        "overpaid", "underpaid", "not_collected", "wrongly_collected", "not_returned",
        "over_returned", "wrong_position_paid", "wrong_payer", "duplicate_card", "impossible_card",
        "card_mismatch", "should_have_been_void", "wrongly_voided", "meter_wrong",
    ),
    2: (
        "misdeal", "hand_misset", "wager_not_permitted", "late_wager", "out_of_turn",
        "step_missing", "decision_not_permitted", "coupon_not_dropped", "fact_missing",
    ),
    0: ("order_uncertain", "clock_skewed"),
}  # fmt: skip
"""How grave a code is: 3 money or cards, 2 play or the record, 1 procedures, 0 clocks."""

TABLES = (FINDINGS.name, TABLE_FINDINGS.name, *(table.name for table in VIEW.tables))


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
    with reading(database, TABLES) as store:
        rows = store.query(_PAGE.replace("{shown}", _SHOWN[shown]), given)
    groups: dict[int, Group] = {}
    for nth, many, off, _, *cells in rows:
        group = groups.setdefault(nth, Group(many, off, []))
        group.members.append(Queued(*cells))  # type: ignore[attr-defined] # a list, made above
    return QueuePage(list(groups.values()), rows[0][3] if rows else 0)


def counts(database: Database, who: str, without: Sequence[RoundId] = ()) -> Counts:
    """How many findings are open, of one person, closed, and unseen."""
    with reading(database, TABLES) as store:
        return Counts(*store.query(_COUNTS, _given(who, without))[0])


def named(
    database: Database, names: Sequence[str], without: Sequence[RoundId] = ()
) -> list[Queued]:
    """The findings with these names, in the order of the names; unknown names are left out."""
    given = _given("", without) | {"names": list(names)}
    with reading(database, TABLES) as store:
        found = [Queued(*row) for row in store.query(_NAMED, given)]
    return sorted(found, key=lambda each: names.index(each.name))


def of_round(database: Database, round_: RoundId, without: Sequence[RoundId] = ()) -> list[Queued]:
    """The findings of a round; an empty property matches any."""
    given = _given("", without) | round_._asdict()
    with reading(database, TABLES) as store:
        return [Queued(*row) for row in store.query(_OF_ROUND, given)]


def name_of(property_: str, ref: str) -> str:
    """The short name of a finding, as the database makes it."""
    return f"F-{hashlib.sha256(f'{property_}|{ref}'.encode()).hexdigest()[:10]}"


def state_of(database: Database, refs: Sequence[tuple[str, str]]) -> dict[str, tuple[Any, ...]]:
    """The work on things that no ruling has, such as alerts, by ref.

    Each is holder, given_by, closed, outcome, because, decided_by, decided_us.
    """
    with reading(database, [table.name for table in VIEW.tables]) as store:
        rows = store.query(
            "SELECT ref, holder, given_by, closed, outcome, because, decided_by, decided_us"
            " FROM {schema}.review_work WHERE property = ANY (%(properties)s::text[])"
            " AND ref = ANY (%(refs)s::text[])",
            {"properties": [p for p, _ in refs], "refs": [ref for _, ref in refs]},
        )
    return {row[0]: tuple(row[1:]) for row in rows}


def _given(who: str, without: Sequence[RoundId]) -> dict[str, object]:
    return {
        "who": who,
        "grave": list(GRAVITY[3]),
        "serious": list(GRAVITY[2]),
        "slight": list(GRAVITY[0]),
        "hidden_rounds": [f"{each.property}|{'|'.join(map(str, each[1:]))}" for each in without],
        "hidden_days": [f"{each.property}|{each.table}|{each.gaming_day}" for each in without],
        "hidden_tables": [f"{each.property}|{each.table}" for each in without],
    }


_EACH = f"""
each AS MATERIALIZED (
SELECT f.*, CASE WHEN w.closed THEN 'closed' WHEN w.holder IS NOT NULL THEN 'taken'
                 ELSE 'unseen' END AS status,
       CASE WHEN code = ANY (%(grave)s::text[]) THEN 3 WHEN code = ANY (%(serious)s::text[]) THEN 2
            WHEN code = ANY (%(slight)s::text[]) THEN 0 ELSE 1 END AS gravity,
       w.holder, w.given_by, w.outcome, w.because, w.decided_by, w.decided_us
  FROM (
SELECT property, table_name, gaming_day, number, code, position, hand, wager, throw, off,
       time_us, nth, NULL::text AS source, NULL::text AS fact_id,
       concat_ws('|', table_name, gaming_day, number, code, coalesce(position::text, ''),
                 coalesce(hand, 1), coalesce(wager, ''), coalesce(throw::text, '')) AS ref
  FROM {{schema}}.{FINDINGS.name}
 WHERE cardinality(%(hidden_rounds)s::text[]) = 0
    OR concat_ws('|', property, table_name, gaming_day, number) <> ALL (%(hidden_rounds)s::text[])
 UNION ALL
SELECT property, table_name, gaming_day, NULL, code, NULL, NULL, NULL, NULL, NULL,
       time_us, nth, source, fact_id,
       concat_ws('|', table_name, coalesce(gaming_day, ''), '', code, source, fact_id)
  FROM {{schema}}.{TABLE_FINDINGS.name}
 WHERE cardinality(%(hidden_rounds)s::text[]) = 0
    OR (concat_ws('|', property, table_name, gaming_day) <> ALL (%(hidden_days)s::text[])
        AND (gaming_day IS NOT NULL
             OR concat_ws('|', property, table_name) <> ALL (%(hidden_tables)s::text[])))
       ) f LEFT JOIN {{schema}}.review_work w USING (property, ref)
)"""  # noqa: S608 - values are parameters
"""Every finding that is not withheld, with the work on it."""

_NAME = "'F-' || left(encode(sha256(convert_to(property || '|' || ref, 'UTF8')), 'hex'), 10)"

_SAYS = f"""
coalesce(
    (SELECT says FROM {{schema}}.{FINDINGS.name} x
      WHERE (x.property, x.table_name, x.gaming_day, x.number, x.nth)
          = (e.property, e.table_name, e.gaming_day, e.number, e.nth)),
    (SELECT finding ->> 'says' FROM {{schema}}.{TABLE_FINDINGS.name} x
      WHERE (x.property, x.table_name, x.time_us, x.source, x.fact_id, x.nth)
          = (e.property, e.table_name, e.time_us, e.source, e.fact_id, e.nth)))
"""  # noqa: S608 - our own names

_CELLS = f"""
{_NAME} AS name, property, table_name, gaming_day, number, code, position, hand, wager, throw, off,
time_us, {_SAYS} AS says, source, fact_id, gravity, status, holder, given_by, outcome, because,
decided_by, decided_us
"""

_SHOWN = {
    "open": "status <> 'closed'",
    "mine": "status = 'taken' AND holder = %(who)s",
    "closed": "status = 'closed'",
}

_ALIKE = f"""concat_ws('|', property, table_name, code, coalesce(wager, ''),
                       time_us / {_HOUR_US}, status, coalesce(holder, ''), coalesce(outcome, ''))"""

_PAGE = f"""
WITH {_EACH},
chosen AS MATERIALIZED (SELECT *, {_ALIKE} AS alike FROM each WHERE {{shown}}),
groups AS (
SELECT alike, count(*)::int AS many, sum(off)::bigint AS money, count(*) OVER ()::int AS of_all,
       row_number() OVER (ORDER BY min(status) DESC, max(gravity) DESC,
           coalesce(sum(off), 0) DESC, max(time_us) DESC, alike)::int AS nth
  FROM chosen GROUP BY alike),
paged AS (SELECT * FROM groups WHERE nth > %(skip)s AND nth <= %(skip)s + %(size)s),
told AS (
SELECT p.nth AS group_nth, p.many, p.money, p.of_all, s.*, row_number() OVER (
           PARTITION BY p.nth ORDER BY s.off DESC NULLS LAST, s.time_us DESC, s.ref) AS at
  FROM paged p JOIN chosen s USING (alike))
SELECT group_nth, many, money, of_all, {_CELLS}
  FROM told e WHERE at <= {MEMBERS_MAX} ORDER BY group_nth, at
"""  # noqa: S608 - values are parameters

_COUNTS = f"""
WITH {_EACH}
SELECT (count(*) FILTER (WHERE status <> 'closed'))::int,
       (count(*) FILTER (WHERE status = 'taken' AND holder = %(who)s))::int,
       (count(*) FILTER (WHERE status = 'closed'))::int,
       (count(*) FILTER (WHERE status = 'unseen'))::int
  FROM each
"""  # noqa: S608 - values are parameters

_NAMED = f"""
WITH {_EACH}
SELECT {_CELLS} FROM each e WHERE {_NAME} = ANY (%(names)s::text[])
"""  # noqa: S608 - values are parameters

_OF_ROUND = f"""
WITH {_EACH}
SELECT {_CELLS} FROM each e
 WHERE (%(property)s = '' OR property = %(property)s) AND table_name = %(table)s
   AND gaming_day = %(gaming_day)s AND number = %(number)s ORDER BY property, nth
"""  # noqa: S608 - values are parameters
