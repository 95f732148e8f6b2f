"""`replay --frames`: puts the export of a round's frames on record, then writes them."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from infra.postgres.connection import Database
from ledger.errors import Refused
from replay.cameras.timeline import FrameLookup
from replay.dossier import pictures, wanted
from replay.dossier.writing.package import beside
from replay.footage.library.files import FrameFile, spilled
from replay.recording.exports import ExportedFootage, tell_of_command
from replay.rounds.reading import LoadedRound


def _taken(shown: Mapping[str, tuple[FrameLookup, FrameFile]]) -> Iterator[ExportedFootage]:
    """The exported footage: camera and time of each frame, by the camera's clock."""
    for sight, _ in shown.values():
        at_us = sight.camera_time_us or 0
        yield ExportedFootage(sight.camera or "", at_us, at_us)


def hand_out(
    database: Database, found: LoadedRound, folder: Path, by: str | None, because: str
) -> int:
    """Record the export, then write the frames; the number of files. Raises `Refused`."""
    story = found.story
    if found.footage is None:
        return 0
    try:
        with beside(folder) as aside:
            shown = pictures(story, spilled(found.footage, wanted(story), aside))
            tell_of_command(database, story.round.property, list(_taken(shown)), by, because)
            for name, (_, frame) in shown.items():
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(frame.path, folder / Path(name).name)
    except OSError as error:
        raise Refused(
            f"A frame cannot be written: {error.strerror}",
            where=str(folder),
            hint="Name a folder that you may write to.",
        ) from error
    return len(shown)
