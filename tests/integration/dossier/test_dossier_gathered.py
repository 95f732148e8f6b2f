"""What goes into a dossier, read from a real record: all that should, and nothing that came later.

No footage: the tests of the commands show that it goes out.
"""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING

import pytest

from consumers.registry import install
from consumers.runtime.lifecycle import catch_up
from infra.postgres.view_tables import tape_source
from ledger.errors import NotFound, Usage
from ledger.facts import DisputeRaised, FootageExported, FootageLocked, FootageViewed
from ledger.record.wire import encode, fact_of, structured
from ledger.values import format_time, parse_subject
from replay.dossier.gathering.evidence import Wanted, gathered, rounds_told
from replay.dossier.gathering.found import found_window
from replay.dossier.service import VIEWS, found_for, write_found
from replay.dossier.signing import keys as signing
from replay.dossier.writing.evidence import rows_by_file
from replay.footage.library.files import FootageFiles, VerifiedFile
from tests.scenes.dossier_windows import S, facts_and_window
from tests.scenes.dossiers import CAMERA, SEGMENT, SHA256, received
from tests.scenes.view_feeds import record

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from infra.postgres.connection import Database
    from ledger.record.tape import Received
    from replay.dossier.gathering.found import Gathered
    from tests.fixtures.dossier import Made

DAYS_2_US = 2 * 24 * 3_600_000_000


@pytest.fixture
def ledger(database: Database) -> Database:
    install(database)
    return database


def take_in(database: Database, facts: Sequence[Received]) -> None:
    """Put facts on record and into the views that a dossier is read from."""
    record(database, facts)
    with tape_source(database) as source:
        catch_up(database, source, VIEWS)


def told_at(fact: Received, time_us: int) -> Received:
    """The same fact, as a device with another clock sends it."""
    told = json.loads(structured(fact))  # type: ignore[arg-type] # has the same attributes and data
    return received(json.dumps(told | {"time": format_time(time_us)}).encode())


def checked(database: Database, found: Gathered, folder: Path, made: Made) -> str:
    """What verify.py says of the dossier of it, which holds."""
    keys = folder / "keys"
    signer = signing.make(keys, "Hollywood", dt.datetime(2026, 11, 20, tzinfo=dt.UTC))
    write_found(database, found, folder / "d", Wanted("S-2001", "A fall.", 0, 0), keys)
    code, said = made.checked(folder / "d", key=signer.public.hex())
    assert code == 0, said
    return said


@pytest.mark.long
def test_a_round_with_one_fact_of_a_wrong_clock_falls_in_its_window(
    ledger: Database, made: Made, tmp_path: Path
) -> None:
    """By the index it began two days before: where only that was asked, its ruling was left out."""
    facts, window = facts_and_window()
    inside = [each for each in facts if window.from_us <= each.time_us <= window.to_us]
    rounds = {each.subject for each in inside if parse_subject(each.subject or "", "hollywood")}
    skewed = next(e for e in inside if e.type == "round_completed.v1")
    kept = [told_at(e, e.time_us - DAYS_2_US) if e is skewed else e for e in facts]
    take_in(ledger, kept)
    found = found_window(ledger, f"hollywood:{window.name}", None)
    assert {each.round.subject for each in found.stories} == rounds
    known = rounds_told(ledger, found, Wanted("S-2001", "A fall.", 0, 0))
    assert {each.subject for each in known} == rounds
    said = checked(ledger, found, tmp_path, made)
    assert "The window is the one that its locks preserved" in said


def test_the_whole_of_a_copied_segment_is_told_to_go_out_and_who_saw_any_of_it(
    ledger: Database, tmp_path: Path
) -> None:
    """A segment goes out as it is; a clip begins at the key frame before what is asked for."""
    facts, window = facts_and_window()
    start_us, end_us = window.from_us - 10 * S, window.to_us + 10 * S  # of the segment
    seen = FootageViewed(
        camera=CAMERA,
        from_=format_time(start_us + S),
        to=format_time(start_us + 2 * S),
        by="S-2099",
        because="Before the window.",
    )
    viewed = received(encode(seen, "/hollywood/surveillance/screen", "v-1", window.to_us))
    take_in(ledger, [*facts, viewed])
    (tmp_path / "nvr.mp4").write_bytes(SEGMENT)
    at_hand = FootageFiles({SHA256: VerifiedFile(tmp_path / "nvr.mp4", None, None)}, frozenset())
    found = found_window(ledger, f"hollywood:{window.name}", None)._replace(footage=at_hand)
    evidence = gathered(ledger, found, {}, Wanted("S-2001", "A fall.", 0, 0))
    assert [each.sha256 for each in evidence.originals] == [SHA256]
    handled = [fact_of(row).body for row in evidence.custody_rows]
    (told,) = [each for each in handled if isinstance(each, FootageExported)]
    assert (told.camera, told.from_, told.to) == (
        CAMERA, format_time(start_us), format_time(end_us),
    )  # fmt: skip
    assert seen in handled


def test_a_dossier_names_no_dispute_of_another_time(ledger: Database) -> None:
    """Every lock there ever was on its cameras went along, with why: whom that was about, too."""
    facts, window = facts_and_window()

    def lock(name: str, at_us: int) -> Received:
        body = FootageLocked(
            camera=CAMERA,
            from_=format_time(at_us),
            to=format_time(at_us + S),
            by="S-2099",
            because=f"dispute {name}",
            dispute=name,
        )
        return received(encode(body, "/hollywood/surveillance/locks", name, window.to_us))

    near, far = lock("D-near", window.from_us), lock("D-far", window.from_us - DAYS_2_US)
    take_in(ledger, [*facts, near, far])
    found = found_window(ledger, f"hollywood:{window.name}", None)
    evidence = gathered(ledger, found, {}, Wanted("S-2001", "A fall.", 0, 0))
    told = {row.id for rows in rows_by_file(evidence).values() for row in rows}
    assert "D-near" in told
    assert "D-far" not in told


@pytest.mark.long
def test_a_dispute_named_like_a_round_or_a_window_is_reached_by_saying_what_is_meant(
    ledger: Database,
) -> None:
    """Other systems name disputes as they like: such a one had no dossier of its own."""
    facts, window = facts_and_window()
    rounds = {each.subject or "" for each in facts if parse_subject(each.subject or "", "")}
    first, *_, other = sorted(rounds)

    def disputed(name: str) -> Received:
        body = DisputeRaised(dispute=name, round=other, position=3, claim="Short.", by="S-2001")
        return received(encode(body, "/hollywood/surveillance/desk", name, window.to_us))

    take_in(ledger, [*facts, disputed(first), disputed(window.name)])
    for name, kind in ((first, "round"), (window.name, "window")):
        for named in (name, f"hollywood:{name}"):
            with pytest.raises(Usage, match=f"A dispute is named like a {kind}"):
                found_for(ledger, named, None)
            found, wanted = found_for(ledger, named, None, "dispute")
            assert (found.stories[0].round.subject, wanted.dispute) == (other, name)
    found, wanted = found_for(ledger, first, None, "round")
    assert (found.stories[0].round.subject, wanted.dispute) == (first, None)
    found, wanted = found_for(ledger, window.name, None, "window")
    assert found.window == window
    found, wanted = found_for(ledger, other, None)
    assert (found.stories[0].round.subject, wanted.dispute) == (other, None)
    for name, kind in ((other, "dispute"), (other, "window"), ("D-17", "window")):
        with pytest.raises(NotFound):
            found_for(ledger, name, None, kind)  # type: ignore[arg-type] # one of the three
    with pytest.raises(Usage, match="not the name of a round"):
        found_for(ledger, "D-17", None, "round")
