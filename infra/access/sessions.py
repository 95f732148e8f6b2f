"""Sessions: from a sign-in by password or identity provider to a token, and from it to a user.

The token is random; only its hash is stored. A session ends if it is idle, after a shift, at
sign-out, and when its user's password or roles change.
"""

from __future__ import annotations

import hashlib
import ipaddress
import secrets
from typing import TYPE_CHECKING, NamedTuple

from infra.access.connections import NOW, Actor, note
from infra.access.users import User, fits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from infra.access.connections import AccessDatabase
    from infra.postgres.connection import AnyConnection

IDLE_S_MAX = 30 * 60
"""How long a session may be idle before it ends, seconds."""

SESSION_S_MAX = 12 * 3600
"""How long a session lasts at most, seconds: one shift."""

WARN_S = 2 * 60
"""How long before an idle session ends its page warns, seconds (WCAG 2.2.1)."""

LAST_S = 10 * 60
"""How long before the end of a shift the page warns that its session ends, seconds."""

FRESH_S = 15 * 60
"""How long after the password was shown a session may export, release and approve, seconds."""

TRIES_S = 15 * 60
"""How long a failed sign-in counts, seconds."""

TRIES_MAX = 5
"""Failed sign-ins of one name from one client before that name is refused there."""

NAMES_MAX = 30
"""Different names that fail from one client before that client is refused.

There is no limit for a name over all clients: anyone could lock out a colleague with it.
"""

_TOUCH_S = 60
_S = 1_000_000


def client_of(address: str) -> str:
    """The client whose tries are counted: an IPv4 address, or the /64 network of an IPv6 one.

    A person with one IPv6 address may usually take each of the 2^64 in its network. An IPv4 address
    written as IPv6 is that IPv4 address. Any other text is a client of its own.
    """
    try:
        told = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(told, ipaddress.IPv4Address):
        return str(told)
    return str(told.ipv4_mapped or ipaddress.ip_network((told, 64), strict=False))


class SignIn(NamedTuple):
    """The result of a sign-in: a token, or None; after a lockout, retry in `wait_s` seconds."""

    token: str | None
    wait_s: int = 0


class Try(NamedTuple):
    """Whether a password fits; after a lockout it is not even looked at for `wait_s` seconds."""

    fits: bool
    wait_s: int = 0


class Begun(NamedTuple):
    """A session of a user, as they see it in a list."""

    digest: str  # of its token, hexadecimal: names it without opening it
    began_at_us: int
    used_at_us: int
    name: str  # of its user


class TimeLeft(NamedTuple):
    """The time left in a session."""

    name: str  # of its user
    left_s: int  # until it ends if it stays idle
    longest_s: int  # until it ends in any case


class Sessions:
    """Signing in and out."""

    def __init__(self, access: AccessDatabase) -> None:
        self._access = access

    def sign_in(self, name: str, password: str, address: str) -> SignIn:
        """Try a name and a password. An unknown name takes as long as a known one."""
        tried = self.tried(name, password, address)
        return SignIn(self.begin(name, address, "password") if tried.fits else None, tried.wait_s)

    def tried(self, name: str, password: str, address: str) -> Try:
        """Whether this is the password of a name, counted as a try."""
        if self._too_many(name, address):
            return Try(fits=False, wait_s=TRIES_S)
        with self._access.open() as connection:
            row = connection.execute(
                "SELECT password FROM access.users WHERE name = %s AND disabled_at_us IS NULL",
                (_storable(name),),
            ).fetchone()
        if fits(row[0] if row else None, password):
            return Try(fits=True)
        with self._access.open() as connection:
            note(connection, "sign_in_failed", name, Actor("", address))
        return Try(fits=False)

    def at_terminal(self, name: str, password: str, actor: Actor) -> Try:
        """Whether this is the password of a name, typed at a command: no session begins.

        actor: the login that runs the command; its tries are counted by it.
        """
        tried = self.tried(name, password, actor.name)
        if tried.fits:
            with self._access.open() as connection:
                _forget_tries(connection, name, actor.name)
                note(connection, "signed_in", name, actor, "at a command")
        return tried

    def is_fresh(self, token: str) -> bool:
        """Whether the user of a session has shown the password within `FRESH_S`."""
        with self._access.open() as connection:
            row = connection.execute(
                f"SELECT coalesce(proven_at_us, began_at_us) > {NOW} - %s"  # noqa: S608 - as above
                " FROM access.sessions WHERE token_hash = %s".encode(),
                (FRESH_S * _S, _digest(token)),
            ).fetchone()
        return bool(row and row[0])

    def prove(self, token: str, name: str, password: str, address: str) -> Try:
        """Take the password of a session's user once more; the session is fresh if it fits."""
        tried = self.tried(name, password, address)
        if tried.fits:
            with self._access.open() as connection:
                _forget_tries(connection, name, address)
                connection.execute(
                    f"UPDATE access.sessions SET proven_at_us = {NOW}"  # noqa: S608 - as above
                    " WHERE name = %s AND token_hash = %s".encode(),
                    (name, _digest(token)),
                )
                note(connection, "password_shown", name, Actor(name, address))
        return tried

    def begin(self, name: str, address: str, how: str) -> str:
        """Start a session for an authenticated user; returns its token."""
        token = secrets.token_urlsafe(32)
        with self._access.open() as connection:
            _sweep(connection)
            _forget_tries(connection, name, address)
            connection.execute(
                f"INSERT INTO access.sessions VALUES ({NOW}, {NOW}, %s, %s)".encode(),  # noqa: S608 - values are parameters
                (name, _digest(token)),
            )
            note(connection, "signed_in", name, Actor(name, address), how)
        return token

    def user_of(self, token: str) -> User | None:
        """The user of a session token; None if it is invalid or its session is over."""
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
        """The time left in a session, without using it; None if the session is over."""
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
        """The name of the user with this subject at the identity provider; None if none has it."""
        with self._access.open() as connection:
            row = connection.execute(
                "SELECT name FROM access.users WHERE subject = %s AND disabled_at_us IS NULL",
                (_storable(subject),),
            ).fetchone()
        return row[0] if row else None

    def refused(self, name: str, address: str, why: str) -> None:
        """Log that a sign-in by the identity provider was refused."""
        with self._access.open() as connection:
            note(connection, "sign_in_failed", name, Actor("", address), why)

    def sign_out(self, token: str, address: str) -> None:
        """End a session, if the token has one."""
        with self._access.open() as connection:
            row = connection.execute(
                "DELETE FROM access.sessions WHERE token_hash = %s RETURNING name",
                (_digest(token),),
            ).fetchone()
            if row:
                note(connection, "signed_out", row[0], Actor(row[0], address))

    def running(self, name: str | None = None) -> list[Begun]:
        """The sessions that are not over, newest first; of one user if `name` is given."""
        with self._access.open() as connection:
            rows = connection.execute(
                "SELECT encode(token_hash, 'hex'), began_at_us, used_at_us, name"  # noqa: S608 - as above
                " FROM access.sessions JOIN access.users USING (name)"
                " WHERE name = coalesce(%s, name) AND disabled_at_us IS NULL"
                f" AND used_at_us > {NOW} - %s AND began_at_us > {NOW} - %s"
                " ORDER BY began_at_us DESC, token_hash".encode(),
                (name, IDLE_S_MAX * _S, SESSION_S_MAX * _S),
            ).fetchall()
        return [Begun._make(row) for row in rows]

    def end(self, ended: Iterable[Begun], actor: Actor) -> None:
        """End these sessions; one that is over already stays so."""
        with self._access.open() as connection:
            for each in ended:
                row = connection.execute(
                    "DELETE FROM access.sessions WHERE encode(token_hash, 'hex') = %s"
                    " RETURNING name",
                    (each.digest,),
                ).fetchone()
                if row:
                    note(connection, "session_ended", row[0], actor)

    def _too_many(self, name: str, address: str) -> bool:
        """Count this try, then check the limits; so all of many simultaneous tries count."""
        told, client = _storable(name), client_of(address)
        with self._access.open() as connection:
            connection.execute(
                f"INSERT INTO access.tries VALUES ({NOW}, %s, %s)".encode(),  # noqa: S608 - as above
                (told, client),
            )
        with self._access.open() as connection:
            row = connection.execute(
                "SELECT count(*) FILTER (WHERE name = %(name)s), count(DISTINCT name)"  # noqa: S608 - as above
                " FROM access.tries WHERE address = %(address)s"
                f" AND tried_at_us > {NOW} - %(since)s".encode(),
                {"name": told, "address": client, "since": TRIES_S * _S},
            ).fetchone()
        tries, names = row or (0, 0)
        return bool(tries > TRIES_MAX or names > NAMES_MAX)


def _sweep(connection: AnyConnection) -> None:
    """Delete sessions that are over and tries that no longer count."""
    connection.execute(
        f"DELETE FROM access.sessions WHERE used_at_us < {NOW} - %s OR began_at_us < {NOW} - %s".encode(),  # noqa: E501, S608 - as above
        (IDLE_S_MAX * _S, SESSION_S_MAX * _S),
    )
    connection.execute(
        f"DELETE FROM access.tries WHERE tried_at_us < {NOW} - %s".encode(),  # noqa: S608 - as above
        (TRIES_S * _S,),
    )


def _forget_tries(connection: AnyConnection, name: str, address: str) -> None:
    """A try that succeeded ends the count of those before it."""
    connection.execute(
        "DELETE FROM access.tries WHERE name = %s AND address = %s", (name, client_of(address))
    )


def digest_of(token: str) -> str:
    """The digest that names the session of a token."""
    return _digest(token).hex()


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def _storable(text: str) -> str:
    """A text that a text column accepts, from any input."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:256]
