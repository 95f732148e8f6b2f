"""A property's roster: its signing keys and grants, folded from the facts of its office."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ledger.facts import GrantsSet, KeyEnrolled, KeyRevoked, KeyRotated
from ledger.roster.grants import GRANTS
from ledger.roster.signature import PUBLIC_OCTETS, decoded, key_id, octets_of_rotation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ledger.facts import Grant
    from ledger.record.wire import Fact

    Verifies = Callable[[bytes, bytes, bytes], bool]
    """Whether a signature by a public key is over these bytes: (public, signature, bytes)."""

OFFICE = "office"
"""The place whose tape has the roster."""

ROSTER_FACTS = ("key_enrolled.v1", "key_rotated.v1", "key_revoked.v1", "grants_set.v1")
"""Stored names of the facts that a roster is made of."""


class SigningKey(NamedTuple):
    """A key on the roster."""

    key: str
    public: bytes
    source: str
    role: str
    enrolled_at_us: int
    by: str
    replaces: str | None = None
    replaced_by: str | None = None
    revoked_at_us: int | None = None
    because: str | None = None  # it was revoked

    @property
    def signs(self) -> bool:
        """Whether a fact that it signs today is accepted."""
        return self.revoked_at_us is None and self.replaced_by is None


class Roster(NamedTuple):
    """The keys and grants of one property."""

    keys: Mapping[str, SigningKey]
    grants: Mapping[str, Sequence[Grant]]  # by role


NO_ROSTER = Roster({}, GRANTS)
"""A property without a key: every fact is accepted."""


def taking(roster: Roster, facts: Iterable[Fact], verifies: Verifies) -> Roster:
    """The roster after these facts, in order of the tape. What contradicts it has no effect."""
    keys, grants = dict(roster.keys), dict(roster.grants)
    for fact in facts:
        body = fact.body
        if isinstance(body, GrantsSet):
            grants[body.role] = body.grants
        else:
            _take(keys, body, fact.time_us, verifies)
    return Roster(keys, grants)


def _take(keys: dict[str, SigningKey], body: object, at_us: int, verifies: Verifies) -> None:
    if isinstance(body, KeyEnrolled):
        public = _public(body.key, body.public_key)
        if public and body.key not in keys:
            new = SigningKey(body.key, public, body.source, body.role, at_us, body.by)
            keys[body.key] = new
    elif isinstance(body, KeyRotated):
        _rotate(keys, body, at_us, verifies)
    elif isinstance(body, KeyRevoked) and body.key in keys:
        old = keys[body.key]
        if old.revoked_at_us is None:
            keys[body.key] = old._replace(revoked_at_us=at_us, because=body.because)


def _rotate(keys: dict[str, SigningKey], body: KeyRotated, at_us: int, verifies: Verifies) -> None:
    """Put a key in an old one's place, if the old one signs and signed for it."""
    old, public = keys.get(body.replaces), _public(body.key, body.public_key)
    signature = decoded(body.signature)
    if old is None or not old.signs or public is None or signature is None or body.key in keys:
        return
    if verifies(old.public, signature, octets_of_rotation(old.key, public)):
        new = SigningKey(body.key, public, old.source, old.role, at_us, body.by, old.key)
        keys[old.key] = old._replace(replaced_by=body.key)
        keys[body.key] = new


def _public(key: str, text: str) -> bytes | None:
    """The public half in a fact, if the key's id is that of it."""
    public = decoded(text, PUBLIC_OCTETS)
    return public if public and key_id(public) == key else None
