"""A person at the terminal: who runs a command that people sign, once the ledger has users.

A password is typed, or read from a file or stdin; never an argument.
"""

import getpass
import sys
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from infra.access.connections import AccessDatabase, local_actor
from infra.access.passkeys import Passkeys
from infra.access.relying_party import relying_party
from infra.access.second_factor import SecondFactors
from infra.access.sessions import Sessions
from infra.access.users import Account, Role, User, Users
from infra.postgres.connection import Database
from infra.sender import SENDER
from ledger.errors import Refused, Usage
from replay.approvals.people import account_of
from replay.shell.output import say
from replay.shell.settings import in_force

INVESTIGATORS: tuple[Role, ...] = ("surveillance",)
"""Roles that work on findings, cases and footage, on pages and in commands."""

PASSKEY_ALONE = (
    "{name} has a passkey and no authenticator app, and a terminal takes no passkey. Give a "
    "recovery code here, or set up the app on the page Your account."
)


class Person(NamedTuple):
    """A person who signed in at the terminal, and all accounts of the ledger."""

    user: User
    accounts: list[Account]


class Signing(NamedTuple):
    """How a person signs a command, as typed: credential or sign-in name, and the password's file.

    by: None: nobody is named.
    """

    by: str | None
    password_file: Path | None

    def of(self, database: Database, *roles: Role) -> str | None:
        """The credential to record, as `signer` says; None: nobody is named, and nobody has to."""
        if self.by is not None:
            return signer(database, self.by, self.password_file, *roles)
        return signer(database, "", self.password_file, *roles) or None


def signer(database: Database, by: str, password_file: Path | None, *roles: Role) -> str:
    """The credential of who runs a command, to be recorded.

    Once the ledger has users, it is that of a person who signs in, with one of these roles. Before,
    it is as typed. Raises as `signed_in`, and `Refused` for a person of other roles.
    """
    person = signed_in(database, by, password_file)
    if person is None:
        return by
    if not person.user.has(*roles):
        raise Refused(
            f"{person.user.employee} has no role for this",
            where="--by",
            hint=f"Let somebody with the role {' or '.join(sorted(roles))} sign.",
        )
    return person.user.employee


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
        sessions = opened_sessions(access)
        tried = sessions.at_terminal(
            account.name,
            typed_secret(password_file),
            local_actor(),
            lambda: _typed_code(sessions, account.name, password_file),
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


def _typed_code(sessions: Sessions, name: str, file: Path | None) -> str:
    """The code of a person's second factor. It says what to give if a passkey is the only one."""
    if not sessions.factors.has_app(name):
        say(PASSKEY_ALONE.format(name=name))
    return typed_secret(file, "Code: ", line=1)


def _meant(accounts: list[Account], by: str) -> Account:
    """The account with this sign-in name, else with this credential. Raises `Usage`."""
    if not by:
        raise Usage(
            "The ledger has users, and nobody is named",
            where="--by",
            hint="Give your credential or sign-in name with --by, and type your password.",
        )
    found = account_of(accounts, by, "--by")
    if not found.password:
        raise Usage(
            f"{found.name} signs in at the identity provider only",
            where="--by",
            hint="Do it on the pages.",
        )
    return found
