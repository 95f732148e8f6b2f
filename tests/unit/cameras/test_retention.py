"""What expires when: the table of keeping, locks that hold, releases that begin no new count."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from ledger.errors import Refused, Usage
from ledger.facts import FootageExpired, FootageLocked, FootageReleased, SegmentRecorded
from ledger.values import format_time
from replay.cameras.coverage import Camera, Handling, Segment
from replay.cameras.retention import (
    BUILT_IN,
    DAY_US,
    Area,
    Footage,
    area_of,
    due,
    keeping,
    may_release,
    not_expired,
    policy_from,
    runs,
)

if TYPE_CHECKING:
    from pathlib import Path

S = 1_000_000
TEN = 10 * S
AREA = Area("all", {"routine": 7, "dispute": 30, "preserved": 20})


def segment(number: int, at: int | None = None) -> Segment:
    start_us = number * TEN if at is None else at * S
    body = SegmentRecorded(
        camera="A",
        path=f"{number}.webm",
        sha256=f"{number:064x}",
        start=format_time(start_us),
        frames=100,
        duration_us=TEN,
    )
    return Segment(start_us, start_us + TEN, start_us + TEN, body)


def handled(kind: Any, start: int, end: int, dispute: str | None = None) -> Handling:  # noqa: ANN401 - one of three facts
    span = {"from_": format_time(start), "to": format_time(end)}
    body = kind(camera="A", **span, by="S-1", because="why", dispute=dispute)
    return Handling(0, start, end, body)


def camera(*handlings: Handling, segments: int = 5) -> Camera:
    return Camera(segments=[segment(n) for n in range(segments)], handled=list(handlings))


def test_routine_footage_expires_so_many_days_after_it_was_recorded() -> None:
    kept = keeping(camera(), AREA)
    assert {(each.reason, each.days) for each in kept} == {("routine", 7)}
    last = 2 * TEN + 7 * DAY_US
    assert len(due(kept, last)) == 2
    assert len(due(kept, last - 1)) == 1


def test_what_a_lock_touches_even_in_part_never_expires() -> None:
    """The lock holds on the last microsecond of one segment and the first of the next."""
    kept = keeping(camera(handled(FootageLocked, 2 * TEN - 1, 2 * TEN, "D-1")), AREA)
    assert [bool(each.locks) for each in kept] == [False, True, True, False, False]
    far = due(kept, 10_000 * DAY_US)
    assert [each.segment.start_us // TEN for each in far] == [0, 3, 4]
    found = runs("A", far, kept)
    assert [(run.from_us // TEN, run.to_us // TEN) for run in found] == [(0, 1), (3, 5)]


def test_the_longest_of_several_reasons_holds_and_a_release_begins_no_new_count() -> None:
    whole = (0, 5 * TEN)
    kept = keeping(
        camera(
            handled(FootageLocked, 0, TEN - 1, "D-1"),
            handled(FootageLocked, *whole),
            handled(FootageReleased, *whole),
        ),
        AREA,
    )
    assert [each.reason for each in kept] == ["dispute", *["preserved"] * 4]
    assert kept[0].expires_us == TEN + 30 * DAY_US
    assert all(not each.locks for each in kept)
    assert [run.reason for run in runs("A", kept, kept)] == ["dispute", "preserved"]


def test_what_has_expired_is_not_due_again_and_half_of_it_is() -> None:
    kept = keeping(camera(handled(FootageExpired, 0, 2 * TEN + 5)), AREA)
    assert [each.segment.start_us // TEN for each in kept] == [2, 3, 4]


def test_what_is_due_is_the_same_where_only_what_has_not_expired_is_read() -> None:
    chance = random.Random(3)  # noqa: S311 - repeatable
    for _ in range(200):
        told = []
        for _ in range(chance.randrange(12)):
            kind = chance.choice((FootageExpired, FootageExpired, FootageLocked, FootageReleased))
            start = chance.randrange(40) * TEN // chance.choice((1, 2))
            end = start + chance.randrange(1, 15) * TEN - chance.choice((1, 1, 1, 0, 7))
            told.append(handled(kind, start, end, chance.choice((None, "D-1"))))
        whole = camera(*told, segments=40)
        until_us = chance.randrange(45) * TEN + chance.choice((7, 20, 30)) * DAY_US
        all_ = keeping(whole, AREA)
        stretches = not_expired(whole, until_us - 7 * DAY_US)
        near = [
            Footage(each.start_us, each.end_us)
            for each in whole.segments
            if any(each.end_us > since and each.start_us <= until for since, until in stretches)
        ]
        read = keeping(whole, AREA, near)
        assert runs("A", due(read, until_us), read) == runs("A", due(all_, until_us), all_)


def test_a_long_pause_begins_another_run() -> None:
    one = Camera(segments=[segment(0), segment(1), segment(2, at=200)])
    kept = keeping(one, AREA)
    assert [run.segments for run in runs("A", kept, kept)] == [2, 1]


def test_the_first_area_that_fits_holds_and_none_is_told(tmp_path: Path) -> None:
    path = tmp_path / "keeping.toml"
    path.write_text(
        '[[areas]]\nname = "dice"\ntables = ["TDF-*"]\ndays = { routine = 3 }\n'
        '[[areas]]\nname = "cage"\ncameras = ["CAGE-?"]\ndays = { routine = 90 }\n'
        'released_by = ["S-*", "C-1"]\n'
    )
    policy = policy_from(path)
    assert area_of(policy, "X", ["CC-01", "TDF-02"]).name == "dice"
    cage = area_of(policy, "CAGE-1", [])
    assert (cage.name, cage.days) == ("cage", {"routine": 90})
    with pytest.raises(Usage, match="No area"):
        area_of(policy, "X", ["CC-01"])
    may_release(cage, "S-2001")
    may_release(cage, "C-1")
    for by in ("C-10", "F-1"):
        with pytest.raises(Refused, match="may not release"):
            may_release(cage, by)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("areas = 3", "areas"),
        ('[[areas]]\nname = "a"\ndays = { dispute = 3 }', "no days for `routine`"),
        ('[[areas]]\nname = "a"\ndays = { routine = 3, whim = 4 }', "whim"),
        ('[[areas]]\nname = "a"\ndays = { routine = 0 }', "days"),
        ('[[areas]]\nname = "a"\ncamera = ["x"]\ndays = { routine = 1 }', "camera"),
        ("not toml", "cannot be read"),
    ],
)
def test_a_table_of_keeping_that_cannot_hold_is_refused(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(Usage, match=says):
        policy_from(path)
    with pytest.raises(Usage, match="cannot be read"):
        policy_from(tmp_path / "nowhere.toml")


def test_the_built_in_table_cites_no_regulation() -> None:
    assert policy_from(None).jurisdiction == "none named"
    assert "Pa. Code" not in BUILT_IN
    assert "465a" not in BUILT_IN
