"""Functions that the commands of the group `footage` share."""

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
    typer.Option(
        "--property", metavar="NAME", help="Casino; default: the only one with that camera."
    ),
]


def library() -> FootageIndex:
    """The footage index of this home."""
    return FootageIndex(in_force().home)


def property_of(store: ViewStore, camera: str, named: str | None) -> str:
    """The named property, else the only one with this camera. Raises `Usage`.

    The view `cameras` must be at the end of the record.
    """
    if named is not None:
        return named
    found = properties_with_cameras(store, camera=camera)
    if len(found) == 1:
        return found[0]
    what = "No fact is about this camera" if not found else "Several properties have this camera"
    hint = (
        f"Name one: {', '.join(found)}."
        if found
        else "Check its name; a new camera needs --property NAME, its casino."
    )
    raise Usage(what, where=camera, hint=hint)


@contextmanager
def told_errors() -> Iterator[None]:
    """Turn errors of a full or read-only disk into a message with a hint."""
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"The footage index cannot be written: {error.strerror}",
            where=str(error.filename or in_force().home),
            hint="Free some space there, or name another home with ROUND_LEDGER_HOME.",
        ) from error


def entries_of(
    index: FootageIndex, camera: str, property_: str | None = None
) -> list[IndexedSegment]:
    """The segments of a camera with unchanged files. Raises `NotFound` if there is none."""
    entries = [entry for entry in index.entries(camera, property_) if index.whole(entry)]
    if not entries:
        raise NotFound(
            "The footage index has no segment of this camera",
            where=camera,
            hint="`round-ledger footage list` has the cameras; `footage add` adds segments.",
        )
    return entries
