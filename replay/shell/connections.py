"""The record and its database, opened for one command and closed however it ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from infra.postgres.connection import Database, kept_running, open_database, open_unmigrated
from infra.postgres.tape import PostgresTape
from replay.shell.settings import in_force
from replay.shell.witnessed_log import require_newest_record


@contextmanager
def opened_database(*, serves: bool = False) -> Iterator[Database]:
    """The database named by the settings, or the embedded one, started if need be.

    serves: this process stays. The embedded server is started again if it dies, and it does not
    outlast the process.
    """
    settings = in_force()
    if not serves:
        with open_database(settings) as database:
            yield database
        return
    with open_database(replace(settings, postgres_stays_s=0)) as database, kept_running(settings):
        yield database


@contextmanager
def opened_unmigrated() -> Iterator[Database]:
    """The same database as it is, with or without this program's migrations."""
    with open_unmigrated(in_force()) as database:
        yield database


@contextmanager
def opened_tape(*, serves: bool = False, takes_in: bool = False) -> Iterator[PostgresTape]:
    """The record, for reading and appending. serves: as of `opened_database`.

    takes_in: it takes in feeds, so it must have all that the witnessed log sealed (`Refused`).
    """
    with opened_database(serves=serves) as database, PostgresTape(database) as tape:
        if takes_in:
            require_newest_record(database)
        yield tape
