"""Options and arguments that several commands have, and how a time given with one is read."""

from pathlib import Path
from typing import Annotated

import typer

from replay.shell.settings import in_force
from replay.text.times import read

FootageFolder = Annotated[
    Path | None,
    typer.Option(
        "--footage",
        metavar="FOLDER",
        help="Folder of segments; else the footage index, or `footage` in the home.",
    ),
]
RoundName = Annotated[
    str, typer.Argument(metavar="ROUND", help="[property:]table/gaming day/number")
]
"""The argument of every command about one round."""

TableName = Annotated[str | None, typer.Option(help="Table, as CC-07.")]
GamingDay = Annotated[str | None, typer.Option(help="Gaming day, YYYY-MM-DD.")]
Casino = Annotated[str | None, typer.Option("--property", help="Casino, as hollywood.")]

By = Annotated[str, typer.Option("--by", metavar="EMPLOYEE", help="Your credential, as S-2001.")]
TakenBy = Annotated[
    str | None, typer.Option("--by", metavar="WHO", help="Credential of the person who takes it.")
]
TakenBecause = Annotated[
    str, typer.Option("--because", metavar="TEXT", help="Reason, for the record.")
]


def moment(text: str, where: str) -> int:
    """A time as it is given with an option, microseconds since the epoch. Raises `Usage`."""
    return read(text, in_force().time_zone, where)
