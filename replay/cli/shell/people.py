"""A person at the terminal: who runs a command that two people sign, once the ledger has users.

A password is typed, or read from a file or stdin; never an argument.
"""

import getpass
import sys
from contextlib import closing
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from infra.access.connections import AccessDatabase, local_actor
from infra.access.passkeys import Passkeys
from infra.access.relying_party import relying_party
from infra.access.second_factor import SecondFactors
from infra.access.sessions import Sessions
from infra.access.users import Account, User, Users
from infra.postgres.connection import Database
from infra.sender import SENDER
from ledger.errors import Refused, Usage
from replay.shell.settings import in_force
from replay.text.typed import same_people

PasswordFile = Annotated[
    Path | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help="Your password: first line of a file, `-` for stdin; default: typed. The second "
        "line is the code of a second factor. Only once the ledger has users.",
    ),
]


class Person(NamedTuple):
    """A person who signed in at the terminal, and all accounts of the ledger."""

    user: User
    accounts: list[Account]


def signed_in(database: Database, by: str, password_file: Path | None) -> Person | None:
    """The person with a credential or sign-in name, by password; None: the ledger has no users.

    What is recorded from then on is brought by that user. Raises `Refused` for a wrong password,
    `Usage` if nobody or several people are meant.
    """
    with closing(AccessDatabase(database)) as access:
        accounts = Users(access).list()
        if not accounts:
            return None
        account = _meant(accounts, by.strip())
        tried = opened_sessions(access).at_terminal(
            account.name,
            typed_secret(password_file),
            local_actor(),
            lambda: typed_secret(password_file, "Code: ", line=1),
        )
    if not tried.fits:
        wait = f" Try again in {tried.wait_s // 60} minutes." if tried.wait_s else ""
        raise Refused(
            f"The password or code of {account.name} is wrong, or was wrong too often.{wait}",
            where="password",
            hint="Nothing was recorded.",
        )
    SENDER.set(f"user:{account.name}")
    return Person(User(account.name, account.employee, frozenset(account.roles)), accounts)


def opened_sessions(access: AccessDatabase) -> Sessions:
    """Sessions, second factors and passkeys, by the settings of this process."""
    settings = in_force()
    required = settings.second_factor == "required"
    return Sessions(
        access,
        SecondFactors(access, settings.home, required=required),
        Passkeys(access, relying_party(settings.public_url)),
    )


def typed_secret(file: Path | None, prompt: str = "Password: ", line: int = 0) -> str:
    """A password or code: a line of a file, by its number from 0; the next of stdin; or typed.

    What is typed is hidden. Raises `Usage`.
    """
    if file is not None and str(file) == "-":
        return sys.stdin.readline().rstrip("\r\n")
    if file is not None:
        try:
            return dict(enumerate(file.read_text(encoding="utf-8").splitlines())).get(line, "")
        except (OSError, UnicodeDecodeError) as error:
            raise Usage(
                "The password file cannot be read", where=str(file), hint=f"{error}."
            ) from error
    if not sys.stdin.isatty():
        raise Usage(
            "There is no terminal to type a password",
            where="stdin",
            hint="Give it with --password-file FILE, `-` for stdin.",
        )
    return getpass.getpass(prompt)


def _meant(accounts: list[Account], by: str) -> Account:
    """The account with this sign-in name, else with this credential. Raises `Usage`."""
    can = [each for each in accounts if each.disabled_at_us is None]
    found = [each for each in can if each.name == by] or [
        each for each in can if same_people([by], [each.employee])
    ]
    if len(found) != 1:
        many = "Several users have" if found else "No user has"
        raise Usage(
            f"{many} the credential {by}",
            where="--by",
            hint="Give the sign-in name, as `round-ledger users list` shows it.",
        )
    if not found[0].password:
        raise Usage(
            f"{found[0].name} signs in at the identity provider only",
            where="--by",
            hint="Do it on the pages.",
        )
    return found[0]
