"""The record and its database, opened for one command and closed however it ends."""

from collections.abc import Iterator
from contextlib import contextmanager

from infra.postgres.connection import Database, kept_running, open_database, open_unmigrated
from infra.postgres.tape import PostgresTape
from replay.shell.settings import in_force


@contextmanager
def opened_database() -> Iterator[Database]:
    """The database named by the settings, or the embedded one, started if need be."""
    with open_database(in_force()) as database:
        yield database


@contextmanager
def opened_unmigrated() -> Iterator[Database]:
    """The same database as it is, with or without this program's migrations."""
    with open_unmigrated(in_force()) as database:
        yield database


@contextmanager
def opened_tape() -> Iterator[PostgresTape]:
    """The record, for reading and appending."""
    with opened_database() as database, PostgresTape(database) as tape:
        yield tape


@contextmanager
def opened_running_tape() -> Iterator[PostgresTape]:
    """The record for a process that stays; an embedded database that dies is started again."""
    with opened_tape() as tape, kept_running(in_force()):
        yield tape
