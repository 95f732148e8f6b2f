"""What is known elsewhere of the papers of tables' days: at other tables, of other days.

Vouchers that were sold, checks that were issued, coupons and checks that were used, boxes that have
the same papers, disputes, and numbers of slips that were left out.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from consumers.finance.day_facts import COLUMNS, LATEST, WHERE, facts_of_rows, query_parameters
from consumers.money.day_at import day_at
from ledger.facts import AdjustmentPaid, DropBoxAttached, DropBoxCounted
from ledger.finance.boxes import BOX_FACTS, boxes, papers_in, without_amount
from ledger.finance.exceptions import SlipUse, checks_issued, uses_of_slips
from ledger.finance.feed import days_of, sold_by_house
from ledger.finance.placing import OPENS_DAY, Days, DisputeUse, PaperUse, by_time, table_of
from ledger.finance.slips import left_out, series

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from consumers.finance.day_facts import WinsAsked
    from infra.postgres.view_tables import ViewStore
    from ledger.finance.exceptions import DayKey, PaperId, SlipNumber
    from ledger.finance.feed import TableMoney
    from ledger.finance.placing import DisputeId, TableId
    from ledger.finance.slips import SlipRecord
    from ledger.finance.win import AuditException
    from ledger.record.wire import Fact

_NUMBERED = f"""
SELECT {COLUMNS} FROM unnest(%(properties)s::text[], %(numbers)s::text[]) AS w (property, number)
  JOIN {{schema}}.finance_numbers n USING (property, number)
  JOIN {{schema}}.finance_facts f USING (source, fact_id, variant)
 WHERE n.kind = %(kind)s AND n.variant = ANY (%(variants)s::int[])
"""  # noqa: S608 - put together from constants


def _facts_of(
    store: ViewStore,
    kind: Literal["sold", "issued"],
    papers: Iterable[tuple[str, str]],
    variants: tuple[int, int],
) -> list[Fact]:
    """The facts at any table that sell vouchers or issue checks, by property and number of each."""
    told = list(papers)
    asked = {"properties": [p for p, _ in told], "numbers": [n for _, n in told], "kind": kind}
    return facts_of_rows(store, store.query(_NUMBERED, asked | {"variants": list(variants)}))[0]


def sold_elsewhere(
    store: ViewStore, tables: Mapping[TableId, TableMoney], variants: tuple[int, int]
) -> dict[str, dict[str, int]]:
    """As `sold_by_house`, of the vouchers in these tables' boxes that have no amount there."""
    lacks = sorted(
        {
            (property_, number)
            for (property_, _), of in tables.items()
            for facts in of.days.values()
            for number in without_amount(facts)
        }
    )
    return sold_by_house(_facts_of(store, "sold", lacks, variants)) if lacks else {}


def issues_of_checks(
    store: ViewStore, days: Mapping[DayKey, Sequence[Fact]], variants: tuple[int, int]
) -> dict[tuple[str, str], list[Fact]]:
    """The facts at any table that issue the checks which tables issued on these days."""
    own = checks_issued(fact for facts in days.values() for fact in facts)
    return checks_issued(_facts_of(store, "issued", own, variants)) if own else {}


_DISPUTES_USED = """
WITH w AS (SELECT * FROM unnest(%(properties)s::text[], %(numbers)s::text[])
               AS w (property, dispute))
SELECT property, dispute, d.time_us, d.source, d.fact_id, d.of_property, d.of_table
  FROM w JOIN {schema}.finance_disputes d USING (property, dispute)
UNION ALL
SELECT f.property, f.paper, f.time_us, f.source, f.fact_id, f.property, f.table_name
  FROM w JOIN {schema}.finance_facts f ON f.property = w.property AND f.paper = w.dispute
 WHERE f.paper_kind = 'dispute' AND f.variant = ANY (%(variants)s::int[])
"""


def disputes_used(
    store: ViewStore, days: Mapping[DayKey, Sequence[Fact]], variants: tuple[int, int]
) -> dict[DisputeId, list[DisputeUse]]:
    """As `feed.disputes_used`, of the disputes that tables paid amends for on these days."""
    wanted = {
        (key[0], fact.body.dispute)
        for key, facts in days.items()
        for fact in facts
        if isinstance(fact.body, AdjustmentPaid)
    }
    if not wanted:
        return {}
    asked = {"properties": [p for p, _ in wanted], "numbers": [n for _, n in wanted]}
    found: dict[DisputeId, list[DisputeUse]] = defaultdict(list)
    for *key, time_us, source, id_, property_, table in store.query(
        _DISPUTES_USED, asked | {"variants": list(variants)}
    ):
        use = DisputeUse(time_us, source, id_, (property_, table))
        found[key[0], key[1]].append(use)
    return found


class DroppedCoupon(NamedTuple):
    """A coupon that was dropped at a table."""

    property: str
    serial: str
    table: str


_DROPPED = f"""
SELECT f.property, f.number, f.table_name FROM {{schema}}.coupon_check_uses f
 WHERE f.kind = 'coupon' AND {WHERE}
   AND (%(days)s::text[] IS NULL OR f.gaming_day = ANY (%(days)s::text[]))
UNION SELECT f.property, f.number, f.table_name
  FROM unnest(%(houses)s::text[], %(places)s::text[], %(sinces)s::bigint[], %(untils)s::bigint[])
       AS w (property, table_name, since, until)
  JOIN {{schema}}.coupon_check_uses f USING (property, table_name)
 WHERE f.kind = 'coupon' AND f.gaming_day IS NULL AND f.time_us >= w.since AND f.time_us < w.until
"""  # noqa: S608 - as above


def dropped_coupons(
    store: ViewStore, tables: Mapping[TableId, TableMoney], asked: WinsAsked
) -> list[DroppedCoupon]:
    """The coupons that were dropped at these tables on the gaming day that is asked for."""
    spans = []
    if asked.gaming_day:
        for table, of in tables.items():
            starts = (f for its in of.days.values() for f in its if isinstance(f.body, OPENS_DAY))
            for since, until in Days(starts).spans(asked.gaming_day):
                spans.append((*table, since, LATEST if until is None else until))
    columns = zip(*spans, strict=True) if spans else ((), (), (), ())
    told = dict(zip(("houses", "places", "sinces", "untils"), map(list, columns), strict=True))
    return [
        DroppedCoupon(*row) for row in store.query(_DROPPED, {**query_parameters(asked), **told})
    ]


def on_day(
    tables: Mapping[TableId, TableMoney], gaming_day: str | None
) -> dict[DayKey, Sequence[Fact]]:
    """The facts of these tables' days, of the day that is asked for."""
    found = days_of(tables).items()
    return {key: facts for key, facts in found if gaming_day in (None, key[1])}


# The gaming day of a fact `u`: that it names, else that of its table at its time.
_AT_TABLE = (
    "s.variant = ANY (%(variants)s::int[]) AND s.property = u.property"
    " AND s.table_name = u.table_name"
)
_DAY_OF_TABLE = day_at("{schema}.finance_facts", _AT_TABLE, "u.time_us")
_ITS_DAY = f"coalesce(u.gaming_day, ({_DAY_OF_TABLE}), '')"
_USED = f"""
SELECT u.property, u.kind, u.number, u.time_us, u.source, u.fact_id, u.table_name, {_ITS_DAY}
  FROM unnest(%(properties)s::text[], %(kinds)s::text[], %(numbers)s::text[])
       AS w (property, kind, number)
  JOIN {{schema}}.coupon_check_uses u USING (property, kind, number)
"""  # noqa: S608 - as above


def uses_of_papers(
    store: ViewStore,
    days: Mapping[DayKey, Sequence[Fact]],
    dropped: Iterable[DroppedCoupon],
    variants: tuple[int, int],
) -> dict[PaperId, list[PaperUse]]:
    """As `papers_used`, of the coupons and checks of these days, and of these coupons."""
    wanted: set[PaperId] = {(each.property, "coupon", each.serial) for each in dropped}
    for (property_, _, _), facts in days.items():
        its = boxes(facts)
        for kind in ("coupon", "check"):
            wanted |= {(property_, kind, number) for number in papers_in(its, kind)}
        wanted |= {(property_, "check", number) for _, number in checks_issued(facts)}
    if not wanted:
        return {}
    columns = map(list, zip(*sorted(wanted), strict=True))
    asked = dict(zip(("properties", "kinds", "numbers"), columns, strict=True))
    found: dict[PaperId, list[PaperUse]] = defaultdict(list)
    for *paper, time_us, source, id_, table, day in store.query(
        _USED, {**asked, "variants": list(variants)}
    ):
        use = PaperUse(time_us, source, id_, (paper[0], table), day)
        found[paper[0], paper[1], paper[2]].append(use)
    return {paper: sorted(its) for paper, its in found.items()}


_OF_SLIPS = f"""
WITH several AS (
    SELECT f.property, f.paper_kind, f.paper
      FROM unnest(%(properties)s::text[], %(kinds)s::text[], %(papers)s::text[])
           AS w (property, paper_kind, paper)
      JOIN {{schema}}.finance_facts f USING (property, paper_kind, paper)
     WHERE f.variant = ANY (%(variants)s::int[]) GROUP BY 1, 2, 3
    HAVING count(DISTINCT f.table_name) > 1 OR count(*) > count(DISTINCT f.step))
SELECT u.property, u.paper_kind, u.paper, {_ITS_DAY}, u.table_name, u.source, u.fact_id, u.step
  FROM several JOIN {{schema}}.finance_facts u USING (property, paper_kind, paper)
 WHERE u.variant = ANY (%(variants)s::int[])
"""  # noqa: S608 - as above

# Counts of trays under a slip's number on a day, and the last one before that is another slip.
_ANY_COUNT = """
SELECT n.* FROM {{schema}}.finance_numbers n
 WHERE n.property = w.property AND n.number = w.number AND n.variant = ANY (%(variants)s::int[])
   AND {of}
"""
_LAST = " ORDER BY n.gaming_day DESC, n.table_name DESC, n.source DESC, n.fact_id DESC LIMIT 1"
_BY_STEP = "n.kind = w.step AND n.gaming_day < w.gaming_day"
_BY_OTHERS = (
    "n.kind = w.other_step AND n.gaming_day < w.gaming_day AND n.table_name <> w.table_name"
)
_ON_DAY = "n.kind IN ('opener', 'closer') AND n.gaming_day = w.gaming_day"
_OF_TRAYS = f"""
SELECT DISTINCT n.property, 'inventory', n.number, n.gaming_day, n.table_name, n.source, n.fact_id,
       n.kind
  FROM unnest(%(properties)s::text[], %(numbers)s::text[], %(days)s::text[], %(tables)s::text[],
              %(steps)s::text[], %(others)s::text[])
       AS w (property, number, gaming_day, table_name, step, other_step)
 CROSS JOIN LATERAL ({_ANY_COUNT.format(of=_ON_DAY)}
    UNION ALL ({_ANY_COUNT.format(of=_BY_STEP)} {_LAST})
    UNION ALL ({_ANY_COUNT.format(of=_BY_OTHERS)} {_LAST})) n
"""  # noqa: S608 - as above
_OTHER_STEP = {"opener": "closer", "closer": "opener"}


def slips_used(
    store: ViewStore, days: Mapping[DayKey, Sequence[Fact]], variants: tuple[int, int]
) -> dict[SlipNumber, list[SlipUse]]:
    """As `uses_of_slips`, of the numbers of these days that tables or days may have twice."""
    slips, trays = set(), set()
    for (property_, kind, number), its in uses_of_slips(days).items():
        for use in its:
            if kind == "inventory":
                key = property_, number, use.gaming_day, use.table, use.step
                trays.add((*key, _OTHER_STEP[use.step]))
            else:
                slips.add((property_, kind, number))
    found: dict[SlipNumber, list[SlipUse]] = defaultdict(list)
    for query, names, wanted in (
        (_OF_SLIPS, ("properties", "kinds", "papers"), slips),
        (_OF_TRAYS, ("properties", "numbers", "days", "tables", "steps", "others"), trays),
    ):
        if wanted:
            columns = map(list, zip(*sorted(wanted), strict=True))
            asked = dict(zip(names, columns, strict=True))
            for *of, day, table, source, id_, step in store.query(
                query, {**asked, "variants": list(variants)}
            ):
                found[of[0], of[1], of[2]].append(SlipUse(day, table, source, id_, step))
    return {number: sorted(its) for number, its in found.items()}


def houses_of_coupons(
    of_boxes: Mapping[DayKey, Sequence[Fact]], used: Iterable[PaperId]
) -> set[str]:
    """The properties of coupons that were dropped or counted."""
    counted = {
        property_
        for (property_, _, _), facts in of_boxes.items()
        if any(isinstance(fact.body, DropBoxCounted) and fact.body.coupons for fact in facts)
    }
    return counted | {property_ for property_, kind, _ in used if kind == "coupon"}


_SAME_PAPERS = f"""
WITH its AS (
    SELECT DISTINCT f.property, f.kind, f.number FROM {{schema}}.finance_numbers f
     WHERE f.kind IN ('coupon', 'check', 'voucher') AND f.variant = ANY (%(variants)s::int[])
       AND {WHERE}
       AND (%(days)s::text[] IS NULL OR f.gaming_day = ANY (%(days)s))),
seen AS (
    SELECT property, kind, number
      FROM its JOIN {{schema}}.finance_numbers o USING (property, kind, number)
     WHERE o.variant = ANY (%(variants)s::int[])
     GROUP BY property, kind, number HAVING count(DISTINCT (o.table_name, o.gaming_day)) > 1
    UNION SELECT d.property, 'coupon', d.number
      FROM unnest(%(houses)s::text[], %(serials)s::text[], %(places)s::text[])
           AS d (property, number, table_name)
     WHERE EXISTS (SELECT FROM {{schema}}.finance_numbers o
        WHERE o.property = d.property AND o.kind = 'coupon' AND o.number = d.number
          AND o.table_name <> d.table_name AND o.variant = ANY (%(variants)s::int[])))
SELECT DISTINCT {COLUMNS}
  FROM seen JOIN {{schema}}.finance_numbers o USING (property, kind, number)
  JOIN {{schema}}.finance_facts f ON f.property = o.property AND f.table_name = o.table_name
   AND f.gaming_day = o.gaming_day AND f.variant = ANY (%(variants)s::int[])
 WHERE o.variant = ANY (%(variants)s::int[])
"""  # noqa: S608 - as above


# The days of other tables at which boxes hung that were attached on these tables' days, too.
_ATTACHED_TOO = f"""
SELECT DISTINCT {COLUMNS}
  FROM unnest(%(properties)s::text[], %(days)s::text[], %(tables)s::text[], %(numbers)s::text[])
       AS w (property, gaming_day, table_name, number)
  JOIN {{schema}}.finance_numbers o ON o.property = w.property AND o.number = w.number
   AND o.kind IN ('attached', 'removed', 'box')
   AND o.gaming_day = w.gaming_day AND o.table_name <> w.table_name
   AND o.variant = ANY (%(variants)s::int[])
  JOIN {{schema}}.finance_facts f ON f.property = o.property AND f.table_name = o.table_name
   AND f.gaming_day = o.gaming_day AND f.variant = ANY (%(variants)s::int[])
"""  # noqa: S608 - as above


def _attached_too(
    store: ViewStore, days: Mapping[DayKey, Sequence[Fact]], variants: tuple[int, int]
) -> list[tuple[Any, ...]]:
    """The rows of other tables' days that attached, removed or counted boxes of these days."""
    own = [
        (*key, fact.body.box)
        for key, facts in days.items()
        for fact in facts
        if isinstance(fact.body, DropBoxAttached)
    ]
    if not own:
        return []
    names = ("properties", "days", "tables", "numbers")
    asked = dict(zip(names, map(list, zip(*own, strict=True)), strict=True))
    return store.query(_ATTACHED_TOO, {**asked, "variants": list(variants)})


def facts_of_boxes(
    store: ViewStore,
    tables: Mapping[TableId, TableMoney],
    asked: WinsAsked,
    variants: tuple[int, int],
    dropped: Sequence[DroppedCoupon],
) -> dict[DayKey, list[Fact]]:
    """The facts of boxes of these tables' days, and of days that have a paper of theirs, by day.

    Those of tables' days that had one of their boxes, too. dropped: the coupons that were dropped
    at these tables; boxes of other tables may have them.
    """
    found = {
        key: [fact for fact in facts if isinstance(fact.body, BOX_FACTS)]
        for key, facts in days_of(tables).items()
    }
    columns = zip(*dropped, strict=True) if dropped else ((), (), ())
    told = dict(zip(("houses", "serials", "places"), map(list, columns), strict=True))
    parameters = {**query_parameters(asked), **told, "variants": list(variants)}
    rows = store.query(_SAME_PAPERS, parameters)
    rows += _attached_too(store, on_day(tables, asked.gaming_day), variants)
    for fact in facts_of_rows(store, list(dict.fromkeys(rows)))[0]:
        if isinstance(fact.body, BOX_FACTS):
            property_, table = table_of(fact)
            its = found.setdefault((property_, fact.body.gaming_day, table), [])
            if all((each.source, each.id) != (fact.source, fact.id) for each in its):
                its.append(fact)
    return {key: sorted(its, key=by_time) for key, its in found.items()}


def numbers_left_out(
    store: ViewStore,
    tables: Mapping[TableId, TableMoney],
    asked: WinsAsked,
    variants: tuple[int, int],
) -> dict[DayKey, list[AuditException]]:
    """Numbers left out of the series of the slips that are asked for."""
    slips: list[tuple[DayKey, SlipRecord, tuple[Any, ...]]] = [
        ((property_, day, name), slip, numbered)
        for (property_, name), of in tables.items()
        for day, told in of.slips.items()
        for slip in told
        if day and asked.gaming_day in (None, day) and (numbered := series(slip))
    ]
    found: dict[DayKey, list[AuditException]] = defaultdict(list)
    if not slips:
        return found
    befores = store.query(
        "SELECT (SELECT max(f.number) FROM {schema}.finance_facts f WHERE f.property = w.property"
        " AND f.paper_kind = w.kind AND f.stem = w.stem AND f.number < w.number"
        " AND f.variant = ANY (%(variants)s::int[]))"
        " FROM unnest(%(properties)s::text[], %(kinds)s::text[], %(stems)s::text[],"
        " %(numbers)s::bigint[]) WITH ORDINALITY AS w (property, kind, stem, number, n) ORDER BY n",
        {
            "variants": list(variants),
            "properties": [key[0] for key, _, _ in slips],
            "kinds": [of[0] for _, _, of in slips],
            "stems": [of[1] for _, _, of in slips],
            "numbers": [of[2] for _, _, of in slips],
        },
    )
    for (key, slip, of), (before,) in zip(slips, befores, strict=True):
        if before is not None and of[2] - before > 1:
            found[key].append(left_out(before, slip))
    return found
