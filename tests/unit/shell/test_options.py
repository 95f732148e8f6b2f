"""A gaming day as typed is a day of the calendar, or is refused by the name that it was given with.

A message names no option that its command lacks.
"""

import re
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from ledger.errors import Usage
from replay.cli.shell.app import COMMANDS
from replay.cli.shell.options import GamingDay, require_gaming_day
from replay.docs.cli import FAMILIES, commands, family_of

ROOT = Path(__file__).parents[3]
WHERE = re.compile(r'where="(--[^"]+)"')


def named_with(name: str) -> Any:  # noqa: ANN401 - Typer's own parameter
    """The parameter of a command that takes a day, as an argument and with an option."""
    app = typer.Typer()

    @app.command()
    def command(
        day: Annotated[str, typer.Argument(metavar="DAY", callback=require_gaming_day)],
        gaming_day: GamingDay = None,
    ) -> None:
        raise AssertionError(day, gaming_day)

    its = typer.main.get_command(app).params
    return next(each for each in its if each.name == name)


@pytest.mark.parametrize("day", ["11/20/2026", "yesterday", "2026-02-30", "20261120", ""])
@pytest.mark.parametrize(("name", "where"), [("day", "DAY"), ("gaming_day", "--gaming-day")])
def test_another_text_than_a_day_is_refused(day: str, name: str, where: str) -> None:
    with pytest.raises(Usage, match="is not a gaming day") as refused:
        require_gaming_day(named_with(name), day)
    assert refused.value.where == where


@pytest.mark.parametrize("day", ["2026-11-20", None])
def test_a_day_is_taken_as_it_is(day: str | None) -> None:
    assert require_gaming_day(named_with("day"), day) == day


@pytest.mark.long
def test_a_message_of_a_command_names_its_own_options() -> None:
    """A family of commands is a folder. The control is an option that no family has."""
    folders = {row.name: family_of(row) for row in COMMANDS}
    options: dict[str, set[str]] = defaultdict(set)
    for name, command in commands():
        options[folders[name.partition(" ")[0]]] |= {
            opt for each in command.params for opt in each.opts
        }
    named = {folder: _named(folder) for folder in options}
    assert sum(map(len, named.values())) > 20
    assert [each for each in named if named[each] - options[each]] == []
    assert "--never" not in set().union(*options.values())


def _named(folder: str) -> set[str]:
    """The options that the messages of a family name."""
    text = "".join(path.read_text() for path in (ROOT / "replay/cli" / folder).rglob("*.py"))
    return set(re.findall(r"--[a-z-]+", " ".join(WHERE.findall(text))))


def test_every_family_of_commands_has_a_page() -> None:
    assert {family_of(row) for row in COMMANDS} == set(FAMILIES)
