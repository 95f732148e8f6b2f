"""A house whose devices sign: a key for each role, and simulated floors signed by their devices."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ledger.record.tape import Received
from ledger.record.wire import encode, parse_line
from ledger.roster.door import checked
from ledger.roster.grants import GRANTS
from ledger.roster.roster import Roster, SigningKey
from ledger.simulate.feed import deal, line
from replay.roster.key_files import DeviceKey, of_secret, sign, verifies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.facts import Body
    from ledger.record.tape import Quarantined
    from ledger.simulate import Plan

NOW_US = 1_795_300_000_000_000
"""The ledger's clock: days after the floors that are dealt."""


def key_for(source: str) -> DeviceKey:
    """The key of a device; the same each time."""
    seed = hashlib.sha256(source.encode()).digest()
    return of_secret(Ed25519PrivateKey.from_private_bytes(seed))


def roster_of(sources: Mapping[str, str]) -> Roster:
    """A roster with a key for each source in its role."""
    keys = {
        (its := key_for(source)).key: SigningKey(its.key, its.public, source, role, 0, "IT-7")
        for source, role in sources.items()
    }
    return Roster(keys, GRANTS)


def fact_from(
    source: str, body: Body, subject: str | None = None, *, time_us: int = NOW_US, id_: str = "1"
) -> Received:
    """A fact of a device, unsigned."""
    judged = parse_line(encode(body, source, id_, time_us, subject))
    assert isinstance(judged, Received), judged
    return judged


def signed_by(source: str, fact: Received) -> Received:
    """The fact signed by a device's key."""
    return sign(fact, key_for(source))


def at_the_door(fact: Received, roster: Roster, *, now_us: int = NOW_US) -> Received | Quarantined:
    """What the door makes of a fact."""
    return checked(fact, roster, now_us, verifies)


def signed_floor(plan: Plan) -> Iterator[Received]:
    """Every fact of a floor, signed by its device."""
    for told in deal(plan)[0]:
        judged = parse_line(line(plan, told))
        assert isinstance(judged, Received)
        yield signed_by(judged.source, judged)
