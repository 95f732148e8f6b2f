"""A window of a table with three rounds, two locks and a tip, chained as the record chains it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ledger.adjudication.feed import adjudicate
from ledger.facts import CameraMapped, FootageLocked, SegmentRecorded, TipDropped
from ledger.record.wire import encode, fact_of
from ledger.rules.engine.ruling import Ruling
from ledger.simulate import deal, line
from ledger.values import format_time, parse_subject
from replay.disputes.preserved_windows import lock_ids, window_name
from replay.dossier import Evidence, EvidenceText, EvidenceWindow, Making, Original, TapeRange
from replay.rounds.story import story
from tests.scenes.dossiers import (
    CAMERA,
    PLAN,
    SEGMENT,
    SHA256,
    Chained,
    chained,
    received,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.record.tape import Received, TapeRow

S = 1_000_000
OTHER_CAMERA = "CC-01-end"


@cache
def record() -> tuple[Chained, EvidenceWindow]:
    """A small record with a preserved window over its third to fifth round."""
    facts, window = facts_and_window()
    return chained(facts), window


def facts_and_window() -> tuple[list[Received], EvidenceWindow]:
    """Its facts in the order sent, and the window that is preserved."""
    dealt = [received(line(PLAN, fact)) for fact in deal(PLAN)[0]]
    started: dict[str, list[int]] = {}
    for fact in dealt:
        if fact.subject and fact.subject.count("/") == 2:
            started.setdefault(fact.subject, []).append(fact.time_us)
    subjects = sorted(started, key=lambda each: started[each][0])[2:5]
    from_us, to_us = started[subjects[0]][0], started[subjects[2]][4]  # the last one only begun
    window = EvidenceWindow(window_name(from_us, to_us), "hollywood", "CC-01", from_us, to_us)
    told = [
        (
            CameraMapped(camera=CAMERA, table="CC-01", kind="stationary", covers=("table",)),
            -50,
            "m",
        ),
        (
            SegmentRecorded(
                camera=CAMERA,
                path="nvr-2/CC-01-ovh.mp4",
                sha256=SHA256,
                start=format_time(from_us - 10 * S),
                frames=2,
                duration_us=to_us - from_us + 20 * S,
            ),
            3_600,
            "s",
        ),
    ]
    told += [
        (
            FootageLocked(
                camera=camera,
                table="CC-01",
                from_=format_time(from_us),
                to=format_time(to_us),
                by="S-2001",
                because="A fall.",
            ),
            3_700,
            id_,
        )
        for camera, id_ in zip((CAMERA, OTHER_CAMERA), lock_ids(window.name, 2), strict=True)
    ]
    surveillance = [
        received(encode(body, "/hollywood/surveillance/locks", id_, from_us + after_s * S))
        for body, after_s, id_ in told
    ]
    tip = encode(TipDropped(amount=500), "/hollywood/CC-01/pit", "tip-1", from_us + S)
    order = sorted([*dealt, *surveillance, received(tip)], key=lambda fact: fact.time_us)
    return order, window


def evidence(folder: Path) -> Evidence:
    """All of it; the segment lies in `folder`."""
    (folder / "nvr.mp4").write_bytes(SEGMENT)
    kept, window = record()
    table = [row for row in kept.rows if row.tape == "hollywood/CC-01"]
    inside = [row for row in table if window.from_us <= row.time_us <= window.to_us]
    subjects = list(
        dict.fromkeys(row.subject for row in inside if row.subject and "/" in row.subject)
    )
    filed = [row for row in kept.rows if row.type == "rules_submission_filed.v1"]
    stories, submissions = [], []
    for subject in subjects:
        rows = [row for row in table if row.subject == subject]
        ruled = adjudicate(fact_of(row) for row in [*filed, *rows])
        round_ = parse_subject(str(subject), "hollywood")
        assert round_
        stories.append(
            story(round_, rows, next(each for each in ruled if isinstance(each, Ruling)))
        )
        submissions.append(
            next(row for row in filed if fact_of(row).body.game == stories[-1].game)  # type: ignore[attr-defined]
        )
    own = {row for each in stories for row in each.rows}
    loose = [row for row in inside if row not in own]
    seqs = [row.table_seq for row in [*own, *loose]]
    surveillance = [row for row in kept.rows if row.tape == "hollywood/surveillance"]
    locks = [row for row in surveillance if row.type == "footage_locked.v1"]
    return Evidence(
        stories=stories,
        frames={},
        camera_rows=[row for row in surveillance if row not in locks],
        previous=kept.previous,
        heads=kept.heads,
        between=_others(table, own | set(loose), min(seqs), max(seqs)),
        stretches=[TapeRange("hollywood/CC-01", min(seqs), max(seqs))],
        submissions=submissions,
        case_rows=locks,
        custody_rows=locks,
        originals=[Original(CAMERA, SHA256, folder / "nvr.mp4", "nvr-2/CC-01-ovh.mp4")],
        coverage=EvidenceText(["Camera CC-01-ovh saw all of it."]),
        making=Making("S-2001", "2026-11-20T20:00:00.000000Z", 0, 0),
        window=window,
        window_rows=loose,
        cameras=[CAMERA, OTHER_CAMERA],
    )


def _others(table: list[TapeRow], own: set[TapeRow], first: int, last: int) -> list[TapeRow]:
    return [row for row in table if first <= row.table_seq <= last and row not in own]
