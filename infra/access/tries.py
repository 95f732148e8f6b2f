"""Tries to sign in: counted by name and client, and refused when there are too many."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, NamedTuple

from infra.access.connections import NOW

if TYPE_CHECKING:
    from infra.access.connections import AccessDatabase
    from infra.postgres.connection import AnyConnection

TRIES_S = 15 * 60
"""How long a failed sign-in counts, seconds."""

TRIES_MAX = 5
"""Failed sign-ins of one name from one client before that name is refused there."""

NAMES_MAX = 30
"""Different names that fail from one client before that client is refused.

A name's passwords have no limit over all clients: anyone could lock out a colleague with it. Codes
of a second factor have one, since they come after the password.
"""

_S = 1_000_000


class Try(NamedTuple):
    """Whether a password or code fits; after a lockout it is not tried for `wait_s` seconds."""

    fits: bool
    wait_s: int = 0


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


def too_many(access: AccessDatabase, name: str, address: str) -> bool:
    """Count this try, then check the limits; so all of many simultaneous tries count."""
    told, client = storable(name), client_of(address)
    with access.open() as connection:
        connection.execute(
            f"INSERT INTO access.tries VALUES ({NOW}, %s, %s)".encode(),  # noqa: S608 - values are parameters
            (told, client),
        )
    with access.open() as connection:
        row = connection.execute(
            "SELECT count(*) FILTER (WHERE name = %(name)s), count(DISTINCT name)"  # noqa: S608 - as above
            " FROM access.tries WHERE address = %(address)s"
            f" AND tried_at_us > {NOW} - %(since)s".encode(),
            {"name": told, "address": client, "since": TRIES_S * _S},
        ).fetchone()
    tries, names = row or (0, 0)
    return bool(tries > TRIES_MAX or names > NAMES_MAX)


def forget_tries(connection: AnyConnection, name: str, address: str) -> None:
    """A try that succeeded ends the count of those before it."""
    connection.execute(
        "DELETE FROM access.tries WHERE name = %s AND address = %s", (name, client_of(address))
    )


def sweep_tries(connection: AnyConnection) -> None:
    """Delete tries that no longer count."""
    connection.execute(
        f"DELETE FROM access.tries WHERE tried_at_us < {NOW} - %s".encode(),  # noqa: S608 - as above
        (TRIES_S * _S,),
    )


def storable(text: str) -> str:
    """A text that a text column accepts, from any input."""
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")[:256]
