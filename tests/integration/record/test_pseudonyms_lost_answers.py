"""Whatever is lost while a patron is recorded or erased: before or after, and never between."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import psycopg
import pytest

from infra.postgres.connection import Database
from infra.postgres.tape import PostgresTape
from ledger.errors import Unavailable
from ledger.record.group_commit import Committer
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fixtures.proxy import Fault, Proxy

SEATS = [
    fact(number, name="seat_taken", data=json.dumps({"patron": token}).encode())
    for number, token in enumerate(("P-1", "P-2", "P-1"), 1)
]
FAULTS: tuple[Fault, ...] = ("lose the request", "swallow the reply", "swallow and hold")
STEPS = (
    b"BEGIN",
    b"known_pseudonyms",
    b"facts_of_patrons",
    b"append_from",
    b"keep_pseudonyms",
    b"COMMIT",
)


@pytest.fixture
def through(proxy: Proxy, database: Database) -> Iterator[PostgresTape]:
    """The record, reached through the proxy, given up on after a second without an answer."""
    name = psycopg.conninfo.conninfo_to_dict(database.url)["dbname"]
    with PostgresTape(Database(proxy.url(str(name)), database.url), answer_s_max=1) as record:
        yield record


def kept(database: Database) -> list[tuple[str, str | None]]:
    """Pseudonyms and tokens, by number."""
    with database.connect("ledger_reader") as connection:
        rows = connection.execute("SELECT pseudonym, token FROM ledger.pseudonyms ORDER BY number")
        return [(name, token) for name, token in rows.fetchall()]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("step", STEPS)
def test_patrons_are_recorded_once_whatever_is_lost(
    through: PostgresTape,
    tape: PostgresTape,
    database: Database,
    proxy: Proxy,
    step: bytes,
    fault: Fault,
) -> None:
    with Committer(through) as committer:
        proxy.only, proxy.fault = step, fault
        receipts = committer.append(SEATS)
    assert proxy.faults_done == 1
    again = step == b"COMMIT" and fault != "lose the request"
    assert {receipt.verdict for receipt in receipts} == {"duplicate" if again else "appended"}
    known = dict(kept(database))
    rows = [row for row in tape.read(0, 10) if row.type == "seat_taken.v1"]
    names = [json.loads(row.data)["patron"] for row in rows]
    assert [known[name] for name in names] == ["P-1", "P-2", "P-1"]
    assert len(known) == 2, "and none that stands for nobody"
    assert tape.verify().broken is None


@pytest.mark.parametrize("fault", ["lose the request", "swallow the reply"])
def test_an_erasure_is_done_or_not_done(
    through: PostgresTape, tape: PostgresTape, database: Database, proxy: Proxy, fault: Fault
) -> None:
    tape.append(SEATS)
    [(name, _), other] = kept(database)
    said = {"pseudonyms": [name], "because": "asked", "by": "S-1", "second": "S-2"}
    erasure = fact(9, place="office", name="patron_erased", data=json.dumps(said).encode())
    through.append([fact(0)])
    proxy.only, proxy.fault = b"run1-00000009", fault
    with pytest.raises(Unavailable):
        through.append([erasure])
    assert proxy.faults_done == 1
    done = fault == "swallow the reply"
    assert kept(database) == [(name, None if done else "P-1"), other]
    assert tape.verify().broken is None
    assert through.append([erasure])[0].verdict == ("duplicate" if done else "appended")
    assert kept(database) == [(name, None), other]
    assert tape.verify().broken is None
