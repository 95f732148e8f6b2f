"""What the house does is put on record like any device's fact, and its answer is never doubled."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ledger.errors import Refused, Unavailable, Usage
from ledger.facts import FootageViewed
from ledger.record.wire import fact_of
from replay.recording.house_facts import append_fact, append_facts, build_fact, new_id, screen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infra.postgres.tape import PostgresTape
    from ledger.record.tape import Quarantined, Receipt, Received

T0_US = 1_795_000_000_000_000


def viewed(camera: str = "CC-07-1") -> FootageViewed:
    return FootageViewed(
        camera=camera,
        from_="2026-11-20T19:04:00Z",
        to="2026-11-20T19:05:00Z",
        by="S-2001",
        because="dispute D-17",
    )


class AnswerLost:
    """A record that keeps what it is given, and whose first answers never arrive."""

    def __init__(self, tape: PostgresTape, lost: int) -> None:
        self.tape, self.left = tape, lost

    def append(self, facts: Sequence[Received | Quarantined]) -> list[Receipt]:
        receipts = self.tape.append(facts)
        if self.left:
            self.left -= 1
            raise Unavailable("No answer came", where="here", hint="Ask again.")
        return receipts


def test_what_is_done_on_the_screen_stands_on_the_tape_of_surveillance(tape: PostgresTape) -> None:
    noted = append_fact(tape, viewed(), screen("hollywood"), time_us=T0_US)
    row = tape.rows_of("hollywood/surveillance", [(1, 9)])[0]
    assert (noted.position, noted.receipt.verdict) == (1, "appended")
    assert (row.type, row.source) == ("footage_viewed.v1", "/hollywood/surveillance/screen")
    assert (row.time_us, row.id) == (T0_US, noted.fact.id)
    assert fact_of(row).body == viewed()
    assert json.loads(row.data)["from"] == "2026-11-20T19:04:00Z"


def test_an_answer_that_was_lost_is_asked_for_again_and_nothing_is_told_twice(
    tape: PostgresTape,
) -> None:
    noted = append_fact(AnswerLost(tape, 1), viewed(), screen("hollywood"))
    assert noted.receipt.verdict == "duplicate"
    assert len(tape.read(0, 9)) == 1
    with pytest.raises(Unavailable):
        append_fact(AnswerLost(tape, 2), viewed(), screen("hollywood"))


def test_what_is_no_fact_is_told_so_and_nothing_is_kept(tape: PostgresTape) -> None:
    with pytest.raises(Usage, match="length"):
        append_fact(tape, viewed(camera=""), screen("hollywood"))
    with pytest.raises(Usage, match="source"):
        append_fact(tape, viewed(), screen("no such/place"))
    assert tape.counters().received == 0


def test_several_facts_are_kept_together_or_not_at_all(tape: PostgresTape) -> None:
    both = [build_fact(viewed(camera), screen("hollywood")) for camera in ("CC-07-1", "CC-07-2")]
    assert [noted.position for noted in append_facts(tape, both)] == [1, 2]
    assert [noted.receipt.verdict for noted in append_facts(tape, both)] == ["duplicate"] * 2


def test_an_id_that_is_taken_by_another_fact_is_refused(tape: PostgresTape) -> None:
    append_fact(tape, viewed(), screen("hollywood"), id="mine", time_us=T0_US)
    with pytest.raises(Refused, match="Another fact"):
        append_fact(tape, viewed("CC-07-2"), screen("hollywood"), id="mine", time_us=T0_US)


def test_ids_made_later_sort_later_and_none_is_made_twice() -> None:
    ids = [new_id(T0_US + n // 2) for n in range(100)]
    assert len(set(ids)) == len(ids)
    assert [each[:16] for each in ids] == sorted(each[:16] for each in ids)
