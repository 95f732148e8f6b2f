"""What commands print: JSON Lines to pipe, tables to read, progress on a terminal's stderr.

Results go to stdout, everything said beside them to stderr. Rich is imported only where it draws.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, TypeVar, cast

import msgspec
import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

Json = Annotated[bool, typer.Option("--json", help="Print JSON Lines instead of tables.")]
"""The option of every command that reads."""

WIDTH_PIPED = 160
"""Columns of a table that is not drawn on a terminal."""

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode


class Advance(Protocol):
    """Tell a progress bar how much more was done, and what is being done."""

    def __call__(
        self, steps: int = 1, *, doing: str | None = None, total: int | None = None
    ) -> None:
        """Move on by `steps`; `total` where it is known only now."""


def print_json(each: object, before: Mapping[str, object] | None = None) -> None:
    """One object on a line of its own; structs, mappings and lists alike.

    `before`: members put before those of the object.
    """
    octets = _encode(each)
    if before:
        octets = _encode(before)[:-1] + b"," + octets[1:]
    _put(octets + b"\n")


def print_text(line: str) -> None:
    """A line as it is, in order with what `print_json` prints."""
    _put(line.encode() + b"\n")


def print_drawn(text: str) -> None:
    """What was drawn already, as the terminal writes letters."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _put(octets: bytes) -> None:
    """Give a line to whoever reads our output, at once: a device may wait for its receipt.

    To be the only place that does, so that no command that answers line by line forgets it.
    """
    sys.stdout.buffer.write(octets)
    sys.stdout.buffer.flush()


def print_lines(objects: Iterable[object]) -> None:
    """JSON Lines, each written as it comes."""
    for each in objects:
        print_json(each)


def print_list(
    title: str,
    found: Iterable[T],
    columns: Mapping[str, Callable[[T], object]] | Sequence[str],
    *,
    json: bool,
    as_json: Callable[[T], object] | None = None,
    right: str = "",
    whole: str = "",
    none: str = "",
) -> None:
    """A list as JSON Lines, or as a table whose columns say what they show of each.

    Columns without functions show the cells of a named tuple or the values of a mapping, which are
    JSON objects by themselves. `none` is said under a table without rows; see `show_table`.
    """
    if json:
        print_lines(map(as_json or _by_name, found))
        return
    cells = columns.values() if isinstance(columns, Mapping) else ()
    rows = [[cell(each) for cell in cells] if cells else _cells(each) for each in found]
    show_table(title, tuple(columns), rows, right=right, whole=whole)
    if none and not rows:
        say(none)


def _cells(each: object) -> Sequence[object]:
    return [*(each.values() if isinstance(each, Mapping) else cast("Sequence[object]", each))]


def _by_name(each: object) -> object:
    return each._asdict() if isinstance(each, tuple) and hasattr(each, "_asdict") else each


def console() -> "Console":
    """Where tables are drawn: stdout, at the width there is."""
    from rich.console import Console  # noqa: PLC0415 - 30 ms that `--json` does not need

    return Console(width=None if sys.stdout.isatty() else WIDTH_PIPED, highlight=False)


def show(*what: "RenderableType") -> None:
    """Draw on stdout."""
    console().print(*what)


def show_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: str = "",
    whole: str = "",
) -> None:
    """A table to read. None prints n/a.

    `right` names the columns of figures, space-separated, or `all`; `whole` the one that is copied
    from, and so never broken into lines.
    """
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    table = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = (
            "right" if right == "all" or column in right.split() else "left"
        )
        table.add_column(column, justify=justify, overflow="fold", no_wrap=column == whole)
    for row in rows:
        table.add_row(*(Text("n/a" if cell is None else printable(str(cell))) for cell in row))
    show(table)


def printable(text: str) -> str:
    """A text without what could steer a terminal: what a device sent is shown, never obeyed."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def say(text: str) -> None:
    """A sentence beside the results, on stderr."""
    sys.stderr.write(f"{text}\n")


def warn(text: str) -> None:
    """A sentence beside the results that needs attention, on stderr; red on a terminal."""
    typer.secho(text, fg=typer.colors.RED, err=True)


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Advance]:
    """Progress of long work on stderr, only where that is a terminal. `total` in steps."""
    if not sys.stderr.isatty():
        yield _silent
        return
    from rich.console import Console  # noqa: PLC0415 - as above
    from rich.progress import Progress  # noqa: PLC0415 - as above

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)

        def advance(steps: int = 1, *, doing: str | None = None, total: int | None = None) -> None:
            bar.update(task, advance=steps, description=doing, total=total)

        yield advance


def _silent(steps: int = 1, *, doing: str | None = None, total: int | None = None) -> None:
    del steps, doing, total
