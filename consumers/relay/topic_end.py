"""The end of a topic: what the relay decides on before it publishes.

The relay keeps the offset and digest of the last record that brokers acknowledged, by partition.
It looks at that one record, and at those after it, which are few. A search of the partition is
needed only if the record is gone, or if none was ever kept (ADR 0164).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from consumers.runtime.outbox import StoppedError
from infra.kafka.ports import Bounds
from infra.kafka.records import digest
from infra.postgres.relay_progress import NO_OFFSET, Mark, StrayCount
from ledger.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from infra.kafka.ports import Acknowledged, Consumed, TopicReader
    from infra.kafka.records import ProducerRecord

_BACK = (0, 1, 100, 10_000, 2**62)
"""How far back from the end a search goes, step by step."""


class Judged(NamedTuple):
    """What a record on a topic is."""

    kind: Literal["own", "copy", "stray", "foreign"]
    number: int = 0  # the one that tracking counts, as the record claims it; 0: it claims none
    says: str = ""  # of a stray: why it is none of ours


class ComparedTopic(Protocol):
    """One topic, and what the record holds of it."""

    topic: str
    is_compacted: bool

    def judge(self, batch: Sequence[Consumed]) -> list[Judged]:
        """What each record is.

        own: the record of PostgreSQL holds it. copy: the same, published again on demand. stray:
        it cannot be a record of a relay. foreign: it is one, of another record or of this one
        before that lost its end.
        """

    def follows(self, each: Consumed) -> bool:
        """Whether a foreign record goes on from this record: it was written before that lost it."""

    def resume(
        self, tracked: int, reached: Mapping[int, int], lost: Collection[int], partitions: int
    ) -> int:
        """The number to resume after.

        reached: the number of the newest own record, of each partition that had to be searched.
        lost: those that certainly lost records.
        """


class TopicEnd(NamedTuple):
    """What a look has found."""

    position: int  # the number to resume after
    marks: dict[int, Mark]  # of every partition, as they are now
    strays: dict[int, StrayCount]  # by partition


def marks_of(
    sent: Sequence[ProducerRecord], taken: Sequence[Acknowledged]
) -> dict[int, Mark] | None:
    """The last record of each partition; None if a broker did not report an offset."""
    last = {at.partition: (at.offset, record) for record, at in zip(sent, taken, strict=False)}
    if any(offset < 0 for offset, _ in last.values()):
        return None
    return {
        number: Mark(offset, digest(*record), offset + 1)
        for number, (offset, record) in last.items()
    }


def copies_of(taken: Sequence[Acknowledged]) -> dict[int, tuple[int, int]]:
    """By partition, the offsets from the first up to after the last; none if others lie between."""
    offsets: defaultdict[int, list[int]] = defaultdict(list)
    for at in taken:
        offsets[at.partition].append(at.offset)
    return {
        number: (min(every), max(every) + 1)
        for number, every in offsets.items()
        if min(every) >= 0 and max(every) - min(every) + 1 == len(every)
    }


def look(
    source: TopicReader,
    stream: ComparedTopic,
    tracked: int,
    marks: Mapping[int, Mark],
    stop: Callable[[], bool],
) -> TopicEnd:
    """Compare a topic with what brokers acknowledged.

    Raises `Refused` if topic and record are not one history, `StoppedError` if `stop` is true.
    """
    return _Look(source, stream, tracked, marks, stop).run()


def fitting(
    source: TopicReader, bounds: Mapping[int, Bounds], marks: Mapping[int, Mark]
) -> set[int]:
    """The partitions that hold their last acknowledged record still."""
    ones = {
        number: Bounds(mark.offset, mark.offset + 1)
        for number, mark in marks.items()
        if number in bounds and bounds[number].begin <= mark.offset < bounds[number].end
    }
    return {
        each.partition
        for batch in source.read(ones)
        for each in batch
        if digest(each.key, each.value, each.headers) == marks[each.partition].digest
    }


class _Look:
    def __init__(
        self,
        source: TopicReader,
        stream: ComparedTopic,
        tracked: int,
        marks: Mapping[int, Mark],
        stop: Callable[[], bool],
    ) -> None:
        self._source = source
        self._stream = stream
        self._tracked = tracked
        self._bounds = source.bounds()
        self._marks = {n: each for n, each in marks.items() if n in self._bounds}
        self._stop = stop
        self._strays: dict[int, StrayCount] = {}

    def run(self) -> TopicEnd:
        lost = {number for number in self._marks if self._has_lost_end(number)}
        lost |= self._replaced([*self._marks.keys() - lost])
        if self._tracked > 0 and not any(span.end for span in self._bounds.values()):
            lost = set(self._bounds)  # the topic was recreated
        fitting = self._marks.keys() - lost
        self._pass_over(fitting)
        found = self._search(self._bounds.keys() - fitting)
        reached = {
            number: last.number if last else 0
            for number, (_, last) in found.items()
            if last or not self._bounds[number].begin  # retention removed records that were there
        }
        position = self._tracked
        if reached:
            count = len(self._bounds)
            position = self._stream.resume(self._tracked, reached, lost & reached.keys(), count)
        marks = {n: self._marks[n]._replace(known=self._bounds[n].end) for n in fitting}
        return TopicEnd(position, marks | {n: mark for n, (mark, _) in found.items()}, self._strays)

    def _has_lost_end(self, number: int) -> bool:
        """Whether the partition ends before its last record, or lost all that was known of it."""
        mark, end = self._marks[number], self._bounds[number].end
        return end < mark.known if mark.offset == NO_OFFSET else end <= mark.offset

    def _replaced(self, numbers: Sequence[int]) -> set[int]:
        """The partitions whose last record is another one of ours now: they lost their end.

        Raises `Refused` if it is none of ours, or is missing.
        """
        ones = {
            number: Bounds(at, at + 1)
            for number in numbers
            if (at := self._marks[number].offset) >= self._bounds[number].begin
        }
        found = {each.partition: each for batch in self._read(ones) for each in batch}
        if ones.keys() - found and not self._stream.is_compacted:
            number = min(ones.keys() - found)
            raise _refused("compacted", self._stream.topic, number, ones[number].begin)
        other = [
            each
            for number, each in found.items()
            if digest(each.key, each.value, each.headers) != self._marks[number].digest
        ]
        for each, judged in zip(other, self._stream.judge(other), strict=True):
            if judged.kind == "stray":
                raise _refused("written", self._stream.topic, each.partition, each.offset)
            if judged.kind == "foreign":
                raise _refused("other", self._stream.topic, each.partition, each.offset)
        return {each.partition for each in other}

    def _pass_over(self, numbers: Collection[int]) -> None:
        """Look at what came after the last records. Raises `Refused` for facts the record lost."""
        spans = {
            number: Bounds(max(self._marks[number].known, span.begin), span.end)
            for number, span in self._bounds.items()
            if number in numbers
        }
        for batch in self._read(spans):
            for each, judged in zip(batch, self._stream.judge(batch), strict=True):
                if judged.kind == "foreign" and self._stream.follows(each):
                    raise contradiction(self._stream.topic, each)
                if judged.kind in ("stray", "foreign"):
                    self._stray(each, judged.says)

    def _search(self, numbers: Collection[int]) -> dict[int, tuple[Mark, Judged | None]]:
        """The newest own record of each partition, from the end back.

        Raises `Refused` for a foreign one on the way: nothing proves where it came from.
        """
        last: dict[int, tuple[Consumed, Judged]] = {}
        for near, far in itertools.pairwise(_BACK):
            spans = {
                n: Bounds(max(span.begin, span.end - far), max(span.begin, span.end - near))
                for n in numbers
                if n not in last and (span := self._bounds[n])
            }
            for batch in self._read(spans):
                for each, judged in zip(batch, self._stream.judge(batch), strict=True):
                    if judged.kind == "own":
                        last[each.partition] = each, judged
                    elif judged.kind == "stray":
                        self._stray(each, judged.says)
                    elif judged.kind == "foreign":
                        raise contradiction(self._stream.topic, each)
        return {number: self._found(number, last.get(number)) for number in numbers}

    def _found(
        self, number: int, last: tuple[Consumed, Judged] | None
    ) -> tuple[Mark, Judged | None]:
        end = self._bounds[number].end
        if last is None:
            return Mark(NO_OFFSET, b"", end), None
        each, judged = last
        return Mark(each.offset, digest(each.key, each.value, each.headers), end), judged

    def _read(self, spans: Mapping[int, Bounds]) -> Iterator[list[Consumed]]:
        """The records of these spans; `stop` is asked at every batch, which is a sign of life."""
        if not any(span.begin < span.end for span in spans.values()):
            return
        for batch in self._source.read(spans):
            if self._stop():
                raise StoppedError(self._stream.topic)
            if batch:
                yield batch

    def _stray(self, each: Consumed, says: str) -> None:
        before = self._strays.get(each.partition, StrayCount(0, -1, ""))
        newest = max((before.last_offset, before.says), (each.offset, says))
        self._strays[each.partition] = StrayCount(before.times + 1, *newest)


def contradiction(topic: str, at: Consumed) -> Refused:
    """The error if topic and record are not one history. Publishing would make it worse."""
    return Refused(
        "The topic holds a record that differs from the record of PostgreSQL",
        where=f"{topic}, partition {at.partition}, offset {at.offset}",
        hint="Nothing was published. If the record lost its end, append nothing and run"
        " `round-ledger relay refill`; see /docs/runbook/failover.html. If this is another ledger's"
        " topic, correct ROUND_LEDGER_KAFKA_BOOTSTRAP or ROUND_LEDGER_TOPIC_PREFIX.",
    )


_MAKE_ANEW = "delete the topic, run `round-ledger topics apply`, start the relay."
_WRONG = {
    "other": (
        "The topic is another one: its last acknowledged record is one of another ledger now",
        f"Check ROUND_LEDGER_KAFKA_BOOTSTRAP and ROUND_LEDGER_TOPIC_PREFIX. Else {_MAKE_ANEW}",
    ),
    "compacted": (
        "The topic was compacted: its last acknowledged record is gone, later ones are there",
        f"`round-ledger topics check` names the setting. Then {_MAKE_ANEW}",
    ),
    "written": (
        "Another program wrote to the topic: its last acknowledged record is none of ours now",
        f"Check who may write to the topic. Then {_MAKE_ANEW}",
    ),
}
"""What a topic is whose last acknowledged record is another one, and what repairs it."""


def _refused(what: str, topic: str, partition: int, offset: int) -> Refused:
    says, hint = _WRONG[what]
    return Refused(says, where=f"{topic}, partition {partition}, offset {offset}", hint=hint)
