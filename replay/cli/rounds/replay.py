"""`replay`: prints a round from the record and its cameras.

Findings do not change the exit code: it is 0 for any round that can be replayed.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ledger.errors import Usage
from ledger.values import quantity
from replay.cli.shell.app import family
from replay.cli.shell.options import FootageFolder, PasswordFile, RoundName, TakenBecause, TakenBy
from replay.cli.shell.terminal import draw
from replay.rounds.reading import ROUND_VIEWS, footage_folder, load_round
from replay.rounds.story import Story
from replay.rounds.story_text import moment_json, ruling_json, tell
from replay.rounds.views import opened_views
from replay.shell.output import Json, print_lines, say
from replay.shell.zones import house_zones

app = family()


@app.command("replay")
def replay(  # noqa: PLR0913 - one option a field
    round_: RoundName,
    *,
    at: Annotated[
        int | None, typer.Option(metavar="N", help="Only the moment after fact N.")
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Show face-down cards as the record knows them.")
    ] = False,
    footage: FootageFolder = None,
    frames: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write the frames to this folder, as PNG.")
    ] = None,
    by: TakenBy = None,
    because: TakenBecause = "replay --frames",
    password_file: PasswordFile = None,
    json: Json = False,
) -> None:
    """Replay a round: table, cameras, money owed and paid.

    Prints the table after each fact, and the frame of each camera at that instant.

    Cards that lie face down stay so until they are turned. If a camera has no frame, one of seven
    reasons says why. Each frame is put on record before it is written, with --by and --because.

    Example: round-ledger replay CC-02/2026-11-20/61
    """
    with opened_views(ROUND_VIEWS) as database:
        found = load_round(database, round_, footage_folder(footage))
        story, zone = found.story, house_zones(database).of(found.story.round.property)
        if at is not None and not 1 <= at <= len(story.moments):
            raise Usage(
                f"The round has only {quantity(len(story.moments), 'fact')}",
                where=f"--at {at}",
                hint=f"Give a number from 1 to {len(story.moments)}.",
            )
        written = None
        if frames is not None:
            from replay.cli.rounds import frames as export  # noqa: PLC0415 - no other replay needs it
            from replay.cli.shell.people import INVESTIGATORS, Signing  # noqa: PLC0415 - few ask

            by = Signing(by, password_file).of(database, *INVESTIGATORS)
            written = export.hand_out(database, found, frames, by, because)
    if json:
        print_lines(_replay_json(story, at))
    else:
        draw(tell(story, zone, at=at, hindsight=all_))
    if written is not None:
        say(f"Wrote {quantity(written, 'frame')} to {frames}.")


def _replay_json(story: Story, at: int | None) -> Iterator[dict[str, object]]:
    """An object for each moment, then the ruling; or only the requested moment."""
    if at is not None:
        yield moment_json(story, at)
        return
    for number in range(1, len(story.moments) + 1):
        yield moment_json(story, number)
    yield ruling_json(story)
