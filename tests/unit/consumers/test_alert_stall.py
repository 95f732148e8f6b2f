"""A client that brings nothing though records are there is given up, not waited for for ever."""

from __future__ import annotations

import pytest

from consumers.alerts import process
from ledger.errors import Unavailable


def test_records_that_do_not_come_end_it_and_those_that_come_late_do_not() -> None:
    since = process._lacking(3, None, 10)
    limit = 10 + process.STALLED_S
    assert process._lacking(3, since, limit) == since == 10
    assert process._lacking(0, since, limit) is None, "what was there was read"
    with pytest.raises(Unavailable, match="Unread: 3 records"):
        process._lacking(3, since, limit + 1)
