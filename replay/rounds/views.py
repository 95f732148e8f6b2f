"""Views caught up before a command reads them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from consumers.runtime.lifecycle import Projection, catch_up, install
from infra.postgres.connection import Database
from infra.postgres.tape import require_property
from infra.postgres.view_tables import tape_source
from ledger.errors import NotFound
from ledger.values import quantity
from replay.shell.collector import collect_seldom
from replay.shell.connections import opened_database
from replay.shell.output import Advance, progress


@contextmanager
def opened_views(
    projections: Sequence[Projection], property_: str | None = None
) -> Iterator[Database]:
    """The record's database, with these views caught up (ADR 0061).

    property_: what is asked for. Raises `NotFound` if no fact is of it.
    """
    with opened_database() as database:
        require_property(database, property_)
        with progress("views") as advance:
            catch_up_views(database, projections, advance)
        collect_seldom()
        yield database


def catch_up_views(database: Database, projections: Sequence[Projection], advance: Advance) -> None:
    """Catch up these views to the end of the record; those that are missing are created.

    If another process does it too, each batch is applied once, by either of them.
    """

    def reached(view: str, position: int) -> None:
        advance(0, doing=f"view {view}: {quantity(position, 'fact')}")

    with tape_source(database) as source:
        try:
            catch_up(database, source, projections, progress=reached)
        except NotFound:  # the first command on this record
            install(database, projections)
            catch_up(database, source, projections, progress=reached)
