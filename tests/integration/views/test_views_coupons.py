"""Coupons in the view of rulings: what the whole feed finds, in any order of arrival."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import msgspec
import pytest

from consumers.rulings import rulings
from consumers.rulings.touched_rounds import round_of
from infra.postgres.view_tables import reading
from tests.integration.views.test_views_rulings import of_the_view, stepwise
from tests.scenes.coupon_feed import DAY, FOUND, FOUND_BY_ROUND, feed
from tests.scenes.view_feeds import record

if TYPE_CHECKING:
    from infra.postgres.connection import Database


def codes(database: Database) -> dict[str, list[str]]:
    """The findings of each round, as the view has them."""
    held, _ = of_the_view(database)
    decoded = {name: msgspec.json.decode(octets) for name, octets in held.items()}
    return {
        name: [finding["code"] for finding in ruling["findings"]]
        for name, ruling in decoded.items()
    }


@pytest.mark.long
@pytest.mark.parametrize(("seed", "size"), [(0, 1000), (1, 1), (2, 7), (3, 1000), (4, 25), (5, 3)])
def test_603a_21_coupons_are_ruled_on_alike_in_any_order_of_arrival_and_batches_of_any_size(
    database: Database, seed: int, size: int
) -> None:
    facts = feed()
    chance = random.Random(seed)  # noqa: S311 - repeatable, guards nothing
    if seed:
        chance.shuffle(facts)
    rows = record(database, facts)
    steps = [*sorted(chance.sample(range(1, len(rows)), 6)), len(rows)]
    stepwise(database, rows, steps, size)
    assert codes(database) == FOUND_BY_ROUND


def test_603a_21_the_first_batch_filed_makes_serials_unknown_and_the_second_knows_them(
    database: Database,
) -> None:
    rows = record(database, feed())
    spent = {3, 10}
    for lacking, unknown in ((2, spent), (1, {5, 6, 7, 8, 9, *spent}), (0, {9, *spent})):
        stepwise(database, rows, [len(rows) - lacking], 1000)
        found = codes(database)
        assert unknown - {7} == {
            number
            for number in FOUND
            if "wager_not_permitted" in found[f"hollywood:MB-01/{DAY}/{number}"]
        }
    with reading(database, rulings.tables_to_read()) as store:
        ninth = rulings.versions(store, round_of(f"hollywood:MB-01/{DAY}/9"))
        first = rulings.versions(store, round_of(f"hollywood:MB-01/{DAY}/1"))
    assert [each.position for each in ninth][-1] == len(rows) - 1
    assert [each.position for each in first][-1] < len(rows) - 1
