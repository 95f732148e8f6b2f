"""The group `dispute`, on which several modules register their commands."""

from typing import Annotated

import typer

from replay.cli.shell.app import family

dispute = family()

Property = Annotated[
    str | None, typer.Option("--property", help="Casino; else the one that has it.")
]
