"""The witnessed log of this machine, and the witnesses that the settings name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ledger.errors import Usage
from replay.shell.settings import in_force

if TYPE_CHECKING:
    from pathlib import Path

    from consumers.sealer.witnesses import Witness
    from infra.postgres.connection import Database
    from infra.tile_folder import TileFolder


def log_folder() -> TileFolder:
    """The folder of the log, begun or not."""
    from infra.tile_folder import TileFolder  # noqa: PLC0415 - few commands need it

    return TileFolder(in_force().log_folder)


def known_witnesses() -> list[Witness]:
    """The witnesses in the file of the settings. Raises `Usage`."""
    from consumers.sealer.witnesses import Witness  # noqa: PLC0415 - few houses have witnesses
    from ledger.witnessed_log.signed_notes import verifier_from_text  # noqa: PLC0415 - as above

    path = in_force().witnesses_file
    if path is None:
        return []
    where = str(path)
    rows = [line.split() for line in read_text(path).splitlines() if line.strip()]
    if any(len(row) != 2 or not row[0].startswith(("http://", "https://")) for row in rows):  # noqa: PLR2004 - an address and a key
        raise Usage(
            "A line is not a witness",
            where=where,
            hint="Give each line an address and the witness's public key: https://... name+...",
        )
    return [Witness(address, verifier_from_text(key, where)) for address, key in rows]


def newest_checkpoint() -> str:
    """The signed text of the newest checkpoint; empty without one that this process may read."""
    return (log_folder().checkpoint() or "") if _may_read_log() else ""


def _may_read_log() -> bool:
    return os.access(in_force().log_folder, os.R_OK | os.X_OK)


def require_newest_record(database: Database) -> None:
    """Raise `Refused` if the record lacks what this machine's log sealed, or is another one.

    A log that this process may not read is passed over: its sealer compares it.
    """
    if not _may_read_log():
        return
    folder = log_folder()
    if folder.has_begun:
        from consumers.sealer.fence import require_newest  # noqa: PLC0415 - as above

        require_newest(database, folder, known_witnesses())


def read_text(path: Path) -> str:
    """The text of a file. Raises `Usage`."""
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Usage(
            f"The file cannot be read: {error}", where=str(path), hint="Name another one."
        ) from error
