"""What a new dispute takes over from its round."""

from types import SimpleNamespace
from typing import Any

import pytest

from ledger.errors import Usage
from replay.disputes.carried import amount_text, taken_over, usual_position


def line(position: int, owed: int, gained: int, *, known: bool = True) -> SimpleNamespace:
    difference = gained - owed if known else None
    return SimpleNamespace(position=position, owed=owed, gained=gained, difference=difference)


def story(*lines: SimpleNamespace) -> Any:  # noqa: ANN401 - as far as it is read
    moments = [SimpleNamespace(source="/p/T-1/reader", id="1")]
    return SimpleNamespace(lines=lines, moments=moments, round="T-1/2026-11-20/1")


def test_the_position_is_the_only_one_that_was_paid_otherwise_than_owed() -> None:
    right, less, more = line(1, 500, 500), line(2, 7500, 5000), line(3, -500, 0)
    assert usual_position(story(right, less)) == 2
    assert usual_position(story(right, less, more)) is None
    assert usual_position(story(right)) is None


def test_the_amount_is_what_is_owed_less_what_was_paid() -> None:
    its = story(line(2, 7500, 5000), line(2, -500, -500), line(3, -500, 0), line(4, 0, 0))
    assert amount_text(its, 2) == (
        "By the ruling position 2 is owed $70.00 and got $45.00: $25.00 too little."
    )
    assert amount_text(its, 3) == (
        "By the ruling position 3 is owed -$5.00 and got $0.00: $5.00 too much."
    )
    assert amount_text(its, 4) == "By the ruling position 4 is owed $0.00 and got $0.00: as owed."
    assert amount_text(its, 5) is None
    assert amount_text(story(line(2, 5, 5, known=False)), 2) is None


def test_a_moment_that_no_form_offers_is_refused() -> None:
    taken = taken_over(story(), ["fact:1", "time:0", "camera:0:X-1"])
    assert [each.fact is not None for each in taken] == [True, False, False]
    assert (taken[1].reference_time, taken[2].camera) == ("1970-01-01T00:00:00.000000Z", "X-1")
    for wrong in ("fact:2", "fact:0", "time:x", "camera:1:", "", "time:99999999999999999"):
        with pytest.raises(Usage):
            taken_over(story(), [wrong])
