"""A client that brings nothing though records are there is given up, not waited for for ever."""

from __future__ import annotations

import pytest

from consumers.alerts import process
from ledger.errors import Unavailable


def test_records_that_do_not_come_end_it_and_those_that_come_late_do_not() -> None:
    since = process._lacking(3, None, 10, in_group=True)
    limit = 10 + process.STALLED_S
    assert process._lacking(3, since, limit, in_group=True) == since == 10
    assert process._lacking(0, since, limit, in_group=True) is None, "what was there was read"
    with pytest.raises(Unavailable, match="Unread: 3 records"):
        process._lacking(3, since, limit + 1, in_group=True)


def test_a_group_that_gives_nothing_to_read_ends_it_too() -> None:
    since = process._lacking(0, None, 10, in_group=False)
    limit = 10 + process.STALLED_S
    assert process._lacking(0, since, limit, in_group=False) == since == 10
    with pytest.raises(Unavailable, match="has given this process nothing to read for 120 s"):
        process._lacking(0, since, limit + 1, in_group=False)
