"""Coupons in a whole feed: which round a drop, a refusal, a correction and a batch belong to."""

from __future__ import annotations

import random

import pytest

from ledger.feed import adjudicate
from ledger.rules.coupons import issued
from ledger.rules.ruling import Ruling
from ledger.wire import fact_of
from tests.coupon_feed import FOUND_BY_ROUND, Feed, drop, feed


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


@pytest.mark.parametrize(("at", "found"), [(99, True), (100, False), (9_999, False)])
def test_603a_21_e_a_drop_counts_from_the_first_fact_of_the_round_on(
    at: int,
    found: bool,  # noqa: FBT001 - a row of a table
) -> None:
    told = Feed()
    told.coup(1, "MP-000001")
    told.tell(at, drop("MP-000001"))
    assert codes(told) == {"hollywood:MB-01/2026-11-20/1": ["coupon_not_dropped"] if found else []}


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
