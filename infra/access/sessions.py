"""Who is signed in: from a password or an identity provider's word to a token, and back to a user.

The token is random and only its hash is kept. A session ends when it is not used, when a shift is
over, at signing out, and when its user's password or roles change.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, NamedTuple

from infra.access.connections import NOW, Actor, note
from infra.access.users import User, fits

if TYPE_CHECKING:
    from infra.access.connections import AccessDatabase
    from infra.postgres.connection import AnyConnection

IDLE_S_MAX = 30 * 60
"""A session that is not used for so long is over, seconds."""

SESSION_S_MAX = 12 * 3600
"""A session is over after so long, however much it is used, seconds: a shift."""

WARN_S = 2 * 60
"""So long before a session ends because it is not used, its page says so, seconds (WCAG 2.2.1)."""

LAST_S = 10 * 60
"""So long before a session ends because its shift is over, its page says so, seconds."""

TRIES_S = 15 * 60
"""Failed tries of the last so many seconds are counted."""

TRIES_MAX = 5
"""Failed tries of one name from one address, before that name is refused there."""

NAMES_MAX = 30
"""Different names that failed from one address, before that address is refused.

There is no limit for a name from anywhere: it would let anybody lock a colleague out.
"""

_TOUCH_S = 60
_S = 1_000_000


class SignIn(NamedTuple):
    """What a try to sign in came to: a token, or none; to be tried again after `wait_s`."""

    token: str | None
    wait_s: int = 0


class TimeLeft(NamedTuple):
    """How long a session still goes on."""

    name: str  # of its user
    left_s: int  # unless it is used again
    longest_s: int  # however much it is used


class Sessions:
    """Signing in and out."""

    def __init__(self, access: AccessDatabase) -> None:
        self._access = access

    def sign_in(self, name: str, password: str, address: str) -> SignIn:
        """Try a name and a password. It takes as long for a name that nobody has."""
        if self._too_many(name, address):
            return SignIn(None, TRIES_S)
        with self._access.open() as connection:
            row = connection.execute(
                "SELECT password FROM access.users WHERE name = %s AND disabled_at_us IS NULL",
                (_storable(name),),
            ).fetchone()
        if not fits(row[0] if row else None, password):
            with self._access.open() as connection:
                note(connection, "sign_in_failed", name, Actor("", address))
            return SignIn(None)
        return SignIn(self.begin(name, address, "password"))

    def begin(self, name: str, address: str, how: str) -> str:
        """A new session of somebody who has shown who they are: its token."""
        token = secrets.token_urlsafe(32)
        with self._access.open() as connection:
            _sweep(connection)
            connection.execute(
                "DELETE FROM access.tries WHERE name = %s AND address = %s", (name, address)
            )
            connection.execute(
                f"INSERT INTO access.sessions VALUES ({NOW}, {NOW}, %s, %s)".encode(),  # noqa: S608 - values are parameters
                (name, _digest(token)),
            )
            note(connection, "signed_in", name, Actor(name, address), how)
        return token

    def user_of(self, token: str) -> User | None:
        """Whose session a token is; None where it is nobody's, or over."""
        with self._access.open() as connection:
            row = connection.execute(
                f"SELECT u.name, u.employee, u.roles, s.used_at_us < {NOW} - %s"  # noqa: S608 - as above
                " FROM access.sessions s JOIN access.users u USING (name)"
                " WHERE s.token_hash = %s AND u.disabled_at_us IS NULL"
                f" AND s.used_at_us > {NOW} - %s AND s.began_at_us > {NOW} - %s".encode(),
                (_TOUCH_S * _S, _digest(token), IDLE_S_MAX * _S, SESSION_S_MAX * _S),
            ).fetchone()
            if row is None:
                return None
            name, employee, roles, is_stale = row
            if is_stale:
                connection.execute(
                    f"UPDATE access.sessions SET used_at_us = {NOW} WHERE token_hash = %s".encode(),  # noqa: S608 - as above
                    (_digest(token),),
                )
        return User(name, employee, frozenset(roles))

    def left(self, token: str) -> TimeLeft | None:
        """How long a session goes on, without using it; None where it is nobody's, or over."""
        with self._access.open() as connection:
            row = connection.execute(
                f"SELECT name, used_at_us + %s - {NOW}, began_at_us + %s - {NOW}"  # noqa: S608 - as above
                " FROM access.sessions JOIN access.users USING (name)"
                " WHERE token_hash = %s AND disabled_at_us IS NULL".encode(),
                (IDLE_S_MAX * _S, SESSION_S_MAX * _S, _digest(token)),
            ).fetchone()
        if row is None:
            return None
        name, idle_us, session_us = row
        left_us = min(idle_us, session_us)
        return TimeLeft(name, left_us // _S, session_us // _S) if left_us > 0 else None

    def of_subject(self, subject: str) -> str | None:
        """The name of the user whom the identity provider calls so; None: nobody here."""
        with self._access.open() as connection:
            row = connection.execute(
                "SELECT name FROM access.users WHERE subject = %s AND disabled_at_us IS NULL",
                (_storable(subject),),
            ).fetchone()
        return row[0] if row else None

    def refused(self, name: str, address: str, why: str) -> None:
        """Write down that somebody the identity provider sent was not let in."""
        with self._access.open() as connection:
            note(connection, "sign_in_failed", name, Actor("", address), why)

    def sign_out(self, token: str, address: str) -> None:
        """End a session, if it is one."""
        with self._access.open() as connection:
            row = connection.execute(
                "DELETE FROM access.sessions WHERE token_hash = %s RETURNING name",
                (_digest(token),),
            ).fetchone()
            if row:
                note(connection, "signed_out", row[0], Actor(row[0], address))

    def _too_many(self, name: str, address: str) -> bool:
        """Count this try, then look whether it is one too many: of many at once all are counted."""
        told = _storable(name)
        with self._access.open() as connection:
            connection.execute(
                f"INSERT INTO access.tries VALUES ({NOW}, %s, %s)".encode(),  # noqa: S608 - as above
                (told, address),
            )
        with self._access.open() as connection:
            row = connection.execute(
                "SELECT count(*) FILTER (WHERE name = %(name)s), count(DISTINCT name)"  # noqa: S608 - as above
                " FROM access.tries WHERE address = %(address)s"
                f" AND tried_at_us > {NOW} - %(since)s".encode(),
                {"name": told, "address": address, "since": TRIES_S * _S},
            ).fetchone()
        tries, names = row or (0, 0)
        return bool(tries > TRIES_MAX or names > NAMES_MAX)


def _sweep(connection: AnyConnection) -> None:
    """Forget sessions that are over and tries that are counted no more."""
    connection.execute(
        f"DELETE FROM access.sessions WHERE used_at_us < {NOW} - %s OR began_at_us < {NOW} - %s".encode(),  # noqa: E501, S608 - as above
        (IDLE_S_MAX * _S, SESSION_S_MAX * _S),
    )
    connection.execute(
        f"DELETE FROM access.tries WHERE tried_at_us < {NOW} - %s".encode(),  # noqa: S608 - as above
        (TRIES_S * _S,),
    )


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _storable(text: str) -> str:
    """What a text column can be compared with: whatever a person may send."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:256]
