"""Which rounds a dossier would tell anything of: its own, and those whose facts go along.

Asked before it is made, for who may not know of all of them yet (ADR 0132). Nothing is put on
record here.
"""

from collections.abc import Iterable, Iterator

from consumers.cameras.cameras import CAMERA_FACTS, OFF_US
from consumers.disputes import disputes
from consumers.rounds.index import ROUND_INDEX
from consumers.rulings.tables import CORRECTIONS
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from infra.postgres.view_tables import Store, reading
from ledger.facts import FootageLocked, FootageReleased
from ledger.record.tape import TapeRow
from ledger.record.wire import fact_of
from ledger.values import RoundId, parse_subject, parse_time
from replay.checker.window import span_of
from replay.disputes.preserved_windows import named_by
from replay.dossier.gathering.evidence import (
    LOCKS,
    Wanted,
    around,
    custody,
    going_out,
    stretches_of,
)
from replay.dossier.gathering.found import Found

_TABLES = [
    *(CAMERA_FACTS.name, disputes.DISPUTES.name, CORRECTIONS.name),
    *(table.name for table in ROUND_INDEX.tables),
]


def rounds_told(base: Database, found: Found, wanted: Wanted) -> list[RoundId]:
    """The rounds that facts of a dossier are of, or of whose disputes they speak, each once."""
    whole, _ = going_out(found, wanted.pre_s, wanted.post_s)
    with (
        PostgresTape(base) as tape,
        reading(base, _TABLES) as store,
    ):
        between, _ = around(tape, found.rows, stretches_of(found.rows))
        others = [*wanted.case_rows, *found.locks, *custody(store, found.place, whole)]
        rows = {*found.rows, *between, *others}
        return sorted(
            {story.round for story in found.stories}
            | set(_rounds(rows))
            | set(_disputed(store, found.place, rows))
            | set(_kept(store, found.place, rows))
            | set(_corrected(store, rows))
        )


def _rounds(rows: Iterable[TapeRow]) -> Iterator[RoundId]:
    """Those that are the subject of a row."""
    for row in rows:
        round_ = parse_subject(row.subject or "", row.tape.partition("/")[0])
        if round_:
            yield round_


def _disputed(store: Store, place: str, rows: Iterable[TapeRow]) -> Iterator[RoundId]:
    """Those of the disputes that a row names: why footage was kept for one may tell its claim."""
    names = {getattr(fact_of(row).body, "dispute", None) for row in rows}
    for name in sorted(each for each in names if each):
        yield from (each.round for each in disputes.named(store, name, place) if each.round)


def _kept(store: Store, place: str, rows: Iterable[TapeRow]) -> Iterator[RoundId]:
    """Those in the time of which footage was kept or let go without a dispute: why may tell."""
    for row in rows:
        body = fact_of(row).body if row.type in LOCKS else None
        if not isinstance(body, FootageLocked | FootageReleased) or body.dispute:
            continue
        times = [parse_time(each) or 0 for each in (body.from_, body.to)]
        span = span_of(named_by(row.id) or body.window or "")
        from_us, to_us = span or (times[0] - OFF_US, times[1] + OFF_US)
        told = store.query(
            "SELECT property, table_name, gaming_day, number FROM {schema}.rounds"
            " WHERE property = %(place)s AND began_us <= %(to)s"
            " AND coalesce(ended_us, %(from)s) >= %(from)s",
            {"place": place, "from": from_us, "to": to_us},
        )
        yield from (RoundId(*each) for each in told)


def _corrected(store: Store, rows: Iterable[TapeRow]) -> Iterator[RoundId]:
    """Those whose facts a row corrects."""
    found = store.query(
        f"SELECT c.round, c.tape FROM {{schema}}.{CORRECTIONS.name} c"  # noqa: S608 - our own name
        " JOIN unnest(%(tapes)s::text[], %(numbers)s::bigint[]) AS u (tape, table_seq)"
        " USING (tape, table_seq) WHERE c.round IS NOT NULL",
        {"tapes": [row.tape for row in rows], "numbers": [row.table_seq for row in rows]},
    )
    for name, tape in found:
        property_, _, subject = name.rpartition(":")
        round_ = parse_subject(subject, property_ or tape.partition("/")[0])
        if round_:
            yield round_
