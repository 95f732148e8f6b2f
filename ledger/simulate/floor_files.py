"""A simulated floor on disk: the feed, the truth, and the cameras' shot lists."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ledger.facts import RoundCompleted, RoundStarted, RoundVoided
from ledger.simulate.cameras.cameras import camera_plan, cameras_of
from ledger.simulate.cameras.scenes import shots
from ledger.simulate.cameras.shot_list import ShotList
from ledger.simulate.device_emitter import HOUR, SECOND
from ledger.simulate.feed import happenings, line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from ledger.simulate.device_emitter import Witnessed
    from ledger.simulate.plan import Plan, Planted

AROUND_US = 30 * SECOND
ROUND_US = 4 * SECOND
"""Filmed before and after a round."""
END_US = 48 * SECOND
"""How much of a round is filmed, up to its end."""
LATER = "later"
"""The folder of the shot lists that are drawn later."""
_REPORT_EVERY = 2_000  # number of facts
_NO_FAULTS: Mapping[str, Collection[str]] = MappingProxyType({})


class FilmedWindow(NamedTuple):
    """A stretch of true time at one table, to be filmed."""

    table: str
    from_us: int
    to_us: int


Choose = Callable[
    ["Plan", "Mapping[str, Sequence[Witnessed]]", "Sequence[Planted]"], "Sequence[FilmedWindow]"
]
"""What to film, chosen once the floor is dealt: by the plan, what happened, and the mistakes."""


class WrittenFloor(NamedTuple):
    """The files written, and the planted mistakes."""

    feed: Path  # JSON Lines, in order of arrival
    truth: Path  # JSON Lines, one a mistake
    shots: tuple[Path, ...]  # one shot list for each camera and window
    later: tuple[Path, ...]  # the same for windows that are drawn later, if at all
    facts: int  # number of lines of the feed
    rounds: int
    planted: tuple[Planted, ...]


def write(
    plan: Plan,
    folder: Path,
    progress: Callable[[int], None] | None = None,
    *,
    film: Sequence[FilmedWindow] | Choose | None = None,
    later: Choose | None = None,
    cameras_max: int = 1,
    strip: bool = False,
    faults: Mapping[str, Collection[str]] = _NO_FAULTS,
) -> WrittenFloor:
    """Deal a plan into a folder: `feed.jsonl`, `truth.jsonl`, and `shots/*.json`.

    Films a minute around each mistake, or the windows of `film`, with up to `cameras_max` cameras a
    table; `strip`: small, with a strip that machines read. `faults`: of `CAMERA_FAULTS`, by camera.
    The shot lists of what `later` chooses besides are in `later/*.json`.
    `progress` gets the number of facts written so far. Raises OSError if a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    feed, truth = folder / "feed.jsonl", folder / "truth.jsonl"
    seen: dict[str, list[Witnessed]] = {table.table: [] for table in plan.tables}
    planted: list[Planted] = []
    facts, rounds = 0, set()
    with feed.open("wb") as file:
        for each, made in happenings(plan, seen):
            planted += made
            if each.arrives_us is None:
                continue
            file.write(line(plan, each.fact) + b"\n")
            facts += 1
            rounds.add(each.fact.round)
            if progress and facts % _REPORT_EVERY == 0:
                progress(facts)
    truth.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in planted))
    if callable(film):
        windows = list(film(plan, seen, planted))
    else:
        windows = around(planted) if film is None else list(film)
    lists = shot_lists(plan, seen, windows, cameras_max=cameras_max, strip=strip, faults=faults)
    paths = tuple(_write_shots(folder / "shots", lists))
    rest = _without(later(plan, seen, planted), windows) if later else []
    lists = shot_lists(plan, seen, rest, cameras_max=cameras_max, strip=strip, gaps=False)
    behind = tuple(_write_shots(folder / LATER, lists))
    return WrittenFloor(feed, truth, paths, behind, facts, len(rounds - {None}), tuple(planted))


def around(planted: Iterable[Planted], each_side_us: int = AROUND_US) -> list[FilmedWindow]:
    """A minute around each mistake. Overlapping minutes at one table are one window."""
    return _joined(
        FilmedWindow(made.table, made.at_us - each_side_us, made.at_us + each_side_us)
        for made in planted
    )


def _joined(windows: Iterable[FilmedWindow]) -> list[FilmedWindow]:
    """Windows in order. Overlapping ones at one table are one."""
    found: list[FilmedWindow] = []
    for window in sorted(windows):
        last = found[-1] if found else None
        if last and last.table == window.table and window.from_us <= last.to_us:
            found[-1] = last._replace(to_us=max(last.to_us, window.to_us))
        else:
            found.append(window)
    return found


def _without(windows: Sequence[FilmedWindow], taken: Iterable[FilmedWindow]) -> list[FilmedWindow]:
    """What remains of windows outside others, in order; less than a second is left out."""
    rest = list(windows)
    for other in taken:
        parts: list[FilmedWindow] = []
        for each in rest:
            if each.table != other.table:
                parts.append(each)
                continue
            parts.append(each._replace(to_us=min(each.to_us, other.from_us)))
            parts.append(each._replace(from_us=max(each.from_us, other.to_us)))
        rest = [part for part in parts if part.to_us - part.from_us >= SECOND]
    return sorted(rest)


def rounds_seen(seen: Sequence[Witnessed]) -> dict[str, FilmedWindow]:
    """The times of the rounds that ended at one table, with a little before and after each."""
    found, began_us = {}, 0
    for each in seen:
        if each.round is None:
            continue
        if isinstance(each.body, RoundStarted):
            began_us = each.true_us
        elif isinstance(each.body, (RoundCompleted, RoundVoided)):
            found[each.round.subject] = FilmedWindow(
                each.round.table, began_us - ROUND_US, each.true_us + ROUND_US
            )
    return found


def worst_and(others: int) -> Choose:
    """Film how the round ended where most money went wrong, and others that chance chooses.

    So a film says nothing of its round: most of what is filmed went right, and most of what went
    wrong is not filmed.
    """

    def choose(
        plan: Plan, seen: Mapping[str, Sequence[Witnessed]], planted: Sequence[Planted]
    ) -> list[FilmedWindow]:
        rounds = _rounds(seen)
        chance = random.Random(f"{plan.seed}/film")  # noqa: S311 - repeatable, not for security
        names = sorted(rounds)
        chosen = set(chance.sample(names, min(others, len(names))))
        worst = _worst(rounds, planted)
        return _joined(_end_of(rounds[name]) for name in sorted({*chosen, *worst}))

    return choose


def hour_of_worst(
    plan: Plan, seen: Mapping[str, Sequence[Witnessed]], planted: Sequence[Planted]
) -> list[FilmedWindow]:
    """An hour of the table at which most money went wrong in a round, with that round in it."""
    rounds = _rounds(seen)
    return [_hour_around(rounds[name], plan) for name in _worst(rounds, planted)]


def _rounds(seen: Mapping[str, Sequence[Witnessed]]) -> dict[str, FilmedWindow]:
    return {name: at for told in seen.values() for name, at in rounds_seen(told).items()}


def _worst(rounds: Mapping[str, FilmedWindow], planted: Iterable[Planted]) -> list[str]:
    """The round in which most money went wrong, if any did."""
    wrong: dict[str, int] = defaultdict(int)
    for made in planted:
        if made.round and made.round in rounds:
            wrong[made.round] += made.cents
    return [max(sorted(wrong), key=lambda name: wrong[name])] if wrong else []


def _end_of(round_: FilmedWindow) -> FilmedWindow:
    """The last part of a round, in which it is settled."""
    return round_._replace(from_us=max(round_.from_us, round_.to_us - END_US))


def _hour_around(round_: FilmedWindow, plan: Plan) -> FilmedWindow:
    """An hour of play with a round in it."""
    from_us = max(min(round_.from_us - HOUR // 2, plan.closes_us - HOUR), plan.opens_us)
    return round_._replace(from_us=from_us, to_us=min(from_us + HOUR, plan.closes_us))


def shot_lists(
    plan: Plan,
    seen: Mapping[str, Sequence[Witnessed]],
    windows: Sequence[FilmedWindow],
    *,
    cameras_max: int = 1,
    strip: bool = False,
    faults: Mapping[str, Collection[str]] = _NO_FAULTS,
    gaps: bool = True,
) -> Iterator[ShotList]:
    """The shot lists of each table's cameras in these windows.

    `seen`: everything that happened at each table, in order. gaps: whether one window has a gap, by
    the seed.
    """
    gap = plan.seed % len(windows) if windows and gaps else -1
    tables = {table.table: table for table in plan.tables}
    for number, window in enumerate(windows):
        table = tables[window.table]
        drawn = shots(table, seen[window.table], window.from_us, window.to_us)
        for camera in cameras_of(plan, table)[:cameras_max]:
            recording = camera_plan(
                camera,
                window.from_us,
                window.to_us,
                seed=plan.seed + number,
                gap=number == gap,
                at=table,
                strip=strip,
                faults=faults.get(camera.name, ()),
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
