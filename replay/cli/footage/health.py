"""`footage health`: checks cameras' pictures for faults."""

from typing import Annotated

import typer
from msgspec import to_builtins

from consumers.cameras.cameras import CAMERA_FACTS, CAMERAS
from consumers.rounds.index import ROUND_INDEX
from infra.postgres.view_tables import ViewStore, reading
from ledger.values import format_time
from replay.cameras.health import Ailing
from replay.cameras.picture_checks import (
    EVERY_US,
    ailing,
    happened_on_record,
    keep_usual,
    seen_of,
)
from replay.cli.footage.group import entries_of, library
from replay.cli.shell.app import family
from replay.cli.shell.errors import FINDINGS
from replay.footage.library.index import FootageIndex, IndexedSegment
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_json, progress, say, show_table
from replay.shell.zones import house_zones
from replay.text.times import stamp

group = family()

S = 1_000_000


@group.command("health")
def health(
    camera: Annotated[
        str | None, typer.Option("--camera", metavar="NAME", help="Only this camera.")
    ] = None,
    *,
    every: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="Seconds between pictures.")
    ] = EVERY_US / S,
    json: Json = False,
) -> None:
    """Check cameras for dark, blurred, moved or frozen pictures.

    Reads key frames of the footage index. A camera has moved if a picture differs from its first
    lit one. A picture is frozen only if it stands still while facts record activity at its table: a
    quiet table stands still, too. Exit code 1 if anything is found.

    Example: round-ledger footage health --camera CC-02-cam1
    """
    index = library()
    found: list[tuple[str, str, Ailing]] = []
    with opened_views([ROUND_INDEX, CAMERAS]) as database:
        tables = [each.name for each in ROUND_INDEX.tables]
        zones = house_zones(database)
        with (
            reading(database, [*tables, CAMERA_FACTS.name]) as store,
            progress("pictures") as advance,
        ):
            cameras = _by_camera(index, camera)
            for name, entries in cameras:
                ails = _of_camera(store, index, entries, round(every * S))
                found += [(entries[0].property, name, of) for of in ails]
                advance(1, doing=name)
    if json:
        for _, name, each in found:
            told = to_builtins(each)
            times = {"from": format_time(told.pop("from_us")), "to": format_time(told.pop("to_us"))}
            print_json({"camera": name, **times, **told})
    elif found:
        show_table(
            "Findings (times by the camera's clock)",
            ("camera", "finding", "from", "to", "pictures", "what"),
            (
                (
                    name,
                    of.fault,
                    stamp(of.from_us, zones.of(property_)),
                    stamp(of.to_us, zones.of(property_)),
                    of.pictures,
                    of.says,
                )
                for property_, name, of in found
            ),
            right="pictures",
        )
    elif not cameras:
        say("There is no footage to check: `footage add` puts it in the index.")
    else:
        say("No faults were found.")
    if found:
        raise typer.Exit(FINDINGS)


def _by_camera(index: FootageIndex, camera: str | None) -> list[tuple[str, list[IndexedSegment]]]:
    cameras: dict[tuple[str, str], list[IndexedSegment]] = {}
    entries = index.entries() if camera is None else entries_of(index, camera)
    for entry in entries:
        if camera is not None or index.whole(entry):
            cameras.setdefault((entry.property, entry.camera), []).append(entry)
    return [(name, entries) for (_, name), entries in sorted(cameras.items())]


def _of_camera(
    store: ViewStore, index: FootageIndex, entries: list[IndexedSegment], every_us: int
) -> list[Ailing]:
    """The faults of one camera, by all of its pictures; its usual look is stored."""
    seen = seen_of(index, entries, every_us)
    keep_usual(index, entries[0], seen)
    return ailing(seen._replace(usual=None), entries[0], happened_on_record(store))
