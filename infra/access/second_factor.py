"""A second factor at sign-in: codes of an authenticator app (TOTP, RFC 6238), and recovery codes.

The app and the server share a secret. It is kept encrypted, and its key is a file outside the
database, so who reads a backup makes no code. A code counts once, and each recovery code too.
"""

from __future__ import annotations

import hashlib
import secrets
import stat
from base64 import b32encode
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.twofactor import InvalidToken
from cryptography.hazmat.primitives.twofactor.totp import TOTP

from infra.access.connections import NOW, Actor, note
from infra.access.tries import TRIES_S, Try, forget_tries, too_many
from infra.access.users import end_sessions
from infra.files import replace_file
from infra.postgres.advisory_lock import lock_transaction
from ledger.errors import Lacking, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from infra.access.connections import AccessDatabase
    from infra.postgres.connection import AnyConnection

STEP_S = 30
"""How long a code is shown, seconds."""

DRIFT_STEPS = 1
"""How many steps the app's clock may be before or behind the database's."""

DIGITS = 6
"""Digits of a code."""

RECOVERY_CODES = 10
"""Recovery codes of a user, each for one sign-in."""

ISSUER = "Round Ledger"
"""What apps show beside the user's name."""

KEY_FILE = "second-factor.key"
"""The file of the key that encrypts the secrets, under the home: 32 random bytes."""

_SECRET_BYTES = 20  # RFC 4226: as long as a SHA-1 digest
_RECOVERY_BYTES = 15  # 120 bits: enough for a plain hash (ASVS 5.0, 6.5.2)
_KEY_BYTES, _NONCE_BYTES = 32, 12
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Enrolment(NamedTuple):
    """What an app is given once: the secret as people type it, and as an address for a QR code."""

    secret: str  # base32, in groups of four
    address: str  # otpauth://totp/...


class SecondFactors:
    """The second factors of users who sign in with a password."""

    def __init__(self, access: AccessDatabase, home: Path, *, required: bool = False) -> None:
        """`home`: the folder with the key. required: nobody signs in with a password alone."""
        self._access = access
        self._key_file = home / KEY_FILE
        self.required = required

    def is_on(self, name: str) -> bool:
        """Whether a password alone does not sign this user in: an app or a passkey is asked for."""
        with self._access.open() as connection:
            return is_on(connection, name)

    def has_app(self, name: str) -> bool:
        """Whether this user has an authenticator app."""
        with self._access.open() as connection:
            return _has_app(connection, name)

    def recovery_codes_left(self, name: str) -> int:
        """How many recovery codes of a user are not used."""
        with self._access.open() as connection:
            return connection.execute(
                "SELECT FROM access.recovery_codes WHERE name = %s", (name,)
            ).rowcount

    def begin(self, name: str) -> Enrolment:
        """Make a secret, in place of one that no code confirmed.

        Raises `Refused` if it is on, or if the key is lost and second factors of others need it.
        """
        secret = secrets.token_bytes(_SECRET_BYTES)
        with self._access.open() as connection:
            lock_transaction(connection, "second factor")
            sealed = _sealed(self._made_key(connection), name, secret)
            done = connection.execute(
                "INSERT INTO access.second_factors (begun_at_us, name, secret)"  # noqa: S608 - values are parameters
                f" VALUES ({NOW}, %s, %s) ON CONFLICT (name) DO UPDATE"
                " SET begun_at_us = excluded.begun_at_us, secret = excluded.secret"
                " WHERE second_factors.confirmed_at_us IS NULL".encode(),
                (name, sealed),
            )
            if done.rowcount == 0:
                raise Refused(
                    "The second factor is on already",
                    where=name,
                    hint="Turn it off before you set up another app.",
                )
        plain = b32encode(secret).decode()
        return Enrolment(_grouped(plain), _totp(secret).get_provisioning_uri(name, ISSUER))

    def confirm(self, name: str, code: str, actor: Actor, kept: str) -> tuple[Try, list[str]]:
        """Turn it on by one code, and return the recovery codes. As `turn_on`, and a try."""
        if wait_s := self.wait_s(name, actor.address):
            return Try(fits=False, wait_s=wait_s), []
        with self._access.open() as connection:
            codes = self.turn_on(connection, name, code, actor, kept)
        return Try(fits=bool(codes)), codes

    def turn_on(
        self, connection: AnyConnection, name: str, code: str, actor: Actor, kept: str
    ) -> list[str]:
        """Turn it on by one code, in a transaction of the caller; new recovery codes, or none.

        kept: the digest of the session or pending sign-in that asks, hexadecimal. The user's others
        end. If that one has ended, by another password for example, the app stays off.
        """
        connection.execute("SELECT FROM access.users WHERE name = %s FOR NO KEY UPDATE", (name,))
        goes_on = connection.execute(
            "SELECT FROM access.sessions WHERE encode(token_hash, 'hex') = %(kept)s UNION ALL"
            " SELECT FROM access.pending_sign_ins WHERE encode(token_hash, 'hex') = %(kept)s",
            {"kept": kept},
        ).rowcount
        if not goes_on or not self._takes(connection, name, code, confirmed=False):
            return []
        connection.execute(
            f"UPDATE access.second_factors SET confirmed_at_us = {NOW} WHERE name = %s".encode(),  # noqa: S608 - as above
            (name,),
        )
        codes = new_recovery_codes(connection, name)
        end_sessions(connection, name, kept)
        self._forget(connection, name, actor.address)
        note(connection, "second_factor_on", name, actor)
        return codes

    def tried(self, name: str, code: str, address: str) -> Try:
        """Whether this is a code of the app, or a recovery code, counted as a try. It counts once.

        Tries are limited by client as those of passwords, and over all clients too: only who knows
        the password comes so far, so nobody else is locked out by it.
        """
        if wait_s := self.wait_s(name, address):
            return Try(fits=False, wait_s=wait_s)
        with self._access.open() as connection:
            if fits := _take_recovery_code(connection, name, code):
                note(connection, "recovery_code_used", name, Actor(name, address))
            else:
                fits = self._takes(connection, name, code, confirmed=True)
            if fits:
                self._forget(connection, name, address)
            else:
                note(connection, "sign_in_failed", name, Actor("", address), "code")
        return Try(fits=fits)

    def remove(self, name: str, actor: Actor, what: str, session: str = "") -> bool:
        """Remove the app, and end the user's other sessions; False if there was none.

        what: the access event. session: the digest of the session that stays, hexadecimal. The
        recovery codes stay for a user who has a passkey.
        """
        with self._access.open() as connection:
            was_on = _has_app(connection, name)
            connection.execute("DELETE FROM access.second_factors WHERE name = %s", (name,))
            if was_on:
                without_factors(connection, name)
                end_sessions(connection, name, session)
                note(connection, what, name, actor)
        return was_on

    def wait_s(self, name: str, address: str) -> int:
        """How long this client, or any client with the password, may try no code, seconds."""
        by_client = too_many(self._access, name, address)
        by_name = too_many(self._access, name, _everywhere(name))
        return TRIES_S if by_client or by_name else 0

    def _forget(self, connection: AnyConnection, name: str, address: str) -> None:
        forget_tries(connection, name, address)
        forget_tries(connection, name, _everywhere(name))

    def _takes(self, connection: AnyConnection, name: str, code: str, *, confirmed: bool) -> bool:
        """Whether the app shows this code now, and neither it nor a later one was taken."""
        row = connection.execute(
            "SELECT secret, used_step FROM access.second_factors"
            " WHERE name = %s AND (confirmed_at_us IS NOT NULL) = %s FOR UPDATE",
            (name, confirmed),
        ).fetchone()
        if row is None:
            return False
        totp = _totp(_opened(self._key(), name, row[0]))
        step = matching_step(totp, code, now_s(connection), after=row[1])
        if step is None:
            return False
        connection.execute(
            "UPDATE access.second_factors SET used_step = %s WHERE name = %s", (step, name)
        )
        return True

    def _made_key(self, connection: AnyConnection) -> bytes:
        """The key; made if none is there and no second factor needs a lost one. Under a lock."""
        used = connection.execute(
            "SELECT 1 FROM access.second_factors WHERE confirmed_at_us IS NOT NULL LIMIT 1"
        ).fetchone()
        with _named(self._key_file):
            if not used and not self._key_file.exists():
                replace_file(self._key_file, secrets.token_bytes(_KEY_BYTES))
        return self._key()

    def _key(self) -> bytes:
        """The key. Raises `Refused` if it is missing, not of this program, or read by others.

        Raises `Lacking` if this login may not read it.
        """
        path = self._key_file
        with _named(path):
            if not path.is_file():
                raise _no_key("The key of second factors is missing", path)
            if path.stat().st_mode & _OTHERS:
                raise Refused(
                    "Other users can read or change the key of second factors",
                    where=str(path),
                    hint=f"Run `chmod 600 {path.name}`. If someone may have read it, reset every"
                    " second factor.",
                )
            key = path.read_bytes()
        if len(key) != _KEY_BYTES:
            raise _no_key("The file is not a key of second factors", path)
        return key


def matching_step(totp: TOTP, code: str, at_s: int, *, after: int = 0) -> int | None:
    """The time step of a code, within the drift around a time and later than `after`; or None."""
    typed = "".join(code.split()).encode()
    now = at_s // STEP_S
    for step in range(max(now - DRIFT_STEPS, after + 1, 0), now + DRIFT_STEPS + 1):
        try:
            totp.verify(typed, step * STEP_S)
        except InvalidToken:
            continue
        return step
    return None


def now_s(connection: AnyConnection) -> int:
    """The database's clock, seconds since 1970."""
    row = connection.execute(f"SELECT {NOW} / 1000000".encode()).fetchone()
    assert row  # noqa: S101 - it has no condition
    return int(row[0])


def _totp(secret: bytes) -> TOTP:
    """The codes of a secret as every app makes them: SHA-1, six digits, thirty seconds."""
    return TOTP(secret, DIGITS, SHA1(), STEP_S)  # noqa: S303 - HMAC-SHA-1, as RFC 6238 has it


def is_on(connection: AnyConnection, name: str) -> bool:
    """Whether a user has a second factor: an authenticator app, or a passkey."""
    row = connection.execute("SELECT FROM access.passkeys WHERE name = %s LIMIT 1", (name,))
    return bool(row.rowcount) or _has_app(connection, name)


def new_recovery_codes(connection: AnyConnection, name: str) -> list[str]:
    """New recovery codes of a user, in place of earlier ones."""
    codes = [_recovery_code() for _ in range(RECOVERY_CODES)]
    connection.execute("DELETE FROM access.recovery_codes WHERE name = %s", (name,))
    for each in codes:
        connection.execute("INSERT INTO access.recovery_codes VALUES (%s, %s)", (name, _hash(each)))
    return codes


def without_factors(connection: AnyConnection, name: str) -> None:
    """Delete the recovery codes of a user who has no second factor any more."""
    if not is_on(connection, name):
        connection.execute("DELETE FROM access.recovery_codes WHERE name = %s", (name,))


def _has_app(connection: AnyConnection, name: str) -> bool:
    return bool(
        connection.execute(
            "SELECT 1 FROM access.second_factors WHERE name = %s AND confirmed_at_us IS NOT NULL",
            (name,),
        ).fetchone()
    )


def _take_recovery_code(connection: AnyConnection, name: str, code: str) -> bool:
    """Whether this is an unused recovery code; then it is used."""
    done = connection.execute(
        "DELETE FROM access.recovery_codes WHERE name = %s AND code_hash = %s", (name, _hash(code))
    )
    return done.rowcount == 1


def _everywhere(name: str) -> str:
    """What the tries of a user's codes are counted by, whichever client they come from."""
    return f"codes of {name}"


def _recovery_code() -> str:
    return _grouped(b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode())


def _hash(code: str) -> bytes:
    """The hash of a recovery code, however it is spaced and written."""
    return hashlib.sha256("".join(code.split()).upper().encode()).digest()


def _grouped(text: str) -> str:
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def _sealed(key: bytes, name: str, secret: bytes) -> bytes:
    """The secret encrypted for this user alone: in another's row it cannot be read."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, secret, name.encode())


def _opened(key: bytes, name: str, sealed: bytes) -> bytes:
    try:
        return AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], name.encode())
    except InvalidTag:
        raise Refused(
            "The second factor cannot be read with this key",
            where=name,
            hint=f"Restore {KEY_FILE} from its copy, or run"
            f" `round-ledger users second-factor {name} --reset`.",
        ) from None


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Raise `Lacking`, with the name of the key, for what the machine does not allow."""
    try:
        yield
    except OSError as error:
        raise Lacking(
            f"The key of second factors cannot be read or made: {error.strerror}",
            where=str(path),
            hint="Run commands as the login of `round-ledger serve`, which owns the key. See that"
            " its disk has space.",
        ) from error


def _no_key(says: str, path: Path) -> Refused:
    return Refused(
        says,
        where=str(path),
        hint="Restore it from its copy, or reset the second factors of users.",
    )
