"""The witnessed log over a real record: what it seals, and what it names of what was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from consumers.sealer.check import check
from consumers.sealer.proofs import prove, verified_leaf
from consumers.sealer.sealer import SealedLog, seal
from infra import tile_folder
from infra.access.connections import AccessDatabase, Actor, note
from infra.tile_folder import TileFolder
from ledger.errors import NotFound, Refused
from ledger.record.tape import Quarantined
from ledger.witnessed_log.checkpoints import Checkpoint, hash_text, proof_text
from ledger.witnessed_log.signed_notes import SIGNATURE, new_key
from ledger.witnessed_log.tree import leaf_hash, root_of
from ledger.witnessed_log.tree import root as tree_root
from tests.fixtures.postgres import fact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape

KEY = new_key("ledger.example/record", SIGNATURE)


class Published:
    """Keeps every checkpoint that a sealer publishes."""

    def __init__(self) -> None:
        self.checkpoints: list[Checkpoint] = []

    def looked(self) -> None:
        pass

    def sealed(self, checkpoint: Checkpoint, witnesses: int) -> None:
        del witnesses
        self.checkpoints.append(checkpoint)


def garbage(number: int) -> Quarantined:
    return Quarantined(b"{%d" % number, "not_json", "It is not JSON.", "$", "Send JSON.")


@pytest.fixture
def superuser(database: Database) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """Somebody with every right, and the triggers switched off."""
    with psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET session_replication_role = replica")
        yield connection


def sealed(database: Database, folder: TileFolder) -> list[Checkpoint]:
    """Seal all that is on record; the checkpoints that were published."""
    published = Published()
    log = SealedLog(folder, KEY)
    seal(database, log, stop=lambda: True, listener=published, follow=False)
    return published.checkpoints


@pytest.fixture
def log(database: Database, tape: PostgresTape, folder: TileFolder) -> TileFolder:
    """A sealed record: ten facts over three places, inputs in quarantine, one released, events."""
    tape.append([fact(n, place=f"CC-{n % 3:02d}", boot="b1") for n in range(10)])
    tape.append([*map(garbage, range(4)), garbage(0), fact(1, place="CC-01", data=b'{"other":1}')])
    tape.release(2, fact(11))
    access = AccessDatabase(database)
    with access.open() as connection:
        for number in range(5):
            note(connection, "signed_in", "maria", Actor("maria", f"10.0.0.{number}"))
    access.close()
    sealed(database, folder)
    return folder


def breaks(database: Database, folder: TileFolder) -> set[tuple[str | None, int | None]]:
    return {each[:2] for each in check(database, folder, [KEY.verifier]).breaks}


def test_an_untouched_record_is_what_was_sealed(
    database: Database, tape: PostgresTape, log: TileFolder
) -> None:
    seen = check(database, log, [KEY.verifier])
    assert seen.breaks == []
    assert seen.checkpoint.size == 11 + 5 + 1 + 5 + 1
    tape.append([fact(20), garbage(9)])
    assert breaks(database, log) == set(), "what came since is not sealed yet"
    sealed(database, log)
    assert check(database, log, [KEY.verifier]).checkpoint.size == 23 + 3


def of_fact(assignment: str) -> str:
    return f"UPDATE ledger.tape SET {assignment} WHERE notification_id = 5"  # noqa: S608 - a test


def of_input(assignment: str, number: int = 4) -> str:
    return f"UPDATE ledger.quarantine SET {assignment} WHERE quarantine_id = {number}"  # noqa: S608 - a test


REWRITTEN = """
UPDATE ledger.tape SET state = '{}' WHERE notification_id = 5;
CREATE TEMP TABLE old AS SELECT * FROM ledger.tape ORDER BY notification_id;
TRUNCATE ledger.tape, ledger.identity, ledger.heads;
UPDATE ledger.record SET position = 0, received = 6, duplicate = 0;
SELECT ledger.append(array_agg(originator_id ORDER BY notification_id),
    array_agg(topic ORDER BY notification_id), array_agg(source ORDER BY notification_id),
    array_agg(fact_id ORDER BY notification_id), array_agg(time_us ORDER BY notification_id),
    array_agg(subject ORDER BY notification_id), array_agg(attributes ORDER BY notification_id),
    array_agg(state ORDER BY notification_id), '{}', '{}', '{}', '{}', '{}', '{}', '{}') FROM old
"""
CUT_OFF = """
DELETE FROM ledger.tape WHERE notification_id > 7;
DELETE FROM ledger.identity WHERE position > 7;
TRUNCATE ledger.heads;
INSERT INTO ledger.heads SELECT DISTINCT ON (originator_id) originator_version, notification_id,
    originator_id, hash FROM ledger.tape ORDER BY originator_id, originator_version DESC;
UPDATE ledger.record SET position = 7, received = received - 4
"""
SWAPPED = """
UPDATE ledger.tape a SET state = b.state FROM ledger.tape b
 WHERE (a.notification_id, b.notification_id) IN ((5, 8), (8, 5))
"""
PUT_IN = """
INSERT INTO access.events (number, at_us, what, name, actor, address, detail)
OVERRIDING SYSTEM VALUE SELECT 0, at_us, what, 'nobody', actor, address, detail
  FROM access.events WHERE number = 1
"""
FORGED = "octets = 'x', digest = sha256('\\xffffffffffffffff'::bytea || 'x')"
FACTS = {("fact", number) for number in range(1, 12)}


@pytest.mark.parametrize(
    ("statements", "named"),
    [
        (of_fact("state = '{}'"), {("fact", 5)}),
        (of_fact("topic = 'wager_paid.v1'"), {("fact", 5)}),
        (of_fact("subject = null"), {("fact", 5)}),
        (of_fact("source = '/hollywood/CC-09/shoe'"), {("fact", 5)}),
        (of_fact("fact_id = 'another'"), {("fact", 5)}),
        (of_fact("time_us = time_us + 1"), {("fact", 5)}),
        (of_fact("received_at_us = 1"), {("fact", 5)}),
        (of_fact("originator_version = 9"), {("fact", 5)}),
        (of_fact("originator_id = 'hollywood/CC-09'"), {("fact", 5)}),
        (of_fact("attributes = set_byte(attributes, 21, 50)"), {("fact", 5)}),
        (SWAPPED, {("fact", 5), ("fact", 8)}),
        ("DELETE FROM ledger.tape WHERE notification_id = 5", {("fact", 5)}),
        ("DELETE FROM ledger.tape WHERE notification_id > 8", {("fact", n) for n in (9, 10, 11)}),
        (CUT_OFF, {*(("fact", n) for n in range(8, 12)), ("figures", 11)}),
        ("TRUNCATE ledger.tape", FACTS),
        (REWRITTEN, FACTS),
        (of_input("octets = '{}'"), {("quarantined", 4)}),
        (of_input(FORGED), {("quarantined", 4)}),
        (of_input("reason = 'duplicate_key'"), {("quarantined", 4)}),
        (of_input("what = 'It is well.'"), {("quarantined", 4)}),
        (of_input("source = '/hollywood/CC-07/shoe'"), {("quarantined", 4)}),
        (of_input("received_at_us = 1"), {("quarantined", 4)}),
        ("DELETE FROM ledger.quarantine WHERE quarantine_id = 3", {("quarantined", 3)}),
        ("DELETE FROM ledger.quarantine WHERE quarantine_id = 5", {("quarantined", 5)}),
        (of_input("released_position = 3", 2), {("released", 2)}),
        (of_input("released_position = NULL, released_at_us = NULL", 2), {("released", 2)}),
        ("UPDATE ledger.record SET received = received - 1, quarantined = quarantined - 1",
         {("figures", 11)}),
        ("UPDATE access.events SET name = 'boris' WHERE number = 3", {("access", 3)}),
        ("DELETE FROM access.events WHERE number = 2", {("access", 2)}),
        (PUT_IN, {("access", 0)}),
    ],
)  # fmt: skip
def test_what_was_changed_since_is_named(
    database: Database,
    log: TileFolder,
    superuser: psycopg.Connection[tuple[object, ...]],
    statements: str,
    named: set[tuple[str, int]],
) -> None:
    superuser.execute(statements)
    assert breaks(database, log) == named


def test_every_break_is_named_in_one_run(
    database: Database, log: TileFolder, superuser: psycopg.Connection[tuple[object, ...]]
) -> None:
    superuser.execute("UPDATE ledger.tape SET state = '{}' WHERE notification_id IN (2, 6)")
    superuser.execute("DELETE FROM ledger.tape WHERE notification_id = 9")
    superuser.execute("UPDATE ledger.quarantine SET what = 'x' WHERE quarantine_id = 1")
    superuser.execute("DELETE FROM access.events WHERE number = 4")
    assert breaks(database, log) == {
        ("fact", 2), ("fact", 6), ("fact", 9), ("quarantined", 1), ("access", 4),
    }  # fmt: skip


def test_an_entry_that_was_changed_in_the_files_is_named(
    database: Database, log: TileFolder
) -> None:
    path = log.folder / "tile/entries/000.p/23"
    path.write_bytes(path.read_bytes().replace(b"fact 5 ", b"fact 4 "))
    seen = check(database, log, [KEY.verifier]).breaks
    assert "do not lead to the root" in seen[0].says


def test_a_tile_that_was_changed_is_named(database: Database, log: TileFolder) -> None:
    path = log.folder / "tile/0/000.p/23"
    path.write_bytes(path.read_bytes()[::-1])
    (seen,) = check(database, log, [KEY.verifier]).breaks
    assert "tiles do not lead" in seen.says


def test_a_file_that_is_gone_or_cut_is_refused_with_its_name(
    database: Database, log: TileFolder
) -> None:
    path = log.folder / "tile/entries/000.p/23"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(Refused, match="cut off"):
        check(database, log, [KEY.verifier])
    path.unlink()
    with pytest.raises(Refused, match="is gone"):
        check(database, log, [KEY.verifier])


def test_a_checkpoint_of_another_key_is_refused(database: Database, log: TileFolder) -> None:
    with pytest.raises(Refused, match="not signed by"):
        check(database, log, [new_key("ledger.example/record", SIGNATURE).verifier])


def test_a_fact_is_proved_and_another_one_is_not(
    database: Database, tape: PostgresTape, log: TileFolder
) -> None:
    row = tape.read(4, 1)[0]
    text = proof_text(prove(database, log, row.source, row.id))
    seen = verified_leaf(text, [KEY.verifier], "here")
    assert (seen.entry.kind, seen.entry.number) == ("fact", 5)
    other = tape.read(5, 1)[0]
    forged = proof_text(prove(database, log, other.source, other.id)).splitlines()[1]
    lines = text.splitlines(keepends=True)
    with pytest.raises(Refused, match="does not lead"):
        verified_leaf("".join([lines[0], forged + "\n", *lines[2:]]), [KEY.verifier], "here")
    tape.append([fact(30)])
    newest = tape.read(11, 1)[0]
    with pytest.raises(NotFound, match="not sealed yet"):
        prove(database, log, newest.source, newest.id)
    with pytest.raises(NotFound, match="no such fact"):
        prove(database, log, row.source, row.id + "0")


def test_a_fact_that_is_not_what_was_sealed_is_not_proved(
    database: Database,
    tape: PostgresTape,
    log: TileFolder,
    superuser: psycopg.Connection[tuple[object, ...]],
) -> None:
    row = tape.read(4, 1)[0]
    superuser.execute(of_fact("state = '{}'"))
    with pytest.raises(Refused, match="not what was sealed"):
        prove(database, log, row.source, row.id)


def test_a_second_sealer_is_refused(database: Database, log: TileFolder) -> None:
    with log.leading(), pytest.raises(Refused, match="Another sealer"):
        sealed(database, TileFolder(log.folder))


class KilledError(BaseException):
    """Stands for a kill: nothing after it runs."""


class Killer:
    """Kills at one write, before it or after it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, before: bool) -> None:
        self._write, self._before = tile_folder.replace_file, before
        self.at, self.writes = 0, 0
        monkeypatch.setattr(tile_folder, "replace_file", self.write)
        monkeypatch.setattr(tile_folder, "replace_files", self.write_all)

    def write(self, path: Path, octets: bytes, mode: int) -> None:
        if not self._before:
            self._write(path, octets, mode)
        if self.writes == self.at:
            raise KilledError
        self.writes += 1
        if self._before:
            self._write(path, octets, mode)

    def write_all(self, files: dict[Path, bytes], mode: int) -> None:
        for path, octets in files.items():
            self.write(path, octets, mode)

    def kills(self, work: Callable[[], object]) -> bool:
        """Whether the work was killed; the next time it is, one write later."""
        self.writes = 0
        try:
            work()
        except KilledError:
            self.at += 1
            return True
        return False


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
def test_killed_at_any_write_a_log_goes_on_with_the_same_tree(
    database: Database,
    tape: PostgresTape,
    folder: TileFolder,
    monkeypatch: pytest.MonkeyPatch,
    *,
    before: bool,
) -> None:
    """A kill at each write in turn. Every checkpoint on disk is of the tree in the end."""
    killer = Killer(monkeypatch, before=before)
    seen: dict[int, str] = {}
    goes_on = True
    while goes_on:
        tape.append([fact(1_000 * killer.at + n) for n in range(90)])
        tape.append([garbage(killer.at)])
        goes_on = killer.kills(lambda: sealed(database, folder))
        if text := folder.checkpoint():
            _, size, root = text.splitlines()[:3]
            assert seen.setdefault(int(size), root) == root
    assert killer.at >= 5
    assert breaks(database, folder) == set()
    whole = folder.hashes(folder.grown().size)
    assert seen == {size: hash_text(tree_root(size, whole)) for size in seen}


def test_a_log_over_many_tiles_is_the_tree_of_its_entries(
    database: Database, tape: PostgresTape, folder: TileFolder
) -> None:
    for first in range(0, 700, 100):
        tape.append([fact(first + n) for n in range(100)])
        (checkpoint,) = sealed(database, folder)
        leaves = [leaf_hash(each.octets) for each in folder.entries(checkpoint.size)]
        assert checkpoint.root == root_of(leaves)
    assert breaks(database, folder) == set()
    assert (folder.folder / "tile/0/001").exists()
