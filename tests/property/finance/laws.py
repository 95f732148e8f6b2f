"""What the controls of laws share: a law must not hold of a broken model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


def refuses(law: Callable[..., object], *of: Any) -> None:  # noqa: ANN401 - what the law takes
    """Assert that a law does not hold of these, as its model is broken."""
    with pytest.raises(AssertionError):
        law(*of)
