"""The shared round's assertions explain themselves like a test's own."""

import pytest

pytest.register_assert_rewrite("tests.unit.games.cross")
pytest.register_assert_rewrite("tests.unit.games.asia")
