"""The work on findings: who has each, how it was closed, and how many are alike in each state.

Every finding keeps its state in its own row. Rows of `GROUPS` and `STATES` count them, so that a
page of the queue reads one page of rows. The latest fact decides, by time, then source and id: one
of those that give a finding to somebody, and one of those that close or reopen it. Part of the view
`rulings`. Work on something that no ruling has, such as an alert, is kept too.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import astuple

from infra.postgres.view_tables import Column, ViewTable
from ledger.facts import (
    Body,
    FindingClosed,
    FindingHanded,
    FindingReopened,
    FindingTaken,
    type_name,
)
from ledger.rules.procedures import supervision
from ledger.values import parse_round

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from consumers.runtime.source import Share
    from infra.postgres.view_tables import ViewStore
    from ledger.facts import FindingRef
    from ledger.record.tape import TapeRow
    from ledger.record.wire import Fact

HOUR_US = 3_600_000_000

GRAVITY = {
    code: grade
    for grade, codes in {
        3: (
            "overpaid", "underpaid", "not_collected", "wrongly_collected", "not_returned",
            "over_returned", "wrong_position_paid", "wrong_payer", "duplicate_card",
            "impossible_card", "card_mismatch", "should_have_been_void", "wrongly_voided",
            "meter_wrong",
        ),
        2: (
            "misdeal", "hand_misset", "wager_not_permitted", "late_wager", "out_of_turn",
            "step_missing", "decision_not_permitted", "coupon_not_dropped", "fact_missing",
        ),
        0: ("order_uncertain", "clock_skewed"),
    }.items()
    for code in codes
}  # fmt: skip
"""How grave a code is: 3 money or cards, 2 play or the record, 0 clocks; every other is 1."""

WORK = ViewTable(
    "finding_work",
    "One row a finding that somebody worked on.",
    2,
    (
        Column("property", "text", "Property of the finding."),
        Column("ref", "text", "What the finding is of, as `ref_of` writes it."),
        Column("holder", "text", "Who has it; null: nobody took it.", null=True),
        Column("given_by", "text", "Who gave it to them; null: they took it.", null=True),
        Column("held_us", "bigint", "Device time of that fact, microseconds.", null=True),
        Column("held_source", "text", "Source of that fact.", null=True),
        Column("held_id", "text", "Id of that fact.", null=True),
        Column("closed", "boolean", "Whether it is closed."),
        Column("outcome", "text", "right, wrong, not_visible, known; null: open.", null=True),
        Column("because", "text", "Why it was closed or reopened.", null=True),
        Column("decided_by", "text", "Who closed or reopened it.", null=True),
        Column("decided_us", "bigint", "Device time of that fact, microseconds.", null=True),
        Column("decided_source", "text", "Source of that fact.", null=True),
        Column("decided_id", "text", "Id of that fact.", null=True),
    ),
    ("(property, decided_us) WHERE closed",),
)

STATE = (
    Column("ref", "text", "What it is of: the key of `finding_work`."),
    Column("name", "text", "Its short name, from property and ref: F-3fa92c10e1."),
    Column("status", "text", "unseen, taken or closed."),
    Column("holder", "text", "Who has it; empty: nobody."),
    Column("outcome", "text", "How it was closed; empty: it is open."),
)
"""The last columns of a table of findings."""

STATE_INDEXES = (
    *("(property, ref)", "(name)"),
    *("(property, table_name, code, time_us)", "(property, time_us)"),
)

_GROUP_KEY = (
    Column("property", "text", "Property of the table."),
    Column("table_name", "text", "Table, e.g. CC-07; empty: the whole floor."),
    Column("code", "text", "Code of the findings, e.g. underpaid."),
    Column("wager", "text", "Wager id; empty: none."),
    Column("hour_us", "bigint", "Beginning of their hour, UTC, microseconds."),
    Column("status", "text", "unseen, taken or closed."),
    Column("holder", "text", "Who has them; empty: nobody."),
    Column("outcome", "text", "How they were closed; empty: they are open."),
)

GROUPS = ViewTable(
    "finding_groups",
    "Findings that are alike: one row a code, table, wager, hour and state.",
    len(_GROUP_KEY),
    (
        *_GROUP_KEY,
        Column("gravity", "smallint", "3 money or cards, 2 play or the record, 1 other, 0 clocks."),
        Column("many", "integer", "Number of findings."),
        Column("priced", "integer", "Those of them that are about money."),
        Column("off", "bigint", "Cents between record and rules of all of them."),
    ),
    (
        (
            "(status DESC, gravity DESC, off DESC, hour_us DESC, property, table_name, code, wager,"
            " holder, outcome)"
        ),
    ),
)

STATES = ViewTable(
    "finding_states",
    "How many findings, and groups of them, are in each state.",
    5,
    (
        *(column for column in _GROUP_KEY if column.name in ("property", "table_name", "code")),
        *(column for column in _GROUP_KEY if column.name in ("status", "holder")),
        Column("many", "integer", "Number of findings."),
        Column("groups", "integer", "Number of their groups."),
        Column("off", "bigint", "Cents between record and rules of all of them."),
    ),
)

TABLES = (WORK, GROUPS, STATES)

_HOLDS: tuple[type[Body], ...] = (FindingTaken, FindingHanded)
_WORK: tuple[type[Body], ...] = (*_HOLDS, FindingClosed, FindingReopened)
NAMES = frozenset(type_name(kind).partition(".")[0] for kind in _WORK)
"""The names of the facts that are work on a finding."""


class FindingWork(Struct):
    """The work on one finding. Times by device clocks; None: not recorded."""

    property: str
    ref: str
    holder: str | None = None
    given_by: str | None = None
    held_us: int | None = None
    held_source: str | None = None
    held_id: str | None = None
    closed: bool = False
    outcome: str | None = None
    because: str | None = None
    decided_by: str | None = None
    decided_us: int | None = None
    decided_source: str | None = None
    decided_id: str | None = None


class FindingState(NamedTuple):
    """The cells of `STATE` of one finding."""

    ref: str
    name: str
    status: str
    holder: str
    outcome: str


def ref_of(finding: FindingRef, property_: str) -> tuple[str, str]:
    """The key of a finding: property and what it is of."""
    round_ = parse_round(finding.round, property_) if finding.round else None
    if round_:
        spot = (finding.position, finding.hand, finding.wager, finding.throw)
        return round_.property, ref_in_round(round_[1:], finding.code, *spot)
    fact = (finding.of.source, finding.of.id) if finding.of else (None, None)
    return property_, ref_at_table(finding.table, finding.gaming_day, finding.code, *fact)


def ref_in_round(
    round_: Sequence[object], code: str, position: object, hand: int | None, *spot: object
) -> str:
    """What a finding of a round is of. round_: table, gaming day, number; spot: wager, throw."""
    return _joined(*round_, code, position, hand or 1, *spot)


def ref_at_table(table: object, gaming_day: object, code: str, *fact: object) -> str:
    """What a finding of no round is of. fact: source and id of the one that completes it."""
    return _joined(table, gaming_day, None, code, *fact)


def name_of(property_: str, ref: str) -> str:
    """The short name of a finding."""
    return f"F-{hashlib.sha256(f'{property_}|{ref}'.encode()).hexdigest()[:10]}"


def _joined(*parts: object) -> str:
    return "|".join("" if part is None else str(part) for part in parts)


class FindingStates:
    """The states of the findings that a batch writes, and what it changes in the counts."""

    def __init__(self, store: ViewStore, share: Share) -> None:
        self._store = store
        self._share = share
        self._deltas: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0, 0])

    def work(self, heard: Iterable[tuple[TapeRow, Fact]], tables: Sequence[ViewTable]) -> None:
        """Apply the work facts of a batch, and give the findings they name their new state."""
        told = [
            (key, fact)
            for row, fact in heard
            if isinstance(fact.body, _WORK)
            for key in [_key(row, fact)]
            if self._owns(*key)
        ]
        if not told:
            return
        kept = self._loaded(key for key, _ in told)
        for key, fact in told:
            _take(kept.setdefault(key, FindingWork(*key)), fact)
        self._store.save(WORK, (astuple(each) for each in kept.values()))
        states = [(key[0], *_state(key, each)) for key, each in kept.items()]
        for table in tables:
            self._restate(table, states)

    def rows(
        self, table: ViewTable, found: Iterable[tuple[tuple[Any, ...], str]]
    ) -> Iterator[tuple[Any, ...]]:
        """Rows to write into a table of findings. found: the cells before a state, and the ref."""
        keyed = [(cells, (cells[0], ref)) for cells, ref in found]
        kept = self._loaded(key for _, key in keyed)
        for cells, key in keyed:
            row = table.row._make((*cells, *_state(key, kept.get(key))))
            self._count(row, 1)
            yield row

    def gone(self, rows: Iterable[Any]) -> None:
        """Rows of a table of findings that the batch deletes, as they stood."""
        for row in rows:
            self._count(row, -1)

    def save(self) -> None:
        """Write the counts; one of nothing is no row."""
        changed = {key: sums for key, sums in self._deltas.items() if any(sums)}
        if not changed:
            return
        kept = self._store.load(GROUPS, changed)
        states: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
        rows = []
        for key, sums in changed.items():
            old = kept.get(key)
            before = (old.many, old.priced, old.off) if old else (0, 0, 0)
            after = [a + b for a, b in zip(before, sums, strict=True)]
            rows.append((*key, GRAVITY.get(key[2], 1), *after))
            state = states[key[0], key[1], key[2], key[5], key[6]]
            state[0] += sums[0]
            state[1] += (after[0] > 0) - (before[0] > 0)
            state[2] += sums[2]
        many = GROUPS.keys + 1
        self._store.save(GROUPS, (row for row in rows if row[many]))
        self._store.delete(GROUPS, [row[: GROUPS.keys] for row in rows if not row[many]])
        self._save_states(states)

    def _save_states(self, deltas: Mapping[tuple[Any, ...], Sequence[int]]) -> None:
        changed = {key: sums for key, sums in deltas.items() if any(sums)}
        kept = self._store.load(STATES, changed)
        rows = []
        for key, sums in changed.items():
            before = kept[key][STATES.keys :] if key in kept else (0, 0, 0)
            rows.append((*key, *(old + new for old, new in zip(before, sums, strict=True))))
        many = STATES.keys
        self._store.save(STATES, (row for row in rows if row[many]))
        self._store.delete(STATES, [row[:many] for row in rows if not row[many]])

    def _owns(self, property_: str, ref: str) -> bool:
        """Whether a finding's row is this process's: a floor's finding is not its table's."""
        table, _, _, code, *_ = ref.split("|", 4)
        return self._share.owns_table(property_, "" if code == supervision.CODE else table)

    def _loaded(self, keys: Iterable[tuple[str, str]]) -> dict[tuple[str, str], FindingWork]:
        rows = self._store.load(WORK, dict.fromkeys(keys))
        return {key: FindingWork(*row) for key, row in rows.items()}

    def _restate(self, table: ViewTable, states: Sequence[tuple[str, ...]]) -> None:
        """Update stored findings in place: their work is no new message of the view."""
        names = ("properties", "refs", "names", "statuses", "holders", "outcomes")
        given = dict(zip(names, map(list, zip(*states, strict=True)), strict=True))
        cells = ", ".join(f"f.{column.read}" for column in table.columns)
        for row in self._store.query(
            f"SELECT {cells} FROM unnest(%(properties)s::text[], %(refs)s::text[])"  # noqa: S608 - our own names
            f" AS w (property, ref) JOIN {{schema}}.{table.name} f USING (property, ref)",
            given,
        ):
            self._count(table.row._make(row), -1)
        for row in self._store.query(
            f"UPDATE {{schema}}.{table.name} f SET status = w.status, holder = w.holder,"  # noqa: S608 - as above
            " outcome = w.outcome FROM unnest(%(properties)s::text[], %(refs)s::text[],"
            " %(statuses)s::text[], %(holders)s::text[], %(outcomes)s::text[])"
            " AS w (property, ref, status, holder, outcome)"
            f" WHERE f.property = w.property AND f.ref = w.ref RETURNING {cells}",
            given,
        ):
            self._count(table.row._make(row), 1)

    def _count(self, row: Any, by: int) -> None:  # noqa: ANN401 - of a table of findings
        off = getattr(row, "off", None)
        key = (
            *(row.property, row.table_name, row.code, getattr(row, "wager", None) or ""),
            *(row.time_us // HOUR_US * HOUR_US, row.status, row.holder, row.outcome),
        )
        for nth, each in enumerate((1, off is not None, off or 0)):
            self._deltas[key][nth] += by * each


def _key(row: TapeRow, fact: Fact) -> tuple[str, str]:
    body: Any = fact.body
    return ref_of(body.finding, row.tape.partition("/")[0])


def _state(key: tuple[str, str], work: FindingWork | None) -> FindingState:
    property_, ref = key
    work = work or FindingWork(*key)
    status = "closed" if work.closed else "taken" if work.holder else "unseen"
    return FindingState(ref, name_of(property_, ref), status, work.holder or "", work.outcome or "")


def _take(work: FindingWork, fact: Fact) -> None:
    """Apply one fact, if it is later than the one that decided so far."""
    body: Any = fact.body
    told = (fact.time_us, fact.source, fact.id)
    if type(body) in _HOLDS:
        if work.held_us is None or told > (work.held_us, work.held_source, work.held_id):
            work.holder = getattr(body, "to", body.by)  # a finding is handed to somebody
            work.given_by = body.by if isinstance(body, FindingHanded) else None
            work.held_us, work.held_source, work.held_id = told
    elif work.decided_us is None or told > (
        work.decided_us, work.decided_source, work.decided_id,
    ):  # fmt: skip
        work.closed = isinstance(body, FindingClosed)
        work.outcome = body.outcome if work.closed else None
        work.because, work.decided_by = body.because, body.by
        work.decided_us, work.decided_source, work.decided_id = told
