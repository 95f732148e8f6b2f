"""Partitions put together by position: in order, once each, whatever order they come in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kafka import merging
from infra.kafka.merging import Figures, Merge, Poison
from infra.kafka.records import partition_of
from ledger.record.tape import TapeRow

if TYPE_CHECKING:
    from collections.abc import Sequence

PARTS = 3
TAPES = ("p/A", "p/B", "p/cage", "p/office")
PLACE = {tape: partition_of(tape.encode(), PARTS) for tape in TAPES}


def rows_of(tapes: Sequence[str]) -> list[TapeRow]:
    seqs = dict.fromkeys(TAPES, 0)
    made = []
    for position, tape in enumerate(tapes, 1):
        seqs[tape] += 1
        row = TapeRow(
            position, tape, seqs[tape], "t.v1", "/p/A/d", f"{position}", 0, None, 0, b"", b"{}", b""
        )
        made.append(row)
    return made


def begun(figures: Figures | None = None) -> Merge:
    return Merge(0, dict.fromkeys(range(PARTS), 0), figures or Figures())


def drained(merge: Merge, record: Sequence[TapeRow], limit: int) -> list[TapeRow]:
    """All there is, holes read from the record as the source does once every end was passed."""
    taken: list[TapeRow] = []
    while merge.delivered < len(record):
        rows = merge.take(limit)
        if not rows:
            upto = merge.lowest - 1 if merge.lowest else len(record)
            merge.fill_gap(record[merge.delivered : min(upto, merge.delivered + limit)], PARTS)
        taken += rows
    return taken


@settings(max_examples=150)
@given(
    tapes=st.lists(st.sampled_from(TAPES), min_size=1, max_size=40),
    chance=st.randoms(use_true_random=False),
    limit=st.integers(1, 9),
    drops=st.floats(0, 0.4),
    repeats=st.floats(0, 0.4),
)
def test_whatever_is_dropped_repeated_or_swapped_every_fact_comes_once_and_in_order(
    tapes: list[str], chance: object, limit: int, drops: float, repeats: float
) -> None:
    record = rows_of(tapes)
    sent = [row for row in record if chance.random() >= drops]  # type: ignore[attr-defined]
    again = [row for row in sent if chance.random() < repeats]  # type: ignore[attr-defined]
    fed = sent + again
    chance.shuffle(fed)  # type: ignore[attr-defined]
    figures = Figures()
    merge = begun(figures)
    offsets = dict.fromkeys(range(PARTS), 0)
    taken: list[TapeRow] = []
    for row in fed:
        part = PLACE[row.tape]
        merge.put(part, offsets[part], row)
        offsets[part] += 1
        if chance.random() < 0.3:  # type: ignore[attr-defined]
            taken += merge.take(limit)
    taken += drained(merge, record, limit)
    assert taken == record
    assert figures.duplicates == len(again)
    assert figures.healed == len(record) - len(sent)
    assert merge.places(len(record)) == offsets


@given(
    tapes=st.lists(st.sampled_from(TAPES), min_size=1, max_size=30),
    cut=st.integers(0, 30),
    chance=st.randoms(use_true_random=False),
)
def test_from_the_places_told_nothing_that_was_not_taken_is_passed_over(
    tapes: list[str], cut: int, chance: object
) -> None:
    """A process that dies after a commit and begins at its places finds every fact it lacks."""
    record = rows_of(tapes)
    parts: dict[int, list[TapeRow]] = {number: [] for number in range(PARTS)}
    for row in record:
        parts[PLACE[row.tape]].append(row)
    merge = begun()
    at = dict.fromkeys(parts, 0)
    for _ in range(cut):
        ready = [number for number in parts if at[number] < len(parts[number])]
        if ready:
            number = chance.choice(ready)  # type: ignore[attr-defined]
            merge.put(number, at[number], parts[number][at[number]])
            at[number] += 1
    merge.take(7)
    places = merge.places(merge.delivered)
    found = {row.position for n, rows in parts.items() for row in rows[places[n] :]}
    assert found >= set(range(merge.delivered + 1, len(record) + 1))


def test_a_poisoned_record_stands_for_one_fact_only() -> None:
    record = rows_of(["p/A"] * 6)
    merge = begun()
    part = PLACE["p/A"]
    for offset, row in enumerate(record[:2]):
        merge.put(part, offset, row)
    merge.poison(Poison(part, 2, "p/A", 0, "unreadable", "Bent.", "t/0@2"))
    merge.take(9)
    assert merge.places(2)[part] == 2, "begun again, it must be seen again"
    merge.put(part, 3, record[3])
    merge.fill_gap(record[2:3], PARTS)
    assert [each.position for each in merge.poisoned(1, 6)] == [3]
    assert merge.take(9) == record[2:4]
    assert merge.places(2)[part] == 2
    assert merge.places(4)[part] == 4
    merge.fill_gap(record[4:5], PARTS)
    assert [each.position for each in merge.poisoned(1, 6)] == [3], "a hole is a hole again"


@pytest.mark.parametrize("poisoned", ["p/B", ""])
def test_poison_is_tied_to_its_partition_where_it_names_no_fact(poisoned: str) -> None:
    record = rows_of(["p/A", "p/B"])
    merge = begun()
    merge.poison(Poison(PLACE["p/B"], 0, poisoned, 0, "unreadable", "Bent.", "t/0@0"))
    merge.fill_gap(record, PARTS)
    named = [each.tape for each in merge.poisoned(1, 2)]
    same = PLACE["p/A"] == PLACE["p/B"] and not poisoned
    assert named == (["p/A"] if same else ["p/B"])


def test_when_too_much_waits_only_partitions_that_lag_behind_are_read_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(merging, "ROWS_MAX", 4)
    record = rows_of(["p/A", "p/cage", *["p/A"] * 8])
    assert PLACE["p/A"] != PLACE["p/cage"]
    merge = begun()
    ahead = [row for row in record if row.tape == "p/A"]
    for offset, row in enumerate(ahead):
        assert (PLACE["p/A"] in merge.wanted()[1]) == (offset >= 4)
        merge.put(PLACE["p/A"], offset, row)
    on, off = merge.wanted()
    assert off == [PLACE["p/A"]]
    assert PLACE["p/cage"] in on
    assert not merge.has_passed({PLACE["p/cage"]: 1, PLACE["p/A"]: 99})
    merge.put(PLACE["p/cage"], 0, record[1])
    assert merge.take(99) == record
    assert merge.wanted()[1] == []
