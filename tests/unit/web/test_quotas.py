"""The allowance of a device key: at most its rate and one minute's worth, from any client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from replay.web.access.quotas import Quota, Quotas

if TYPE_CHECKING:
    from collections.abc import Sequence

QUOTA = Quota(facts=600, octets=6_000)
PLACE, OTHER = "/p/T-1/shoe", "/p/T-2/shoe"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@given(
    st.lists(
        st.tuples(
            st.integers(0, 30), st.integers(0, 50), st.integers(0, 500)
        ),  # seconds, facts, bytes
        max_size=60,
    )
)
def test_no_run_of_requests_passes_more_than_a_minute_s_worth_and_its_time(
    requests: Sequence[tuple[int, int, int]],
) -> None:
    clock = Clock()
    quotas, began = Quotas(QUOTA, clock), clock.now
    facts = octets = 0
    for seconds, more_facts, more_octets in requests:
        clock.now += seconds
        if quotas.wait_s(PLACE):
            continue
        quotas.spend(PLACE, more_facts, more_octets)
        facts, octets = facts + more_facts, octets + more_octets
        minutes = 1 + (clock.now - began) / 60
        assert facts <= QUOTA.facts * minutes + more_facts
        assert octets <= QUOTA.octets * minutes + more_octets


def test_who_waits_as_long_as_asked_is_accepted_and_not_before() -> None:
    clock = Clock()
    quotas = Quotas(QUOTA, clock)
    assert quotas.wait_s(PLACE) == 0
    quotas.spend(PLACE, 900, 0)
    wait_s = quotas.wait_s(PLACE)
    assert wait_s == 30
    clock.now += wait_s - 1
    assert quotas.wait_s(PLACE) == 1
    clock.now += 1.01
    assert quotas.wait_s(PLACE) == 0


def test_octets_count_beside_facts_and_places_apart() -> None:
    quotas = Quotas(QUOTA, Clock())
    quotas.spend(PLACE, 1, 12_000)
    assert quotas.wait_s(PLACE) == 60
    assert quotas.wait_s(OTHER) == 0


def test_a_device_that_keeps_its_rate_never_waits() -> None:
    clock = Clock()
    quotas = Quotas(QUOTA, clock)
    for _ in range(3_000):
        clock.now += 0.1
        assert quotas.wait_s(PLACE) == 0
        quotas.spend(PLACE, 1, 10)
