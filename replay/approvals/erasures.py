"""Erasing a patron: what stands for the token, where it is named, and what holds it back.

Nothing is erased here. The fact `patron_erased` erases as it is appended (ADR 0244).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from consumers.cameras.cameras import CAMERA_FACTS, CAMERAS
from consumers.cameras.rows import handled_rows
from consumers.disputes.disputes import DISPUTES
from consumers.disputes.disputes import VIEW as DISPUTES_VIEW
from consumers.rounds.index import ROUND_INDEX, ROUNDS
from consumers.rounds.search_index import SEATS
from consumers.rounds.search_index import VIEW as SEARCH_VIEW
from consumers.runtime.lifecycle import up_to_date
from infra.postgres.connection import translated
from infra.postgres.patrons import vault
from infra.postgres.view_tables import reading
from ledger.errors import NotFound, Refused
from ledger.facts import FootageLocked, FootageReleased
from ledger.record.pseudonyms import PatronToken
from ledger.record.wire import fact_of
from ledger.values import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from infra.postgres.connection import Database
    from infra.postgres.patrons.vault import NamedPlace
    from infra.postgres.view_tables import ViewStore

CLOCK_US = 3_900_000_000
"""How far a camera's clock may be off, as retention assumes: an hour and five minutes."""

_FOREVER_US = 2**62
_STAYS = f"""
SELECT a.table_name, a.time_us AS since_us, coalesce((
       SELECT min(b.time_us) FROM {{schema}}.{SEATS.name} b
        WHERE b.property = a.property AND b.table_name = a.table_name
          AND b.position IN (0, a.position) AND b.time_us > a.time_us), {_FOREVER_US}) AS until_us
  FROM {{schema}}.{SEATS.name} a
 WHERE a.property = %(property)s AND a.comes AND a.patron = ANY(%(names)s::text[])
"""  # noqa: S608 - values are parameters
_OPEN_DISPUTES = f"""
WITH w AS MATERIALIZED ({_STAYS})
SELECT DISTINCT d.dispute FROM {{schema}}.{DISPUTES.name} d
  LEFT JOIN {{schema}}.{ROUNDS.name} r USING (property, table_name, gaming_day, number)
  JOIN w ON w.table_name = d.table_name
        AND coalesce(r.began_us, d.raised_us, w.since_us) < w.until_us
        AND coalesce(r.ended_us, r.began_us, d.raised_us, w.until_us) >= w.since_us
 WHERE d.property = %(property)s AND d.status <> 'resolved' ORDER BY 1
"""  # noqa: S608 - as above
_CAMERAS = f"""
SELECT DISTINCT c.table_name, c.camera FROM {{schema}}.{CAMERA_FACTS.name} c
 WHERE c.property = %(property)s AND c.table_name = ANY(%(tables)s::text[]) ORDER BY 1, 2
"""  # noqa: S608 - as above


class ErasablePatron(NamedTuple):
    """A patron whose token is known. pseudonyms: what stands for it, the oldest first."""

    property: str
    token: str
    pseudonyms: tuple[str, ...]


def patron_named(database: Database, patron: PatronToken) -> ErasablePatron:
    """The patron with a token. Raises `NotFound` if no pseudonym stands for it."""
    with database.connect("ledger_reader") as connection, translated(database):
        rows = vault.of_token(connection, patron)
    if not rows:
        raise NotFound(
            "No pseudonym stands for this token",
            where=f"a patron of {patron.property}",
            hint="Check the token and the casino. A token that was erased is not known here.",
        )
    return ErasablePatron(*patron, tuple(row.pseudonym for row in rows))


def patron_of(database: Database, property_: str, pseudonyms: Sequence[str]) -> ErasablePatron:
    """The patron behind pseudonyms. Raises `Refused` unless they are all that stand for one."""
    with database.connect("ledger_reader") as connection, translated(database):
        tokens = set(vault.tokens(connection, pseudonyms).values())
        known = [
            row.pseudonym
            for token in sorted(tokens)
            for row in vault.of_token(connection, PatronToken(property_, token))
        ]
    if len(tokens) != 1 or sorted(known) != sorted(pseudonyms):
        raise Refused(
            "These are not the pseudonyms of one patron who is known",
            where=property_,
            hint="The patron was erased, or has another pseudonym by now: ask for it again.",
        )
    return ErasablePatron(property_, tokens.pop(), tuple(pseudonyms))


def terms_of(patron: ErasablePatron) -> dict[str, str]:
    """A patron's pseudonyms as terms of a request."""
    return {f"pseudonym_{nth}": each for nth, each in enumerate(patron.pseudonyms, 1)}


def pseudonyms_of(terms: Mapping[str, str]) -> list[str]:
    """The pseudonyms in the terms of a request."""
    names = (f"pseudonym_{nth}" for nth in range(1, len(terms) + 1))
    return [terms[name] for name in names if name in terms]


def named_places(database: Database, patron: ErasablePatron) -> list[NamedPlace]:
    """Rows that name a patron, by a pseudonym or by the token itself. Reads the whole record."""
    with database.snapshot() as connection:
        return vault.named_places(connection, patron.token, patron.pseudonyms)


def holds(database: Database, patron: ErasablePatron) -> list[str]:
    """Why a patron may not be erased now: open disputes and locked footage of the stays at tables.

    A camera counts if it was ever mapped to the table, and its clock may be off by `CLOCK_US`.
    """
    up_to_date(database, [ROUND_INDEX, SEARCH_VIEW, DISPUTES_VIEW, CAMERAS])
    tables = (SEATS.name, ROUNDS.name, DISPUTES.name, CAMERA_FACTS.name)
    given = {"property": patron.property, "names": [*patron.pseudonyms, patron.token]}
    with reading(database, tables) as store:
        disputes = [f"dispute {name} is open" for (name,) in store.query(_OPEN_DISPUTES, given)]
        return disputes + list(dict.fromkeys(_locks(store, given)))


def require_no_hold(database: Database, patron: ErasablePatron) -> None:
    """Raise `Refused` if a patron is under a legal hold."""
    found = holds(database, patron)
    if found:
        raise Refused(
            f"The patron is under a legal hold: {'; '.join(found)}",
            where=patron.pseudonyms[0],
            hint="Resolve the disputes and release the footage first, or wait until that is done.",
        )


def _locks(store: ViewStore, given: Mapping[str, object]) -> Iterator[str]:
    """The locks that hold on footage of a patron's stays, in words."""
    stays = store.query(_STAYS, given)
    named = {"property": given["property"], "tables": sorted({table for table, *_ in stays})}
    cameras = store.query(_CAMERAS, named)
    spans = [
        (camera, since - CLOCK_US, until + CLOCK_US)
        for table, since, until in stays
        for of_table, camera in cameras
        if of_table == table
    ]
    for lock in _in_force(store, str(given["property"]), spans):
        of = lock.dispute or lock.window
        yield f"footage of camera {lock.camera} is locked" + (f" for {of}" if of else "")


def _in_force(
    store: ViewStore, property_: str, spans: Sequence[tuple[str, int, int]]
) -> list[FootageLocked]:
    """The locks over spans of cameras of which a part was never released."""
    locks: list[FootageLocked] = []
    for row in handled_rows(store, property_, spans):
        match fact_of(row).body:
            case FootageLocked() as lock:
                locks.append(lock)
            case FootageReleased() as release:
                locks = [lock for lock in locks if not _ends(release, lock)]
    return locks


def _ends(release: FootageReleased, lock: FootageLocked) -> bool:
    """Whether a release ends a lock on all of its footage."""
    of = (release.dispute or lock.dispute, release.window or lock.window)
    return (
        release.camera == lock.camera
        and of == (lock.dispute, lock.window)
        and (parse_time(release.from_) or 0) <= (parse_time(lock.from_) or 0)
        and (parse_time(release.to) or 0) >= (parse_time(lock.to) or 0)
    )
