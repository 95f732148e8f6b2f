"""What the round page reads, made from the views and the footage index.

A page that is open asks for the same round many times: what was told is kept for a while, by a
version that changes when the round does, and read anew only where nothing is kept.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from consumers.cameras.cameras import CAMERA_FACTS, OFF_US, rows_about
from consumers.cameras.segments import segments_over
from consumers.rounds.index import ROUND_INDEX
from consumers.rulings.table_context import AROUND_ROUNDS
from infra.postgres.view_tables import reading
from ledger.errors import NotFound
from ledger.facts import SeatLeft, SeatTaken, SegmentRecorded
from ledger.record.wire import fact_of
from replay.cameras.coverage import coverage
from replay.footage.library.files import FootageFiles
from replay.rounds.reading import STORY_TABLES, parts_of, tell_round

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from consumers.rulings.round_state import RoundState
    from infra.postgres.connection import Database
    from infra.postgres.view_tables import ViewStore
    from ledger.record.tape import TapeRow
    from ledger.values import RoundId
    from replay.cameras.coverage import Coverage
    from replay.footage.library.index import FootageIndex
    from replay.rounds.story import Story

KEPT_MAX = 32
"""Rounds kept told; one takes some megabytes."""

NEAR_US = 10 * 60_000_000
"""Segments are looked for this near to a round first, by what they show; where nothing is found so
near, they are looked for wherever a clock that is off and a late report may have put them."""

INCOMPLETE_S = 10
"""How long a round is kept that lacks footage, seconds: files are added without a fact of the
round, and what is added is to be seen."""

_FOUND = ("recorded", "locked", "no_camera_mapped")
_NO_FOOTAGE = FootageFiles({}, frozenset())
_SEATS_MAX = 400  # changes of seats looked at: more than a table has in a day
_BEFORE = (
    "SELECT gaming_day, number FROM {schema}.rounds WHERE property = %(property)s"
    " AND table_name = %(table)s AND (gaming_day, number) < (%(gaming_day)s, %(number)s)"
    " ORDER BY gaming_day DESC, number DESC LIMIT 1"
)
_AFTER = _BEFORE.replace("<", ">").replace(" DESC", "")


class KeptRound(NamedTuple):
    """A round as the views have it now. version: changes when anything in it does."""

    story: Story
    coverage: Coverage
    footage: FootageFiles
    version: str


class Beside(NamedTuple):
    """The rounds before and after one at its table."""

    before: RoundId | None
    after: RoundId | None


class RoundReader:
    """Reads rounds, and keeps what it read last."""

    def __init__(self, database: Database, library: FootageIndex) -> None:
        self._database, self._library = database, library
        self._lock = Lock()
        self._kept: OrderedDict[RoundId, tuple[KeptRound, float]] = OrderedDict()
        self._segments: dict[str, tuple[str, SegmentRecorded]] = {}

    def told(self, round_: RoundId) -> KeptRound:
        """The round as the views have it. Raises NotFound."""
        with reading(self._database, STORY_TABLES) as store:
            parts = parts_of(store, round_)
            if not parts.rows:
                raise NotFound(
                    f"No fact of round {round_.subject} is on record",
                    where="the rounds",
                    hint=f"Look for it among those of table {round_.table}.",
                )
            if not parts.case.facts:
                raise NotFound(
                    f"Round {round_.subject} is on record and not ruled on yet",
                    where="the view rulings",
                    hint="Load the page anew in a moment: the views are being brought along.",
                )
            times = [row.time_us for row in parts.rows]
            of = (round_.property, round_.table, min(times), max(times))
            near = rows_about(store, *of, near_us=NEAR_US)
            version = _version(parts.rows, near, parts.case)
            kept = self._get(round_, version)
            if kept:
                return kept
            ruling = parts.ruling()
            told = tell_round(parts, ruling, near, self._library)
            if not _whole(told.story):
                told = tell_round(parts, ruling, rows_about(store, *of), self._library)
        covered = coverage(map(fact_of, told.camera_rows))
        return self._keep(
            round_, KeptRound(told.story, covered, told.footage or _NO_FOOTAGE, version)
        )

    def beside(self, round_: RoundId) -> Beside:
        """The rounds before and after, by gaming day and number."""
        with reading(self._database, [each.name for each in ROUND_INDEX.tables]) as store:
            before, after = (store.query(query, round_._asdict()) for query in (_BEFORE, _AFTER))
        return Beside(
            *(
                next((round_._replace(gaming_day=day, number=n) for day, n in found), None)
                for found in (before, after)
            )
        )

    def patrons(self, told: KeptRound) -> Mapping[int, str]:
        """Tokens of those who held positions as the round began, by the facts of seats."""
        round_, began = told.story.round, told.story.facts[0].time_us
        with reading(self._database, [AROUND_ROUNDS.name]) as store:
            found = store.query(
                "SELECT tape, table_seq FROM {schema}.ruling_around WHERE property = %(property)s"
                " AND table_name = %(table)s AND kind IN ('taken', 'left')"
                " AND time_us BETWEEN %(began)s - 86400000000 AND %(began)s"
                " ORDER BY time_us DESC, position DESC LIMIT %(most)s",
                {
                    "property": round_.property, "table": round_.table,
                    "began": began, "most": _SEATS_MAX,
                },
            )  # fmt: skip
            rows = {
                (row.tape, row.table_seq): row
                for row in store.rows_at((tape, seq, seq) for tape, seq in found)
            }
        holds: dict[int, str] = {}
        for tape, seq in reversed(found):
            body = fact_of(rows[tape, seq]).body
            if isinstance(body, SeatTaken):
                holds |= dict.fromkeys(body.positions, body.patron or "no token")
            elif isinstance(body, SeatLeft):
                for position in body.positions:
                    holds.pop(position, None)
        return holds

    def recorded(self, sha256: str) -> tuple[str, SegmentRecorded] | None:
        """The fact that recorded a segment which the index has; None where no fact did."""
        if sha256 in self._segments:
            return self._segments[sha256]
        entry = self._library.entry(sha256)
        if entry is None:
            return None
        with reading(self._database, [CAMERA_FACTS.name]) as store:
            for around_us in (0, OFF_US):
                over = (entry.start_us - around_us, entry.end_us + around_us)
                found = _segment(store, entry.property, entry.camera, sha256, over)
                if found:
                    self._segments[sha256] = (entry.property, found)
                    return self._segments[sha256]
        return None

    def _get(self, round_: RoundId, version: str) -> KeptRound | None:
        with self._lock:
            told, until = self._kept.get(round_, (None, 0.0))
            if told is None or told.version != version or until < time.monotonic():
                return None
            self._kept.move_to_end(round_)
            return told

    def _keep(self, round_: RoundId, told: KeptRound) -> KeptRound:
        until = math.inf if _whole(told.story) else time.monotonic() + INCOMPLETE_S
        with self._lock:
            self._kept[round_] = (told, until)
            self._kept.move_to_end(round_)
            while len(self._kept) > KEPT_MAX:
                self._kept.popitem(last=False)
        return told


def _whole(told: Story) -> bool:
    """Whether every camera has footage of every fact."""
    return all(sight.state in _FOUND for seen in told.seen for sight in seen.sights)


def _segment(
    store: ViewStore, property_: str, camera: str, sha256: str, over: tuple[int, int]
) -> SegmentRecorded | None:
    """The fact of a segment over a stretch of its camera's clock that has this hash."""
    found = segments_over(store, property_, camera, [over])
    for row in store.rows_at((tape, seq, seq) for _, _, tape, seq in found):
        body = fact_of(row).body
        if isinstance(body, SegmentRecorded) and body.sha256 == sha256:
            return body
    return None


def _version(rows: Sequence[TapeRow], near: list[TapeRow], case: RoundState) -> str:
    """What changes when a fact of the round, of its cameras or a correction is added.

    And when its ruling does: that rests on more, as on what the office files.
    """
    told = [[row.position for row in each] for each in (rows, near)]
    corrections = [(fact.source, fact.id) for fact in case.made]
    return hashlib.sha256(repr((told, corrections, case.text)).encode()).hexdigest()[:16]
