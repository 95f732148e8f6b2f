"""Sessions: from a sign-in by password or identity provider to a token, and from it to a user.

The token is random; only its hash is stored. A session ends if it is idle, after a shift, at
sign-out, and when its user's password or roles change.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, NamedTuple

from infra.access.connections import NOW, Actor, note
from infra.access.second_factor import is_on
from infra.access.tries import TRIES_S, Try, forget_tries, storable, sweep_tries, too_many
from infra.access.users import User, fits
from ledger.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from infra.access.connections import AccessDatabase
    from infra.access.passkeys import Passkeys
    from infra.access.second_factor import SecondFactors
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

PENDING_S = 10 * 60
"""How long after the password the code of a second factor may be given, seconds."""

_TOUCH_S = 60
_S = 1_000_000


class SignIn(NamedTuple):
    """The result of a sign-in: a token, or none; after a lockout, retry in `wait_s` seconds.

    If a second factor is asked for, a right password gives a pending sign-in and no session. After
    a wrong code it is still pending.
    """

    token: str  # of the session, or of the pending sign-in; empty: neither
    wait_s: int = 0
    is_pending: bool = False


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

    def __init__(self, access: AccessDatabase, factors: SecondFactors, passkeys: Passkeys) -> None:
        self._access = access
        self.factors = factors
        self.passkeys = passkeys

    def sign_in(self, name: str, password: str, address: str) -> SignIn:
        """Try a name and a password. An unknown name takes as long as a known one."""
        tried, kept = self._tried(name, password, address)
        if kept is None:
            return SignIn("", tried.wait_s)
        return self.enter(name, address, "password", kept)

    def enter(self, name: str, address: str, how: str, kept: str | None = None) -> SignIn:
        """Go on after the password: a session, or a pending one where a second factor is asked.

        kept: the hash that the password fits. If another was set meanwhile, neither begins.
        """
        token = secrets.token_urlsafe(32)
        with self._access.open() as connection:
            if not _is_kept(connection, name, kept):
                return SignIn("")
            if not (self.factors.required or is_on(connection, name)):
                return SignIn(_begun(connection, name, address, how))
            _sweep(connection)
            connection.execute(
                f"INSERT INTO access.pending_sign_ins VALUES ({NOW}, %s, %s)".encode(),  # noqa: S608 - values are parameters
                (name, _digest(token)),
            )
        return SignIn(token, is_pending=True)

    def sign_in_by_passkey(self, answer: str, form: str, address: str) -> SignIn:
        """Try a passkey's answer to the challenge of a form; it is password and code in one."""
        read = self.passkeys.read(answer)
        if too_many(self._access, self.passkeys.counted_as(read), address):
            return SignIn("", TRIES_S)
        with self._access.open() as connection:
            name = self.passkeys.take(connection, read, form, address)
            return SignIn(_begun(connection, name, address, "passkey") if name else "")

    def pending(self, token: str) -> str | None:
        """The name whose password was given in a pending sign-in; None if it is over."""
        with self._access.open() as connection:
            row = connection.execute(
                "SELECT name FROM access.pending_sign_ins JOIN access.users USING (name)"  # noqa: S608 - as above
                " WHERE token_hash = %s AND disabled_at_us IS NULL"
                f" AND began_at_us > {NOW} - %s".encode(),
                (_digest(token), PENDING_S * _S),
            ).fetchone()
        return row[0] if row else None

    def finish(self, pending: str, code: str, address: str) -> SignIn:
        """Try the code of a pending sign-in; if it fits, that ends and a session begins.

        If its user's password changes meanwhile, it is over.
        """
        name = self.pending(pending)
        if name is None:
            return SignIn("")
        tried = self.factors.tried(name, code, address)
        if not tried.fits:
            return SignIn(pending, tried.wait_s, is_pending=True)
        return SignIn(self.begin_from(pending, address))

    def begin_from(self, pending: str, address: str) -> str:
        """Turn a pending sign-in into a session; returns its token, empty if it is over."""
        with self._access.open() as connection:
            return _begun_from(connection, pending, address)

    def enrol(self, pending: str, code: str, address: str) -> tuple[Try, list[str], str]:
        """Turn the app of a pending sign-in on by one code, and begin the session.

        Returns the recovery codes and the session's token. All of it happens, or nothing: if the
        user's password changes meanwhile, the app stays off.
        """
        name = self.pending(pending) or ""
        if wait_s := self.factors.wait_s(name, address):
            return Try(fits=False, wait_s=wait_s), [], ""
        with self._access.open() as connection:
            actor = Actor(name, address)
            codes = self.factors.turn_on(connection, name, code, actor, digest_of(pending))
            token = _begun_from(connection, pending, address) if codes else ""
        return Try(fits=bool(codes)), codes, token

    def tried(self, name: str, password: str, address: str) -> Try:
        """Whether this is the password of a name, counted as a try."""
        return self._tried(name, password, address)[0]

    def _tried(self, name: str, password: str, address: str) -> tuple[Try, str | None]:
        """As `tried`, with the hash that the password fits; None: it fits none."""
        if too_many(self._access, name, address):
            return Try(fits=False, wait_s=TRIES_S), None
        with self._access.open() as connection:
            row = connection.execute(
                "SELECT password FROM access.users WHERE name = %s AND disabled_at_us IS NULL",
                (storable(name),),
            ).fetchone()
        kept = row[0] if row else None
        if fits(kept, password):
            return Try(fits=True), kept
        with self._access.open() as connection:
            note(connection, "sign_in_failed", name, Actor("", address))
        return Try(fits=False), None

    def at_terminal(
        self, name: str, password: str, actor: Actor, ask_code: Callable[[], str]
    ) -> Try:
        """Whether this is the password of a name, typed at a command: no session begins.

        actor: the login that runs the command; its tries are counted by it. ask_code: called if
        the user has a second factor. Raises `Refused` if one is required and the user has none.
        """
        tried = self._proof(name, password, ask_code, actor.name)
        if tried.fits:
            self._require_factor(name)
            with self._access.open() as connection:
                forget_tries(connection, name, actor.name)
                note(connection, "signed_in", name, actor, "at a command")
        return tried

    def sign_beside(self, name: str, password: str, code: str, actor: Actor, what: str) -> Try:
        """Take the password of a person who signs beside another's session, and a code if asked.

        No session begins. actor: the user of the session, and the address where tries count. what:
        is signed, for the log. Raises `Refused` as `at_terminal`.
        """
        tried = self._proof(name, password, lambda: code, actor.address)
        if tried.fits:
            self._require_factor(name)
            with self._access.open() as connection:
                _note_signature(connection, name, actor, what)
        return tried

    def sign_beside_by_passkey(
        self, name: str, answer: str, token: str, actor: Actor, what: str
    ) -> Try:
        """As `sign_beside`, by a passkey's answer to a challenge for the session of a token."""
        if too_many(self._access, name, actor.address):
            return Try(fits=False, wait_s=TRIES_S)
        read = self.passkeys.read(answer)
        with self._access.open() as connection:
            if self.passkeys.take(connection, read, token, actor.address) != name:
                return Try(fits=False)
            _note_signature(connection, name, actor, what)
        return Try(fits=True)

    def _require_factor(self, name: str) -> None:
        """Raise `Refused` if a second factor is required and this user has none."""
        if self.factors.required and not self.factors.is_on(name):
            raise Refused(
                "This ledger asks for a second factor, and you have none",
                where=name,
                hint="Sign in to the pages once; they set it up.",
            )

    def is_fresh(self, token: str) -> bool:
        """Whether the user of a session has shown password and code within `FRESH_S`."""
        with self._access.open() as connection:
            row = connection.execute(
                f"SELECT coalesce(proven_at_us, began_at_us) > {NOW} - %s"  # noqa: S608 - as above
                " FROM access.sessions WHERE token_hash = %s".encode(),
                (FRESH_S * _S, _digest(token)),
            ).fetchone()
        return bool(row and row[0])

    def prove(self, token: str, name: str, password: str, code: str, address: str) -> Try:
        """Take the password of a session's user once more, and a code if the user has one.

        The session is fresh if they fit.
        """
        tried = self._proof(name, password, lambda: code, address)
        if tried.fits:
            with self._access.open() as connection:
                _make_fresh(connection, token, name, address, "password_shown")
        return tried

    def prove_by_passkey(self, token: str, name: str, answer: str, address: str) -> Try:
        """As `prove`, by a passkey's answer to the challenge of the session."""
        if too_many(self._access, name, address):
            return Try(fits=False, wait_s=TRIES_S)
        read = self.passkeys.read(answer)
        with self._access.open() as connection:
            if not self.passkeys.take(connection, read, token, address, name):
                return Try(fits=False)
            _make_fresh(connection, token, name, address, "passkey_shown")
        return Try(fits=True)

    def _proof(self, name: str, password: str, ask_code: Callable[[], str], address: str) -> Try:
        """Try the password, then the code if the user has a second factor."""
        tried = self.tried(name, password, address)
        if tried.fits and self.factors.is_on(name):
            return self.factors.tried(name, ask_code(), address)
        return tried

    def begin(self, name: str, address: str, how: str, kept: str | None = None) -> str:
        """Start a session for an authenticated user; returns its token.

        kept: the hash of the password that was just set. If it is another by now, none starts and
        the token is empty.
        """
        with self._access.open() as connection:
            if not _is_kept(connection, name, kept):
                return ""
            return _begun(connection, name, address, how)

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
                (storable(subject),),
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


def _begun(connection: AnyConnection, name: str, address: str, how: str) -> str:
    """As `Sessions.begin`, in a transaction of the caller."""
    token = secrets.token_urlsafe(32)
    _sweep(connection)
    forget_tries(connection, name, address)
    connection.execute(
        f"INSERT INTO access.sessions VALUES ({NOW}, {NOW}, %s, %s)".encode(),  # noqa: S608 - values are parameters
        (name, _digest(token)),
    )
    note(connection, "signed_in", name, Actor(name, address), how)
    return token


def _begun_from(connection: AnyConnection, pending: str, address: str) -> str:
    """As `Sessions.begin_from`, in a transaction of the caller."""
    row = connection.execute(
        "DELETE FROM access.pending_sign_ins WHERE token_hash = %s RETURNING name",
        (_digest(pending),),
    ).fetchone()
    return _begun(connection, row[0], address, "password and code") if row else ""


def _is_kept(connection: AnyConnection, name: str, kept: str | None) -> bool:
    """Whether a user's password still has this hash; None: it is not asked.

    A change waits for this transaction, and then ends what it began.
    """
    return kept is None or bool(
        connection.execute(
            "SELECT FROM access.users WHERE name = %s AND password = %s FOR SHARE", (name, kept)
        ).rowcount
    )


def _make_fresh(connection: AnyConnection, token: str, name: str, address: str, what: str) -> None:
    """Let a session export, release and approve for a while. what: the access event."""
    forget_tries(connection, name, address)
    connection.execute(
        f"UPDATE access.sessions SET proven_at_us = {NOW}"  # noqa: S608 - as above
        " WHERE name = %s AND token_hash = %s".encode(),
        (name, _digest(token)),
    )
    note(connection, what, name, Actor(name, address))


def _note_signature(connection: AnyConnection, name: str, actor: Actor, what: str) -> None:
    """Log that a person signed a paper on another's page."""
    forget_tries(connection, name, actor.address)
    note(connection, "paper_signed", name, actor, what)


def _sweep(connection: AnyConnection) -> None:
    """Delete sessions and pending sign-ins that are over, and tries that no longer count."""
    connection.execute(
        f"DELETE FROM access.sessions WHERE used_at_us < {NOW} - %s OR began_at_us < {NOW} - %s".encode(),  # noqa: E501, S608 - as above
        (IDLE_S_MAX * _S, SESSION_S_MAX * _S),
    )
    connection.execute(
        f"DELETE FROM access.pending_sign_ins WHERE began_at_us < {NOW} - %s".encode(),  # noqa: S608 - as above
        (PENDING_S * _S,),
    )
    sweep_tries(connection)


def digest_of(token: str) -> str:
    """The digest that names the session, or the pending sign-in, of a token."""
    return _digest(token).hex()


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
