"""What a relay finds where a topic ends, by one record of each partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from consumers.relay.topic_end import Judged, TopicEnd, copies_of, look, marks_of
from consumers.runtime.outbox import StoppedError
from infra.kafka.ports import Bounds, Consumed
from infra.kafka.records import ProducerRecord, digest
from infra.postgres.relay_progress import NO_OFFSET, Mark, StrayCount
from ledger.errors import Refused
from tests.simulation.broker import Taken

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

KINDS = {"o": "own", "c": "copy", "s": "stray", "f": "foreign", "l": "foreign"}
"""A record by its first letter; `l`: foreign, and the record lost it. Its number follows."""


class Topic:
    """Partitions as lists of records; None: an offset without one. A `TopicReader`."""

    def __init__(self, *partitions: Sequence[str | None], begin: int = 0) -> None:
        self._partitions = partitions
        self._begin = begin
        self.read_records = 0

    def bounds(self) -> dict[int, Bounds]:
        ends = (self._begin + len(each) for each in self._partitions)
        return {number: Bounds(self._begin, end) for number, end in enumerate(ends)}

    def read(self, ranges: Mapping[int, Bounds]) -> Iterator[list[Consumed]]:
        for number, span in ranges.items():
            for at in range(span.begin, span.end):
                name = self._partitions[number][at - self._begin]
                if name is not None:
                    self.read_records += 1
                    yield [record(number, at, name)]


def record(partition: int, at: int, name: str) -> Consumed:
    return Consumed(partition, at, b"k", name.encode(), ())


class Stream:
    """A `ComparedTopic` whose records say what they are."""

    topic = "ledger.table-events.v1"
    is_compacted = False

    def __init__(self) -> None:
        self.resumed: list[tuple[dict[int, int], set[int]]] = []

    def judge(self, batch: Sequence[Consumed]) -> list[Judged]:
        names = [(each.value or b"").decode() for each in batch]
        return [Judged(KINDS[name[0]], int(name[1:]), name) for name in names]  # type: ignore[arg-type]

    def follows(self, each: Consumed) -> bool:
        return (each.value or b"").startswith(b"l")

    def resume(
        self, tracked: int, reached: Mapping[int, int], lost: Collection[int], partitions: int
    ) -> int:
        assert reached.keys() <= set(range(partitions))
        self.resumed.append((dict(reached), set(lost)))
        return min([tracked, *reached.values()])


def mark(at: int, name: str, known: int | None = None) -> Mark:
    return Mark(at, digest(b"k", name.encode(), ()), at + 1 if known is None else known)


def seen(
    topic: Topic,
    marks: Mapping[int, Mark],
    stream: Stream | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> TopicEnd:
    return look(topic, stream or Stream(), 9, marks, stop)


def test_a_topic_that_ends_as_it_should_costs_one_record_a_partition() -> None:
    topic, stream = Topic(["o1"] * 500 + ["o9"], ["o2"] * 500 + ["o8"]), Stream()
    marks = {0: mark(500, "o9"), 1: mark(500, "o8")}
    assert seen(topic, marks, stream) == TopicEnd(9, marks, {})
    assert topic.read_records == 2
    assert stream.resumed == [], "and nothing of the record is asked"


def test_copies_that_were_noted_are_not_read_again() -> None:
    topic = Topic(["o9"] + ["c1"] * 600)
    assert seen(topic, {0: mark(0, "o9", 601)}).position == 9
    assert topic.read_records == 1


def test_strays_are_counted_once_and_stop_nobody() -> None:
    topic = Topic(["o9", "s0", "c3", "f12", "s1"])
    found = seen(topic, {0: mark(0, "o9")})
    assert found.position == 9
    assert found.strays == {0: StrayCount(3, 4, "s1")}
    assert seen(topic, found.marks) == found._replace(strays={})


def test_a_fact_that_the_record_lost_stops_the_relay() -> None:
    with pytest.raises(Refused, match="differs from the record") as told:
        seen(Topic(["o9", "s0", "l10"]), {0: mark(0, "o9")})
    assert "partition 0, offset 2" in told.value.where
    assert "relay refill" in told.value.hint


@pytest.mark.parametrize(
    ("records", "reached"),
    [
        (["o3", "o4"], 4),  # shorter
        (["o3", "o4", "s0", "c1", "c2"], 4),  # as long again, by others
        (["o3", "o4", "o3", "o4"], 4),  # by the next relay
        ([], 0),
    ],
)
def test_a_lost_end_is_searched_for_what_is_left(records: list[str], reached: int) -> None:
    stream = Stream()
    found = seen(Topic(records, ["o9"]), {0: mark(3, "o8"), 1: mark(0, "o9")}, stream)
    assert found.position == reached
    assert stream.resumed == [({0: reached}, {0})]
    assert found.marks[0].known == len(records)


@pytest.mark.parametrize(
    ("there", "says", "do"),
    [
        ("f7", "another one", "ROUND_LEDGER_TOPIC_PREFIX"),
        ("l7", "another one", "ROUND_LEDGER_TOPIC_PREFIX"),
        ("s7", "Another program wrote", "who may write"),
        (None, "compacted", "topics check"),
    ],
)
def test_a_topic_whose_last_record_is_none_of_ours_is_named(
    there: str | None, says: str, do: str
) -> None:
    with pytest.raises(Refused, match=says) as told:
        seen(Topic(["o8", there, "o9"]), {0: mark(1, "o9")})
    assert told.value.where.endswith("partition 0, offset 1")
    assert do in told.value.hint
    assert "topics apply" in told.value.hint


def test_a_compacted_topic_may_lack_its_last_record() -> None:
    stream = Stream()
    stream.is_compacted = True
    assert seen(Topic(["o8", None, "o9"]), {0: mark(1, "o9")}, stream).position == 9


def test_what_retention_removed_was_there() -> None:
    assert seen(Topic([], begin=30), {0: mark(7, "o9")}).position == 9
    stream = Stream()
    assert seen(Topic([], begin=30), {}, stream).position == 9
    assert stream.resumed == []


def test_without_marks_the_newest_own_record_is_searched_from_the_end_back() -> None:
    topic = Topic(["o1"] * 20_000 + ["o9"] + ["c1"] * 50 + ["s0"], [])
    found = seen(topic, {})
    assert found.position == 0, "the other one holds nothing"
    assert found.marks == {0: mark(20_000, "o9", 20_052), 1: Mark(NO_OFFSET, b"", 0)}
    assert topic.read_records == 100
    assert found.strays == {0: StrayCount(1, 20_051, "s0")}
    with pytest.raises(Refused, match="differs from the record"):
        seen(Topic(["o9", "f3"]), {})


def test_a_partition_that_held_nothing_of_ours_is_known_by_its_length() -> None:
    empty = Mark(NO_OFFSET, b"", 2)
    stream = Stream()
    assert seen(Topic(["c1", "c2", "c3"]), {0: empty}, stream).position == 9
    assert stream.resumed == []
    assert seen(Topic(["c1"], ["o9"]), {0: empty, 1: mark(0, "o9")}, stream).position == 0
    assert stream.resumed == [({0: 0}, {0})]


def test_a_topic_made_anew_has_lost_all_whatever_is_known_of_it() -> None:
    stream = Stream()
    seen(Topic([], []), {}, stream)
    assert stream.resumed == [({0: 0, 1: 0}, {0, 1})]


def test_a_look_hears_at_every_batch_that_it_is_to_stop() -> None:
    asked: list[int] = []
    topic = Topic(["o9"] + ["s0"] * 100)

    def stop() -> bool:
        asked.append(topic.read_records)
        return len(asked) > 5

    with pytest.raises(StoppedError):
        seen(topic, {0: mark(0, "o9")}, stop=stop)
    assert topic.read_records == 6


def test_the_last_record_of_each_partition_is_kept() -> None:
    sent = [ProducerRecord(b"k", b"%d" % n, []) for n in range(4)]
    taken = [Taken(0, 5), Taken(1, 0), Taken(0, 6), Taken(0, 7)]
    last = Mark(7, digest(b"k", b"3", []), 8)
    assert marks_of(sent, taken) == {0: last, 1: Mark(0, digest(b"k", b"1", []), 1)}
    assert marks_of(sent, [*taken[:3], Taken(0, -1)]) is None


def test_copies_are_known_if_nothing_lies_between_them() -> None:
    taken = [Taken(0, 5), Taken(0, 6), Taken(1, 3), Taken(1, 5), Taken(2, -1)]
    assert copies_of(taken) == {0: (5, 7)}


def test_a_digest_is_of_all_that_a_writer_gave() -> None:
    given = (b"k", b"v", [("a", b"1")])
    others = [
        (b"k", b"v", []),
        (b"k", None, given[2]),
        (b"k", b"", given[2]),
        (b"", b"v", given[2]),
    ]
    assert digest(*given) == digest(b"k", b"v", (("a", b"1"),))
    assert len({digest(*each) for each in [given, *others]}) == 5
