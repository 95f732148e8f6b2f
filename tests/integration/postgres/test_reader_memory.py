"""What a reader's query may sort in memory: 64 MB, and never less than the house gives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from psycopg import conninfo

if TYPE_CHECKING:
    from infra.postgres.connection import Database, Role


@pytest.mark.parametrize(
    ("role", "given", "found"),
    [
        ("ledger_reader", None, "64MB"),
        ("ledger_reader", "1MB", "64MB"),
        ("ledger_reader", "128MB", "128MB"),
        ("ledger_projector", "1MB", "1MB"),
    ],
)
@pytest.mark.parametrize("autocommit", [True, False])
def test_a_reader_has_64_mb_or_what_the_house_gives_beyond(
    database: Database, role: Role, given: str | None, found: str, *, autocommit: bool
) -> None:
    options = {"options": f"-c work_mem={given}"} if given else {}
    its = replace(database, url=conninfo.make_conninfo(database.url, **options))
    with its.connect(role, autocommit=autocommit) as connection:
        for _ in range(2):
            assert connection.execute("SHOW work_mem").fetchone() == (found,)
            connection.rollback()
        assert connection.autocommit is autocommit
