"""Laws of a gaming day: what it lasts, and what closes it. Each control is a broken model."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from ledger.facts import DayReopened, DaySealed
from ledger.finance.day_versions import DaySeals, adjustments, changers, of_day
from ledger.finance.placing import own_day
from ledger.rules.engine.ruling import FactRef
from tests.property.finance.floors import FAULTS, house, read_by_program, worked_out
from tests.scenes.table_days import count, day_lines, fact
from tests.suite.budget import budget, examples

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from ledger.finance.win import TableWin
    from tests.property.finance.floors import Line

# -- 15: a step that does not follow leaves everything as it was -----------------------------------

ASKED = st.lists(st.tuples(st.sampled_from(["close", "reopen"]), st.integers(1, 4)), max_size=12)


def body(step: str, version: int) -> DaySealed | DayReopened:
    people: dict[str, Any] = {"by": "F-1", "second": "F-2"}
    if step == "reopen":
        return DayReopened(gaming_day="2026-11-20", version=version, because="x", **people)
    return DaySealed(
        gaming_day="2026-11-20", version=version, heads={"CC-07": 1}, rules="1", report=1,
        digest="0" * 64, **people,
    )  # fmt: skip


def law_of_steps(asked: list[tuple[str, int]], of: DaySeals) -> None:
    closed, is_open = 0, True
    for step, version in asked:
        follows = version == (closed + 1 if step == "close" else closed)
        follows = follows and is_open == (step == "close")
        after = of.after(body(step, version))
        assert (after is not of) == follows, (step, version)
        if follows:
            closed, is_open = (closed + 1, False) if step == "close" else (closed, True)
        of = after
        assert (len(of.seals), of.sealed is None) == (closed, is_open)


@examples(60, 1_000, asked=ASKED)
def test_a_step_that_does_not_follow_leaves_the_versions_as_they_were(
    asked: list[tuple[str, int]],
) -> None:
    law_of_steps(asked, DaySeals())


class Obedient(DaySeals):
    """A broken model: it takes every step."""

    def after(self, body: object) -> Any:  # noqa: ANN401 - as `DaySeals`
        return self._replace(seals=(*self.seals, body), reopened=None)  # type: ignore[arg-type]


def test_the_law_of_steps_is_broken_by_a_model_that_takes_every_step() -> None:
    with pytest.raises(AssertionError):
        law_of_steps([("close", 1), ("close", 1)], Obedient())


# -- 18: each late fact is of a kind that can change what it changes ------------------------------


def law_of_changers(
    seed: int, may_change: Callable[[FactRef, str], bool] | None = None
) -> Collection[str]:
    """One fact of each kind comes late; the table of kinds has what it changes."""
    chance, told, changed = random.Random(seed), [], set()  # noqa: S311 - repeatable
    for lines in house(seed, 2, minutes=2):
        found = FAULTS[chance.randrange(len(FAULTS))](deepcopy(lines), chance)
        told += found.lines if found else lines
    facts = read_by_program(told)
    day = chance.choice(sorted({each for fact in facts if (each := own_day(fact))}))
    may_change = may_change or changers(facts, day)
    after = of_day(facts, "hollywood", day).tables
    for kind in sorted({type(each.body) for each in facts}, key=str):
        late = chance.choice([each for each in facts if type(each.body) is kind])
        before = of_day([each for each in facts if each is not late], "hollywood", day).tables
        ref = FactRef(late.source, late.id)
        for each in adjustments(before, after, {}, {}, [ref], may_change):
            assert may_change(ref, each.figure), (kind, each.figure)
            changed.add(each.figure)
    return changed


@budget("seeds", range(1), range(30))
def test_a_late_fact_changes_what_its_kind_can_change(seeds: range) -> None:
    changed = set().union(*map(law_of_changers, seeds))
    assert changed > {"owed", "moved", "credits"}


@pytest.mark.parametrize("figure", ["owed", "credits"])
def test_the_law_of_changers_is_broken_by_a_table_without_a_figure(figure: str) -> None:
    with pytest.raises(AssertionError):
        law_of_changers(0, lambda _, name: name != figure)


# -- days of 23 and 25 hours -----------------------------------------------------------------------

CHANGES = {
    "spring": ("2026-03-07T06:00:00-05:00", "2026-03-08T06:00:00-04:00", 23),
    "autumn": ("2026-10-31T06:00:00-04:00", "2026-11-01T06:00:00-05:00", 25),
    "between": ("2026-11-20T06:00:00-05:00", "2026-11-21T06:00:00-05:00", 24),
}


def day_from(opens: str, closes: str, *more: Line) -> TableWin:
    """A table's day that opens and closes at these local times."""
    label = opens[:10]
    told = [
        {**each, "time": closes if each["data"].get("kind") == "close" else opens}
        for each in day_lines(count(59))
    ]
    for each in told:
        each["data"] |= {"gaming_day": label}
    [win] = worked_out([*told, *more])[0]
    return win


def law_of_lengths(name: str, *, wall_clock: bool = False) -> None:
    opens, closes, hours = CHANGES[name]
    if wall_clock:
        opens, closes = (f"{each[:19]}-05:00" for each in (opens, closes))
    assert day_from(opens, closes).seconds == hours * 3_600


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_a_day_lasts_23_or_25_hours_where_the_clocks_change(name: str) -> None:
    law_of_lengths(name)


@pytest.mark.parametrize("name", ["spring", "autumn"])
def test_the_law_of_lengths_is_broken_by_a_model_that_reads_the_wall_clock(name: str) -> None:
    with pytest.raises(AssertionError):
        law_of_lengths(name, wall_clock=True)


HOUR = st.integers(0, 3_599)


def law_of_the_hour_that_comes_twice(bought: int, attached: int, *, wall_clock: bool) -> None:
    """A buy-in in the first of both hours is of the day before, whatever its clock shows."""
    second = "-04:00" if wall_clock else "-05:00"
    times = [
        f"2026-11-01T01:{at // 60:02d}:{at % 60:02d}{offset}"
        for at, offset in ((bought, "-04:00"), (attached, second))
    ]
    cash = {**fact("cash_bought_in", 1, position=1, amount=500), "time": times[0]}
    box = {"box": "B2", "table": "CC-07", "gaming_day": "2026-11-01"}
    next_box = {**fact("drop_box_attached", 2, "count-room", **box), "time": times[1]}
    lines = day_lines(count(59))
    for each in lines:
        each["time"] = "2026-10-31T06:00:00-04:00"
        each["data"] |= {"gaming_day": "2026-10-31"}
    first = worked_out([*lines, cash, next_box])[0][0]
    assert [item.code for item in first.items] == ["box_cash", "tray"]


@examples(20, 200, bought=HOUR, attached=HOUR)
def test_in_the_hour_that_comes_twice_a_fact_belongs_where_its_instant_is(
    bought: int, attached: int
) -> None:
    law_of_the_hour_that_comes_twice(bought, attached, wall_clock=False)


def test_the_law_of_that_hour_is_broken_by_a_model_that_reads_the_wall_clock() -> None:
    with pytest.raises(AssertionError):
        law_of_the_hour_that_comes_twice(1_800, 600, wall_clock=True)
