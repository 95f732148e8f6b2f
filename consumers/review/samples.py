"""Control samples: rounds that are reviewed blind, the work on each, and candidates."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, NamedTuple

from consumers.review.desk import SAMPLES
from consumers.review.queue import Queued
from consumers.rulings.error_counts import TABLES as COUNTED
from consumers.rulings.error_counts import kept_rounds
from consumers.rulings.finding_work import WORK, name_of, ref_of
from consumers.rulings.tables import FINDINGS, RULINGS
from infra.postgres.view_tables import reading
from ledger.facts import FindingRef
from ledger.values import RoundId

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore

SAMPLED = "control_sample"
"""The code under which work on a round of a sample is recorded; no ruling has it."""

SAYS = "Watch this round, then say whether it was played and paid right."
"""What is shown of a round of a sample until it is closed."""

GRAVITY = 2

CLOSED_MAX = 100
"""The most closed rounds of samples that are listed; later ones are in the results only."""

_TABLES = (SAMPLES.name, WORK.name, RULINGS.name, FINDINGS.name)


class SampledRound(NamedTuple):
    """A round of a sample with the work on it."""

    held_at: str
    sample: str
    property: str
    table: str
    gaming_day: str
    number: int
    control: bool  # the ledger had no finding as it was drawn
    shift: str
    seed: str
    drawn_by: str
    drawn_us: int
    holder: str | None
    given_by: str | None
    closed: bool
    outcome: str | None
    because: str | None
    decided_by: str | None
    decided_us: int | None
    last_us: int | None  # of its last fact
    says: str | None  # what the ledger found

    @builtins.property  # `property` is a field here
    def round(self) -> RoundId:
        """The round."""
        return RoundId(self.property, self.table, self.gaming_day, self.number)

    @builtins.property
    def queued(self) -> Queued:
        """It as an item of the queue. Until it is closed, it says nothing of what was found."""
        ref = FindingRef(code=SAMPLED, round=str(self.round))
        found = self.says or "nothing"
        status = "closed" if self.closed else "taken" if self.holder else "unseen"
        return Queued(
            name_of(*ref_of(ref, self.property)), *self.round, SAMPLED, None, None, None, None,
            None, self.last_us or self.drawn_us,
            f"The ledger found: {found}" if self.closed else SAYS,
            None, None, GRAVITY, status, self.holder, self.given_by, self.outcome, self.because,
            self.decided_by, self.decided_us,
        )  # fmt: skip


class Candidates(NamedTuple):
    """The rounds of a shift that a sample can have."""

    clean: Sequence[RoundId]  # without a finding
    found: Sequence[RoundId]  # with a finding that nobody has taken


def open_rounds(database: Database) -> list[SampledRound]:
    """The rounds of all samples that nobody has closed; each once, in an order by name."""
    with reading(database, _TABLES) as store:
        rows = _read(store, "NOT coalesce(w.closed, false)")
    return sorted({each.round: each for each in rows}.values(), key=lambda each: each.queued.name)


def closed_rounds(database: Database) -> list[SampledRound]:
    """The rounds of samples that were closed last, the newest first."""
    with reading(database, _TABLES) as store:
        rows = _read(store, "w.closed ORDER BY w.decided_us DESC LIMIT %(many)s", many=CLOSED_MAX)
    return [*{each.round: each for each in rows}.values()]


def all_rounds(database: Database) -> list[SampledRound]:
    """The rounds of every sample, the newest sample first."""
    with reading(database, _TABLES) as store:
        return _read(store, "true ORDER BY s.drawn_us DESC, s.held_at, s.sample")


def candidates(
    database: Database, property_: str, gaming_day: str, shift: str | None, sample: str
) -> Candidates:
    """The closed rounds of a gaming day, or of one shift of it, that no other sample has."""
    with reading(database, (*_TABLES, *(table.name for table in COUNTED))) as store:
        rows = store.query(
            _CANDIDATES, {"property": property_, "day": gaming_day, "sample": sample}
        )
        found = {RoundId(property_, table, gaming_day, nr): has for table, nr, has in rows}
        if shift is not None:
            found = {each: found[each] for each in _of_shift(store, [*found], shift)}
    return Candidates(
        [each for each, has in found.items() if has == 0],
        [each for each, has in found.items() if has == 1],
    )


def _of_shift(store: ViewStore, rounds: Sequence[RoundId], shift: str) -> list[RoundId]:
    """The rounds that ended in a shift of their table."""
    kept, marks = kept_rounds(store, rounds)
    return [
        each.round
        for each in kept
        if marks[each.round[:2]].shift(each.round.gaming_day, each.times[1]) == shift
    ]


def _read(store: ViewStore, which: str, **given: object) -> list[SampledRound]:
    return [SampledRound(*row) for row in store.query(f"{_ROUNDS} WHERE {which}", given)]


_ROUNDS = f"""
SELECT s.held_at, s.sample, s.property, s.table_name, s.gaming_day, s.number, s.control, s.shift,
       s.seed, s.drawn_by, s.drawn_us, w.holder, w.given_by, coalesce(w.closed, false), w.outcome,
       w.because, w.decided_by, w.decided_us, r.last_us,
       (SELECT string_agg(f.says, ' ' ORDER BY f.nth) FROM {{schema}}.{FINDINGS.name} f
         WHERE w.closed AND (f.property, f.table_name, f.gaming_day, f.number)
                          = (s.property, s.table_name, s.gaming_day, s.number))
  FROM {{schema}}.{SAMPLES.name} s
  LEFT JOIN {{schema}}.{WORK.name} w ON w.property = s.property
   AND w.ref = concat_ws('|', s.table_name, s.gaming_day, s.number, '{SAMPLED}', '', 1, '', '')
  LEFT JOIN {{schema}}.{RULINGS.name} r
    ON (r.property, r.table_name, r.gaming_day, r.number)
     = (s.property, s.table_name, s.gaming_day, s.number)
"""  # noqa: S608 - our own names

_CANDIDATES = f"""
SELECT r.table_name, r.number,
       CASE WHEN r.findings = 0 THEN 0
            WHEN EXISTS (SELECT FROM {{schema}}.{FINDINGS.name} f
                          WHERE (f.property, f.table_name, f.gaming_day, f.number)
                              = (r.property, r.table_name, r.gaming_day, r.number)
                            AND f.status = 'unseen') THEN 1 ELSE 2 END
  FROM {{schema}}.{RULINGS.name} r
 WHERE r.property = %(property)s AND r.gaming_day = %(day)s AND r.closed AND r.version > 0
   AND NOT EXISTS (SELECT FROM {{schema}}.{SAMPLES.name} s
                    WHERE (s.property, s.table_name, s.gaming_day, s.number)
                        = (r.property, r.table_name, r.gaming_day, r.number)
                      AND s.sample <> %(sample)s)
 ORDER BY r.table_name, r.number
"""  # noqa: S608 - our own names
