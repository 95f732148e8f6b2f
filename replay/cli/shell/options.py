"""Options and arguments that several commands have, and how a time given with one is read."""

from datetime import tzinfo
from pathlib import Path
from typing import Annotated

import typer

from ledger.errors import Usage
from replay.shell.output import say
from replay.text.times import is_gaming_day, is_time_of_day, read, stamp
from replay.text.typed import written


def require_gaming_day(param: typer.CallbackParam, day: str | None) -> str | None:
    """The gaming day as typed. Raises `Usage` if it is not a day as YYYY-MM-DD."""
    if day is not None and not is_gaming_day(day):
        is_option = param.param_type_name == "option"
        where = param.opts[0] if is_option else param.metavar or param.name
        raise Usage(f"`{day}` is not a gaming day", where=where, hint="Give it as 2026-11-20.")
    return day


FootageFolder = Annotated[
    Path | None,
    typer.Option(
        "--footage",
        metavar="FOLDER",
        help="Folder of segments; else the footage index, or `footage` in the home.",
    ),
]
RoundName = Annotated[
    str,
    typer.Argument(
        metavar="ROUND", help="[property:]table/gaming day/number, such as CC-07/2026-11-20/231."
    ),
]
"""The argument of every command about one round."""

TableName = Annotated[str | None, typer.Option(help="Table, such as CC-07.")]
GamingDay = Annotated[
    str | None,
    typer.Option(metavar="DAY", help="Gaming day, YYYY-MM-DD.", callback=require_gaming_day),
]
Casino = Annotated[str | None, typer.Option("--property", help="Casino, such as hollywood.")]

By = Annotated[
    str,
    typer.Option(
        "--by",
        metavar="EMPLOYEE",
        help="Your credential, such as S-2001.",
        callback=lambda typed: written(typed, "--by"),
    ),
]
Second = Annotated[
    str, typer.Option("--second", metavar="EMPLOYEE", help="Credential of the second person.")
]
TakenBy = Annotated[
    str | None, typer.Option("--by", metavar="WHO", help="Credential of the person who takes it.")
]
TakenBecause = Annotated[
    str, typer.Option("--because", metavar="TEXT", help="Reason, for the record.")
]


def moment(text: str, where: str, zone: tzinfo, *, after_us: int | None = None) -> int:
    """A time as it is given with an option, microseconds since the epoch. Raises `Usage`.

    A time of day alone is read as `replay.text.times.read` says, and printed with its date.
    """
    time_us = read(text, zone, where, after_us=after_us)
    if is_time_of_day(text):
        say(f"{where} {text} is read as {stamp(time_us, zone, ms=False)}.")
    return time_us


def between(since: str, until: str, zone: tzinfo) -> tuple[int, int]:
    """The times given with --from and --to; a time of day alone is the first after --from."""
    from_us = moment(since, "--from", zone)
    return from_us, moment(until, "--to", zone, after_us=from_us)


PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help="Your password: first line of a file, `-` for stdin; default: typed. The second "
        "line is the code of a second factor. Only once the ledger has users.",
    ),
]
