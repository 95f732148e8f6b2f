"""The page `cli.md` of the site: every command with its arguments and options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from replay.cli.shell.app import COMMANDS, app, load
from replay.docs import markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = "Example:"
"""What stands before the one example of a command's help."""


def page() -> str:
    """The page."""
    return markdown.page(
        "Commands",
        f"{app.info.help} {markdown.joined(str(app.info.epilog))}",
        markdown.table(
            ("command", "what it does"),
            ((f"[`{row.name}`](#{row.name})", row.says) for row in COMMANDS),
        ),
        "An error says on stderr what is wrong, where, and what to do now; see "
        "[errors](errors.md). `--json` prints JSON Lines on stdout. Progress is drawn on stderr, "
        "only where that is a terminal.",
        *(part for name, command in commands() for part in _command(name, command)),
    )


def commands() -> Iterator[tuple[str, Any]]:
    """Every command by its full name, groups before what they hold."""
    for row in COMMANDS:
        yield from _walk(row.name, load(row))


def told(command: Any) -> tuple[str, str]:  # noqa: ANN401 - Typer's own command, vendored
    """A command's help without its example, and the example."""
    text, _, example = (command.help or "").partition(EXAMPLE)
    return text.strip(), example.strip()


def _walk(name: str, command: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - as above
    yield name, command
    for sub, within in getattr(command, "commands", {}).items():
        yield from _walk(f"{name} {sub}", within)


def _command(name: str, command: Any) -> Iterator[str]:  # noqa: ANN401 - as above
    text, example = told(command)
    yield f"{'##' if ' ' not in name else '###'} {name}"
    yield "\n\n".join(markdown.joined(part) for part in text.split("\n\n"))
    if example:
        yield markdown.block(markdown.joined(example))
    yield markdown.table(("argument or option", "default", "what it is"), _parameters(command))


def _parameters(command: Any) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401 - as above
    for parameter in command.params:
        if parameter.name == "help":
            continue
        default = parameter.default
        shown = "" if default in (None, False, "") or callable(default) else markdown.code(default)
        yield markdown.code(_name(parameter)), shown, parameter.help or ""


def _name(parameter: Any) -> str:  # noqa: ANN401 - as above
    """How a parameter is given on the command line."""
    takes: str = parameter.metavar or parameter.name.rstrip("_").upper()
    if parameter.param_type_name == "argument":
        return takes
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return names if parameter.is_flag else f"{names} {takes}"
