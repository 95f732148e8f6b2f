"""`footage`: segments taken in, frames and clips of them, clocks and pictures checked."""

from replay.cli import (
    custody,
    footage_add,
    footage_clock,
    footage_coverage,
    footage_cut,
    footage_health,
    footage_status,
)
from replay.cli.app import family
from replay.cli.footage_group import group

__all__ = ["app", "custody", "footage_add", "footage_clock", "footage_coverage", "footage_cut"]
__all__ += ["footage_health", "footage_status", "group"]

app = family()
app.add_typer(group, name="footage", help="Take in footage; frames, clips, clocks, pictures of it.")
