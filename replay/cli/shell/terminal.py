"""What was drawn for people, printed as wide as the terminal is."""

import sys
from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.text import Text

from replay.rounds.drawing import WIDTH, without_trailing_blanks
from replay.shell.output import print_drawn


def draw(parts: Iterable[RenderableType]) -> None:
    """Draw on a terminal as wide as it is; elsewhere in 100 columns, without trailing blanks."""
    if sys.stdout.isatty():
        console = Console(highlight=False)
        for part in parts:
            console.print(part, soft_wrap=_is_to_copy(part))
        return
    console = Console(width=WIDTH, no_color=True, force_terminal=False, highlight=False)
    for part in parts:
        with console.capture() as capture:
            console.print(part, soft_wrap=_is_to_copy(part))
        print_drawn(without_trailing_blanks(capture.get()))


def _is_to_copy(part: RenderableType) -> bool:
    """Whether a part is a line to copy, such as a command: it is never broken in two."""
    return isinstance(part, Text) and bool(part.no_wrap)
