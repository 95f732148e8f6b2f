"""`footage`: adds segments, writes frames and clips, checks clocks and pictures."""

from replay.cli.footage import add, clock, coverage, custody, cut, health, status
from replay.cli.shell.app import family

PARTS = (
    custody,
    add,
    clock,
    coverage,
    cut,
    health,
    status,
)
"""The modules of the commands, in the order of the help."""

group = family()
for part in PARTS:
    group.add_typer(part.group)

app = family()
app.add_typer(group, name="footage", help="Add footage; show frames, clips and clocks.")
