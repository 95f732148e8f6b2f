"""Laws of coupons: each serial goes one permitted way from printer to box (603a.20-21)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import strategies as st

from ledger.finance import coupons
from ledger.finance.coupons import BatchLine
from ledger.finance.serials import Serials
from tests.property.finance.floors import read_by_program
from tests.scenes.coupons import boxed, distributed, dropped, issued, received, returned, voided
from tests.suite.budget import examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.property.finance.floors import Line

COUPONS = 3
WAYS = {
    "issued": ("stock", "held"),
    "distributed": ("held", "given"),
    "returned": ("held", "stock"),
    "voided": ("held", "void"),
    "dropped": ("given", "used"),
}
"""Before and after each step: the place of a coupon."""

STEPS = st.lists(st.tuples(st.sampled_from(sorted(WAYS)), st.integers(1, COUPONS)), max_size=30)
WRONG = {
    ("issued", "held"): "issued_twice",
    ("distributed", "stock"): "not_held",
    ("distributed", "given"): "not_held",
    ("distributed", "void"): "not_held",
    ("returned", "given"): "moved_twice",
    ("voided", "given"): "moved_twice",
    ("voided", "used"): "voided_redeemed",
    ("dropped", "void"): "voided_redeemed",
    ("dropped", "used"): "redeemed_twice",
}
"""What a step of a coupon that lies elsewhere is called; a coupon used and not given is, too."""


class History(NamedTuple):
    """The facts of some permitted steps, and where each coupon is after them."""

    lines: list[Line]
    at: dict[int, str]
    used: list[int]


def history(steps: Sequence[tuple[str, int]]) -> History:
    """Those of the steps that find their coupon where it must be."""
    at = dict.fromkeys(range(1, COUPONS + 1), "stock")
    lines: list[Line] = [_at(received(1, COUPONS), 0)]
    used: list[int] = []
    for step, number in steps:
        before, after = WAYS[step]
        if at[number] == before:
            at[number] = after
            lines.append(_at(told(step, number), len(lines)))
            used += [number] if step == "dropped" else []
    return History(lines, at, used)


def told(step: str, number: int) -> Line:
    made = {
        "issued": lambda: issued(number, number),
        "distributed": lambda: distributed(number, number),
        "returned": lambda: returned(number, number),
        "voided": lambda: voided(number),
        "dropped": lambda: dropped(number),
    }
    return made[step]()


def _at(line: Line, nth: int) -> Line:
    """The nth fact: a second after the one before."""
    return {**line, "id": f"step-{nth}", "time": f"2026-11-20T10:00:{nth:02d}-05:00"}


def line_of(lines: Sequence[Line], used: Sequence[int]) -> BatchLine:
    [found] = coupons.lines(read_by_program([*lines, boxed(*used)]))
    assert isinstance(found, BatchLine)
    return found


def law_of_ways(steps: Sequence[tuple[str, int]]) -> None:
    lines, at, used = history(steps)
    line = line_of(lines, used)
    assert line.exceptions == []
    assert False not in line.equations.values()
    of = [*at.values()]
    assert (line.outstanding, line.redeemed) == (of.count("given"), of.count("used"))
    assert line.received - line.issued + line.returned == of.count("stock")
    assert line.redeemed <= line.distributed <= line.issued - line.returned <= line.received
    assert line.received == COUPONS


@examples(60, 1_000, steps=STEPS)
def test_coupons_that_go_the_permitted_ways_keep_every_equation(
    steps: list[tuple[str, int]],
) -> None:
    law_of_ways(steps)


def law_of_wrong_ways(steps: Sequence[tuple[str, int]], wrong: tuple[str, int]) -> None:
    step, number = wrong
    lines, at, used = history(steps)
    code = WRONG.get((step, at[number]))
    if code is None:
        return
    # A distribution is on record, so that the house says what it holds.
    extra = [_at(told(step, number), len(lines))]
    found = line_of([*lines, *extra], [*used, number] if step == "dropped" else used)
    serials = {serial for each in found.exceptions if each.code == code for serial in each.serials}
    name = f"MP-{number:04d}"
    assert any(first <= name <= last for first, last in serials), (step, at[number])


@examples(60, 1_000, steps=STEPS, wrong=st.tuples(st.sampled_from(sorted(WAYS)), st.just(1)))
def test_one_step_from_elsewhere_is_named_with_its_serial(
    steps: list[tuple[str, int]], wrong: tuple[str, int]
) -> None:
    law_of_wrong_ways(steps, wrong)


GIVEN = [("issued", 1), ("distributed", 1)]


def test_the_law_of_ways_is_broken_by_a_model_that_forgets_what_is_issued_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    again = [("issued", 1), ("returned", 1), *GIVEN]
    law_of_ways(again)
    monkeypatch.setattr(coupons, "_repeated", lambda told, what, batch: told.all(what) & batch)
    with pytest.raises(AssertionError):
        law_of_ways(again)


@pytest.mark.parametrize(
    ("check", "wrong", "steps"),
    [("_repeated", ("issued", 1), GIVEN[:1]), ("_not_held", ("distributed", 1), [("issued", 2)])],
)
def test_the_law_of_wrong_ways_is_broken_by_a_model_without_the_check(
    check: str,
    wrong: tuple[str, int],
    steps: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    law_of_wrong_ways(steps, wrong)
    monkeypatch.setattr(coupons, check, lambda *_: Serials())
    with pytest.raises(AssertionError):
        law_of_wrong_ways(steps, wrong)
