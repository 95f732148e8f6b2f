"""Reads rounds for the round page from the views and the footage index, with a cache.

An open page asks for the same round many times. A loaded round is cached under a version that
changes with the round.
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
from infra.postgres.patrons.vault import known_tokens
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
"""The most rounds in the cache; one takes some megabytes."""

NEAR_US = 10 * 60_000_000
"""Segments are first searched within this distance of a round. If none is found, the search covers
every time that a wrong clock or a late report may have given them."""

INCOMPLETE_S = 10
"""Seconds that a round without complete footage is cached: added files change no fact of it."""

_FOUND = ("recorded", "locked", "no_camera_mapped")
_NO_FOOTAGE = FootageFiles({}, frozenset())
_SEATS_MAX = 400  # changes of seats read: more than a table has in a day
_BEFORE = (
    "SELECT gaming_day, number FROM {schema}.rounds WHERE property = %(property)s"
    " AND table_name = %(table)s AND (gaming_day, number) < (%(gaming_day)s, %(number)s)"
    " ORDER BY gaming_day DESC, number DESC LIMIT 1"
)
_AFTER = _BEFORE.replace("<", ">").replace(" DESC", "")


class KeptRound(NamedTuple):
    """A round as the views have it now. version: changes with anything in it."""

    story: Story
    coverage: Coverage
    footage: FootageFiles
    version: str


class Beside(NamedTuple):
    """The previous and next round at a table."""

    before: RoundId | None
    after: RoundId | None


class RoundReader:
    """Reads rounds, and caches the last ones."""

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
                    hint=f"Search the rounds of table {round_.table}.",
                )
            if not parts.case.facts:
                raise NotFound(
                    f"Round {round_.subject} is on record but not ruled on yet",
                    where="the view rulings",
                    hint="Reload the page in a moment: the views are catching up.",
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
        """The previous and next round, by gaming day and number."""
        with reading(self._database, [each.name for each in ROUND_INDEX.tables]) as store:
            before, after = (store.query(query, round_._asdict()) for query in (_BEFORE, _AFTER))
        return Beside(
            *(
                next((round_._replace(gaming_day=day, number=n) for day, n in found), None)
                for found in (before, after)
            )
        )

    def patrons(self, told: KeptRound) -> Mapping[int, str]:
        """The patron token of each position when the round began, from facts of seats.

        The pseudonym of a patron who was erased.
        """
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
        tokens = known_tokens(self._database, holds.values())
        return {position: tokens.get(each, each) for position, each in holds.items()}

    def recorded(self, sha256: str) -> tuple[str, SegmentRecorded] | None:
        """The fact that recorded an indexed segment, with its property; None if there is none."""
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
    """The fact with this hash among the segments in a span of the camera's clock."""
    found = segments_over(store, property_, camera, [over])
    for row in store.rows_at((tape, seq, seq) for _, _, tape, seq in found):
        body = fact_of(row).body
        if isinstance(body, SegmentRecorded) and body.sha256 == sha256:
            return body
    return None


def _version(rows: Sequence[TapeRow], near: list[TapeRow], case: RoundState) -> str:
    """A version that changes with a fact of the round or its cameras, a correction, or the ruling.

    The ruling also depends on other facts, such as Rules Submissions.
    """
    told = [[row.position for row in each] for each in (rows, near)]
    corrections = [(fact.source, fact.id) for fact in case.made]
    return hashlib.sha256(repr((told, corrections, case.text)).encode()).hexdigest()[:16]
