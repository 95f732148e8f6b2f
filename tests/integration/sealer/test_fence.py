"""The fence: a record that lacks what was sealed, or is another one, takes in no facts."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import psycopg
import pytest

from consumers.sealer.fence import require_newest
from consumers.sealer.sealer import SealedLog, seal
from infra.access.connections import AccessDatabase, Actor, note
from infra.tile_folder import TileFolder
from ledger.errors import Refused
from ledger.witnessed_log.signed_notes import SIGNATURE, new_key
from tests.fixtures.postgres import fact
from tests.integration.sealer.test_sealed_record import CUT_OFF, Published

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from consumers.sealer.witnesses import Witness
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape
    from ledger.witnessed_log.signed_notes import VerifierKey
    from tests.integration.sealer.conftest import RunningWitness

KEY = new_key("ledger.example/record", SIGNATURE)


def sealed(database: Database, folder: TileFolder, witnesses: Sequence[Witness] = ()) -> None:
    log = SealedLog(folder, KEY, witnesses)
    seal(database, log, stop=lambda: True, listener=Published(), follow=False)


def cut_off(many: int) -> str:
    """SQL: what a restored backup of seven facts leaves of a record of so many."""
    return CUT_OFF.replace("received - 4", f"received - {many - 7}")


def changed(database: Database, statement: str) -> None:
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(statement.encode())


def test_a_record_that_goes_on_from_its_log_is_let_through(
    database: Database, tape: PostgresTape, folder: TileFolder
) -> None:
    require_newest(database, TileFolder(folder.folder.with_name("none")))
    require_newest(database, folder)
    sealed(database, folder)
    tape.append([fact(n) for n in range(10)])
    require_newest(database, folder)
    sealed(database, folder)
    require_newest(database, folder)
    access = AccessDatabase(database)
    with access.open() as connection:
        for number in range(600):  # more than a bundle of entries behind the last fact
            note(connection, "signed_in", "maria", Actor("maria", f"10.0.0.{number % 250}"))
    access.close()
    sealed(database, folder)
    tape.append([fact(n) for n in range(10, 20)])
    require_newest(database, folder)
    changed(database, cut_off(20))
    with pytest.raises(Refused, match="lacks 3 facts that the witnessed log sealed: it has 7"):
        require_newest(database, folder)


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        (cut_off(10), "lacks 3 facts"),
        ("UPDATE ledger.tape SET state = '{}' WHERE notification_id = 10", "Fact 10 is not"),
        ("DELETE FROM ledger.tape WHERE notification_id = 10", "Fact 10 is not"),
    ],
    ids=["cut-off", "edited", "deleted"],
)
def test_a_record_that_does_not_is_refused(
    database: Database, tape: PostgresTape, folder: TileFolder, statement: str, says: str
) -> None:
    tape.append([fact(n) for n in range(10)])
    sealed(database, folder)
    changed(database, statement)
    with pytest.raises(Refused, match=says):
        require_newest(database, folder)


def test_record_and_log_set_back_together_are_refused_by_a_witness(
    database: Database,
    tape: PostgresTape,
    folder: TileFolder,
    witness: Callable[[str, VerifierKey], AbstractContextManager[RunningWitness]],
) -> None:
    with witness("one.example", KEY.verifier) as one:
        tape.append([fact(n) for n in range(7)])
        sealed(database, folder, [one.asked])
        old = TileFolder(shutil.copytree(folder.folder, folder.folder.with_name("old")))
        tape.append([fact(n) for n in range(7, 10)])
        sealed(database, folder, [one.asked])
        require_newest(database, folder, [one.asked])
        changed(database, cut_off(10))
        require_newest(database, old)  # the control: both fit each other
        with pytest.raises(Refused, match="was set back"):
            require_newest(database, old, [one.asked])
    require_newest(database, old, [one.asked])  # a witness that is down stops nothing
