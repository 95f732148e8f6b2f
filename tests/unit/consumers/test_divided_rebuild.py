"""How a rebuild divides the partitions among its workers."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from consumers.parallel_rebuild import divided
from consumers.runtime.source import PARTITIONS, Share
from infra.kafka.records import partition_of

TABLES = st.dictionaries(
    st.from_regex(r"hollywood/[A-Z]{2}-[0-9]{2}", fullmatch=True), st.integers(0, 10**6)
)


def weights(facts: dict[str, int]) -> Counter[int]:
    counted: Counter[int] = Counter()
    for tape, count in facts.items():
        counted[partition_of(tape.encode(), PARTITIONS)] += count
    return counted


@given(facts=TABLES, of=st.integers(1, PARTITIONS))
def test_each_partition_is_one_workers_and_none_has_much_more(
    facts: dict[str, int], of: int
) -> None:
    shares = divided(facts, of)
    assert sorted(each for its in shares for each in its) == list(range(PARTITIONS))
    weighed = weights(facts)
    loads = [sum(weighed[each] for each in its) for its in shares]
    assert max(loads) <= sum(loads) / of + max(weighed.values(), default=0)


@given(tape=st.text(min_size=1), of=st.integers(2, PARTITIONS))
def test_a_part_is_of_the_worker_that_has_its_partition(tape: str, of: int) -> None:
    owners = [Share(n, of, its).owns(tape) for n, its in enumerate(divided({tape: 1}, of))]
    assert owners.count(True) == 1
    assert not any(Share(n, of, frozenset()).owns(tape) for n in range(of))


def test_twenty_tables_are_two_halves_where_every_second_partition_is_not() -> None:
    facts = {f"hollywood/{game}-{n:02}": 100 for game in ("CC", "TDF") for n in range(1, 11)}
    weighed = weights(facts)
    assert {sum(weighed[each] for each in its) for its in divided(facts, 2)} == {1000}
    assert {sum(weighed[each] for each in range(n, PARTITIONS, 2)) for n in (0, 1)} == {800, 1200}
