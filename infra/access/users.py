"""Users who may sign in: created, changed, disabled; never deleted, since the record names them.

Passwords are stored as argon2id hashes. A change of a user's rights ends the user's sessions in the
same transaction, and is logged as an access event.
"""

from __future__ import annotations

import re
from functools import cache
from threading import Semaphore
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import psycopg
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from infra.access.connections import NOW, Actor, note
from infra.postgres.advisory_lock import lock_transaction
from ledger.errors import NotFound, Refused, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

    from infra.access.connections import AccessDatabase
    from infra.postgres.connection import AnyConnection

Role = Literal["surveillance", "finance", "ops", "auditor", "pit", "cage", "count", "marketing"]
ROLES: tuple[Role, ...] = get_args(Role)
"""surveillance reads rounds, footage and cases, and records decisions. finance reads the drop, and
rounds without footage or patron tokens. ops reads the floor and consumer lag. auditor reads
everything and changes nothing. pit, cage and count enter the papers of tables, cage and count room,
and read nothing else. marketing signs papers of coupons that finance enters, and reads nothing."""

KEEPERS: tuple[Role, ...] = ("finance", "ops")
"""Roles of people who keep the record: they release from quarantine, enrol keys and file rules."""

PASSWORD_MIN, PASSWORD_MAX = 12, 256
"""Limits of a password's length. No kinds of characters are required, since length counts."""

_STRENGTH_MIN = 4
"""The best score of `zxcvbn`: 10^10 guesses or more, by lists of common passwords and words."""

_CONTEXT = ("round", "ledger", "roundledger", "casino", "surveillance", "finance", "auditor")
"""Words that belong to the product and its places: they add nothing to a password."""

_WEIGHED_MAX = 72  # characters; the library's time grows with their square
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}(?![\s\S])")
_EMPLOYEE_MAX = 64
_HASHES_AT_ONCE = Semaphore(2)
"""A hash takes 64 MiB and tens of milliseconds; many at once would exhaust the machine."""


class User(NamedTuple):
    """A signed-in user."""

    name: str
    employee: str  # credential number, as facts name people: S-2001
    roles: frozenset[Role]

    def has(self, *roles: Role) -> bool:
        """Whether the user has any of these roles."""
        return not self.roles.isdisjoint(roles)


class Account(NamedTuple):
    """A user as `users list` shows them."""

    name: str
    employee: str
    roles: list[Role]
    password: bool  # signs in with a password
    subject: str | None  # at the identity provider
    made_at_us: int
    disabled_at_us: int | None


class Users:
    """The accounts."""

    def __init__(self, access: AccessDatabase) -> None:
        self._access = access

    def any(self) -> bool:
        """Whether any user exists, even if disabled."""
        with self._access.open() as connection:
            return bool(connection.execute("SELECT 1 FROM access.users LIMIT 1").fetchone())

    def list(self) -> list[Account]:
        """Every account, by name."""
        with self._access.open() as connection:
            rows = connection.execute(
                "SELECT name, employee, roles, password IS NOT NULL, subject, made_at_us,"
                " disabled_at_us FROM access.users ORDER BY name"
            )
            return [Account._make(row) for row in rows.fetchall()]

    def has_password(self, name: str) -> bool:
        """Whether this user signs in with a password, and not at the identity provider alone."""
        return any(each.name == name and each.password for each in self.list())

    def add(
        self,
        user: User,
        *,
        password: str | None,
        subject: str | None = None,
        actor: Actor,
        first: bool = False,
    ) -> None:
        """Create a user. Raises `Usage` for invalid values, `Refused` if the user exists.

        first: only if no user exists; of two simultaneous tries one is refused.
        """
        _check(user, password, subject)
        kept = None if password is None else hashed(password)
        with self._access.open() as connection:
            if first:
                lock_transaction(connection, "first user")
                if connection.execute("SELECT 1 FROM access.users LIMIT 1").fetchone():
                    raise _there_already("A user exists already")
            try:
                connection.execute(
                    f"INSERT INTO access.users (made_at_us, name, employee, roles, password,"  # noqa: S608 - values are parameters
                    f" subject) VALUES ({NOW}, %s, %s, %s, %s, %s)".encode(),
                    (user.name, user.employee, sorted(user.roles), kept, subject),
                )
            except psycopg.errors.UniqueViolation as error:
                raise _there_already(
                    f"A user {user.name}, or one with that subject, exists already"
                ) from error
            note(connection, "user_added", user.name, actor, _told(user.roles))

    def set_roles(self, name: str, roles: Iterable[Role], actor: Actor) -> None:
        """Replace a user's roles and end the user's sessions. Raises `NotFound`, `Usage`."""
        told = sorted(_checked(roles))
        with self._access.open() as connection:
            _update(connection, "UPDATE access.users SET roles = %s WHERE name = %s", told, name)
            note(connection, "roles_changed", name, actor, _told(told))

    def set_password(self, name: str, password: str, actor: Actor) -> str:
        """Replace a user's password and end the user's sessions; returns its hash.

        Raises `NotFound`, `Usage`.
        """
        check_password(password, name)
        kept = hashed(password)
        with self._access.open() as connection:
            _update(connection, "UPDATE access.users SET password = %s WHERE name = %s", kept, name)
            note(connection, "password_changed", name, actor)
        return kept

    def disable(self, name: str, actor: Actor, *, disabled: bool = True) -> None:
        """Disable or enable a user, and end the user's sessions. Raises `NotFound`."""
        since = NOW if disabled else "NULL"
        with self._access.open() as connection:
            _update(
                connection,
                f"UPDATE access.users SET disabled_at_us = {since}"  # noqa: S608 - ours
                " WHERE %s::text IS NULL AND name = %s",
                None,
                name,
            )
            note(connection, "user_disabled" if disabled else "user_enabled", name, actor)


def hashed(password: str) -> str:
    """The argon2id hash of a password, with a new salt."""
    with _HASHES_AT_ONCE:
        return _hasher().hash(password)


def fits(kept: str | None, password: str) -> bool:
    """Whether a password matches a hash; without a hash it takes as long and returns False."""
    try:
        with _HASHES_AT_ONCE:
            _hasher().verify(kept or _nobodys(), password)
    except (VerificationError, InvalidHashError):
        return False
    return kept is not None


def end_sessions(connection: AnyConnection, name: str, kept: str = "") -> None:
    """End a user's sessions and pending sign-ins.

    The pending ones first: one that becomes a session right now is waited for, and its session
    ends too. kept: the digest of the one that stays, hexadecimal.
    """
    for table in ("pending_sign_ins", "sessions"):
        connection.execute(
            f"DELETE FROM access.{table} WHERE name = %s AND encode(token_hash, 'hex') <> %s".encode(),  # noqa: E501, S608 - ours
            (name, kept),
        )


def _update(connection: AnyConnection, statement: str, value: object, name: str) -> None:
    """Change an account and end its sessions. Raises `NotFound`."""
    if connection.execute(statement.encode(), (value, name)).rowcount == 0:
        raise NotFound(
            f"There is no user {name}", where="users", hint="See `round-ledger users list`."
        )
    end_sessions(connection, name)


def _check(user: User, password: str | None, subject: str | None) -> None:
    if not _NAME.match(user.name):
        raise Usage(
            f"{user.name!r} cannot be a user's name",
            where="name",
            hint="Use lower-case letters, digits, `.`, `-` and `_`, at most 64.",
        )
    if not (0 < len(user.employee) <= _EMPLOYEE_MAX and user.employee.isprintable()):
        raise Usage(
            f"{user.employee!r} cannot be a credential number",
            where="employee",
            hint="Give one like S-2001.",
        )
    _checked(user.roles)
    if password is None and subject is None:
        raise Usage(
            "This user would have no way to sign in",
            where=user.name,
            hint="Give a password, or the subject at the identity provider.",
        )
    if password is not None:
        check_password(password, user.name)


def check_password(password: str, name: str) -> None:
    """Raise `Usage` for a weak password, without quoting it (ASVS 5.0, 6.2.4 and 6.2.11)."""
    if not PASSWORD_MIN <= len(password) <= PASSWORD_MAX:
        says = f"The password has {len(password)} characters"
        hint = f"Use {PASSWORD_MIN} to {PASSWORD_MAX}; a few words are easy to remember."
    elif name in password.lower() or _strength(password, [name, *_CONTEXT]) < _STRENGTH_MIN:
        says = "The password is easy to guess"
        hint = "Use three or more words that do not belong together, and no name or date in them."
    else:
        return
    raise Usage(says, where="password", hint=hint)


def _strength(password: str, context: Iterable[str]) -> int:
    from zxcvbn import zxcvbn  # noqa: PLC0415 - its lists take a tenth of a second to load

    return int(zxcvbn(password[:_WEIGHED_MAX], user_inputs=list(context))["score"])


def _checked(roles: Iterable[Role]) -> frozenset[Role]:
    told = frozenset(roles)
    unknown = sorted(told - frozenset(ROLES))
    if unknown or not told:
        raise Usage(
            f"There is no role {', '.join(unknown)}" if unknown else "A user needs a role",
            where="roles",
            hint=f"Give some of {', '.join(ROLES)}.",
        )
    return told


def _told(roles: Iterable[Role]) -> str:
    return " ".join(sorted(roles))


def _there_already(says: str) -> Refused:
    return Refused(says, where="users", hint="See `round-ledger users list`.")


@cache
def _hasher() -> PasswordHasher:
    """argon2id with the library's parameters: RFC 9106's for little memory (64 MiB, 3 passes)."""
    return PasswordHasher()


@cache
def _nobodys() -> str:
    """A hash that no user's password matches."""
    return _hasher().hash("nobody's")
