"""Passkeys of users: added, used and removed. One counts as password and second factor at once.

A challenge is signed once, within minutes, and only in the session or form that asked for it.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import TYPE_CHECKING, Literal, NamedTuple

import psycopg

from infra.access.connections import NOW, Actor, note
from infra.access.second_factor import is_on, new_recovery_codes, without_factors
from infra.access.users import end_sessions
from ledger.errors import NotFound, Refused, Usage

if TYPE_CHECKING:
    from infra.access.ceremonies import Assertion
    from infra.access.connections import AccessDatabase
    from infra.access.relying_party import RelyingParty
    from infra.postgres.connection import AnyConnection

CHALLENGE_S = 5 * 60
"""How long a challenge may be answered, seconds."""

LABEL_MAX = 64
"""Characters of what a user calls a passkey."""

PASSKEYS_MAX = 20
"""Passkeys of a user."""

ANSWER_MAX = 64 * 1024
"""Characters of a browser's answer."""

Purpose = Literal["add", "sign_in", "again"]

_CHALLENGE_BYTES, _HANDLE_BYTES = 32, 64
_S = 1_000_000
_COUNTED_MAX = 128


class Passkey(NamedTuple):
    """A passkey, as its user sees it in a list."""

    digest: str  # SHA-256 of its id, hexadecimal: names it
    label: str
    made_at_us: int
    used_at_us: int | None  # None: it never signed in


class Passkeys:
    """The passkeys of users who sign in with a password."""

    def __init__(self, access: AccessDatabase, party: RelyingParty | None) -> None:
        """party: for whom browsers make them; None: passkeys are off, and may only be removed."""
        self._access = access
        self._party = party

    @property
    def are_on(self) -> bool:
        """Whether the public address of the pages allows passkeys."""
        return self._party is not None

    def of(self, name: str) -> list[Passkey]:
        """A user's passkeys, in the order they were added."""
        with self._access.open() as connection:
            rows = connection.execute(
                "SELECT encode(sha256(credential_id), 'hex'), label, made_at_us, used_at_us"
                " FROM access.passkeys WHERE name = %s ORDER BY made_at_us, credential_id",
                (name,),
            ).fetchall()
        return [Passkey._make(row) for row in rows]

    def begin_adding(self, name: str, session: str) -> str:
        """What the browser of a session is asked for to make a passkey, as JSON.

        Raises `Refused` if passkeys are off, or if the user has too many.
        """
        from infra.access import ceremonies  # noqa: PLC0415 - the library takes 0.2 s to load

        party = self._on()
        with self._access.open() as connection:
            known = _ids(connection, name)
            if len(known) >= PASSKEYS_MAX:
                raise Refused(
                    f"You have {PASSKEYS_MAX} passkeys, and no one needs more",
                    where=name,
                    hint="Remove one that you do not use.",
                )
            row = connection.execute(
                "UPDATE access.users SET passkey_handle = coalesce(passkey_handle, %s)"
                " WHERE name = %s RETURNING passkey_handle",
                (secrets.token_bytes(_HANDLE_BYTES), name),
            ).fetchone()
            challenge = _challenge(connection, session, "add")
        handle = row[0] if row else b""
        return ceremonies.creation_options(party, name, handle, challenge, known, CHALLENGE_S)

    def add(self, name: str, session: str, answer: str, label: str, actor: Actor) -> list[str]:
        """Keep the passkey in a browser's answer; the user's other sessions end.

        Returns new recovery codes if the user had no second factor, else none. Raises `Usage` for
        an unfit label, `Refused` for an answer that is not one to this session's challenge.
        """
        from infra.access import ceremonies  # noqa: PLC0415 - as above

        party, label = self._on(), _checked(label)
        with self._access.open() as connection:
            challenge = _used_challenge(connection, session, "add")
        made = ceremonies.made(answer, party, challenge) if challenge else None
        if made is None:
            raise Refused(
                "The browser's answer makes no passkey here, or came too late",
                where=label,
                hint="Begin again, and let the device ask for its PIN, your finger or your face.",
            )
        with self._access.open() as connection:
            connection.execute(
                "SELECT FROM access.users WHERE name = %s FOR NO KEY UPDATE", (name,)
            )
            goes_on = connection.execute(
                "SELECT FROM access.sessions WHERE token_hash = %s", (_digest(session),)
            ).rowcount
            if not goes_on:  # by another password, for example
                raise Refused("Your session has ended meanwhile", where=name, hint="Sign in again.")
            had_factor = is_on(connection, name)
            try:
                connection.execute(
                    f"INSERT INTO access.passkeys VALUES ({NOW}, NULL, %s, %s, %s, %s, %s)".encode(),  # noqa: E501, S608 - values are parameters
                    (made.sign_count, name, label, made.credential_id, made.public_key),
                )
            except psycopg.errors.UniqueViolation as error:
                raise Refused(
                    "This passkey is known already", where=label, hint="Make another one."
                ) from error
            end_sessions(connection, name, _digest(session).hex())
            note(connection, "passkey_added", name, actor, label)
            return [] if had_factor else new_recovery_codes(connection, name)

    def begin(self, token: str, name: str = "") -> str:
        """What a browser is asked for to sign with a passkey, as JSON.

        token: of the session, or of the form before sign-in. name: the session's user. Raises
        `Refused` if passkeys are off.
        """
        from infra.access import ceremonies  # noqa: PLC0415 - as above

        party = self._on()
        with self._access.open() as connection:
            challenge = _challenge(connection, token, "again" if name else "sign_in")
            known = _ids(connection, name) if name else []
        if name and not known:
            raise Refused("You have no passkey", where=name, hint="Give the password.")
        return ceremonies.request_options(party, challenge, known, CHALLENGE_S)

    def read(self, answer: str) -> Assertion | None:
        """A browser's answer; None if it is not one, or if passkeys are off."""
        from infra.access import ceremonies  # noqa: PLC0415 - as above

        return ceremonies.read_answer(answer) if self._party and len(answer) <= ANSWER_MAX else None

    def counted_as(self, answer: Assertion | None) -> str:
        """The name that a try to sign in counts for: the passkey's user, else the passkey's id."""
        if answer is None:
            return "passkey"
        with self._access.open() as connection:
            row = connection.execute(
                "SELECT name FROM access.passkeys WHERE credential_id = %s", (answer.credential_id,)
            ).fetchone()
        return row[0] if row else f"passkey {answer.credential_id.hex()[:_COUNTED_MAX]}"

    def take(
        self,
        connection: AnyConnection,
        answer: Assertion | None,
        token: str,
        address: str,
        name: str = "",
    ) -> str:
        """The user whose passkey signed the challenge of this session or form; empty: nobody's did.

        The challenge is used up either way, and a failure is noted. name: the session's user, whose
        passkey it must be; before sign-in the device says whose it is.
        """
        challenge = _used_challenge(connection, token, "again" if name else "sign_in")
        kept = _kept(connection, answer) if answer else None
        count = self._count(answer, kept, challenge, name) if answer and kept else None
        if kept and count is not None and _goes_on(kept.sign_count, count):
            connection.execute(
                f"UPDATE access.passkeys SET used_at_us = {NOW}, sign_count = %s"  # noqa: S608 - as above
                " WHERE credential_id = %s".encode(),
                (count, kept.credential_id),
            )
            return kept.name
        why = "passkey" if count is None else "passkey counter"
        note(
            connection,
            "sign_in_failed",
            name or (kept.name if kept else ""),
            Actor("", address),
            why,
        )
        return ""

    def remove(
        self, name: str, digest: str, actor: Actor, session: str, *, required: bool = False
    ) -> None:
        """Remove one of a user's passkeys, and end the user's other sessions.

        session: the digest of the session that stays, hexadecimal. required: a second factor has
        to stay. Raises `NotFound`, `Refused`.
        """
        with self._access.open() as connection:
            row = connection.execute(
                "DELETE FROM access.passkeys"
                " WHERE name = %s AND encode(sha256(credential_id), 'hex') = %s RETURNING label",
                (name, digest),
            ).fetchone()
            if row is None:
                raise NotFound(
                    "You have no such passkey", where=name, hint="Reload the page of your account."
                )
            if required and not is_on(connection, name):
                raise Refused(
                    "This ledger requires a second factor, and this passkey is your only one",
                    where=row[0],
                    hint="Add another passkey or an authenticator app first.",
                )
            without_factors(connection, name)
            end_sessions(connection, name, session)
            note(connection, "passkey_removed", name, actor, row[0])

    def remove_all(self, name: str, actor: Actor) -> int:
        """Remove a user's passkeys, and end the user's sessions; returns how many there were."""
        with self._access.open() as connection:
            rows = connection.execute(
                "DELETE FROM access.passkeys WHERE name = %s RETURNING label", (name,)
            ).fetchall()
            for (label,) in rows:
                note(connection, "passkey_removed", name, actor, label)
            if rows:
                without_factors(connection, name)
                end_sessions(connection, name)
        return len(rows)

    def _on(self) -> RelyingParty:
        """For whom passkeys are made. Raises `Refused` if they are off."""
        if self._party is None:
            raise Refused(
                "Passkeys are off: the public address of the pages does not allow them",
                where="ROUND_LEDGER_PUBLIC_URL",
                hint="Set it to https:// and a host name.",
            )
        return self._party

    def _count(self, answer: Assertion, kept: _Kept, challenge: bytes, name: str) -> int | None:
        """The device's count in an answer that is right; None if anything but the count is wrong.

        Before sign-in the device has to say whose the passkey is. Later it may, and is compared.
        """
        from infra.access import ceremonies  # noqa: PLC0415 - as above

        told = (kept.handle,) if not name else (kept.handle, None)
        if not (challenge and self._party and name in ("", kept.name)):
            return None
        if answer.user_handle not in told:
            return None
        return ceremonies.sign_count(answer, self._party, challenge, kept.public_key)


class _Kept(NamedTuple):
    """A passkey with what checks it."""

    credential_id: bytes
    name: str
    public_key: bytes
    sign_count: int
    handle: bytes | None


def _kept(connection: AnyConnection, answer: Assertion) -> _Kept | None:
    """The passkey that an answer names, if its user may sign in. It is locked."""
    row = connection.execute(
        "SELECT credential_id, name, public_key, sign_count, passkey_handle"
        " FROM access.passkeys p JOIN access.users u USING (name)"
        " WHERE credential_id = %s AND disabled_at_us IS NULL AND password IS NOT NULL"
        " FOR UPDATE OF p FOR SHARE OF u",
        (answer.credential_id,),
    ).fetchone()
    return _Kept._make(row) if row else None


def _goes_on(known: int, count: int) -> bool:
    """Whether a count follows the known one. A device that counts nothing says 0 always.

    A count that goes back says that two devices have the key.
    """
    return count > known or count == known == 0


def _ids(connection: AnyConnection, name: str) -> list[bytes]:
    rows = connection.execute(
        "SELECT credential_id FROM access.passkeys WHERE name = %s ORDER BY made_at_us", (name,)
    )
    return [row[0] for row in rows.fetchall()]


def _challenge(connection: AnyConnection, token: str, purpose: Purpose) -> bytes:
    """A new challenge of this session or form, in place of an earlier one. Old ones are deleted."""
    made = secrets.token_bytes(_CHALLENGE_BYTES)
    connection.execute(
        f"DELETE FROM access.passkey_challenges WHERE made_at_us < {NOW} - %s".encode(),  # noqa: S608 - values are parameters
        (CHALLENGE_S * _S,),
    )
    connection.execute(
        f"INSERT INTO access.passkey_challenges VALUES ({NOW}, %s, %s, %s)"  # noqa: S608 - as above
        " ON CONFLICT (bound_to, purpose) DO UPDATE"
        " SET made_at_us = excluded.made_at_us, challenge = excluded.challenge".encode(),
        (purpose, _digest(token), made),
    )
    return made


def _used_challenge(connection: AnyConnection, token: str, purpose: Purpose) -> bytes:
    """The challenge of this session or form, which is used now; empty if there is none."""
    row = connection.execute(
        "DELETE FROM access.passkey_challenges WHERE bound_to = %s AND purpose = %s"  # noqa: S608 - as above
        f" RETURNING challenge, made_at_us > {NOW} - %s".encode(),
        (_digest(token), purpose, CHALLENGE_S * _S),
    ).fetchone()
    return row[0] if row and row[1] else b""


def _checked(label: str) -> str:
    """What a user calls a passkey. Raises `Usage`."""
    label = label.strip()
    if not (0 < len(label) <= LABEL_MAX and label.isprintable()):
        raise Usage(
            "The passkey has no name that can be shown",
            where="name",
            hint=f"Give it 1 to {LABEL_MAX} characters, such as: phone.",
        )
    return label


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
