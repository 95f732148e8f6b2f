"""Papers of the drop: each fact of money outside rounds, by table, gaming day and time.

Part of the view `drop`. A paper without a gaming day belongs to that of its table's last box or
opening at or before its time; arrival decides nothing (`ledger.finance.placing`). The correction
that holds counts. A corrected fact of a round stands here too: what its round's sums change by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import astuple

from consumers.money import slip_places
from consumers.money.amounts import (
    ACCEPTED,
    ADDED,
    COUNTED,
    OF_ROUNDS,
    RAISED,
    READS,
    amount_of,
    box_of,
    cents,
    paper_of,
    priced,
    unpriced,
)
from consumers.money.corrections_held import as_corrected, held, holding_of, made_table
from consumers.money.day_at import day_at
from consumers.runtime.source import round_of_row
from infra.postgres.arrays import array_text
from infra.postgres.view_tables import Column, ViewTable
from ledger.facts import AdjustmentPaid
from ledger.finance.placing import OPENS_DAY, day_after, disputed_tables, own_day, table_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from consumers.money.slip_places import StepTables
    from consumers.runtime.lifecycle import Batch
    from infra.postgres.view_tables import NamedRow, ViewStore
    from ledger.finance.placing import FactId, TableId
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

MADE = made_table("drop_corrections_made")

PAPERS = ViewTable(
    "drop_papers",
    "One row a fact of money outside rounds, and two for each fact that a correction changes.",
    5,
    (
        Column("source", "text", "Source of the fact."),
        Column("fact_id", "text", "Id of the fact."),
        Column("property", "text", "Property of the table."),
        Column("table_name", "text", "Table, e.g. CC-07."),
        Column(
            "counts",
            "smallint",
            "1: it counts; 0: as recorded before a correction; -1: the same, of a round.",
        ),
        Column("gaming_day", "text", "Gaming day that it counts in; empty: before the first."),
        Column("named", "boolean", "Whether the fact names that day; else its time says."),
        Column("starts", "boolean", "Whether its gaming day holds from its time on."),
        Column("time_us", "bigint", "Device time, microseconds."),
        Column("amount", "text", "Name of the amount in the drop; box: none; empty: no amount."),
        Column("wager", "text", "Wager id; empty: no wager."),
        Column("cents", "bigint", "The amount, cents."),
        Column("paper", "text", "Number of the slip, voucher, dispute or box.", null=True),
        Column("tape", "text", "Tape of the fact."),
        Column("table_seq", "bigint", "Its sequence on that tape."),
        Column("made_tape", "text", "Tape of the correction that holds.", null=True),
        Column("made_seq", "bigint", "Its sequence on that tape.", null=True),
    ),
    (
        "(property, table_name, gaming_day)",
        "(property, table_name, time_us) WHERE starts",
        "(property, table_name, time_us) WHERE NOT named",
        "(property, amount, paper) WHERE paper IS NOT NULL",
        "(gaming_day) WHERE made_tape IS NOT NULL",
        "(gaming_day) WHERE amount = 'box'",
        "(property, table_name) WHERE amount = 'adjustments'",
    ),
)

BOXES = ViewTable(
    "drop_boxes",
    "One row a count of a drop box; first, second and third count stay apart.",
    4,
    (
        Column("source", "text", "Source of the count."),
        Column("fact_id", "text", "Id of the count."),
        Column("property", "text", "Property of the table."),
        Column("table_name", "text", "Table, e.g. CC-07."),
        Column("gaming_day", "text", "Label of the gaming day."),
        Column("time_us", "bigint", "Device time, microseconds."),
        Column("box", "text", "Number of the box."),
        Column("count", "smallint", "1: first count, 2: second, 3: third."),
        Column("currency", "bigint", "Cash counted, foreign notes at their rate, cents."),
        Column("counter_checks", "bigint", "Counter checks counted, cents."),
        cents("vouchers", "Vouchers counted, if each has an amount"),
        Column("voucher_count", "integer", "Vouchers counted, pieces."),
        Column(
            "coupon_count", "integer", "Coupons counted, pieces; the batch has their face value."
        ),
        cents("chips", "Chips counted"),
        Column("unpriced", "text[]", "Numbers of the vouchers counted without an amount."),
        Column("priced", "bigint", "Vouchers counted with an amount, cents."),
    ),
    ("(gaming_day)",),
)

DISPUTES = ViewTable(
    "drop_disputes",
    "The tables of disputed rounds, for amends that name no table.",
    4,
    (
        Column("property", "text", "Property of the dispute."),
        Column("dispute", "text", "Number of the dispute."),
        Column("source", "text", "Source of the fact that raised it."),
        Column("fact_id", "text", "Id of that fact."),
        Column("time_us", "bigint", "Device time of that fact, microseconds."),
        Column("of_property", "text", "Property of the disputed round's table."),
        Column("of_table", "text", "Table of the disputed round."),
    ),
    is_log=True,
)

PLACES = slip_places.places_table("drop_slip_places")

Key = tuple[str, str, str]
"""Property, table, gaming day."""


_Told = dict[tuple[str, str], tuple["TapeRow", "TapeRow | None"]]
"""Facts with the correction that holds, by source and id."""


class ChangedDays(NamedTuple):
    """What a batch of papers does to days: amounts to add, and days to work out again."""

    added: list[tuple[Key, str, int]]  # with the name of the amount and cents
    again: set[Key]


def note(store: ViewStore, batch: Batch) -> ChangedDays:
    """Keep a batch's papers and corrected facts, each in its gaming day.

    Every process that has a share of the view hears every paper and correction, and keeps those of
    its own tables.
    """
    told: _Told = {
        (row.source, row.id): (row, None)
        for row in batch.rows
        if row.type in READS and not _is_of_round(row)
    }
    changed = held(store, batch, MADE, lambda row: row.type in READS)
    told |= {
        (each.target.source, each.target.id): each
        for each in changed
        if each.correction or not _is_of_round(each.target)
    }
    steps = slip_places.note(store, PLACES, MADE, batch, [row for row, _ in told.values()])
    moved = holding_of(store, MADE, [key for key in steps.again if key not in told], batch.position)
    told |= moved
    owns = batch.share.owns_table
    before = [*moved, *((each.target.source, each.target.id) for each in changed)]
    gone = [row for row in store.rows(PAPERS, before) if owns(row.property, row.table_name)]
    store.delete(PAPERS, [row[: PAPERS.keys] for row in gone])
    store.delete(BOXES, {row[: BOXES.keys] for row in gone if row.amount == "box"})
    new = [row for of in told.values() for row in _rows(*of, batch, steps) if owns(*row[2:4])]
    counts = (cells for of in told.values() for cells in _counts(*of, batch) if owns(*cells[2:4]))
    store.save(BOXES, counts)
    disputes = (cells for row, _ in told.values() for cells in _raised(row, batch))
    store.save(DISPUTES, disputes)
    changes = _changes(store, gone, _placed(store, new))
    of_slips = [key for key, (row, _) in told.items() if row.type in ACCEPTED]
    its = _of_slips(store, of_slips, batch.position)
    changes.again.update(key for key in its if owns(*key[:2]))
    return changes


def corrected_facts(row: TapeRow, why: TapeRow | None, fact: Fact) -> list[tuple[int, Fact]]:
    """A fact with what it counts: as it is, or as recorded and as corrected."""
    if not why:
        return [(1, fact)]
    before = -1 if _is_of_round(row) else 0
    return [(before, fact), *((1, each) for each in as_corrected(fact, why))]


def _is_of_round(row: TapeRow) -> bool:
    """Whether a fact's amount is in the sums of its round's table and day."""
    return row.type in OF_ROUNDS and round_of_row(row) is not None


def _rows(row: TapeRow, why: TapeRow | None, batch: Batch, steps: StepTables) -> Iterator[NamedRow]:
    """The rows of one fact; its gaming day is empty if the fact does not name it."""
    made = (why.tape, why.table_seq) if why else (None, None)
    for counts, fact in corrected_facts(row, why, batch.fact(row)):
        of, day = amount_of(row.type, fact.body), own_day(fact)
        starts = isinstance(fact.body, OPENS_DAY)
        if of or starts:
            yield PAPERS.row(
                row.source, row.id, *_table_of(fact, counts, steps), counts,
                day or "", day is not None, starts, row.time_us,
                *(of or ("", "", 0)), paper_of(row.type, fact.body),
                row.tape, row.table_seq, *made,
            )  # fmt: skip


def _table_of(fact: Fact, counts: int, steps: StepTables) -> TableId:
    """The table of a fact; of amends that name none it is empty: their dispute has it."""
    property_, table = steps.table(fact, as_corrected=counts == 1)
    by_dispute = isinstance(fact.body, AdjustmentPaid) and not (fact.body.table or fact.round)
    return property_, "" if by_dispute else table


def _raised(row: TapeRow, batch: Batch) -> Iterator[tuple[Any, ...]]:
    """The table of the dispute that a fact raises."""
    if row.type == RAISED:
        for dispute, use in disputed_tables([batch.fact(row)]).items():
            yield (*dispute, use.source, use.id, use.time_us, *use.table)


def _counts(row: TapeRow, why: TapeRow | None, batch: Batch) -> Iterator[tuple[Any, ...]]:
    """The row of a count of a box, as corrected; of any other fact none."""
    if row.type != COUNTED:
        return
    for counts, fact in corrected_facts(row, why, batch.fact(row)):
        if counts == 1:
            body: Any = fact.body
            cells = (*astuple(box_of(body)), array_text(unpriced(body)), priced(body))
            yield (row.source, row.id, *table_of(fact), body.gaming_day, row.time_us, *cells)


def _start_at(of: str, table: str = "table_name") -> str:
    """Whether a paper `s` that counts as corrected is at the table of another row."""
    return f"s.counts = 1 AND s.property = {of}.property AND s.table_name = {of}.{table}"


def _placed(store: ViewStore, new: list[NamedRow]) -> list[NamedRow]:
    """Save rows, those without a gaming day of their own in that of their time."""
    store.save(PAPERS, [row for row in new if row.named])
    others = [row for row in new if not row.named]
    if not others:
        return new
    found = store.query(
        f"SELECT ({day_at('{schema}.drop_papers', _start_at('w', 'name'), 'w.time_us')})"  # noqa: S608 - put together from constants
        " FROM unnest(%(properties)s::text[], %(names)s::text[], %(times)s::bigint[])"
        " WITH ORDINALITY AS w (property, name, time_us, n) ORDER BY n",
        {
            "properties": [row.property for row in others],
            "names": [row.table_name for row in others],
            "times": [row.time_us for row in others],
        },
    )
    others = [row._replace(gaming_day=day or "") for row, (day,) in zip(others, found, strict=True)]
    store.save(PAPERS, others)
    return [*(row for row in new if row.named), *others]


def _changes(store: ViewStore, gone: list[NamedRow], new: list[NamedRow]) -> ChangedDays:
    """The days that these rows change. Amends without a table of their own change none."""
    gone, new = ([row for row in rows if row.table_name] for rows in (gone, new))
    both = [*gone, *new]
    again = {_key(row) for row in gone}
    again |= _moved(store, {row for row in both if row.starts and row.counts == 1})
    again |= {(*row[2:4], day_after(row.gaming_day)) for row in both if row.amount == "closer"}
    added = []
    for row in new:
        if row.made_tape is None and row.amount not in ("opener", "closer", "fills", "credits"):
            added.append((_key(row), row.amount, row.cents))
        else:
            again.add(_key(row))
    return ChangedDays(added, again)


def _key(row: NamedRow) -> Key:
    return row.property, row.table_name, row.gaming_day


# Papers after a start that was taken away go to the day of the start before it.
_MOVE = f"""
UPDATE {{schema}}.drop_papers p SET gaming_day = w.gaming_day
  FROM (SELECT g.property, g.name, g.since_us, coalesce(at.gaming_day, '') AS gaming_day,
               coalesce(next_.time_us, 9223372036854775807) AS until_us
          FROM unnest(%(properties)s::text[], %(names)s::text[], %(sinces)s::bigint[])
               AS g (property, name, since_us)
          LEFT JOIN LATERAL (
            {day_at("{schema}.drop_papers", _start_at("g", "name"), "g.since_us")}) at ON true
          LEFT JOIN LATERAL (
            SELECT s.time_us FROM {{schema}}.drop_papers s
             WHERE s.starts AND s.counts = 1 AND s.property = g.property
               AND s.table_name = g.name AND s.time_us > g.since_us
             ORDER BY s.time_us LIMIT 1) next_ ON true) w
  JOIN {{schema}}.drop_papers o ON o.property = w.property AND o.table_name = w.name
   AND NOT o.named AND o.time_us >= w.since_us AND o.time_us < w.until_us
   AND o.gaming_day <> w.gaming_day
 WHERE (p.source, p.fact_id, p.property, p.table_name, p.counts)
     = (o.source, o.fact_id, o.property, o.table_name, o.counts)
RETURNING p.property, p.table_name, o.gaming_day, p.gaming_day
"""  # noqa: S608 - put together from constants


def _moved(store: ViewStore, starts: Collection[NamedRow]) -> set[Key]:
    """Move papers beside changed starts to the days they belong to; the days of either side."""
    times = sorted({(row.property, row.table_name, row.time_us) for row in starts})
    if not times:
        return set()
    names = ("properties", "names", "sinces")
    moved = store.query(_MOVE, dict(zip(names, map(list, zip(*times, strict=True)), strict=True)))
    return {(*row[:2], day) for row in moved for day in row[2:]}


def _of_slips(store: ViewStore, steps: Collection[FactId], until: int) -> set[Key]:
    """The days of all acceptances of slips that these steps are of, or were.

    A slip counts where it was accepted first, at whichever table.
    """
    papers = {(row.property, ADDED[f"{row.kind}_accepted.v1"], row.paper)
              for row in store.rows(PLACES, steps)
              if row.paper and row.kind and row.position <= until}  # fmt: skip
    if not papers:
        return set()
    names = ("properties", "amounts", "papers")
    found = store.query(
        "SELECT DISTINCT p.property, p.table_name, p.gaming_day"
        " FROM unnest(%(properties)s::text[], %(amounts)s::text[], %(papers)s::text[])"
        " AS w (property, amount, paper)"
        " JOIN {schema}.drop_papers p USING (property, amount, paper)",
        {name: [each[nth] for each in sorted(papers)] for nth, name in enumerate(names)},
    )
    return {tuple(row) for row in found}


class PaperSum(NamedTuple):
    """The papers of one amount in a gaming day; cents, microseconds."""

    amount: str
    sum: int | None  # None: none counts
    first: tuple[int, int] | None  # the first one and its time
    last: tuple[int, int] | None


_SUMS = """
SELECT p.property, p.table_name, p.gaming_day, p.amount,
       sum(p.cents * p.counts) FILTER (WHERE p.counts <> 0 AND NOT (
           p.amount IN ('fills', 'credits') AND EXISTS (
               SELECT FROM {schema}.drop_slip_places e
                WHERE e.property = p.property AND e.kind = left(p.amount, -1) AND e.paper = p.paper
                  AND e.accepted AND e.as_corrected
                  AND (e.time_us, e.source, e.fact_id) < (p.time_us, p.source, p.fact_id)
                  AND e.position <= %(until)s AND NOT EXISTS (
                      SELECT FROM {schema}.drop_slip_places l
                       WHERE l.source = e.source AND l.fact_id = e.fact_id AND l.as_corrected
                         AND l.position > e.position AND l.position <= %(until)s))))::bigint,
       (array_agg(ARRAY[p.cents, p.time_us] ORDER BY p.time_us, p.source, p.fact_id)
        FILTER (WHERE p.amount = 'opener' AND p.counts = 1))[1:1],
       (array_agg(ARRAY[p.cents, p.time_us] ORDER BY p.time_us DESC, p.source DESC, p.fact_id DESC)
        FILTER (WHERE p.amount = 'closer' AND p.counts = 1))[1:1]
  FROM unnest(%(properties)s::text[], %(names)s::text[], %(days)s::text[])
       AS w (property, table_name, gaming_day)
  JOIN {schema}.drop_papers p USING (property, table_name, gaming_day)
 GROUP BY 1, 2, 3, 4
"""


def sums(store: ViewStore, keys: Iterable[Key], until: int) -> dict[Key, list[PaperSum]]:
    """The papers of these days by amount. A slip counts once, where it was accepted first.

    until: the position up to which acceptances at all tables are known.
    """
    found: dict[Key, list[PaperSum]] = {}
    wanted = columns(keys) | {"until": until}
    for property_, table, day, amount, cents_, first, last in store.query(_SUMS, wanted):
        its = (tuple(each[0]) if each else None for each in (first, last))
        found.setdefault((property_, table, day), []).append(PaperSum(amount, cents_, *its))
    return found


def columns(keys: Iterable[Key]) -> dict[str, list[str]]:
    """Days as the parameters `properties`, `names` and `days`."""
    told = sorted(keys)
    return {
        name: [key[nth] for key in told] for nth, name in enumerate(("properties", "names", "days"))
    }


_ADJUSTED = """
SELECT property, table_name, gaming_day, sum(cents)::bigint FROM (
    SELECT property, table_name, gaming_day, cents FROM {{schema}}.drop_papers
     WHERE amount = 'adjustments' AND counts = 1 AND table_name <> ''
    UNION ALL
    SELECT t.property, t.table_name, s.gaming_day, p.cents
      FROM {{schema}}.drop_papers p
      LEFT JOIN LATERAL (
        SELECT * FROM {{schema}}.drop_disputes d
         WHERE d.property = p.property AND d.dispute = p.paper AND NOT EXISTS (
               SELECT FROM {{schema}}.drop_papers s
                WHERE s.starts AND s.property = p.property
                  AND s.table_name = split_part(p.source, '/', 3)
                  AND (s.counts = 0 OR s.made_tape IS NULL))
         ORDER BY d.time_us, d.source, d.fact_id LIMIT 1) d ON true
     CROSS JOIN LATERAL (
        SELECT coalesce(d.of_property, p.property) AS property,
               coalesce(d.of_table, split_part(p.source, '/', 3)) AS table_name) t
     CROSS JOIN LATERAL (@DAY@) s
     WHERE p.amount = 'adjustments' AND p.counts = 1 AND p.table_name = '') a
 WHERE {where} GROUP BY 1, 2, 3
""".replace("@DAY@", day_at("{{schema}}.drop_papers", _start_at("t"), "p.time_us"))


def adjusted(store: ViewStore, where: str, wanted: Mapping[str, str]) -> dict[Key, int]:
    """The cents that tables paid as amends, by table and gaming day.

    Amends that name no table are of the table that recorded them. Those of another place, as the
    cage, are of the disputed round's table.
    """
    return {row[:3]: row[3] for row in store.query(_ADJUSTED.format(where=where), wanted)}
