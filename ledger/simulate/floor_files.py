"""A simulated floor on disk: the feed, the truth, and the cameras' shot lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ledger.simulate.cameras.cameras import camera_plan, cameras_of
from ledger.simulate.cameras.pictures import shots
from ledger.simulate.cameras.shot_list import ShotList
from ledger.simulate.device_emitter import SECOND
from ledger.simulate.feed import happenings, line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from ledger.simulate.device_emitter import Happening
    from ledger.simulate.plan import Plan, Planted

AROUND_US = 30 * SECOND
_REPORT_EVERY = 2_000  # number of facts


class FilmedWindow(NamedTuple):
    """A stretch of true time at one table, to be filmed."""

    table: str
    from_us: int
    to_us: int


class WrittenFloor(NamedTuple):
    """The files written, and the planted mistakes."""

    feed: Path  # JSON Lines, in order of arrival
    truth: Path  # JSON Lines, one a mistake
    shots: tuple[Path, ...]  # one shot list for each camera and window
    facts: int  # number of lines of the feed
    rounds: int
    planted: tuple[Planted, ...]


def write(
    plan: Plan,
    folder: Path,
    progress: Callable[[int], None] | None = None,
    *,
    film: Sequence[FilmedWindow] | None = None,
    cameras_max: int = 1,
) -> WrittenFloor:
    """Deal a plan into a folder: `feed.jsonl`, `truth.jsonl`, and `shots/*.json`.

    Films a minute around each mistake, or the windows of `film`, with up to `cameras_max` cameras a
    table. `progress` gets the number of facts written so far. Raises OSError if a file cannot be
    written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    feed, truth = folder / "feed.jsonl", folder / "truth.jsonl"
    seen: dict[str, list[Happening]] = {table.table: [] for table in plan.tables}
    planted: list[Planted] = []
    facts, rounds = 0, set()
    with feed.open("wb") as file:
        for each, made in happenings(plan):
            planted += made
            table = each.fact.table
            if table in seen:
                seen[table].append(each)
            if each.arrives_us is None:
                continue
            file.write(line(plan, each.fact) + b"\n")
            facts += 1
            rounds.add(each.fact.round)
            if progress and facts % _REPORT_EVERY == 0:
                progress(facts)
    truth.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in planted))
    windows = around(planted) if film is None else list(film)
    lists = shot_lists(plan, seen, windows, cameras_max=cameras_max)
    paths = tuple(_write_shots(folder / "shots", lists))
    return WrittenFloor(feed, truth, paths, facts, len(rounds - {None}), tuple(planted))


def around(planted: Iterable[Planted], each_side_us: int = AROUND_US) -> list[FilmedWindow]:
    """A minute around each mistake. Overlapping minutes at one table are one window."""
    found: list[FilmedWindow] = []
    for made in sorted(planted, key=lambda each: (each.table, each.at_us)):
        window = FilmedWindow(made.table, made.at_us - each_side_us, made.at_us + each_side_us)
        last = found[-1] if found else None
        if last and last.table == window.table and window.from_us <= last.to_us:
            found[-1] = last._replace(to_us=max(last.to_us, window.to_us))
        else:
            found.append(window)
    return found


def shot_lists(
    plan: Plan,
    seen: dict[str, list[Happening]],
    windows: Sequence[FilmedWindow],
    *,
    cameras_max: int = 1,
) -> Iterator[ShotList]:
    """The shot lists of each table's cameras in these windows. One window has a gap, by the seed.

    `seen`: everything that happened at each table.
    """
    gap = plan.seed % len(windows) if windows else 0
    tables = {table.table: table for table in plan.tables}
    happened = {
        table: sorted(seen[table], key=lambda each: each.true_us)
        for table in sorted({window.table for window in windows})
    }
    for number, window in enumerate(windows):
        drawn = shots(happened[window.table], window.from_us, window.to_us)
        for camera in cameras_of(plan, tables[window.table])[:cameras_max]:
            recording = camera_plan(
                camera,
                window.from_us,
                window.to_us,
                seed=plan.seed + number,
                gap=number == gap,
            )
            yield ShotList(recording, drawn)


def read_shots(path: Path) -> ShotList:
    """A shot list from a file. Raises OSError, or msgspec.ValidationError for another file."""
    return msgspec.json.decode(path.read_bytes(), type=ShotList)


def _write_shots(folder: Path, lists: Iterable[ShotList]) -> Iterator[Path]:
    for number, each in enumerate(lists, 1):
        folder.mkdir(exist_ok=True)
        path = folder / f"{number:03d}-{each.plan.camera}.json"
        path.write_bytes(msgspec.json.encode(each))
        yield path
