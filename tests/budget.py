"""A budget every day, the whole in the long run: how much is tried of what costs too much.

Nothing is dropped by it: each law holds a little every day and all of it in `make test-long`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from _pytest.mark import ParameterSet

T = TypeVar("T")


def budget(name: str, everyday: object, whole: object) -> pytest.MarkDecorator:
    """Give a test its argument `name` twice: `everyday`, and `whole` in the long run."""
    return pytest.mark.parametrize(
        name,
        [
            pytest.param(everyday, id="everyday"),
            pytest.param(whole, id="whole", marks=pytest.mark.long),
        ],
    )


def rest_long(every: Iterable[T], everyday: Collection[T]) -> list[ParameterSet]:
    """Every case of a parametrised test, those that are not for every day marked `long`."""
    return [
        pytest.param(each, marks=() if each in everyday else pytest.mark.long) for each in every
    ]
