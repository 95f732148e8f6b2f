"""A server of one's own: a URL or a login that fails is reported without its password."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import conninfo

from infra.postgres import connection as postgres
from infra.postgres.connection import Database
from infra.settings import load
from ledger.errors import Unavailable, Usage

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("opened", [postgres.open_database, postgres.server])
@pytest.mark.parametrize(
    "url",
    [
        "postgresql://app:hu/sh@db.example:5432/floor",
        "postgresql://app:hu@sh@db.example:5432/floor",
        "postgresql://app:hu%zzsh@db.example/floor",
        "postgresql://app:hush@[::1/floor",
        "postgresql://app:hush@db.example/floor?unknown=1",
        "mysql://app:hush@db.example/floor",
        "host=db.example password=hush port",
    ],
)
def test_a_url_that_cannot_be_read_is_refused_and_not_quoted(
    opened: object, url: str, tmp_path: Path
) -> None:
    settings = load({"ROUND_LEDGER_HOME": str(tmp_path), "ROUND_LEDGER_DATABASE_URL": url})
    with pytest.raises(Usage, match="not the URL") as told, opened(settings):  # type: ignore[operator] # either of two functions
        pass
    said = "".join(traceback.format_exception(told.value))
    assert not any(part in said for part in ("hush", "hu/", "hu@", "sh@", "hu%"))


def test_a_login_that_may_not_act_for_the_ledger_is_told_what_to_grant(
    database: Database,
) -> None:
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("CREATE ROLE outsider LOGIN")
    try:
        url = conninfo.make_conninfo(database.url, user="outsider")
        with pytest.raises(Unavailable, match="GRANT ledger_writer, ledger_reader") as told:
            Database(url, database.url).connect("ledger_reader")
        assert "lacks a right" in told.value.what
    finally:
        with psycopg.connect(database.url, autocommit=True) as connection:
            connection.execute("DROP ROLE outsider")
