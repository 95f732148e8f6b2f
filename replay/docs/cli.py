"""The commands: the list of `cli.md` by user, and a page for each family in `cli/`.

A family is a folder of `replay/cli`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from replay.cli.shell.app import COMMANDS, Command, load
from replay.docs import markdown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXAMPLE = "Example:"
"""What stands before the one example of a command's help."""

FAMILIES = {
    "demo": "Demo and simulation",
    "rounds": "Rounds and drop",
    "finance": "Finance",
    "approvals": "Approvals",
    "footage": "Footage",
    "review": "Review",
    "disputes": "Disputes",
    "dossier": "Dossiers",
    "rules": "Games, rulings and submissions",
    "record": "The record",
    "feed": "Views, relay and topics",
    "serving": "Server, users, keys and settings",
}
"""The title of each family's page."""


def pages() -> dict[str, Callable[[], str]]:
    """What makes the page of each family."""
    return {f"cli/{family}.md": partial(page, family) for family in FAMILIES}


def part() -> str:
    """The list of all commands, grouped by who uses them."""
    return "\n\n".join(part for panel in _panels() for part in _panel(panel))


def page(family: str) -> str:
    """The page of one family: its commands with arguments and options."""
    rows = [row for row in COMMANDS if family_of(row) == family]
    names = {row.name for row in rows}
    return markdown.page(
        FAMILIES[family],
        "[All commands](../cli.md) · [exit codes](../errors.md#exit-codes) · "
        "[JSON output](../cli.md#json-output) · [settings](../settings.md)",
        markdown.table(
            ("command", "what it does", "for"),
            ((f"[`{row.name}`](#{row.name})", row.says, row.panel) for row in rows),
        ),
        *(
            part
            for name, command in commands()
            if name.partition(" ")[0] in names
            for part in _command(name, command)
        ),
    )


def family_of(row: Command) -> str:
    """The family of a command: the folder of its module."""
    return row.module.partition(".")[0]


def _panels() -> list[str]:
    return list(dict.fromkeys(row.panel for row in COMMANDS))


def _panel(panel: str) -> Iterator[str]:
    yield f"## {panel}"
    rows = [row for row in COMMANDS if row.panel == panel]
    links = [f"[`{row.name}`](cli/{family_of(row)}.md#{row.name})" for row in rows]
    yield markdown.table(
        ("command", "what it does"),
        ((link, row.says) for link, row in zip(links, rows, strict=True)),
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
