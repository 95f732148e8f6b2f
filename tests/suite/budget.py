"""A budget every day, the whole in the long run: how much is tried of what costs too much.

Nothing is dropped by it: each law holds a little every day and all of it in `make test-long`.
"""

from __future__ import annotations

from functools import update_wrapper
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Any, TypeVar

import pytest
from hypothesis import HealthCheck, given, settings, strategies

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from _pytest.mark import ParameterSet
    from hypothesis.strategies import SearchStrategy

settings.register_profile(
    "suite",
    derandomize=True,  # a run fails only where the program is wrong
    deadline=None,  # a busy machine is slow
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")

T = TypeVar("T")
ONE_A_FAMILY = (
    "badugi",
    "lunar_poker",
    "minibaccarat",
    "omaha_5_high",
    "spanish_21",
    "three_dice_football",
)
"""A game of each kind: what is tried of every game in the long run is tried of these every day."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Have the table of all characters made, which a fresh clone lacks, before a test needs it."""
    if any(item.get_closest_marker("hypothesis") for item in session.items):
        strategies.text().validate()


def budget(name: str, everyday: object, whole: object) -> pytest.MarkDecorator:
    """Give a test its argument `name` twice: `everyday`, and `whole` in the long run."""
    return pytest.mark.parametrize(
        name,
        [
            pytest.param(everyday, id="everyday"),
            pytest.param(whole, id="whole", marks=pytest.mark.long),
        ],
    )


def cases(everyday: Iterable[tuple[Any, ...]], whole: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Rows of a parametrised test: some for every day, and all that are for the long run."""
    return [*everyday, *(pytest.param(*each, marks=pytest.mark.long) for each in whole)]


def rest_long(every: Iterable[T], everyday: Collection[T]) -> list[ParameterSet]:
    """Every case of a parametrised test, those that are not for every day marked `long`."""
    return [
        pytest.param(each, marks=() if each in everyday else pytest.mark.long) for each in every
    ]


def examples(
    everyday: int, whole: int, **drawn: SearchStrategy[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Try a law, `given` what is drawn, on so many examples every day, and in the long run.

    No mark may stand between it and the law.
    """

    def decorated(law: Callable[..., None]) -> Callable[..., None]:
        tried = {
            count: settings(max_examples=count)(given(**drawn)(law)) for count in (everyday, whole)
        }

        def test(count: int, **more: object) -> None:
            tried[count](**more)

        update_wrapper(test, law, updated=())  # what hypothesis notes there is of `tried`
        of_law = [each for name, each in signature(law).parameters.items() if name not in drawn]
        count = Parameter("count", Parameter.POSITIONAL_OR_KEYWORD)
        test.__signature__ = Signature([count, *of_law])  # type: ignore[attr-defined]
        return budget("count", everyday, whole)(test)

    return decorated
