"""Coupons in a whole feed: which round a drop, a refusal, a correction and a batch belong to."""

from __future__ import annotations

import random

import pytest

from ledger.adjudication.feed import adjudicate
from ledger.record.wire import fact_of
from ledger.rules.engine.coupons import issued
from ledger.rules.engine.ruling import Ruling
from tests.scenes.coupon_feed import FOUND_BY_ROUND, Feed, drop, feed


def codes(facts: Feed | None = None, *, seed: int = 0) -> dict[str, list[str]]:
    """The findings of each round of a feed, its facts in some order of arrival."""
    told = [fact_of(each) for each in (facts.facts if facts else feed())]
    if seed:
        random.Random(seed).shuffle(told)  # noqa: S311 - repeatable, guards nothing
    return {
        f"{said.property}:{said.round}": [finding.code for finding in said.findings]
        for said in adjudicate(told)
        if isinstance(said, Ruling)
    }


@pytest.mark.parametrize("seed", range(4))
def test_603a_21_each_round_is_found_with_what_became_of_its_coupons(seed: int) -> None:
    assert codes(seed=seed) == FOUND_BY_ROUND


FIRST, SECOND = (f"hollywood:MB-01/2026-11-20/{number}" for number in (1, 2))
NOT_DROPPED, SPENT = "coupon_not_dropped", "wager_not_permitted"


@pytest.mark.parametrize(
    ("at", "found"), [(99, [SPENT, NOT_DROPPED]), (100, []), (106, []), (9_999, [])]
)
def test_603a_21_e_a_drop_counts_from_the_first_fact_of_the_round_on(
    at: int, found: list[str]
) -> None:
    told = Feed()
    told.coup(1, "MP-000001")
    told.tell(at, drop("MP-000001"))
    assert codes(told) == {FIRST: found}


@pytest.mark.parametrize("seed", range(3))
def test_603a_21_e_a_serial_that_went_into_a_box_is_not_played_again(seed: int) -> None:
    told = Feed()
    told.coup(1, "MP-000001")
    told.tell(107, drop("MP-000001"))
    told.coup(2, "MP-000001")
    told.tell(207, drop("MP-000001"))
    assert codes(told, seed=seed) == {FIRST: [], SECOND: [SPENT]}
    # At another table of the house too, and not at another house's.
    for where, found in (("hollywood/MB-02", [SPENT]), ("live/MB-02", [])):
        told = Feed()
        told.coup(1, "MP-000001")
        told.tell(107, drop("MP-000001"))
        told.coup(2, "MP-000001", where=where)
        told.tell(207, drop("MP-000001"), where=where)
        elsewhere = where.replace("/", ":", 1) + "/2026-11-20/2"
        assert codes(told, seed=seed) == {FIRST: [], elsewhere: found}


def test_603a_21_e_one_drop_is_the_drop_of_one_round() -> None:
    # It was not dropped in the first round, which may have pushed as far as the second can tell.
    told = Feed()
    told.coup(1, "MP-000001")
    told.coup(2, "MP-000001")
    told.tell(207, drop("MP-000001"))
    assert codes(told) == {FIRST: [NOT_DROPPED], SECOND: []}
    # Until the second round plays it the drop may come late.
    for at, first, second in ((199, [], [SPENT, NOT_DROPPED]), (201, [NOT_DROPPED], [])):
        told = Feed()
        told.coup(1, "MP-000001")
        told.coup(2, "MP-000001")
        told.tell(at, drop("MP-000001"))
        assert codes(told) == {FIRST: first, SECOND: second}


def test_603a_21_e_a_drop_that_is_corrected_spends_what_it_should_have_said() -> None:
    for data, found in (
        (None, []),
        ({"serial": "MP-000002", "face": 500}, []),
        ({"serial": "MP-000001", "face": 500}, [SPENT]),
    ):
        told = Feed()
        told.correct(told.tell(50, drop("MP-000001")), data)
        told.coup(2, "MP-000001")
        told.tell(207, drop("MP-000001"))
        assert codes(told) == {SECOND: found}


def test_603a_21_b_of_batches_that_overlap_the_one_issued_last_holds() -> None:
    told = Feed()
    told.batch("MP-000001", "MP-000009")
    told.batch("MP-000005", "MP-000005", house="live")
    told.batch("MP-000003", "MP-000009")
    batches = issued([fact_of(each) for each in reversed(told.facts)])
    assert [(each.property, each.id) for each in batches] == [
        ("hollywood", "0"), ("hollywood", "2"), ("live", "1"),
    ]  # fmt: skip
    assert [each.holds("MP-000003") for each in batches] == [True, True, False]
