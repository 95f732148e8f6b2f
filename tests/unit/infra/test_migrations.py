"""Migrations are applied in the order of their numbers: each has one, and none is left out."""

from __future__ import annotations

import re

import pytest

from infra.postgres.migrations import migrations


def misnumbered(names: list[str]) -> list[str]:
    """The files whose number is not that of their place in the list."""
    return [
        name
        for at, name in enumerate(sorted(names), 1)
        if not re.fullmatch(rf"{at:04d}_[a-z0-9_]+\.sql", name)
    ]


def test_the_numbers_of_migrations_are_unique_and_have_no_gap() -> None:
    names = [each.name for each in migrations()]
    assert names
    assert misnumbered(names) == [], "take the next free number"


@pytest.mark.parametrize(
    ("names", "wrong"),
    [
        (["0001_a.sql", "0002_b.sql", "0002_c.sql"], ["0002_c.sql"]),
        (["0001_a.sql", "0003_b.sql"], ["0003_b.sql"]),
        (["0000_a.sql"], ["0000_a.sql"]),
        (["0001_a.sql", "2_b.sql"], ["2_b.sql"]),
    ],
)
def test_a_number_that_two_have_or_that_is_left_out_is_named(
    names: list[str], wrong: list[str]
) -> None:
    """The control: two branches take the same number, or one that leaves a gap."""
    assert misnumbered(names) == wrong
