"""`footage`: segments taken in, frames and clips of them, clocks and pictures checked."""

from replay.cli.footage import custody  # its commands stand first in the help

# isort: split
from replay.cli.footage import add, clock, coverage, cut, health, status
from replay.cli.footage.group import group
from replay.cli.shell.app import family

__all__ = ["add", "app", "clock", "coverage", "custody", "cut", "group", "health", "status"]

app = family()
app.add_typer(group, name="footage", help="Take in footage; frames, clips, clocks, pictures of it.")
