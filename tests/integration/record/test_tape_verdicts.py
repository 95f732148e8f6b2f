"""Each verdict of an append, and what stands on the record after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from ledger.errors import NotFound, Refused
from ledger.record.tape import GENESIS, Counters, Quarantined, chain_hash
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape

GARBAGE = Quarantined(
    b"\x00\xff not json", "not_json", "This is not JSON.", "$", "Send one JSON object a line."
)


def test_a_new_fact_is_appended_and_its_receipt_names_its_place(tape: PostgresTape) -> None:
    first, second, elsewhere = tape.append([fact(1), fact(2), fact(1, place="CC-08")])
    assert (first.verdict, first.position, first.table_seq) == ("appended", 1, 1)
    assert (second.position, second.table_seq) == (2, 2)
    assert (elsewhere.position, elsewhere.table_seq) == (3, 1)
    assert first.source == "/hollywood/CC-07/shoe"
    assert first.id == "run1-00000001"


def test_what_is_read_back_is_what_was_received(tape: PostgresTape) -> None:
    sent = [fact(n, place=f"CC-{n % 3:02d}", data=b'{ "n":\n1}') for n in range(10)]
    receipts = tape.append(sent)
    rows = tape.read(0, 100)
    assert [row.position for row in rows] == list(range(1, 11))
    for row, given, receipt in zip(rows, sent, receipts, strict=True):
        assert (row.attributes, row.data) == (given.attributes, given.data)
        assert (row.tape, row.type, row.source, row.id) == (
            given.tape,
            given.type,
            given.source,
            given.id,
        )
        assert (row.time_us, row.subject) == (given.time_us, given.subject)
        assert (row.hash, row.table_seq) == (receipt.hash, receipt.table_seq)


def test_the_database_chains_exactly_as_the_port_does(tape: PostgresTape) -> None:
    for start in range(0, 60, 20):
        tape.append([fact(n, place=f"CC-{n % 4:02d}") for n in range(start, start + 20)])
    previous: dict[str, bytes] = {}
    for row in tape.read(0, 100):
        assert row.hash == chain_hash(previous.get(row.tape, GENESIS), row)
        previous[row.tape] = row.hash
    assert {head.tape: head.hash for head in tape.heads()} == previous


def test_the_same_octets_again_are_a_duplicate_with_the_original_receipt(
    tape: PostgresTape,
) -> None:
    original = tape.append([fact(1), fact(2)])[0]
    again = tape.append([fact(3), fact(1)])[1]
    assert again == original._replace(verdict="duplicate")
    assert len(tape.read(0, 10)) == 3


def test_a_duplicate_within_one_call_gets_the_receipt_of_the_first(tape: PostgresTape) -> None:
    first, _, again = tape.append([fact(1), fact(2), fact(1)])
    assert again == first._replace(verdict="duplicate")


@pytest.mark.parametrize(
    "other", [fact(1, data=b'{"cards":["2c"]}'), fact(1, time="2026-11-20T10:00:00Z")]
)
def test_other_octets_under_the_same_id_are_an_equivocation_and_kept_aside(
    tape: PostgresTape, other: object
) -> None:
    tape.append([fact(1)])
    receipt = tape.append([other])[0]  # type: ignore[list-item] # parametrized as object
    assert (receipt.verdict, receipt.position, receipt.reason) == (
        "equivocation",
        None,
        "equivocation",
    )
    kept = tape.in_quarantine(receipt.quarantine_id or 0)
    assert (kept.attributes, kept.octets) == (other.attributes, other.data)  # type: ignore[attr-defined] # as above
    assert kept.verdict == "equivocation"
    assert [row.data for row in tape.read(0, 10)] == [fact(1).data]


def test_an_equivocation_within_one_call_is_judged_against_the_first(tape: PostgresTape) -> None:
    receipts = tape.append([fact(1), fact(1, data=b"{}"), fact(1)])
    assert [r.verdict for r in receipts] == ["appended", "equivocation", "duplicate"]


def test_white_space_in_data_is_other_octets(tape: PostgresTape) -> None:
    tape.append([fact(1, data=b'{"a":1}')])
    assert tape.append([fact(1, data=b'{"a": 1}')])[0].verdict == "equivocation"


def test_what_is_malformed_is_quarantined_with_its_octets_beside_the_facts_of_the_call(
    tape: PostgresTape,
) -> None:
    named = GARBAGE._replace(source="/hollywood/CC-07/shoe", id="run1-\0\ud800")
    receipts = tape.append([GARBAGE, fact(1), named._replace(octets=b"{"), fact(2)])
    assert [r.verdict for r in receipts] == ["quarantined", "appended", "quarantined", "appended"]
    assert [r.position for r in receipts] == [None, 1, None, 2]
    first, second = tape.quarantined()
    assert (first.octets, first.reason, first.where) == (GARBAGE.octets, "not_json", "$")
    assert (second.octets, second.source) == (b"{", "/hollywood/CC-07/shoe")


def test_a_quarantined_id_does_not_block_a_later_well_formed_fact(tape: PostgresTape) -> None:
    well = fact(1)
    tape.append([GARBAGE._replace(source=well.source, id=well.id)])
    assert tape.append([well])[0].verdict == "appended"


def test_the_same_garbage_again_is_counted_and_kept_once(tape: PostgresTape) -> None:
    ids = [tape.append([GARBAGE, GARBAGE])[n].quarantine_id for n in (0, 1)]
    assert ids == [1, 1]
    assert tape.in_quarantine(1).times_received == 4


def test_the_same_garbage_many_times_in_a_call_is_written_once(
    database: Database, tape: PostgresTape
) -> None:
    """A version of the row for each would have to be read through by the next: quadratic."""
    tape.append([fact(1)])
    other = fact(1, data=b"{}")
    mixed = [GARBAGE, GARBAGE._replace(octets=b"{"), other, fact(1)] * 500
    receipts = tape.append(mixed)
    assert [receipt.quarantine_id for receipt in receipts] == [2, 3, 1, None] * 500
    assert [q.times_received for q in tape.quarantined()] == [500, 500, 500]
    tape.append(mixed)
    assert [q.times_received for q in tape.quarantined()] == [1_000, 1_000, 1_000]
    assert tape.counters() == Counters(4_001, 1, 1_000, 1_000, 2_000)
    with psycopg.connect(database.url) as connection:
        written = connection.execute("SELECT ctid::text FROM ledger.quarantine ORDER BY 1")
        assert written.fetchall() == [("(0,4)",), ("(0,5)",), ("(0,6)",)]


def test_received_is_the_sum_of_the_verdicts(tape: PostgresTape) -> None:
    tape.append([fact(1), fact(1), fact(1, data=b"{}"), GARBAGE, fact(2)])
    tape.append([fact(2), GARBAGE])
    counted = tape.counters()
    assert counted == Counters(received=7, appended=2, duplicate=2, equivocation=1, quarantined=2)
    assert counted.nothing_lost
    assert not counted._replace(received=8).nothing_lost


def test_an_empty_append_answers_nothing(tape: PostgresTape) -> None:
    assert tape.append([]) == []
    assert tape.counters().received == 0


@pytest.mark.parametrize("name", ["x" * 1_000, "nul\0"])
def test_an_id_no_index_can_hold_is_refused_and_nothing_is_kept(
    tape: PostgresTape, name: str
) -> None:
    with pytest.raises(Refused):
        tape.append([fact(1), fact(2)._replace(id=name)])
    assert tape.counters().received == 0


def test_a_released_input_stands_on_the_tape_and_says_so(tape: PostgresTape) -> None:
    number = tape.append([GARBAGE])[0].quarantine_id or 0
    receipt = tape.release(number, fact(1))
    assert (receipt.verdict, receipt.position) == ("appended", 1)
    assert tape.in_quarantine(number).released_position == 1
    assert tape.quarantined() == []
    assert [row.quarantine_id for row in tape.quarantined(released=True)] == [number]
    assert tape.counters() == Counters(2, 1, 0, 0, 1)


def test_an_input_is_released_once(tape: PostgresTape) -> None:
    number = tape.append([GARBAGE])[0].quarantine_id or 0
    tape.release(number, fact(1))
    with pytest.raises(Refused, match="released before"):
        tape.release(number, fact(2))
    assert tape.counters().appended == 1


def test_releasing_a_number_that_is_not_there_appends_nothing(tape: PostgresTape) -> None:
    with pytest.raises(NotFound):
        tape.release(7, fact(1))
    with pytest.raises(NotFound):
        tape.in_quarantine(7)
    assert tape.counters().received == 0


def test_an_equivocation_judged_again_stays_in_quarantine(tape: PostgresTape) -> None:
    other = fact(1, data=b"{}")
    tape.append([fact(1)])
    number = tape.append([other])[0].quarantine_id or 0
    assert tape.release(number, other).verdict == "equivocation"
    kept = tape.in_quarantine(number)
    assert (kept.released_position, kept.times_received) == (None, 2)
