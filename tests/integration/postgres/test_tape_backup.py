"""A backup comes back whole, and one that was cut or altered does not pass for it."""

from __future__ import annotations

import itertools
import os
import stat
import threading
from typing import TYPE_CHECKING, NoReturn

import psycopg
import pytest
from psycopg import conninfo

from infra.postgres import backup
from infra.postgres.backup import _in_force, back_up, restore
from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.errors import NotFound, Refused, Unavailable
from ledger.record.tape import Quarantined
from tests.fixtures.postgres import fact, new_name

if TYPE_CHECKING:
    from pathlib import Path


PASSWORD = " with # and = "  # noqa: S105 - nobody's
GARBAGE = Quarantined(b"\xff", "not_json", "This is not JSON.", "$", "Send JSON.")


@pytest.fixture
def filled(tape: PostgresTape) -> PostgresTape:
    tape.append([*(fact(n, place=f"CC-{n % 3:02d}") for n in range(60)), GARBAGE])
    return tape


def test_a_backup_is_restored_into_a_new_database_and_verified(
    filled: PostgresTape, database: Database, tmp_path: Path
) -> None:
    backup = back_up(database, tmp_path)
    restored, seen = restore(tmp_path, database, new_name())
    assert seen.broken is None
    assert seen.heads == backup.heads == filled.heads()
    with PostgresTape(restored) as again:
        assert again.read(0, 100) == filled.read(0, 100)
        assert again.quarantined() == filled.quarantined()
        assert again.counters() == filled.counters()
        assert again.append([fact(1, place="CC-01")])[0].verdict == "duplicate"
        assert again.append([fact(99)])[0].position == 61
        assert again.verify(backup.heads).broken is None


def test_a_restored_record_is_as_well_guarded_as_the_first(
    filled: PostgresTape, database: Database, tmp_path: Path
) -> None:
    back_up(database, tmp_path)
    restored, _ = restore(tmp_path, database, new_name())
    for role in ("ledger_writer", "ledger_owner"):
        with (
            restored.connect(role) as connection,
            pytest.raises(psycopg.Error, match=r"denied|added"),
        ):
            connection.execute("DELETE FROM ledger.tape")


def test_a_backup_of_an_altered_record_does_not_verify(
    filled: PostgresTape, database: Database, tmp_path: Path
) -> None:
    with psycopg.connect(database.url, autocommit=True) as superuser:
        superuser.execute("SET session_replication_role = replica")
        superuser.execute("UPDATE ledger.tape SET state = '{}' WHERE notification_id = 30")
    back_up(database, tmp_path)
    _, seen = restore(tmp_path, database, new_name())
    assert seen.broken is not None
    assert (seen.broken.kind, seen.broken.position) == ("edited payload", 30)


def test_an_older_backup_is_told_from_the_newest_by_the_heads_kept_elsewhere(
    filled: PostgresTape, database: Database, tmp_path: Path
) -> None:
    back_up(database, tmp_path)
    filled.append([fact(100)])
    _, seen = restore(tmp_path, database, new_name(), kept=filled.heads())
    assert seen.broken is not None
    assert (seen.broken.kind, seen.broken.position) == ("truncated", 61)


def test_facts_may_arrive_while_a_backup_is_taken(
    filled: PostgresTape, database: Database, tmp_path: Path
) -> None:
    done = threading.Event()

    def keep_appending() -> None:
        for number in itertools.count(1_000):
            filled.append([fact(number)])
            if done.is_set():
                return

    appending = threading.Thread(target=keep_appending)
    appending.start()
    back_up(database, tmp_path)
    done.set()
    appending.join()
    restored, seen = restore(tmp_path, database, new_name())
    assert seen.broken is None
    with PostgresTape(restored) as again:
        held = again.counters().appended
    assert 60 <= held < filled.counters().appended


def test_a_backup_overwrites_nothing(
    filled: PostgresTape, database: Database, tmp_path: Path
) -> None:
    back_up(database, tmp_path)
    with pytest.raises(Refused, match="a backup already"):
        back_up(database, tmp_path)
    name = str(psycopg.conninfo.conninfo_to_dict(database.url)["dbname"])
    with pytest.raises(Refused, match="holds a record already"):
        restore(tmp_path, database, name)


def test_a_backup_that_failed_half_way_can_be_made_in_the_same_folder(
    filled: PostgresTape, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(program: str, url: str, arguments: list[str]) -> NoReturn:
        (tmp_path / "record.partial").write_bytes(b"half an archive")
        raise Unavailable(f"{program} failed", where=url, hint=" ".join(arguments))

    monkeypatch.setattr(backup, "_run", fail)
    with pytest.raises(Unavailable, match="pg_dump failed"):
        back_up(database, tmp_path)
    monkeypatch.undo()
    assert back_up(database, tmp_path).archive.read_bytes().startswith(b"PGDMP")


def test_what_is_no_backup_is_not_restored(
    filled: PostgresTape, database: Database, tmp_path: Path
) -> None:
    with pytest.raises(NotFound):
        restore(tmp_path, database, new_name())
    back_up(database, tmp_path)
    (tmp_path / "record.pgdump").write_bytes(b"PGDMP and then nothing")
    with pytest.raises(Unavailable, match="pg_restore failed"):
        restore(tmp_path, database, new_name())


def test_nobody_else_may_read_a_backup(
    filled: PostgresTape, database: Database, tmp_path: Path
) -> None:
    before = os.umask(0o022)
    try:
        backup = back_up(database, tmp_path / "made" / "here")
    finally:
        os.umask(before)
    modes = [
        stat.S_IMODE(path.stat().st_mode)
        for path in (backup.archive.parent, backup.archive, backup.heads_file)
    ]
    assert [oct(mode) for mode in modes] == ["0o700", "0o600", "0o600"]


def test_every_parameter_of_a_connection_reaches_the_programs(
    filled: PostgresTape, database: Database, tmp_path: Path
) -> None:
    """Options too: as ledger_writer it may read nothing; as ledger_owner, who may enter as well."""
    url = conninfo.make_conninfo(
        database.url,
        options="-c role=ledger_reader",
        application_name="a dump",
        password=PASSWORD,
    )
    given = _in_force(url)
    assert given["options"] == "-c role=ledger_reader"
    assert given["application_name"] == "a dump"
    assert given["password"] == PASSWORD
    assert "service" not in given
    with pytest.raises(Unavailable, match=r"pg_dump failed: .*denied"):
        back_up(_with_options(database, "-c role=ledger_writer"), tmp_path / "refused")
    assert back_up(_with_options(database, "-c role=ledger_owner"), tmp_path / "read").heads


def _with_options(database: Database, options: str) -> Database:
    """Only the programs' connection has these options: they must be given them."""
    return Database(database.url, conninfo.make_conninfo(database.owner_url, options=options))
