"""Reading for one of several processes that divide a view: the tape leaves out others' facts.

A share hears the facts about its tables, on any tape, and those that cross tables. So a fact on
another share's tape is left out if it surely is about its own place alone (ADR 0208). The view then
chooses among the facts that were read, as it does where a source leaves out none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from consumers.runtime.source import Batch, name_of, next_batch
from infra.postgres.tape import Others
from ledger.record import kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from consumers.runtime.source import Crossing, Projection, RecordSource, Share

_NAMING = frozenset(
    kind.type for kind in kinds.KINDS.values() if kind.names_table or kind.names_round
)
"""Types of facts whose data may name a table."""

_WORDS = ('"table"', '"round"', "\\")  # a name may be written with an escape


class ShareReader:
    """Reads for one share of a view, which begins with the first fact of the record."""

    def __init__(
        self,
        source: RecordSource,
        projection: Projection,
        share: Share,
        tapes: Iterable[str] = (),
    ) -> None:
        """tapes: those that are on record, of any share."""
        self._source = source
        self._projection = projection
        self._share = share
        crossing = projection.crossing
        self._others = _others(crossing, share, tapes) if crossing else None

    def read(self, after: int, limit: int, until: int) -> Batch | None:
        """What the share may hear of the next rows up to `until`; None: there are none yet."""
        while True:
            skipped = self._projection.skipped
            batch = next_batch(self._source, after, limit, skipped, self._others)
            if batch is None:
                return None
            rows = [row for row in batch.rows if row.position <= until]
            its = Batch(rows, share=self._share, reached=min(batch.position, until))
            self._projection.require_read(its)
            if not self._to_follow(its):
                return its

    def _to_follow(self, batch: Batch) -> bool:
        """Whether the batch must be read again, since devices of other tapes name a table."""
        crossing, others = self._projection.crossing, self._others
        if crossing is None or crossing.devices is None or others is None:
            return False
        new = crossing.devices(batch) - set(others.sources)
        if not new:
            return False
        self._others = others._replace(sources=[*others.sources, *sorted(new)])
        return True


def _others(crossing: Crossing, share: Share, tapes: Iterable[str]) -> Others:
    """What is left out of other shares' tapes."""
    plain = [t for t in kinds.KINDS if name_of(t) not in crossing.names]
    keyed, key = crossing.keyed or (None, "")
    worded = [t for t in plain if t in _NAMING or name_of(t) == keyed]
    words = [word.encode() for word in (*_WORDS, key) if word]
    return Others([each for each in tapes if not share.owns(each)], plain, worded, words)
