"""A new epoch: facts are lost for good, two people say so, and the next log names the last."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from consumers.sealer.check import check
from consumers.sealer.epochs import ended_log, epoch_entry
from consumers.sealer.sealer import SealedLog, begin_log, seal
from infra.tile_folder import TileFolder
from ledger.errors import Refused
from ledger.facts import EpochBegun
from ledger.values import Source
from replay.recording.house_facts import append_fact
from tests.fixtures.postgres import fact
from tests.integration.sealer.test_fence import KEY, changed, cut_off, sealed
from tests.integration.sealer.test_sealed_record import Published

if TYPE_CHECKING:
    from infra.postgres.connection import Database
    from infra.postgres.tape import PostgresTape

NEXT = "ledger.example/record/2"


@pytest.fixture
def lost(database: Database, tape: PostgresTape, folder: TileFolder) -> TileFolder:
    """The log of ten facts, of which a restored backup has seven."""
    tape.append([fact(n) for n in range(10)])
    sealed(database, folder)
    changed(database, cut_off(10))
    return folder


def ends(tape: PostgresTape, database: Database, log: TileFolder) -> None:
    """Two people put on record that a log ends."""
    body = EpochBegun(
        **ended_log(database, log, KEY.verifier)._asdict(), because="x", by="O-1", second="O-2"
    )
    append_fact(tape, body, Source("hollywood", "office", "record"))


def test_what_is_kept_and_lost_is_counted_from_the_first_fact_on(
    database: Database, tape: PostgresTape, lost: TileFolder
) -> None:
    found = ended_log(database, lost, KEY.verifier)
    assert (found.log, found.kept, found.lost) == (KEY.verifier.name, 7, 3)
    tape.append([fact(n) for n in range(20, 30)])
    assert ended_log(database, lost, KEY.verifier) == found, "other facts at the lost positions"
    changed(database, "UPDATE ledger.tape SET state = '{}' WHERE notification_id = 3")
    assert ended_log(database, lost, KEY.verifier)[3:] == (2, 4)


def test_a_log_that_lost_nothing_does_not_end(
    database: Database, tape: PostgresTape, folder: TileFolder
) -> None:
    tape.append([fact(n) for n in range(10)])
    sealed(database, folder)
    tape.append([fact(10)])
    with pytest.raises(Refused, match="every fact that this log sealed"):
        ended_log(database, folder, KEY.verifier)


def test_the_next_log_names_the_one_before_once_two_people_ended_it(
    database: Database, tape: PostgresTape, lost: TileFolder
) -> None:
    with pytest.raises(Refused, match="No two people have ended the log"):
        epoch_entry(database, lost, KEY.verifier)
    ends(tape, database, lost)
    entry = epoch_entry(database, lost, KEY.verifier)
    log = begin_log(TileFolder(lost.folder.with_name("next")), NEXT, entry)
    seal(database, log, stop=lambda: True, listener=Published(), follow=False)
    assert log.folder.entry(0, log.folder.grown().size) == entry
    assert (entry.of, entry.number, entry.digest) == (
        KEY.verifier.name, lost.grown().size, lost.root(lost.grown().size),
    )  # fmt: skip
    assert check(database, log.folder, [log.key.verifier]).breaks == []


def test_a_log_of_an_epoch_that_nobody_signed_is_named(
    database: Database, tape: PostgresTape, lost: TileFolder
) -> None:
    ends(tape, database, lost)
    entry = epoch_entry(database, lost, KEY.verifier)
    forged = begin_log(
        TileFolder(lost.folder.with_name("next")), NEXT, entry._replace(of="another/log")
    )
    seal(database, forged, stop=lambda: True, listener=Published(), follow=False)
    [named] = check(database, forged.folder, [forged.key.verifier]).breaks
    assert (named.kind, "ends the log another/log" in named.says) == ("epoch", True)


def test_a_log_ended_further_on_is_not_the_one_that_two_people_ended(
    database: Database, tape: PostgresTape, lost: TileFolder
) -> None:
    ends(tape, database, lost)
    seal(database, SealedLog(lost, KEY), stop=lambda: True, listener=Published(), follow=False)
    with pytest.raises(Refused, match="No two people have ended the log"):
        epoch_entry(database, lost, KEY.verifier)
