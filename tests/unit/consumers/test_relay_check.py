"""`relay verify` counts exactly what a topic lacks, names the first breaks, and stays small."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import pytest

from consumers.relay.check import BREAKS_MAX, FeedCheck, TapeSeen, compared
from infra.kafka import records, topics
from infra.kafka.ports import Bounds, Consumed
from ledger.record.tape import GENESIS, InQuarantine, TapeRow, chain_hash
from replay.cli.feed.relay import _tell
from tests.simulation.floor import fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from infra.kafka.records import ProducerRecord
    from infra.postgres.relay_progress import RelayStore

TAPE = "p/A"
FACTS = 10_000_000
OCTETS_MAX = 8_000_000
"""A tenth of what a set of so many numbers takes, and less."""


def before(seq: int) -> bytes:
    return hashlib.sha256(b"%d" % seq).digest() if seq > 1 else GENESIS


def row(seq: int) -> TapeRow:
    """A fact of a tape that nobody holds whole."""
    of = fact(TAPE, seq)
    made = TapeRow(
        seq, TAPE, seq, of.type, of.source, of.id, of.time_us, None, 1, of.attributes, of.data, b""
    )
    return made._replace(hash=chain_hash(before(seq), made))


def aside(number: int) -> InQuarantine:
    return InQuarantine(
        number, "quarantined", "not_json", "Not JSON", "$", "Send JSON.", None, None, None,
        b"%d" % number, 1, 0, 0, None, None,
    )  # fmt: skip


class Imagined:
    """A desk of so many facts and so many inputs, all of them published once."""

    def __init__(self, facts: int, inputs: int = 0) -> None:
        self._tracked = {topics.FACTS: facts, topics.QUARANTINE: inputs}

    def tracked(self, topic: str) -> int:
        return self._tracked[topic]

    def heads(self) -> dict[str, int]:
        return {TAPE: self._tracked[topics.FACTS]}

    def newest(self, _tape: str, until: int) -> TapeRow:
        return row(min(until, self._tracked[topics.FACTS]))

    def at(self, _tape: str, seqs: Sequence[int]) -> list[TapeRow]:
        return [row(seq) for seq in seqs]

    def quarantined(self, after: int, _limit: int) -> list[InQuarantine]:
        return [aside(after + 1)]


class Log:
    """One partition."""

    def __init__(self, kept: Iterable[ProducerRecord]) -> None:
        self._kept = [
            Consumed(0, at, each.key, each.value, tuple(each.headers))
            for at, each in enumerate(kept)
        ]

    def bounds(self) -> dict[int, Bounds]:
        return {0: Bounds(0, len(self._kept))}

    def read(self, _ranges: Mapping[int, Bounds]) -> Iterator[list[Consumed]]:
        for at in range(0, len(self._kept), 100):
            yield self._kept[at : at + 100]


def checked(relay_store: Imagined, facts: Iterable[int], inputs: Iterable[int] = ()) -> FeedCheck:
    logs = {
        topics.FACTS: Log(records.of_row(row(seq), before(seq)) for seq in facts),
        topics.QUARANTINE: Log(records.of_quarantined(aside(number)) for number in inputs),
    }

    @contextmanager
    def opened(topic: str) -> Iterator[Log]:
        yield logs[topic]

    return compared(cast("RelayStore", relay_store), opened)


def says(seen: FeedCheck) -> list[str]:
    return [each.says for each in seen.breaks]


@pytest.mark.long
def test_of_millions_that_lack_each_is_counted_and_a_range_of_them_is_one_break() -> None:
    tracemalloc.start()
    try:
        seen = checked(Imagined(FACTS, FACTS), [1, FACTS - 1, 5_000_000], [1, 2, 7_000_000])
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        control = set(range(1_000_000))
        assert tracemalloc.get_traced_memory()[1] - peak > OCTETS_MAX, "a plain set of a tenth"
        del control
    finally:
        tracemalloc.stop()
    assert says(seen) == [
        "Facts 2 to 4,999,999 are missing.",
        "Facts 5,000,001 to 9,999,998 are missing.",
        "Fact 10,000,000 is missing.",
        "Inputs 3 to 6,999,999 are missing.",
        "Inputs 7,000,001 to 10,000,000 are missing.",
    ]
    assert (seen.missing, seen.broken) == (FACTS - 3 + FACTS - 3, 5)
    assert (seen.facts, seen.duplicates, seen.quarantined) == (3, 0, 3)
    assert peak < OCTETS_MAX


def test_of_many_holes_the_first_are_told_and_all_are_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    holes = 3 * BREAKS_MAX
    seen = checked(Imagined(2 * holes + 1), range(1, 2 * holes + 2, 2))
    assert says(seen) == [f"Fact {2 * n:,} is missing." for n in range(1, BREAKS_MAX + 1)]
    assert (seen.missing, seen.broken) == (holes, holes)
    _tell(seen, json=False)
    told = " ".join("".join(capsys.readouterr()).split())
    assert "300 breaks; the first 100 are printed." in told
    assert "Missing facts and inputs: 300." in told


def test_nothing_is_told_of_a_topic_that_lacks_nothing() -> None:
    seen = checked(Imagined(3, 2), [1, 3, 2, 3], [1, 2])
    assert (seen.missing, seen.broken, seen.facts, seen.duplicates) == (0, 0, 3, 1)


def test_every_tape_is_told_with_what_is_on_record_and_on_the_topic(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert checked(Imagined(1), [1, 1]).tapes == [TapeSeen(TAPE, 1, 1, 0, 1, row(1).hash.hex(), 0)]
    seen = checked(Imagined(4), [1, 3])
    assert seen.tapes == [TapeSeen(TAPE, 4, 2, 0, 3, row(3).hash.hex(), 2)]
    assert checked(Imagined(4), []).tapes == [TapeSeen(TAPE, 4, 0, 0, 0, None, 1)]
    _tell(seen, json=True)
    *_, told, total = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert told == seen.tapes[0]._asdict()
    assert (total["facts"], total["missing"]) == (2, 2)
    assert not {"tape", "tapes", "breaks"} & set(total)
    _tell(seen, json=False)
    assert "Tapes that differ" in "".join(capsys.readouterr())
    _tell(checked(Imagined(1), [1]), json=False)
    assert "Tapes" not in "".join(capsys.readouterr()), "only those that do"
