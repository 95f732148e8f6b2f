"""Output of commands: JSON Lines for programs, tables for people, progress on a terminal.

Results go to stdout, all other messages to stderr. Rich is only imported for drawing.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import tzinfo
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, TypeVar, cast

import msgspec
import typer

from replay.text.times import localized

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

Json = Annotated[bool, typer.Option("--json", help="Print JSON Lines instead of tables.")]
"""The option of every command that reads."""

WIDTH_PIPED = 160
"""Columns of a table that is not drawn on a terminal."""

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode


class Advance(Protocol):
    """Advances a progress bar."""

    def __call__(
        self, steps: int = 1, *, doing: str | None = None, total: int | None = None
    ) -> None:
        """Advance by `steps`. doing: the current work. total: if it is known only now."""


def print_json(each: object, before: Mapping[str, object] | None = None) -> None:
    """Print a struct, mapping or list as a line of JSON.

    before: members put before those of the object.
    """
    octets = _encode(each)
    if before:
        octets = _encode(before)[:-1] + b"," + octets[1:]
    _put(octets + b"\n")


def print_text(line: str) -> None:
    """Print a line unchanged, in order with `print_json`."""
    _put(line.encode() + b"\n")


def print_drawn(text: str) -> None:
    """Print text that was already drawn, in the terminal's encoding."""
    sys.stdout.write(text)
    sys.stdout.flush()


def _put(octets: bytes) -> None:
    """Write a line to stdout and flush it, because a device may wait for its receipt.

    All output goes through here, so that no command forgets to flush.
    """
    sys.stdout.buffer.write(octets)
    sys.stdout.buffer.flush()


def print_lines(objects: Iterable[object]) -> None:
    """Print JSON Lines, each as it comes."""
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
    none: str,
) -> None:
    """Print a list as JSON Lines or as a table, whose columns name a function for their cells.

    Columns without functions show the cells of a named tuple or the values of a mapping, which are
    also its JSON. none: what an empty list means, and what to do next; see `show_table`.
    """
    if json:
        print_lines(map(as_json or _by_name, found))
        return
    cells = columns.values() if isinstance(columns, Mapping) else ()
    rows = [[cell(each) for cell in cells] if cells else _cells(each) for each in found]
    show_table(title, tuple(columns), rows, right=right, whole=whole, none=none)


def _cells(each: object) -> Sequence[object]:
    return [*(each.values() if isinstance(each, Mapping) else cast("Sequence[object]", each))]


def _by_name(each: object) -> object:
    return each._asdict() if isinstance(each, tuple) and hasattr(each, "_asdict") else each


def console() -> "Console":
    """The console for tables: stdout, at its width."""
    from rich.console import Console  # noqa: PLC0415 - 30 ms that `--json` does not need

    return Console(width=None if sys.stdout.isatty() else WIDTH_PIPED, highlight=False)


def show(*what: "RenderableType") -> None:
    """Draw on stdout."""
    console().print(*what)


def show_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Iterable[object]],
    *,
    right: str = "",
    whole: str = "",
    zone: tzinfo | None = None,
    none: str = "",
) -> None:
    """Print a table. None is printed as n/a, `_` in a column's name as a space.

    none: the sentence printed in place of a table without rows.

    zone: that of times in cells (RFC 3339, as in JSON); None if there are none.

    right: names of figure columns, space-separated, or `all`. whole: the column that people copy
    from, which is never broken into lines.
    """
    from rich.table import Table  # noqa: PLC0415 - as above
    from rich.text import Text  # noqa: PLC0415 - as above

    table = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        justify: Literal["left", "right"] = (
            "right" if right == "all" or column in right.split() else "left"
        )
        named = column.replace("_", " ")
        table.add_column(named, justify=justify, overflow="fold", no_wrap=column == whole)
    for row in rows:
        texts = ("n/a" if cell is None else printable(str(cell)) for cell in row)
        table.add_row(*(Text(localized(text, zone) if zone else text) for text in texts))
    if none and not table.rows:
        say(none)
    else:
        show(table)


def printable(text: str) -> str:
    """A text without terminal control characters, since devices' texts are not trusted."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def say(text: str) -> None:
    """Print a sentence on stderr, on one line: a device's text in it makes no second one."""
    sys.stderr.write(f"{printable(text)}\n")


def warn(text: str) -> None:
    """Print a warning on stderr, in red on a terminal."""
    typer.secho(printable(text), fg=typer.colors.RED, err=True)


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Advance]:
    """A progress bar on stderr, only if that is a terminal. total: in steps."""
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


@contextmanager
def progress_up_to(what: str) -> Iterator[Callable[[int, int], None]]:
    """As `progress`, for work that says how many steps are done, and of how many."""
    with progress(what) as advance:
        was = 0

        def passed(done: int, total: int) -> None:
            nonlocal was
            advance(done - was, total=total)
            was = done

        yield passed


def _silent(steps: int = 1, *, doing: str | None = None, total: int | None = None) -> None:
    del steps, doing, total
