"""Every command that records in a person's name takes that person's password, new ones included."""

from __future__ import annotations

from replay.docs.cli import commands

PEOPLE = ("EMPLOYEE", "WHO")
"""What `--by` takes where it is a person; elsewhere it is a grouping."""

READS = {"dispute show", "review list"}


def by_people() -> dict[str, set[str]]:
    """The commands whose `--by` is a person, with all their options."""
    found = {}
    for name, command in commands():
        options = {each for of in command.params for each in of.opts}
        if any("--by" in of.opts and of.metavar in PEOPLE for of in command.params):
            found[name] = options
    return found


def test_a_command_in_a_persons_name_takes_that_persons_password() -> None:
    named = by_people()
    assert {name for name, its in named.items() if "--password-file" not in its} == READS


def test_the_commands_that_people_sign_are_among_them() -> None:
    """The control: the test before reads them all."""
    assert {"dispute resolve", "shift begin", "keys enrol", "submissions file"} <= set(by_people())
    assert "win" not in by_people()
