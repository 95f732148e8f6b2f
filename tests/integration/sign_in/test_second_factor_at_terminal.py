"""A command that a person signs asks for the code too, if the person has a second factor."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from consumers.registry import install
from infra.access.connections import AccessDatabase
from infra.access.second_factor import SecondFactors, _hash, new_recovery_codes
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


def test_who_has_a_passkey_alone_reads_what_to_give(people: Database, tmp_path: Path) -> None:
    """The control has an app, and is asked for its code without a word more."""
    with closing(AccessDatabase(people)) as access, access.open() as connection:
        connection.execute(
            "INSERT INTO access.passkeys VALUES (1, NULL, 0, 'finb', 'phone', '\\x01', '\\x02')"
        )
        [code, *_] = new_recovery_codes(connection, "finb")
    says = "finb has a passkey and no authenticator app, and a terminal takes no passkey"
    refused = given(people, tmp_path, "finb", PASSWORD)
    assert (refused.code, says in refused.err) == (2, True)
    let_in = given(people, tmp_path, "finb", PASSWORD, code)
    assert "password or code" not in let_in.err, "a recovery code does"
    assert "takes no passkey" not in given(people, tmp_path, "fina", PASSWORD, CODE).err
