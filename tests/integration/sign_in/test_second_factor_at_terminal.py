"""A command that a person signs asks for the code too, if the person has a second factor."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from consumers.registry import install
from infra.access.connections import AccessDatabase
from infra.access.second_factor import SecondFactors, _hash
from tests.fixtures.cli import Cli, environ
from tests.fixtures.web import PASSWORD, add_user

if TYPE_CHECKING:
    from pathlib import Path

    from infra.postgres.connection import Database
    from tests.fixtures.cli import Ran

CODE = "AAAA BBBB CCCC DDDD EEEE FFFF"


@pytest.fixture
def people(database: Database, tmp_path: Path) -> Database:
    """Two people of finance. Fina has a second factor, with one recovery code."""
    install(database)
    with closing(AccessDatabase(database)) as access:
        for name in ("fina", "finb"):
            add_user(access, name, "finance")
        SecondFactors(access, tmp_path).begin("fina")
        with access.open() as connection:
            connection.execute("UPDATE access.second_factors SET confirmed_at_us = 1")
            connection.execute(
                "INSERT INTO access.recovery_codes VALUES ('fina', %s)", (_hash(CODE),)
            )
    return database


def given(database: Database, home: Path, by: str, *lines: str, **settings: str) -> Ran:
    """What `acknowledge` answers to these lines on stdin; there is no such break."""
    cli = Cli(environ(home, ROUND_LEDGER_DATABASE_URL=database.url, **settings))
    typed = "".join(f"{each}\n" for each in lines).encode()
    what = ("acknowledge", "--position", "41", "--because", "Edited by SQL.")
    return cli(*what, "--by", by, "--second", "S-other", "--password-file", "-", stdin=typed)


def test_a_command_asks_for_the_code_after_the_password(people: Database, tmp_path: Path) -> None:
    let_in = given(people, tmp_path, "finb", PASSWORD)
    assert "password or code" not in let_in.err, "who has none is not asked"
    for lines in ((PASSWORD,), ("another horse", CODE)):
        refused = given(people, tmp_path, "fina", *lines)
        assert (refused.code, "password or code of fina is wrong" in refused.err) == (2, True)
    assert given(people, tmp_path, "fina", PASSWORD, CODE).err == let_in.err
    again = given(people, tmp_path, "fina", PASSWORD, CODE)
    assert "password or code of fina is wrong" in again.err, "a recovery code counts once"


def test_where_it_is_required_a_command_needs_one(people: Database, tmp_path: Path) -> None:
    required = {"ROUND_LEDGER_SECOND_FACTOR": "required"}
    refused = given(people, tmp_path, "finb", PASSWORD, **required)
    assert (refused.code, "you have none" in refused.err) == (2, True)
    assert "you have none" not in given(people, tmp_path, "finb", PASSWORD).err, "the control"
