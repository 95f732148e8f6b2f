"""What the commands of the group `footage` share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from consumers.cameras.rows import properties_with_cameras
from infra.postgres.view_tables import ViewStore
from ledger.errors import NotFound, Unavailable, Usage
from replay.footage.library.index import FootageIndex, IndexedSegment
from replay.shell.settings import in_force

Camera = Annotated[str, typer.Option("--camera", metavar="NAME", help="The camera.")]
Property = Annotated[
    str | None,
    typer.Option("--property", metavar="NAME", help="Casino; else the one that has such a camera."),
]


def library() -> FootageIndex:
    """The footage index of this home."""
    return FootageIndex(in_force().home)


def property_of(store: ViewStore, camera: str, named: str | None) -> str:
    """The property meant: the one named, else the only one that knows the camera. Raises `Usage`.

    The view `cameras` must be at the end of the record.
    """
    if named is not None:
        return named
    found = properties_with_cameras(store, camera=camera)
    if len(found) == 1:
        return found[0]
    what = "No fact speaks of this camera" if not found else "Several properties have this camera"
    hint = f"Name one: {', '.join(found)}." if found else "Name the casino: --property NAME."
    raise Usage(what, where=camera, hint=hint)


@contextmanager
def told_errors() -> Iterator[None]:
    """Turn what a full or forbidden disk says into what a user can act on."""
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"The footage index cannot be written: {error.strerror}",
            where=str(error.filename or in_force().home),
            hint="Make room there, or name another home with ROUND_LEDGER_HOME.",
        ) from error


def entries_of(index: FootageIndex, camera: str, property_: str) -> list[IndexedSegment]:
    """The segments of a camera whose files are whole. Raises `NotFound` where there is none."""
    entries = [entry for entry in index.entries(camera, property_) if index.whole(entry)]
    if not entries:
        raise NotFound(
            "The index holds no segment of this camera",
            where=camera,
            hint="Take them in with `round-ledger footage add`.",
        )
    return entries
