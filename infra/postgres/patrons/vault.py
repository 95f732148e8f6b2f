"""Reads and writes the table of pseudonyms, `ledger.pseudonyms`, on the caller's connection."""

from __future__ import annotations

import re
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
from psycopg.rows import tuple_row

from infra.postgres import arrays
from infra.postgres.connection import translated
from ledger.record.pseudonyms import (
    ERASED,
    SALT_OCTETS,
    FactOnRecord,
    KeptPseudonym,
    PatronToken,
    is_pseudonym,
    patrons_in,
    pseudonym_of,
    said_again,
    verify_pseudonyms,
    with_pseudonyms,
)
from ledger.record.tape import Quarantined, Receipt, Received

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from psycopg import Connection, Cursor

    from infra.postgres.connection import Database
    from ledger.record.verify import RecordBreak

    Inputs = Sequence[Received | Quarantined]

ROWS = 10_000
"""Rows that a verification reads at a time."""

_KNOWN = "SELECT * FROM ledger.known_pseudonyms(%b, %b)"
_ON_RECORD = "SELECT * FROM ledger.facts_of_patrons(%b, %b)"
_KEEP = "SELECT ledger.keep_pseudonyms(%b, %b, %b, %b)"
_COUNTED = "SELECT r.pseudonyms FROM ledger.record r"
_COLUMNS = "number, pseudonym, property, token, salt, erased_position"
_AFTER = f"""
SELECT {_COLUMNS} FROM ledger.pseudonyms WHERE number > %b ORDER BY number LIMIT %b
"""  # noqa: S608 - put together from constants
_OF_TOKEN = f"""
SELECT {_COLUMNS} FROM ledger.pseudonyms WHERE token = %b AND property IN ('', %b) ORDER BY number
"""  # noqa: S608 - as above
_NAMED = f"""
SELECT {_COLUMNS} FROM ledger.pseudonyms WHERE pseudonym = ANY(%b) ORDER BY number
"""  # noqa: S608 - as above
_ANYWHERE = "SELECT pseudonym FROM ledger.pseudonyms WHERE token = %b ORDER BY number"
_ERASURES = """
SELECT t.notification_id, t.state FROM ledger.heads h JOIN ledger.tape t ON t.originator_id = h.tape
 WHERE split_part(h.tape, '/', 2) = 'office' AND t.topic = %b ORDER BY t.notification_id
"""


_PLACES = """
WITH w AS (SELECT %b::bytea AS octets, %b::text AS word, %b::bytea[] AS names),
  told AS (
    SELECT 'record' AS place, t.topic AS kind, t.notification_id AS number, t.state AS octets
      FROM ledger.tape t
    UNION ALL
    SELECT 'quarantine', q.reason, q.quarantine_id, coalesce(q.attributes, '') || q.octets
      FROM ledger.quarantine q),
  found AS (
    SELECT place, kind, number,
           position(w.octets IN told.octets) > 0
               AND encode(told.octets, 'escape') ~ w.word AS plain,
           EXISTS (
               SELECT FROM unnest(w.names) AS n (name)
                WHERE position(n.name IN told.octets) > 0) AS named
      FROM told, w)
SELECT place, kind, CASE WHEN plain THEN 'token' ELSE 'pseudonym' END, count(*), min(number),
       max(number)
  FROM found WHERE plain OR named GROUP BY 1, 2, 3 ORDER BY 1 DESC, 2, 3
"""
_APART = "[^A-Za-z0-9_]"


class NamedPlace(NamedTuple):
    """Rows that name a patron. first, last: positions, or numbers in quarantine."""

    place: str  # "record" or "quarantine"
    kind: str  # the type of facts, or the reason of inputs
    named_by: str  # "pseudonym"; or "token", if it stands in their bytes itself
    rows: int
    first: int
    last: int


class _Commitment(NamedTuple):
    pseudonym: str
    salt: bytes


def append_pseudonymised(
    connection: Connection[Any], facts: Inputs, append: Callable[[Inputs], list[Receipt]]
) -> list[Receipt]:
    """Append inputs with a pseudonym in place of each patron's token, in one transaction.

    A token that has a pseudonym keeps it. New ones are kept with what has them, or not at all.
    """
    named = [patrons_in(fact) for fact in facts]
    if not any(named):
        return append(facts)
    with connection.transaction():
        every = list(dict.fromkeys(patron for patrons in named for patron in patrons))
        known = _known(connection, every)
        new = {patron: _commitment(patron) for patron in every if patron not in known}
        receipts = append(list(_replaced(connection, facts, named, known, new)))
        _keep(connection, new, zip(named, receipts, strict=True))
    return receipts


def text_pseudonymised(connection: Connection[Any], octets: bytes, source: str | None) -> bytes:
    """A fact as text, with pseudonyms in place of tokens; new ones are kept at once."""
    kept: list[Received | Quarantined] = []

    def take(facts: Inputs) -> list[Receipt]:
        kept.extend(facts)
        return [Receipt("quarantined", source, None, None, None, None)]

    append_pseudonymised(connection, [Quarantined(octets, "", "", "", "", source)], take)
    return cast("Quarantined", kept[0]).octets


def of_token(connection: Connection[Any], patron: PatronToken) -> list[KeptPseudonym]:
    """The pseudonyms that stand for a token, by number; none once it was erased."""
    rows = _run(connection, _OF_TOKEN, (patron.token, patron.property))
    return [KeptPseudonym._make(row) for row in rows.fetchall()]


def named(connection: Connection[Any], pseudonyms: Iterable[str]) -> list[KeptPseudonym]:
    """The rows of some pseudonyms, by number."""
    rows = _run(connection, _NAMED, (arrays.texts(list(pseudonyms)),))
    return [KeptPseudonym._make(row) for row in rows.fetchall()]


def numbered(connection: Connection[Any], number: int) -> Sequence[object]:
    """The columns of the row with a number; none if it is gone."""
    row = next(_after(connection, number - 1, 1), None)
    return row if row and row.number == number else ()


def tokens(connection: Connection[Any], pseudonyms: Iterable[str]) -> dict[str, str]:
    """The tokens behind pseudonyms, as far as they are known."""
    return {row.pseudonym: row.token for row in named(connection, pseudonyms) if row.token}


def known_tokens(database: Database, names: Iterable[str]) -> dict[str, str]:
    """As `tokens`, on a connection of its own; asks nothing if no name is a pseudonym."""
    pseudonyms = [each for each in dict.fromkeys(names) if is_pseudonym(each)]
    if not pseudonyms:
        return {}
    with database.connect("ledger_reader") as connection, translated(database):
        return tokens(connection, pseudonyms)


def known_pseudonyms(database: Database, token: str) -> list[str]:
    """The pseudonyms that stand for a token at any casino, the oldest first."""
    with database.connect("ledger_reader") as connection, translated(database):
        rows = _run(connection, _ANYWHERE, (token,)).fetchall()
    return [name for (name,) in rows]


def named_places(
    connection: Connection[Any], token: str, pseudonyms: Sequence[str]
) -> list[NamedPlace]:
    """Rows of record and quarantine that name a patron. Reads all of both.

    A token counts where neither a letter nor a digit joins it, in a text too.
    """
    octets = msgspec.json.encode(token)[1:-1]
    escaped = re.sub(r"(\W)", r"\\\1", _as_escaped(octets))
    word = f"(^|{_APART}){escaped}($|{_APART})"
    names = arrays.byteas([each.encode() for each in pseudonyms])
    rows = _run(connection, _PLACES, (octets, word, names))
    return [NamedPlace._make(row) for row in rows.fetchall()]


def breaks(connection: Connection[Any]) -> Iterator[RecordBreak]:
    """Every row that is not as it was kept, or was erased by nobody on record.

    The connection needs one snapshot, since the rows and the facts that erase are read apart.
    """
    counted = cast("tuple[int]", _run(connection, _COUNTED, ()).fetchone())[0]
    erasures = _erasures(connection) if counted else {}
    return verify_pseudonyms(_all(connection), counted, erasures)


def _known(connection: Connection[Any], patrons: Sequence[PatronToken]) -> dict[PatronToken, str]:
    """The pseudonyms that patrons have. Locks the record, so that none is erased meanwhile."""
    properties, its_tokens = zip(*patrons, strict=True)
    rows = _run(connection, _KNOWN, (arrays.texts(properties), arrays.texts(its_tokens)))
    return {PatronToken(property_, token): known for property_, token, known in rows.fetchall()}


def _replaced(
    connection: Connection[Any],
    facts: Inputs,
    named: Sequence[Sequence[PatronToken]],
    known: Mapping[PatronToken, str],
    new: Mapping[PatronToken, _Commitment],
) -> Iterator[Received | Quarantined]:
    """The inputs as they are recorded: one that says what is on record gets the bytes there."""
    meant = {**known, **{patron: each.pseudonym for patron, each in new.items()}}
    pairs = list(zip(facts, named, strict=True))
    sent = [fact for fact, patrons in pairs if patrons and isinstance(fact, Received)]
    there = _on_record(connection, sent)
    for fact, patrons in pairs:
        if not patrons:
            yield fact
        elif isinstance(fact, Quarantined):
            yield with_pseudonyms(fact, meant)
        else:
            before = there.get((fact.source, fact.id))
            again = before is not None and said_again(fact, before, known)
            its = with_pseudonyms(fact, meant)
            yield its._replace(data=before.data) if before and again else its


def _on_record(
    connection: Connection[Any], facts: Sequence[Received]
) -> dict[tuple[str, str], FactOnRecord]:
    """What is on record under the identities of facts, as far as it names patrons."""
    identities = (arrays.texts([f.source for f in facts]), arrays.texts([f.id for f in facts]))
    rows = _run(connection, _ON_RECORD, identities)
    return {
        (source, id_): FactOnRecord(data, frozenset(known))
        for source, id_, data, known in rows.fetchall()
    }


def _keep(
    connection: Connection[Any],
    new: Mapping[PatronToken, _Commitment],
    answered: Iterable[tuple[Sequence[PatronToken], Receipt]],
) -> None:
    """Keep the new pseudonyms that stand in what was recorded or quarantined."""
    stand = [
        patron
        for patrons, receipt in answered
        if receipt.verdict != "duplicate"
        for patron in patrons
        if patron in new
    ]
    kept = [(new[patron], patron) for patron in dict.fromkeys(stand)]
    if kept:
        columns = (
            [each.pseudonym for each, _ in kept],
            [patron.property for _, patron in kept],
            [patron.token for _, patron in kept],
        )
        salts = arrays.byteas([each.salt for each, _ in kept])
        _run(connection, _KEEP, (*map(arrays.texts, columns), salts))


def _commitment(patron: PatronToken) -> _Commitment:
    salt = secrets.token_bytes(SALT_OCTETS)
    return _Commitment(pseudonym_of(patron, salt), salt)


def _all(connection: Connection[Any]) -> Iterator[KeptPseudonym]:
    after = 0
    while rows := list(_after(connection, after, ROWS)):
        yield from rows
        after = rows[-1].number


def _after(connection: Connection[Any], number: int, most: int) -> Iterator[KeptPseudonym]:
    rows = _run(connection, _AFTER, (number, most)).fetchall()
    return map(KeptPseudonym._make, rows)


def _erasures(connection: Connection[Any]) -> dict[str, int]:
    """The position of the first fact that erases each pseudonym."""
    found: dict[str, int] = {}
    for position, data in _run(connection, _ERASURES, (ERASED,)).fetchall():
        with suppress(msgspec.MsgspecError):  # it was edited, which the chains show
            for each in msgspec.json.decode(data, type=_Erasure).pseudonyms:
                found.setdefault(each, position)
    return found


class _Erasure(msgspec.Struct):
    pseudonyms: list[str]


def _as_escaped(octets: bytes) -> str:
    """Bytes as PostgreSQL's `encode(…, 'escape')` writes them."""
    return "".join(
        "\\\\" if each == 0x5C else chr(each) if 0 < each < 0x80 else f"\\{each:03o}"  # noqa: PLR2004 - ASCII
        for each in octets
    )


def _run(
    connection: Connection[Any], statement: str, parameters: Sequence[object]
) -> Cursor[tuple[Any, ...]]:
    """Run a statement binary and prepared, with plain tuples."""
    cursor = connection.cursor(row_factory=tuple_row, binary=True)
    return cursor.execute(statement.encode(), parameters, prepare=True)
